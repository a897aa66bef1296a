"""Which engine is fastest for rows behind a hidden layer, by their sizes."""

from __future__ import annotations

import numpy as np

from ecselm import _native as compiled
from ecselm._memory import memory_limit
from ecselm._typing import FloatArray
from ecselm.fitness.engines import DualEngine, Engine, LayerEngine, judged_features
from ecselm.fitness.folds import Cells, Split
from ecselm.fitness.row_engine import RowEngine
from ecselm.fitness.systems import (
    BlockSystem,
    BlockTrainer,
    CostedRows,
    SystemTrainer,
    TakenRows,
    Trainer,
)
from ecselm.linalg import GramBlocks, reduced_units

# With costs by row, samples beat hidden units up to so many training rows per unit.
DUAL_ROWS = 1.5  # judged by the training rows: their scores come free
DUAL_FOLDS = 1.3
SCORES_SHARE = 8  # of the memory for the scores of a batch
POPULATION = 100  # candidates whose sums must fit, where the number is not known


def layer_engine(
    H: FloatArray,
    rows: CostedRows,
    splits: list[Split],
    *,
    memory: int | None = None,
    strengths: tuple[float, float] | None = None,
    n_candidates: int = POPULATION,
) -> Engine:
    """Return the engine for rows H (N, L).

    Parameters
    ----------
    H : array of shape (N, L)
    rows : CostedRows
    splits : list of Split
    memory : int, default=None
        Bytes that may be kept, a quarter of what is free by default.
    strengths : pair of floats, default=None
        The least and the greatest C B of any candidate, by which units that say the same
        are merged.
    n_candidates : int, default=100
        Size of a generation.
    """
    memory = memory_limit(None) if memory is None else memory
    if strengths is not None:
        H = reduced_units(H, strengths)
    N, (_, L) = max(len(split.train) for split in splits), H.shape
    by_row = rows.has_own_costs
    itself = len(splits) == 1 and np.array_equal(splits[0].train, splits[0].test)
    in_samples = N < L or (by_row and (DUAL_ROWS if itself else DUAL_FOLDS) * L >= N)
    if in_samples and 24 * N * N * len(splits) <= memory:
        return DualEngine.from_rows(H @ H.T, rows, splits)
    cells = Cells.of_splits(splits, len(H))
    halved = 4 * H.size < memory / 4
    if not (by_row or N < L) and 16 * rows.n_groups * L * L * len(cells.members) <= memory:
        return _block_engine(H, rows, splits, cells, halved, memory)
    if by_row and _row_bytes(len(H), L + rows.T.shape[1], n_candidates, len(cells.rows)) <= memory:
        return RowEngine.from_rows(H, rows, splits, cells, halved)
    judged = judged_features(H, rows.T, rows.weight, splits, halved)
    trainers: list[Trainer] = [
        SystemTrainer(TakenRows(H, rows, split.train), (rows.T.shape[1], L)) for split in splits
    ]
    name = "sums over all rows for every candidate (LAPACK)"
    return LayerEngine(trainers, judged, name, memory // SCORES_SHARE)


def _block_engine(
    H: FloatArray,
    rows: CostedRows,
    splits: list[Split],
    cells: Cells,
    halved: bool,
    memory: int,
) -> LayerEngine:
    parts = [BlockSystem.from_rows(H[cell], rows.taken(cell)).blocks for cell in cells.rows]
    trainers: list[Trainer] = []
    for members in cells.members:
        mine = [part for part, member in zip(parts, members, strict=True) if member]
        trainers.append(BlockTrainer.from_system(BlockSystem(_sum(mine))))
    judged = judged_features(H, rows.T, rows.weight, splits, halved)
    name = f"sums by {rows.n_groups} cost groups of {H.shape[1]} units ({compiled.path_name()})"
    return LayerEngine(trainers, judged, name, memory // SCORES_SHARE)


def _row_bytes(N: int, height: int, n_candidates: int, n_cells: int) -> int:
    """Return what a :class:`RowEngine` keeps: rows, and two sets of sums."""
    return 8 * N * height + 16 * n_candidates * height * height * n_cells


def _sum(parts: list[GramBlocks]) -> GramBlocks:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total
