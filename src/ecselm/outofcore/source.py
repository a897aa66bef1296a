"""Validation rows in memory, and sums over all rows: what a search out of core is given."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from ecselm import _native as compiled
from ecselm._typing import AnyArray, BoolArray, FloatArray
from ecselm.estimators._layers import (
    KindInputs,
    KindLayer,
    LayerRecipe,
    Ranks,
    finite,
    landmark_places,
    layers_around,
    uncentred,
)
from ecselm.estimators._source import EngineLimits, LayerModel, TrainingData
from ecselm.fitness import CostedRows, Engine, Split
from ecselm.fitness.engines import SCORES_SHARE, LayerEngine, ValidationFeatures
from ecselm.fitness.folds import N_LISTED, FoldAssignment, first_places, row_hashes
from ecselm.fitness.systems import BlockSystem, BlockTrainer, System, Trainer
from ecselm.layers import HiddenLayer, RandomLayer
from ecselm.linalg import GramBlocks
from ecselm.outofcore.blocks import Blocks, RowBlock, named
from ecselm.outofcore.passes import FoldPlan, Grouping, LayerSums, RowListing, Survey

SUMS = "adding up"


def measured_layer(recipe: LayerRecipe, known: Survey) -> RandomLayer:
    """Return the layer that :meth:`LayerRecipe.make` makes of all rows."""
    layer = recipe.scaled(known.scale.scale(recipe.scale))
    layer.warn_if_saturated(known.head.X)
    return layer


@dataclass(slots=True)
class SampledRows:
    """All rows of positive weight: a sample of them in memory, and sums over all.

    However many rows there are, it holds the sample and the smallest hashes.
    """

    blocks: Blocks
    known: Survey
    grouping: Grouping
    masses: FloatArray  # (g,) sums of weights
    listing: RowListing
    sample: RowBlock
    plan: FoldPlan | None = None
    _layers: list[HiddenLayer] = field(default_factory=list)
    _sums: list[GramBlocks] = field(default_factory=list)

    @property
    def n_rows(self) -> int:
        """Return the number of rows of positive weight."""
        return int(self.listing.sample.counts.sum())

    @property
    def is_complete(self) -> bool:
        """Tell whether the sample is all rows of positive weight."""
        return len(self.sample) == self.n_rows

    def stand_in(self) -> tuple[Any, AnyArray, FloatArray | None]:
        """Return inputs, targets and weights of the sample, which stand for all rows.

        By class its weights sum to those of all rows. A class that only rows of weight 0 have
        is shown by a row of weight 0.
        """
        X, y, weight = self.sample.X, self.sample.y, self._sample_weight()
        labels = self.known.labels
        unseen = y[:0] if labels is None else np.setdiff1d(labels.classes, y)
        if not len(unseen) or weight is None:
            return X, y, weight
        first = np.zeros(len(unseen), dtype=np.intp)
        more = RowBlock(X[first], unseen, np.zeros(len(unseen)))
        shown = RowBlock(X, y, weight).joined(more)
        return shown.X, shown.y, shown.weight

    def _sample_weight(self) -> FloatArray | None:
        """Return the weights of the sample, None where it is all rows and these have none."""
        own = self.sample.weight
        if self.is_complete:
            return own
        weight = np.ones(len(self.sample)) if own is None else own.astype(np.float64)
        codes = self.grouping.codes(self.sample)
        sampled = np.bincount(codes, weight, self.grouping.n_groups)
        return weight * (self.masses / np.where(sampled > 0, sampled, 1.0))[codes]

    def splits(self, fitness: Any, fraction: float, rng: np.random.Generator) -> list[Split]:
        """Assign all rows to folds, and return the splits of the sample."""
        labels = self.known.labels
        hashes = self.listing.hashes
        if labels is None:
            listed = {code: hashes[code] for code in sorted(hashes)}
        else:
            listed = {
                code: hashes[label]
                for code, label in enumerate(labels.classes.tolist())
                if label in hashes
            }
        plan = FoldPlan.of_fitness(fitness, FoldAssignment.drawn(listed, rng, N_LISTED), fraction)
        self.plan = plan
        own = plan.folds(self.sample.X, self.grouping.codes(self.sample))
        return [
            Split(np.flatnonzero(train[own]), np.flatnonzero(own == fold))
            for train, fold in zip(plan.train, plan.validation, strict=True)
        ]

    @property
    def folds(self) -> FoldPlan:
        """Return the folds of all rows."""
        if self.plan is None:
            raise TypeError("rows must be assigned to folds before they are summed")
        return self.plan

    def sum_behind(self, layers: list[HiddenLayer]) -> None:
        """Set the layers behind which rows are summed, all of them in one pass."""
        self._layers, self._sums = layers, []

    def sums(self, layer: HiddenLayer) -> GramBlocks:
        """Return the sums behind a layer by fold and group, in this order."""
        if not self._sums:
            function = partial(
                LayerSums.of, layers=self._layers, grouping=self.grouping, plan=self.folds
            )
            self._sums = self.blocks.reduce(function, LayerSums.__add__, SUMS).behind
        return self._sums[[one is layer for one in self._layers].index(True)]

    def distinct_sample(self) -> Any:
        """Return the distinct rows of the sample, in the order of their hashes."""
        return self.sample.X[first_places(row_hashes(self.sample.X))]


@dataclass(frozen=True)
class SampledFeatures(ValidationFeatures):
    """Validation rows whose squared errors are known over all rows, not the sample alone."""

    total: GramBlocks | None = None

    @property
    def _sums(self) -> GramBlocks:
        if self.total is None:
            raise TypeError("the sums of the validation rows must be given")
        return self.total


@dataclass(frozen=True, slots=True)
class SampledModel(LayerModel):
    """A sample of rows behind a hidden layer, and the sums over all rows."""

    rows: SampledRows
    parameter: tuple[str, Any]  # to be blamed if H overflows, and its value

    def engine(self, rows: CostedRows, splits: list[Split] | None, limits: EngineLimits) -> Engine:
        """Return the engine that trains on all rows and validates on the sample."""
        if splits is None:
            raise ValueError("fitness must not be 'loo' on Dask, which needs all rows at once")
        halved = 4 * self.H.size < limits.memory / 4
        trainers: list[Trainer] = []
        validation: list[ValidationFeatures] = []
        plan = self.rows.folds
        every = np.arange(plan.n_folds)
        for split, train, fold in zip(splits, plan.train, plan.validation, strict=True):
            trainers.append(BlockTrainer.from_system(BlockSystem(self._over(train))))
            weight = None if rows.weight is None else rows.weight[split.test]
            total = self._over(every == fold).weighted(np.ones(rows.n_groups))
            validation.append(
                SampledFeatures(self.H[split.test], rows.T[split.test], weight, halved, total)
            )
        name = f"sums by {rows.n_groups} cost groups of {self.H.shape[1]} units over partitions"
        return LayerEngine(
            trainers, validation, f"{name} ({compiled.path_name()})", limits.memory // SCORES_SHARE
        )

    def system(self, rows: CostedRows) -> System:
        """Return the system that solves (15) on all rows."""
        return BlockSystem(self._over(np.ones(self.rows.folds.n_folds, dtype=bool)))

    def _over(self, folds: BoolArray) -> GramBlocks:
        """Return the sums by cost group over some folds."""
        sums, g = self.rows.sums(self.layer), self.rows.grouping.n_groups
        finite(sums.grams, *self.parameter)

        def added(values: FloatArray) -> FloatArray:
            return values.reshape(len(folds), g, *values.shape[1:])[folds].sum(axis=0)

        return GramBlocks(added(sums.grams), added(sums.moments), added(sums.squares), sums.eps)


class SampledSource:
    """A sample of validation rows in memory, and sums over all rows: a ``SumsSource``."""

    def __init__(self, rows: SampledRows) -> None:
        self._rows = rows
        X, self.y, self.sample_weight = rows.stand_in()
        self.X = named(X, rows.blocks.names)

    def splits(
        self, data: TrainingData, fitness: Any, fraction: float, rng: np.random.Generator
    ) -> list[Split]:
        """Assign all rows to folds, and return the splits of the sample."""
        return self._rows.splits(fitness, fraction, rng)

    def layer(self, recipe: LayerRecipe, data: TrainingData) -> HiddenLayer:
        """Return the layer scaled by all rows; a transformer is fitted to the sample."""
        if recipe.transformer is None:
            layer: HiddenLayer = measured_layer(recipe, self._rows.known)
        else:
            layer = recipe.make(data.X, data.weight)
        self._rows.sum_behind([layer])
        return layer

    def layers(
        self, data: TrainingData, n_hidden: int, scale: str | None, rng: np.random.Generator
    ) -> list[KindLayer]:
        """Return the layers of all kinds; ranks of inputs are those among the sample."""
        rows, total, found = self._rows, self._rows.known.scale, self._rows.listing.landmarks
        if found is None:
            raise TypeError("rows must be listed with candidates for landmarks")
        rows_rng, units_rng = rng.spawn(2)
        measured = total.scale(scale)
        is_sparse = sparse.issparse(found.X)
        gamma = total.gamma(uncentred(measured) if is_sparse else measured)
        landmarks = found.X[landmark_places(len(found.hashes), n_hidden, rows_rng)]
        ranks = None if is_sparse else Ranks.measured(rows.distinct_sample())
        layers = layers_around(KindInputs(measured, gamma, landmarks, ranks), n_hidden, units_rng)
        rows.sum_behind([kind.layer for kind in layers])
        return layers

    def model(self, layer: HiddenLayer, data: TrainingData, name: str, value: Any) -> SampledModel:
        """Return the sample behind a layer, which is trained on all rows."""
        H = LayerModel.on_rows(layer, data.X, name, value).H
        return SampledModel(layer, H, self._rows, (name, value))

    def identity(self) -> dict[str, Any]:
        """Return fingerprints of all rows."""
        return {"rows": self._rows.listing.fingerprints}
