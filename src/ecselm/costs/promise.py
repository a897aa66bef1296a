"""Promise recalls and rates of false alarms on new rows, with a stated confidence.

Learn then Test (Angelopoulos et al., 2021): decisions from the most cautious to the least are
tested in a fixed order by exact binomial tail probabilities, on rows that chose nothing else.
Testing stops at the first that fails, so that no correction for their number is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from numbers import Real
from typing import Any

import numpy as np
from scipy.special import expit
from scipy.stats import beta, binom

from ecselm._typing import AnyArray, BoolArray, FloatArray, IntArray
from ecselm._wording import all_digits

MOST_CAUTIOUS = 30.0  # log-odds of a threshold, or logarithm of a factor
STEP = 0.1  # between candidates, on the same scale
START_FACTORS = np.arange(0.0, 12.25, 0.5)  # logarithms tried where promises compete
START_SWEEPS = 3
MOST_CASES = 10_000_000  # beyond, no number of cases is stated
RESAMPLES = 200  # of the rows that test, for an interval of what they choose

Answers = Callable[[FloatArray], IntArray]  # from costs (k, m) to the answers (n,) to rows


class PromiseError(ValueError):
    """A promise that rows do not show to hold, raised at the end of a fit.

    Attributes
    ----------
    model : estimator or None
        Fitted to the same rows, without the promise: the fit is not lost.
    records : list of dict
        The rows that tested each promise, as in ``promise_``, for the most cautious decisions.
    """

    def __init__(self, message: str, records: list[dict[str, Any]] | None = None) -> None:
        super().__init__(message)
        self.model: Any = None
        self.records = [] if records is None else records


@dataclass(frozen=True, slots=True)
class Promise:
    """One promise, by positions of classes: a recall, or a rate of one class taken for another."""

    truth: int
    predicted: int | None  # None: the recall of ``truth``
    asked: float

    @property
    def limit(self) -> float:
        """Return the largest rate of failures among the cases of the class."""
        return 1.0 - self.asked if self.predicted is None else self.asked

    def failures(self, y: IntArray, answers: IntArray) -> tuple[int, int]:
        """Return the number of failures among rows of classes (n,), and that of the cases.

        A row that is left to a person is not recalled, and is no false alarm.
        """
        mine = answers[y == self.truth]
        return int(self.is_failure(mine).sum()), len(mine)

    def is_failure(self, answers: IntArray) -> BoolArray:
        """Return which answers to cases of the class are failures."""
        failed: BoolArray = (
            answers != self.truth if self.predicted is None else answers == self.predicted
        )
        return failed

    def in_words(self, classes: AnyArray) -> str:
        """Return what is promised, as a sentence names it."""
        labels = classes.tolist()
        if self.predicted is None:
            return f"a recall of {labels[self.truth]!r} of at least {all_digits(self.asked)}"
        return (
            f"a rate of {labels[self.truth]!r} taken for {labels[self.predicted]!r} of at most "
            f"{all_digits(self.asked)}"
        )


@dataclass(frozen=True, slots=True)
class PromiseCheck:
    """What rows say about one promise."""

    truth: Any  # the class
    predicted: Any  # the class it is not to be taken for; None: the recall is promised
    asked: float
    n_cases: int
    n_failures: int  # rows that are missed, or false alarms
    observed: float  # the recall, or the rate; NaN without cases
    bound: float  # exact, one-sided: a recall is at least, a rate at most this
    holds: bool  # with the confidence
    group: Any = None


def read_promise(promise: Any, classes: AnyArray) -> tuple[Promise, ...]:
    """Return the promises that a user states.

    Parameters
    ----------
    promise : dict
        ``{class: recall}`` and ``{(true, predicted): rate}``.
    classes : array of shape (k,)

    Examples
    --------
    >>> read_promise({"ill": 0.9, ("well", "ill"): 0.2}, np.array(["ill", "well"]))
    (Promise(truth=0, predicted=None, asked=0.9), Promise(truth=1, predicted=0, asked=0.2))
    """
    if not isinstance(promise, Mapping) or not promise:
        raise ValueError(
            "promise must be a dict of at least one class or pair (true, predicted), got "
            f"{promise!r}"
        )
    labels = np.asarray(classes).tolist()
    found = []
    for key, asked in promise.items():
        names = key if isinstance(key, tuple) else (key,)
        unknown = [name for name in names if name not in labels]
        if unknown:
            raise ValueError(f"promise must be about classes, {labels}, got {unknown[0]!r}")
        if len(names) not in {1, 2} or len({labels.index(name) for name in names}) < len(names):
            raise ValueError(
                "promise must be about a class or a pair (true, predicted) of two classes, got "
                f"{key!r}"
            )
        number = isinstance(asked, Real) and not isinstance(asked, bool | np.bool_)
        if not number or not 0 < asked < 1:
            raise ValueError(f"promise of {key!r} must be between 0 and 1, got {asked!r}")
        predicted = labels.index(names[1]) if len(names) == 2 else None
        found.append(Promise(labels.index(names[0]), predicted, float(asked)))
    return tuple(found)


@lru_cache(4096)  # neighbouring thresholds have the same counts
def tail_probability(n_failures: int, n_cases: int, limit: float) -> float:
    """Return the p-value of a rate above ``limit``: P(Bin(n, limit) <= failures).

    Examples
    --------
    >>> round(tail_probability(0, 45, 0.05), 4)  # 0.95^45
    0.0994
    """
    return float(binom.cdf(n_failures, n_cases, limit))


def largest_p_value(
    promises: tuple[Promise, ...],
    y: IntArray,
    answers: IntArray,
    parts: Sequence[IntArray] | None = None,
) -> float:
    """Return the p-value of "some promise is broken", the largest of the single ones.

    With ``parts``, rows of every group, of "some promise is broken in some group". All promises
    are made or none, so that neither their number nor that of the groups needs a correction.
    """
    return max(
        tail_probability(*one.failures(y[rows], answers[rows]), one.limit)
        for rows in ([slice(None)] if parts is None else parts)
        for one in promises
    )


def cases_needed(limit: float, confidence: float, n_failures: int = 0) -> int:
    """Return how many cases show a rate of at most ``limit``, with so many failures among them.

    Without any failure these are ``ceil(log(1 - confidence) / log(1 - limit))``.

    Examples
    --------
    >>> cases_needed(0.05, 0.9), cases_needed(0.05, 0.9, 1)
    (45, 77)
    """
    return _least(lambda n: tail_probability(n_failures, n, limit) <= _level(confidence))


def cases_at_rate(limit: float, confidence: float, rate: float) -> int | None:
    """Return how many cases show a rate of at most ``limit`` where ``rate`` of them fail.

    None where no number of cases does, or none below ten million.
    """

    def enough(n: int) -> bool:
        failures = int(np.ceil(rate * n - 1e-9))
        return tail_probability(failures, n, limit) <= _level(confidence)

    return _least(enough) if rate < limit and enough(MOST_CASES) else None


def _level(confidence: float) -> float:
    return (1.0 - confidence) * (1.0 + 1e-12)  # 1 - 0.9 is less than 0.1 by rounding


def _least(enough: Callable[[int], bool]) -> int:
    """Return the least number that is enough, by halving; nearly monotone functions will do."""
    high = 1
    while not enough(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def checked(
    promise: Promise, classes: AnyArray, y: IntArray, answers: IntArray, confidence: float
) -> PromiseCheck:
    """Return what rows of classes (n,) and their answers (n,) say about a promise."""
    failed, n = promise.failures(y, answers)
    labels = np.asarray(classes).tolist()
    # Clopper and Pearson, one-sided: the largest rate of failures that is not refuted.
    worst = float(beta.ppf(confidence, failed + 1, n - failed)) if failed < n else 1.0
    rate = failed / n if n else float("nan")
    recalled = promise.predicted is None
    return PromiseCheck(
        truth=labels[promise.truth],
        predicted=None if promise.predicted is None else labels[promise.predicted],
        asked=promise.asked,
        n_cases=n,
        n_failures=failed,
        observed=1.0 - rate if recalled else rate,
        bound=1.0 - worst if recalled else worst,
        holds=tail_probability(failed, n, promise.limit) <= _level(confidence),
    )


def check_promise(
    y_true: Any,
    y_pred: Any,
    promise: Any,
    classes: Any,
    confidence: float = 0.9,
    groups: Any = None,
) -> list[PromiseCheck]:
    """Return whether rows show that a promise holds, in all and in every group.

    Every line has the confidence by itself: of many groups some are wrong by chance.

    Parameters
    ----------
    y_true : array of shape (n,)
        Of rows by which neither the model nor the promise was fitted.
    y_pred : array of shape (n,)
        Any label that is no class, such as that of a row left to a person, is no recall and
        no false alarm.
    promise : dict
        ``{class: least recall}`` and ``{(true, predicted): largest rate}``.
    classes : array of shape (k,)
    confidence : float, default=0.9
    groups : array of shape (n,), default=None
        Labels of groups of rows, such as hospitals.

    Returns
    -------
    checks : list of PromiseCheck
        One for every promise; with groups, for every promise and group.

    Examples
    --------
    >>> y = ["ill"] * 40 + ["well"] * 2
    >>> check = check_promise(y, y, {"ill": 0.9}, ["ill", "well"])[0]
    >>> check.n_cases, check.observed, round(check.bound, 3), check.holds
    (40, 1.0, 0.944, True)
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence!r}")
    known = np.asarray(classes)
    promises = read_promise(promise, known)
    truth, answered = np.asarray(y_true), np.asarray(y_pred)
    if truth.ndim != 1 or truth.shape != answered.shape:
        raise ValueError(f"y_pred must have one label per row, {truth.shape}, got {answered.shape}")
    place = {label: i for i, label in enumerate(known.tolist())}
    y, answers = (np.array([place.get(one, -1) for one in a.tolist()]) for a in (truth, answered))
    if (y < 0).any():
        raise ValueError(
            f"y_true must hold classes, {known.tolist()}, got {truth[y < 0].tolist()[0]!r}"
        )
    if groups is None:
        return [checked(one, known, y, answers, confidence) for one in promises]
    labels = np.asarray(groups)
    if labels.shape != truth.shape:
        raise ValueError(f"groups must have one label per row, {truth.shape}, got {labels.shape}")
    every, group = np.unique(labels, return_inverse=True)
    parts = {label: np.flatnonzero(group == g) for g, label in enumerate(every.tolist())}
    return [
        replace(checked(one, known, y[rows], answers[rows], confidence), group=label)
        for one in promises
        for label, rows in parts.items()
    ]


@dataclass(frozen=True, slots=True)
class Candidate:
    """Costs that may decide, and how they differ from the stated ones."""

    matrix: FloatArray  # (k, m), in the unit of the stated costs up to a factor
    factors: dict[int, float]  # of mistakes on promised classes; none where a threshold decides


@dataclass(frozen=True)
class CautiousCosts:
    """Costs between stated ones and those that keep promises best: a line of matrices.

    Promises about a class make mistakes on it more expensive: all of them, where its recall is
    promised, else those that are limited. With ``D_c`` the costs of these mistakes, candidates
    decide by ``M + tau sum_c (f_c - 1) D_c`` with tau from 1 to 0. An answer to a row that is
    best for a greater tau costs as much or more by M: whatever the probabilities, the expected
    cost falls with tau, and the least cautious of the candidates that keep a promise is the
    cheapest. Two answers differ in one threshold, which is on a grid of log-odds.
    """

    matrix: FloatArray  # (k, m), the stated costs
    promises: tuple[Promise, ...]

    @property
    def truths(self) -> list[int]:
        """Return the classes about which there are promises."""
        return sorted({one.truth for one in self.promises})

    @property
    def has_threshold(self) -> bool:
        """Tell whether there are two answers."""
        return self.matrix.shape == (2, 2)

    def sequence(self, y: IntArray, answers: Answers) -> list[Candidate]:
        """Return the candidates in the order in which they are tested, the stated costs last.

        The first is the most cautious one. Promises about several classes compete, and none is
        cautious for all: then it is the one that rows say keeps them best.

        Parameters
        ----------
        y : array of shape (n,)
            Classes of rows that do not test; not used where one class is promised.
        answers : callable
            From costs (k, m) to the answers (n,) to these rows.
        """

        def doubt(one: Candidate) -> float:
            return largest_p_value(self.promises, y, answers(one.matrix))

        compete = len(self.truths) > 1
        if self.has_threshold:
            found = self._from_threshold(self._best_threshold(doubt) if compete else None)
        elif compete:
            found = self._from_factors(self._best_factors(doubt))
        else:
            found = self._from_factors({self.truths[0]: MOST_CAUTIOUS})
        return [*found, Candidate(self.matrix, self._no_factors())]

    def _from_threshold(self, start: float | None) -> list[Candidate]:
        """Return candidates from log-odds, None for the most cautious ones, to the stated costs."""
        stated = self._log_odds
        if start is None:  # low thresholds are cautious for class 1; stated ones may be more so
            towards_0 = self.truths == [0]
            start = max(MOST_CAUTIOUS, stated) if towards_0 else min(-MOST_CAUTIOUS, stated)
        low, high = min(start, stated), max(start, stated)
        grid = _grid(-MOST_CAUTIOUS, MOST_CAUTIOUS)
        between = grid[(grid >= low) & (grid <= high) & (grid != stated)]
        ordered = between if start <= stated else between[::-1]
        return [self._at_log_odds(x) for x in ordered.tolist()]

    def _best_threshold(self, doubt: Callable[[Candidate], float]) -> float:
        """Return the log-odds of least doubt, of equally good ones the middle."""
        grid = _grid(-MOST_CAUTIOUS, MOST_CAUTIOUS)
        doubts = np.array([doubt(self._at_log_odds(x)) for x in grid.tolist()])
        best = np.flatnonzero(doubts == doubts.min())
        return float(grid[best[len(best) // 2]])

    def _from_factors(self, start: dict[int, float]) -> list[Candidate]:
        """Return candidates from logarithms of factors to the stated costs."""
        most = max(start.values())
        steps = _grid(0.0, most)[:0:-1]
        taus = (np.expm1(steps) / np.expm1(most)).tolist() if most > 0 else []
        return [
            self._at_factors({c: 1.0 + tau * float(np.expm1(u)) for c, u in start.items()})
            for tau in taus
        ]

    def _best_factors(self, doubt: Callable[[Candidate], float]) -> dict[int, float]:
        """Return logarithms of factors of little doubt, of equally good ones the least."""

        def best(tried: list[dict[int, float]]) -> dict[int, float]:
            of_each = [{c: float(np.exp(u)) for c, u in one.items()} for one in tried]
            return tried[int(np.argmin([doubt(self._at_factors(one)) for one in of_each]))]

        start = dict.fromkeys(self.truths, 0.0)
        for _ in range(START_SWEEPS):
            before = start
            # All together, as one alone takes answers from the others; then one after the other.
            shifts = START_FACTORS - min(start.values())
            start = best([{c: u + d for c, u in start.items()} for d in shifts.tolist()])
            for c in self.truths:
                start = best([{**start, c: u} for u in START_FACTORS.tolist()])
            if start == before:
                break
        return start

    @property
    def _log_odds(self) -> float:
        """Return the log-odds of class 1 at which two answers cost the same."""
        with np.errstate(divide="ignore"):
            return float(np.log(self.matrix[0, 1]) - np.log(self.matrix[1, 0]))

    def _at_log_odds(self, x: float) -> Candidate:
        M = np.array([[0.0, expit(x)], [expit(-x), 0.0]])
        return Candidate(M * float(self.matrix.sum()), {})

    def _at_factors(self, factors: dict[int, float]) -> Candidate:
        M = self.matrix.astype(np.float64)
        for c, factor in factors.items():
            M = M + (factor - 1.0) * self._mistakes(c)
        return Candidate(M * (float(self.matrix.sum()) / float(M.sum())), factors)

    def _no_factors(self) -> dict[int, float]:
        return {} if self.has_threshold else dict.fromkeys(self.truths, 1.0)

    def _mistakes(self, c: int) -> FloatArray:
        """Return the costs (k, m) of the mistakes on a class that promises are about.

        Those that are free get the mean of the others: no factor would make them expensive.
        """
        M = self.matrix
        mine = [one.predicted for one in self.promises if one.truth == c]
        columns = [j for j in range(M.shape[1]) if (j != c if None in mine else j in mine)]
        D = np.zeros(M.shape)
        D[c, columns] = np.where(M[c, columns] > 0, M[c, columns], M[M > 0].mean())
        return D


def _grid(low: float, high: float) -> FloatArray:
    return np.linspace(low, high, round((high - low) / STEP) + 1)


def keep_promises(
    promises: tuple[Promise, ...],
    sequence: list[Candidate],
    y: IntArray,
    answers: Answers,
    confidence: float,
    parts: Sequence[IntArray] | None = None,
) -> Candidate | None:
    """Return the last candidate of a sequence before the first that is not shown to hold.

    The probability that one is returned that breaks a promise on new rows is at most
    ``1 - confidence``. None if the first fails.

    Parameters
    ----------
    promises : tuple of Promise
    sequence : list of Candidate
        Made without the rows that test.
    y : array of shape (n,)
        Classes of the rows that test, by position.
    answers : callable
        From costs (k, m) to the answers (n,) to these rows.
    confidence : float
    parts : sequence of arrays or None, default=None
        Rows of every group, where promises are to hold in each.
    """
    kept = None
    for one in sequence:
        if largest_p_value(promises, y, answers(one.matrix), parts) > _level(confidence):
            break
        kept = one
    return kept


def resampled_choices(
    promises: tuple[Promise, ...],
    sequence: list[Candidate],
    y: IntArray,
    answers: Answers,
    confidence: float,
    parts: Sequence[IntArray] | None,
    rng: np.random.Generator,
) -> IntArray:
    """Return which candidate bootstrap samples of the rows keep (200,), -1 for none.

    Every sample has as many rows of each class, and of each class in a group, as there are.
    Candidates are evaluated once: rows with the same failures are drawn together, by a
    multinomial law.

    Parameters
    ----------
    promises, sequence, y, answers, confidence, parts :
        As in :func:`keep_promises`.
    rng : numpy.random.Generator
    """
    found = np.stack([answers(one.matrix) for one in sequence], axis=1)  # (n, candidates)
    passes = np.ones((RESAMPLES, len(sequence)), dtype=bool)
    for part in [np.arange(len(y))] if parts is None else parts:
        for truth in sorted({one.truth for one in promises}):
            mine = [one for one in promises if one.truth == truth]
            rows = part[y[part] == truth]
            failed = np.stack([one.is_failure(found[rows]) for one in mine], axis=1)
            patterns, counts = np.unique(
                failed.reshape(len(rows), -1), axis=0, return_counts=True
            )  # few, as failures begin somewhere in the sequence and then remain
            drawn = rng.multinomial(len(rows), counts / len(rows), size=RESAMPLES)
            n_failed = (drawn @ patterns.astype(np.int64)).reshape(RESAMPLES, len(mine), -1)
            for i, one in enumerate(mine):
                p_values = binom.cdf(np.arange(len(rows) + 1), len(rows), one.limit)
                passes &= p_values[n_failed[:, i]] <= _level(confidence)
    every: IntArray = np.where(passes.all(axis=1), len(sequence), passes.argmin(axis=1)) - 1
    return every


def why_not(
    promises: tuple[Promise, ...],
    classes: AnyArray,
    y: IntArray,
    answers: IntArray,
    confidence: float,
    parts: Mapping[Any, IntArray] | None = None,
) -> str:
    """Return the sentence that says what cannot be promised, and how many cases it would take.

    Parameters
    ----------
    promises : tuple of Promise
    classes : array of shape (k,)
    y, answers : arrays of shape (n,)
        Classes of the rows that test, and the most cautious answers, by position.
    confidence : float
    parts : mapping of label to array or None, default=None
        Rows of every group, where promises are to hold in each.
    """

    def counted(one: Promise, rows: Any) -> tuple[int, int]:
        return one.failures(y[rows], answers[rows])

    groups = {None: slice(None)} if parts is None else parts
    group, worst = max(
        ((label, one) for label in groups for one in promises),
        key=lambda both: tail_probability(*counted(both[1], groups[both[0]]), both[1].limit),
    )
    failed, n = counted(worst, groups[group])
    where = "" if parts is None else f" in the group {group!r}"
    asked = f"{worst.in_words(classes)}{where} with confidence {all_digits(confidence)}"
    least = cases_needed(worst.limit, confidence)
    if failed == 0:
        return (
            f"promise must be tested on enough cases: {asked} takes {least} of the class even "
            f"without a failure, got {n}, {least - n} too few"
        )
    kind = "missed" if worst.predicted is None else "false alarms"
    needed = cases_at_rate(worst.limit, confidence, failed / n)
    more = "no number of cases would do" if needed is None else f"it would take {needed - n} more"
    return (
        f"promise must pass its test: {asked} was asked, got {failed} {kind} among {n} cases that "
        f"test it; at this rate of {failed / n:.3g} {more} (without a failure, {least} in all)"
    )
