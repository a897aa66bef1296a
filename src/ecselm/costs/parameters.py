"""Which entries of a cost matrix are one parameter, and the region that statements leave them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ecselm._typing import AnyArray, FloatArray
from ecselm.costs.region import Bounds, ContradictionError, CostRegion
from ecselm.costs.sentences import Mistake, Statement

Key = tuple[int, int | None]


class CostParameters:
    """Which entries of the matrix are one parameter, and which of them are not known."""

    def __init__(self, statements: Sequence[Statement], n_classes: int) -> None:
        k = self.n_classes = n_classes
        named = [one for s in statements for one in (s.left, s.right) if one is not None]
        single = {(one.truth, one.predicted) for one in named if one.predicted is not None}
        classes = {one.truth for one in named if one.predicted is None}
        self.keys: dict[tuple[int, int], Key | None] = {}
        for i in range(k):
            for j in range(k):
                if i == j:
                    continue
                alone = (i, j) in single or (k == 2 and i in classes)
                key: Key | None = (i, j) if alone else (i, None)
                self.keys[i, j] = key if alone or i in classes else None
        subjects = {key for s in statements for key in self.of(s.left)}
        self.free = {
            key: g for g, key in enumerate(sorted(subjects, key=lambda one: (one[0], one[1] or 0)))
        }

    def of(self, mistake: Mistake) -> list[Key]:
        """Return the parameters of a mistake."""
        keys = [self.keys[pair] for pair in mistake.pairs(self.n_classes)]
        return list(dict.fromkeys(key for key in keys if key is not None))

    @property
    def has_unit(self) -> bool:
        """Return whether some mistake costs 1 because no statement is about it."""
        return any(key not in self.free for key in self.keys.values())

    def unit_of(self, statements: Sequence[Statement]) -> bool:
        """Return whether statements compare with such a mistake."""
        return any(
            key not in self.free
            for s in statements
            if s.right is not None
            for key in self.of(s.right)
        )

    def region(
        self, statements: Sequence[Statement], answers: Sequence[FloatArray], span: float
    ) -> CostRegion:
        """Return the region, or raise ContradictionError with positions of the statements."""
        k = self.n_classes
        free: dict[Key, int] = {}
        nothing = {  # parameters that cost nothing, and the statements that say so
            key: place
            for place, s in enumerate(statements)
            if s.right is None and s.high == 0
            for key in self.of(s.left)
        }
        for key in self.free:
            if key not in nothing:
                free[key] = len(free)
        base, patterns = np.zeros((k, k)), np.zeros((len(free), k, k))
        for pair, mine in self.keys.items():
            if mine is not None and mine in free:
                patterns[free[mine]][pair] = 1.0
            else:
                base[pair] = 0.0 if mine in nothing else 1.0
        bounds = []
        for place, s in enumerate(statements):
            for left in self.of(s.left):
                for right in [None] if s.right is None else self.of(s.right):
                    one = _bound(s, place, left, right, free, nothing)
                    if one is not None:
                        bounds.append(one)
        try:
            return CostRegion.from_bounds(base, patterns, bounds, answers, span)
        except ContradictionError as error:
            n = len(bounds)
            raise ContradictionError(
                [bounds[i].source if i < n else len(statements) + i - n for i in error.sources]
            ) from None

    def open_above(
        self, statements: Sequence[Statement], region: CostRegion, classes: AnyArray
    ) -> list[tuple[str, float]]:
        """Return mistakes without a stated upper end, in words, and the end that is taken."""
        labels, found = classes.tolist(), []
        high = region.bounds()[1]
        closed = {
            key
            for s in statements
            if s.high < np.inf and (s.right is None or not set(self.of(s.right)) & set(self.free))
            for key in self.of(s.left)
        }
        for key in self.free:
            if key in closed:
                continue
            pair = next(pair for pair, one in self.keys.items() if one == key)
            mistake = Mistake(key[0], key[1] if self.n_classes > 2 else pair[1])
            words = Statement(mistake, 0.0, np.inf).words(labels)
            name = words.removeprefix("what ").removesuffix(" costs is not known")
            found.append((name, float(high[pair])))
        return found


def _bound(
    statement: Statement,
    place: int,
    left: Key,
    right: Key | None,
    free: Mapping[Key, int],
    nothing: Mapping[Key, int],
) -> Bounds | None:
    """Return a statement about two parameters, None where it says nothing new."""
    low, high = statement.low, statement.high
    other = -1
    if right is not None:
        if right in free:
            other = free[right]
        elif right in nothing:  # at most so many times nothing is nothing
            if high < np.inf and left not in nothing:
                raise ContradictionError([place, nothing[right]])
            low = 0.0
    if left in nothing:
        if low > 0:
            raise ContradictionError([nothing[left], place])
        return None
    strict = right is not None and (low, high) == (1.0, np.inf)
    return Bounds(free[left], low, high, other, place, strict)
