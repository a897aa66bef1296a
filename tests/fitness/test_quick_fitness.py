"""Fitness without scores is the fitness of the scores."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ecselm.costs.feasible import FeasibleRegion
from ecselm.costs.levels import ClassLevel
from ecselm.fitness import (
    ConfusionFitness,
    CostedRows,
    CostEncoding,
    CostObjective,
    ErrorFitness,
    RowCostFitness,
    Span,
    TieBreakingFitness,
    every_row,
    fold_splits,
    layer_engine,
)
from ecselm.fitness.objective import QuickFitness
from ecselm.metrics.confusion import accuracy, gmean
from tests.conftest import targets

pytestmark = pytest.mark.usefixtures("either_path")

N, L, P = 80, 6, 20
KS = pytest.mark.parametrize("k", [2, 4], ids=["two classes", "four classes"])
WEIGHTED = pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
SPLITTER = pytest.mark.parametrize("splitter", ["train", "folds"])
JUDGES = ["counts", "squares", "counts without ties", "squares without ties"]


def made(rng, k, weighted, splitter):
    """Return an engine, an encoding, and the truth in the order of the validation rows."""
    y = rng.permutation(np.arange(N) % k)
    H = np.tanh(rng.standard_normal((N, L)) + 0.5 * y[:, np.newaxis])
    T = targets(y)[:, 1:] if k == 2 else targets(y)
    weight = rng.choice([0.5, 1.0, 3.0], N) if weighted else None
    rows = CostedRows(T, y, k, weight)
    splits = every_row(N) if splitter == "train" else fold_splits(H, y, 4, rng)
    region = FeasibleRegion(np.full(k, 0.1), np.full(k, 10.0))
    encoding = CostEncoding(ClassLevel(k), region, Span(0.1, 100.0, 4.0), masses=rows.masses())
    order = np.concatenate([split.test for split in splits])
    truth = y[order], T[order], None if weight is None else weight[order]
    return layer_engine(H, rows, splits), encoding, truth


def judge_of(name, k, truth):
    y, T, weight = truth
    counts, squares = ConfusionFitness(y, k, weight, gmean, 0.0), ErrorFitness(T, weight, np.square)
    return {
        "counts": counts,
        "squares": squares,
        "counts without ties": TieBreakingFitness(counts, T, weight),
        "squares without ties": TieBreakingFitness(squares, T, weight),
    }[name]


@KS
@WEIGHTED
@SPLITTER
@pytest.mark.parametrize("name", JUDGES)
def test_fitness_is_that_of_the_scores(rng, k, weighted, splitter, name):
    engine, encoding, truth = made(rng, k, weighted, splitter)
    fitness, points = judge_of(name, k, truth), encoding.box.sample(P, rng)
    candidates = encoding.decode(points)
    assert fitness.is_quick
    assert isinstance(fitness, QuickFitness)
    slow = fitness(engine.scores(candidates))
    assert_allclose(fitness.of_solved(engine.solved(candidates)), slow, rtol=1e-10)
    assert_allclose(CostObjective(encoding, engine, fitness)(points), -slow, rtol=1e-9)


@KS
@WEIGHTED
def test_counts_are_the_same_to_the_bit(rng, k, weighted):
    engine, encoding, truth = made(rng, k, weighted, "folds")
    fitness = ConfusionFitness(truth[0], k, truth[2], accuracy, 0.0)
    candidates = encoding.decode(encoding.box.sample(P, rng))
    slow = fitness(engine.scores(candidates))
    quick = fitness.of_solved(engine.solved(candidates))
    if weighted:  # weights are added in another order
        assert_allclose(quick, slow, rtol=1e-14)
    else:
        assert_array_equal(quick, slow)


def test_judges_that_need_scores_say_so(rng):
    y, T = np.arange(9) % 3, rng.standard_normal((9, 3))
    smoothed = ConfusionFitness(y, 3, None, accuracy, 0.5)
    absolute = ErrorFitness(T, None, np.abs)
    for fitness in (smoothed, absolute, TieBreakingFitness(smoothed, T, None)):
        assert not fitness.is_quick
    by_row = RowCostFitness(y, np.ones((9, 3)), None, 0.0)
    assert not isinstance(by_row, QuickFitness)
    assert not TieBreakingFitness(by_row, T, None).is_quick


@pytest.mark.parametrize("name", JUDGES)
def test_a_candidate_without_a_solution_loses_and_harms_no_other(rng, name):
    y = np.arange(N) % 2
    H, T = rng.standard_normal((N, L)), targets(y)[:, 1:]
    rows = CostedRows(T, y, 2)
    C = 1.0 / np.linalg.eigvalsh(H.T @ H)[-1]  # where B = -1 is singular
    region = FeasibleRegion(np.full(2, -1.0), np.full(2, 1.0))
    encoding = CostEncoding(ClassLevel(2), region, Span.fixed(C), log=False)
    fitness = judge_of(name, 2, (y, T, None))
    objective = CostObjective(encoding, layer_engine(H, rows, every_row(N)), fitness)
    points = np.array([[1.0, 0.5], [-1.0, -1.0], [0.2, 1.0]])
    losses = objective(points)
    assert losses[1] == np.inf
    assert_allclose(losses[[0, 2]], objective(points[[0, 2]]), rtol=1e-12)
