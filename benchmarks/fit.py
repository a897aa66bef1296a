"""Time of the weighted fit, as ratios: over baselines, and two threads over one.

gfdl needs Python 3.12. Where this Python is older, an environment of another one is made for
it below ``build/``, and ``python -m benchmarks.fit`` prints our times beside gfdl's there.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path

import joblib
import numpy as np
from sklearn.datasets import make_classification
from threadpoolctl import ThreadpoolController

from benchmarks.baselines import ELM_PACKAGES, GFDL, RIDGE, C, FitTask, fit_ridge
from benchmarks.timing import Comparison, Ratio, Task, blas_threads, interleaved
from ecselm import ELMClassifier, WELMClassifier

TARGETS = {"float64": 0.65, "float32": 0.35}  # against NumPy + Ridge, which is always float64
AHEAD = 1.0  # of every other package
REASONS = {
    "hpelm": "hpelm neither checks nor scales its inputs, and calibrates no probabilities",
    RIDGE: "our fit also calibrates probabilities on 2048 rows",
}
ROOT = Path(__file__).resolve().parent.parent
ELSEWHERE = ROOT / "build" / "bench-gfdl"
PYTHONS = ("3.13", "3.12")
NO_SLOWER = 1.0  # the second thread must not cost time
PAUSE = 0.1  # seconds; an OpenBLAS pool that has just worked spins for about 0.03


@dataclass(frozen=True, slots=True)
class Size:
    """Size of the problem and number of rounds."""

    n_rows: int = 20000
    n_features: int = 50
    n_informative: int = 20
    n_hidden: int = 200
    n_classes: int = 10
    repeats: int = 41


FULL = Size()
QUICK = Size(n_rows=600, n_features=12, n_informative=8, n_hidden=20, n_classes=3, repeats=2)


@dataclass(frozen=True, slots=True)
class Problem:
    """Rows, class codes and sample weights of a size."""

    size: Size
    X: np.ndarray
    y: np.ndarray
    w: np.ndarray

    @classmethod
    def make(cls, size: Size) -> Problem:
        """Draw the problem from a fixed seed."""
        X, y = make_classification(
            n_samples=size.n_rows,
            n_features=size.n_features,
            n_informative=size.n_informative,
            n_classes=size.n_classes,
            random_state=0,
        )
        return cls(size, X, y, np.random.default_rng(0).uniform(0.5, 2.0, len(y)))

    def task(self, dtype: str) -> FitTask:
        """Return the standardised rows with the mean weight of each class."""
        Xs = ((self.X - self.X.mean(axis=0)) / self.X.std(axis=0)).astype(dtype)
        means = np.bincount(self.y, self.w) / np.bincount(self.y)
        return FitTask(Xs, self.y, self.size.n_hidden, means)


def compare_fits(size: Size) -> list[Comparison]:
    """Return all comparisons of running times."""
    problem = Problem.make(size)
    with blas_threads(1):
        rows = [*_against_baselines(problem, "float64"), *_against_baselines(problem, "float32")]
        rows.append(_welm_against_ridge(problem))
    return [*rows, *_two_threads_against_one(problem)]


def _elm(problem: Problem, dtype: str) -> Task:
    model, X = ELMClassifier(problem.size.n_hidden, C=C, random_state=0), problem.X.astype(dtype)
    return lambda: model.fit(X, problem.y, sample_weight=problem.w)


def _welm(problem: Problem) -> Task:
    model = WELMClassifier(problem.size.n_hidden, weighting="w1", C=C, random_state=0)
    return lambda: model.fit(problem.X, problem.y)


def _ridge(problem: Problem, w: np.ndarray) -> Task:
    return lambda: fit_ridge(problem.X, problem.y, w, problem.size.n_hidden, C)


def _against_baselines(problem: Problem, dtype: str) -> Iterator[Comparison]:
    """Compare with Ridge in float64 and with the packages in the same precision."""
    task = problem.task(dtype)
    missing = {package.name: package.missing for package in ELM_PACKAGES}
    baselines = {RIDGE: _ridge(problem, problem.w)} | {
        package.name: partial(package.run, task)
        for package in ELM_PACKAGES
        if not missing[package.name]
    }
    ratios = interleaved(_elm(problem, dtype), baselines, problem.size.repeats)
    if missing[GFDL.name] and problem.size != QUICK:
        found = gfdl_elsewhere(dtype)
        if isinstance(found, Ratio):
            ratios[GFDL.name], missing[GFDL.name] = found, None
        else:
            missing[GFDL.name] = found
    for name in (RIDGE, *missing):
        target, reason = TARGETS[dtype] if name == RIDGE else AHEAD, REASONS.get(name)
        ours = f"ELMClassifier, {dtype}"
        yield Comparison(ours, name, ratios.get(name), target, missing.get(name), reason)


def gfdl_elsewhere(dtype: str) -> Ratio | str:
    """Return our time over gfdl's in an environment of its own, or why there is none."""
    python = gfdl_python()
    if isinstance(python, str):
        return python
    done = _run([str(python), "-m", "benchmarks.fit", dtype])
    return _failure(done) if done.returncode else Ratio(**json.loads(done.stdout))


@cache
def gfdl_python() -> Path | str:
    """Return the interpreter of an environment with gfdl and these sources, or why not."""
    other, python = newer_python(), ELSEWHERE / "bin" / "python"
    if other is None:
        return f"not installed: needs Python 3.12, found none of {', '.join(PYTHONS)}"
    steps = [[str(python), "-m", "pip", "install", "--quiet", "gfdl>=0.2", str(ROOT)]]
    if not python.exists():
        steps.insert(0, [str(other), "-m", "venv", "--clear", str(ELSEWHERE)])
    for command in steps:
        done = _run(command)
        if done.returncode:
            shutil.rmtree(ELSEWHERE, ignore_errors=True)  # the next run begins anew
            return _failure(done)
    return python


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.run(  # noqa: S603
        command, capture_output=True, text=True, check=False, env=environment, cwd=ROOT
    )


def _failure(done: subprocess.CompletedProcess[str]) -> str:
    return "not installed: " + (done.stderr.strip().splitlines() or ["no message"])[-1]


def newer_python() -> Path | None:
    """Return an interpreter that gfdl can run in: on the path, or among pyenv's."""
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for name in PYTHONS:
        found = shutil.which(f"python{name}")
        places = [*([Path(found)] if found else []), *versions.glob(f"{name}.*/bin/python")]
        for place in places:  # one of pyenv's on the path may stand for a version not chosen
            command = [str(place), "-c", "import venv, ensurepip"]
            if not subprocess.run(command, capture_output=True, check=False).returncode:  # noqa: S603
                return place
    return None


def _welm_against_ridge(problem: Problem) -> Comparison:
    w = 1.0 / np.bincount(problem.y)[problem.y]  # (9)
    ratios = interleaved(_welm(problem), {RIDGE: _ridge(problem, w)}, problem.size.repeats)
    name, target = "WELMClassifier, float64", TARGETS["float64"]
    return Comparison(name, RIDGE, ratios[RIDGE], target, reason=REASONS[RIDGE])


def _two_threads_against_one(problem: Problem) -> Iterator[Comparison]:
    """Compare each of our fits with itself; no other fit runs in between."""
    fits = {
        "ELMClassifier, float64": _elm(problem, "float64"),
        "ELMClassifier, float32": _elm(problem, "float32"),
        "WELMClassifier, float64": _welm(problem),
    }
    enough = joblib.cpu_count() >= 2
    for name, fit in fits.items():
        ours, one = f"{name}, two BLAS threads", "itself, one BLAS thread"
        ratio = _thread_ratio(fit, problem.size.repeats) if enough else None
        yield Comparison(ours, one, ratio, NO_SLOWER, None if enough else "one core only")


def _thread_ratio(fit: Task, repeats: int) -> Ratio:
    tasks = [_with_threads(fit, n) for n in (2, 1)]
    return interleaved(tasks[0], {"one": tasks[1]}, repeats, pause=PAUSE)["one"]


def _with_threads(fit: Task, n_threads: int) -> Task:
    # Finding the loaded libraries is slow and not part of the fit.
    controller = ThreadpoolController()

    def run() -> None:
        with controller.limit(limits=n_threads, user_api="blas"):
            fit()

    return run


def main(dtype: str) -> None:
    """Print our time over gfdl's as JSON."""
    problem = Problem.make(FULL)
    with blas_threads(1):
        run = partial(GFDL.run, problem.task(dtype))
        ratio = interleaved(_elm(problem, dtype), {GFDL.name: run}, problem.size.repeats)[GFDL.name]
    print(json.dumps(asdict(ratio)))


if __name__ == "__main__":
    main(sys.argv[1])
