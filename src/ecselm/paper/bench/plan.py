"""Plan the bench: one job per method and split of a data set, the cheap methods first."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from ecselm._typing import AnyArray
from ecselm.paper.bench.cases import SMALLER_IS_BETTER, BenchCase
from ecselm.paper.bench.methods import BenchMethod
from ecselm.paper.bench.probabilities import class_values, has_probabilities
from ecselm.paper.bench.tuning import (
    FIT_ERRORS,
    LOG_LOSS,
    Fitter,
    LabelledRows,
    calibrate,
    inner_folds,
    label_rows,
    predict_classes,
    rank_candidates,
    scores,
    tuning_rows,
)
from ecselm.paper.jobs import JobResult, Measurement
from ecselm.paper.methods import Shape
from ecselm.paper.protocols.protocol import CaseInfo, case_info
from ecselm.search import interruptible

QUICK_SPLITS, QUICK_CANDIDATES = 2, 6
NO_DATA = (
    "there are no data for the bench: ECSELM_DATA must name a folder with the files that "
    "docs/datasets.md lists"
)


@dataclass(frozen=True, slots=True)
class Effort:
    """How much a bench may cost.

    Parameters
    ----------
    most_splits : int or None, default=None
        Number of splits of a data set, the first ones; None is all.
    most_candidates : int or None, default=None
        Number of candidates of a method, evenly chosen; None is all.
    """

    most_splits: int | None = None
    most_candidates: int | None = None


FULL_EFFORT = Effort()
QUICK_EFFORT = Effort(QUICK_SPLITS, QUICK_CANDIDATES)


@dataclass(frozen=True, slots=True)
class PlannedCase:
    """A case with the checksums and class sizes of its data."""

    case: BenchCase
    info: CaseInfo
    n_classes: int
    n_smallest: int  # rows of the smallest class


def plan_case(case: BenchCase, seed: int) -> PlannedCase:
    """Read the data of a case once and return it with their checksums."""
    data = case.case.load()
    info = case_info(case.case, data, case.splits(data, seed))
    counts = data.counts
    return PlannedCase(case, replace(info, label=case.name), len(counts), int(counts.min()))


def plan_cases(
    cases: Sequence[BenchCase], seed: int, *, all_needed: bool = False
) -> list[PlannedCase]:
    """Return the cases that have data, or raise an error if ``all_needed`` and one has none."""
    found = []
    for case in cases:
        try:
            found.append(plan_case(case, seed))
        except FileNotFoundError:
            if all_needed:
                raise
    if not found:
        raise FileNotFoundError(NO_DATA)
    return found


def is_applicable(method: BenchMethod, planned: PlannedCase) -> bool:
    """Tell whether a method can handle the classes of a case and needs no costs it lacks."""
    if method.binary and planned.n_classes > 2:
        return False
    return not method.costs_only or "mean_cost" in planned.case.targets


@dataclass(frozen=True, slots=True)
class BenchJob:
    """One method on one split of one data set, tuned for every target of it.

    Parameters
    ----------
    case : BenchCase
    info : CaseInfo
    method : BenchMethod
    split : int
    seed : int
    most_candidates : int or None, default=None
        Number of candidates, evenly chosen; None is all.
    """

    case: BenchCase
    info: CaseInfo
    method: BenchMethod
    split: int
    seed: int
    most_candidates: int | None = None

    @property
    def key(self) -> str:
        """Identify the job in a journal: all that its result depends on within a run."""
        name = self.method.name
        if self.method.revision:
            name += f", revision {self.method.revision}"
        data = f"{self.info.checksum}-{self.info.splits}"
        return "|".join(("bench", self.info.label, data, name, str(self.split)))

    @property
    def title(self) -> str:
        """Name the job in error messages."""
        return f"{self.method.name} on {self.info.label}, split {self.split}"

    def run(self) -> JobResult:
        """Tune on the training rows of the split for every target, and score its test rows."""
        data = self.case.case.load()
        train, test = self.case.splits(data, self.seed)[self.split]
        rows = label_rows(data)
        train_rows, test_rows = rows.take(train), rows.take(test)
        with threadpool_limits(1), warnings.catch_warnings(), interruptible():
            # Methods of five packages warn of what every run has: short searches, classes of
            # few rows, defaults that will change. The scores show the effect.
            warnings.simplefilter("ignore")
            start = time.perf_counter()
            candidates, order = self._tune(train_rows)
            tuned = time.perf_counter()
            predictions = self._predict(candidates, order, train_rows, test_rows)
            fitted_at = time.perf_counter()
        measurements = []
        for target, (y_pred, candidate) in predictions.items():
            value = float(scores(target, y_pred, test_rows)[0])
            value = -value if target in SMALLER_IS_BETTER else value
            measurements.append(Measurement(target, value))
            measurements.append(Measurement("candidate", float(candidate), target))
        seconds = {"choose": tuned - start, "learn": fitted_at - tuned}
        return JobResult(
            self.key,
            tuple(measurements),
            tuple(Measurement("seconds", value, at) for at, value in seconds.items()),
        )

    @property
    def _fitter(self) -> Fitter:
        return Fitter(self.method, "mean_cost" in self.case.targets, self.seed + self.split)

    def _tune(
        self, rows: LabelledRows
    ) -> tuple[Sequence[Mapping[str, Any]], dict[str, tuple[int, ...]]]:
        """Return the candidates, and their order for every target in folds of the rows."""
        few = tuning_rows(rows, self._fitter.seed)
        shape = Shape(len(few.y), few.X.shape[1], len(np.unique(few.y)))
        candidates = _evenly(self.method.grid(shape), self.most_candidates)
        return candidates, rank_candidates(self._fitter, candidates, few, self.case.targets)

    def _predict(
        self,
        candidates: Sequence[Mapping[str, Any]],
        order: Mapping[str, tuple[int, ...]],
        train: LabelledRows,
        test: LabelledRows,
    ) -> dict[str, tuple[AnyArray, int]]:
        """Return the predictions of the test rows and the position of their candidate, by target.

        Predictions are classes (n,), or probabilities (n, k) for the log loss. The candidate is
        the best that can be fitted to all training rows. Where none can, the position is -1, the
        prediction is the most frequent class and the probabilities are the shares of classes.
        """
        scaler = StandardScaler().fit(train.X)
        scaled_train, scaled_test = train.scaled(scaler), test.scaled(scaler)
        models: dict[tuple[int, str | None], Any] = {}  # one fit for many targets
        predictions: dict[str, tuple[AnyArray, int]] = {}
        for target in self.case.targets:
            for i in order[target]:
                key = i, None if self.method.kind == "chosen" else target
                try:
                    if key not in models:
                        models[key] = None  # unless the fit succeeds
                        models[key] = self._fit(candidates[i], scaled_train, target)
                    if models[key] is None:
                        continue
                    if target == LOG_LOSS:
                        found = self._probabilities(models[key], candidates[i], train, scaled_test)
                    else:
                        found = predict_classes(models[key], scaled_test.X)
                    predictions[target] = found, i
                    break
                except FIT_ERRORS:
                    continue
            else:
                shares = np.bincount(train.y, minlength=train.n_classes) / len(train.y)
                constant = shares if target == LOG_LOSS else shares.argmax()
                predictions[target] = np.stack([constant] * len(test.y)), -1
        return predictions

    def _probabilities(
        self, model: Any, candidate: Mapping[str, Any], train: LabelledRows, test: LabelledRows
    ) -> AnyArray:
        """Return probabilities (n, k) of scaled test rows; ``train`` is not scaled yet."""
        values = class_values(model, test.X, test.n_classes)
        if has_probabilities(model):
            return values
        return calibrate(self._fitter, candidate, train).probabilities(values)

    def _fit(self, candidate: Mapping[str, Any], train: LabelledRows, target: str) -> Any:
        """Return a model of scaled training rows, for the target where the method knows it."""
        if self.method.kind == "threshold":
            folds = inner_folds(train.y, self._fitter.seed)
            return self._fitter.fit_threshold(candidate, train, target, folds)
        itself = self.method.kind == "itself"
        return self._fitter.fit(candidate, train, target if itself else None)


def _evenly(candidates: list[Mapping[str, Any]], most: int | None) -> list[Mapping[str, Any]]:
    if most is None or len(candidates) <= most:
        return candidates
    return [candidates[i * len(candidates) // most] for i in range(most)]


def plan_bench(
    cases: Sequence[PlannedCase],
    methods: Sequence[BenchMethod],
    seed: int,
    effort: Effort = FULL_EFFORT,
) -> list[BenchJob]:
    """Return the jobs method by method, so that a run that is stopped has whole methods.

    Parameters
    ----------
    cases : sequence of PlannedCase
    methods : sequence of BenchMethod
    seed : int
        Of splits and of folds in which methods are tuned; seed plus split is the random state
        of the methods.
    effort : Effort
    """
    return [
        BenchJob(one.case, one.info, method, split, seed, effort.most_candidates)
        for method in methods
        for one in cases
        if is_applicable(method, one)
        for split in range(min(one.info.n_splits, effort.most_splits or one.info.n_splits))
    ]
