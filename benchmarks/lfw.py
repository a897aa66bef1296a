"""Learners on pairs of faces: ``python -m benchmarks.lfw [--output FILE] [--only NAME ...]``.

Needs ``ECSELM_DATA``. Ten folds of LFW view 2, each tested once. Whatever is chosen for a
test fold is chosen among the other nine: learned on six of them, validated on three. Then the
learner is fitted on all nine. The results of every fold go to the file, a table to the screen;
``--only`` replaces those of some learners.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from dataclasses import fields as dataclass_fields
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.environment import current_environment
from benchmarks.faces import BASELINE, METHODS, Faces, Method, Setting
from benchmarks.tables import table

N_FOLDS = 10
N_LEARN = 6  # of the nine training folds, while settings are chosen


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a method reached on every test fold, and with which setting."""

    name: str
    accuracies: list[float]
    chosen: list[Setting]
    seconds: float
    unconverged: int  # of the final fits

    @property
    def mean(self) -> float:
        """Return the mean over folds."""
        return float(np.mean(self.accuracies))

    @property
    def deviation(self) -> float:
        """Return the standard deviation over folds."""
        return float(np.std(self.accuracies, ddof=1))

    @property
    def error(self) -> float:
        """Return the standard error of the mean, as if folds were independent."""
        return self.deviation / float(np.sqrt(len(self.accuracies)))


def choose(method: Method, faces: Faces, folds: list[int]) -> Setting:
    """Return the setting that does best on the last of ``folds``, learned on the first."""
    if len(method.settings) == 1:
        return method.settings[0]
    build = method.build_to_choose or method.build
    train, validation = folds[:N_LEARN], folds[N_LEARN:]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        reached = [
            build(**setting.parameters)
            .fit(*faces.rows(train, setting.dims))
            .score(*faces.rows(validation, setting.dims))
            for setting in method.settings
        ]
    return method.settings[int(np.argmax(reached))]


def run(method: Method, faces: Faces) -> Outcome:
    """Test a method on every fold, with settings chosen and learned on the others."""
    start, accuracies, chosen, unconverged = time.perf_counter(), [], [], 0
    for test in range(N_FOLDS):
        others = [(test + place) % N_FOLDS for place in range(1, N_FOLDS)]
        setting = choose(method, faces, others)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            model = method.build(**setting.parameters).fit(*faces.rows(others, setting.dims))
        unconverged += any(issubclass(one.category, ConvergenceWarning) for one in caught)
        accuracies.append(float(model.score(*faces.rows([test], setting.dims))))
        chosen.append(setting)
    return Outcome(method.name, accuracies, chosen, time.perf_counter() - start, unconverged)


def as_table(outcomes: list[Outcome]) -> str:
    """Return all outcomes in Markdown, with the mean difference to the baseline if it ran."""
    base = {outcome.name: outcome.accuracies for outcome in outcomes}.get(BASELINE)
    rows = [
        [
            outcome.name,
            f"{outcome.mean:.4f}",
            f"{outcome.deviation:.4f}",
            f"{outcome.error:.4f}",
            _gain(outcome, base),
            _favourite(outcome),
            str(outcome.unconverged),
        ]
        for outcome in outcomes
    ]
    header = ["Learner", "Mean", "Fold SD", "SE", f"Above {BASELINE} (SE)"]
    return table([*header, "Most often chosen", "Unconverged"], rows)


def _gain(outcome: Outcome, base: list[float] | None) -> str:
    if base is None or outcome.name == BASELINE:
        return ""
    gain = np.subtract(outcome.accuracies, base)
    return f"{gain.mean():+.4f} ({gain.std(ddof=1) / np.sqrt(len(gain)):.4f})"


def _favourite(outcome: Outcome) -> str:
    (words, times), *_ = Counter(_words(setting) for setting in outcome.chosen).most_common(1)
    return f"{words} ({times} of {len(outcome.chosen)})"


def _words(setting: Setting) -> str:
    parts = [f"{name}={value:g}" for name, value in setting.parameters.items()]
    return ", ".join([f"d={setting.dims}", *parts])


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the methods asked for; write the folds and print the table."""
    options = _parser().parse_args(arguments)
    folder = os.environ.get("ECSELM_DATA")
    if not folder:
        raise SystemExit("needs real data: set ECSELM_DATA to the folder that holds them")
    faces, outcomes = Faces.from_folder(Path(folder)), []
    for method in METHODS:
        if options.only is None or method.name in options.only:
            outcomes.append(run(method, faces))
            print(as_table(outcomes[-1:]).splitlines()[-1], flush=True)
    outcomes = _merged(stored(options.output) if options.only else [], outcomes)
    options.output.write_text(json.dumps(_record(outcomes), indent=1) + "\n", encoding="utf-8")
    print(f"\n{as_table(outcomes)}\n\nwrote {options.output}")


def stored(path: Path) -> list[Outcome]:
    """Return what a run has left behind, nothing if there was none."""
    if not path.exists():
        return []
    record = json.loads(path.read_text(encoding="utf-8"))
    fields = {field.name for field in dataclass_fields(Outcome)}
    found = [Outcome(**{key: one[key] for key in fields}) for one in record["outcomes"]]
    for outcome in found:
        outcome.chosen[:] = [Setting(**setting) for setting in outcome.chosen]
    return found


def _merged(before: list[Outcome], now: list[Outcome]) -> list[Outcome]:
    """Return the newer outcome of every method, in the order of the methods."""
    found = {outcome.name: outcome for outcome in (*before, *now)}
    return [found[method.name] for method in METHODS if method.name in found]


def _record(outcomes: list[Outcome]) -> dict[str, Any]:
    summary = [
        {**asdict(outcome), "mean": outcome.mean, "sd": outcome.deviation, "se": outcome.error}
        for outcome in outcomes
    ]
    return {"environment": asdict(current_environment(quick=False)), "outcomes": summary}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lfw", description="LFW view 2.")
    parser.add_argument("--only", nargs="+", choices=[method.name for method in METHODS])
    parser.add_argument(
        "--output", type=Path, default=Path(__file__).with_name("lfw.json"), metavar="FILE"
    )
    return parser


if __name__ == "__main__":
    main()
