"""Blocks of rows, and what reads them: a stream, or the partitions of a cluster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pandas as pd
from scipy import sparse

from ecselm._sklearn import safe_indexing
from ecselm._typing import AnyArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class RowBlock:
    """Some rows: inputs, targets and, if there are any, weights, costs and groups."""

    X: Any  # (N, n) array, sparse matrix or dataframe
    y: AnyArray  # (N,) or (N, m)
    weight: FloatArray | None = None  # (N,)
    groups: AnyArray | None = None  # (N,) labels
    cost: Any = None  # by row, as it was given
    places: IntArray | None = None  # (N,) positions among all rows, if these are known

    def __len__(self) -> int:
        return len(self.y)

    def taken(self, positions: IntArray) -> RowBlock:
        """Return copies of some of the rows, without their costs."""
        return RowBlock(
            safe_indexing(self.X, positions),
            self.y[positions],
            None if self.weight is None else self.weight[positions],
            None if self.groups is None else self.groups[positions],
            None,
            None if self.places is None else self.places[positions],
        )

    def joined(self, *others: RowBlock) -> RowBlock:
        """Return these rows and those of others, in this order, without their costs."""
        blocks = (self, *others)
        weighted = any(block.weight is not None for block in blocks)
        weights = [np.ones(len(one)) if one.weight is None else one.weight for one in blocks]
        groups = [block.groups for block in blocks if block.groups is not None]
        places = [block.places for block in blocks if block.places is not None]
        return RowBlock(
            stacked([block.X for block in blocks]),
            np.concatenate([block.y for block in blocks]),
            np.concatenate(weights) if weighted else None,
            np.concatenate(groups) if groups else None,
            None,
            np.concatenate(places) if places else None,
        )

    def head(self, n_rows: int) -> RowBlock:
        """Return the first rows, at most so many."""
        return self.taken(np.arange(min(n_rows, len(self))))

    def of_weight(self) -> RowBlock:
        """Return the rows of positive weight, without their costs."""
        if self.weight is None:
            return self
        used = np.flatnonzero(self.weight > 0)
        return self if len(used) == len(self) else self.taken(used)

    @property
    def targets(self) -> FloatArray:
        """Return real targets (N, m)."""
        return self.y if self.y.ndim == 2 else self.y[:, np.newaxis]


def stacked(parts: list[Any]) -> Any:
    """Return the inputs of all parts, in their order."""
    if isinstance(parts[0], pd.DataFrame):
        return pd.concat(parts, ignore_index=True)
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    return np.vstack(parts)


class Blocks(Protocol):
    """All rows, block by block: all that streaming and a cluster differ in."""

    @property
    def has_labels(self) -> bool:
        """Tell whether targets are labels of classes."""

    @property
    def names(self) -> AnyArray | None:
        """Return the names of the columns, if they have any; known after the first pass."""

    @property
    def sizes(self) -> IntArray:
        """Return the number of rows of every block; known after the first pass."""

    @property
    def reads_targets_alone(self) -> bool:
        """Tell whether a pass over the targets costs little: it reads no inputs."""

    def reduce(
        self,
        function: Callable[[RowBlock], Any],
        add: Callable[[Any, Any], Any],
        purpose: str,
        *,
        targets_alone: bool = False,
        placed: bool = False,
    ) -> Any:
        """Return the sum of what a function returns of every block, in a fixed order.

        Parameters
        ----------
        function : callable
            Of a :class:`RowBlock`. It can be pickled.
        add : callable
            Of the results of earlier and of later blocks.
        purpose : str
            What the pass is for, to report progress.
        targets_alone : bool, default=False
            Whether blocks may come without their inputs.
        placed : bool, default=False
            Whether blocks must have ``places``.
        """


def named(X: Any, names: AnyArray | None) -> Any:
    """Return rows with the names of their columns, if these have names."""
    if names is None or sparse.issparse(X):
        return X
    return pd.DataFrame(X, columns=names, copy=False)
