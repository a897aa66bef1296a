"""Generations in batches, on any number of threads: always the same bits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax

from ecselm._native.calls import LANES
from ecselm._threads import Workers
from ecselm.costs.feasible import FeasibleRegion
from ecselm.costs.levels import ClassLevel, MatrixLevel, SampleLevel
from ecselm.fitness import (
    ConfusionFitness,
    CostedRows,
    CostEncoding,
    CostObjective,
    ErrorFitness,
    ExpectedCostEngine,
    LeaveOneOutEngine,
    RememberedScores,
    Span,
    TrainingKernel,
    every_row,
    fold_splits,
    kernel_engine,
    layer_engine,
)
from ecselm.fitness.objective import batches_of
from ecselm.layers import KernelMap
from ecselm.metrics.confusion import accuracy
from tests.conftest import targets

N, L, K, P = 45, 5, 3, 40
KINDS = {  # engine: how costs are laid out
    "class": "class",
    "class by folds": "class",
    "class without memory": "class",
    "row": "sample",
    "row by folds": "sample",
    "row in samples": "sample",
    "kernel": "class",
    "kernel of any width": "class",
    "left out": "class",
    "left out of a kernel": "sample",
    "decision": "matrix",
}
SOLVING = {"class", "class by folds", "class without memory", "row", "row by folds"}
KIND = pytest.mark.parametrize("kind", KINDS)


class Liking:
    """An engine that likes batches of some size."""

    def __init__(self, size):
        self.size = size

    def batch(self, n_candidates):
        return self.size


@pytest.mark.parametrize("size", [4, 8, 16, 20, 48])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 6, 10, 15, 16, 17, 23, 30, 31, 47, 50, 101, 997])
def test_batches_hold_every_candidate_once_in_whole_lanes(n, size):
    batches = batches_of(n, Liking(size))
    positions = [i for batch in batches for i in range(n)[batch]]
    assert positions == list(range(n))
    assert all(batch.start % LANES == 0 for batch in batches)
    sizes = [batch.stop - batch.start for batch in batches]
    assert min(sizes) > 0
    assert max(sizes) < 2 * max(size, LANES)
    assert len(batches) == 1 or max(sizes) - min(sizes) < 2 * LANES


@pytest.mark.parametrize("size", [1, 2])
def test_an_engine_that_likes_few_gets_no_empty_batch(size):
    assert all(batch.stop > batch.start for batch in batches_of(10, Liking(size)))


def engine_of(kind, rng, y):
    """Return an engine, new at every call."""
    X, every = rng.standard_normal((N, L)), every_row(N)
    level = KINDS[kind]
    groups, g = (np.arange(N), N) if level == "sample" else (y, K)
    rows = CostedRows(targets(y), groups, g)
    kernel = TrainingKernel.from_map(KernelMap("rbf", X, gamma=0.1))
    P_hat = softmax(rng.standard_normal((N, K)), axis=1)
    return {
        "class": lambda: layer_engine(X, rows, every),
        "class by folds": lambda: layer_engine(X, rows, fold_splits(X, y, 3, rng)),
        "class without memory": lambda: layer_engine(X, rows, every, memory=64),
        "row": lambda: layer_engine(X, rows, every),
        "row by folds": lambda: layer_engine(X, rows, fold_splits(X, y, 3, rng)),
        "row in samples": lambda: layer_engine(np.tanh(X @ np.ones((L, 2 * N))), rows, every),
        "kernel": lambda: kernel_engine(kernel, rows, every),
        "kernel of any width": lambda: kernel_engine(kernel, rows, every, searched=True),
        "left out": lambda: LeaveOneOutEngine.from_layer(X, rows),
        "left out of a kernel": lambda: LeaveOneOutEngine.from_kernel(kernel, rows),
        "decision": lambda: ExpectedCostEngine(RememberedScores(P_hat), np.asarray),
    }[kind]()


def encoding_of(kind, y):
    level = {"class": ClassLevel(K), "sample": SampleLevel(y), "matrix": MatrixLevel(K)}[
        KINDS[kind]
    ]
    E = level.n_entries
    gamma = Span(0.01, 1.0, 0.1) if kind == "kernel of any width" else None
    region = FeasibleRegion(np.full(E, 0.1), np.full(E, 10.0))
    masses = np.ones(N) if KINDS[kind] == "sample" else np.bincount(y).astype(float)
    C = Span.fixed(4.0) if kind == "decision" else Span(0.1, 100.0, 4.0)
    return CostEncoding(level, region, C, gamma, masses, decides=kind == "decision")


def fitnesses(y):
    return [
        ConfusionFitness(y, K, None, accuracy, 0.5),
        ConfusionFitness(y, K, None, accuracy, 0.0),
        ErrorFitness(targets(y), None, np.square),
    ]


def losses(kind, fitness, y, n_threads):
    """Return the losses of three generations, each a little after the one before."""
    rng = np.random.default_rng(1)
    encoding, engine = encoding_of(kind, y), engine_of(kind, rng, y)
    points = encoding.box.sample(P, rng)
    fresh = encoding.box.sample(P, rng)
    found = []
    with Workers(n_threads) as workers:
        objective = CostObjective(encoding, engine, fitness, workers)
        for generation in range(3):
            found.append(objective(points))
            points = points.copy()
            points[:, generation] = fresh[:, generation]
    return np.stack(found)


@KIND
@pytest.mark.usefixtures("either_path")
def test_losses_do_not_depend_on_the_number_of_threads(kind):
    y = np.random.default_rng(0).permutation(np.arange(N) % K)
    for fitness in fitnesses(y) if kind in SOLVING else fitnesses(y)[:1]:
        alone = losses(kind, fitness, y, 1)
        assert np.isfinite(alone).all()
        for n_threads in (2, 3):
            assert_array_equal(losses(kind, fitness, y, n_threads), alone)


@KIND
def test_without_workers_losses_are_the_same_up_to_rounding(kind):
    rng = np.random.default_rng(1)
    y = rng.permutation(np.arange(N) % K)
    encoding, engine = encoding_of(kind, y), engine_of(kind, rng, y)
    fitness, points = fitnesses(y)[0], encoding.box.sample(P, rng)
    plain = CostObjective(encoding, engine, fitness)(points)
    with Workers(2) as workers:
        shared = CostObjective(encoding, engine, fitness, workers)(points)
    assert_allclose(shared, plain, rtol=1e-9)


@KIND
def test_what_remembers_can_be_made_to_forget(kind):
    rng = np.random.default_rng(1)
    y = rng.permutation(np.arange(N) % K)
    encoding, engine = encoding_of(kind, y), engine_of(kind, rng, y)
    objective, points = (
        CostObjective(encoding, engine, fitnesses(y)[0]),
        encoding.box.sample(P, rng),
    )
    first = objective(points)
    objective(encoding.box.sample(P, rng))
    objective.forget()
    assert_array_equal(objective(points), first)
    assert objective.remembers == (kind in {"row", "row by folds"})
