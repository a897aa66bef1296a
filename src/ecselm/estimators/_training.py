"""Training rows, the layer they pass through, and the sums that are solved."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ecselm._threads import row_blocks, share_out
from ecselm._typing import FloatArray, IntArray, Matrix
from ecselm.costs import CostTerms
from ecselm.estimators._layers import LayerRecipe, finite
from ecselm.fitness.sampling import RowSample
from ecselm.layers import HiddenLayer, KernelMap
from ecselm.linalg import GramBlocks, GramSum, Solution
from ecselm.linalg.ridge import dual_solution, primal_solution, solve_weighted

SAMPLE_ROWS = 2048
WARM_UP = 2048  # rows from which a stream takes the scale of its inputs
KEPT_ENTRIES = 1 << 20  # sums by cost group that fit keeps for partial_fit: 8 MiB at most


class Share(NamedTuple):
    """Some rows of one cost group, with their weights."""

    group: int
    rows: slice | IntArray
    size: int
    weights: FloatArray | None


@dataclass(frozen=True, slots=True)
class Rows:
    """N rows: inputs, targets, cost terms, weights, and the class each belongs to."""

    X: Matrix  # (N, n)
    T: FloatArray  # (N, m)
    y: IntArray  # (N,) class codes; zeros in regression
    terms: CostTerms
    weight: FloatArray | None  # (N,)

    def __len__(self) -> int:
        return len(self.T)

    def joined(self, *others: Rows) -> Rows:
        """Return these rows and those of others, in this order."""
        every = (self, *others)
        return Rows(
            X=_stacked([rows.X for rows in every]),
            T=np.vstack([rows.T for rows in every]),
            y=np.concatenate([rows.y for rows in every]),
            terms=CostTerms(
                np.vstack([rows.terms.groups for rows in every]),
                np.vstack([rows.terms.factors for rows in every]),
                self.terms.n_groups,
                self.terms.kind,
            ),
            weight=np.concatenate(
                [
                    np.ones(len(rows), self.T.dtype) if rows.weight is None else rows.weight
                    for rows in every
                ]
            ),
        )

    def owned(self) -> Rows:
        """Return a copy that no later change of the caller's arrays can reach."""
        return self.taken(np.arange(len(self)))

    def taken(self, index: IntArray) -> Rows:
        """Return copies of some of the rows."""
        return Rows(
            X=self.X[index],
            T=self.T[index],
            y=self.y[index],
            terms=CostTerms(
                self.terms.groups[index],
                self.terms.factors[index],
                self.terms.n_groups,
                self.terms.kind,
            ),
            weight=None if self.weight is None else self.weight[index],
        )

    def split(self, n_first: int) -> tuple[Rows, Rows]:
        """Return the first rows, and the others."""
        every = np.arange(len(self))
        return self.taken(every[:n_first]), self.taken(every[n_first:])

    def counts(self, n_classes: int) -> FloatArray:
        """Return the weighted class counts n (k,)."""
        return _group_sums(self.y, self.weight, n_classes)

    def masses(self) -> FloatArray:
        """Return the weighted sum of the factors of every cost group (g,)."""
        factors = self.terms.factors
        if self.weight is not None:
            factors = factors * self.weight[:, np.newaxis]
        return _group_sums(self.terms.groups.ravel(), factors.ravel(), self.terms.n_groups)

    def check_some_cost(self) -> None:
        """Refuse rows of which none costs anything; a single chunk of a stream may."""
        if not self.masses().any():
            raise ValueError("costs must not be 0 for every row of positive weight")

    def weights(self, coefficients: FloatArray) -> FloatArray | None:
        """Return B times the sample weights, None where all are 1."""
        B = self.terms.vector(coefficients)
        if self.weight is None and (B == 1.0).all():
            return None
        return (B if self.weight is None else B * self.weight).astype(self.T.dtype)

    def total(self, layer: HiddenLayer, coefficients: FloatArray) -> GramBlocks:
        """Return the normal equations of (15) as one block."""
        w = self.weights(coefficients)
        shares = [
            Share(0, rows, rows.stop - rows.start, None if w is None else w[rows])
            for rows in row_blocks(len(self), layer.n_hidden)
        ]
        return self._sum(layer, shares, 1)

    def blocks(self, layer: HiddenLayer) -> GramBlocks:
        """Return the normal equations by cost group."""
        if self.terms.n_groups == 1:
            return self.total(layer, np.ones(1))
        shares = []
        for group in range(self.terms.n_groups):
            rows, terms = np.nonzero(self.terms.groups == group)
            w = self.terms.factors[rows, terms]
            if self.weight is not None:
                w = w * self.weight[rows]
            shares += [
                Share(group, rows[part], part.stop - part.start, w[part])
                for part in row_blocks(len(rows), layer.n_hidden)
            ]
        return self._sum(layer, shares, self.terms.n_groups)

    def _sum(self, layer: HiddenLayer, shares: list[Share], n_groups: int) -> GramBlocks:
        """Sum over the rows block by block: H is never held as a whole."""
        X, T = self.X, self.T
        largest = max((share.size for share in shares), default=0)

        def add_up(lane: list[Share]) -> GramSum:
            total = GramSum(largest, layer.n_hidden, T.shape[1], T.dtype, n_groups)
            with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused later
                for share in lane:
                    layer(X[share.rows], out=total.hidden(share.size))
                    total.add(T[share.rows], share.weights, share.group)
            return total

        total, *others = share_out(add_up, shares, threads=layer.concurrent)
        for other in others:
            total.merge(other)
        return total.blocks()


def _stacked(parts: list[Matrix]) -> Matrix:
    if any(sparse.issparse(part) for part in parts):
        return sparse.vstack([sparse.csr_array(part) for part in parts], format="csr")
    return np.vstack(parts)


def _group_sums(groups: IntArray, values: FloatArray | None, n_groups: int) -> FloatArray:
    sums = np.bincount(groups, weights=values, minlength=n_groups)
    return np.asarray(sums, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class CalibrationSample:
    """All rows up to ``SAMPLE_ROWS``, then a uniform sample of that many.

    The draws of the rows are one random stream, so any division into chunks keeps the same rows.
    """

    sample: RowSample
    rng: np.random.Generator

    @classmethod
    def from_rows(cls, rows: Rows, rng: np.random.Generator) -> CalibrationSample:
        """Begin a sample; ``rng`` is not advanced."""
        rng = deepcopy(rng)
        return cls(RowSample.of(rows, rng.random(len(rows)), SAMPLE_ROWS), rng)

    def extended(self, rows: Rows) -> CalibrationSample:
        """Return the sample after more rows."""
        rng = deepcopy(self.rng)
        more = RowSample.of(rows, rng.random(len(rows)), SAMPLE_ROWS)
        return CalibrationSample(self.sample + more, rng)

    @property
    def rows(self) -> Rows:
        """Return the rows of the sample."""
        rows: Rows = self.sample.rows
        return rows


@dataclass(frozen=True, slots=True)
class KernelLearner:
    """Training rows of a kernel machine."""

    layer: KernelMap
    known: Rows
    counts: FloatArray  # (k,) weighted class counts
    masses: FloatArray  # (g,) weighted factors of the cost groups

    def solve(self, coefficients: FloatArray, C: float) -> Solution:
        """Return alpha of (15) with the kernel in the place of H H'."""
        K = finite(self.layer(self.known.X), "kernel", self.layer.kernel)
        return dual_solution(K, self.known.T, self.known.weights(coefficients), C)


@dataclass(frozen=True, slots=True)
class LayerLearner:
    """Rows behind a hidden layer: the rows themselves, or only sums over them.

    A stream holds its first rows until the warm-up is over, because every chunk
    changes the scale of the inputs and with it H; then the layer is settled and the
    rows become sums by cost group.
    """

    recipe: LayerRecipe
    layer: HiddenLayer
    settled: bool
    known: Rows | GramBlocks
    counts: FloatArray  # (k,) weighted class counts
    masses: FloatArray  # (g,) weighted factors of the cost groups
    sample: CalibrationSample | None

    @classmethod
    def from_batch(
        cls, recipe: LayerRecipe, rows: Rows, n_classes: int, rng: np.random.Generator | None
    ) -> LayerLearner:
        """Make the layer for ``rows`` and sum over them where sums are small.

        With a generator ``rng`` a sample of the rows is kept beside the sums.
        """
        learner = cls._from_rows(recipe, rows, n_classes, rng, settled=True)
        L, g = learner.layer.n_hidden, rows.terms.n_groups
        small = g == 1 or g * L * (L + rows.T.shape[1]) <= KEPT_ENTRIES
        if len(rows) >= L and small:
            return learner._summed()
        return replace(learner, known=rows.owned()) if learner.extensible else learner

    @classmethod
    def from_first_chunk(
        cls, recipe: LayerRecipe, rows: Rows, n_classes: int, rng: np.random.Generator | None
    ) -> LayerLearner:
        """Begin a stream."""
        if recipe.data_free:
            return cls._from_rows(recipe, rows, n_classes, rng, settled=True)._summed()
        head, rest = rows.split(WARM_UP)
        learner = cls._from_rows(recipe, head, n_classes, rng, settled=False)
        return learner._warmed_up(rest)

    @classmethod
    def _from_rows(
        cls,
        recipe: LayerRecipe,
        rows: Rows,
        n_classes: int,
        rng: np.random.Generator | None,
        settled: bool,
    ) -> LayerLearner:
        layer = recipe.make(rows.X, rows.weight)
        sample = None if rng is None else CalibrationSample.from_rows(rows, rng)
        return cls(recipe, layer, settled, rows, rows.counts(n_classes), rows.masses(), sample)

    @property
    def extensible(self) -> bool:
        """Tell whether it is small enough to be kept: sums, or few rows."""
        if isinstance(self.known, GramBlocks):
            return True
        return not self.settled or len(self.known) < self.layer.n_hidden

    def extended(self, rows: Rows) -> LayerLearner:
        """Return the learner after one more chunk.

        The warm-up ends after exactly ``WARM_UP`` rows, in the middle of a chunk if need
        be, so that the division into chunks does not matter.
        """
        if self.settled or isinstance(self.known, GramBlocks):
            return self._counted(rows, self._sums() + rows.blocks(self.layer))
        head, rest = rows.split(WARM_UP - len(self.known))
        joined = self.known.joined(head)
        layer = self.recipe.make(joined.X, joined.weight)
        return replace(self._counted(head, joined), layer=layer)._warmed_up(rest)

    def _counted(self, rows: Rows, known: Rows | GramBlocks) -> LayerLearner:
        """Count ``rows``, which ``known`` includes."""
        return replace(
            self,
            known=known,
            counts=self.counts + rows.counts(len(self.counts)),
            masses=self.masses + rows.masses(),
            sample=None if self.sample is None else self.sample.extended(rows),
        )

    def _warmed_up(self, rest: Rows) -> LayerLearner:
        """Settle the layer if enough rows are held, then go on with the rest."""
        if isinstance(self.known, Rows) and len(self.known) < WARM_UP:
            return self
        settled = replace(self._summed(), settled=True)
        return settled.extended(rest) if len(rest) else settled

    def solve(self, coefficients: FloatArray, C: float) -> Solution:
        """Return beta of (15)."""
        known = self.known
        if isinstance(known, GramBlocks):
            return primal_solution(self._checked(known.weighted(coefficients)), C)
        if len(known) >= self.layer.n_hidden:
            return primal_solution(self._checked(known.total(self.layer, coefficients)), C)
        H = self.layer(known.X)
        finite(np.einsum("ij,ij->i", H, H), *self.recipe.source)
        return solve_weighted(H, known.T, known.weights(coefficients), C)

    def _sums(self) -> GramBlocks:
        known = self.known
        return known if isinstance(known, GramBlocks) else known.blocks(self.layer)

    def _summed(self) -> LayerLearner:
        return replace(self, known=self._sums())

    def _checked(self, total: GramBlocks) -> GramBlocks:
        # An infinite entry of H makes its square in the Gram matrix infinite.
        finite(total.grams, *self.recipe.source)
        return total
