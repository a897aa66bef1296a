"""What is believed of costs after answers, some of which may be wrong.

The belief is a weighted sample of cost matrices. The density before any answer is that of the
constraints, log-uniform by default; an answer multiplies it by its likelihood. One unknown cost
is a grid; several are moved by differences of the sample itself (ter Braak, 2006), which follow
narrow strips that ratios leave without any setting.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import linprog

from ecselm._typing import BoolArray, FloatArray, IntArray
from ecselm.costs.region import CostRegion, in_units

N_GRID = 1001  # of one unknown cost
N_FINE = 2001  # the same where answers may be wrong, so that no grid can be narrowed
N_SAMPLE = 512  # of several
N_STEPS = 40  # of the sampler after an answer
LEAST_LEFT = 16  # matrices of the sample in a region, below which it is drawn anew
INSIDE = 1e-9  # relative rounding error at the limit of an answer


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """An answer: ``low <= sum(left * M) / sum(right * M) <= high``.

    Parameters
    ----------
    left, right : array of shape (k, k)
    low, high : float
    n_choices : int, default=3
        Choices that state something, of which each other one would be as probable an error.
    """

    left: FloatArray
    right: FloatArray
    low: float
    high: float
    n_choices: int = 3

    def half_spaces(self) -> list[FloatArray]:
        """Return coefficients (k, k), whose products with the costs have a sum >= 0."""
        found = [self.left - self.low * self.right] if self.low > 0 else []
        return [*found, self.high * self.right - self.left] if self.high < np.inf else found


def likelihood(evidence: Sequence[Evidence], matrices: FloatArray, error_rate: float) -> FloatArray:
    """Return how probable all answers together are (n,) with costs (n, k, k)."""
    if not evidence:
        return np.ones(len(matrices))
    flat = matrices.reshape(len(matrices), -1)
    left, right = (
        flat @ np.array([getattr(one, side).ravel() for one in evidence]).T
        for side in ("left", "right")
    )
    low = np.array([one.low for one in evidence])
    high = np.array([min(one.high, np.finfo(float).max) for one in evidence])
    wrong = np.array([error_rate / max(one.n_choices - 1, 1) for one in evidence])
    with np.errstate(over="ignore"):
        right_answers = (left >= low * right * (1 - INSIDE)) & (left <= high * right * (1 + INSIDE))
    return np.where(right_answers, 1.0 - error_rate, wrong).prod(axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class Likelihood:
    """The density of costs after answers, as cost constraints take it.

    Parameters
    ----------
    evidence : tuple of Evidence
    error_rate : float
    places : tuple of pairs of int
        An entry for every unknown cost.
    density : callable or None
        Before the answers; None is log-uniform.
    """

    evidence: tuple[Evidence, ...]
    error_rate: float
    places: tuple[tuple[int, int], ...]
    density: Callable[[FloatArray], FloatArray] | None = None

    def __call__(self, matrices: FloatArray) -> FloatArray:
        """Return the density (n,) of matrices (n, k, k), up to a factor."""
        found: FloatArray
        if self.density is None:
            rows, columns = (list(one) for one in zip(*self.places, strict=True))
            found = 1.0 / matrices[:, rows, columns].prod(axis=1)
        else:
            found = np.asarray(self.density(matrices), dtype=np.float64)
        return found * likelihood(self.evidence, matrices, self.error_rate)


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """A weighted sample of the costs that are possible.

    Parameters
    ----------
    region : CostRegion
        Before any answer.
    t : array of shape (n, q)
        Unknown costs.
    weights : array of shape (n,)
        With the sum 1.
    evidence : tuple of Evidence, default=()
    error_rate : float, default=0
    """

    region: CostRegion
    t: FloatArray
    weights: FloatArray
    evidence: tuple[Evidence, ...] = ()
    error_rate: float = 0.0

    @classmethod
    def prior(cls, region: CostRegion, error_rate: float, rng: np.random.Generator) -> Belief:
        """Return the belief before any answer."""
        free = _free(region)
        if not free.any():
            t = _low_high(region)[0][np.newaxis]
            return cls(region, t, np.ones(1), (), error_rate)
        if len(free) == 1:
            return cls(region, *_grid(region, region, error_rate), (), error_rate)
        t = _parameters(region, region.sample(N_SAMPLE, rng))
        return cls(region, t, np.full(N_SAMPLE, 1.0 / N_SAMPLE), (), error_rate)

    @property
    def matrices(self) -> FloatArray:
        """Return the costs (n, k, k)."""
        return self.region.matrices(self.t)

    def updated(self, one: Evidence, region: CostRegion, rng: np.random.Generator) -> Belief:
        """Return the belief after an answer.

        Parameters
        ----------
        one : Evidence
        region : CostRegion
            That all answers leave, if none of them may be wrong.
        rng : numpy.random.Generator
        """
        after = replace(self, evidence=(*self.evidence, one))
        n, q = self.t.shape
        if n == 1:
            return after
        if q == 1:
            t, weights = _grid(self.region, region, self.error_rate)
            matrices = self.region.matrices(t)
            if self.error_rate:  # otherwise the grid is that of the region
                weights = weights * likelihood(after.evidence, matrices, self.error_rate)
            return replace(after, t=t, weights=weights / weights.sum())
        weights = self.weights * likelihood([one], self.matrices, self.error_rate)
        if np.count_nonzero(weights) < LEAST_LEFT:  # only where no answer may be wrong
            t = _parameters(region, region.sample(n, rng))
            return replace(after, t=t, weights=np.full(n, 1.0 / n))
        # Systematic resampling, in a random order: neighbours must not be copies.
        ends = weights.cumsum() / weights.sum()
        kept = np.searchsorted(ends, (np.arange(n) + rng.random()) / n).clip(max=n - 1)
        return replace(after, t=after.moved(self.t[rng.permutation(kept)], rng))

    def log_density(self, x: FloatArray) -> FloatArray:
        """Return the logarithm of the density (n,) of logarithms of costs (n, q)."""
        t = np.exp(x)
        possible: BoolArray = np.ones(len(t), dtype=bool)
        for one in self.region.components:
            part = t[:, one.parameters]
            possible &= (part >= one.low * (1 - INSIDE)).all(axis=1)
            possible &= (part <= one.high * (1 + INSIDE)).all(axis=1)
            if len(one.b):
                size = part @ np.abs(one.A).T + np.abs(one.b)
                possible &= (part @ one.A.T <= one.b + INSIDE * size).all(axis=1)
        matrices = self.region.matrices(t)
        density = possible * likelihood(self.evidence, matrices, self.error_rate)
        if self.region.density is not None:
            stated = np.asarray(self.region.density(matrices), dtype=np.float64)
            density = density * stated * np.exp(x[:, _free(self.region)].sum(axis=1))
        with np.errstate(divide="ignore"):
            return np.log(density)

    def moved(self, t: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return the sample (n, q) after steps of the sampler."""
        x = np.log(t)
        density = self.log_density(x)
        n, q = x.shape
        free = np.flatnonzero(_free(self.region))
        halves = np.array_split(np.arange(n), 2)
        for step in range(N_STEPS):
            # One half moves by differences of the other, so that the density is kept.
            mine, others = halves if step % 2 == 0 else halves[::-1]
            a, b = rng.integers(len(others), size=(2, len(mine)))
            some = rng.random((len(mine), q)) < rng.choice([1.0, 0.5, 1.0 / len(free)])
            some[np.arange(len(mine)), rng.choice(free, len(mine))] = True
            size = 2.38 / np.sqrt(2.0 * some.sum(axis=1)) * rng.uniform(0.2, 1.2, len(mine))
            trial = x[mine] + size[:, np.newaxis] * some * (x[others[a]] - x[others[b]])
            found = self.log_density(trial)
            with np.errstate(invalid="ignore"):
                better = np.log(rng.random(len(mine))) < found - density[mine]
            x[mine[better]], density[mine[better]] = trial[better], found[better]
        return np.exp(x)

    def interval(self, values: FloatArray, share: float) -> tuple[float, float]:
        """Return the narrowest interval of values (n,) that holds a share of the weight."""
        order = np.argsort(values, kind="stable")
        ends, ordered = self.weights[order].cumsum(), values[order]
        before = np.concatenate([[0.0], ends[:-1]])
        last = np.searchsorted(ends, before + share - INSIDE)
        inside = last < len(ends)
        first: IntArray = np.flatnonzero(inside)
        if not first.size:
            return float(ordered[0]), float(ordered[-1])
        widths = ordered[last[inside]] - ordered[first]
        best = int(widths.argmin())
        return float(ordered[first[best]]), float(ordered[last[inside][best]])


def conflict(region: CostRegion, evidence: Sequence[Evidence]) -> list[int]:
    """Return positions of answers that cannot all be right, none if they can.

    None of them can be spared. The last answer is among them if those before it can all be
    right.
    """
    if _possible(region, evidence):
        return []
    needed = list(range(len(evidence)))
    for one in list(needed):
        others = [other for other in needed if other != one]
        if not _possible(region, [evidence[other] for other in others]):
            needed = others
    return needed


def conflicts(region: CostRegion, evidence: Sequence[Evidence]) -> list[list[int]]:
    """Return sets of answers that cannot all be right, each with its latest answer last."""
    kept: list[int] = []
    found = []
    for i in range(len(evidence)):
        tried = [*kept, i]
        clash = conflict(region, [evidence[one] for one in tried])
        if clash:
            found.append([tried[one] for one in clash])
        else:
            kept.append(i)
    return found


def _possible(region: CostRegion, evidence: Sequence[Evidence]) -> bool:
    """Return whether some costs of the region agree with all answers."""
    spaces = [one for each in evidence for one in each.half_spaces()]
    low, high = _low_high(region)
    q = len(low)
    # sum(space * (base + t patterns)) >= 0, in units of the upper bounds.
    rows = [-np.tensordot(region.patterns, one, axes=2) for one in spaces]
    A = np.array(rows).reshape(len(spaces), q)
    b = np.array([float((one * region.base).sum()) for one in spaces])
    for one in region.components:
        own = np.zeros((len(one.b), q))
        own[:, one.parameters] = one.A
        A, b = np.vstack([A, own]), np.append(b, one.b)
    if not q:
        return bool((b >= -INSIDE).all())
    A, b = in_units(A, b, high)
    box = np.column_stack([low / high, np.ones(q)])
    return linprog(np.zeros(q), A, b + INSIDE, bounds=box).status == 0


def _low_high(region: CostRegion) -> tuple[FloatArray, FloatArray]:
    low, high = (np.zeros(region.n_parameters) for _ in range(2))
    for one in region.components:
        low[one.parameters], high[one.parameters] = one.low, one.high
    return low, high


def _free(region: CostRegion) -> BoolArray:
    low, high = _low_high(region)
    free: BoolArray = low < high
    return free


def _parameters(region: CostRegion, matrices: FloatArray) -> FloatArray:
    """Return the unknown costs (n, q) of matrices (n, k, k)."""
    t = np.empty((len(matrices), region.n_parameters))
    for g, pattern in enumerate(region.patterns):
        i, j = np.argwhere(pattern > 0)[0]
        t[:, g] = matrices[:, i, j]
    return t


def _grid(
    prior: CostRegion, region: CostRegion, error_rate: float
) -> tuple[FloatArray, FloatArray]:
    """Return midpoints (n, 1) of equal shares of the logarithm of one cost, and weights."""
    ends = _low_high(prior if error_rate else region)
    n = N_FINE if error_rate else N_GRID
    low, high = float(ends[0][0]), float(ends[1][0])
    t = (low * (high / low) ** ((np.arange(n) + 0.5) / n))[:, np.newaxis]
    weights = np.ones(n)
    if prior.density is not None:
        weights = np.asarray(prior.density(prior.matrices(t)), dtype=np.float64) * t[:, 0]
    return t, weights / weights.sum()
