"""Rows that test a promise: held out of a fit, and used for nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ecselm._random import as_generator
from ecselm._sklearn import safe_indexing
from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.costs.promise import (
    CautiousCosts,
    Promise,
    cases_at_rate,
    cases_needed,
    checked,
    keep_promises,
    read_promise,
    why_not,
)

USUAL_SHARE, PREFIT_SHARE = 0.2, 0.5  # of the rows, held out
LARGE_SHARE = 0.5  # at most, to allow for one failure in the test
LARGEST_SHARE = 0.75  # at most, for a test without a failure


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Rows held out of a fit to test promises."""

    promises: tuple[Promise, ...]
    classes: AnyArray
    confidence: float
    rest: IntArray  # positions of the rows to fit
    X: Any  # the rows held out
    y: IntArray  # (n,) their classes, by position

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

        kept = keep_promises(self.promises, sequence, y, tested, self.confidence)
        if kept is None:
            first = tested(sequence[0].matrix)
            raise ValueError(why_not(self.promises, self.classes, y, first, self.confidence))
        records, found = [], tested(kept.matrix)
        for one in self.promises:
            record = asdict(checked(one, self.classes, y, found, self.confidence))
            del record["group"], record["holds"]
            record["confidence"] = self.confidence
            if family.has_threshold:
                record["threshold"] = float(kept.matrix[0, 1] / kept.matrix.sum())
            else:
                record["factor"] = kept.factors[one.truth]
            records.append(record)
        return kept.matrix, records


def hold_out(
    estimator: Any,
    X: Any,
    codes: IntArray,
    classes: AnyArray,
    weight: FloatArray | None,
    *,
    prefit: bool = False,
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
    """
    promises = read_promise(estimator.promise, classes)
    confidence = float(estimator.confidence)
    if _is_by_row(estimator.cost, len(codes), len(classes)):
        raise ValueError(
            "cost must not be by row with a promise, which holds rows out: give sample_cost to fit"
        )
    used = np.arange(len(codes)) if weight is None else np.flatnonzero(weight > 0)
    of_class = [used[codes[used] == c] for c in range(len(classes))]
    compete = len({one.truth for one in promises}) > 1

    # How many: enough cases for the test.
    share = PREFIT_SHARE if prefit else USUAL_SHARE
    for one in promises:
        n = max(len(of_class[one.truth]), 1)
        without = cases_needed(one.limit, confidence)
        wanted = cases_needed(one.limit, confidence, 1)
        if compete:  # then caution cannot avoid all failures
            wanted = cases_at_rate(one.limit, confidence, one.limit / 2) or wanted
        share = max(share, min(wanted / n, LARGE_SHARE))
        share = max(share, min(without / n, LARGEST_SHARE))

    # Which: at random within classes; the same rows where a search is resumed without a seed.
    rng = as_generator(0 if estimator.random_state is None else estimator.random_state)
    held = []
    for rows in of_class:
        n_held = max(min(int(np.ceil(share * len(rows) - 1e-9)), len(rows) - 1), 0)
        held.append(rng.permutation(rows)[:n_held])
    chosen = np.concatenate(held)
    y = codes[chosen]
    for one in promises:
        if int((y == one.truth).sum()) < cases_needed(one.limit, confidence):
            raise ValueError(why_not((one,), classes, y, y, confidence))
    rest = np.setdiff1d(np.arange(len(codes)), chosen)
    return HeldOut(promises, classes, confidence, rest, safe_indexing(X, chosen), y)


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
