"""Searches of costs whose systems are sums over partitions.

They are the ordinary searches, given a sample of the rows to judge by, whose weights stand
for all rows. What they are trained on are sums over all rows, made in one pass; after it
nothing that a search does depends on how many rows there are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ecselm import compiled
from ecselm._typing import BoolArray, FloatArray
from ecselm.dask.gathered import GatheredRows
from ecselm.dask.layers import measured_layer
from ecselm.elm import ECSELMClassifier, ECSELMRegressor
from ecselm.elm.evolving import CostProblem, EvolvingMachine, TrainingRows
from ecselm.elm.layer_kinds import KindInputs, KindLayer, Ranks, landmark_places, layers_around
from ecselm.elm.learners import finite
from ecselm.elm.machine import EngineNeeds, LayerMachine
from ecselm.hidden import HiddenLayer
from ecselm.objectives import CostedRows, Engine, Split
from ecselm.objectives.choice import SCORES_SHARE
from ecselm.objectives.engines import LayerEngine
from ecselm.objectives.judged import JudgedFeatures
from ecselm.objectives.systems import BlockSystem, System
from ecselm.objectives.trainers import BlockTrainer, Trainer
from ecselm.solvers import GramBlocks


@dataclass(frozen=True)
class SummedFeatures(JudgedFeatures):
    """Rows to judge by, of which squared errors are known over all rows, not the sample alone."""

    total: GramBlocks | None = None

    @property
    def _sums(self) -> GramBlocks:
        if self.total is None:
            raise TypeError("the sums of the judged rows must be given")
        return self.total


@dataclass(frozen=True, slots=True)
class SummedMachine(LayerMachine):
    """A sample of rows behind a hidden layer, and the sums over all rows."""

    rows: GatheredRows
    source: tuple[str, Any]  # the parameter that answers for H, and its value

    @classmethod
    def behind(
        cls, layer: HiddenLayer, sample: TrainingRows, rows: GatheredRows, source: tuple[str, Any]
    ) -> SummedMachine:
        """Compute H of the sample."""
        made = LayerMachine.on_rows(layer, sample.X, *source)
        return cls(layer, made.H, rows, source)

    def engine(self, rows: CostedRows, splits: list[Split] | None, needs: EngineNeeds) -> Engine:
        """Return what trains candidates on all rows and judges them by the sample."""
        if splits is None:
            raise ValueError("fitness must not be 'loo' on Dask, which needs all rows at once")
        halved = 4 * self.H.size < needs.memory / 4
        trainers: list[Trainer] = []
        judged: list[JudgedFeatures] = []
        how = self.rows.dealt
        every = np.arange(how.n_cells)
        for split, trained, cell in zip(splits, how.trained, how.judged, strict=True):
            trainers.append(BlockTrainer.from_system(BlockSystem(self._over(trained))))
            weight = None if rows.weight is None else rows.weight[split.test]
            total = self._over(every == cell).weighted(np.ones(rows.n_groups))
            judged.append(
                SummedFeatures(self.H[split.test], rows.T[split.test], weight, halved, total)
            )
        name = f"sums by {rows.n_groups} cost groups of {self.H.shape[1]} units over partitions"
        return LayerEngine(
            trainers, judged, f"{name} ({compiled.path_name()})", needs.memory // SCORES_SHARE
        )

    def system(self, rows: CostedRows) -> System:
        """Return what solves (15) on all rows."""
        return BlockSystem(self._over(np.ones(self.rows.dealt.n_cells, dtype=bool)))

    def _over(self, cells: BoolArray) -> GramBlocks:
        """Return the sums by cost group over some cells."""
        sums, g = self.rows.sums(self.layer), self.rows.n_groups
        finite(sums.grams, *self.source)

        def added(values: FloatArray) -> FloatArray:
            return values.reshape(len(cells), g, *values.shape[1:])[cells].sum(axis=0)

        return GramBlocks(added(sums.grams), added(sums.moments), added(sums.squares), sums.eps)


class SummedSearch(EvolvingMachine):
    """Mixin of searches that are fitted to a sample and trained on all rows."""

    _gathered: GatheredRows

    def _layer(self, rows: TrainingRows, rng: np.random.Generator) -> LayerMachine:
        recipe = self._recipe(rows.X, rng)
        layer = measured_layer(recipe, self._gathered.known)
        self._gathered.put_behind([layer])
        return SummedMachine.behind(layer, rows, self._gathered, recipe.source)

    def _splits(self, rows: TrainingRows, rng: np.random.Generator) -> list[Split] | None:
        return self._gathered.splits(self.fitness, self.validation_fraction, rng)

    def _resumed(self, plan: Any, problem: CostProblem, splits: Any, seed: int) -> Any:
        extra = {**problem.extra, "rows": self._gathered.roll.mark}
        return super()._resumed(plan, replace(problem, extra=extra), splits, seed)


class SummedClassifier(SummedSearch, ECSELMClassifier):
    """:class:`ECSELMClassifier` on sums."""

    def _kinds(self, rows: TrainingRows, rng: np.random.Generator) -> list[KindLayer]:
        """Return the layers; ranks of inputs are those among the sample."""
        rows_rng, units_rng = rng.spawn(2)
        gathered, total = self._gathered, self._gathered.known.scale
        scale = total.scale("standard" if self.scale == "auto" else self.scale)
        distinct = gathered.distinct()
        places = distinct[landmark_places(len(distinct), self.n_hidden, rows_rng)]
        landmarks, ranks = gathered.inputs_at(places), Ranks.measured(gathered.distinct_sample())
        known = KindInputs(scale, total.gamma(scale), landmarks, ranks)
        layers = layers_around(known, self.n_hidden, units_rng)
        gathered.put_behind([kind.layer for kind in layers])
        return layers

    def _behind(self, layer: HiddenLayer, rows: TrainingRows) -> LayerMachine:
        return SummedMachine.behind(layer, rows, self._gathered, ("activation", self.activation))


class SummedRegressor(SummedSearch, ECSELMRegressor):
    """:class:`ECSELMRegressor` on sums."""
