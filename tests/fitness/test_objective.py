"""From points to losses; what cannot be solved loses."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ecselm.costs.feasible import FeasibleRegion
from ecselm.costs.levels import ClassLevel, SampleLevel
from ecselm.fitness import (
    ConfusionFitness,
    CostedRows,
    CostEncoding,
    CostObjective,
    ErrorFitness,
    LeaveOneOutEngine,
    Span,
    every_row,
    layer_engine,
)
from ecselm.metrics.confusion import accuracy, gmean
from tests.conftest import targets

N, L = 30, 5
KS = pytest.mark.parametrize("k", [2, 4], ids=["two classes", "four classes"])


@pytest.fixture
def H(rng):
    return rng.standard_normal((N, L))


def labels(rng, k):
    return rng.permutation(np.r_[np.arange(k), rng.integers(0, k, N - k)])


def signed(H, y, engine, fitness, C):
    """Return an objective of a cost per row in [-1, 1], as in the paper."""
    region = FeasibleRegion(np.full(N, -1.0), np.full(N, 1.0))
    encoding = CostEncoding(SampleLevel(y), region, Span.fixed(C), log=False)
    return CostObjective(encoding, engine, fitness)


@KS
@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
def test_losses_are_equation_21_for_costs_per_row(rng, H, k, weighted):
    y = labels(rng, k)
    T = targets(y)[:, 1:] if k == 2 else targets(y)
    weight = rng.uniform(0.5, 2.0, N) if weighted else None
    engine = layer_engine(H, CostedRows(T, np.arange(N), N, weight), every_row(N))
    objective = signed(H, y, engine, ConfusionFitness(y, k, weight, accuracy, 0.0), 8.0)
    points = rng.uniform(-1.0, 1.0, (5, N))
    w = np.ones(N) if weight is None else weight
    for B, loss in zip(points, objective(points), strict=True):
        HB = H.T @ np.diag(B * w)
        Z = H @ np.linalg.solve(np.eye(L) / 8.0 + HB @ H, HB @ T)
        predicted = Z[:, 0] > 0 if k == 2 else Z.argmax(axis=1)
        assert loss == pytest.approx(-(w * (predicted == y)).sum() / w.sum(), rel=1e-12)


@KS
def test_losses_are_those_of_the_rows_left_out_for_costs_per_class(rng, H, k):
    y = labels(rng, k)
    T = targets(y)[:, 1:] if k == 2 else targets(y)
    rows = CostedRows(T, y, k)
    region = FeasibleRegion(np.full(k, 0.1), np.full(k, 10.0))
    encoding = CostEncoding(ClassLevel(k), region, Span(0.1, 100.0, 8.0), masses=rows.masses())
    fitness = ErrorFitness(T, None, np.square)
    objective = CostObjective(encoding, LeaveOneOutEngine.from_layer(H, rows), fitness)
    points = encoding.box.sample(4, rng)
    for point, loss in zip(points, objective(points), strict=True):
        b, C = np.exp(point[:k]), np.exp(point[k])
        B = b[y] / b[y].mean()
        squares = []
        for i in range(N):
            kept = np.arange(N) != i
            HB = H[kept].T @ np.diag(B[kept])
            z = H[i] @ np.linalg.solve(np.eye(L) / C + HB @ H[kept], HB @ T[kept])
            squares.append((T[i] - z) ** 2)
        assert loss == pytest.approx(np.mean(squares), rel=1e-8)


def test_what_is_singular_loses_and_harms_no_other(rng, H):
    y = labels(rng, 2)
    T = targets(y)[:, 1:]
    C = 1.0 / np.linalg.eigvalsh(H.T @ H)[-1]  # where B = -1 is singular
    engine = layer_engine(H, CostedRows(T, np.arange(N), N), every_row(N))
    objective = signed(H, y, engine, ConfusionFitness(y, 2, None, accuracy, 0.5), C)
    points = np.stack([np.ones(N), -np.ones(N), np.full(N, 0.5)])
    losses = objective(points)
    assert losses[1] == np.inf
    assert_allclose(losses[[0, 2]], objective(points[[0, 2]]), rtol=1e-9)
    assert np.isfinite(losses[[0, 2]]).all()
    assert_array_equal(objective(points[1:2]), [np.inf])


class Scores:
    """An engine that answers what it was told."""

    def __init__(self, Z):
        self.Z = Z

    def batch(self, n_candidates):
        return n_candidates

    def scores(self, candidates):
        return self.Z


def objective_of(Z, fitness):
    region = FeasibleRegion(np.full(2, 0.1), np.full(2, 10.0))
    return CostObjective(CostEncoding(ClassLevel(2), region, Span.fixed(1.0)), Scores(Z), fitness)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_one_score_that_is_not_finite_loses(bad):
    Z = np.ones((3, 4, 1))
    Z[1, 2, 0] = bad
    losses = objective_of(Z, lambda Z: np.arange(1.0, 1.0 + len(Z)))(np.zeros((3, 2)))
    assert_array_equal(losses, [-1.0, np.inf, -2.0])


def test_a_fitness_that_is_no_number_loses():
    objective = objective_of(np.ones((2, 4, 1)), lambda Z: np.array([np.nan, 0.5]))
    assert_array_equal(objective(np.zeros((2, 2))), [np.inf, -0.5])


def test_unsolved_candidates_are_not_evaluated():
    def fitness(Z):
        raise AssertionError

    losses = objective_of(np.full((2, 4, 1), np.nan), fitness)(np.zeros((2, 2)))
    assert_array_equal(losses, [np.inf, np.inf])


def test_overflow_warns_of_nothing_and_loses():
    fitness = ErrorFitness(np.zeros((4, 1)), None, np.square)
    assert_array_equal(objective_of(np.full((1, 4, 1), 1e200), fitness)(np.zeros((1, 2))), [np.inf])


def test_greater_fitness_is_a_smaller_loss():
    y = np.array([0, 0, 1, 1])
    Z = np.array([[-1.0, -1.0, 1.0, 1.0], [-1.0, -1.0, 1.0, -1.0]])[..., np.newaxis]
    losses = objective_of(Z, ConfusionFitness(y, 2, None, gmean, 0.0))(np.zeros((2, 2)))
    assert_allclose(losses, [-1.0, -np.sqrt(0.5)], rtol=1e-14)
