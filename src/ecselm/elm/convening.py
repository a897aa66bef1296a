"""The search of costs behind several layers, and the committee that comes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from ecselm._threads import Workers
from ecselm._typing import AnyArray, BoolArray, FloatArray, IntArray
from ecselm.elm.checkpoint import Checkpoint
from ecselm.elm.committee import Committee, Judged, Members, Pool, assembled
from ecselm.elm.evolution import Evolution
from ecselm.elm.evolving import CostProblem, EvolvingMachine, TrainingRows
from ecselm.elm.fitness import judged_rows
from ecselm.elm.jobs import thread_number
from ecselm.elm.layer_kinds import KindLayer, layers_of_kinds
from ecselm.elm.learned import LearnedCosts, SearchPlan
from ecselm.elm.machine import LayerMachine
from ecselm.elm.offset import best_cuts
from ecselm.elm.verdict import weigh
from ecselm.objectives import CostedRows, CostObjective, Engine, Judge, Split

N_PENALTIES = 12  # values of C that every layer tries
MOST_LAYERS = 24
Prepared = Callable[[KindLayer], tuple[LayerMachine, Engine]]


@dataclass(frozen=True, slots=True)
class Convened:
    """What a search behind several layers leaves to be stored."""

    learned: LearnedCosts
    committee: Committee
    members: list[tuple[Any, ...]]  # kind and width of the layer, C, costs by class
    rows: CostedRows


class Convening(EvolvingMachine):
    """Search costs behind layers of several kinds."""

    def _convene(self, problem: CostProblem) -> Convened:
        """Judge priors behind every layer, search on behind the best, and take the best of all."""
        rng, seed = self._stream()
        rows, costed = problem.rows, problem.costed()
        C, _ = self._spans(None)
        plan = self._planned(problem, costed, C)
        layers_rng, folds_rng, search_rng = rng.spawn(3)
        splits = self._splits(rows, folds_rng)
        checkpoint = self._resumed(plan, problem, splits, seed)  # refused before sums are made
        scale = "standard" if self.scale == "auto" else self.scale
        layers = layers_of_kinds(rows.X, rows.weight, self.n_hidden, scale, layers_rng)
        prepared = self._preparing(rows, costed, splits, plan)
        positions = judged_rows(splits, len(costed))
        judge = problem.judge(positions)
        pool = self._judged_priors(plan, layers, prepared, judge)
        found = self._searched_on(pool, plan, layers, prepared, judge, search_rng, checkpoint)
        assembly = Assembly(layers, costed, prepared, plan, positions)
        committee = assembly(pool, judge)
        if not self._pays(committee, assembly, pool, judge, rows.keys(positions)):
            committee = assembly(pool, None)
            found = replace(found, point=pool.best_prior)
        learned = self._settled(plan.encoding, found)
        self.C_, self.gamma_ = learned.C, None
        members = assembly.rows_of(pool.members(of_prior=self.keeps_prior_))
        return Convened(learned, committee, members, costed)

    def _searched_on(
        self,
        pool: Pool,
        plan: SearchPlan,
        layers: list[KindLayer],
        prepared: Prepared,
        judge: Judge,
        rng: np.random.Generator,
        checkpoint: Checkpoint | None,
    ) -> Evolution:
        """Search behind the best layer, and add what is found to the pool."""
        best = pool.best
        _, engine = prepared(layers[best.layer])
        threads = thread_number(self.n_jobs)
        found = self._evolved(plan, engine, judge, rng, checkpoint, threads)
        pool.add_found(best, found.point, -found.score)
        return found

    def _preparing(
        self,
        rows: TrainingRows,
        costed: CostedRows,
        splits: list[Split] | None,
        plan: SearchPlan,
    ) -> Prepared:
        """Return what computes H behind a layer, and the sums that candidates need."""
        needs = self._needs(plan, rows)

        def prepared(kind: KindLayer) -> tuple[LayerMachine, Engine]:
            machine = LayerMachine.on_rows(kind.layer, rows.X, "activation", self.activation)
            return machine, machine.engine(costed, splits, needs)

        copies = 4 * MOST_LAYERS * len(costed) * self.n_hidden * 8  # H, and parts of it by split
        return lru_cache(None)(prepared) if copies <= needs.memory else prepared

    def _judged_priors(
        self, plan: SearchPlan, layers: list[KindLayer], prepared: Prepared, judge: Judge
    ) -> Pool:
        """Judge the powers of W1 with several C behind every layer."""
        points, of_prior = self._grid(plan)
        pool, pull = Pool(), self._pull(plan)
        with Workers(thread_number(self.n_jobs)) as workers:
            for i, kind in enumerate(layers):
                _, engine = prepared(kind)
                objective = CostObjective(plan.encoding, engine, judge, workers, pull)
                pool.judged.append(Judged(i, kind.kind, points, objective(points), of_prior))
        return pool

    def _grid(self, plan: SearchPlan) -> tuple[FloatArray, BoolArray]:
        """Return points (n, D) of costs and C, and whether their costs are the prior's.

        Costs that contradict what is known are moved to the nearest that do not.
        """
        encoding, path = plan.encoding, plan.path
        points, of_prior = [], []
        for i, entries in enumerate(np.empty((0, 0)) if path is None else path.entries):
            inside = self._inside(encoding.region, entries)
            known = encoding.region.repaired(entries[np.newaxis])[0] if inside is None else inside
            for C in encoding.C.grid(N_PENALTIES):
                points.append(encoding.encode(known, C))
                of_prior.append(path is not None and i == path.asked_for and inside is not None)
        _, first = np.unique(np.stack(points), axis=0, return_index=True)
        kept = np.sort(first)
        return np.stack(points)[kept], np.array(of_prior)[kept]

    def _pays(
        self,
        committee: Committee,
        assembly: Assembly,
        pool: Pool,
        judge: Judge,
        keys: AnyArray,
    ) -> bool:
        """Tell whether what was learned beats the prior by more than the noise."""
        if not (self.keep_prior and pool.has_prior):
            self._tell_verdict(None)
            return True
        prior = assembly(pool, None)
        self._tell_verdict(weigh(judge, committee.held_out, prior.held_out, keys))
        return not self.keeps_prior_


@dataclass(frozen=True, slots=True)
class Assembly:
    """Makes a committee from a pool: of all that was judged, or of prior costs alone."""

    layers: list[KindLayer]
    rows: CostedRows
    prepared: Prepared
    plan: SearchPlan
    judged: IntArray  # positions

    def __call__(self, pool: Pool, judge: Judge | None) -> Committee:
        """Return the committee, its scores cut where the judge likes them best.

        Without a judge, that of prior costs, whose scores are not cut.
        """
        members = pool.members(of_prior=judge is None)
        decode = self.plan.encoding.decode
        made = assembled(members, self.layers, self.rows, self.prepared, decode, self.judged)
        if judge is not None:
            made = made.cut_at(best_cuts(made.held_out, made.rows.groups, made.rows.weight, judge))
        return made.sized()

    def rows_of(self, members: list[Members]) -> list[tuple[Any, ...]]:
        """Return kind and width of the layer, C and the costs by class of every member."""
        rows = []
        for one in members:
            kind, found = self.layers[one.layer], self.plan.encoding.decode(one.points)
            for C, costs in zip(found.C.tolist(), found.costs.tolist(), strict=True):
                rows.append((kind.kind, kind.width, C, *costs))
        return rows
