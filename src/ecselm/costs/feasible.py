"""Constraints on costs: fixed values, bounds and order, and the feasible region they define."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np

from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.costs.constraints import CostConstraints
from ecselm.costs.levels import ClassLevel, CostLevel, SampleLevel
from ecselm.costs.parse import numbers
from ecselm.costs.weights import label_codes

MARGIN = 1.01  # least ratio of two ordered costs
ROUNDING = 1e-12
SLACK = 4.0  # factor by which an unconstrained cost may lie outside all known ones


@dataclass(frozen=True, slots=True)
class Relations:
    """What half-known costs say of E costs beyond bounds: equal costs, ratios, half-spaces.

    Ratios are ``costs[greater] <= most * costs[lesser]``, with all that follow from them, so
    that one pass enforces them. Half-spaces are ``A costs <= b`` and hold at ``inside``.
    """

    same: IntArray  # (E,), the entry whose cost each entry has: itself, or an earlier one
    greater: IntArray  # (n,)
    lesser: IntArray  # (n,)
    most: FloatArray  # (n,)
    A: FloatArray  # (m, E)
    b: FloatArray  # (m,)
    inside: FloatArray  # (E,)

    def enforced(self, costs: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
        """Return costs (P, E) within the bounds, raised and then moved until all holds.

        The logarithms of ratios are closed under addition, so that what one pass raises is
        enough, and stays below upper bounds that are closed, too. A half-space is met on the
        straight line to ``inside``, along which bounds and ratios go on to hold.
        """
        raised = costs.copy()
        for greater, lesser, most in zip(self.greater, self.lesser, self.most, strict=True):
            raised[:, lesser] = np.maximum(raised[:, lesser], costs[:, greater] / most)
        raised = np.minimum(raised, high)[:, self.same]  # quotients are rounded
        if not len(self.b):
            return raised
        step = (raised - self.inside) @ self.A.T
        room = np.maximum(self.b - self.A @ self.inside, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(step > room, room / step, 1.0).min(axis=1, keepdims=True)
        moved = np.clip(self.inside + share * (raised - self.inside), low, high)
        return np.where(share < 1.0, moved, raised)

    def raised(self, logs: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
        """Return the least logarithms of costs (E,) above ``logs`` whose ratios are possible.

        ``low`` and ``high`` are logarithms of bounds, which ratios are possible within too.
        """
        most = np.full(len(logs), -np.inf)
        np.maximum.at(most, self.same, logs)
        found = np.maximum(most, low + (logs - high).max())
        np.maximum.at(found, self.lesser, most[self.greater] - np.log(self.most))
        return found[self.same]


@dataclass(frozen=True, slots=True)
class FeasibleRegion:
    """Bounds and order of E costs, or what is half known of them.

    ``order`` holds pairs (higher, lower) of entries, sorted so that one pass over them
    enforces the order.

    Examples
    --------
    >>> import numpy as np
    >>> region = FeasibleRegion.from_constraints(
    ...     np.array([1.0, 0.0]), np.array([1.0, np.inf]), [(1, 0)], ["alarm", "miss"]
    ... )
    >>> region.low
    array([1.  , 1.01])
    """

    low: FloatArray  # (E,)
    high: FloatArray  # (E,)
    order: tuple[tuple[int, int], ...] = ()
    relations: Relations | None = None

    @classmethod
    def from_constraints(
        cls,
        low: FloatArray,
        high: FloatArray,
        order: Sequence[tuple[int, int]],
        names: Sequence[str],
    ) -> FeasibleRegion:
        """Return the tightest bounds that follow, or raise ValueError for a contradiction.

        Unknown bounds are 0 and infinite. ``names`` are the entries, for error messages.
        """
        rank = _ranks(order, len(low), names)
        upwards = tuple(sorted(order, key=lambda pair: rank[pair[1]]))
        low, high = low.copy(), high.copy()
        for higher, lower in upwards:
            low[higher] = max(low[higher], MARGIN * low[lower])
        for i in np.flatnonzero(low > high * (1.0 + ROUNDING)).tolist():
            raise ValueError(
                "cost_bounds, fixed_costs, cost_intervals and cost_order must not contradict each "
                f"other: together they ask the cost of {names[i]} to be at least {low[i]:g} and at "
                f"most {high[i]:g}, where what is worse costs at least one per cent more"
            )
        low = np.minimum(low, high)
        for higher, lower in sorted(order, key=lambda pair: -rank[pair[0]]):
            high[lower] = max(low[lower], min(high[lower], high[higher] / MARGIN))
        return cls(low, high, upwards)

    @property
    def is_open(self) -> bool:
        """Return whether no bound is known, so that the unit of the costs is free."""
        return bool((self.low <= 0).all() and np.isinf(self.high).all())

    def within(self, low: float, high: float, names: Sequence[str]) -> FeasibleRegion:
        """Return the region intersected with common bounds of all costs."""
        if self.order and low < 0:  # times MARGIN, a negative cost decreases
            raise ValueError(f"cost_bounds must be >= 0 with cost_order, got {(low, high)}")
        return FeasibleRegion.from_constraints(
            np.where(self.low > 0, np.maximum(self.low, low), low),
            np.minimum(self.high, high),
            self.order,
            names,
        )

    def closed(self, guesses: FloatArray) -> FeasibleRegion:
        """Return the region with finite bounds, wide enough around ``guesses`` (n, E).

        If any constraint is given, unknown bounds are as wide as all costs together, so
        that they cannot contradict it.
        """
        if self.is_open and not self.order:
            low, high = guesses.min(axis=0) / SLACK, guesses.max(axis=0) * SLACK
            return FeasibleRegion(low, high)
        stated = np.concatenate([self.low, self.high, guesses.ravel()])
        stated = stated[np.isfinite(stated) & (stated > 0)]
        slack = SLACK * MARGIN ** len({lower for _, lower in self.order})
        low = np.where(self.low > 0, self.low, stated.min() / slack)
        high = np.where(np.isfinite(self.high), self.high, stated.max() * slack)
        return FeasibleRegion.from_constraints(low, high, self.order, [""] * len(low))

    def repaired(self, costs: FloatArray) -> FloatArray:
        """Return ``costs`` (P, E), clipped to the bounds and raised where the order requires it."""
        costs = np.clip(costs, self.low, self.high)
        for higher, lower in self.order:
            costs[:, higher] = np.maximum(costs[:, higher], MARGIN * costs[:, lower])
        if self.relations is not None:
            return self.relations.enforced(costs, self.low, self.high)
        # Multiplying by MARGIN may exceed the upper bound by a rounding error.
        return np.minimum(costs, self.high) if self.order else costs

    def scaled_into(self, costs: FloatArray) -> FloatArray | None:
        """Return a multiple of ``costs`` (E,) > 0 inside the region, or None if there is none."""
        least = float((self.low / costs).max())
        most = float((self.high / costs).min())
        if least > most * (1 + 1e-12):
            return None
        middle = np.sqrt(least * most) if least > 0 else most
        factor = 1.0 if least <= 1.0 <= most else middle
        inside = np.clip(costs * factor, self.low, self.high)
        obeys = all(inside[higher] >= inside[lower] * MARGIN for higher, lower in self.order)
        if self.relations is not None:
            enforced = self.relations.enforced(inside[np.newaxis], self.low, self.high)[0]
            obeys = np.allclose(enforced, inside, rtol=ROUNDING, atol=0.0)
        return inside if obeys else None

    def nearest(self, costs: FloatArray) -> FloatArray:
        """Return costs (E,) inside the region, where it is half known with ratios near to those.

        Without half-spaces, the greatest factor by which a cost differs from a multiple of
        ``costs`` > 0 is as small as it can be.
        """
        if self.relations is None:
            return self.repaired(costs[np.newaxis])[0]
        logs = np.log(costs)
        raised = self.relations.raised(logs, np.log(self.low), np.log(self.high))
        # Ratios do not change with the unit: half of the way up is gone down by all.
        ratios = np.exp(raised - (raised - logs).max() / 2.0)
        scaled = self.scaled_into(ratios)
        if scaled is None:  # rounding, or a half-space
            scaled = ratios * np.sqrt((self.low / ratios).max() * (self.high / ratios).min())
        return self.repaired(scaled[np.newaxis])[0]


def _ranks(order: Sequence[tuple[int, int]], n_costs: int, names: Sequence[str]) -> list[int]:
    """Return the position of every cost in a topological order, lowest first."""
    sorter: TopologicalSorter[int] = TopologicalSorter({i: set() for i in range(n_costs)})
    for higher, lower in order:
        sorter.add(higher, lower)
    try:
        places = {cost: place for place, cost in enumerate(sorter.static_order())}
    except CycleError as error:
        circle = " < ".join(names[i] for i in error.args[1])
        raise ValueError(f"cost_order must not run in a circle, got {circle}") from None
    return [places[i] for i in range(n_costs)]


def parse_constraints(
    fixed_costs: Mapping[Any, Any] | None,
    cost_intervals: Mapping[Any, Any] | None,
    cost_order: Sequence[Any] | None,
    level: CostLevel,
    classes: AnyArray,
) -> FeasibleRegion:
    """Return the feasible region of the constraints.

    Parameters
    ----------
    fixed_costs : dict or None
        ``{(true, predicted): cost}``, or ``{true: cost}`` for all mistakes on a class.
    cost_intervals : dict or None
        ``(low, high)`` by the same keys; 0 and ``inf`` are open ends.
    cost_order : list of pairs or None
        ``(more costly, less costly)``, each a class or a pair (true, predicted).
    level : CostLevel
    classes : array of shape (k,)

    Examples
    --------
    >>> import numpy as np
    >>> from ecselm.costs.levels import ClassLevel
    >>> parse_constraints({"well": 1}, {"ill": (2, 20)}, None, ClassLevel(2),
    ...                np.array(["ill", "well"])).high
    array([20.,  1.])
    """
    low, high = np.zeros(level.n_entries), np.full(level.n_entries, np.inf)
    known: dict[int, Any] = {}
    for name, stated in (("fixed_costs", fixed_costs), ("cost_intervals", cost_intervals)):
        for key, value in _items(stated, name):
            bounds = _bounds(value, name, key)
            for entry in _entries(key, level, classes, name):
                if entry in known:
                    raise ValueError(
                        f"{name} must state each cost once, got {key!r} after {known[entry]!r}"
                    )
                low[entry], high[entry] = bounds
                known[entry] = key
    order = _order(cost_order, level, classes)
    return FeasibleRegion.from_constraints(low, high, order, level.names(classes))


def has_cost_per_class(constraints: CostConstraints) -> bool:
    """Tell whether half-known costs are the same for all mistakes on a class.

    Examples
    --------
    >>> has_cost_per_class(CostConstraints(["a", "b", "c"], intervals={"a": (2, 20)}))
    True
    >>> has_cost_per_class(CostConstraints(["a", "b", "c"], intervals={("a", "b"): (2, 20)}))
    False
    """
    k = len(constraints.classes)
    others = ~np.eye(k, dtype=bool)
    region = constraints.region
    return all(
        bool((rows == rows[:, :1]).all())
        for rows in (
            region.base[others].reshape(k, k - 1),
            _parameter_of(constraints)[others].reshape(k, k - 1),
        )
    )


def half_known_region(constraints: CostConstraints, level: CostLevel) -> FeasibleRegion:
    """Return the feasible region of half-known costs.

    Parameters
    ----------
    constraints : CostConstraints
    level : CostLevel
        By class or by confusion; by class only if :func:`has_cost_per_class`.

    Examples
    --------
    >>> import numpy as np
    >>> known = CostConstraints.from_sentences(["ill->well = 2..20", "well->ill <= 9",
    ...                                         "ill->well >= 4 * well->ill"])
    >>> half_known_region(known, ClassLevel(2)).repaired(np.array([[2.0, 3.0]]))
    array([[12.,  3.]])
    """
    by_row, by_class = isinstance(level, SampleLevel), isinstance(level, ClassLevel)
    if by_row:
        raise ValueError(
            "cost_level must not be 'sample' where cost is known in part and bounds the costs "
            "that are learned, because rows have no stated cost of their own, got 'sample'"
        )
    if by_class and not has_cost_per_class(constraints):
        raise ValueError(
            "cost_level must be 'decision' or 'matrix' where cost is known in part, for single "
            f"confusions of {len(constraints.classes)} classes, got 'class'"
        )
    # Entries are places of the matrix, of which those of one parameter are equal.
    region, k = constraints.region, len(constraints.classes)
    places: tuple[IntArray, ...] = np.nonzero(~np.eye(k, dtype=bool))
    if by_class:
        places = (np.arange(k), (np.arange(k) + 1) % k)
    low, high = (ends[places] for ends in region.bounds())
    if (low <= 0).any():
        i, j = (int(place[low.argmin()]) for place in places)
        labels = constraints.classes.tolist()
        raise ValueError(
            "cost must state costs > 0 where it bounds the costs that are learned, got "
            f"{low.min():g} for {labels[i]!r} taken for {labels[j]!r}"
        )
    parameter = _parameter_of(constraints)[places]
    found, firsts = np.unique(parameter, return_index=True)
    first: IntArray = np.zeros(region.n_parameters, dtype=np.intp)
    first[found[found >= 0]] = firsts[found >= 0]
    same: IntArray = np.arange(len(low))
    same[parameter >= 0] = first[parameter[parameter >= 0]]
    # Ratios are closed, unless there are answers: these are half-spaces, like ratios beside them.
    coupled = [one for one in region.components if len(one.parameters) > 1]
    ratios: list[tuple[int, int, float]] = []
    A, b = np.zeros((0, len(low))), np.zeros(0)
    for one in coupled:
        mine = first[one.parameters]
        if one.closed:
            ratios += [
                (mine[row.argmax()], mine[row.argmin()], -row.min() / row.max()) for row in one.A
            ]
            continue
        rows = np.zeros((len(one.b), len(low)))
        rows[:, mine] = one.A
        A, b = np.vstack([A, rows]), np.append(b, one.b)
    greater, lesser, most = np.array(ratios).reshape(-1, 3).T
    inside = np.clip(constraints.mean()[places], low, high)[same] if len(b) else low
    relations = Relations(same, greater.astype(np.intp), lesser.astype(np.intp), most, A, b, inside)
    return FeasibleRegion(low, high, relations=relations)


def _parameter_of(constraints: CostConstraints) -> IntArray:
    """Return the parameter (k, k) of every cost, -1 where it is known."""
    patterns = constraints.region.patterns
    k = len(constraints.classes)
    parameter: IntArray = np.full((k, k), -1, dtype=np.intp)
    for g, pattern in enumerate(patterns):
        parameter[pattern > 0] = g
    return parameter


def _items(stated: Any, name: str) -> list[tuple[Any, Any]]:
    if stated is None:
        return []
    if not isinstance(stated, Mapping):
        raise TypeError(f"{name} must be a dict by class or by (true, predicted), got {stated!r}")
    return list(stated.items())


def _bounds(value: Any, name: str, key: Any) -> tuple[float, float]:
    if name == "fixed_costs":
        values = numbers(value, f"{name}[{key!r}]")
        if values.shape or values <= 0:
            raise ValueError(f"{name}[{key!r}] must be one cost > 0, got {value!r}")
        return float(values), float(values)
    try:
        low, high = (float(bound) for bound in value)
    except (TypeError, ValueError):
        low, high = np.nan, np.nan
    if not (0 <= low <= high and low < np.inf and high > 0):
        raise ValueError(
            f"{name}[{key!r}] must be a pair (low, high) with 0 <= low <= high, of which high may "
            f"be infinite, got {value!r}"
        )
    return low, high


def _entries(key: Any, level: CostLevel, classes: AnyArray, name: str) -> list[int]:
    pair = isinstance(key, tuple | list) and len(key) == 2
    codes = label_codes(list(key) if pair else [key], classes, name).tolist()
    if not pair:
        return level.entries_of(codes[0], None)
    if codes[0] == codes[1]:
        raise ValueError(f"{name} must name mistakes, got {key!r}, which is right")
    if isinstance(level, SampleLevel) and len(classes) > 2:
        raise ValueError(f"{name} must be by class with cost_level='sample', got {key!r}")
    return level.entries_of(codes[0], codes[1])


def _order(stated: Any, level: CostLevel, classes: AnyArray) -> list[tuple[int, int]]:
    if stated is None:
        return []
    if isinstance(level, SampleLevel) and len(stated):
        raise ValueError(
            "cost_order must be left out with cost_level='sample', where classes have no cost "
            f"of their own, got {stated!r}"
        )
    pairs: list[tuple[int, int]] = []
    for relation in stated.tolist() if isinstance(stated, np.ndarray) else stated:
        if not isinstance(relation, tuple | list) or len(relation) != 2:
            raise ValueError(
                f"cost_order must hold pairs (more costly, less costly), got {relation!r}"
            )
        higher, lower = (_entries(key, level, classes, "cost_order") for key in relation)
        if set(higher) & set(lower):
            raise ValueError(f"cost_order must not put a cost above itself, got {relation!r}")
        pairs += [(d, c) for d in higher for c in lower]
    return pairs
