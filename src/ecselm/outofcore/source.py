"""The source of a search out of core: validation rows in memory, sums over all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from ecselm import _native as compiled
from ecselm._typing import AnyArray, BoolArray, FloatArray
from ecselm.estimators._ensemble import KernelSums
from ecselm.estimators._layers import LayerRecipe, finite
from ecselm.estimators._source import EngineLimits, LayerModel, TrainingData
from ecselm.fitness import CostedRows, Engine, Split
from ecselm.fitness.engines import SCORES_SHARE, LayerEngine, ValidationFeatures
from ecselm.fitness.folds import N_LISTED, FoldAssignment
from ecselm.fitness.systems import BlockSystem, BlockTrainer, System, Trainer
from ecselm.layers import HiddenLayer, KernelMap, RandomLayer
from ecselm.linalg import GramBlocks
from ecselm.outofcore.blocks import Blocks, RowBlock, named
from ecselm.outofcore.passes import FoldPlan, Grouping, LayerSums, RowListing, RowSummary

SUMS = "adding up"


def measured_layer(recipe: LayerRecipe, known: RowSummary) -> RandomLayer:
    """Return the layer that :meth:`LayerRecipe.make` makes of all rows."""
    layer = recipe.scaled(known.scale.scale(recipe.scale))
    layer.warn_if_saturated(known.head.X)
    return layer


@dataclass(slots=True)
class SampledSource:
    """A sample of validation rows in memory, and sums over all rows: a ``SumsSource``.

    However many rows there are, it holds the sample, the smallest hashes and the sums. By
    class the weights of the sample add up to those of all rows. A class that only rows of
    weight 0 have is shown by a row of weight 0.
    """

    blocks: Blocks
    known: RowSummary
    grouping: Grouping
    masses: FloatArray  # (g,) sums of weights
    sample: RowBlock
    X: Any = field(init=False)
    y: AnyArray = field(init=False)
    sample_weight: FloatArray | None = field(init=False)
    _plan: FoldPlan | None = None
    _sums: GramBlocks | None = None

    def __post_init__(self) -> None:
        rows = replace(self.sample, weight=self._weights())
        labels = self.known.labels
        unseen = rows.y[:0] if labels is None else np.setdiff1d(labels.classes, rows.y)
        if len(unseen) and rows.weight is not None:
            first = rows.taken(np.zeros(len(unseen), dtype=np.intp))
            rows = rows.joined(replace(first, y=unseen, weight=np.zeros(len(unseen))))
        self.X, self.y = named(rows.X, self.blocks.names), rows.y
        self.sample_weight = rows.weight

    def _weights(self) -> FloatArray | None:
        """Return the weights of the sample, None where it is all rows and these have none."""
        own = self.sample.weight
        if self.is_complete:
            return own
        weight = np.ones(len(self.sample)) if own is None else own.astype(np.float64)
        codes = self.grouping.codes(self.sample)
        sampled = np.bincount(codes, weight, self.grouping.n_groups)
        return weight * (self.masses / np.where(sampled > 0, sampled, 1.0))[codes]

    @property
    def listing(self) -> RowListing:
        """Return what is known of single rows."""
        if self.known.listing is None:
            raise TypeError("rows must be listed to be searched on")
        return self.known.listing

    @property
    def n_rows(self) -> int:
        """Return the number of rows of positive weight."""
        return int(self.listing.sample.counts.sum())

    @property
    def is_complete(self) -> bool:
        """Tell whether the sample is all rows of positive weight."""
        return len(self.sample) == self.n_rows

    @property
    def folds(self) -> FoldPlan:
        """Return the folds of all rows."""
        if self._plan is None:
            raise TypeError("rows must be assigned to folds before they are summed")
        return self._plan

    def splits(
        self, data: TrainingData, fitness: Any, fraction: float, rng: np.random.Generator
    ) -> list[Split]:
        """Assign all rows to folds, and return the splits of the sample."""
        labels, hashes = self.known.labels, self.listing.hashes
        groups = range(self.grouping.n_groups) if labels is None else labels.classes.tolist()
        listed = {code: hashes[group] for code, group in enumerate(groups) if group in hashes}
        assignment = FoldAssignment.drawn(listed, rng, N_LISTED)
        self._plan = FoldPlan.of_fitness(fitness, assignment, fraction)
        own = self._plan.folds(self.sample.X, self.grouping.codes(self.sample))
        return [
            Split(np.flatnonzero(train[own]), np.flatnonzero(own == fold))
            for train, fold in zip(self._plan.train, self._plan.validation, strict=True)
        ]

    def layer(self, recipe: LayerRecipe, data: TrainingData) -> HiddenLayer:
        """Return the layer scaled by all rows; a transformer is fitted to the sample."""
        if recipe.transformer is None:
            layer: HiddenLayer = measured_layer(recipe, self.known)
        else:
            layer = recipe.make(data.X, data.weight)
        self._sums = None
        return layer

    def kernel_sums(self, by_class: FloatArray) -> KernelSums | None:
        """Return what sums behind kernels over all rows for costs (k,), in one pass.

        None if the sample is all rows: then it is the faster and more accurate source.
        """
        if self.is_complete:
            return None

        def over_all_rows(layers: Sequence[KernelMap]) -> list[GramBlocks]:
            add_up = partial(
                LayerSums.weighted, layers=layers, grouping=self.grouping, costs=by_class
            )
            sums: LayerSums = self.blocks.reduce(add_up, LayerSums.__add__, SUMS)
            for total in sums.behind:
                finite(total.grams, "X", "inputs this large")
            return sums.behind

        return over_all_rows

    def model(self, layer: HiddenLayer, data: TrainingData, name: str, value: Any) -> SampledModel:
        """Return the sample behind a layer, which is trained on all rows."""
        H = LayerModel.on_rows(layer, data.X, name, value).H
        return SampledModel(layer, H, self, (name, value))

    def identity(self) -> dict[str, Any]:
        """Return fingerprints of all rows."""
        return {"rows": self.listing.fingerprints}

    def sums(self, layer: HiddenLayer) -> GramBlocks:
        """Return the sums behind the layer by fold and group, in this order, made once."""
        if self._sums is None:
            add_up = partial(LayerSums.of, layers=[layer], grouping=self.grouping, plan=self.folds)
            (self._sums,) = self.blocks.reduce(add_up, LayerSums.__add__, SUMS).behind
        return self._sums


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

    source: SampledSource
    parameter: tuple[str, Any]  # to be blamed if H overflows, and its value

    def engine(self, rows: CostedRows, splits: list[Split] | None, limits: EngineLimits) -> Engine:
        """Return the engine that trains on all rows and validates on the sample."""
        if splits is None:
            raise ValueError("fitness must not be 'loo' where rows are summed in blocks")
        halved = 4 * self.H.size < limits.memory / 4
        trainers: list[Trainer] = []
        validation: list[ValidationFeatures] = []
        plan = self.source.folds
        every = np.arange(plan.n_folds)
        for split, train, fold in zip(splits, plan.train, plan.validation, strict=True):
            trainers.append(BlockTrainer.from_system(BlockSystem(self._over(train))))
            weight = None if rows.weight is None else rows.weight[split.test]
            total = self._over(every == fold).weighted(np.ones(rows.n_groups))
            validation.append(
                SampledFeatures(self.H[split.test], rows.T[split.test], weight, halved, total)
            )
        name = f"sums by {rows.n_groups} cost groups of {self.H.shape[1]} units over blocks"
        return LayerEngine(
            trainers, validation, f"{name} ({compiled.path_name()})", limits.memory // SCORES_SHARE
        )

    def system(self, rows: CostedRows) -> System:
        """Return the system that solves (15) on all rows."""
        return BlockSystem(self._over(np.ones(self.source.folds.n_folds, dtype=bool)))

    def _over(self, folds: BoolArray) -> GramBlocks:
        """Return the sums by cost group over some folds."""
        sums, g = self.source.sums(self.layer), self.source.grouping.n_groups
        finite(sums.grams, *self.parameter)

        def added(values: FloatArray) -> FloatArray:
            return values.reshape(len(folds), g, *values.shape[1:])[folds].sum(axis=0)

        return GramBlocks(added(sums.grams), added(sums.moments), added(sums.squares), sums.eps)
