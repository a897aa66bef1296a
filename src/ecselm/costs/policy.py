"""Decide where costs are only partly known: answers, their regret, and what settles them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import linprog

from ecselm._typing import BoolArray, FloatArray, IntArray
from ecselm.costs.region import MOST_COUPLED, Component, CostRegion, in_units

RULES = ("expected", "minimax_regret")
BLOCK = 1 << 14  # rows at a time
TIE = 1e-12  # of the largest cost: smaller differences are rounding errors
SOLVED = 1e-9  # tolerance of a linear programme in units of its largest number
MOST_GAME_ROWS = 4000  # by which the matrix of least worst regret is chosen
GAME_MATRICES, GAME_VERTICES = 192, 64  # among which the worst is sought
GAME_TABLES, GAME_CELLS = (64, 1024), 1 << 20  # least and most tables, and the size of all
GAME_STEPS = 100
GAME_RATE = 4.0
SCREENED_ROWS, SCREENED_CELLS = 64, 10_000_000  # least rows by which vertices are compared
EXAMPLES = 16  # matrices that show possible answers without a search
PLAYED_STEPS, PLAYED_RATE = 100, 3.0  # before a linear programme is solved for a row


@dataclass(frozen=True, slots=True)
class WorstDifference:
    """The greatest ``c_j - c_l`` of two answers over a region, a function of probabilities.

    Costs are linear in the matrix, so that it is attained at a vertex of every component;
    vertices that are nowhere greater than another are left out.
    """

    constant: FloatArray  # (k,)
    choices: tuple[FloatArray, ...]  # (n, k) each, of which the greatest counts
    solved: tuple[tuple[Component, FloatArray], ...] = ()  # with too many vertices, and (m, k)

    @classmethod
    def of_answers(cls, region: CostRegion, j: int, other: int) -> WorstDifference:
        """Return the difference of the answers at columns ``j`` and ``other``."""
        constant = region.base[:, j] - region.base[:, other]
        slopes = region.patterns[:, :, j] - region.patterns[:, :, other]  # (q, k)
        choices, solved = [], []
        for component in region.components:
            mine = slopes[component.parameters]
            touched = (mine != 0).any(axis=1)
            if not touched.any():
                continue
            one, of_one = component, mine
            if component.closed:
                one, of_one = component.restricted(touched), mine[touched]
            if len(one.parameters) > MOST_COUPLED:
                solved.append((one, of_one))
                continue
            vectors = _undominated(one.vertices() @ of_one)
            if len(vectors) == 1:
                constant = constant + vectors[0]
            else:
                choices.append(vectors)
        return cls(constant, tuple(choices), tuple(solved))

    def __call__(self, P: FloatArray) -> FloatArray:
        """Return the greatest difference (n,) for probabilities (n, k)."""
        worst: FloatArray = P @ self.constant
        for vectors in self.choices:
            worst += (vectors @ P.T).max(axis=0)  # contiguous, unlike the greatest of each row
        for component, slopes in self.solved:
            worst += _solved(component, P @ slopes.T)
        return worst

    def exact(self, P: FloatArray, wide: float) -> FloatArray:
        """Return the same, with 0 for differences that are rounding errors of their terms.

        Terms are those of the worst costs, which may be far below the greatest possible ones;
        they are summed up only for differences below ``wide``.
        """
        worst = self(P)
        near: IntArray = np.flatnonzero(np.abs(worst) <= wide)
        if near.size:
            part = P[near]
            size: FloatArray = part @ np.abs(self.constant)
            for vectors in self.choices:
                size += np.einsum("nk,nk->n", part, np.abs(vectors)[(part @ vectors.T).argmax(1)])
            for component, slopes in self.solved:
                size += np.abs(part @ slopes.T) @ component.high
            worst[near[np.abs(worst[near]) <= TIE * size]] = 0.0
        return worst


def _undominated(vectors: FloatArray) -> FloatArray:
    """Return the vectors (n, k) of which no other is at least as great everywhere."""
    vectors = np.unique(vectors, axis=0)
    kept: BoolArray = np.ones(len(vectors), dtype=bool)
    for i, one in enumerate(vectors):
        others = kept.copy()
        others[i] = False
        if (vectors[others] >= one).all(axis=1).any():
            kept[i] = False
    return vectors[kept]


def _solved(component: Component, slopes: FloatArray) -> FloatArray:
    """Return the greatest value of every linear function (n, m) on a polytope."""
    # In units of the upper bounds: solvers have absolute tolerances.
    A, b = in_units(component.A, component.b, component.high)
    box = np.column_stack([component.low / component.high, np.ones(len(component.high))])
    scaled = slopes * component.high
    sizes = np.abs(scaled).max(axis=1, keepdims=True)
    scaled = scaled / np.where(sizes > 0, sizes, 1.0)
    return sizes[:, 0] * np.array([-linprog(-row, A, b, bounds=box).fun for row in scaled])


def settled_answers(region: CostRegion, P: FloatArray) -> BoolArray:
    """Return which answers (n, m) are best for every matrix of a region."""
    m = region.base.shape[1]
    best = np.ones((len(P), m), dtype=bool)
    limit = TIE * float(region.bounds()[1].max())
    for j in range(m):
        for other in range(m):
            if other != j:
                worst = WorstDifference.of_answers(region, j, other)
                best[:, j] &= worst.exact(P, limit) <= 0.0
    return best


@dataclass(frozen=True)
class DecisionPolicy:
    """From probabilities of k classes to answers: a class, or to ask a person.

    Costs are matrices (k, m), a row for every true class. With m = k + 1 the last column is
    what asking costs.
    """

    region: CostRegion  # of the matrices that are possible
    matrix: FloatArray  # (k, m), by which decisions are made
    mean: FloatArray  # (k, m), in the unit of the region
    least_gain: float = 0.0  # a row is asked about where this saves more
    has_capacity: bool = False  # asking is limited, not only expensive
    _cache: dict[Any, WorstDifference] = field(default_factory=dict, repr=False, compare=False)

    @property
    def n_classes(self) -> int:
        """Return k."""
        return len(self.matrix)

    @property
    def asks(self) -> bool:
        """Return whether asking a person is an answer."""
        return self.matrix.shape[1] > len(self.matrix)

    @classmethod
    def of_costs(
        cls,
        region: CostRegion,
        shares: FloatArray,
        rule: str = "expected",
        P: FloatArray | None = None,
        *,
        ask_cost: FloatArray | None = None,
        capacity: float | None = None,
    ) -> DecisionPolicy:
        """Return the policy of a region of matrices (k, k).

        Parameters
        ----------
        region : CostRegion
        shares : array of shape (k,)
            Of the classes in the population, which make costs comparable.
        rule : {"expected", "minimax_regret"}, default="expected"
        P : array of shape (n, k) or None, default=None
            Probabilities of validation rows, for the minimax rule and the capacity.
        ask_cost : array of shape (k,) or None, default=None
            Cost of asking a person, by true class.
        capacity : float or None, default=None
            Largest share of rows to ask about; without ``ask_cost`` asking is free.
        """
        column = ask_cost
        if column is None and capacity is not None:
            column = np.zeros(len(shares))
        if column is not None:
            region = region.with_column(column)
        possible = region.spread()
        mean = possible.mean(axis=0)
        if region.is_point:
            matrix = mean
        elif rule == "expected" or P is None:
            matrix = normalised(possible, shares).mean(axis=0)
        else:
            matrix = minimax_matrix(region, shares, P)
        total = float(mean.sum())
        matrix = matrix * (total / float(matrix.sum())) if total > 0 else matrix
        policy = cls(region, matrix, mean)
        if capacity is None or P is None:
            return replace(policy, has_capacity=capacity is not None)
        return replace(policy, least_gain=policy.gain_at(P, capacity), has_capacity=True)

    def expected(self, P: FloatArray, by_row: FloatArray | None = None) -> FloatArray:
        """Return what every answer is expected to cost (n, m), in the unit of decisions."""
        if by_row is None:
            return P @ self.matrix
        return np.einsum("ni,nij->nj", P, by_row)

    def gains(self, P: FloatArray, by_row: FloatArray | None = None) -> FloatArray:
        """Return what asking a person is expected to save (n,)."""
        costs, k = self.expected(P, by_row), self.n_classes
        return costs[:, :k].min(axis=1) - costs[:, k]

    def gain_at(self, P: FloatArray, capacity: float) -> float:
        """Return the least gain by which at most a share of the rows is asked about."""
        gains = np.sort(self.gains(P))[::-1]
        allowed = int(np.floor(capacity * len(gains) + 1e-9))
        # More by rounding errors, so that the row at the limit is never asked about.
        return max(0.0, float(gains[allowed]) + self._rounding) if allowed < len(gains) else 0.0

    def answers(self, P: FloatArray, by_row: FloatArray | None = None) -> IntArray:
        """Return the column of the answer (n,) to every row, k for asking.

        ``by_row`` are known costs of the rows (n, k, m) in the place of the region.
        """
        found = np.empty(len(P), dtype=np.intp)
        for rows in _blocks(len(P)):
            costs = self.expected(P[rows], None if by_row is None else by_row[rows])
            k = self.n_classes
            best = _cheapest(costs[:, :k])
            if costs.shape[1] > k:
                gain = np.take_along_axis(costs, best[:, np.newaxis], axis=1)[:, 0] - costs[:, k]
                best = np.where(gain > self.least_gain, k, best)
            found[rows] = best
        return found

    def expected_cost(
        self, P: FloatArray, answers: IntArray, by_row: FloatArray | None = None
    ) -> FloatArray:
        """Return what the answers (n,) are expected to cost, in the unit of stated costs."""
        if by_row is not None:
            return np.einsum("ni,ni->n", P, by_row[np.arange(len(P)), :, answers])
        return np.einsum("ni,ni->n", P, self.mean.T[answers])

    def without_asking(self) -> DecisionPolicy:
        """Return the policy that decides among the classes alone."""
        k = self.n_classes
        region = replace(
            self.region,
            base=self.region.base[:, :k],
            patterns=self.region.patterns[:, :, :k],
        )
        return DecisionPolicy(region, self.matrix[:, :k], self.mean[:, :k])

    def worst(self, j: int, other: int) -> WorstDifference:
        """Return the greatest difference in cost of two answers."""
        if (j, other) not in self._cache:
            self._cache[j, other] = WorstDifference.of_answers(self.region, j, other)
        return self._cache[j, other]

    def _difference(self, j: int, other: int, P: FloatArray) -> FloatArray:
        """Return the greatest difference (n,), exactly 0 where it is a rounding error."""
        return self.worst(j, other).exact(P, self._rounding)

    def regret(self, P: FloatArray, answers: IntArray) -> FloatArray:
        """Return by how much the answers (n,) may cost more than the best, at the worst costs.

        Where a capacity limits asking, a row that is not asked about is compared with the
        other classes alone.
        """
        regret = np.empty(len(P))
        for rows in _blocks(len(P)):
            regret[rows] = np.maximum(self._worst_of(P[rows], answers[rows]), 0.0)
        return regret

    def _worst_of(self, P: FloatArray, answers: IntArray) -> FloatArray:
        """Return the greatest difference (n,) of the answers to any other, 0 at the least."""
        m = self.n_classes if self.has_capacity else self.matrix.shape[1]
        if self.matrix.shape[1] == 2:
            return np.where(answers == 0, self._difference(0, 1, P), self._difference(1, 0, P))
        found = np.empty(len(P))
        for j in range(self.matrix.shape[1]):
            rows = np.flatnonzero(answers == j)
            mine = P[rows]
            worst = np.zeros(len(mine))
            for other in range(m) if len(mine) else ():
                if other != j:
                    np.maximum(worst, self._difference(j, other, mine), out=worst)
            found[rows] = worst
        return found

    @cached_property
    def _rounding(self) -> float:
        return TIE * float(self.region.bounds()[1].max())

    def settled(self, P: FloatArray, answers: IntArray) -> BoolArray:
        """Return whether the answers (n,) are best for all costs that are possible."""
        found = np.empty(len(P), dtype=bool)
        for rows in _blocks(len(P)):
            np.less_equal(self._worst_of(P[rows], answers[rows]), 0.0, out=found[rows])
        return found

    def possible_answers(self, P: FloatArray) -> BoolArray:
        """Return which answers (n, m) are best for some costs that are possible."""
        found = np.empty((len(P), self.matrix.shape[1]), dtype=bool)
        for rows in _blocks(len(P)):
            found[rows] = self._possible(P[rows])
        return found

    def _possible(self, P: FloatArray) -> BoolArray:
        m = self.matrix.shape[1]
        possible = np.ones((len(P), m), dtype=bool)
        for j in range(m):
            for other in range(m):
                if other != j:  # no costs make j as cheap as the other
                    possible[:, j] &= self._difference(other, j, P) >= 0.0
        if not self.region.is_coupled or m == 2:
            return possible
        # With coupled parameters, costs that favour j over one answer may not do so over all.
        known = possible & (possible.sum(axis=1, keepdims=True) == 1)
        unsure: IntArray = np.flatnonzero(~known.any(axis=1))
        for matrix in self._examples:
            if not len(unsure):
                break
            known[unsure, (P[unsure] @ matrix).argmin(axis=1)] = True
            unsure = unsure[(possible[unsure] & ~known[unsure]).any(axis=1)]
        for j in range(m):
            rows = np.flatnonzero(possible[:, j] & ~known[:, j])
            best, open_rows = self._played(P[rows], j)
            possible[rows, j] = best
            for row in rows[open_rows].tolist():
                possible[row, j] = self._can_be_best(P[row], j)
        return possible

    @cached_property
    def _examples(self) -> FloatArray:
        """Return possible matrices (n, k, m) that show most of the possible answers."""
        drawn = self.region.spread()[:EXAMPLES]
        corners = np.zeros((2 * EXAMPLES, *self.matrix.shape)) + self.region.base
        rng = np.random.default_rng(0)
        for one in self.region.components:
            if len(one.parameters) <= MOST_COUPLED:
                costs = self._vertex_costs(one)
                corners += costs[rng.integers(len(costs), size=len(corners))]
            else:
                corners[:] = drawn.mean(axis=0)
                break
        return np.concatenate([corners, drawn])

    def _played(self, P: FloatArray, j: int) -> tuple[BoolArray, IntArray]:
        """Find for which rows some costs make j the best answer, without solving for each.

        Weights of the other answers play against the costs. Costs that are best against some
        weights and leave j worse prove that j is never best; the mean of the costs on the way
        is possible too, and proves the opposite where j is best. Returns the answers (n,) and
        the rows that are still open.
        """
        m = self.matrix.shape[1]
        best, rows = np.zeros(len(P), dtype=bool), np.arange(len(P))
        tables = [
            np.tensordot(P, self._vertex_costs(one), axes=(1, 1))
            for one in self.region.components
            if len(one.parameters) <= MOST_COUPLED
        ]
        if len(tables) < len(self.region.components):
            return best, rows
        plain = P @ self.region.base
        others = np.arange(m) != j
        weights = np.tile(others / (m - 1), (len(P), 1))
        mean = np.zeros((len(P), m))
        for step in range(1, PLAYED_STEPS + 1):
            costs = plain.copy()
            for table in tables:
                ahead = table[:, :, j] - np.einsum("nvj,nj->nv", table, weights)
                costs += table[np.arange(len(table)), ahead.argmin(axis=1)]
            behind = costs[:, [j]] - costs
            mean += (behind - mean) / step
            is_best = np.minimum(behind[:, others].max(axis=1), mean[:, others].max(axis=1)) <= 0
            is_worse = np.einsum("nj,nj->n", weights, behind) > self._rounding
            best[rows[is_best]] = True
            left = ~(is_best | is_worse)
            if not left.any():
                return best, np.array([], dtype=np.intp)
            size = np.abs(behind).max(axis=1, keepdims=True)
            weights = weights * np.exp(
                PLAYED_RATE / np.sqrt(step) * behind / np.maximum(size, 1e-300)
            )
            weights /= weights.sum(axis=1, keepdims=True)
            if not left.all():
                rows, plain, weights, mean = rows[left], plain[left], weights[left], mean[left]
                tables = [table[left] for table in tables]
        return best, rows

    def _vertex_costs(self, component: Component) -> FloatArray:
        """Return what the vertices of a component add to every entry (n_vertices, k, m)."""
        patterns = self.region.patterns[component.parameters]
        return np.tensordot(component.vertices(), patterns, axes=1)

    def _can_be_best(self, p: FloatArray, j: int) -> bool:
        """Solve for the matrix at which the answer j exceeds the best other by the least."""
        region, m = self.region, self.matrix.shape[1]
        others = [other for other in range(m) if other != j]
        slopes: FloatArray = np.einsum("gij,i->gj", region.patterns, p)  # (q, m)
        q = len(slopes)
        high = np.zeros(q)
        for one in region.components:
            high[one.parameters] = one.high
        # In units of upper bounds and of the largest difference: solvers have absolute tolerances.
        differences = (slopes[:, [j]] - slopes[:, others]).T * high
        b = p @ (region.base[:, others] - region.base[:, [j]])
        size = max(float(np.abs(differences).max(initial=0.0)), float(np.abs(b).max(initial=0.0)))
        size = size if size > 0 else 1.0
        rows: list[FloatArray] = [np.column_stack([differences / size, -np.ones(len(others))])]
        ends: list[FloatArray] = [b / size]
        box = np.zeros((q + 1, 2))
        box[q] = -np.inf, np.inf
        for one in region.components:
            own, end = in_units(one.A, one.b, one.high)
            more = np.zeros((len(end), q + 1))
            more[:, one.parameters] = own
            rows.append(more)
            ends.append(end)
            box[one.parameters] = np.column_stack([one.low / one.high, np.ones(len(one.high))])
        found = linprog(
            np.append(np.zeros(q), 1.0), np.vstack(rows), np.concatenate(ends), bounds=box
        )
        return bool(found.fun <= SOLVED)


def _cheapest(costs: FloatArray) -> IntArray:
    """Return the first column (n,) of the least cost; two columns are compared at once."""
    if costs.shape[1] == 2:
        return (costs[:, 1] < costs[:, 0]).astype(np.intp)
    return costs.argmin(axis=1)


def _blocks(n: int) -> list[slice]:
    return [slice(start, start + BLOCK) for start in range(0, n, BLOCK)]


def normalised(matrices: FloatArray, shares: FloatArray) -> FloatArray:
    """Return matrices (n, k, m) in units of what the best constant answer costs.

    A cost of 0.1 is then a tenth of what deciding without a model costs. Matrices for which
    some constant answer is free are divided by the mean cost of constant answers.
    """
    k = len(shares)
    constant = np.einsum("i,nij->nj", shares, matrices[:, :, :k])
    unit = constant.min(axis=1)
    unit = np.where(unit > 0, unit, constant.mean(axis=1))
    return matrices / np.where(unit > 0, unit, 1.0)[:, np.newaxis, np.newaxis]


def minimax_matrix(region: CostRegion, shares: FloatArray, P: FloatArray) -> FloatArray:
    """Return the matrix (k, m) whose worst normalised regret on a table of rows is least.

    Regret counts the true classes of a table, and the worst costs are those that are worst for
    this table: a miss costs 100 where chance has left many cases among the rows of low
    probability. So the expectation of the worst regret over tables is made least, rather than
    the worst expectation, which it approaches as rows become many. A table has as many rows as
    P, drawn with repetition, and classes drawn from P once for every row: copies of a row share
    their class. This doubles the variance of a count. One half is the chance of a new table,
    the other stands for the error of P, which was estimated from as many rows.

    The possible matrices are tried first; with two answers they have all thresholds. With more
    it is a game between the costs by which rows are decided and those that are true. The answer
    to a mixture of true costs is to decide by their mean; in every table multiplicative weights
    move the mixture towards the costs that regret most, and the best mean on the way is kept.

    Parameters
    ----------
    region : CostRegion
    shares : array of shape (k,)
        Of the classes.
    P : array of shape (n, k)
        Probabilities of validation rows.
    """
    rng = np.random.default_rng(0)  # the same tables for all matrices, and in every fit
    n_rows = len(P)
    if n_rows > MOST_GAME_ROWS:
        P = P[np.linspace(0, len(P) - 1, MOST_GAME_ROWS).astype(np.intp)]
    possible = region.spread()
    drawn = normalised(possible[:: max(1, len(possible) // GAME_MATRICES)], shares)
    try:
        corners = normalised(region.vertices(), shares)
    except ValueError:  # too many to list: the sample stands for them
        corners = drawn
    (n, k), m = P.shape, drawn.shape[2]
    chosen = np.eye(m)

    # Few of many vertices are ever the worst. Find them in expectation: against the mean of all
    # that were the worst so far the next worst is added, and those near the worst in the end.
    few = max(SCREENED_ROWS, SCREENED_CELLS // len(corners))
    some = P[np.linspace(0, n - 1, min(n, few)).astype(np.intp)]
    least = np.array([(one.T @ some.T).min(axis=0).mean() for one in corners])
    mixed, worst = drawn.mean(axis=0), []
    for step in range(GAME_STEPS):
        confusion = some.T @ chosen[(some @ mixed).argmin(axis=1)] / len(some)
        found = corners.reshape(len(corners), -1) @ confusion.ravel() - least
        worst.append(int(found.argmax()))
        mixed = mixed + (corners[worst[-1]] - mixed) / (step + 2)
    near = np.argsort(-found, kind="stable")[:GAME_VERTICES]
    M = np.concatenate([corners[np.union1d(worst, near)], drawn])

    # Tables T (s, k, n): the share of each row with each class.
    size = int(np.clip(GAME_CELLS // P.size, *GAME_TABLES))
    y = (rng.random((size, n, 1)) > P.cumsum(axis=1)[:, :-1]).sum(axis=2)
    times = rng.multinomial(n, np.full(n, 1.0 / n), size) / n
    T = times[:, np.newaxis] * (y[:, np.newaxis] == np.arange(k)[:, np.newaxis])
    T = P.T / n + np.sqrt(n / n_rows) * (T - P.T / n)  # rows left out would lessen the chance
    own = [one[:, (P @ one).argmin(axis=1)].ravel() for one in M]  # decided by the true costs
    least = T.reshape(size, -1) @ np.stack(own, axis=1)  # (s, a)

    def regrets(matrix: FloatArray) -> FloatArray:
        confusion = T.reshape(-1, n) @ chosen[(P @ matrix).argmin(axis=1)]
        return confusion.reshape(size, -1) @ M.reshape(len(M), -1).T - least

    # Two answers differ in one threshold, and the possible matrices have all that matter.
    best, best_worst = M.mean(axis=0), np.inf
    for one in M:
        expected = float(regrets(one).max(axis=1).mean())
        if expected < best_worst:
            best, best_worst = one, expected
    weights = np.full((size, len(M)), 1.0 / len(M))
    for step in range(GAME_STEPS if m > 2 else 0):
        mixed = np.einsum("a,aij->ij", weights.mean(axis=0), M)
        found = regrets(mixed)
        most = found.max(axis=1, keepdims=True)
        if most.mean() < best_worst:
            best, best_worst = mixed, float(most.mean())
        rate = GAME_RATE / np.sqrt(1.0 + step)
        scale = max(float(np.abs(found).max()), np.finfo(float).tiny)
        weights = weights * np.exp(rate * (found - most) / scale)
        weights /= weights.sum(axis=1, keepdims=True)
    return best
