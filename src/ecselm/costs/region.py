"""The region of cost matrices that statements leave: parameters, vertices, samples, means.

Entries of a matrix that statements treat alike are one parameter. Parameters that no
relation connects are independent of each other, so that the region is a product of small
polytopes, most of them intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product

import numpy as np
from scipy.linalg import null_space
from scipy.optimize import linprog
from scipy.sparse.csgraph import connected_components
from scipy.spatial import HalfspaceIntersection, QhullError

from ecselm._typing import BoolArray, FloatArray, IntArray

STRICT = 1e-9  # by which the greater of two ordered costs is greater, as a share
CLOSE = 1e-9  # relative rounding error of bounds
ROUNDING = 1e-12  # of a logarithm and back, relative
DECADE = 10.0  # least ratio of a stated end to the open end on the other side
MOST_COUPLED = 10  # parameters of a polytope whose vertices are enumerated
MOST_VERTICES = 100_000
SWEEPS = 40  # of the sampler over all parameters, from a start in the middle
RESAMPLED = 16  # draws for one matrix from a density that is not log-uniform
MIDPOINTS = 4096  # of the quadrature over one parameter


@dataclass(frozen=True, slots=True)
class Bounds:
    """A relation of parameters: ``low * t[right] <= t[left] <= high * t[right]``.

    The parameter ``right`` is -1 for the unit of the costs. ``source`` is the position of the
    statement it comes from.
    """

    left: int
    low: float
    high: float
    right: int
    source: int
    strict: bool = False


class ContradictionError(ValueError):
    """Statements that cannot all hold; ``sources`` are their positions."""

    def __init__(self, sources: Sequence[int]) -> None:
        super().__init__(f"statements {list(sources)} contradict each other")
        self.sources = tuple(sources)


@dataclass(frozen=True, slots=True)
class Component:
    """A polytope of parameters that relations connect: ``A t <= b`` within bounds."""

    parameters: IntArray  # (m,), positions in the region
    low: FloatArray  # (m,)
    high: FloatArray  # (m,)
    A: FloatArray  # (n, m)
    b: FloatArray  # (n,)
    closed: bool = True  # rows are all ratios that follow: some parameters may be left out

    def vertices(self) -> FloatArray:
        """Return the vertices (n_vertices, m)."""
        if len(self.parameters) == 1:
            return np.unique(np.array([self.low, self.high]), axis=0)
        A, b, least = self._in_own_units()
        identity = np.eye(len(self.parameters))
        A = np.vstack([A, identity, -identity])
        b = np.concatenate([b, np.ones(len(least)), -least])
        return np.clip(polytope_vertices(A, b) * self.high, self.low, self.high)

    def _in_own_units(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return A, b and the lower bounds of the parameters as shares of their upper bounds."""
        return *in_units(self.A, self.b, self.high), self.low / self.high

    def restricted(self, kept: BoolArray) -> Component:
        """Return the projection on some parameters, of a closed component."""
        outside = np.abs(self.A[:, ~kept]).sum(axis=1) > 0
        return Component(
            self.parameters[kept],
            self.low[kept],
            self.high[kept],
            self.A[~outside][:, kept],
            self.b[~outside],
        )

    def sample(
        self, n: int, rng: np.random.Generator, uniform: Callable[[int], FloatArray]
    ) -> FloatArray:
        """Draw parameters (n, m), log-uniform inside the polytope.

        One group of parameters of fixed ratios after the other, and then all at once, are
        multiplied by a factor between the bounds that the others leave. ``uniform`` returns
        n numbers of [0, 1].
        """
        m = len(self.parameters)
        if m == 1:
            return self.low * (self.high / self.low) ** uniform(n)[:, np.newaxis]
        corners = self.vertices() if m <= MOST_COUPLED else self._some_vertices(rng)
        mixed = rng.dirichlet(np.ones(len(corners)), n)
        t: FloatArray = mixed @ corners
        moves, needed = self._moves(), self._needed()
        limits = [self._limits(mine) & needed for mine in moves]
        for _ in range(SWEEPS):
            for place in rng.permutation(len(moves)):
                mine = moves[place]
                A, b = self.A[limits[place]], self.b[limits[place]]
                slope = t[:, mine] @ A[:, mine].T  # of the rows of A, by the factor
                room = b - t @ A.T + slope
                size = t[:, mine] @ np.abs(A[:, mine]).T
                slope = np.where(np.abs(slope) <= CLOSE * size, 0.0, slope)  # a kept ratio
                with np.errstate(divide="ignore", invalid="ignore"):
                    ends = room / slope
                high = np.minimum(
                    (self.high[mine] / t[:, mine]).min(axis=1),
                    np.where(slope > 0, ends, np.inf).min(axis=1, initial=np.inf),
                )
                low = np.maximum(
                    (self.low[mine] / t[:, mine]).max(axis=1),
                    np.where(slope < 0, ends, 0.0).max(axis=1, initial=0.0),
                )
                high = np.maximum(high, 1.0)  # t itself is inside, up to rounding
                low = np.minimum(low, 1.0)
                t[:, mine] *= (low * (high / low) ** uniform(n))[:, np.newaxis]
                t[:, mine] = np.clip(t[:, mine], self.low[mine], self.high[mine])
        return t

    def _moves(self) -> list[IntArray]:
        """Return groups of parameters that keep their ratios, and all parameters."""
        _, labels = connected_components(_tied(self._ratios()))
        groups: list[IntArray] = [np.flatnonzero(labels == one) for one in np.unique(labels)]
        if len(groups) > 1:
            groups.append(np.arange(len(self.parameters)))
        return groups

    def _limits(self, mine: IntArray) -> BoolArray:
        """Return which rows limit a common factor of some parameters: not ratios among them."""
        inside = np.count_nonzero(self.A[:, mine], axis=1)
        limits: BoolArray = (inside > 0) & (
            (inside < np.count_nonzero(self.A, axis=1)) | (self.b != 0)
        )
        return limits

    def _ratios(self) -> FloatArray:
        """Return the greatest ``t[a] / t[b]`` (m, m) that the rows state, infinite where none."""
        m = len(self.parameters)
        most = np.full((m, m), np.inf)
        for row, end in zip(self.A, self.b, strict=True):
            if end == 0 and np.count_nonzero(row) == 2 and row.max() > 0 > row.min():
                a, b = int(row.argmax()), int(row.argmin())
                most[a, b] = min(most[a, b], -row[b] / row[a])
        return most

    def _needed(self) -> BoolArray:
        """Return which rows do not follow from two others: of a chain, those of neighbours."""
        needed: BoolArray = np.ones(len(self.b), dtype=bool)
        if not self.closed:
            return needed
        most = self._ratios()
        tied = _tied(most)  # by rows that may follow from each other
        for i, row in enumerate(self.A):
            a, b = int(row.argmax()), int(row.argmin())
            through = most[a] * most[:, b]
            through[tied[a] | tied[b]] = np.inf
            needed[i] = through.min() > most[a, b] * (1 + ROUNDING)
        return needed

    def in_order(self) -> tuple[Component, tuple[object, ...]]:
        """Return the component with parameters in an order that depends on their content alone.

        Also returned is a key by which components are ordered. Parameters are compared by
        their bounds, then by their relations to others.
        """
        ends = [
            (float(f"{low:.9e}"), float(f"{high:.9e}"))
            for low, high in zip(self.low, self.high, strict=True)
        ]
        keys: list[tuple[object, ...]] = []
        for g, mine in enumerate(ends):
            related = sorted(
                (
                    float(f"{row[g]:.9e}"),
                    float(f"{end:.9e}"),
                    *sorted((float(f"{row[a]:.9e}"), *ends[a]) for a in np.flatnonzero(row)),
                )
                for row, end in zip(self.A, self.b, strict=True)
                if row[g] != 0
            )
            keys.append((*mine, *related))
        order: IntArray = np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.intp)
        moved = replace(
            self,
            parameters=self.parameters[order],
            low=self.low[order],
            high=self.high[order],
            A=self.A[:, order],
        )
        rows = np.lexsort(np.column_stack([moved.A, moved.b]).round(9).T)
        return replace(moved, A=moved.A[rows], b=moved.b[rows]), (len(keys), *sorted(keys))

    def _some_vertices(self, rng: np.random.Generator) -> FloatArray:
        """Return optima of random linear functions, where vertices are too many to count."""
        A, b, least = self._in_own_units()
        box = np.column_stack([least, np.ones(len(least))])
        directions = rng.standard_normal((4 * len(least), len(least)))
        found = [linprog(direction, A, b, bounds=box).x for direction in directions]
        corners = np.array([one for one in found if one is not None])
        return np.clip(corners * self.high, self.low, self.high)


def _tied(most: FloatArray) -> BoolArray:
    """Return which parameters keep their ratio, for the greatest ratios (m, m)."""
    tied: BoolArray = np.isfinite(most) & np.isfinite(most.T)
    tied[tied] = (most * most.T)[tied] <= 1 + CLOSE
    return tied


def in_units(A: FloatArray, b: FloatArray, units: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return ``A t <= b`` for parameters in units (m,), each row divided by its largest number.

    Solvers have absolute tolerances, which are right for numbers of about 1.
    """
    scaled = A * units
    size = np.maximum(np.abs(scaled).max(axis=1, initial=0.0), np.abs(b))
    size = np.where(size > 0, size, 1.0)
    return scaled / size[:, np.newaxis], b / size


def polytope_vertices(A: FloatArray, b: FloatArray) -> FloatArray:
    """Return the vertices (n, m) of the bounded polytope ``A t <= b``.

    Inequalities that hold with equality everywhere are removed first: inside the flat they
    leave, the polytope has an interior point, which the enumeration needs.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [-1.0, 1.0]])
    >>> polytope_vertices(A, np.array([2.0, -1.0, 2.0, -1.0, 0.0])).tolist()
    [[1.0, 1.0], [2.0, 1.0], [2.0, 2.0]]
    """
    norms = np.linalg.norm(A, axis=1)
    A, b = A / norms[:, np.newaxis], b / norms
    scale = max(1.0, float(np.abs(b).max()))
    interior, slack = _interior(A, b)
    flat: BoolArray = np.zeros(len(b), dtype=bool)
    if slack <= CLOSE * scale:
        flat, interior = _equalities(A, b, scale)
    basis = null_space(A[flat]) if flat.any() else np.eye(A.shape[1])
    if basis.shape[1] == 0:
        return interior[np.newaxis]
    reduced, room = A[~flat] @ basis, (b - A @ interior)[~flat]
    relevant = np.linalg.norm(reduced, axis=1) > CLOSE
    reduced, room = reduced[relevant], room[relevant]
    if basis.shape[1] == 1:
        steps = room / reduced[:, 0]
        ends = np.array([[steps[reduced[:, 0] < 0].max()], [steps[reduced[:, 0] > 0].min()]])
    else:
        halves = np.column_stack([reduced, -room])
        try:
            found = HalfspaceIntersection(halves, np.zeros(basis.shape[1]))
        except QhullError as error:
            raise ValueError(f"the region of costs must have vertices, got {error}") from error
        ends = found.intersections
    corners = interior + ends @ basis.T
    return _distinct(corners, scale)


def _interior(A: FloatArray, b: FloatArray) -> tuple[FloatArray, float]:
    """Return the centre of the largest ball inside, and its radius."""
    m = A.shape[1]
    found = linprog(
        np.append(np.zeros(m), -1.0),
        np.column_stack([A, np.ones(len(b))]),
        b,
        bounds=[(None, None)] * m + [(0, None)],
    )
    if found.status != 0:
        return np.full(m, np.nan), -np.inf
    return found.x[:m], float(found.x[m])


def _equalities(A: FloatArray, b: FloatArray, scale: float) -> tuple[BoolArray, FloatArray]:
    """Return which inequalities are equalities, and a point in the relative interior."""
    free = [(None, None)] * A.shape[1]
    slacks, points = np.zeros(len(b)), []
    for i, row in enumerate(A):
        found = linprog(row, A, b, bounds=free)
        if found.status == 0:
            slacks[i] = b[i] - found.fun
            points.append(found.x)
    if not points:
        raise ValueError("the region of costs must have a point up to rounding, got none")
    return slacks <= CLOSE * scale * 10, np.mean(points, axis=0)


def _distinct(points: FloatArray, scale: float) -> FloatArray:
    """Return points sorted and without repetitions."""
    kept: list[FloatArray] = []
    for point in points[np.lexsort(points.T[::-1])]:
        if not any(np.abs(point - other).max() <= CLOSE * scale for other in kept[-50:]):
            kept.append(point)
    rounded = np.round(np.array(kept), 12)
    return rounded[np.lexsort(rounded.T[::-1])]


def closure(n: int, bounds: Sequence[Bounds]) -> FloatArray:
    """Return the tightest ratios that follow for n parameters, or raise ContradictionError.

    Ratios of positive costs are differences of their logarithms, so that shortest paths
    close them. ``D[a, b]`` is the greatest ``log t[a] - log t[b]``, (n + 1, n + 1); the last
    place is the unit.
    """
    D = np.full((n + 1, n + 1), np.inf)
    np.fill_diagonal(D, 0.0)
    origin = np.full((n + 1, n + 1), -1, dtype=np.intp)
    step: IntArray = np.tile(np.arange(n + 1), (n + 1, 1))  # next place on the way from a to b
    for i, one in enumerate(bounds):
        with np.errstate(divide="ignore"):
            most, least = np.log(one.high), np.log(one.low)
        for a, b, length in (
            (one.left, one.right, most),
            (one.right, one.left, -least - (STRICT if one.strict else 0.0)),
        ):
            if length < D[a, b]:
                if a == b:
                    raise ContradictionError([i])
                D[a, b], origin[a, b] = length, i
    empty = np.flatnonzero(D[:, n] + D[n] < -STRICT / 2)
    if empty.size:
        place = int(empty[0])
        raise ContradictionError([int(origin[place, n]), int(origin[n, place])])
    related = {place for one in bounds if one.right >= 0 for place in (one.left, one.right)}
    for via in [n, *sorted(related)] if related else []:
        through = D[:, via, np.newaxis] + D[via]
        shorter = through < D - CLOSE * STRICT
        if not shorter.any():
            continue
        step = np.where(shorter, step[:, via, np.newaxis], step)
        D = np.where(shorter, through, D)
        negative = np.flatnonzero(D.diagonal() < -STRICT / 2)
        if negative.size:
            raise ContradictionError(_circle(int(negative[0]), step, origin))
    return D


def _circle(start: int, step: IntArray, origin: IntArray) -> list[int]:
    """Return the bounds along the circle that leads from a place back to itself."""
    places, seen = [start], set()
    place = int(step[start, start])
    while place not in seen and place != start:
        seen.add(place)
        places.append(place)
        place = int(step[place, start])
    places.append(start)
    found = [int(origin[a, b]) for a, b in pairwise(places) if origin[a, b] >= 0]
    return list(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class CostRegion:
    """Matrices ``M = base + sum_g t[g] patterns[g]`` of parameters t in a product of polytopes.

    A matrix has a row for every true class and a column for every answer: the k classes, and
    after them possibly "ask a person".
    """

    base: FloatArray  # (k, m)
    patterns: FloatArray  # (q, k, m), 1 where an entry is the parameter
    components: tuple[Component, ...]
    density: Callable[[FloatArray], FloatArray] | None = None  # of matrices (n, k, k)

    @classmethod
    def of_point(cls, matrix: FloatArray) -> CostRegion:
        """Return the region of one matrix."""
        return cls(matrix, np.zeros((0, *matrix.shape)), ())

    @classmethod
    def from_bounds(
        cls,
        base: FloatArray,
        patterns: FloatArray,
        bounds: Sequence[Bounds],
        answers: Sequence[FloatArray] = (),
        span: float = 100.0,
    ) -> CostRegion:
        """Return the region of relations and answers, or raise ContradictionError.

        Parameters
        ----------
        base : array of shape (k, k)
        patterns : array of shape (q, k, k)
        bounds : sequence of Bounds
            Positions of contradicting answers are counted after these.
        answers : sequence of arrays (k, k)
            Coefficients of half-spaces, ``sum(answer * M) >= 0``.
        span : float, default=100
            An open end is this factor away from the unit, or a tenth or ten times the other
            end where this is further.
        """
        q = len(patterns)
        closure(q, bounds)
        bounds = [replace(one, strict=False) for one in bounds]
        D = closure(q, bounds)
        low, high = np.exp(-D[q, :q]), np.exp(D[:q, q])
        unit = _unit(base, low, high)
        # Upper ends come second: ratios to others may raise the lower ones once more.
        low = np.where(low > 0, low, np.minimum(unit / span, high / DECADE))
        ends = [Bounds(g, low[g], np.inf, -1, -1) for g in range(q)]
        low = np.exp(-closure(q, [*bounds, *ends])[q, :q])
        high = np.where(np.isfinite(high), high, np.maximum(unit * span, low * DECADE))
        ends = [Bounds(g, low[g], high[g], -1, -1) for g in range(q)]
        D = closure(q, [*bounds, *ends])
        low, high = np.exp(-D[q, :q]), np.exp(D[:q, q])
        low = np.where(np.isclose(low, unit / span, ROUNDING, 0.0), unit / span, low)
        high = np.where(np.isclose(high, unit * span, ROUNDING, 0.0), unit * span, high)
        for one in bounds:  # logarithms round the ends that were stated
            if one.right < 0:
                g = one.left
                low[g] = one.low if np.isclose(low[g], one.low, ROUNDING, 0.0) else low[g]
                high[g] = one.high if np.isclose(high[g], one.high, ROUNDING, 0.0) else high[g]
        low = np.where(np.abs(high / low - 1.0) <= CLOSE, high, low)
        A, b = _relations(D[:q, :q], low, high)
        for answer in answers:  # sum(answer * (base + t patterns)) >= 0
            row = np.einsum("gij,ij->g", patterns, answer)
            size = max(float(np.abs(row).max(initial=0.0)), np.finfo(float).tiny)
            size = max(size, float(np.abs(answer).max(initial=0.0)))
            A, b = np.vstack([A, -row / size]), np.append(b, float((answer * base).sum()) / size)
        _check_answers(A, b, low, high, len(bounds), len(answers))
        components = _components(A, b, low, high, len(answers))
        return cls(base, patterns, components)

    @property
    def n_parameters(self) -> int:
        """Return the number q of parameters that are not known."""
        return len(self.patterns)

    @property
    def is_point(self) -> bool:
        """Return whether only one matrix is possible."""
        return all((one.low == one.high).all() for one in self.components)

    @property
    def is_coupled(self) -> bool:
        """Return whether any polytope is not an interval."""
        return any(len(one.parameters) > 1 for one in self.components)

    def matrices(self, t: FloatArray) -> FloatArray:
        """Return the matrices (n, k, m) of parameters (n, q)."""
        return self.base + np.tensordot(t, self.patterns, axes=1)

    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Return the least and the greatest value of every entry, both (k, m)."""
        low, high = (np.zeros(self.n_parameters) for _ in range(2))
        for one in self.components:
            low[one.parameters], high[one.parameters] = one.low, one.high
        return self.matrices(low[np.newaxis])[0], self.matrices(high[np.newaxis])[0]

    def vertices(self) -> FloatArray:
        """Return the vertices (n, k, m), or refuse too many."""
        corners = [one.vertices() for one in self.components]
        n = int(np.prod([len(one) for one in corners], dtype=np.float64))
        if n > MOST_VERTICES:
            raise ValueError(
                f"the region of costs must have at most {MOST_VERTICES} vertices to list them, "
                f"got {n}"
            )
        t = np.zeros((n, self.n_parameters))
        chosen = np.array(list(product(*(range(len(one)) for one in corners))), dtype=np.intp)
        for place, (one, points) in enumerate(zip(self.components, corners, strict=True)):
            t[:, one.parameters] = points[chosen[:, place]]
        return self.matrices(t)

    def sample(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Draw n matrices (n, k, m) from the density, log-uniform in the parameters by default."""
        if self.density is None:
            return self.matrices(self._log_uniform(n, rng, rng.random))
        t = self._log_uniform(max(RESAMPLED * n, MIDPOINTS), rng, rng.random)
        drawn = self.matrices(t)
        weights = np.asarray(self.density(drawn[:, :, : len(self.base)]), dtype=np.float64)
        if weights.shape != (len(t),):
            raise ValueError(
                f"density must return one number per matrix, got the shape {weights.shape} for "
                f"{len(t)} matrices"
            )
        wrong = ~(np.isfinite(weights) & (weights >= 0))
        if wrong.any():
            raise ValueError(
                f"density must return finite numbers >= 0, got {float(weights[wrong][0])}"
            )
        free = [one for c in self.components for one in c.parameters[c.low < c.high]]
        weights = weights * t[:, free].prod(axis=1)  # drawn with the density 1 / t
        if not weights.any():
            raise ValueError("density must be positive somewhere in the region, got 0 everywhere")
        return drawn[rng.choice(len(t), size=n, p=weights / weights.sum())]

    def _log_uniform(
        self, n: int, rng: np.random.Generator, uniform: Callable[[int], FloatArray]
    ) -> FloatArray:
        t = np.zeros((n, self.n_parameters))
        ordered = sorted((one.in_order() for one in self.components), key=lambda one: one[1])
        for one, _ in ordered:
            t[:, one.parameters] = one.sample(n, rng, uniform)
        return t

    def spread(self) -> FloatArray:
        """Return matrices (n, k, m) that stand for the region, the same every time.

        Midpoints of equal shares of the logarithm where relations do not connect parameters,
        combined at random. The order of the classes matters as little as possible: parameters
        take their turns by their bounds and relations.
        """
        if self.is_point:
            t = np.zeros((1, self.n_parameters))
            for one in self.components:
                t[:, one.parameters] = one.low
            return self.matrices(t)
        rng = np.random.default_rng(0)
        if self.density is not None:
            return self.sample(MIDPOINTS, rng)

        def midpoints(n: int) -> FloatArray:
            return (rng.permutation(n) + 0.5) / n

        return self.matrices(self._log_uniform(MIDPOINTS, rng, midpoints))

    def with_column(self, column: FloatArray) -> CostRegion:
        """Return the region with one more answer, whose costs (k,) are known."""
        base = np.column_stack([self.base, column])
        zeros = np.zeros((*self.patterns.shape[:2], 1))
        return replace(self, base=base, patterns=np.concatenate([self.patterns, zeros], axis=2))

    def contains(self, matrix: FloatArray) -> bool:
        """Return whether a matrix (k, m) lies in the region, up to rounding."""
        t = np.zeros(self.n_parameters)
        for g, pattern in enumerate(self.patterns):
            t[g] = matrix[pattern > 0][0]
        near = self.matrices(t[np.newaxis])[0]
        if not np.allclose(near, matrix, rtol=CLOSE, atol=ROUNDING * float(matrix.max())):
            return False
        for one in self.components:
            part = t[one.parameters]
            inside = (part >= one.low * (1 - CLOSE)) & (part <= one.high * (1 + CLOSE))
            size = np.abs(one.A) @ part + np.abs(one.b)
            if not (inside.all() and (one.A @ part <= one.b + CLOSE * size).all()):
                return False
        return True


def _unit(base: FloatArray, low: FloatArray, high: FloatArray) -> float:
    """Return the geometric mean of known costs, or of known ends where none is known."""
    exact = (low > 0) & np.isclose(low, high, ROUNDING, 0.0)
    known = np.concatenate([base[base > 0], low[exact]])
    if not known.size:
        ends = np.concatenate([low, high])
        known = ends[np.isfinite(ends) & (ends > 0)]
    return float(np.exp(np.log(known).mean())) if known.size else 1.0


def _relations(D: FloatArray, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return ``t[a] - r t[b] <= 0`` for every ratio that the bounds do not imply."""
    q = len(low)
    with np.errstate(over="ignore"):
        most = np.exp(D)
    needed = high[:, np.newaxis] > most * low * (1 + CLOSE)
    np.fill_diagonal(needed, val=False)
    greater, lesser = np.nonzero(needed)
    A, n = np.zeros((len(greater), q)), np.arange(len(greater))
    A[n, greater], A[n, lesser] = 1.0, -most[greater, lesser]
    return A, np.zeros(len(A))


def _check_answers(
    A: FloatArray, b: FloatArray, low: FloatArray, high: FloatArray, first: int, n_answers: int
) -> None:
    """Raise ContradictionError for answers that cannot hold with all before them."""
    if not n_answers:
        return
    n = len(b) - n_answers
    A, b = in_units(A, b, high)
    box = np.column_stack([low / high, np.ones(len(low))])

    def possible(rows: list[int]) -> bool:
        if not len(low):
            return bool((b[rows] >= -CLOSE).all())
        return linprog(np.zeros(len(low)), A[rows], b[rows], bounds=box).status == 0

    every = list(range(len(b)))
    if possible(every):
        return
    needed = every[n:]
    for answer in every[n:]:  # answers that can be spared are not to blame
        others = [one for one in needed if one != answer]
        if not possible(every[:n] + others):
            needed = others
    raise ContradictionError([first + one - n for one in needed])


def _components(
    A: FloatArray, b: FloatArray, low: FloatArray, high: FloatArray, n_answers: int
) -> tuple[Component, ...]:
    """Split the parameters where no row of A connects them; answers are the last rows."""
    q = len(low)
    if not q:
        return ()
    touched = A != 0
    _, labels = connected_components(touched.T.astype(int) @ touched.astype(int) + np.eye(q))
    asked = np.arange(len(b)) >= len(b) - n_answers
    found = []
    for label in np.unique(labels):
        mine = labels == label
        rows = touched[:, mine].any(axis=1)
        answered = bool((rows & asked).any())
        one = Component(
            np.flatnonzero(mine), low[mine], high[mine], A[rows][:, mine], b[rows], not answered
        )
        found.append(_tightened(one) if answered else one)
    return tuple(found)


def _tightened(component: Component) -> Component:
    """Return the component with the bounds that its rows leave."""
    low, high = component.low.copy(), component.high.copy()
    if len(low) == 1:  # the quotient is exact
        slopes, ends = component.A[:, 0], component.b / component.A[:, 0]
        low[0] = max(low[0], ends[slopes < 0].max(initial=0.0))
        high[0] = max(low[0], min(high[0], ends[slopes > 0].min(initial=np.inf)))
        return replace(component, low=low, high=high)
    A, b = in_units(component.A, component.b, component.high)
    box = np.column_stack([low / high, np.ones(len(low))])
    for g, one in enumerate(np.eye(len(low))):
        least, most = (linprog(sign * one, A, b, bounds=box) for sign in (1.0, -1.0))
        if least.status == most.status == 0:
            low[g] = max(low[g], least.fun * component.high[g] * (1 - CLOSE))
            high[g] = min(high[g], -most.fun * component.high[g] * (1 + CLOSE))
    return replace(component, low=low, high=np.maximum(low, high))
