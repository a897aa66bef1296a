"""Scores of the validation rows for a whole generation of candidates (paper, eqs. 15, 18, 21)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import Protocol, runtime_checkable

import numpy as np
from scipy.linalg import LinAlgError

from ecselm import _native as compiled
from ecselm._memory import memory_limit
from ecselm._native.calls import LANES
from ecselm._typing import BoolArray, FloatArray, IntArray
from ecselm.fitness.confusion import confusion_counts
from ecselm.fitness.encoding import Candidates
from ecselm.fitness.folds import Cells, Split, is_every_row
from ecselm.fitness.systems import (
    BlockSystem,
    BlockTrainer,
    CostedRows,
    DualTrainer,
    KernelSystem,
    System,
    SystemTrainer,
    TakenRows,
    Trainer,
    TrainingKernel,
    layer_system,
)
from ecselm.linalg import (
    GramBlocks,
    RowChange,
    RowProducts,
    loo_scores,
    reduced_units,
    row_products,
)
from ecselm.linalg.factors import Factor, factor_indefinite, factor_shifted

BLOCK_ENTRIES = 1 << 19  # scores computed at a time: they stay in the cache
UNIT = 2.0**-24  # relative rounding of float32
MOST_CHECKED = 0.1  # share of near ties above which float32 is not worth it
SMALLEST, LARGEST = 1e-30, 1e15  # norms whose products float32 holds without loss
CANCELLED = 1e-5  # share of its terms below which a squared error is summed by row instead
BATCH = 16  # candidates at a time, whatever the number of threads
SCORES_MEMORY = 1 << 28  # bytes of scores at a time: more would only leave the cache
# With costs by row, samples beat hidden units up to so many training rows per unit.
DUAL_ROWS = 1.5  # validated on the training rows: their scores come free
DUAL_FOLDS = 1.3
SCORES_SHARE = 8  # of the memory for the scores of a batch
POPULATION = 100  # candidates whose sums must fit, where the number is not known


@dataclass(frozen=True)
class ValidationFeatures:
    """Validation rows: H (n, L), targets (n, m) and weights (n,)."""

    H: FloatArray
    T: FloatArray
    weight: FloatArray | None
    halved: bool = True  # whether there is memory for a copy in float32

    def scores(self, beta: FloatArray) -> FloatArray:
        """Return Z (P, m, n) for beta (P, m, L): all candidates in one product."""
        P, m, L = beta.shape
        return (beta.reshape(P * m, L) @ self.H.T).reshape(P, m, len(self.H))

    def confusions(
        self, beta: FloatArray, y: IntArray, k: int, weight: FloatArray | None
    ) -> FloatArray:
        """Return confusion matrices (P, k, k), in float32 as far as that is harmless."""
        counts = np.zeros((len(beta), k, k))
        codes, share, scale = y.astype(np.int32), 0.0, self._reach(beta)
        n_blocks = -(-len(self.H) * beta.shape[0] * beta.shape[1] // BLOCK_ENTRIES)
        step = max(256, -(-len(self.H) // n_blocks))
        for start in range(0, len(self.H), step):
            rows = slice(start, start + step)
            w = None if weight is None else weight[rows]
            if scale is not None and share <= MOST_CHECKED:
                share = self._count_halved(beta, scale, rows, codes[rows], k, w, counts)
            else:
                Z = beta.reshape(-1, beta.shape[2]) @ self.H[rows].T
                Z = Z.reshape(*beta.shape[:2], -1).swapaxes(1, 2)
                counts += confusion_counts(Z, codes[rows], k, w)
        return counts

    def _reach(self, beta: FloatArray) -> FloatArray | None:
        """Return how far scores in float32 may be off (P,), relative to the norms of rows.

        A score is off by at most ``(L + 3) u |h| |beta|``, a difference of two by twice
        that, for any order of summation. None stands for numbers that float32 cannot hold.
        """
        if not (self.halved and compiled.is_available()):
            return None
        longest = np.sqrt(np.einsum("pml,pml->pm", beta, beta).max(axis=1))
        if not (longest.min() > SMALLEST and longest.max() < LARGEST > self._half[1].max()):
            return None
        return (2.1 * (beta.shape[2] + 3) * UNIT * longest).astype(np.float32)

    def _count_halved(
        self,
        beta: FloatArray,
        scale: FloatArray,
        rows: slice,
        y: IntArray,
        k: int,
        weight: FloatArray | None,
        counts: FloatArray,
    ) -> float:
        """Count from scores in float32, and return the share of rows scored again."""
        P, m, L = beta.shape
        H, norms = self._half
        Z = (beta.reshape(P * m, L).astype(np.float32) @ H[:, rows]).reshape(P, m, -1)
        checked = compiled.count_checked(
            Z, y, weight, k, (self.H[rows], beta), (norms[rows], scale), counts
        )
        return checked / (P * Z.shape[2])

    @cached_property
    def _half(self) -> tuple[FloatArray, FloatArray]:
        norms = np.sqrt(np.einsum("nl,nl->n", self.H, self.H)) + SMALLEST
        with np.errstate(over="ignore"):  # then float32 is not used
            return self.H.T.astype(np.float32, order="C"), norms.astype(np.float32)

    def squares(self, beta: FloatArray) -> FloatArray:
        """Return ``sum_i w_i ||t_i - h_i beta||^2`` (P,), from sums alone: nothing grows with n."""
        P, m, L = beta.shape
        sums = self._sums
        fitted = (beta.reshape(P * m, L) @ sums.grams[0]).reshape(beta.shape)
        quadratic = np.einsum("pml,pml->p", fitted, beta)
        linear = np.einsum("pml,lm->p", beta, sums.moments[0])
        total = float(sums.squares.sum())
        squares = total - 2.0 * linear + quadratic
        lost = squares < CANCELLED * (total + quadratic)
        if lost.any():
            squares[lost] = self._squares_by_row(beta[lost])
        return squares

    def _squares_by_row(self, beta: FloatArray) -> FloatArray:
        residuals = self.T.T - self.scores(beta)
        per_row = np.einsum("pmn,pmn->pn", residuals, residuals)
        return per_row.sum(axis=1) if self.weight is None else per_row @ self.weight

    @cached_property
    def _sums(self) -> GramBlocks:
        return GramBlocks.from_rows(self.H, self.T, self.weight)


@dataclass(frozen=True, slots=True)
class Solved:
    """Betas (P, m, L) of a generation, split by split, and the validation rows."""

    validation: list[ValidationFeatures]
    betas: list[FloatArray]

    def scores(self) -> FloatArray:
        """Return Z (P, n, m), the splits one after the other."""
        pairs = zip(self.validation, self.betas, strict=True)
        parts = [rows.scores(beta) for rows, beta in pairs]
        Z = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=2)
        return Z.swapaxes(1, 2)

    def confusions(self, y: IntArray, k: int, weight: FloatArray | None) -> FloatArray:
        """Return confusion matrices (P, k, k), NaN for candidates without a solution."""
        counts, start = np.zeros((len(self.betas[0]), k, k)), 0
        for rows, beta in zip(self.validation, self.betas, strict=True):
            own = slice(start, start := start + len(rows.H))
            w = None if weight is None else weight[own]
            counts += rows.confusions(beta, y[own], k, w)
            counts[np.isnan(beta[:, 0, 0])] = np.nan
        return counts

    def squares(self) -> FloatArray:
        """Return the weighted squared errors (P,), summed over rows and outputs."""
        pairs = zip(self.validation, self.betas, strict=True)
        return np.sum([rows.squares(beta) for rows, beta in pairs], axis=0)


class Engine(Protocol):
    """Scores of the validation rows for any candidates."""

    def scores(self, candidates: Candidates) -> FloatArray:
        """Return Z (P, n, m), NaN for candidates without a solution."""

    def batch(self, n_candidates: int) -> int:
        """Return how many candidates to give at a time; it depends on sizes alone."""

    def __str__(self) -> str:
        """Say how it solves."""


@runtime_checkable
class Solving(Protocol):
    """An engine that has beta before it has scores."""

    def solved(self, candidates: Candidates) -> Solved:
        """Return beta of every candidate and split."""


@runtime_checkable
class Remembering(Protocol):
    """An engine whose last digits depend on earlier calls."""

    def forget(self) -> None:
        """Make later calls independent of earlier ones."""


@dataclass(frozen=True, slots=True)
class LayerEngine:
    """Rows behind a hidden layer, split by split."""

    trainers: list[Trainer]
    validation: list[ValidationFeatures]
    name: str
    memory: int = SCORES_MEMORY  # bytes for the scores of a batch

    def __str__(self) -> str:
        return self.name

    def batch(self, n_candidates: int) -> int:
        """Return enough candidates for a product that BLAS likes, in whole lanes."""
        m, n = self.validation[0].T.shape[1], sum(len(rows.H) for rows in self.validation)
        wanted = max(BATCH, min(n_candidates / 2, 48 / m))
        fitting = min(self.memory, SCORES_MEMORY) / (8 * m * n)
        return max(LANES, LANES * int(np.ceil(min(wanted, fitting) / LANES)))

    def scores(self, candidates: Candidates) -> FloatArray:
        """Return Z (P, n, m), the splits one after the other."""
        return self.solved(candidates).scores()

    def solved(self, candidates: Candidates) -> Solved:
        """Return beta of every candidate and split."""
        betas = []
        for trainer in self.trainers:
            betas.append(trainer.betas(candidates.costs, candidates.C))  # noqa: PERF401
        return Solved(self.validation, betas)


@dataclass(frozen=True, slots=True)
class ExpectedCostEngine:
    """Decide for the least expected cost: a candidate is a decision matrix.

    The scores are the negative expected costs, ``-P M``, under probabilities P that
    ``probabilities`` makes of a machine's own scores (n, m).
    """

    machine: Engine
    probabilities: Callable[[FloatArray], FloatArray]

    def __str__(self) -> str:
        return f"decisions on {self.machine}"

    def batch(self, n_candidates: int) -> int:
        """Return what the machine likes."""
        return self.machine.batch(n_candidates)

    def scores(self, candidates: Candidates) -> FloatArray:
        """Return the negative expected costs (P, n, k), in units of the mean cost."""
        if candidates.matrices is None:
            raise ValueError("candidates must hold decision matrices, got none")
        known: dict[tuple[float, float | None], FloatArray] = {}
        scored = []
        for i in range(len(candidates)):
            key = candidates.numbers(i)
            if key not in known:
                known[key] = self.probabilities(self.machine.scores(candidates.one(i))[0])
            M = candidates.matrices[i]
            scored.append(-(known[key] @ M) / M.mean())
        return np.stack(scored)


@dataclass(frozen=True, slots=True)
class RememberedScores:
    """A machine whose scores do not depend on the candidate."""

    Z: FloatArray  # (n, m)

    def __str__(self) -> str:
        return "scores made once"

    def batch(self, n_candidates: int) -> int:
        """Return any number."""
        return BATCH

    def scores(self, candidates: Candidates) -> FloatArray:
        """Return the same scores for every candidate, (P, n, m)."""
        return np.broadcast_to(self.Z, (len(candidates), *self.Z.shape))


def validation_features(
    H: FloatArray, T: FloatArray, weight: FloatArray | None, splits: list[Split], halved: bool
) -> list[ValidationFeatures]:
    """Return the validation rows of every split."""
    return [
        ValidationFeatures(
            H if is_every_row(split.test, len(H)) else H[split.test],
            T[split.test],
            None if weight is None else weight[split.test],
            halved,
        )
        for split in splits
    ]


@dataclass(frozen=True, slots=True)
class DualEngine:
    """Rows of which products, or kernel values, with each other are known."""

    trainers: list[DualTrainer]
    between: list[FloatArray | None]  # K (n_train, n_test), None to validate on the training rows
    path: str = field(default_factory=compiled.path_name)

    @classmethod
    def from_rows(
        cls, K: FloatArray, rows: CostedRows, splits: list[Split], n_candidates: int | None = None
    ) -> DualEngine:
        """Take the rows of every split from K (N, N)."""
        trainers = [
            DualTrainer.from_kernel(
                _taken(K, split.train, split.train), rows.taken(split.train), n_candidates
            )
            for split in splits
        ]
        between = [
            None if np.array_equal(split.train, split.test) else _taken(K, split.train, split.test)
            for split in splits
        ]
        return cls(trainers, between)

    def __str__(self) -> str:
        n = max(len(trainer.system.rows) for trainer in self.trainers)
        return f"diagonals of a matrix of {n} rows ({self.path})"

    def batch(self, n_candidates: int) -> int:
        """Return any number."""
        return BATCH

    def scores(self, candidates: Candidates) -> FloatArray:
        """Return Z (P, n, m), the splits one after the other."""
        costs, C, parts = candidates.costs, candidates.C, []
        for trainer, between in zip(self.trainers, self.between, strict=True):
            alpha = trainer.betas(costs, C)
            if between is None:
                parts.append(trainer.fitted(costs, C, alpha))
            else:
                P, m, N = alpha.shape
                parts.append((alpha.reshape(P * m, N) @ between).reshape(P, m, -1))
        Z = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=2)
        return Z.swapaxes(1, 2)


@dataclass(frozen=True, slots=True)
class WidthEngine:
    """Rows behind a kernel whose width is a candidate's own."""

    kernel: TrainingKernel
    rows: CostedRows
    splits: list[Split]

    def __str__(self) -> str:
        return f"a kernel of {len(self.rows)} rows for every width (LAPACK)"

    def batch(self, n_candidates: int) -> int:
        """Return any number."""
        return BATCH

    def scores(self, candidates: Candidates) -> FloatArray:
        """Return Z (P, n, m), the splits one after the other."""
        parts = []
        for i in range(len(candidates)):
            K = self.kernel(candidates.numbers(i)[1])
            engine = DualEngine.from_rows(K, self.rows, self.splits, n_candidates=1)
            parts.append(engine.scores(candidates.one(i)))
        return np.concatenate(parts)


def kernel_engine(
    kernel: TrainingKernel, rows: CostedRows, splits: list[Split], *, searched: bool = False
) -> DualEngine | WidthEngine:
    """Return the engine for rows behind a kernel, whose width may be ``searched``."""
    if searched:
        return WidthEngine(kernel, rows, splits)
    return DualEngine.from_rows(kernel.K, rows, splits)


def _taken(K: FloatArray, rows: IntArray, columns: IntArray) -> FloatArray:
    whole = is_every_row(rows, len(K)) and is_every_row(columns, len(K))
    return K if whole else np.ascontiguousarray(K[np.ix_(rows, columns)])


@dataclass(frozen=True, slots=True)
class LeaveOneOutEngine:
    """Score every row by leave-one-out, in closed form."""

    features: FloatArray | TrainingKernel  # H (N, L), or the kernel
    rows: CostedRows
    system: System

    @classmethod
    def from_layer(cls, H: FloatArray, rows: CostedRows) -> LeaveOneOutEngine:
        """Prepare rows behind a hidden layer."""
        return cls(H, rows, layer_system(H, rows))

    @classmethod
    def from_kernel(cls, kernel: TrainingKernel, rows: CostedRows) -> LeaveOneOutEngine:
        """Prepare rows behind a kernel."""
        return cls(kernel, rows, KernelSystem(kernel.K, rows))

    def __str__(self) -> str:
        return "leave-one-out in closed form (LAPACK)"

    def batch(self, n_candidates: int) -> int:
        """Return any number."""
        return BATCH

    def scores(self, candidates: Candidates) -> FloatArray:
        """Return Z (P, N, m)."""
        every = range(len(candidates))
        return np.stack([self._loo(candidates.costs[i], *candidates.numbers(i)) for i in every])

    def _loo(self, costs: FloatArray, C: float, gamma: float | None) -> FloatArray:
        F, system = self._prepared(gamma)
        try:
            solution = system.solution(costs, C)
        except LinAlgError:
            return np.full(self.rows.T.shape, np.nan)
        B = self.rows.vector(costs)
        return loo_scores(F, self.rows.T, solution, B, self.rows.weight)

    def _prepared(self, gamma: float | None) -> tuple[FloatArray, System]:
        if not isinstance(self.features, TrainingKernel):
            return self.features, self.system
        K = self.features(gamma)
        return K, self.system if K is self.features.K else KernelSystem(K, self.rows)


@dataclass(frozen=True, slots=True)
class RowLayout:
    """The rows to train on, cell by cell, ready to be summed."""

    rows: CostedRows
    cells: Cells
    products: list[RowProducts]  # by cell
    places: IntArray  # (N,) of every row in the only cell, -1 outside
    is_one: bool  # whether there is one cell, and every row in it once

    @classmethod
    def from_cells(cls, H: FloatArray, rows: CostedRows, cells: Cells) -> RowLayout:
        """Lay out the rows that train together."""
        products = [row_products(H[cell], rows.T[cell]) for cell in cells.rows]
        first = cells.rows[0]
        places = np.full(len(H), -1)
        places[first] = np.arange(len(first))
        is_one = len(products) == 1 and len(np.unique(first)) == len(first)
        return cls(rows, cells, products, places, is_one)

    def change(self, rows: IntArray, d: FloatArray) -> RowChange:
        """Return changes d (P,) of the costs of one row each."""
        if self.rows.weight is not None:
            d = d * self.rows.weight[rows]
        places = self.places[rows]
        return RowChange(np.maximum(places, 0), np.where(places >= 0, d, 0.0))

    def add(self, change: FloatArray, sums: FloatArray) -> None:
        """Add changes (P, N) of costs to sums (n_cells, P, ...)."""
        if self.rows.weight is not None:
            change = change * self.rows.weight
        for cell, products, part in zip(self.cells.rows, self.products, sums, strict=True):
            whole = is_every_row(cell, len(self.rows))
            products.add(change if whole else change[:, cell], part)


@dataclass(slots=True)
class Remembered:
    """The sums of a batch of candidates: of those kept, and of those tried last.

    Which of the two a candidate descends from is the optimiser's affair. It is inferred
    from the costs: the fewer of them are new, the nearer the relation. Any choice is right.

    Where no candidate changes more than one cost, nothing is summed: the solver adds one
    outer product as it goes, and sums of what is kept are made up for next time.
    """

    layout: RowLayout
    kept: FloatArray  # (P, N) costs
    tried: FloatArray
    kept_sums: FloatArray  # (n_cells, P, ...)
    tried_sums: FloatArray
    lacking: RowChange | None = None  # by which tried differ from kept, if not summed

    @classmethod
    def nothing(cls, layout: RowLayout, P: int) -> Remembered:
        """Begin with candidates whose costs are all 0."""
        sums = np.stack([part.zeros(P) for part in layout.products])
        costs = np.zeros((P, len(layout.rows)))
        return cls(layout, costs, costs.copy(), sums, sums.copy())

    def renewed(self, costs: FloatArray) -> tuple[FloatArray, RowChange | None]:
        """Return the sums of costs (P, N), and what they lack: one row each, or None."""
        nearer, n_new, rows = relation(costs, self.kept, self.tried)
        self._keep(nearer)
        self.tried[:] = costs
        self.lacking = None
        if self.layout.is_one and n_new.max() <= 1:
            every = np.arange(len(costs))
            self.lacking = self.layout.change(rows, costs[every, rows] - self.kept[every, rows])
            return self.kept_sums, self.lacking
        self.tried_sums[:] = self.kept_sums
        self.layout.add(costs - self.kept, self.tried_sums)
        return self.tried_sums, None

    def _keep(self, nearer: BoolArray) -> None:
        """Keep what was tried last of some candidates."""
        if self.lacking is None:
            self.kept_sums[:, nearer] = self.tried_sums[:, nearer]
        else:
            d = np.where(nearer, self.lacking.d, 0.0)
            self.layout.products[0].add_one(RowChange(self.lacking.rows, d), self.kept_sums[0])
        self.kept[nearer] = self.tried[nearer]


@dataclass(frozen=True, slots=True)
class RowEngine:
    """Rows behind a hidden layer, each with a cost of its own."""

    layout: RowLayout
    validation: list[ValidationFeatures]  # by split
    path: str = field(default_factory=compiled.path_name)
    memory: dict[int, Remembered] = field(default_factory=dict)  # by first candidate

    @classmethod
    def from_rows(
        cls, H: FloatArray, rows: CostedRows, splits: list[Split], cells: Cells, halved: bool
    ) -> RowEngine:
        """Lay out the rows, of which the cells are what the splits have in common."""
        validation = validation_features(H, rows.T, rows.weight, splits, halved)
        return cls(RowLayout.from_cells(H, rows, cells), validation)

    def __str__(self) -> str:
        return f"sums renewed row by row ({self.path})"

    def batch(self, n_candidates: int) -> int:
        """Return any number; sums are remembered by batch."""
        return BATCH

    def forget(self) -> None:
        """Make later calls independent of earlier ones."""
        self.memory.clear()

    def scores(self, candidates: Candidates) -> FloatArray:
        """Return Z (P, n, m), the splits one after the other."""
        return self.solved(candidates).scores()

    def solved(self, candidates: Candidates) -> Solved:
        """Return beta of every candidate and split."""
        (sums, change), betas = self._known(candidates).renewed(candidates.costs), []
        for members in self.layout.cells.members:
            mine = sums[members] if len(sums) > 1 else sums
            total = mine[0] if len(mine) == 1 else mine.sum(axis=0)
            betas.append(self._betas(total, change, candidates))
        return Solved(self.validation, betas)

    def _known(self, candidates: Candidates) -> Remembered:
        known, P = self.memory.get(candidates.first), len(candidates)
        if known is None or len(known.kept) != P:
            known = self.memory[candidates.first] = Remembered.nothing(self.layout, P)
        return known

    def _betas(
        self, total: FloatArray, change: RowChange | None, candidates: Candidates
    ) -> FloatArray:
        """Solve (15); what is not positive definite, one by one."""
        products, shift = self.layout.products[0], 1.0 / candidates.C
        signed = candidates.costs.min(axis=1) < 0
        if signed.all():
            beta = np.full((len(signed), *products.shape[::-1]), np.nan)
        else:
            beta = products.solve(total, shift, change)
        for i in np.flatnonzero(signed | np.isnan(beta[:, 0, 0])):
            if change is not None:
                total = total.copy()
                products.add_one(change, total)
                change = None
            A, right_side = products.equations(total[i])
            try:
                factor: Factor = (factor_indefinite if signed[i] else factor_shifted)(A, shift[i])
                beta[i] = factor.solve(right_side).T
            except LinAlgError:
                beta[i] = np.nan
        return beta


def relation(
    costs: FloatArray, kept: FloatArray, tried: FloatArray
) -> tuple[BoolArray, IntArray, IntArray]:
    """Tell of costs (P, N) whether ``tried`` is nearer than ``kept``.

    Returns that (P,), how many costs differ from the nearer one, and a row in which they do.
    """
    if compiled.is_available():
        return compiled.compare(costs, kept, tried)
    by_kept, by_tried = costs != kept, costs != tried
    n_kept, n_tried = by_kept.sum(axis=1), by_tried.sum(axis=1)
    nearer = n_tried < n_kept
    differs = np.where(nearer[:, np.newaxis], by_tried, by_kept)
    return nearer, np.minimum(n_kept, n_tried), differs.argmax(axis=1)


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
        The smallest and the greatest C B of any candidate, within which redundant units
        are merged.
    n_candidates : int, default=100
        Size of a generation.
    """
    memory = memory_limit(None) if memory is None else memory
    if strengths is not None:
        H = reduced_units(H, strengths)  # fewer units, equal scores
    N, (_, L) = max(len(split.train) for split in splits), H.shape
    by_row = rows.has_own_costs
    itself = len(splits) == 1 and np.array_equal(splits[0].train, splits[0].test)
    # Few rows: systems of order N, of which only the diagonal is a candidate's own.
    in_samples = N < L or (by_row and (DUAL_ROWS if itself else DUAL_FOLDS) * L >= N)
    if in_samples and 24 * N * N * len(splits) <= memory:
        return DualEngine.from_rows(H @ H.T, rows, splits)
    cells = Cells.of_splits(splits, len(H))
    halved = 4 * H.size < memory / 4
    # Few costs: rows are summed once by cost group, and a candidate costs nothing in N.
    if not (by_row or N < L) and 16 * rows.n_groups * L * L * len(cells.members) <= memory:
        return _block_engine(H, rows, splits, cells, halved, memory)
    # A cost per row: the sums of a candidate are updated from those of its parent.
    if by_row and _row_bytes(len(H), L + rows.T.shape[1], n_candidates, len(cells.rows)) <= memory:
        return RowEngine.from_rows(H, rows, splits, cells, halved)
    # Otherwise sums do not fit into memory: rows are summed anew for every candidate.
    validation = validation_features(H, rows.T, rows.weight, splits, halved)
    trainers: list[Trainer] = [
        SystemTrainer(TakenRows(H, rows, split.train), (rows.T.shape[1], L)) for split in splits
    ]
    name = "sums over all rows for every candidate (LAPACK)"
    return LayerEngine(trainers, validation, name, memory // SCORES_SHARE)


def _block_engine(
    H: FloatArray,
    rows: CostedRows,
    splits: list[Split],
    cells: Cells,
    halved: bool,
    memory: int,
) -> LayerEngine:
    # Folds share most of their training rows: each cell is summed once for all of them.
    sums = [BlockSystem.from_rows(H[cell], rows.taken(cell)).blocks for cell in cells.rows]
    trainers: list[Trainer] = []
    for members in cells.members:
        own = [one for one, is_member in zip(sums, members, strict=True) if is_member]
        trainers.append(BlockTrainer.from_system(BlockSystem(reduce(GramBlocks.__add__, own))))
    validation = validation_features(H, rows.T, rows.weight, splits, halved)
    name = f"sums by {rows.n_groups} cost groups of {H.shape[1]} units ({compiled.path_name()})"
    return LayerEngine(trainers, validation, name, memory // SCORES_SHARE)


def _row_bytes(N: int, height: int, n_candidates: int, n_cells: int) -> int:
    """Return what a :class:`RowEngine` keeps: rows, and two sets of sums."""
    return 8 * N * height + 16 * n_candidates * height * height * n_cells
