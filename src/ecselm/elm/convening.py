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
from ecselm.elm.cross_choice import Parts, cross_judges, cross_scores
from ecselm.elm.evolution import Evolution
from ecselm.elm.evolving import CostProblem, EvolvingMachine, TrainingRows
from ecselm.elm.fitness import judged_rows
from ecselm.elm.jobs import thread_number
from ecselm.elm.layer_kinds import KindLayer, layers_of_kinds
from ecselm.elm.learned import LearnedCosts, SearchPlan
from ecselm.elm.machine import LayerMachine
from ecselm.elm.offset import best_cuts
from ecselm.elm.verdict import Verdict, weigh
from ecselm.hidden import HiddenLayer
from ecselm.objectives import CostedRows, CostEncoding, CostObjective, Engine, Judge, Split

N_PENALTIES = 12  # values of C that every layer tries
MOST_LAYERS = 24
N_DIGITS = 9  # of log(C B), by which two machines are told from one
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
        layers_rng, folds_rng, search_rng, parts_rng = rng.spawn(4)
        splits = self._splits(rows, folds_rng)
        checkpoint = self._resumed(plan, problem, splits, seed)  # refused before sums are made
        layers = self._kinds(rows, layers_rng)
        prepared = self._preparing(rows, costed, splits, plan)
        positions = judged_rows(splits, len(costed))
        judge, keys = problem.judge(positions), rows.keys(positions)
        parts = Parts.dealt(judge, keys, parts_rng) if self.keep_prior else None
        pool = self._judged_priors(plan, layers, prepared, judge, parts)
        found = self._searched_on(pool, plan, layers, prepared, judge, search_rng, checkpoint)
        assembly = Assembly(layers, costed, prepared, plan, positions)
        self._tell_verdict(assembly.verdict(pool, parts, judge, keys))
        if self.keeps_prior_:
            found = replace(found, point=pool.best_prior)
        committee = assembly(pool, None if self.keeps_prior_ else judge)
        learned = self._settled(plan.encoding, found)
        self.C_, self.gamma_ = learned.C, None
        members = assembly.rows_of(pool.members(of_prior=self.keeps_prior_))
        return Convened(learned, committee, members, costed)

    def _kinds(self, rows: TrainingRows, rng: np.random.Generator) -> list[KindLayer]:
        """Return the layers of all kinds and widths."""
        scale = "standard" if self.scale == "auto" else self.scale
        return layers_of_kinds(rows.X, rows.weight, self.n_hidden, scale, rng)

    def _behind(self, layer: HiddenLayer, rows: TrainingRows) -> LayerMachine:
        """Return the machine behind one of them."""
        return LayerMachine.on_rows(layer, rows.X, "activation", self.activation)

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
            machine = self._behind(kind.layer, rows)
            return machine, machine.engine(costed, splits, needs)

        copies = 4 * MOST_LAYERS * len(costed) * self.n_hidden * 8  # H, and parts of it by split
        return lru_cache(None)(prepared) if copies <= needs.memory else prepared

    def _judged_priors(
        self,
        plan: SearchPlan,
        layers: list[KindLayer],
        prepared: Prepared,
        judge: Judge,
        parts: Parts | None,
    ) -> Pool:
        """Judge the powers of W1 with several C behind every layer."""
        judges = [judge, *([] if parts is None else cross_judges(parts))]
        points, of_prior = self._grid(plan)
        pool, pull = Pool(), self._pull(plan)
        with Workers(thread_number(self.n_jobs)) as workers:
            for i, kind in enumerate(layers):
                _, engine = prepared(kind)
                objective = CostObjective(plan.encoding, engine, judge, workers, pull)
                losses, *elsewhere = objective.of_judges(points, judges)
                apart = np.array(elsewhere).reshape(-1, len(points))
                pool.judged.append(Judged(i, kind.kind, points, losses, of_prior, apart))
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
            for C in encoding.C.evenly(N_PENALTIES):
                points.append(encoding.encode(known, C))
                of_prior.append(path is not None and i == path.asked_for and inside is not None)
        return self._distinct(encoding, np.stack(points), np.array(of_prior))

    def _distinct(
        self, encoding: CostEncoding, points: FloatArray, of_prior: BoolArray
    ) -> tuple[FloatArray, BoolArray]:
        """Return one point for every machine, the prior's where that is among several.

        Classes of equal size, and costs moved to what is known, make points that differ
        stand for one machine: ``(s B, C)`` and ``(B, s C)`` are the same.
        """
        found = encoding.decode(points)
        machines = np.log(found.costs * found.C[:, np.newaxis]).round(N_DIGITS)
        prior_first = np.argsort(~of_prior, kind="stable")
        _, first = np.unique(machines[prior_first], axis=0, return_index=True)
        kept = np.sort(prior_first[first])
        return points[kept], of_prior[kept]


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

    def verdict(
        self, pool: Pool, parts: Parts | None, judge: Judge, keys: AnyArray
    ) -> Verdict | None:
        """Return whether learned costs beat prior ones, each chosen by other rows."""
        if parts is None or not pool.has_prior:
            return None

        def scores(layer: int, points: FloatArray) -> FloatArray:
            _, engine = self.prepared(self.layers[layer])
            return engine.scores(self.plan.encoding.decode(points, scaled=False))

        judged = self.rows.taken(self.judged)
        learned, prior = (
            cross_scores(pool, parts, judged, scores, of_prior=of_prior)
            for of_prior in (False, True)
        )
        return weigh(judge, learned, prior, keys)

    def rows_of(self, members: list[Members]) -> list[tuple[Any, ...]]:
        """Return kind and width of the layer, C and the costs by class of every member."""
        rows = []
        for one in members:
            kind, found = self.layers[one.layer], self.plan.encoding.decode(one.points)
            for C, costs in zip(found.C.tolist(), found.costs.tolist(), strict=True):
                rows.append((kind.kind, kind.width, C, *costs))
        return rows
