"""Costs learned for decisions on probabilities that do not depend on them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ecselm._typing import AnyArray, BoolArray, FloatArray, IntArray
from ecselm.estimators._cost_search import PRIOR, TESTING, CostSearch, SearchResult
from ecselm.estimators._prior_test import PriorTest, prior_test
from ecselm.estimators._steps import Steps
from ecselm.fitness import Candidates, ConfusionFitness, Fitness, RowCostFitness

N_FOLDS = 3  # of the prior test: each has a search of its own
BATCH, BATCH_ENTRIES = 16, 1 << 22  # candidates and scores at a time, whatever the threads
MOST_CLASSES = 50  # whose costs are searched: beyond, there are few rows for each


@dataclass(frozen=True, slots=True)
class DecisionEngine:
    """Decide for the least expected cost under probabilities P of rows left out.

    Costs by class are spread over the confusions of a class in the proportions of a pattern,
    ``M_ij = b_i pattern_ij``, which is that of stated costs, or equal.
    """

    P: FloatArray  # (n, k)
    pattern: FloatArray  # (k, k)

    def __str__(self) -> str:
        return "decisions on probabilities of rows left out"

    def batch(self, n_candidates: int) -> int:
        """Return any number."""
        return BATCH

    def matrices(self, candidates: Candidates) -> FloatArray:
        """Return the costs of every confusion (P, k, k)."""
        if candidates.matrices is not None:
            return candidates.matrices
        return candidates.costs[:, :, np.newaxis] * self.pattern

    def scores(self, candidates: Candidates) -> FloatArray:
        """Return the negative expected costs (P, n, k), in units of the mean cost."""
        M = self.matrices(candidates)
        return -(self.P @ M) / M.mean(axis=(1, 2), keepdims=True)

    def taken(self, rows: BoolArray) -> DecisionEngine:
        """Return the engine of some of the rows."""
        return replace(self, P=self.P[rows])


def learn_decision(
    search: CostSearch,
    engine: DecisionEngine,
    fitness: Fitness,
    row_ids: AnyArray,
    rngs: tuple[np.random.Generator, np.random.Generator],
    steps: Steps,
    n_threads: int,
) -> tuple[SearchResult | None, PriorTest | None]:
    """Search the costs, and test them against the prior's on rows they were not searched on.

    Costs look better on the rows that chose them, so the test has costs of its own for every
    fold, searched on the other folds. An interrupt before the first generation leaves no
    result, one in the test leaves the costs that were found, untested.
    """
    search_rng, fold_rng = rngs
    try:
        result = search.run(engine, fitness, search_rng, steps, n_threads)
    except KeyboardInterrupt:
        if not steps.keeps:
            raise
        steps.skip("before its first generation")
        return None, None
    prior = result.priors.get(PRIOR)
    if not result.history.generations:
        return None, None
    if prior is None or result.history.reason == "interrupted":
        return result, None
    if not isinstance(fitness, ConfusionFitness | RowCostFitness):  # of no sums over rows
        return result, None
    assign_rng, *fold_rngs = fold_rng.spawn(1 + N_FOLDS)
    folds = _folds(fitness.y, row_ids, assign_rng)
    if len(np.unique(folds)) < N_FOLDS:  # too few rows to choose by
        return result, None
    # As many generations as the search had, however it ended.
    quiet = replace(
        search.settings,
        max_epochs=max(0, len(result.history.generations) - 1),
        max_time=None,
        callbacks=None,
        verbose=0,
    )
    rerun = replace(search, settings=quiet)
    plain = engine.scores(search.encoding.decode(prior.point[np.newaxis]))[0]
    learned = np.empty_like(plain)
    steps.bar.begin(TESTING, N_FOLDS * (quiet.max_epochs + 1))
    for fold, rng in enumerate(fold_rngs):
        others = folds != fold
        known = _fitness_of(fitness, others)
        name = f"fitness of fold {fold}"
        try:
            found = rerun.run(engine.taken(others), known, rng, steps, n_threads, name=name)
        except KeyboardInterrupt:
            if not steps.keeps:
                raise
            steps.skip("in the prior test")
        if steps.interrupted:
            return result, None
        one = search.encoding.decode(found.point[np.newaxis])
        learned[~others] = engine.taken(~others).scores(one)[0]
    return result, prior_test(fitness, learned, plain, row_ids)


def _folds(y: IntArray, row_ids: AnyArray, rng: np.random.Generator) -> IntArray:
    """Assign rows to folds class by class, those of the same hash or group together."""
    _, codes = np.unique(row_ids, return_inverse=True)
    fold, start = np.full(codes.max() + 1, -1), 0
    for c in np.unique(y):
        new = np.unique(codes[y == c])
        new = new[fold[new] < 0]
        fold[new] = (start + rng.permutation(len(new))) % N_FOLDS
        start += len(new)
    return fold[codes]


def _fitness_of(fitness: ConfusionFitness | RowCostFitness, rows: BoolArray) -> Fitness:
    weight = None if fitness.weight is None else fitness.weight[rows]
    if isinstance(fitness, ConfusionFitness):
        return replace(fitness, y=fitness.y[rows], weight=weight)
    return replace(fitness, y=fitness.y[rows], costs=fitness.costs[rows], weight=weight)
