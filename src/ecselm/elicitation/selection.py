"""Choose the next question: which answers are expected to leave the least regret."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from ecselm._typing import AnyArray, BoolArray, FloatArray, IntArray
from ecselm.costs.policy import normalised
from ecselm.elicitation.belief import Belief
from ecselm.elicitation.questions import (
    DONT_KNOW,
    EQUAL,
    KINDS,
    PER,
    CostGroup,
    Question,
    order_question,
    outcome_question,
    ratio_question,
)

N_ROWS = 800  # by which questions are compared
N_SCREENED = 160  # the same before the best are compared
N_FINALISTS = 32
MOST_SCORED = 256  # candidates that are compared without screening
RESOLVED = 1.2  # a ratio that is known up to this factor is asked about no more
CERTAIN = 0.99  # share of the weight in what is believed of a ratio where answers may be wrong
SETTLED = 0.95  # share of the weight that decides alike in a settled row, likewise
LEAST_SHARE = 0.02  # of the weight, in either order of two mistakes
MOST_PAIRS = 200  # of mistakes whose costs are compared
MOST_MISTAKES = 3  # kinds of mistakes in which two outcomes differ
MOST_UNKNOWN = 3  # questions about outcomes that are not answered before no more are asked
N_OUTCOMES = 24  # outcomes of which pairs are asked about
TIED = 0.02  # relative loss for which a question of a simpler kind is taken
NEARLY = 0.97  # of the tolerance: what is left is estimated
# Steps between limits of the bracket in the middle, as shares of the weight below them, by the
# largest number of ratios that are compared.
FACTORS = (EQUAL, 2.0, 3.0, 5.0, 10.0, 20.0)  # by which the worse of two mistakes is worse
STEPS = ((1, 20), (6, 10), (25, 7), (np.inf, 5))


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A question that may be asked: what it compares, and how the weight splits."""

    kind: str
    first: int  # groups that are compared, or outcomes
    second: int
    low: float
    high: float
    logs: FloatArray  # (n,), logarithm of the ratio in every matrix of the sample
    counts: IntArray | None = None  # (2, n_groups), mistakes of two outcomes

    def sides(self, groups: Sequence[CostGroup]) -> tuple[bytes, bytes]:
        """Return a key of what is compared."""
        if self.counts is None:
            first, second = (groups[g].bundle() for g in (self.first, self.second))
        else:
            first, second = (np.zeros(groups[0].entries.shape) for _ in range(2))
            for group, more in zip(groups, self.counts[0] - self.counts[1], strict=True):
                (first if more > 0 else second)[group.place] = abs(more)
        return first.tobytes(), second.tobytes()


@dataclass(frozen=True, eq=False)
class Outlook:
    """What a belief means for decisions on rows.

    Parameters
    ----------
    belief : Belief
    P : array of shape (n, k)
        Probabilities of rows.
    shares : array of shape (k,)
        Of the classes, which make costs comparable.
    """

    belief: Belief
    P: FloatArray
    shares: FloatArray

    @cached_property
    def costs(self) -> FloatArray:
        """Return the sample of costs in units of what the best constant answer costs."""
        return normalised(self.belief.matrices, self.shares)

    @cached_property
    def mean(self) -> FloatArray:
        """Return the mean of the normalised costs (k, k), by which rows are decided."""
        return np.tensordot(self.belief.weights, self.costs, axes=1)

    @cached_property
    def decisions(self) -> IntArray:
        """Return the best answer (n_sample, n) to every row with every matrix of the sample."""
        return self._decided[0]

    @cached_property
    def least(self) -> FloatArray:
        """Return what the best answers cost on average (n_sample,)."""
        return self._decided[1]

    @cached_property
    def _decided(self) -> tuple[IntArray, FloatArray]:
        n, k = len(self.costs), self.P.shape[1]
        best = np.zeros((n, len(self.P)), dtype=np.int16)
        least = self._expected(0)
        for j in range(1, k):
            expected = self._expected(j)
            better = expected < least
            best[better] = j
            np.minimum(least, expected, out=least)
        return best, least.mean(axis=1)

    def _expected(self, j: int) -> FloatArray:
        return self.costs[:, :, j] @ self.P.T

    @cached_property
    def regret(self) -> float:
        """Return the expected regret of deciding by the mean costs."""
        paid = float((self.P @ self.mean).min(axis=1).mean())
        return max(0.0, paid - float(self.belief.weights @ self.least))

    def settled(self, weights: FloatArray, share: float) -> float:
        """Return the share of rows that a share of the weight (n_sample,) decides alike."""
        total = float(weights.sum())
        if total <= 0:
            return 0.0
        kept = weights > 0
        decisions, weights = self.decisions[kept], weights[kept] / total
        settled: BoolArray = np.zeros(decisions.shape[1], dtype=bool)
        for j in range(self.P.shape[1]):
            settled |= weights @ (decisions == j) >= share - 1e-9
        return float(settled.mean())

    def left_after(self, W: FloatArray, rows: slice) -> FloatArray:
        """Return the regret (c,) that is left with weights (c, n_sample) of the sample."""
        n, k = len(self.costs), self.P.shape[1]
        total = np.maximum(W.sum(axis=1), np.finfo(float).tiny)
        means = (W @ self.costs.reshape(n, -1) / total[:, np.newaxis]).reshape(-1, k, k)
        P = self.P[rows]
        paid = means[:, :, 0] @ P.T
        for j in range(1, k):
            np.minimum(paid, means[:, :, j] @ P.T, out=paid)
        least = self.least
        if rows.step is not None and rows.step > 1:
            least = self._screened_least
        return np.maximum(paid.mean(axis=1) - W @ least / total, 0.0)

    @property
    def screened(self) -> slice:
        """Return rows by which many candidates are compared."""
        return slice(None, None, max(1, len(self.P) // N_SCREENED))

    @cached_property
    def _screened_least(self) -> FloatArray:
        P = self.P[self.screened]
        least = self.costs[:, :, 0] @ P.T
        for j in range(1, P.shape[1]):
            np.minimum(least, self.costs[:, :, j] @ P.T, out=least)
        return least.mean(axis=1)


def next_question(
    outlook: Outlook,
    groups: Sequence[CostGroup],
    asked: Sequence[tuple[Question, str]],
    classes: AnyArray,
    tolerance: float,
    rng: np.random.Generator,
) -> Question | None:
    """Return the question whose answer is expected to help most, None if none is left.

    Parameters
    ----------
    outlook : Outlook
    groups : sequence of CostGroup
    asked : sequence of pairs (Question, str)
        Earlier questions and the keys of their answers.
    classes : array of shape (k,)
    tolerance : float
        Regret that is accepted; 0 asks for the costs themselves.
    rng : numpy.random.Generator
    """
    found = candidates(outlook, groups, asked, rng)
    if not found:
        return None
    splits = [_split(one, outlook.belief) for one in found]
    if tolerance > 0:
        every: list[int] = list(range(len(found)))
        if len(found) > MOST_SCORED:
            rough = _losses(splits, outlook, outlook.screened, tolerance)
            every = np.argsort(rough, kind="stable")[:N_FINALISTS].tolist()
        losses = _losses([splits[i] for i in every], outlook, slice(None), tolerance)
        found, splits = [found[i] for i in every], [splits[i] for i in every]
    else:
        losses = -np.array([_information(one, outlook.belief.error_rate) for one in splits])
    # Of questions that are about as good the simplest kind is asked.
    best = float(losses.min())
    near = np.flatnonzero(losses <= best + TIED * abs(best))
    chosen = min(near.tolist(), key=lambda i: (KINDS.index(found[i].kind), losses[i]))
    question = as_question(found[chosen], groups, classes)
    return question.with_settled(_settles(question, outlook))


def candidates(
    outlook: Outlook,
    groups: Sequence[CostGroup],
    asked: Sequence[tuple[Question, str]],
    rng: np.random.Generator,
) -> list[Candidate]:
    """Return the questions that may be asked; see :func:`next_question`."""
    belief = outlook.belief
    logs = np.log([_values(belief, one) for one in groups])  # (n_groups, n)
    share = CERTAIN if belief.error_rate else 1.0
    unknown = []
    for a, b in combinations(range(len(groups)), 2):
        low, high = belief.interval(logs[a] - logs[b], share)
        if high - low > np.log(RESOLVED):
            unknown.append((a, b, high - low))
    if len(unknown) > MOST_PAIRS:  # those that matter most, by what is paid for them now
        decided = np.eye(outlook.P.shape[1])[(outlook.P @ outlook.mean).argmin(axis=1)]
        paid = (outlook.P.T @ decided) * outlook.mean
        parts = [float(paid[one.entries].sum()) for one in groups]
        unknown.sort(key=lambda one: -one[2] * (parts[one[0]] + parts[one[1]]))
        unknown = unknown[:MOST_PAIRS]
    steps = next(steps for most, steps in STEPS if len(unknown) <= most)
    brackets = np.array(list(combinations(np.arange(1, steps) / steps, 2)))
    found: list[Candidate] = []
    for a, b, width in unknown:
        found += _order_and_ratios(belief, a, b, logs[a] - logs[b], width, brackets)
    if unknown:
        found += _outcomes(outlook, groups, logs, rng)
    return _new(found, groups, asked)


def _values(belief: Belief, group: CostGroup) -> FloatArray:
    """Return what a mistake of the group costs in every matrix of the sample (n,)."""
    if group.parameter < 0:
        return np.full(len(belief.t), float(belief.region.base[group.place]))
    return belief.t[:, group.parameter]


def _order_and_ratios(
    belief: Belief, a: int, b: int, ratio: FloatArray, width: float, brackets: FloatArray
) -> list[Candidate]:
    """Return the questions that compare the costs of two groups.

    ``brackets`` (n, 2) are shares of the weight below the limits of the middle choice.
    """
    found = []
    for factor in FACTORS:
        above = float(belief.weights[ratio > np.log(factor)].sum())
        below = float(belief.weights[ratio < -np.log(factor)].sum())
        if min(above, below) >= LEAST_SHARE:
            found.append(Candidate("order", a, b, 1.0 / factor, factor, ratio))
    order = np.argsort(ratio, kind="stable")
    ends = belief.weights[order].cumsum()
    # "How many" is asked of the mistake that costs less: limits are at least 1 either way.
    limits: set[tuple[int, int, float, float]] = set()
    places = np.searchsorted(ends, brackets).clip(max=len(order) - 1)
    for low, high in ratio[order[places]].tolist():
        for first, second, ends_of in ((a, b, (low, high)), (b, a, (-high, -low))):
            if ends_of[1] <= 0:
                continue
            least, most = (_simple(max(end, 0.0), 0.1 * width) for end in ends_of)
            if least < most:
                limits.add((first, second, least, most))
    for first, second, least, most in sorted(limits):
        signed = ratio if first == a else -ratio
        found.append(Candidate("ratio", first, second, least, most, signed))
    return found


def _simple(log: float, slack: float) -> float:
    """Return a number with few digits whose logarithm is near."""
    value = float(np.exp(log))
    for digits in range(1, 6):
        near = float(f"{value:.{digits - 1}e}")
        if near >= 1 and abs(np.log(near) - log) <= min(slack, 0.1):
            return near
    return max(1.0, value)


def _outcomes(
    outlook: Outlook, groups: Sequence[CostGroup], logs: FloatArray, rng: np.random.Generator
) -> list[Candidate]:
    """Return pairs of outcomes of decisions by possible costs, of which each is better in part."""
    counts = outcome_counts(outlook, groups, rng)
    values = np.exp(logs)
    found = []
    for i, j in combinations(range(len(counts)), 2):
        more = counts[i] - counts[j]
        if np.count_nonzero(more) > MOST_MISTAKES or not (more.max() > 0 > more.min()):
            continue
        ratio = np.log(np.maximum(more, 0) @ values) - np.log(np.maximum(-more, 0) @ values)
        found.append(Candidate("outcomes", i, j, 1.0 / EQUAL, EQUAL, ratio, counts[[i, j]]))
    return found


def outcome_counts(
    outlook: Outlook, groups: Sequence[CostGroup], rng: np.random.Generator
) -> IntArray:
    """Return how many mistakes of every group 1000 cases have (n, n_groups), without repetition.

    Each outcome is that of deciding by one matrix of the sample, as the probabilities expect it.
    """
    ends, k = outlook.belief.weights.cumsum(), outlook.P.shape[1]
    places = np.searchsorted(ends, (np.arange(N_OUTCOMES) + rng.random()) / N_OUTCOMES)
    found = []
    for place in np.unique(places.clip(max=len(ends) - 1)):
        chosen = np.eye(k)[outlook.decisions[place]]
        confusion = outlook.P.T @ chosen * (PER / len(outlook.P))
        found.append([round(float(confusion[one.entries].sum())) for one in groups])
    return np.unique(np.array(found, dtype=np.intp), axis=0)


def _new(
    found: Sequence[Candidate],
    groups: Sequence[CostGroup],
    asked: Sequence[tuple[Question, str]],
) -> list[Candidate]:
    """Return the candidates that are new, and about which something may be known."""
    if not asked:
        return list(found)
    done: set[tuple[object, ...]] = set()
    n_unknown = 0
    unknown: dict[str, set[frozenset[bytes]]] = {"order": set(), "ratio": set()}
    for question, key in asked:
        sides = question.left.tobytes(), question.right.tobytes()
        middle = [one for one in question.choices if one.key in {"about", "equal"}]
        done |= {(question.kind, *sides, one.low, one.high) for one in middle}
        if key == DONT_KNOW and question.kind == "outcomes":
            n_unknown += 1
        elif key == DONT_KNOW:
            # Who cannot say which is worse cannot say by how much.
            unknown["ratio"].add(frozenset(sides))
            if question.kind == "order":
                unknown["order"].add(frozenset(sides))
    kept = []
    for one in found:
        sides = one.sides(groups)
        new = (one.kind, *sides, one.low, one.high) not in done
        tired = one.kind == "outcomes" and n_unknown >= MOST_UNKNOWN
        if new and not tired and frozenset(sides) not in unknown.get(one.kind, set()):
            kept.append(one)
    return kept


def as_question(one: Candidate, groups: Sequence[CostGroup], classes: AnyArray) -> Question:
    """Return the question of a candidate."""
    if one.counts is not None:
        first, second = one.counts.tolist()
        return outcome_question(groups, first, second, classes)
    first_group, second_group = groups[one.first], groups[one.second]
    if one.kind == "order":
        return order_question(first_group, second_group, classes, one.high)
    return ratio_question(first_group, second_group, one.low, one.high, classes)


def _split(one: Candidate, belief: Belief) -> FloatArray:
    """Return the weights (3, n) after each of the answers, times how probable they are."""
    codes = (one.logs > np.log(one.low)).astype(np.intp) + (one.logs > np.log(one.high))
    wrong = belief.error_rate / 2.0
    W = np.full((3, len(codes)), wrong)
    W[codes, np.arange(len(codes))] = 1.0 - belief.error_rate
    return W * belief.weights


def _losses(
    splits: Sequence[FloatArray], outlook: Outlook, rows: slice, tolerance: float
) -> FloatArray:
    """Return the expected loss (n,) after each question, the less the better.

    It is the number of questions that are left: one if the regret that is left is above what is
    accepted, and more with the logarithm of how much above.
    """
    W = np.concatenate(splits)
    probable = W.sum(axis=1)
    left = outlook.left_after(W, rows)
    loss = (left > NEARLY * tolerance) + np.log2(1.0 + left / tolerance)
    return (probable * loss).reshape(-1, 3).sum(axis=1)


def _information(W: FloatArray, error_rate: float) -> float:
    """Return how many nats an answer is expected to tell about the costs."""
    shares = W.sum(axis=1)
    answers = -float((shares * np.log(np.maximum(shares, np.finfo(float).tiny))).sum())
    right, wrong = 1.0 - error_rate, error_rate / 2.0
    noise = -right * np.log(right) - (2 * wrong * np.log(wrong) if wrong else 0.0)
    return answers - float(noise)


def _settles(question: Question, outlook: Outlook) -> list[float]:
    """Return the share of rows that each choice would settle."""
    belief = outlook.belief
    ratios = question.ratios(belief.matrices)
    share = SETTLED if belief.error_rate else 1.0
    found = []
    for one in question.choices:
        inside = (ratios >= one.low) & (ratios <= one.high)
        wrong = belief.error_rate / 2.0 if one.states else 1.0
        likely = np.where(inside, 1.0 - belief.error_rate if one.states else 1.0, wrong)
        found.append(outlook.settled(belief.weights * likely, share))
    return found
