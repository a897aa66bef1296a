"""Start-up of the command line: CPU time over that of importing what it stands on, in one run.

``python -m benchmarks.startup [--quick]`` fits the default ECSELM to 500 rows of 20 numbers, and
prints the processor time of ``ecselm --help`` and of ``ecselm predict`` on 1000 rows over that of
``import sklearn.linear_model, pandas``, with the median and quartiles of some rounds. Every run is
a process of its own with one thread, and reads compiled modules as an installed package does.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from benchmarks.timing import Ratio, seconds_by_round

Command = Sequence[str | Path]

N_TRAIN, N_NEW, N_COLUMNS = 500, 1000, 20
REPEATS, QUICK_REPEATS = 9, 1
BASELINE = "import sklearn.linear_model, pandas"
SMALL = ("--hidden", "10", "--epochs", "1", "--population", "4")
GOALS = {"ecselm --help": 0.1, "ecselm predict": 1.0}  # seconds of processor time


@dataclass(frozen=True, slots=True)
class StartUp:
    """Processor time of a command, and its ratio to the imports."""

    command: str
    seconds: float  # median
    ratio: Ratio

    def __str__(self) -> str:
        goal = GOALS.get(self.command)
        spread = f"{self.ratio.median:.2f} ({self.ratio.lower:.2f}-{self.ratio.upper:.2f})"
        aim = "" if goal is None else f"{goal:.1f} s"
        return f"{self.command:<38}{self.seconds:>8.3f} s  {spread:<19}{aim:>6}"


def make_frame(n_rows: int, seed: int) -> pd.DataFrame:
    """Return numbers and a class that depends on two of them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, N_COLUMNS))
    score = X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.standard_normal(n_rows)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(N_COLUMNS)])
    return frame.assign(y=np.where(score > 1.2, "yes", "no"))


def prepare(
    folder: Path, environment: dict[str, str], settings: Sequence[str] = ()
) -> dict[str, Command]:
    """Fit a model in ``folder``, and return the commands by name, the imports first."""
    train, new, model = (folder / name for name in ("train.csv", "new.csv", "model.skops"))
    make_frame(N_TRAIN, 0).to_csv(train, index=False)
    make_frame(N_NEW, 1).drop(columns="y").to_csv(new, index=False)
    python = (sys.executable, "-m", "ecselm")
    processor_time([*python, "fit", train, "--target", "y", "-o", model, *settings], environment)
    return {
        BASELINE: (sys.executable, "-c", BASELINE),
        "ecselm --help": (*python, "--help"),
        "ecselm predict": (*python, "predict", model, new, "-o", folder / "predictions.csv"),
    }


def measure(
    commands: dict[str, Command], environment: dict[str, str], repeats: int
) -> list[StartUp]:
    """Return the processor time of all commands, and their ratios to the first one."""
    timers = [partial(processor_time, one, environment) for one in commands.values()]
    for warm_up in timers:  # modules are compiled, files are in memory
        warm_up()
    seconds = seconds_by_round(timers, repeats)
    return [
        StartUp(name, float(np.median(own)), Ratio.of(own / seconds[:, 0]))
        for name, own in zip(commands, seconds.T, strict=True)
    ]


def processor_time(command: Command, environment: dict[str, str]) -> float:
    """Run a command to its end and return its seconds on the processor, of user and system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment, capture_output=True, check=True)  # noqa: S603
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def as_installed(folder: Path) -> dict[str, str]:
    """Return variables for one thread, and for modules that are compiled once, to ``folder``."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    return kept | threads | {"PYTHONPYCACHEPREFIX": str(folder / "compiled")}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.startup", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one round with a small model")
    quick = parser.parse_args(arguments).quick
    with TemporaryDirectory() as folder:
        environment = as_installed(Path(folder))
        commands = prepare(Path(folder), environment, SMALL if quick else ())
        found = measure(commands, environment, QUICK_REPEATS if quick else REPEATS)
    print(f"{'processor time of':<38}{'median':>10}  {'ratio to imports':<19}{'goal':>6}")
    print("\n".join(map(str, found)))


if __name__ == "__main__":
    main()
