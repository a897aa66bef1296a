"""A sample of rows that come in blocks, class by class, whatever the blocks are.

Every row draws a key from one stream of random numbers. Of every class the rows with the
smallest keys stay. All classes have the same number of places, but for those with fewer rows,
whose places the others share. As rows come in, the number of places of a full class only
falls: what was thrown away is never missed, and no more rows are held than the sample has.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.elm.sample import fair_quotas
from ecselm.streaming.rows import RowBlock

SLACK = 1.25  # of the sample, up to which rows are held before some are thrown away


class ClassSample:
    """At most so many rows, as even over the classes as there are rows.

    Parameters
    ----------
    n_rows : int
        The most rows.
    rng : numpy.random.Generator

    Examples
    --------
    >>> sample = ClassSample(4, np.random.default_rng(0))
    >>> y = np.array(["ill", *["well"] * 9])
    >>> sample.add(RowBlock(np.arange(10.0)[:, np.newaxis], y), y)
    >>> sample.block.y.tolist(), sample.counts
    (['ill', 'well', 'well', 'well'], {'ill': 1, 'well': 9})
    >>> sample.factors.round(2).tolist()
    [0.4, 1.2, 1.2, 1.2]
    """

    def __init__(self, n_rows: int, rng: np.random.Generator) -> None:
        self._n_rows, self._rng = n_rows, rng
        self._blocks: list[RowBlock] = []
        self._keys, self._strata = np.empty(0), np.empty(0, dtype=np.intp)
        self._codes: dict[Any, int] = {}
        self._counts, self._masses = np.empty(0, dtype=np.int64), np.empty(0)
        self._n_seen = 0

    @property
    def counts(self) -> dict[Any, int]:
        """Return how many rows of every class there were."""
        return dict(zip(self._codes, self._counts.tolist(), strict=True))

    @property
    def is_complete(self) -> bool:
        """Tell whether the sample holds all rows."""
        return len(self._keys) == self._n_seen

    @property
    def block(self) -> RowBlock:
        """Return the rows in the order in which they came."""
        self._thin()
        return self._blocks[0]

    @property
    def factors(self) -> FloatArray:
        """Return by how much the rows of each class stand for more rows than others (n,).

        With these as weights classes have the shares that they have among all rows, and the
        weights are those of the sample on the whole.
        """
        block = self.block
        weight = np.ones(len(block)) if block.weight is None else block.weight
        held = np.bincount(self._strata, weight, minlength=len(self._masses))
        share = self._masses / np.where(held > 0, held, 1.0)
        return share[self._strata] * (held.sum() / self._masses.sum())

    def add(self, block: RowBlock, strata: AnyArray) -> None:
        """Take more rows into account, of the classes ``strata`` (N,)."""
        if not len(block):
            return
        codes = self._coded(strata)
        keys = self._rng.random(len(block))
        self._counts += np.bincount(codes, minlength=len(self._counts))
        self._masses += np.bincount(codes, block.weight, minlength=len(self._masses))
        self._n_seen += len(block)
        chance = np.flatnonzero(keys <= self._limits()[codes])
        self._blocks.append(block.taken(chance))
        self._keys = np.concatenate([self._keys, keys[chance]])
        self._strata = np.concatenate([self._strata, codes[chance]])
        if len(self._keys) > SLACK * self._n_rows:
            self._thin()

    def _coded(self, strata: AnyArray) -> IntArray:
        labels, places = np.unique(strata, return_inverse=True)
        known = [self._codes.setdefault(label, len(self._codes)) for label in labels.tolist()]
        if len(self._codes) > self._n_rows:
            raise ValueError(
                f"sample must have a row for every class, got {self._n_rows} rows and at least "
                f"{len(self._codes)} classes"
            )
        lacking = len(self._codes) - len(self._counts)
        self._counts = np.append(self._counts, np.zeros(lacking, dtype=np.int64))
        self._masses = np.append(self._masses, np.zeros(lacking))
        return np.array(known, dtype=np.intp)[places]

    def _limits(self) -> FloatArray:
        """Return the key of every class beyond which no row can stay."""
        quotas, limits = fair_quotas(self._counts, self._n_rows), np.ones(len(self._counts))
        for c in np.flatnonzero(quotas < self._counts):
            mine = np.sort(self._keys[self._strata == c])
            if len(mine) >= quotas[c]:
                limits[c] = mine[quotas[c] - 1]
        return limits

    def _thin(self) -> None:
        """Throw away what has no place, and put the rest together."""
        quotas = fair_quotas(self._counts, self._n_rows)
        order = np.lexsort((self._keys, self._strata))
        strata = self._strata[order]
        rank = np.arange(len(order)) - np.searchsorted(strata, strata)
        kept = np.sort(order[rank < quotas[strata]])
        self._blocks = [joined(self._blocks).taken(kept)]
        self._keys, self._strata = self._keys[kept], self._strata[kept]


def check_sample(n_rows: int) -> None:
    """Refuse a sample of no rows."""
    if n_rows < 1:
        raise ValueError(f"sample must be at least 1 row, got {n_rows}")


def joined(blocks: Sequence[RowBlock]) -> RowBlock:
    """Return the rows of all blocks."""
    if len(blocks) == 1:
        return blocks[0]
    no_weights = all(block.weight is None for block in blocks)
    weights = [np.ones(len(one)) if one.weight is None else one.weight for one in blocks]
    groups = [block.groups for block in blocks if block.groups is not None]
    return RowBlock(
        _stacked([block.X for block in blocks]),
        np.concatenate([block.y for block in blocks]),
        None if no_weights else np.concatenate(weights),
        np.concatenate(groups) if groups else None,
    )


def _stacked(parts: list[Any]) -> Any:
    if isinstance(parts[0], pd.DataFrame):
        return pd.concat(parts, ignore_index=True)
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    return np.vstack(parts)
