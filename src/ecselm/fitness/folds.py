"""Folds: which rows train a candidate and which validate it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from ecselm._typing import AnyArray, BoolArray, IntArray, Matrix
from ecselm.fitness.hashing import N_LISTED, drawn_salt, key_numbers, mixed, row_keys

MOST_SPLITS = 62  # so that a row's splits fit into one integer
WITHIN = ("loo", "train")  # what judges rows by others of their group, or by themselves
N_FOLDS = 5


@dataclass(frozen=True, slots=True)
class Split:
    """Positions of the rows to train on and of the rows to judge by."""

    train: IntArray
    test: IntArray


def is_every_row(positions: IntArray, n_rows: int) -> bool:
    """Tell whether positions are all of ``n_rows`` rows in their order: nothing need be taken.

    Examples
    --------
    >>> is_every_row(np.array([0, 1, 2]), 3), is_every_row(np.array([0, 1, 1]), 3)
    (True, False)
    """
    return len(positions) == n_rows and bool((np.diff(positions) == 1).all())


def every_row(n_rows: int) -> list[Split]:
    """Judge by the training rows themselves, as (21) is printed."""
    rows = np.arange(n_rows)
    return [Split(rows, rows)]


def folds(
    X: Matrix,
    y: IntArray,
    n_folds: int,
    rng: np.random.Generator,
    groups: IntArray | None = None,
) -> list[Split]:
    """Judge every row by a machine trained without its fold, and so without its group."""
    parts = deal(X, y, n_folds, rng, groups)
    return _splits([parts == part for part in range(n_folds)])


def holdout(
    X: Matrix,
    y: IntArray,
    fraction: float,
    rng: np.random.Generator,
    groups: IntArray | None = None,
) -> list[Split]:
    """Judge by a share of the distinct rows or groups of each class, which nobody trains on.

    A class with two of them or more gives at least one, and keeps at least one.
    """
    keys, homes, dealing = draw_dealing(X, y, rng, groups)
    return _splits([dealing.set_aside(keys, homes, fraction)])


def _splits(tests: list[np.ndarray]) -> list[Split]:
    """Return splits by masks, without those that leave nothing to train on or to judge by."""
    splits = [Split(np.flatnonzero(~test), np.flatnonzero(test)) for test in tests]
    usable = [split for split in splits if len(split.train) and len(split.test)]
    if not usable:
        raise ValueError(
            "some rows must be left to train on and others to judge by, got too few distinct rows "
            f"or groups of a class for that: n_samples={len(tests[0])}"
        )
    return usable


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


@dataclass(frozen=True, slots=True)
class Cells:
    """Sets of rows, and of which of them the training rows of every split are made."""

    rows: list[IntArray]
    members: AnyArray  # (n_splits, n_cells), bool

    @classmethod
    def of_splits(cls, splits: list[Split], n_rows: int) -> Cells:
        """Cut the rows so that every split trains on whole cells.

        Examples
        --------
        >>> import numpy as np
        >>> splits = [Split(np.array([2, 3]), np.array([0, 1])),
        ...           Split(np.array([0, 1]), np.array([2, 3]))]
        >>> cells = Cells.of_splits(splits, 4)
        >>> cells.rows, cells.members.tolist()
        ([array([2, 3]), array([0, 1])], [[True, False], [False, True]])
        """
        trained = [split.train for split in splits]
        apart = cls(trained, np.eye(len(splits), dtype=bool))
        once = all(len(np.unique(rows)) == len(rows) for rows in trained)
        if len(splits) > MOST_SPLITS or not once:
            return apart
        keys = np.zeros(n_rows, dtype=np.int64)
        for s, rows in enumerate(trained):
            keys[rows] |= 1 << s
        patterns = [int(key) for key in np.unique(keys) if key]
        if len(patterns) > len(splits):  # splits that have little in common
            return apart
        members = [[bool(key >> s & 1) for key in patterns] for s in range(len(splits))]
        return cls([np.flatnonzero(keys == key) for key in patterns], np.array(members))


@dataclass(frozen=True, slots=True)
class Groups:
    """The group of every row: its label, and its number among all labels.

    Examples
    --------
    >>> groups = Groups.of_labels(["ann", "bob", "ann", "cid"])
    >>> groups.codes.tolist(), groups.taken(np.array([1, 3])).codes.tolist()
    ([0, 1, 0, 2], [0, 1])
    """

    labels: AnyArray  # (N,) as the person gave them
    codes: IntArray  # (N,)

    @classmethod
    def of_labels(cls, given: Any) -> Groups:
        """Return the groups by labels (N,), any that can be hashed and are equal to themselves."""
        known = hasattr(given, "__array__")
        # NumPy would make one kind of a list of numbers and words, and a matrix of pairs.
        labels = np.asarray(given) if known else np.fromiter(given, dtype=object)
        if labels.ndim != 1:
            raise ValueError(
                f"groups must have the shape (N,), one label per row, got {labels.shape}"
            )
        values = labels.tolist()
        places = {label: place for place, label in enumerate(_in_order(values))}
        return cls(labels, np.array([places[label] for label in values], dtype=np.intp))

    def taken(self, positions: IntArray) -> Groups:
        """Return the groups of some of the rows, as if there were no others."""
        codes = np.unique(self.codes[positions], return_inverse=True)[1]
        return Groups(self.labels[positions], codes)


def read_groups(given: Any, n_rows: int, fitness: Any) -> Groups | None:
    """Return the groups of the rows, None if there are none, or refuse what contradicts them."""
    if given is None:
        return None
    if not np.iterable(given) or isinstance(given, str | bytes):
        raise ValueError(f"groups must be an array of labels, one per row, got {given!r}")
    groups = Groups.of_labels(given)
    if len(groups.codes) != n_rows:
        raise ValueError(
            f"groups must have the shape ({n_rows},), one label per row, got ({len(groups.codes)},)"
        )
    if isinstance(fitness, str) and fitness in WITHIN:
        raise ValueError(
            "fitness must keep rows of one group together where groups are given: 'cv', "
            f"'holdout', an int or a splitter, got {fitness!r}"
        )
    return groups


def _in_order(labels: list[Any]) -> list[Any]:
    """Return the distinct labels, sorted; those that cannot be compared as they come."""
    try:
        distinct = list(dict.fromkeys(labels))
    except TypeError as error:
        raise ValueError(f"groups must have labels that can be hashed, got: {error}") from error
    for label in distinct:
        if label is None or not _equals_itself(label):
            raise ValueError(f"groups must have a label for every row, got {label!r}")
    try:
        return sorted(distinct)
    except TypeError:
        return distinct


def _equals_itself(label: Any) -> bool:
    same = label == label  # noqa: PLR0124  what is missing is not, or cannot say
    return isinstance(same, bool | np.bool_) and bool(same)


def fitness_splits(
    fitness: Any,
    X: Matrix,
    codes: IntArray,
    y: AnyArray,
    fraction: float,
    rng: np.random.Generator,
    groups: Groups | None = None,
) -> list[Split] | None:
    """Return the splits, None for leave-one-out.

    ``codes`` are the classes that folds are dealt by, ``y`` what a splitter is shown. Rows
    of one group are on one side of every split.
    """
    together = None if groups is None else groups.codes
    if isinstance(fitness, str):
        if fitness == "loo":
            return None
        if fitness == "train":
            return every_row(len(codes))
        if fitness == "holdout":
            return holdout(X, codes, fraction, rng, together)
        return folds(X, codes, N_FOLDS, rng, together)
    if isinstance(fitness, Integral):
        return folds(X, codes, int(fitness), rng, together)
    pairs = fitness.split(X, y) if groups is None else _split_by_groups(fitness, X, y, groups)
    splits = [Split(np.asarray(train), np.asarray(test)) for train, test in pairs]
    if not splits or not all(len(split.train) and len(split.test) for split in splits):
        raise ValueError(f"fitness must make splits with rows on both sides, got {fitness!r}")
    return splits


def _split_by_groups(fitness: Any, X: Matrix, y: AnyArray, groups: Groups) -> list[Any]:
    """Return what a splitter makes of the groups, unless it parts one."""
    with warnings.catch_warnings():  # one that minds no groups may keep them together all the same
        warnings.filterwarnings("ignore", message="The groups parameter is ignored")
        pairs = list(fitness.split(X, y, groups.labels))
    for train, test in pairs:
        parted = np.isin(groups.codes[test], groups.codes[train])
        if parted.any():
            label = groups.labels[test][parted].tolist()[0]
            raise ValueError(
                "fitness must keep rows of one group on one side of every split, got "
                f"{fitness!r}, which parts the group {label!r}"
            )
    return pairs


def judged_rows(splits: list[Split] | None, n_rows: int) -> IntArray:
    """Return the positions of the judged rows, split after split."""
    if splits is None:
        return np.arange(n_rows)
    return np.concatenate([split.test for split in splits])


def trained_rows(splits: list[Split] | None, n_rows: int) -> IntArray:
    """Return the positions of rows that some candidate was trained on."""
    if splits is None:
        return np.arange(n_rows)
    return np.unique(np.concatenate([split.train for split in splits]))
