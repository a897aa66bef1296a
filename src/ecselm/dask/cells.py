"""Which cells rows are dealt into, where the rows are, and which cells train and judge."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from ecselm._typing import BoolArray, FloatArray, IntArray
from ecselm.elm.fitness import N_FOLDS
from ecselm.objectives.dealing import Dealing
from ecselm.objectives.keys import row_keys


@dataclass(frozen=True, slots=True)
class Cells:
    """Cells of rows, and for each split the cells it trains on and the one it judges by."""

    dealing: Dealing
    fraction: float | None  # None for folds
    trained: BoolArray  # (n_splits, n_cells)
    judged: IntArray  # (n_splits,)

    @classmethod
    def made(cls, fitness: Any, dealing: Dealing, fraction: float) -> Cells:
        """Return the cells that a ``fitness`` asks for.

        Examples
        --------
        >>> from ecselm.objectives.keys import row_keys
        >>> X, y = np.array([[1.0], [2.0], [3.0], [4.0]]), np.zeros(4, dtype=int)
        >>> rng = np.random.default_rng(0)
        >>> cells = Cells.made(2, Dealing.drawn({0: np.sort(row_keys(X))}, rng, 4), 0.25)
        >>> sorted(cells.of(X, y).tolist()), cells.trained.tolist()
        ([0, 0, 1, 1], [[False, True], [True, False]])
        """
        if fitness == "train":
            return cls(dealing, None, np.array([[True]]), np.array([0]))
        if fitness == "holdout":
            n_cells = 2 if dealing.sets_aside(fraction) else 1
            made = cls(dealing, fraction, np.array([[True, False]]), np.array([1]))
        else:
            n_cells = dealing.n_parts(int(fitness) if isinstance(fitness, Integral) else N_FOLDS)
            made = cls(dealing, None, ~np.eye(n_cells, dtype=bool), np.arange(n_cells))
        if n_cells < 2:
            raise ValueError(
                "some rows must be left to train on and others to judge by, got too few distinct "
                "rows of a class for that"
            )
        return made

    @property
    def n_cells(self) -> int:
        """Return the number of cells."""
        return int(self.trained.shape[1])

    def of(self, X: FloatArray, codes: IntArray) -> IntArray:
        """Return the cell (N,) of every row, by its inputs and its class."""
        if self.n_cells == 1:
            return np.zeros(len(codes), dtype=np.intp)
        keys = row_keys(X)
        if self.fraction is None:
            return self.dealing.parts(keys, codes, self.n_cells)
        return self.dealing.set_aside(keys, codes, self.fraction).astype(np.intp)
