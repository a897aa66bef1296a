"""Decisions by costs against tuned thresholds: ``python -m benchmarks.threshold_tuning``.

CostDecisionClassifier beside scikit-learn's TunedThresholdClassifierCV around the same estimator,
on the same rows and one core, in turn. ``--half`` says which rows: the development ones, by which
the calibration was chosen, or the confirmation ones. Results, split by split, go to
``benchmarks/results/threshold_tuning/HALF.json`` and as tables into ``docs/bench_deciding.md``;
``--show`` fills the page from the stored results. Needs ``ECSELM_DATA`` and the extra ``compare``.
"""

from __future__ import annotations

import argparse
import json
import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import TunedThresholdClassifierCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.results_page import END, HERE, KEPT
from benchmarks.sizes import lightgbm
from benchmarks.tables import met_cell, ratio_cell, table
from benchmarks.timing import Ratio
from ecselm import CostDecisionClassifier, ECSELMClassifier
from ecselm.paper.bench.probabilities import log_loss
from ecselm.paper.datasets import load_bank_marketing, load_german

PAGE = HERE.parent / "docs" / "bench_deciding.md"
FOLDER = KEPT / "threshold_tuning"
BEGIN = "<!-- threshold tuning -->\n"
HALVES = ("confirmation", "development")
SEEDS = {"development": range(10), "confirmation": range(100, 120)}
OURS, BASELINE = "CostDecisionClassifier", "TunedThresholdClassifierCV"
TEST_SHARE = 0.5  # so that there are as many test rows as training rows
N_BANK = 8000  # rows of bank marketing in development; in confirmation, all of the other half
MAX_TIME = 0.2  # of the baseline's
MAX_ERRORS = 2.0  # standard errors over splits that a difference may be above 0
Rows = tuple[np.ndarray, np.ndarray]

MODELS: dict[str, Callable[[], Any]] = {
    "HistGradientBoosting": lambda: HistGradientBoostingClassifier(random_state=0),
    "LightGBM": lightgbm,
    "logistic regression": lambda: make_pipeline(
        StandardScaler(), LogisticRegression(max_iter=1000)
    ),
    "ECSELM, ensemble": lambda: make_pipeline(
        StandardScaler(), ECSELMClassifier(n_jobs=1, random_state=0)
    ),
}


@dataclass(frozen=True, slots=True)
class Result:
    """Figures of one method around one estimator on one split."""

    data: str
    model: str
    seed: int
    method: str
    mean_cost: float
    log_loss: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Problem:
    """Rows with classes 0 and 1, what mistakes cost (rows are the truth), seeds of splits."""

    X: np.ndarray
    y: np.ndarray
    cost: np.ndarray
    seeds: range

    def split(self, seed: int) -> tuple[Rows, Rows]:
        """Return training and test rows."""
        X, X_test, y, y_test = train_test_split(
            self.X, self.y, test_size=TEST_SHARE, stratify=self.y, random_state=seed
        )
        return (X, y), (X_test, y_test)


def german(half: str) -> Problem:
    """Return German credit with its published costs; its halves differ in their seeds alone."""
    data = load_german()
    return Problem(data.X, np.searchsorted(data.classes, data.y), data.cost, SEEDS[half])


def bank(half: str) -> Problem:
    """Return a half of bank marketing; a missed customer costs the mean in the first half."""
    data = load_bank_marketing()
    y = np.searchsorted(data.classes, data.y)
    order = np.random.default_rng(0).permutation(len(y))
    first, second = order[: len(y) // 2], order[len(y) // 2 :]
    missed = float(data.sample_cost[first][y[first] == 1, 0].mean())
    rows = first[:N_BANK] if half == "development" else second
    cost = np.array([[0.0, 1.0], [missed, 0.0]])
    return Problem(data.X[rows], y[rows], cost, SEEDS[half])


PROBLEMS: dict[str, Callable[[str], Problem]] = {"German credit": german, "bank marketing": bank}


def mean_cost(y_true: np.ndarray, y_pred: np.ndarray, cost: np.ndarray) -> float:
    """Return the mean cost of classes 0 and 1, as fast as NumPy counts."""
    false_positives = np.count_nonzero(y_pred > y_true)
    false_negatives = np.count_nonzero(y_pred < y_true)
    return float(cost[0, 1] * false_positives + cost[1, 0] * false_negatives) / len(y_true)


def methods(model: str, cost: np.ndarray) -> dict[str, Any]:
    """Return both methods around an estimator, with their defaults."""
    scorer = make_scorer(partial(mean_cost, cost=cost), greater_is_better=False)
    return {
        OURS: CostDecisionClassifier(MODELS[model](), cost=cost),
        BASELINE: TunedThresholdClassifierCV(MODELS[model](), scoring=scorer, cv=5),
    }


def run(data: str, half: str, n_splits: int | None = None) -> Iterator[Result]:
    """Fit both methods around every estimator on every split, in an order that alternates."""
    problem = PROBLEMS[data](half)
    for model in MODELS:
        for method in methods(model, problem.cost).values():
            method.fit(problem.X[:300], problem.y[:300])  # first calls are not to be timed
    for seed in problem.seeds[:n_splits]:
        (X, y), (X_test, y_test) = problem.split(seed)
        for model in MODELS:
            pair = list(methods(model, problem.cost).items())
            for name, method in pair if seed % 2 == 0 else reversed(pair):
                start = time.perf_counter()
                method.fit(X, y)
                seconds = time.perf_counter() - start
                cost = mean_cost(y_test, method.predict(X_test), problem.cost)
                loss = log_loss(method.predict_proba(X_test), y_test)
                yield Result(data, model, seed, name, cost, loss, seconds)


def as_table(results: Sequence[Result]) -> str:
    """Return a line for every estimator and data set.

    A difference has its standard error over splits. These share rows, so it is rather too small;
    a test corrected for that has too little power to find a method worse.
    """
    frame = pd.DataFrame([asdict(one) for one in results])
    header = ["data", "estimator", f"mean cost, {BASELINE}", OURS, "difference"]
    header += ["log loss, difference", "time, ratio", "not worse", f"time <= {MAX_TIME:g}"]
    rows = []
    for (data, model), own in frame.groupby(["data", "model"], sort=False):
        cost, loss, seconds = (
            own.pivot_table(index="seed", columns="method", values=value)
            for value in ("mean_cost", "log_loss", "seconds")
        )
        worse = cost[OURS] - cost[BASELINE]
        ratio = Ratio.of((seconds[OURS] / seconds[BASELINE]).to_numpy())
        rows.append(
            [
                str(data),
                str(model),
                f"{cost[BASELINE].mean():.4f}",
                f"{cost[OURS].mean():.4f}",
                difference(worse),
                difference(loss[OURS] - loss[BASELINE]),
                ratio_cell(ratio),
                met_cell(worse.mean() <= MAX_ERRORS * std_error(worse)),
                met_cell(ratio.median <= MAX_TIME),
            ]
        )
    return table(header, rows)


def difference(values: pd.Series) -> str:
    """Return the mean with its standard error."""
    return f"{values.mean():+.4f} ({std_error(values):.4f})"


def std_error(values: pd.Series) -> float:
    """Return the standard error of the mean, not a number for one value."""
    return float(values.std(ddof=1)) / math.sqrt(len(values))


def path_of(half: str) -> Path:
    """Return where the results of a half are kept."""
    return FOLDER / f"{half}.json"


def stored(path: Path) -> list[Result]:
    """Return the results of a file."""
    return [Result(**one) for one in json.loads(path.read_text(encoding="utf-8"))]


def text() -> str:
    """Return the tables of all halves that were run."""
    made = [
        f"### Tuned thresholds, {half} half\n\n{as_table(stored(path_of(half)))}"
        for half in HALVES
        if path_of(half).is_file()
    ]
    return "\n\n".join(made) or "Not run yet."


def filled(page: str) -> str:
    """Return the page with the tables of the stored results."""
    before, rest = page.split(BEGIN, 1)
    return f"{before}{BEGIN}{text()}\n{rest[rest.index(END) :]}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a half, store its results after each, and fill the page."""
    parser = argparse.ArgumentParser(description="Compare decisions by costs with thresholds.")
    parser.add_argument("--half", choices=HALVES, default="development")
    parser.add_argument("--data", choices=list(PROBLEMS), nargs="+", default=list(PROBLEMS))
    parser.add_argument("--splits", type=int, help="how many, if not all")
    parser.add_argument("--show", action="store_true", help="fill the page from stored results")
    options = parser.parse_args(arguments)
    if not options.show:
        warnings.simplefilter("ignore")
        path = path_of(options.half)
        kept = stored(path) if path.is_file() else []
        results = [one for one in kept if one.data not in options.data]
        path.parent.mkdir(parents=True, exist_ok=True)
        with threadpool_limits(1):
            for data in options.data:
                for one in run(data, options.half, options.splits):
                    results.append(one)
                    print(one, flush=True)
                    path.write_text(json.dumps([asdict(one) for one in results], indent=1) + "\n")
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"{BEGIN}{text()}\n{END}")


if __name__ == "__main__":
    main()
