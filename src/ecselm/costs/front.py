"""The front: combinations of class recalls that costs of decisions can reach on given rows.

Sizes: n rows, k classes, q points. A point is a vector of costs by class, ``b`` (k,), which are
spread over the confusions of a class in the proportions of a pattern, ``M_ij = b_i pattern_ij``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ecselm._typing import BoolArray, FloatArray, IntArray

MOST_CLASSES = 50  # beyond, there are few rows for each
MOST_ROWS = 5000  # validation rows that choose points and report on them
MOST_POINTS, MOST_POINTS_OF_MANY = 200, 300  # of two classes, and of more
CANDIDATES = 64, 3000  # least and most cost vectors of many classes
CANDIDATE_CELLS = 1 << 24  # expected costs that are computed for all of them
BLOCK_CELLS = 1 << 16  # numbers at a time
SPREADS = (0.5, 1.0, 2.0, 4.0)  # standard deviations of log costs around the centres
FACTORS = 2.0 ** np.array([-10, -7, -5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 7, 10])  # of one class
DIGITS = 12  # of a recall: later ones are rounding errors
ADDED = 4.0  # rows, half of them right, in a standard error (Agresti and Coull)


@dataclass(frozen=True, slots=True)
class RecallFront:
    """Points that no other point dominates, and how they fare on rows that did not choose them."""

    costs: FloatArray  # (q, k), by class, with a mean of 1
    pattern: FloatArray  # (k, k)
    recalls: FloatArray  # (q, k), NaN for classes without a row to report on
    std_errors: FloatArray  # (q, k)
    mean_cost_std_error: FloatArray  # (q,), NaN without stated costs
    mean_cost: FloatArray | None = None  # (q,), by stated costs

    def __post_init__(self) -> None:
        k = len(self.pattern)
        shape = (len(self.costs), k)
        if self.pattern.shape != (k, k) or any(
            one.shape != shape for one in (self.costs, self.recalls, self.std_errors)
        ):
            raise ValueError("a front must have costs, recalls and std errors by class, of a shape")
        for one in (self.mean_cost_std_error, self.mean_cost):
            if one is not None and one.shape != shape[:1]:
                raise ValueError(f"a front must have a mean cost by point, got {one.shape}")
        known = np.isfinite(self.pattern).all() and np.isfinite(self.costs).all()
        if not known or (self.pattern < 0).any() or (self.costs < 0).any():
            raise ValueError("costs of a front must be finite numbers >= 0")

    def __len__(self) -> int:
        return len(self.costs)

    @classmethod
    def of_rows(
        cls,
        P: FloatArray,
        y: IntArray,
        weight: FloatArray | None = None,
        shares: FloatArray | None = None,
        *,
        centres: Sequence[FloatArray] = (),
        stated: FloatArray | None = None,
        pattern: FloatArray | None = None,
        groups: IntArray | None = None,
    ) -> RecallFront:
        """Choose the points on one half of the rows, and report on them from the other half.

        Points look better on the rows that chose them. On the other half some look dominated:
        a point is dropped where another has at least its recall of every class, and of some
        class more than it by over a standard error.

        Parameters
        ----------
        P : array of shape (n, k)
            Probabilities of rows that the model was not trained on.
        y : array of shape (n,)
            Classes by position; some may have no row.
        weight : array of shape (n,), default=None
        shares : array of shape (k,), default=None
            Of the classes in the population; None: those of the rows.
        centres : sequence of arrays of shape (k,), default=()
            Costs by class around which others are tried, for more than two classes. They are
            not tried themselves: where they were learned from all of these rows, figures of
            the other half would flatter them.
        stated : array of shape (k, k), default=None
            Stated costs, of which points report the mean, at these shares. They are tried,
            beside equal costs and those that make classes equally important.
        pattern : array of shape (k, k), default=None
            Costs of confusions relative to the mean mistake on their class; None: equal.
        groups : array of shape (n,), default=None
            Codes of groups of rows, which are in one half each and count as one row.

        Examples
        --------
        >>> P = np.array([[0.9, 0.1], [0.8, 0.2], [0.4, 0.6], [0.3, 0.7]])
        >>> front = RecallFront.of_rows(np.tile(P, (5, 1)), np.tile([0, 0, 1, 1], 5))
        >>> front.thresholds(), front.recalls
        (array([0.4]), array([[1., 1.]]))
        """
        k = P.shape[1]
        w = np.ones(len(y)) if weight is None else weight
        totals = np.bincount(y, w, minlength=k)
        shares = totals / totals.sum() if shares is None else shares
        pattern = 1.0 - np.eye(k) if pattern is None else pattern
        chooses, reports = halves(y, k, groups)

        # Choose: all thresholds, or cost vectors, of which no other is better for every class.
        known = P[chooses], y[chooses], w[chooses]
        if k == 2:
            t = _thresholds(known[0][:, 1])
            costs, most = 2.0 * np.column_stack([t, 1.0 - t]), MOST_POINTS
        else:
            room = int(np.clip(CANDIDATE_CELLS // max(known[0].size, 1), *CANDIDATES))
            own = () if stated is None or not stated.any() else (stated.sum(axis=1) / (k - 1),)
            costs, most = cost_vectors(shares, own, centres, room), MOST_POINTS_OF_MANY
        recalls = np.round(recalls_at(costs, pattern, *known), DIGITS)
        chosen = undominated(recalls)
        costs = costs[chosen[spread_out(recalls[chosen], most)]]

        # Report, from the other half.
        known = P[reports], y[reports], w[reports]
        sizes = _sizes(y[reports], w[reports], k, None if groups is None else groups[reports])
        recalls = np.where(sizes > 0, recalls_at(costs, pattern, *known), np.nan)
        errors = _std_errors(recalls, sizes)
        mean_cost, cost_errors = None, np.full(len(costs), np.nan)
        if stated is not None:
            seen = shares * (sizes > 0)
            confusions = np.nan_to_num(confusions_at(costs, pattern, *known))
            mean_cost = (confusions * stated).sum(axis=2) @ (seen / seen.sum())
            cost_errors = _cost_std_errors(confusions, stated, seen / seen.sum(), sizes)
        kept = np.flatnonzero(~clearly_dominated(recalls, errors))
        order = np.lexsort((*costs[kept].T[::-1], -np.nan_to_num(recalls[kept]).mean(axis=1)))
        kept = kept[np.argsort(costs[kept, 0], kind="stable") if k == 2 else order]
        return cls(
            costs[kept],
            pattern,
            recalls[kept],
            errors[kept],
            cost_errors[kept],
            None if mean_cost is None else mean_cost[kept],
        )

    def thresholds(self) -> FloatArray:
        """Return the probabilities (q,) of the second of two classes above which it is answered."""
        return self.costs[:, 0] / self.costs.sum(axis=1)

    def matrix(self, point: int) -> FloatArray:
        """Return the costs (k, k) by which a point decides."""
        return self.costs[point][:, np.newaxis] * self.pattern

    def shortfalls(self, least: FloatArray) -> FloatArray:
        """Return by how much every point (q,) misses the least recalls (k,), at its worst class.

        0 or less where it reaches all of them. A recall that is not known is missed.
        """
        wanted = least > 0
        short = least - self.recalls
        short = np.where(np.isnan(short), np.inf, short)
        return np.where(wanted, short, -np.inf).max(axis=1)

    def best(self, least: FloatArray) -> int | None:
        """Return the point of least mean cost that reaches recalls (k,), None if none does.

        Without stated costs the one of the highest mean recall; of equal ones the first.
        """
        reached = np.flatnonzero(self.shortfalls(least) <= 10.0**-DIGITS)
        if not len(reached):
            return None
        if self.mean_cost is not None:
            return int(reached[self.mean_cost[reached].argmin()])
        return int(reached[np.nan_to_num(self.recalls[reached]).mean(axis=1).argmax()])


def cost_pattern(matrix: FloatArray) -> FloatArray:
    """Return what confusions cost (k, k) relative to the mean mistake on their class.

    Examples
    --------
    >>> cost_pattern(np.array([[0.0, 1.0, 3.0], [2.0, 0.0, 2.0], [0.0, 0.0, 0.0]]))
    array([[0. , 0.5, 1.5],
           [1. , 0. , 1. ],
           [1. , 1. , 0. ]])
    """
    k = len(matrix)
    means = matrix.sum(axis=1, keepdims=True) / (k - 1)
    return np.where(means > 0, matrix / np.where(means > 0, means, 1.0), 1.0 - np.eye(k))


# Rows


def halves(
    y: IntArray, n_classes: int, groups: IntArray | None = None, most: int = MOST_ROWS
) -> tuple[IntArray, IntArray]:
    """Return the rows of two halves of every class, at most as many as ``most`` in all.

    Large classes give rows away first: recalls are by class. The order is drawn with a fixed
    seed, the same for every class of a size, and an odd row is in the second half.

    Examples
    --------
    >>> first, second = halves(np.array([0, 0, 0, 1, 1]), 2)
    >>> np.bincount([0, 0, 0, 1, 1])[:2], len(first), len(second)
    (array([3, 2]), 2, 3)
    """
    if groups is not None:
        return _halves_of_groups(y, n_classes, groups, most)
    counts = np.bincount(y, minlength=n_classes)
    limit = _limit(counts, most)
    first, second = [], []
    for c in range(n_classes):
        rows = np.random.default_rng(0).permutation(np.flatnonzero(y == c))[:limit]
        first.append(rows[: len(rows) // 2])
        second.append(rows[len(rows) // 2 :])
    return np.sort(np.concatenate(first)), np.sort(np.concatenate(second))


def _limit(counts: IntArray, most: int) -> int:
    """Return the number of rows of a class, of which no class has more, for ``most`` in all."""
    left = most
    for i, count in enumerate(np.sort(counts).tolist()):
        if count * (len(counts) - i) > left:
            return max(2, left // (len(counts) - i))
        left -= count
    return int(counts.max(initial=0))


def _halves_of_groups(
    y: IntArray, n_classes: int, groups: IntArray, most: int
) -> tuple[IntArray, IntArray]:
    """Return halves of whole groups, dealt out class by class."""
    _, codes = np.unique(groups, return_inverse=True)
    rng = np.random.default_rng(0)
    order = rng.permutation(codes.max() + 1)
    ends = np.cumsum(np.bincount(codes)[order])
    used = np.isin(codes, order[: max(2, int(np.searchsorted(ends, most, side="right")))])
    half, start = np.full(codes.max() + 1, -1), 0
    for c in np.argsort(np.bincount(y[used], minlength=n_classes), kind="stable"):  # rarest first
        new = np.unique(codes[used & (y == c)])
        new = rng.permutation(new[half[new] < 0])
        half[new] = (start + 1 + np.arange(len(new))) % 2
        start += len(new)
    return np.flatnonzero(used & (half[codes] == 0)), np.flatnonzero(used & (half[codes] == 1))


def _sizes(y: IntArray, w: FloatArray, n_classes: int, groups: IntArray | None) -> FloatArray:
    """Return how many independent rows of equal weight the rows of every class (k,) amount to."""
    sizes = np.zeros(n_classes)
    for c in range(n_classes):
        own = w[y == c]
        if groups is not None and len(own):
            own = np.bincount(np.unique(groups[y == c], return_inverse=True)[1], own)
        squares = float(own @ own)
        sizes[c] = float(own.sum()) ** 2 / squares if squares > 0 else 0.0
    return sizes


def _std_errors(recalls: FloatArray, sizes: FloatArray) -> FloatArray:
    """Return standard errors (q, k), above 0 also where all rows are right or none."""
    smoothed = (recalls * sizes + ADDED / 2.0) / (sizes + ADDED)
    errors: FloatArray = np.sqrt(smoothed * (1.0 - smoothed) / (sizes + ADDED))
    return errors


def _cost_std_errors(
    confusions: FloatArray, stated: FloatArray, shares: FloatArray, sizes: FloatArray
) -> FloatArray:
    """Return standard errors (q,) of mean costs at known shares of the classes.

    Rows are added as for recalls, half of them right and the others confused evenly: for two
    classes a class has the error of its recall times the cost of a mistake.
    """
    k = len(stated)
    added = np.where(np.eye(k) > 0, ADDED / 2.0, ADDED / (2.0 * (k - 1)))
    n = sizes[:, np.newaxis]
    smoothed = (confusions * n + added) / (n + ADDED)
    means = (smoothed * stated).sum(axis=2, keepdims=True)
    variances = (smoothed * (stated - means) ** 2).sum(axis=2)
    errors: FloatArray = np.sqrt(variances @ (shares**2 / (sizes + ADDED)))
    return errors


# Candidates


def _thresholds(p: FloatArray) -> FloatArray:
    """Return 0, 1 and the middle between any two neighbouring probabilities."""
    values = np.unique(p)
    return np.unique(np.concatenate([[0.0, 1.0], (values[:-1] + values[1:]) / 2.0]))


def cost_vectors(
    shares: FloatArray, stated: Sequence[FloatArray], centres: Sequence[FloatArray], size: int
) -> FloatArray:
    """Return at most ``size`` costs by class (q, k) with a mean of 1, the same in every call.

    First stated costs, equal costs, the inverse of the shares and its root. Then costs that
    differ from these, or from other centres, for one class, and draws around all of them on a
    log scale.

    Parameters
    ----------
    shares : array of shape (k,)
        Of the classes.
    stated : sequence of arrays of shape (k,)
    centres : sequence of arrays of shape (k,)
        Not among the results themselves.
    size : int
    """
    k = len(shares)
    inverse = 1.0 / np.maximum(shares, 1e-6)
    own = _of_mean_one(np.stack([*stated, inverse, np.ones(k), np.sqrt(inverse)]))
    around = np.unique(
        np.concatenate([own, *(_of_mean_one(one[np.newaxis]) for one in centres)]), axis=0
    )
    own = np.unique(own, axis=0)
    moved = np.ones((len(FACTORS), k, k))
    moved[:, np.arange(k), np.arange(k)] = FACTORS[:, np.newaxis]
    along = (around[:, np.newaxis] * moved.reshape(1, -1, k)).reshape(-1, k)
    along = along[:: max(1, -(-len(along) // max(1, size // 2)))]
    n_drawn = max(0, size - len(own) - len(along))
    places = np.arange(n_drawn)
    spread = np.take(SPREADS, places // len(around) % len(SPREADS))[:, np.newaxis]
    steps = spread * np.random.default_rng(0).standard_normal((n_drawn, k))
    drawn = around[places % len(around)] * np.exp(steps)
    found = np.concatenate([own, along, drawn])[:size]
    return found / found.mean(axis=1, keepdims=True)


def _of_mean_one(costs: FloatArray) -> FloatArray:
    """Return costs by class (q, k) above 0, with a mean of 1."""
    positive = np.maximum(costs, 1e-9 * costs.max(axis=1, keepdims=True))
    scaled: FloatArray = positive / positive.mean(axis=1, keepdims=True)
    return scaled


# Points


def recalls_at(
    costs: FloatArray, pattern: FloatArray, P: FloatArray, y: IntArray, w: FloatArray
) -> FloatArray:
    """Return the recalls (q, k) of points on rows; 0 of a class without rows.

    A row of class c is answered right if no class costs less, and none before c as little:
    comparisons of whole arrays, which are faster than a least cost of every row.
    """
    k = P.shape[1]
    recalls = np.zeros(costs.shape)
    for c in range(k):
        own, weights = np.ascontiguousarray(P[y == c].T), w[y == c]
        if not weights.any():
            continue
        step = max(1, BLOCK_CELLS // len(weights))
        for start in range(0, len(costs), step):
            some = costs[start : start + step]
            mine = (some * pattern[:, c]) @ own
            right = np.ones(mine.shape, dtype=bool)
            for j in range(k):
                if j != c:
                    other = (some * pattern[:, j]) @ own
                    right &= mine < other if j < c else mine <= other
            recalls[start : start + step, c] = right @ weights / weights.sum()
    return recalls


def confusions_at(
    costs: FloatArray, pattern: FloatArray, P: FloatArray, y: IntArray, w: FloatArray
) -> FloatArray:
    """Return what shares of every class are answered how (q, k, k), NaN without rows of it."""
    k = P.shape[1]
    found = np.empty((len(costs), k, k))
    for q, one in enumerate(costs):
        answers = (P @ (one[:, np.newaxis] * pattern)).argmin(axis=1)
        found[q] = np.bincount(y * k + answers, w, minlength=k * k).reshape(k, k)
    totals = np.bincount(y, w, minlength=k)[:, np.newaxis]
    return np.where(totals > 0, found / np.where(totals > 0, totals, 1.0), np.nan)


def undominated(points: FloatArray) -> IntArray:
    """Return the positions of points (q, k) that no other dominates, in ascending order.

    A point dominates another if it is nowhere less and somewhere greater; of equal ones the
    first is kept. All pairs are compared, in blocks of bounded memory.

    Examples
    --------
    >>> undominated(np.array([[1.0, 0.0], [0.5, 0.5], [0.5, 0.4], [0.5, 0.5], [0.0, 1.0]]))
    array([0, 1, 4])
    """
    unique, first = np.unique(points, axis=0, return_index=True)
    order = np.argsort(-unique.sum(axis=1), kind="stable")  # what dominates has a larger sum
    unique, first = unique[order], first[order]
    kept = np.ones(len(unique), dtype=bool)
    step = max(1, BLOCK_CELLS // max(len(unique), 1))
    columns = np.ascontiguousarray(unique.T)
    for start in range(0, len(unique), step):
        stop = min(start + step, len(unique))
        above = np.ones((stop - start, len(unique)), dtype=bool)
        for column in columns:
            above &= column >= column[start:stop, np.newaxis]
        kept[start:stop] = above.sum(axis=1) == 1  # itself alone
    return np.sort(first[kept])


def clearly_dominated(recalls: FloatArray, errors: FloatArray) -> BoolArray:
    """Return which points (q,) another one dominates by more than a standard error.

    The other has at least the recall of every class, and of some class more than a standard
    error more. Classes without rows do not count.
    """
    above = np.ones((len(recalls), len(recalls)), dtype=bool)  # (point, other)
    clearly = np.zeros_like(above)
    for r, error in zip(recalls.T, errors.T, strict=True):
        if not np.isnan(r).any():
            above &= r >= r[:, np.newaxis]
            clearly |= r > (r + error)[:, np.newaxis]
    return np.logical_or.reduce(above & clearly, axis=1)


def spread_out(points: FloatArray, most: int) -> IntArray:
    """Return the positions of at most ``most`` points (q, k), far from each other.

    The first are the best of every column and the best mean; each of the others is the one
    farthest from all before it.
    """
    if len(points) <= most:
        return np.arange(len(points))
    ends = [points.mean(axis=1).argmax(), *points.argmax(axis=0)]
    chosen = list(dict.fromkeys(int(one) for one in ends))[:most]
    nearest = np.full(len(points), np.inf)
    for one in chosen:
        nearest = np.minimum(nearest, ((points - points[one]) ** 2).sum(axis=1))
    while len(chosen) < most:
        chosen.append(int(nearest.argmax()))
        nearest = np.minimum(nearest, ((points - points[chosen[-1]]) ** 2).sum(axis=1))
    return np.sort(np.array(chosen, dtype=np.intp))
