"""From a point in a box to costs, and back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ecselm._typing import FloatArray
from ecselm.costs.feasible import FeasibleRegion
from ecselm.costs.levels import CostLevel, MatrixLevel
from ecselm.search import Box


@dataclass(frozen=True, slots=True)
class Candidates:
    """P candidates: what the rows cost by group, C, kernel width, decision matrices."""

    costs: FloatArray  # (P, g)
    C: FloatArray  # (P,)
    gamma: FloatArray | None = None  # (P,)
    matrices: FloatArray | None = None  # (P, k, k)
    first: int = 0  # position of the first of them in its generation

    def __len__(self) -> int:
        return len(self.costs)

    def one(self, i: int) -> Candidates:
        """Return the i-th candidate alone."""
        return self.part(slice(i, i + 1))

    def part(self, some: slice) -> Candidates:
        """Return some of the candidates, which know where in the generation they stand."""
        return Candidates(
            self.costs[some],
            self.C[some],
            None if self.gamma is None else self.gamma[some],
            None if self.matrices is None else self.matrices[some],
            self.first + some.start,
        )

    def numbers(self, i: int) -> tuple[float, float | None]:
        """Return C and the kernel width of the i-th candidate."""
        return float(self.C[i]), None if self.gamma is None else float(self.gamma[i])


@dataclass(frozen=True, slots=True)
class Span:
    """A positive number that is searched on a log scale, or fixed where low = high."""

    low: float
    high: float
    start: float

    def __post_init__(self) -> None:
        if not 0 < self.low <= self.start <= self.high < np.inf:
            raise ValueError(
                "bounds must have 0 < low <= start <= high, got "
                f"{(self.low, self.start, self.high)}"
            )

    @classmethod
    def fixed(cls, value: float) -> Span:
        """Return a number that is not searched."""
        return cls(value, value, value)

    @property
    def is_searched(self) -> bool:
        """Tell whether the number takes a coordinate."""
        return self.low < self.high

    def values(self, columns: Iterator[FloatArray], n_points: int) -> FloatArray:
        """Return the number of every point: the next of the columns, or the fixed one."""
        if not self.is_searched:
            return np.full(n_points, self.start)
        return np.clip(np.exp(next(columns)), self.low, self.high)

    def evenly(self, size: int) -> FloatArray:
        """Return ``size`` values from low to high, evenly spread over the logarithm."""
        return np.geomspace(self.low, self.high, size) if self.is_searched else self.grid(1)

    def grid(self, size: int) -> FloatArray:
        """Return the start and ``size - 1`` values evenly spread over the logarithm."""
        if not self.is_searched or size <= 1:
            return np.array([self.start])
        inner = np.geomspace(self.low, self.high, size + 1)[1:-1]
        return np.append(self.start, inner)


@dataclass(frozen=True, slots=True)
class CostEncoding:
    """Points in a box that stand for costs, C and a kernel width.

    The first E coordinates are cost entries, as logarithms if ``log``; one more each
    follows for C and the width where they are searched. With ``masses``, the weighted
    sizes of the groups of rows, the costs of the rows are scaled to a mean of 1, because
    ``(s B, C)`` and ``(B, s C)`` are the same machine. If ``decides``, the matrix acts on
    decisions and every row costs 1.

    Examples
    --------
    >>> import numpy as np
    >>> from ecselm.costs.levels import ClassLevel
    >>> region = FeasibleRegion(np.full(2, 0.1), np.full(2, 10.0))
    >>> code = CostEncoding(ClassLevel(2), region, Span.fixed(32.0), masses=np.array([3.0, 1.0]))
    >>> point = code.encode(np.array([1.0, 5.0]))
    >>> code.decode(point[np.newaxis]).costs
    array([[0.5, 2.5]])
    """

    level: CostLevel
    region: FeasibleRegion
    C: Span
    gamma: Span | None = None
    masses: FloatArray | None = None  # (g,)
    log: bool = True
    decides: bool = False

    @property
    def box(self) -> Box:
        """Return the box to be searched."""
        low, high = self.region.low, self.region.high
        if self.log:
            low, high = np.log(low), np.log(high)
        extra = [np.log([span.low, span.high]) for span in self._searched]
        return Box(
            np.append(low, [pair[0] for pair in extra]),
            np.append(high, [pair[1] for pair in extra]),
        )

    @property
    def strengths(self) -> tuple[float, float]:
        """Return bounds on C times the size of a row's cost, for any candidate."""
        least, most = float(self.region.low.min()), float(self.region.high.max())
        if self.decides:
            least = most = 1.0
        elif self.masses is not None:
            rarest = self.masses[self.masses > 0].min()
            least, most = least / most, float(min(self.masses.sum() / rarest, most / least))
        elif least < 0:
            least, most = 0.0, max(-least, most)
        return self.C.low * least, self.C.high * most

    @property
    def _searched(self) -> list[Span]:
        return [span for span in (self.C, self.gamma) if span is not None and span.is_searched]

    def encode(
        self, entries: FloatArray, C: float | None = None, gamma: float | None = None
    ) -> FloatArray:
        """Return the point (D,) of cost entries (E,), with C and width as given or at start."""
        box = self.box
        point = [np.log(entries) if self.log else entries]
        for span, value in ((self.C, C), (self.gamma, gamma)):
            if span is not None and span.is_searched:
                point.append(np.log([span.start if value is None else value]))
        return np.clip(np.concatenate(point), box.low, box.high)

    def entries(self, points: FloatArray) -> FloatArray:
        """Return the cost entries (P, E) of points (P, D), such as nothing known contradicts."""
        coordinates = points[:, : self.level.n_entries]
        return self.region.repaired(np.exp(coordinates) if self.log else coordinates)

    def decode(self, points: FloatArray, *, scaled: bool = True) -> Candidates:
        """Return the candidates that the points (P, D) stand for.

        If not ``scaled``, C takes the factor that gives costs their mean: the machine is
        the same, and costs whose coordinates are equal stay equal.
        """
        entries = self.entries(points)
        costs = self.level.group_costs(entries)
        matrices = None
        if self.decides and isinstance(self.level, MatrixLevel):
            matrices, costs = self.level.matrices(entries), np.ones_like(costs)
        columns = iter(points[:, self.level.n_entries :].T)
        C = self.C.values(columns, len(points))
        if self.masses is not None and matrices is None:
            factors = self.masses.sum() / (costs @ self.masses)
            if scaled:
                costs = costs * factors[:, np.newaxis]
            else:
                C = C * factors
        gamma = None if self.gamma is None else self.gamma.values(columns, len(points))
        return Candidates(costs, C, gamma, matrices)
