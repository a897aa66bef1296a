"""Rows that belong together, such as all pictures of one person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ecselm._typing import AnyArray, IntArray

WITHIN = ("loo", "train")  # what judges rows by others of their group, or by themselves


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
