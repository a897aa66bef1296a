"""What a model knows of its training rows, solved for any cost coefficients.

A learner is made from rows, never changed, and solves eq. (15) for the coefficients
of its cost groups. ``LayerLearner`` is also the state of sequential learning: OS-ELM
updates the inverse of the normal equations with every chunk, but adding up the
equations themselves and solving them afresh costs no more, loses nothing to rounding,
and lets weights that depend on class counts wait until the counts are known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ecselm._typing import FloatArray
from ecselm.elm.layers import LayerRecipe
from ecselm.elm.rows import Rows
from ecselm.elm.sample import RowSample
from ecselm.hidden import HiddenLayer, KernelMap
from ecselm.solvers import GramBlocks, Solution
from ecselm.solvers.weighted import dual_solution, primal_solution, solve_weighted

WARM_UP = 2048  # rows from which a stream takes the scale of its inputs
KEPT_ENTRIES = 1 << 20  # sums by cost group that fit keeps for partial_fit: 8 MiB at most


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
    sample: RowSample | None

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
        sample = None if rng is None else RowSample.from_rows(rows, rng)
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
        be, so that no cut of the rows matters.
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


def finite(values: FloatArray, name: str, value: str | Callable[..., Any] | None) -> FloatArray:
    """Return ``values``, or refuse the parameter ``name`` that let them overflow."""
    if not np.isfinite(values).all():
        raise ValueError(
            f"{name} must give finite values for these data, got infinite or NaN ones from "
            f"{name}={value!r}; scale the inputs or choose another {name}"
        )
    return values
