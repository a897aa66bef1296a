"""Rows that always train together: what splits share is summed once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ecselm._typing import AnyArray, IntArray
from ecselm.objectives.folds import Split

MOST_SPLITS = 62  # so that a row's splits fit into one integer


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
