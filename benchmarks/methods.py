"""Every method on real data: ``python -m benchmarks.methods [--output FILE] [--table FILE]``.

Needs ``ECSELM_DATA`` and the extra ``compare``. Parameters are tuned by cross-validation
within the training rows of each split; the results of every split go to the file.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import accuracy_score, balanced_accuracy_score, mean_absolute_error
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.environment import current_environment
from benchmarks.tables import table
from ecselm.paper.datasets import Dataset, load_gas, load_german, load_olivetti, load_scut
from ecselm.paper.methods import Method, get_method, list_methods, tuned_method

HERE = Path(__file__).resolve().parent
BINARY = (
    "LightGBM with tuned threshold",
    "CSLogit",
    "CSBoost",
    "CSTree",
    "CSForest",
    "CSThreshold",
)
AS_THEY_ARE = (
    "kernel ECSELM",
    "ECSELM as printed",
    "LightGBM",
    "Neural Network",
)  # too slow to be tuned here
TRIVIAL = "majority or mean"


@dataclass(frozen=True, slots=True)
class Task:
    """Real data with a kind of split, and the scores of its test rows."""

    name: str
    kind: str
    load: Callable[..., Dataset]
    before: Callable[[], BaseEstimator]
    test_size: float
    scores: dict[str, Callable[..., float]]


def _faces() -> BaseEstimator:
    return make_pipeline(StandardScaler(), PCA(60, svd_solver="full"))


def _scores(folder: Path) -> Dataset:
    data = load_scut(target="score", folder=folder)
    return replace(data, X=data.X[:, :50])


ACCURACIES = {"accuracy": accuracy_score, "balanced": balanced_accuracy_score}
TASKS = (
    Task("gases", "classification", load_gas, StandardScaler, 1 / 3, ACCURACIES),
    Task("faces", "classification", load_olivetti, _faces, 1 / 2, ACCURACIES),
    Task(
        "credits",
        "classification",
        load_german,
        StandardScaler,
        1 / 3,
        ACCURACIES,
    ),
    Task(
        "scores",
        "regression",
        _scores,
        partial(make_pipeline, "passthrough"),
        1 / 2,
        {"error": mean_absolute_error},
    ),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The scores of a method on one split."""

    task: str
    method: str
    split: int
    scores: dict[str, float]


def run(task: Task, method: Method | None, split: int, folder: Path) -> Outcome:
    """Fit a method, or the trivial model, to the training rows of a split, and score it."""
    data = task.load(folder=folder)
    X, y = data.X, data.y
    stratify = y if task.kind == "classification" else None
    train, test, y_train, y_test = train_test_split(
        X, y, test_size=task.test_size, stratify=stratify, random_state=split
    )
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = _model(task, method, train, y_train, split).fit(train, y_train)
        y_pred = model.predict(test)
    found = {name: float(score(y_test, y_pred)) for name, score in task.scores.items()}
    print(f"{task.name}, {method or TRIVIAL}, split {split}: {found}", flush=True)
    return Outcome(task.name, method.name if method else TRIVIAL, split, found)


def _model(task: Task, method: Method | None, X: np.ndarray, y: np.ndarray, seed: int) -> Any:
    if method is None:
        return DummyClassifier() if task.kind == "classification" else DummyRegressor()
    params = get_method(method, task.kind).get_params()
    fixed = {name: seed for name in params if name.rpartition("__")[2] == "random_state"}
    if "LightGBM" in method or method == "CSBoost":
        fixed |= {name: 1 for name in params if name.rpartition("__")[2] == "n_jobs"}
    if method in AS_THEY_ARE:
        return make_pipeline(task.before(), get_method(method, task.kind, **fixed))
    return tuned_method(method, X, y, task.kind, before=task.before(), cv=3, **fixed)


def jobs(
    n_splits: int, only: Sequence[str] | None = None, tasks: Sequence[str] | None = None
) -> Iterator[tuple[Task, Method | None, int]]:
    """Yield the tasks, methods and splits to run."""
    for task in TASKS:
        if tasks and task.name not in tasks:
            continue
        for method in (None, *list_methods(task.kind)):
            if only and method not in only:
                continue
            if method is not None and method.extra == "boosting":  # of `ecselm bench uci` alone
                continue
            if method in BINARY and task.name != "credits":
                continue
            yield from ((task, method, split) for split in range(n_splits))


def as_markdown(outcomes: list[Outcome]) -> str:
    """Return one table for every task, methods in the order of the registry."""
    parts = []
    for task in TASKS:
        names = dict.fromkeys(o.method for o in outcomes if o.task == task.name)
        rows = [[name, *_cells(outcomes, task, name)] for name in names]
        if rows:
            parts += [f"### {task.name.capitalize()}\n", table(["method", *task.scores], rows), ""]
    return "\n".join(parts)


def _cells(outcomes: list[Outcome], task: Task, name: str) -> list[str]:
    found = [o.scores for o in outcomes if (o.task, o.method) == (task.name, name)]
    columns = [[scores[key] for scores in found] for key in task.scores]
    return [
        f"{np.mean(values):.3f} ± {np.std(values, ddof=1):.3f}"
        if len(values) > 1
        else f"{values[0]:.3f}"
        for values in columns
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run all methods; write the splits and the tables."""
    options = _parser().parse_args(arguments)
    folder = os.environ.get("ECSELM_DATA")
    if not folder:
        raise SystemExit("needs real data: set ECSELM_DATA to the folder that holds them")
    work = Parallel(n_jobs=options.jobs, verbose=0)
    outcomes = work(
        delayed(run)(task, method, split, Path(folder))
        for task, method, split in jobs(options.splits, options.only, options.tasks)
    )
    outcomes = _merged(stored(options.output) if options.only or options.tasks else [], outcomes)
    record = {
        "environment": asdict(current_environment(quick=False)),
        "outcomes": [asdict(outcome) for outcome in outcomes],
    }
    options.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(f"\n{as_markdown(outcomes)}\nwrote {options.output}")


def stored(path: Path) -> list[Outcome]:
    """Return the outcomes of an earlier run."""
    if not path.exists():
        return []
    record = json.loads(path.read_text(encoding="utf-8"))
    return [Outcome(**outcome) for outcome in record["outcomes"]]


def _merged(before: list[Outcome], now: list[Outcome]) -> list[Outcome]:
    """Return all outcomes in the order of the registry, the newer of two."""
    found = {(o.task, o.method, o.split): o for o in (*before, *now)}
    order = [(task.name, m.name if m else TRIVIAL, split) for task, m, split in jobs(99)]
    return [found[key] for key in order if key in found]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.methods", description=__doc__)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="run some methods again")
    parser.add_argument("--tasks", nargs="+", metavar="TASK", help="run some tasks again")
    parser.add_argument("--output", type=Path, default=HERE / "methods.json", metavar="FILE")
    return parser


if __name__ == "__main__":
    main()
