"""Rows dealt out into parts by their keys: by what they are, never by where they stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ecselm._typing import AnyArray, BoolArray, IntArray, Matrix
from ecselm.objectives.keys import N_LISTED, drawn_salt, key_numbers, mixed, row_keys


@dataclass(frozen=True, slots=True)
class ListedRows:
    """Distinct rows of one class in an order that was drawn."""

    keys: AnyArray  # (d,) ascending
    order: IntArray  # (d,)
    start: int  # how many were dealt out before: the parts get equal sizes

    def parts(self, keys: AnyArray, n_parts: int) -> IntArray:
        """Return the part of every row."""
        return (self.start + self._order_of(keys)) % n_parts

    def set_aside(self, keys: AnyArray, fraction: float) -> BoolArray:
        """Return which rows are judged by, of two distinct ones at least one, but never all."""
        return self._order_of(keys) < self.n_aside(fraction)

    def n_aside(self, fraction: float) -> int:
        """Return how many distinct rows are judged by."""
        return min(max(1, round(fraction * len(self.keys))), len(self.keys) - 1)

    def _order_of(self, keys: AnyArray) -> IntArray:
        """Return the places of rows in the order, which may have changed since they were listed."""
        places = np.searchsorted(self.keys, keys)
        known = places < len(self.keys)
        known[known] = self.keys[places[known]] == keys[known]
        if not known.all():
            raise ValueError(
                "the rows must be the same every time they are read, got "
                f"{np.count_nonzero(~known)} that were not there before"
            )
        return self.order[places]


@dataclass(frozen=True, slots=True)
class ManyRows:
    """More rows of one class than anybody lists: each goes where its own key says.

    Nobody has to know all of them for that. Parts are equal up to chance.
    """

    salt: int

    def parts(self, keys: AnyArray, n_parts: int) -> IntArray:
        """Return the part of every row."""
        return (mixed(key_numbers(keys), self.salt) % np.uint64(n_parts)).astype(np.intp)

    def set_aside(self, keys: AnyArray, fraction: float) -> BoolArray:
        """Return which rows are judged by."""
        return mixed(key_numbers(keys), self.salt) < np.uint64(int(fraction * 2.0**64))


@dataclass(frozen=True, slots=True)
class Dealing:
    """How the rows of every class are dealt out."""

    classes: dict[int, ListedRows | ManyRows]

    @classmethod
    def drawn(
        cls, listed: Mapping[int, AnyArray], rng: np.random.Generator, n_listed: int
    ) -> Dealing:
        """Draw how to deal out classes of distinct keys, given in ascending order.

        Of a class that has more than ``n_listed`` keys, so many and one are enough.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> dealing = Dealing.drawn({0: np.array([3, 5]), 2: np.array([4])}, rng, 2)
        >>> sorted(dealing.parts(np.array([3, 5, 4]), np.array([0, 0, 2]), 3).tolist())
        [0, 1, 2]
        """
        classes: dict[int, ListedRows | ManyRows] = {}
        start = 0
        for code, keys in listed.items():
            if len(keys) > n_listed:
                classes[code] = ManyRows(drawn_salt(rng))
            else:
                classes[code] = ListedRows(keys, rng.permutation(len(keys)), start)
                start += len(keys)
        return cls(classes)

    def n_parts(self, most: int) -> int:
        """Return how many of so many parts get rows; they are the first."""
        listed = [len(rows.keys) for rows in self.classes.values() if isinstance(rows, ListedRows)]
        return min(most, sum(listed)) if len(listed) == len(self.classes) else most

    def sets_aside(self, fraction: float) -> bool:
        """Tell whether a class has rows to give."""
        return any(
            isinstance(rows, ManyRows) or rows.n_aside(fraction) > 0
            for rows in self.classes.values()
        )

    def parts(self, keys: AnyArray, y: IntArray, n_parts: int) -> IntArray:
        """Return the part (N,) of every row, by key and class (N,)."""
        parts = np.empty(len(y), dtype=np.intp)
        for code, rows in self.classes.items():
            mine = np.flatnonzero(y == code)
            parts[mine] = rows.parts(keys[mine], n_parts)
        return parts

    def set_aside(self, keys: AnyArray, y: IntArray, fraction: float) -> BoolArray:
        """Return which rows (N,) are judged by, a share of the distinct ones of each class."""
        aside = np.zeros(len(y), dtype=bool)
        for code, rows in self.classes.items():
            mine = np.flatnonzero(y == code)
            aside[mine] = rows.set_aside(keys[mine], fraction)
        return aside


def deal(
    X: Matrix,
    y: IntArray,
    n_parts: int,
    rng: np.random.Generator,
    groups: IntArray | None = None,
) -> IntArray:
    """Deal the rows out into parts, class by class, and return the part of every row.

    Rows that are equal and of one class share a part, so that no row is judged by its
    own copy. The parts depend on the set of distinct rows alone, neither on their order
    nor on how often they occur: a row of weight 2 and the same row twice are one thing.
    Where rows belong to ``groups`` (N,), these are dealt out instead, each as a whole.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0], [2.0], [3.0], [1.0]])
    >>> parts = deal(X, np.zeros(4, dtype=int), 3, np.random.default_rng(0))
    >>> bool(parts[0] == parts[3]), sorted(parts[:3].tolist())
    (True, [0, 1, 2])
    """
    keys, homes, dealing = draw_dealing(X, y, rng, groups)
    return dealing.parts(keys, homes, n_parts)


def draw_dealing(
    X: Matrix, y: IntArray, rng: np.random.Generator, groups: IntArray | None
) -> tuple[AnyArray, IntArray, Dealing]:
    """Return keys and classes (N,) that rows are dealt out by, and how they are to be."""
    keys, homes = (row_keys(X), y) if groups is None else (groups, _homes(y, groups))
    listed = {int(code): np.unique(keys[homes == code]) for code in np.unique(homes)}
    return keys, homes, Dealing.drawn(listed, rng, N_LISTED if groups is None else len(keys))


def _homes(y: IntArray, groups: IntArray | None) -> IntArray:
    """Return the class (N,) that every row is dealt out with.

    That of a group is the one among its own which the fewest groups have: rare classes are
    spread over the parts first. It does not matter how many rows a group has of it.
    """
    if groups is None:
        return y
    codes, places = np.unique(groups, return_inverse=True)
    has = np.zeros((len(codes), int(y.max()) + 1), dtype=bool)
    has[places, y] = True
    rarity = np.where(has, has.sum(axis=0), len(codes) + 1)
    return rarity.argmin(axis=1)[places]
