"""Defaults of compared methods, confirmed: ``python -m benchmarks.method_defaults [--quick]``.

The defaults of these methods were chosen on the development sets with the seeds of
``DEVELOPMENT``. Here they are run, beside the defaults before that and the nearest textbook
method, on other splits of the same sets and on sets that were not looked at. Needs
``ECSELM_DATA``. The accuracy of every split goes to the file, which the page of the methods is
made of; ``--quick`` takes two sets and one seed of each kind.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import train_test_split
from sklearn.multiclass import OneVsOneClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from benchmarks.environment import current_environment
from benchmarks.tables import table
from ecselm.paper.datasets import Dataset, load_bundled, load_gas, load_olivetti, load_uci121
from ecselm.paper.methods import get_method

OUTPUT = Path(__file__).resolve().parent / "results" / "method_defaults.json"
DEVELOPMENT, CONFIRMATION = range(3), range(100, 105)  # seeds of splits
NOTABLE = 0.005  # difference of mean accuracies from which a set counts as better or worse


def _bundled(name: str) -> Callable[[Path], Dataset]:
    return lambda _: load_bundled(name)


def _uci(name: str) -> Callable[[Path], Dataset]:
    return lambda folder: load_uci121(name, folder)


@dataclass(frozen=True, slots=True)
class Source:
    """A data set, and how its splits are drawn."""

    name: str
    load: Callable[[Path], Dataset]
    developed: bool  # whether defaults were chosen on it
    test_size: float = 1 / 3
    scaled: bool = True
    most_rows: int | None = None
    most_classes: int | None = None


SOURCES = (
    Source("wine", _bundled("wine"), True),
    Source("digits", _bundled("digits"), True, most_rows=600),
    Source("tumours", _bundled("breast_cancer"), True),
    Source("Olivetti, pixels", load_olivetti, True, test_size=1 / 2, scaled=False),
    Source("iris", _bundled("iris"), False),
    Source("breast-tissue", _uci("breast-tissue"), False),
    Source("synthetic-control", _uci("synthetic-control"), False),
    Source("gas batch 8, 128 features", lambda folder: load_gas(8, "all", folder), False),
    Source("plant-margin, 30 species", _uci("plant-margin"), False, most_classes=30),
)


@dataclass(frozen=True, slots=True)
class Choice:
    """A method whose default was changed."""

    method: str
    chosen: str  # the default in words
    before: Callable[[], Any]  # the method with the earlier default
    earlier: str
    relative: str  # the nearest textbook method


RELATIVES: dict[str, Callable[[], Any]] = {
    "1-NN": lambda: KNeighborsClassifier(1),
    "SVC": SVC,
    "LDA": LinearDiscriminantAnalysis,
}


def _pairs() -> Any:
    return OneVsOneClassifier(LinearDiscriminantAnalysis())


CHOICES = (
    Choice(
        "NS",
        "80 % of the energy, about the class's mean",
        lambda: get_method("NS", n_components=None, center=False),
        "all directions, about 0",
        "1-NN",
    ),
    Choice(
        "mckNN",
        "a fifth of a class's rows, 1 to 5 neighbours",
        lambda: get_method("mckNN", n_neighbors=5),
        "5 neighbours",
        "1-NN",
    ),
    Choice("mcSVM", "alpha 2^-10", lambda: get_method("mcSVM", alpha=2**-6), "alpha 2^-6", "SVC"),
    Choice("mcKLR", "alpha 1e-4", lambda: get_method("mcKLR", alpha=1e-2), "alpha 1e-2", "SVC"),
    Choice(
        "PLS-DA",
        "5 or k - 1 components",
        lambda: get_method("PLS-DA", n_components=5),
        "5 components",
        "LDA",
    ),
    Choice("LDA", "shrunk where singular", _pairs, "never shrunk", "LDA"),
    Choice(
        "PCA-LDA",
        "shrunk where singular",
        lambda: make_pipeline(get_method("PCA-LDA")[0], _pairs()),
        "never shrunk",
        "LDA",
    ),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The accuracies of one split."""

    phase: str
    data: str
    seed: int
    method: str
    default: float
    before: float
    relative: float


PHASES = {
    "development": "where they were chosen",
    "new splits": "other splits of these sets",
    "new data": "sets not looked at",
}


def jobs(*, quick: bool = False) -> Iterator[tuple[str, Source, int]]:
    """Yield phases, sets and seeds."""
    for source in SOURCES:
        if quick and source.name not in {"wine", "iris"}:
            continue
        phases = {"new data": CONFIRMATION}
        if source.developed:
            phases = {"development": DEVELOPMENT, "new splits": CONFIRMATION}
        for phase, seeds in phases.items():
            yield from ((phase, source, seed) for seed in (seeds[:1] if quick else seeds))


def run(phase: str, source: Source, seed: int, folder: Path) -> list[Outcome]:
    """Fit every method, its earlier default and its relative to one split."""
    data = source.load(folder)
    X, y = data.X[: source.most_rows], data.y[: source.most_rows]
    if source.most_classes is not None:
        kept = np.isin(y, np.unique(y)[: source.most_classes])
        X, y = X[kept], y[kept]
    train, test, y_train, y_test = train_test_split(
        X, y, test_size=source.test_size, stratify=y, random_state=seed
    )
    if source.scaled:
        scaler = StandardScaler().fit(train)
        train, test = scaler.transform(train), scaler.transform(test)

    def accuracy(model: Any) -> float:
        return float(model.fit(train, y_train).score(test, y_test))

    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        relatives = {name: accuracy(make()) for name, make in RELATIVES.items()}
        found = [
            Outcome(
                phase,
                source.name,
                seed,
                choice.method,
                accuracy(get_method(choice.method)),
                accuracy(choice.before()),
                relatives[choice.relative],
            )
            for choice in CHOICES
        ]
    print(f"{phase}, {source.name}, seed {seed}", flush=True)
    return found


def as_markdown(outcomes: Sequence[Outcome]) -> str:
    """Return a table of the phases, and one of the means of every set."""
    rows = []
    for choice in CHOICES:
        name = f"{choice.method}: {choice.chosen} (before: {choice.earlier})"
        for phase in PHASES:
            mine = [o for o in outcomes if (o.method, o.phase) == (choice.method, phase)]
            rows.append([name, phase, *_cells(mine), choice.relative, *_against_relative(mine)])
            name = ""
    header = ["method and default", "phase", "accuracy", "before", "sets better / worse"]
    first = table([*header, "relative", "accuracy", "largest loss to it"], rows)
    return f"{first}\n\n{_by_set(outcomes)}"


class Means(NamedTuple):
    """Mean accuracies over the splits of a set."""

    default: float
    before: float
    relative: float


def _means(outcomes: Sequence[Outcome]) -> dict[str, Means]:
    """Return the means of every set."""
    found = {}
    for name in dict.fromkeys(o.data for o in outcomes):
        mine = [o for o in outcomes if o.data == name]
        splits = np.array([(o.default, o.before, o.relative) for o in mine])
        found[name] = Means(*splits.mean(axis=0).tolist())
    return found


def _cells(outcomes: Sequence[Outcome]) -> list[str]:
    means = _means(outcomes)
    if not means:
        return ["-", "-", "-"]
    gains = [default - before for default, before, _ in means.values()]
    better, worse = sum(g >= NOTABLE for g in gains), sum(g <= -NOTABLE for g in gains)
    overall = np.mean(list(means.values()), axis=0)
    return [f"{overall[0]:.3f}", f"{overall[1]:.3f}", f"{better} / {worse}"]


def _against_relative(outcomes: Sequence[Outcome]) -> list[str]:
    means = _means(outcomes)
    if not means:
        return ["-", "-"]
    losses = {name: relative - default for name, (default, _, relative) in means.items()}
    worst = max(losses, key=lambda name: losses[name])
    overall = float(np.mean([relative for _, _, relative in means.values()]))
    loss = f"{losses[worst]:.3f}, {worst}" if losses[worst] >= NOTABLE else "none"
    return [f"{overall:.3f}", loss]


def _by_set(outcomes: Sequence[Outcome]) -> str:
    """Return accuracies on new splits and new data: default, and before in brackets."""
    new = [o for o in outcomes if o.phase != "development"]
    sets = list(dict.fromkeys(o.data for o in new))
    rows = []
    for choice in CHOICES:
        means = _means([o for o in new if o.method == choice.method])
        cells = (f"{means[name][0]:.3f} ({means[name][1]:.3f})" for name in sets)
        rows.append([choice.method, *cells])
    return table(["method", *sets], rows)


def stored(path: Path = OUTPUT) -> list[Outcome]:
    """Return the outcomes of an earlier run."""
    record = json.loads(path.read_text(encoding="utf-8"))
    return [Outcome(**outcome) for outcome in record["outcomes"]]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run all methods, store every split and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.method_defaults")
    parser.add_argument("--quick", action="store_true", help="two sets, one seed of each kind")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--output", type=Path, default=OUTPUT, metavar="FILE")
    options = parser.parse_args(arguments)
    folder = os.environ.get("ECSELM_DATA")
    if not folder and not options.quick:
        raise SystemExit("needs real data: set ECSELM_DATA to the folder that holds them")
    work = Parallel(n_jobs=options.jobs)
    found = work(delayed(run)(*job, Path(folder or ".")) for job in jobs(quick=options.quick))
    outcomes = [one for split in found for one in split]
    record = {
        "environment": asdict(current_environment(quick=options.quick)),
        "outcomes": [asdict(outcome) for outcome in outcomes],
    }
    options.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(f"\n{as_markdown(outcomes)}\n\nwrote {options.output}")


if __name__ == "__main__":
    main()
