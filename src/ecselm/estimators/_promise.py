"""Rows that test a promise: held out of a fit, and used for nothing else."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ecselm._random import as_generator
from ecselm._sklearn import safe_indexing
from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.costs import min_cost_decision
from ecselm.costs.promise import (
    Candidate,
    CautiousCosts,
    Promise,
    PromiseError,
    cases_at_rate,
    cases_needed,
    checked,
    keep_promises,
    read_promise,
    resampled_choices,
    why_not,
)
from ecselm.estimators._base import all_or_nothing
from ecselm.estimators._policy import forget_promise
from ecselm.estimators._source import MemorySource
from ecselm.search.interrupts import keeping_best, shield_model

USUAL_SHARE, PREFIT_SHARE = 0.2, 0.5  # of the rows, held out
LARGE_SHARE = 0.5  # at most, to allow for one failure in the test
LARGEST_SHARE = 0.75  # at most, for a test without a failure
MOST_RESAMPLED = 20_000  # cases that test, for an interval of what they choose
INTERVAL = (0.025, 0.975)  # quantiles


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Rows held out of a fit to test promises."""

    promises: tuple[Promise, ...]
    classes: AnyArray
    confidence: float
    rest: IntArray  # positions of the rows to fit
    X: Any  # the rows held out
    y: IntArray  # (n,) their classes, by position
    rng: np.random.Generator  # of bootstrap samples
    parts: dict[Any, IntArray] | None = None  # by group, where promises are to hold in each

    @property
    def compete(self) -> bool:
        """Tell whether promises are about several classes: caution for one may break another."""
        return len({one.truth for one in self.promises}) > 1

    def chosen(
        self,
        matrix: FloatArray,
        P: FloatArray,
        answers: Callable[[FloatArray, FloatArray], IntArray],
        validation: tuple[FloatArray, IntArray] | None,
    ) -> tuple[FloatArray, list[dict[str, Any]]]:
        """Return the costs that keep the promises, and a record of every promise.

        Raises PromiseError where none do.

        Parameters
        ----------
        matrix : array of shape (k, m)
            The costs that decide without promises.
        P : array of shape (n, k)
            Probabilities of the rows held out.
        answers : callable
            From probabilities and costs to the answers to rows.
        validation : tuple of arrays of shape (v, k) and (v,), or None
            Probabilities and classes of rows that choose where competing promises are tested
            first.
        """
        y, family = self.y, CautiousCosts(matrix, self.promises)
        P_start, y_start = (P[:0], y[:0]) if validation is None else validation
        sequence = family.sequence(y_start, lambda M: answers(P_start, M))

        def tested(M: FloatArray) -> IntArray:
            return answers(P, M)

        parts = None if self.parts is None else list(self.parts.values())
        kept = keep_promises(self.promises, sequence, y, tested, self.confidence, parts)
        if kept is None:
            first = tested(sequence[0].matrix)
            records = [self._record(one, first) for one in self.promises]
            reason = why_not(self.promises, self.classes, y, first, self.confidence, self.parts)
            raise PromiseError(reason, records)
        found, ends = tested(kept.matrix), self._intervals(family, sequence, P, answers)
        records = []
        for one in self.promises:
            record = self._record(one, found)
            kind = "threshold" if family.has_threshold else "factor"
            record[kind] = _place(family, kept, one)
            record["interval"] = ends.get(one.truth)
            records.append(record)
        return kept.matrix, records

    def _record(self, promise: Promise, answers: IntArray) -> dict[str, Any]:
        """Return what the rows held out say about a promise; of groups, the worst."""
        y = self.y
        rows = [slice(None)] if self.parts is None else self.parts.values()
        every = [
            checked(promise, self.classes, y[part], answers[part], self.confidence) for part in rows
        ]
        worst = min if promise.predicted is None else max
        record = asdict(worst(every, key=lambda one: one.bound))
        record["n_cases"] = sum(one.n_cases for one in every)
        record["n_failures"] = sum(one.n_failures for one in every)
        rate = record["n_failures"] / max(record["n_cases"], 1)
        record["observed"] = 1.0 - rate if promise.predicted is None else rate
        del record["group"], record["holds"]
        record["confidence"] = self.confidence
        return record

    def _intervals(
        self,
        family: CautiousCosts,
        sequence: list[Candidate],
        P: FloatArray,
        answers: Callable[[FloatArray, FloatArray], IntArray],
    ) -> dict[int, tuple[float, float]]:
        """Return 95 % bootstrap intervals of the threshold or factors, by class.

        Samples that keep no promise count as the most cautious candidate; none beyond 20 000
        cases, where these intervals have no width to speak of.
        """
        used = np.isin(self.y, family.truths)
        if int(used.sum()) > MOST_RESAMPLED:
            return {}
        place = np.cumsum(used) - 1  # of rows among those of promised classes
        parts = self.parts
        of_used = None if parts is None else [place[one[used[one]]] for one in parts.values()]
        P_used = P[used]
        chosen = resampled_choices(
            *(self.promises, sequence, self.y[used], lambda M: answers(P_used, M)),
            *(self.confidence, of_used, self.rng),
        )
        ends = {}
        for one in self.promises:
            places = np.array([_place(family, sequence[j], one) for j in chosen.clip(0).tolist()])
            low, high = np.quantile(places, INTERVAL, method="nearest").tolist()
            ends[one.truth] = (low, high)
        return ends


def _place(family: CautiousCosts, candidate: Candidate, promise: Promise) -> float:
    """Return the threshold of two answers, or the factor of mistakes on the promised class."""
    if family.has_threshold:
        return float(candidate.matrix[0, 1] / candidate.matrix.sum())
    return float(candidate.factors[promise.truth])


def hold_out(
    estimator: Any,
    X: Any,
    codes: IntArray,
    classes: AnyArray,
    weight: FloatArray | None,
    *,
    prefit: bool = False,
    groups: Any = None,
) -> HeldOut:
    """Return the rows that test the promises of an estimator, drawn by class.

    Of every class the same share is held out, so that the others are of the same population:
    one fifth, or one half of the rows that calibrate a fitted estimator. Where this is too few
    cases of a promised class for a test with one failure, it is as many as that takes, up to
    one half; and as many as a test without a failure takes, up to three quarters. Promises
    about several classes compete, and the test is to allow for failures at half the limit. A
    row of every class is left to fit. A row of weight 0 is no row; others count once.

    Parameters
    ----------
    estimator : object
        With the parameters ``promise``, ``confidence``, ``cost`` and ``random_state``.
    X : array, sparse matrix or dataframe of shape (N, n)
    codes : array of shape (N,)
        Classes of the rows, by position.
    classes : array of shape (k,)
    weight : array of shape (N,) or None
    prefit : bool, default=False
        Whether the rows calibrate an estimator that is fitted already.
    groups : array of shape (N,) or None, default=None
        Labels of groups in each of which promises are to hold: rows are drawn by class and
        group, enough for the group with the fewest cases.
    """
    promises = read_promise(estimator.promise, classes)
    confidence = float(estimator.confidence)
    if _is_by_row(estimator.cost, len(codes), len(classes)):
        raise ValueError(
            "cost must not be by row with a promise, which holds rows out: give sample_cost to fit"
        )
    # The same rows where a search is resumed without a seed.
    rng = as_generator(0 if estimator.random_state is None else estimator.random_state)
    drawn = drawn_rows(promises, confidence, codes, classes, rng, weight, groups, prefit=prefit)
    rest = np.setdiff1d(np.arange(len(codes)), drawn)
    parts = None if groups is None else _by_group(np.asarray(groups)[drawn])
    X_drawn = safe_indexing(X, drawn)
    return HeldOut(promises, classes, confidence, rest, X_drawn, codes[drawn], rng, parts)


def drawn_rows(
    promises: tuple[Promise, ...],
    confidence: float,
    codes: IntArray,
    classes: AnyArray,
    rng: np.random.Generator,
    weight: FloatArray | None = None,
    groups: Any = None,
    *,
    prefit: bool = False,
) -> IntArray:
    """Return the positions of the rows that test promises, see :func:`hold_out`.

    Models of the same promises, rows and seed have the same.
    """
    used = np.arange(len(codes)) if weight is None else np.flatnonzero(weight > 0)
    by_group = {None: used}
    if groups is not None:
        labels = np.asarray(groups)
        if labels.shape != codes.shape:
            raise ValueError(
                f"promise_groups must have one label per row, {codes.shape}, got {labels.shape}"
            )
        by_group = {label: used[rows] for label, rows in _by_group(labels[used]).items()}
    strata = {
        (label, c): rows[codes[rows] == c]
        for label, rows in by_group.items()
        for c in range(len(classes))
    }

    # How many: enough cases for the test.
    share = PREFIT_SHARE if prefit else USUAL_SHARE
    compete = len({one.truth for one in promises}) > 1
    for one in promises:
        without = cases_needed(one.limit, confidence)
        wanted = cases_needed(one.limit, confidence, 1)
        if compete:  # then caution cannot avoid all failures
            wanted = cases_at_rate(one.limit, confidence, one.limit / 2) or wanted
        for label in by_group:
            n = max(len(strata[label, one.truth]), 1)
            share = max(share, min(wanted / n, LARGE_SHARE))
            share = max(share, min(without / n, LARGEST_SHARE))

    # Which: at random within classes.
    held = []
    for rows in strata.values():
        n_held = max(min(int(np.ceil(share * len(rows) - 1e-9)), len(rows) - 1), 0)
        held.append(rng.permutation(rows)[:n_held])
    drawn: IntArray = np.concatenate(held)
    y = codes[drawn]
    parts = None if groups is None else _by_group(np.asarray(groups)[drawn])
    for one in promises:
        for label in by_group:
            least, mine = cases_needed(one.limit, confidence), strata[label, one.truth]
            rows = np.arange(len(y)) if parts is None else parts.get(label, np.arange(0))
            if int((y[rows] == one.truth).sum()) < least:
                of_group = None if parts is None else {label: rows}
                raise ValueError(
                    f"{why_not((one,), classes, y, y, confidence, of_group)}; as at most three "
                    f"quarters of the rows test it, fit takes {rows_needed(least)}, got {len(mine)}"
                )
    return drawn


def rows_needed(n_tests: int) -> int:
    """Return how many rows of a class a fit takes for so many that test a promise about it.

    Examples
    --------
    >>> rows_needed(45), rows_needed(1)
    (59, 2)
    """
    return max(int((n_tests - 1) / LARGEST_SHARE + 1e-9) + 1, n_tests + 1)


def _by_group(labels: AnyArray) -> dict[Any, IntArray]:
    """Return the rows of every group."""
    names, group = np.unique(labels, return_inverse=True)
    return {name: np.flatnonzero(group == g) for g, name in enumerate(names.tolist())}


@keeping_best()
@all_or_nothing
def fit_promised(
    estimator: Any, X: Any, y: Any, sample_weight: Any, groups: Any, by_row: dict[str, Any]
) -> None:
    """Fit an ECSELMClassifier to some of the rows, and let the others decide how cautious to be.

    Once the model is there, an interrupt waits for the test of what it promises.
    """
    _, codes, classes, weight = estimator._checked_labels(X, y, sample_weight)
    if groups is not None:
        raise ValueError(
            "groups must be None with a promise, whose test takes rows to be independent"
        )
    decides = estimator._is_ensemble() or estimator.decision == "min_cost"
    if estimator.kernel == "precomputed" or not decides:
        raise ValueError(
            "promise must be None unless costs decide on probabilities: with an ensemble, or with "
            f"decision='min_cost' and no precomputed kernel, got {estimator.promise!r}"
        )
    held, n = hold_out(estimator, X, codes, classes, weight), len(codes)
    rest = held.rest
    source = MemorySource(
        safe_indexing(X, rest), classes[codes[rest]], rows_of(sample_weight, rest, n)
    )
    of_rest = {name: rows_of(value, rest, n) for name, value in by_row.items()}
    estimator._fit_source(source, promised=True, **of_rest)
    shield_model()
    P, validation = estimator._deciding(estimator._scores(held.X)), vars(estimator)["_left_out_"]
    del estimator._left_out_
    plain = estimator.cost_matrix_
    try:
        matrix, estimator.promise_ = held.chosen(plain, P, min_cost_decision, validation)
    except PromiseError as error:  # the fit is not lost
        error.model = without_promise(estimator)
        raise
    estimator.cost_matrix_ = estimator._decision_costs_ = matrix
    estimator._plain_costs_ = plain


def without_promise(estimator: Any) -> Any:
    """Return a copy of an estimator that is fitted but for its promise, and makes none."""
    plain = copy.copy(estimator)
    plain.promise = None
    forget_promise(plain)
    return plain


def rows_of(values: Any, rows: IntArray, n_rows: int) -> Any:
    """Return the weights or costs of some of the rows; one number or None is for all.

    Costs of pairs of rows (N, N) are those of the pairs among them.
    """
    if values is None or np.ndim(values) == 0:
        return values
    if np.shape(values)[0] != n_rows:
        raise ValueError(
            f"weights and costs by row must have one entry per row, {n_rows}, got the shape "
            f"{np.shape(values)}"
        )
    if np.shape(values) == (n_rows, n_rows):
        return np.asarray(values)[np.ix_(rows, rows)]
    return safe_indexing(values, rows)


def _is_by_row(cost: Any, n_rows: int, n_classes: int) -> bool:
    """Tell whether stated costs are an array with one row or number for every row."""
    if not isinstance(cost, np.ndarray | list | tuple):
        return False
    try:
        shape = np.shape(cost)
    except ValueError:  # ragged
        return False
    return shape[:1] == (n_rows,) and n_rows > n_classes
