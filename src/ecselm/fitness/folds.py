"""Folds: which rows train a candidate and which validate it."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse

from ecselm._threads import row_blocks
from ecselm._typing import AnyArray, BoolArray, IntArray, Matrix

HASH = np.dtype("S16")
ENTRY = np.dtype([("column", "i8"), ("value", "f4")])
N_LISTED = 1 << 14  # distinct rows of a class up to which folds are drawn from a list of them
MOST_SPLITS = 62  # so that a row's splits fit into one integer
WITHIN = ("loo", "train")  # validate rows by others of their group, or by themselves
N_FOLDS = 5


@dataclass(frozen=True, slots=True)
class Split:
    """Positions of the training rows and of the validation rows."""

    train: IntArray
    test: IntArray


def row_hashes(X: Matrix) -> AnyArray:
    """Return a content hash of 16 bytes for every row; equal rows have equal hashes.

    Dense and sparse rows, and rows in float32 and float64, have the same hash: rows that
    differ by less than the resolution of float32 count as equal. Hashes are as good as
    random, so the rows of the smallest hashes are a random sample of the distinct rows.
    """
    if not sparse.issparse(X) and np.asarray(X).dtype.kind not in "biuf":  # words, dates
        return _digests(_in_words(row).encode() for row in np.asarray(X))
    hashes = [_numeric_hashes(X[rows]) for rows in row_blocks(X.shape[0], X.shape[1])]
    return np.concatenate([np.empty(0, HASH), *hashes])


def _in_words(row: AnyArray) -> str:
    return repr([float(v) if isinstance(v, Real) else v for v in row.tolist()])


def _numeric_hashes(X: Matrix) -> AnyArray:
    """Hash the columns and values of the entries that are not 0 in float32."""
    if sparse.issparse(X):
        X = sparse.csr_array(X, copy=True)
        X.sum_duplicates()
    with np.errstate(over="ignore"):  # only equality matters
        X = X.astype(np.float32)
    if not sparse.issparse(X) and X.all():
        entries = np.empty(X.shape, dtype=ENTRY)
        entries["column"], entries["value"] = np.arange(X.shape[1]), X
        ends = np.arange(X.shape[0] + 1) * X.shape[1]
    else:
        rows = sparse.csr_array(X)
        rows.eliminate_zeros()
        entries = np.empty(rows.nnz, dtype=ENTRY)
        entries["column"], entries["value"] = rows.indices, rows.data
        ends = rows.indptr.astype(np.int64)
    content = entries.reshape(-1).view(np.uint8).data
    ranges = pairwise((ends * ENTRY.itemsize).tolist())
    return _digests(content[start:end] for start, end in ranges)


def _digests(contents: Iterable[bytes | memoryview]) -> AnyArray:
    size = HASH.itemsize
    return np.frombuffer(
        b"".join([blake2b(content, digest_size=size).digest() for content in contents]), HASH
    )


def hash_numbers(hashes: AnyArray) -> AnyArray:
    """Return 64 bits (N,) of every row hash, as an unsigned integer.

    Examples
    --------
    >>> hash_numbers(np.array([bytes(range(16))])).tolist() == [0x08090A0B0C0D0E0F]
    True
    """
    return hashes.astype(HASH).view(">u8")[1::2].astype(np.uint64)


def mixed(numbers: AnyArray, salt: int) -> AnyArray:
    """Return pseudo-random unsigned numbers (N,), equal for equal inputs.

    They are the outputs of SplitMix64 (Steele, Lea & Flood, 2014) at these positions.

    Examples
    --------
    >>> bool(np.diff(np.sort(mixed(np.arange(1000), 1))).min() > 0)
    True
    """
    x = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(salt)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def drawn_salt(rng: np.random.Generator) -> int:
    """Draw a salt for :func:`mixed`."""
    return int(rng.integers(1 << 63))


def first_places(hashes: AnyArray) -> IntArray:
    """Return the position of the first row of every distinct hash, in the order of the hashes."""
    return np.unique(hashes, return_index=True)[1]


def is_every_row(positions: IntArray, n_rows: int) -> bool:
    """Tell whether positions are those of all ``n_rows`` rows in order: no copy is needed.

    Examples
    --------
    >>> is_every_row(np.array([0, 1, 2]), 3), is_every_row(np.array([0, 1, 1]), 3)
    (True, False)
    """
    return len(positions) == n_rows and bool((np.diff(positions) == 1).all())


def every_row(n_rows: int) -> list[Split]:
    """Validate on the training rows themselves, as (21) is printed."""
    rows = np.arange(n_rows)
    return [Split(rows, rows)]


def fold_splits(
    X: Matrix,
    y: IntArray,
    n_folds: int,
    rng: np.random.Generator,
    groups: IntArray | None = None,
) -> list[Split]:
    """Validate every fold, and with it whole groups, by a model trained on the other folds."""
    fold = assign_folds(X, y, n_folds, rng, groups)
    return _splits([fold == number for number in range(n_folds)])


def holdout(
    X: Matrix,
    y: IntArray,
    fraction: float,
    rng: np.random.Generator,
    groups: IntArray | None = None,
) -> list[Split]:
    """Validate on a share of the distinct rows or groups of each class.

    A class with two of them or more gives at least one, and keeps at least one.
    """
    hashes, strata, assignment = draw_folds(X, y, rng, groups)
    return _splits([assignment.holdout(hashes, strata, fraction)])


def _splits(tests: list[np.ndarray]) -> list[Split]:
    """Return the splits of masks, without those that have no training or validation rows."""
    splits = [Split(np.flatnonzero(~test), np.flatnonzero(test)) for test in tests]
    usable = [split for split in splits if len(split.train) and len(split.test)]
    if not usable:
        raise ValueError(
            "some rows must be left to train on and others to validate by, got too few distinct "
            f"rows or groups of a class for that: n_samples={len(tests[0])}"
        )
    return usable


@dataclass(frozen=True, slots=True)
class ListedRows:
    """Distinct rows of one class, in an order drawn at random."""

    hashes: AnyArray  # (d,) ascending
    order: IntArray  # (d,)
    start: int  # rows of the classes before: the folds get equal sizes over all classes

    def folds(self, hashes: AnyArray, n_folds: int) -> IntArray:
        """Return the fold of every row."""
        return (self.start + self._order_of(hashes)) % n_folds

    def holdout(self, hashes: AnyArray, fraction: float) -> BoolArray:
        """Return the mask of the validation rows: of two distinct ones at least one, never all."""
        return self._order_of(hashes) < self.n_holdout(fraction)

    def n_holdout(self, fraction: float) -> int:
        """Return the number of distinct validation rows."""
        return min(max(1, round(fraction * len(self.hashes))), len(self.hashes) - 1)

    def _order_of(self, hashes: AnyArray) -> IntArray:
        """Return the rank of rows in the order; refuse rows that were not listed."""
        places = np.searchsorted(self.hashes, hashes)
        known = places < len(self.hashes)
        known[known] = self.hashes[places[known]] == hashes[known]
        if not known.all():
            raise ValueError(
                "the rows must be the same every time they are read, got "
                f"{np.count_nonzero(~known)} that were not there before"
            )
        return self.order[places]


@dataclass(frozen=True, slots=True)
class HashedRows:
    """Large classes: assign each row by its hash, without enumerating the class.

    Folds have equal sizes up to chance.
    """

    salt: int

    def folds(self, hashes: AnyArray, n_folds: int) -> IntArray:
        """Return the fold of every row."""
        return (mixed(hash_numbers(hashes), self.salt) % np.uint64(n_folds)).astype(np.intp)

    def holdout(self, hashes: AnyArray, fraction: float) -> BoolArray:
        """Return the mask of the validation rows."""
        return mixed(hash_numbers(hashes), self.salt) < np.uint64(int(fraction * 2.0**64))


@dataclass(frozen=True, slots=True)
class FoldAssignment:
    """Assign the rows of every class to folds, or to a holdout, by their hashes."""

    classes: dict[int, ListedRows | HashedRows]

    @classmethod
    def drawn(
        cls, listed: Mapping[int, AnyArray], rng: np.random.Generator, n_listed: int
    ) -> FoldAssignment:
        """Draw the assignment for classes of distinct row hashes, given in ascending order.

        Of a class with more than ``n_listed`` hashes, ``n_listed + 1`` of them are enough.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> assignment = FoldAssignment.drawn({0: np.array([3, 5]), 2: np.array([4])}, rng, 2)
        >>> sorted(assignment.folds(np.array([3, 5, 4]), np.array([0, 0, 2]), 3).tolist())
        [0, 1, 2]
        """
        classes: dict[int, ListedRows | HashedRows] = {}
        start = 0
        for code, hashes in listed.items():
            if len(hashes) > n_listed:
                classes[code] = HashedRows(drawn_salt(rng))
            else:
                classes[code] = ListedRows(hashes, rng.permutation(len(hashes)), start)
                start += len(hashes)
        return cls(classes)

    def n_folds(self, most: int) -> int:
        """Return the number of folds that get rows, at most ``most``; they are the first."""
        listed = [
            len(rows.hashes) for rows in self.classes.values() if isinstance(rows, ListedRows)
        ]
        return min(most, sum(listed)) if len(listed) == len(self.classes) else most

    def has_holdout(self, fraction: float) -> bool:
        """Tell whether a class has rows to validate by."""
        return any(
            isinstance(rows, HashedRows) or rows.n_holdout(fraction) > 0
            for rows in self.classes.values()
        )

    def folds(self, hashes: AnyArray, y: IntArray, n_folds: int) -> IntArray:
        """Return the fold (N,) of every row, by hash and class (N,)."""
        fold = np.empty(len(y), dtype=np.intp)
        for code, rows in self.classes.items():
            mine = np.flatnonzero(y == code)
            fold[mine] = rows.folds(hashes[mine], n_folds)
        return fold

    def holdout(self, hashes: AnyArray, y: IntArray, fraction: float) -> BoolArray:
        """Return the mask (N,) of validation rows, a share of the distinct rows of each class."""
        mask = np.zeros(len(y), dtype=bool)
        for code, rows in self.classes.items():
            mine = np.flatnonzero(y == code)
            mask[mine] = rows.holdout(hashes[mine], fraction)
        return mask


def assign_folds(
    X: Matrix,
    y: IntArray,
    n_folds: int,
    rng: np.random.Generator,
    groups: IntArray | None = None,
) -> IntArray:
    """Assign the rows to folds, class by class, and return the fold of every row.

    Rows that are equal and of one class share a fold, so that no row is validated by a
    model trained on its copy. The folds depend on the set of distinct rows alone, neither
    on their order nor on how often they occur: a row of weight 2 and the same row twice
    are one thing. Where rows belong to ``groups`` (N,), whole groups are assigned instead.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0], [2.0], [3.0], [1.0]])
    >>> fold = assign_folds(X, np.zeros(4, dtype=int), 3, np.random.default_rng(0))
    >>> bool(fold[0] == fold[3]), sorted(fold[:3].tolist())
    (True, [0, 1, 2])
    """
    hashes, strata, assignment = draw_folds(X, y, rng, groups)
    return assignment.folds(hashes, strata, n_folds)


def draw_folds(
    X: Matrix, y: IntArray, rng: np.random.Generator, groups: IntArray | None
) -> tuple[AnyArray, IntArray, FoldAssignment]:
    """Return row hashes or groups (N,), strata (N,), and the assignment drawn for them."""
    hashes, strata = (row_hashes(X), y) if groups is None else (groups, _strata(y, groups))
    listed = {int(code): np.unique(hashes[strata == code]) for code in np.unique(strata)}
    n_listed = N_LISTED if groups is None else len(hashes)
    return hashes, strata, FoldAssignment.drawn(listed, rng, n_listed)


def _strata(y: IntArray, groups: IntArray) -> IntArray:
    """Return the class (N,) by which the group of every row is stratified.

    It is the class of the group that the fewest groups have, so that rare classes are
    spread over the folds first. The number of rows a group has of it does not matter.
    """
    codes, places = np.unique(groups, return_inverse=True)
    has = np.zeros((len(codes), int(y.max()) + 1), dtype=bool)
    has[places, y] = True
    rarity = np.where(has, has.sum(axis=0), len(codes) + 1)
    return rarity.argmin(axis=1)[places]


@dataclass(frozen=True, slots=True)
class Cells:
    """Disjoint sets of rows, and which of them make up the training rows of every split.

    Sums over cells are shared by all splits that train on them.
    """

    rows: list[IntArray]
    members: AnyArray  # (n_splits, n_cells), bool

    @classmethod
    def of_splits(cls, splits: list[Split], n_rows: int) -> Cells:
        """Divide the rows so that every split trains on whole cells.

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
        separate = cls(trained, np.eye(len(splits), dtype=bool))
        once = all(len(np.unique(rows)) == len(rows) for rows in trained)
        if len(splits) > MOST_SPLITS or not once:
            return separate
        patterns = np.zeros(n_rows, dtype=np.int64)  # bit s: split s trains on the row
        for s, rows in enumerate(trained):
            patterns[rows] |= 1 << s
        used = [int(pattern) for pattern in np.unique(patterns) if pattern]
        if len(used) > len(splits):  # splits that share few rows
            return separate
        members = [[bool(pattern >> s & 1) for pattern in used] for s in range(len(splits))]
        return cls([np.flatnonzero(patterns == pattern) for pattern in used], np.array(members))


@dataclass(frozen=True, slots=True)
class Groups:
    """The group of every row: its label, and its number among all labels.

    Examples
    --------
    >>> groups = Groups.of_labels(["ann", "bob", "ann", "cid"])
    >>> groups.codes.tolist(), groups.taken(np.array([1, 3])).codes.tolist()
    ([0, 1, 0, 2], [0, 1])
    """

    labels: AnyArray  # (N,) as the user gave them
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

    ``codes`` are the classes that folds are stratified by, ``y`` is passed to a splitter. Rows
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
        return fold_splits(X, codes, N_FOLDS, rng, together)
    if isinstance(fitness, Integral):
        return fold_splits(X, codes, int(fitness), rng, together)
    pairs = fitness.split(X, y) if groups is None else _split_by_groups(fitness, X, y, groups)
    splits = [Split(np.asarray(train), np.asarray(test)) for train, test in pairs]
    if not splits or not all(len(split.train) and len(split.test) for split in splits):
        raise ValueError(f"fitness must make splits with rows on both sides, got {fitness!r}")
    return splits


def _split_by_groups(fitness: Any, X: Matrix, y: AnyArray, groups: Groups) -> list[Any]:
    """Return the splits of a splitter, unless one of them divides a group."""
    with warnings.catch_warnings():  # a splitter without groups may keep them together as well
        warnings.filterwarnings("ignore", message="The groups parameter is ignored")
        pairs = list(fitness.split(X, y, groups.labels))
    for train, test in pairs:
        divided = np.isin(groups.codes[test], groups.codes[train])
        if divided.any():
            label = groups.labels[test][divided].tolist()[0]
            raise ValueError(
                "fitness must keep rows of one group on one side of every split, got "
                f"{fitness!r}, which divides the group {label!r}"
            )
    return pairs


def validation_rows(splits: list[Split] | None, n_rows: int) -> IntArray:
    """Return the positions of the validation rows, split after split."""
    if splits is None:
        return np.arange(n_rows)
    return np.concatenate([split.test for split in splits])


def training_rows(splits: list[Split] | None, n_rows: int) -> IntArray:
    """Return the positions of the rows that candidates were trained on."""
    if splits is None:
        return np.arange(n_rows)
    return np.unique(np.concatenate([split.train for split in splits]))
