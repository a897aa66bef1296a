"""Bounds and order of the costs of all confusions, as statements narrow them down."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np

from ecselm.costs import parse_cost
from ecselm.costs.levels import MatrixLevel
from ecselm.costs.region import CostRegion
from ecselm.study.mistakes import Mistake

OPTIONS = "--cost, --worse and --cost-between"


class StatedCosts:
    """What is known of costs so far; a statement that leaves no cost for a mistake is refused.

    Parameters
    ----------
    classes : list
        Sorted labels.

    Examples
    --------
    >>> stated = StatedCosts(["ill", "well"])
    >>> stated.narrow(Mistake(0, 1), 2.0, 20.0, "ill->well=2..20")
    >>> stated.parameters()
    {'cost_intervals': {'ill': (2.0, 20.0)}}
    """

    def __init__(self, classes: list[Any]) -> None:
        k = len(classes)
        self._classes, self._level = classes, MatrixLevel(k)
        self._low, self._high = np.zeros((k, k)), np.full((k, k), np.inf)
        self._order: list[tuple[Mistake, Mistake]] = []

    def narrow(self, mistake: Mistake, low: float, high: float, text: str) -> None:
        """Take note that a cost lies between two numbers."""
        for place in mistake.pairs(len(self._classes)):
            self._low[place] = max(self._low[place], low)
            self._high[place] = min(self._high[place], high)
            if self._low[place] > self._high[place]:
                truth, predicted = (self._classes[code] for code in place)
                raise ValueError(
                    f"{OPTIONS} must not contradict each other: {text!r} leaves no cost for "
                    f"{truth!r} taken for {predicted!r}"
                )

    def order(self, chain: list[Mistake], text: str) -> None:
        """Take note that each mistake costs more than the next."""
        k = len(self._classes)
        for dearer, cheaper in pairwise(chain):
            if set(dearer.pairs(k)) & set(cheaper.pairs(k)):
                raise ValueError(f"--worse must not put a cost above itself, got {text!r}")
            self._order.append((dearer, cheaper))

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that say this to a model, or refuse a contradiction."""
        self._check_order()
        low, high = self._level.entries(self._low), self._level.entries(self._high)
        if (low == high).all():
            matrix = np.where(np.eye(len(self._classes), dtype=bool), 0.0, self._low)
            return {"cost": parse_cost(matrix, self._classes).tolist()}
        if (high == 0).any():
            raise ValueError(
                "--cost must state costs > 0 unless it states those of all mistakes, got 0"
            )
        return self._by_class() if self._is_by_class() else self._by_confusion()

    def _check_order(self) -> None:
        k = len(self._classes)
        entries: list[tuple[int, int]] = []
        for dearer, cheaper in self._order:
            for above, below in product(dearer.pairs(k), cheaper.pairs(k)):
                if self._high[above] <= self._low[below]:  # which two costs of 0 are, too
                    raise ValueError(
                        f"{OPTIONS} must not contradict each other: {self._words(above)} costs at "
                        f"most {self._high[above]:g} and is to be worse than "
                        f"{self._words(below)}, which costs at least {self._low[below]:g}"
                    )
                entries += [(self._entry(above), self._entry(below))]
        low, high = self._level.entries(self._low), self._level.entries(self._high)
        try:
            CostRegion.from_knowledge(
                low, high, entries, self._level.names(np.array(self._classes))
            )
        except ValueError as error:
            reason = str(error).partition(": " if ": " in str(error) else ", got ")[2]
            raise ValueError(f"{OPTIONS} must not contradict each other: {reason}") from error

    def _entry(self, place: tuple[int, int]) -> int:
        return self._level.entries_of(*place)[0]

    def _words(self, place: tuple[int, int]) -> str:
        return f"{self._classes[place[0]]!r} taken for {self._classes[place[1]]!r}"

    def _is_by_class(self) -> bool:
        """Tell whether a cost per class says it all."""
        if len(self._classes) == 2:
            return True
        if any(one.predicted is not None for pair in self._order for one in pair):
            return False
        rows = [Mistake(code).pairs(len(self._classes)) for code in range(len(self._classes))]
        return all(
            len({(self._low[place], self._high[place]) for place in row}) == 1 for row in rows
        )

    def _by_class(self) -> dict[str, Any]:
        other = [0 if code else 1 for code in range(len(self._classes))]
        places = {label: (code, other[code]) for code, label in enumerate(self._classes)}
        order = [
            (self._classes[dearer.truth], self._classes[cheaper.truth])
            for dearer, cheaper in self._order
        ]
        return self._stated(places, order)

    def _by_confusion(self) -> dict[str, Any]:
        pairs = product(range(len(self._classes)), repeat=2)
        places = {(self._classes[i], self._classes[j]): (i, j) for i, j in pairs if i != j}
        order = [(self._key(dearer), self._key(cheaper)) for dearer, cheaper in self._order]
        return {**self._stated(places, order), "cost_level": "matrix"}

    def _key(self, mistake: Mistake) -> Any:
        truth = self._classes[mistake.truth]
        return truth if mistake.predicted is None else (truth, self._classes[mistake.predicted])

    def _stated(
        self, places: dict[Any, tuple[int, int]], order: list[tuple[Any, Any]]
    ) -> dict[str, Any]:
        bounds = {
            key: (float(self._low[place]), float(self._high[place]))
            for key, place in places.items()
        }
        fixed = {key: low for key, (low, high) in bounds.items() if low == high}
        intervals = {
            key: (low, high)
            for key, (low, high) in bounds.items()
            if low < high and (low > 0 or high < np.inf)
        }
        stated = {"fixed_costs": fixed, "cost_intervals": intervals, "cost_order": order}
        return {name: value for name, value in stated.items() if value}
