"""What a person half knows about costs: some fixed, some between bounds, some in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ecselm._typing import AnyArray
from ecselm.costs.labels import label_codes
from ecselm.costs.levels import CostLevel, SampleLevel
from ecselm.costs.parse import numbers
from ecselm.costs.region import CostRegion


def read_knowledge(
    fixed_costs: Mapping[Any, Any] | None,
    cost_intervals: Mapping[Any, Any] | None,
    cost_order: Sequence[Any] | None,
    level: CostLevel,
    classes: AnyArray,
) -> CostRegion:
    """Return the region of costs that contradict nothing of this.

    Parameters
    ----------
    fixed_costs : dict or None
        ``{(true, predicted): cost}``, or ``{true: cost}`` for all mistakes on a class.
    cost_intervals : dict or None
        The same with ``(low, high)`` in the place of a cost; 0 and ``inf`` are open ends.
    cost_order : list of pairs or None
        ``(dearer, cheaper)``, where each is a class or a pair (true, predicted).
    level : CostLevel
    classes : array of shape (k,)

    Examples
    --------
    >>> import numpy as np
    >>> from ecselm.costs.levels import ClassLevel
    >>> read_knowledge({"well": 1}, {"ill": (2, 20)}, None, ClassLevel(2),
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
    return CostRegion.from_knowledge(low, high, order, level.names(classes))


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
            raise ValueError(f"cost_order must hold pairs (dearer, cheaper), got {relation!r}")
        dearer, cheaper = (_entries(key, level, classes, "cost_order") for key in relation)
        if set(dearer) & set(cheaper):
            raise ValueError(f"cost_order must not put a cost above itself, got {relation!r}")
        pairs += [(d, c) for d in dearer for c in cheaper]
    return pairs
