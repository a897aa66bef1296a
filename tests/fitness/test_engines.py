"""Engines against (15), solved slowly as printed for every candidate and split."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax

from ecselm.costs import min_cost_decision
from ecselm.fitness import (
    Candidates,
    CostedRows,
    ExpectedCostEngine,
    LeaveOneOutEngine,
    RememberedScores,
    TrainingKernel,
    every_row,
    fold_splits,
    holdout,
    kernel_engine,
    layer_engine,
)
from ecselm.fitness.engines import DualEngine, LayerEngine, RowEngine
from ecselm.layers import KernelMap
from tests.conftest import targets
from tests.contracts.engine_contract import EngineContract
from tests.fitness.literal import left_out_score, split_scores

GAMMA = 0.4

pytestmark = pytest.mark.usefixtures("either_path")

SHAPES = {"tall": (36, 6), "wide": (16, 40)}
# Classes, level, weights, signs: any three of the four in all combinations.
SCENARIOS = [
    (k, level, weights, "signed" if odd else "positive")
    for a, k in enumerate((2, 4))
    for b, level in enumerate(("class", "sample"))
    for c, weights in enumerate(("unweighted", "weighted"))
    for odd in [(a + b + c) % 2]
]


class SolvingContract(EngineContract):
    """Engines that solve (15), for one or four outputs, costs by class or row, of any sign."""

    @pytest.fixture(params=SCENARIOS, ids=lambda scenario: "-".join(map(str, scenario)))
    def scenario(self, request):
        return request.param

    def rows(self, rng, N, scenario):
        k, level, weighted, _ = scenario
        y = rng.permutation(np.r_[np.arange(k), rng.integers(0, k, N - k)])
        T = targets(y)[:, 1:] if k == 2 else targets(y)
        weight = rng.choice([0.5, 1.0, 2.0, 3.0], N) if weighted == "weighted" else None
        groups = y if level == "class" else np.arange(N)
        return CostedRows(T, groups, k if level == "class" else N, weight), y

    def candidates(self, rng, rows, scenario, gamma=False):
        P = 4
        costs = rng.uniform(0.2, 3.0, (P, rows.n_groups))
        costs[0] = 1.0
        costs[1, 0] = 0.0
        if scenario[-1] == "signed":
            costs *= rng.choice([-1.0, 1.0], costs.shape)
        widths = np.array([GAMMA, 0.1, 2.0, 1.0]) if gamma else None
        return Candidates(costs, np.array([4.0, 0.3, 4.0, 20.0]), widths)


class LayerCases(SolvingContract):
    @pytest.fixture(params=SHAPES)
    def shape(self, request):
        return SHAPES[request.param]


class TestLayerEngine(LayerCases):
    @pytest.fixture
    def case(self, rng, shape, scenario):
        N, L = shape
        H = np.tanh(rng.standard_normal((N, L)))
        rows, y = self.rows(rng, N, scenario)
        splits = fold_splits(H, y, 3, rng)
        candidates = self.candidates(rng, rows, scenario)
        literal = [
            [split_scores(s.train, s.test, rows, b, C, H) for s in splits]
            for b, C in zip(candidates.costs, candidates.C, strict=True)
        ]
        expected = np.stack([np.concatenate(parts) for parts in literal])
        return layer_engine(H, rows, splits), candidates, expected


class KernelCases(SolvingContract):
    @pytest.fixture(params=[False, True], ids=["one width", "a width each"])
    def widths(self, request):
        return request.param


class TestKernelEngine(KernelCases):
    @pytest.fixture
    def case(self, rng, scenario, widths):
        X = rng.standard_normal((20, 2))
        rows, y = self.rows(rng, 20, scenario)
        splits = fold_splits(X, y, 3, rng)
        candidates = self.candidates(rng, rows, scenario, widths)
        gammas = candidates.gamma if widths else [GAMMA] * 4
        literal = [
            [split_scores(s.train, s.test, rows, b, C, X, gamma) for s in splits]
            for b, C, gamma in zip(candidates.costs, candidates.C, gammas, strict=True)
        ]
        kernel = TrainingKernel.from_map(KernelMap("rbf", X, gamma=GAMMA))
        expected = np.stack([np.concatenate(parts) for parts in literal])
        return kernel_engine(kernel, rows, splits, searched=widths), candidates, expected


class TestLeaveOneOutEngine(LayerCases):
    @pytest.fixture
    def case(self, rng, shape, scenario):
        N, L = shape
        H = np.tanh(rng.standard_normal((N, L)))
        rows, _ = self.rows(rng, N, scenario)
        candidates = self.candidates(rng, rows, scenario)
        expected = [
            [left_out_score(i, rows, b, C, H) for i in range(N)]
            for b, C in zip(candidates.costs, candidates.C, strict=True)
        ]
        return LeaveOneOutEngine.from_layer(H, rows), candidates, np.array(expected)


class TestLeaveOneOutEngineOfAKernel(KernelCases):
    @pytest.fixture
    def case(self, rng, scenario, widths):
        X = rng.standard_normal((16, 2))
        rows, _ = self.rows(rng, 16, scenario)
        candidates = self.candidates(rng, rows, scenario, widths)
        gammas = candidates.gamma if widths else [GAMMA] * 4
        expected = [
            [left_out_score(i, rows, b, C, X, gamma) for i in range(16)]
            for b, C, gamma in zip(candidates.costs, candidates.C, gammas, strict=True)
        ]
        kernel = TrainingKernel.from_map(KernelMap("rbf", X, gamma=GAMMA))
        return LeaveOneOutEngine.from_kernel(kernel, rows), candidates, np.array(expected)


def matrices_of(rng, P, k):
    return rng.uniform(0.5, 9.0, (P, k, k)) * (1.0 - np.eye(k))


class TestRememberedScores(EngineContract):
    @pytest.fixture
    def case(self, rng):
        Z = rng.standard_normal((7, 3))
        return RememberedScores(Z), Candidates(np.ones((4, 2)), np.ones(4)), np.stack([Z] * 4)


class TestExpectedCostEngine(EngineContract):
    @pytest.fixture(params=[2, 3], ids=["two classes", "three classes"])
    def case(self, request, rng):
        k, n = request.param, 7
        P, M = softmax(rng.standard_normal((n, k)), axis=1), matrices_of(rng, 4, k)
        expected = np.zeros((4, n, k))
        for c in range(4):
            for i in range(n):
                for j in range(k):
                    expected[c, i, j] = -sum(P[i, t] * M[c, t, j] for t in range(k))
            expected[c] /= M[c].mean()
        candidates = Candidates(np.ones((4, k)), np.ones(4), None, M)
        return ExpectedCostEngine(RememberedScores(P), np.asarray), candidates, expected


@pytest.fixture(params=["layer", "wide layer", "kernel", "left out", "left out of a kernel"])
def solving(request, rng):
    """Return an engine of two groups of rows, and what maps C to the sign-free system."""
    N, L = (12, 30) if request.param == "wide layer" else (24, 5)
    X = rng.standard_normal((N, L))
    rows = CostedRows(rng.standard_normal((N, 2)), np.arange(N) % 2, 2)
    kernel = TrainingKernel.from_map(KernelMap("linear", X))
    engine = {
        "layer": lambda: layer_engine(X, rows, every_row(N)),
        "wide layer": lambda: layer_engine(X, rows, every_row(N)),
        "kernel": lambda: kernel_engine(kernel, rows, every_row(N)),
        "left out": lambda: LeaveOneOutEngine.from_layer(X, rows),
        "left out of a kernel": lambda: LeaveOneOutEngine.from_kernel(kernel, rows),
    }[request.param]()
    return engine, X


def test_a_singular_candidate_has_no_scores_and_harms_no_other(solving):
    engine, X = solving
    C = 1.0 / np.linalg.eigvalsh(X.T @ X)[-1]  # where I/C - H'H is singular
    costs = np.array([[1.0, 2.0], [-1.0, -1.0], [0.5, -0.1]])
    Z = engine.scores(Candidates(costs, np.full(3, C)))
    assert np.isnan(Z[1]).all()
    assert np.isfinite(Z[[0, 2]]).all()
    alone = engine.scores(Candidates(costs[[0, 2]], np.full(2, C)))
    assert_allclose(Z[[0, 2]], alone, rtol=1e-9, atol=1e-12)


def test_costs_times_a_number_are_c_times_it(solving):
    engine, _ = solving
    costs = np.array([[1.0, 2.0], [0.5, 0.1]])
    one = engine.scores(Candidates(4.0 * costs, np.full(2, 3.0)))
    other = engine.scores(Candidates(costs, np.full(2, 12.0)))
    assert_allclose(other, one, rtol=1e-8, atol=1e-10)


def test_next_to_no_c_leaves_next_to_no_scores(solving):
    engine, _ = solving
    Z = engine.scores(Candidates(np.ones((1, 2)), np.array([1e-12])))
    assert_allclose(Z, 0.0, atol=1e-8)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("level", ["class", "sample"])
def test_cases_of_the_suite_take_every_path(rng, shape, level):
    N, L = SHAPES[shape]
    groups = np.arange(N) % 2 if level == "class" else np.arange(N)
    rows = CostedRows(np.zeros((N, 1)), groups, groups.max() + 1)
    engine = layer_engine(rng.standard_normal((N, L)), rows, every_row(N))
    tall = {"class": LayerEngine, "sample": RowEngine}
    assert isinstance(engine, tall[level] if shape == "tall" else DualEngine)


def test_scores_follow_the_splits_and_not_the_rows(rng):
    H, y = rng.standard_normal((30, 4)), np.arange(30) % 3
    rows = CostedRows(targets(y), y, 3)
    for splits in (fold_splits(H, y, 4, rng), holdout(H, y, 0.3, rng), every_row(30)):
        judged = np.concatenate([split.test for split in splits])
        candidates = Candidates(np.array([[1.0, 2.0, 0.5]]), np.array([3.0]))
        Z = layer_engine(H, rows, splits).scores(candidates)[0]
        assert len(Z) == len(judged)
        last = splits[-1]
        expected = split_scores(last.train, last.test, rows, [1.0, 2.0, 0.5], 3.0, H)
        assert_allclose(Z[-len(last.test) :], expected, rtol=1e-9)


@pytest.mark.parametrize("kind", ["tall", "wide", "kernel"])
def test_one_of_a_row_twice_left_out_is_one_of_a_row_of_weight_two(rng, kind):
    N, L = (16, 40) if kind == "wide" else (36, 6)
    X, T, groups = rng.standard_normal((N, L)), rng.standard_normal((N, 2)), np.arange(N) % 3
    twice = np.append(np.arange(N), [0, 4, 5])
    weight = np.bincount(twice).astype(float)

    def engine(X, rows):
        if kind != "kernel":
            return LeaveOneOutEngine.from_layer(X, rows)
        kernel = TrainingKernel.from_map(KernelMap("rbf", X, gamma=0.1))
        return LeaveOneOutEngine.from_kernel(kernel, rows)

    candidates = Candidates(np.array([[1.0, 2.0, 0.5], [1.0, -0.3, 0.7]]), np.array([4.0, 1.0]))
    heavy = engine(X, CostedRows(T, groups, 3, weight)).scores(candidates)
    repeated = engine(X[twice], CostedRows(T[twice], groups[twice], 3)).scores(candidates)
    assert_allclose(repeated[:, :N], heavy, rtol=1e-7, atol=1e-9)
    assert_allclose(repeated[:, N:], heavy[:, [0, 4, 5]], rtol=1e-7, atol=1e-9)


def test_leaving_out_what_costs_nothing_changes_nothing(rng):
    H, groups = rng.standard_normal((20, 4)), np.arange(20) % 2
    rows = CostedRows(rng.standard_normal((20, 1)), groups, 2)
    candidates = Candidates(np.array([[0.0, 2.0]]), np.array([4.0]))
    fitted = layer_engine(H, rows, every_row(20)).scores(candidates)[0]
    left_out = LeaveOneOutEngine.from_layer(H, rows).scores(candidates)[0]
    assert_allclose(left_out[::2], fitted[::2], rtol=1e-10)
    assert (np.abs(left_out[1::2] - fitted[1::2]) > 1e-6).all()


def test_rows_that_a_machine_knows_by_heart_keep_finite_scores(rng):
    X = rng.standard_normal((8, 2))
    kernel = TrainingKernel.from_map(KernelMap("rbf", X, gamma=50.0))
    rows = CostedRows(rng.standard_normal((8, 1)), np.arange(8) % 2, 2)
    Z = LeaveOneOutEngine.from_kernel(kernel, rows).scores(
        Candidates(np.ones((1, 2)), np.array([1e14]))
    )
    assert np.isfinite(Z).all()


def test_least_expected_costs_have_the_largest_scores(rng):
    P, M = softmax(rng.standard_normal((50, 3)), axis=1), matrices_of(rng, 2, 3)
    engine = ExpectedCostEngine(RememberedScores(P), np.asarray)
    Z = engine.scores(Candidates(np.ones((2, 3)), np.ones(2), None, M))
    for scores, matrix in zip(Z, M, strict=True):
        assert_array_equal(scores.argmax(axis=1), min_cost_decision(P, matrix))


def test_the_unit_of_a_decision_matrix_does_not_matter(rng):
    P, M = softmax(rng.standard_normal((9, 3)), axis=1), matrices_of(rng, 2, 3)
    engine = ExpectedCostEngine(RememberedScores(P), np.asarray)
    one, other = (
        engine.scores(Candidates(np.ones((2, 3)), np.ones(2), None, unit * M))
        for unit in (1.0, 7.0)
    )
    assert_allclose(other, one, rtol=1e-13)


def test_a_machine_is_asked_once_for_each_c_and_width(rng):
    class Machine:
        asked: list = []

        def scores(self, candidates):
            self.asked.append((candidates.C.tolist(), candidates.gamma.tolist()))
            return np.full((1, 5, 1), candidates.C[0] * candidates.gamma[0])

    machine, M = Machine(), matrices_of(rng, 5, 2)
    C, gamma = np.array([1.0, 2.0, 1.0, 1.0, 2.0]), np.array([3.0, 3.0, 3.0, 5.0, 3.0])
    engine = ExpectedCostEngine(machine, lambda Z: np.hstack([0.0 * Z, Z]))
    scores = engine.scores(Candidates(np.ones((5, 2)), C, gamma, M))
    assert machine.asked == [([1.0], [3.0]), ([2.0], [3.0]), ([1.0], [5.0])]
    for i in range(5):
        expected = -C[i] * gamma[i] * M[i, 1] / M[i].mean()
        assert_allclose(scores[i], np.tile(expected, (5, 1)), rtol=1e-14)


def test_decisions_need_matrices():
    engine = ExpectedCostEngine(RememberedScores(np.ones((3, 2)) / 2), np.asarray)
    with pytest.raises(ValueError, match="candidates must hold decision matrices, got none"):
        engine.scores(Candidates(np.ones((1, 2)), np.ones(1)))
