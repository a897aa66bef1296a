"""Each cost-sensitive method against an oracle of its own."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.svm import SVC

from ecselm.paper.baselines import CISVMClassifier, CSORClassifier, MCKLRClassifier, MCKNNClassifier
from ecselm.paper.baselines.cisvm import largest_regret
from ecselm.paper.baselines.csor import ordinal_cost, threshold_weights


@pytest.mark.parametrize("include_self", [True, False])
def test_neighbour_posteriors_as_printed(rng, include_self):
    X, y = rng.standard_normal((30, 2)), rng.integers(0, 3, 30)
    model = MCKNNClassifier(n_neighbors=4, smoothing=0.5, include_self=include_self).fit(X, y)
    P = np.full((3, 3), 0.5)
    for i in range(30):
        distance = np.linalg.norm(X - X[i], axis=1)
        distance[i] = -1 if include_self else np.inf
        for near in np.argsort(distance)[:4]:
            P[y[near], y[i]] += 1
    P /= 4 * np.bincount(y) + 0.5 * 3
    assert_allclose(model.likelihood_, P)
    new = rng.standard_normal(2)
    posterior = np.bincount(y) / 30
    for near in np.argsort(np.linalg.norm(X - new, axis=1))[:4]:
        posterior = posterior * P[y[near]]
    assert_allclose(model.predict_proba([new])[0], posterior / posterior.sum())


def test_more_neighbours_than_rows_are_refused(rng):
    X, y = rng.standard_normal((5, 2)), [0, 1, 0, 1, 1]
    MCKNNClassifier(n_neighbors=5).fit(X, y)
    with pytest.raises(ValueError, match="n_neighbors must be at most the 4 rows"):
        MCKNNClassifier(n_neighbors=5, include_self=False).fit(X, y)


@pytest.mark.parametrize("cost_in", ["decision", "training"])
def test_kernel_logistic_regression_is_where_the_slope_is_zero(cost_in):
    X, y = load_iris(return_X_y=True)
    cost = np.array([[0, 1, 1], [1, 0, 2], [4, 3, 0.0]])
    model = MCKLRClassifier(cost, cost_in=cost_in, alpha=1e-3, gamma=0.3).fit(X, y)
    K = np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    A, b = model.dual_coef_, model.intercept_
    f = cost.sum(axis=1)[y] if cost_in == "training" else np.ones(150)
    R = (f / f.mean())[:, None] * (softmax(K @ A + b, axis=1) - np.eye(3)[y]) / 150
    assert_allclose(K @ (R + 1e-3 * A), 0, atol=1e-6)
    assert_allclose(R.sum(axis=0), 0, atol=1e-7)


@pytest.mark.parametrize("cost_in", ["decision", "training"])
def test_linear_kernel_logistic_regression_is_logistic_regression(cost_in):
    X, y = load_iris(return_X_y=True)
    X, y, new = X[::2][5:], y[::2][5:], X[1::2]  # classes of 20, 25 and 25 rows
    cost = np.array([[0, 1, 1], [1, 0, 2], [4, 3, 0.0]])
    f = cost.sum(axis=1) if cost_in == "training" else np.ones(3)
    twin = LogisticRegression(
        C=1 / (70 * 1e-2), class_weight=dict(enumerate(f / f[y].mean())), tol=1e-10, max_iter=5000
    )
    model = MCKLRClassifier(cost, cost_in=cost_in, kernel="linear", alpha=1e-2).fit(X, y)
    assert_allclose(model.predict_proba(new), twin.fit(X, y).predict_proba(new), atol=1e-5)


def test_least_expected_cost_is_the_decision_and_never_counted_twice():
    X, y = load_iris(return_X_y=True)
    cost = np.array([[0, 1, 1], [1, 0, 2], [4, 30, 0.0]])
    model = MCKLRClassifier(cost).fit(X, y)
    assert_allclose(model.predict_proba(X), MCKLRClassifier().fit(X, y).predict_proba(X))
    assert_array_equal(model.predict(X), (model.predict_proba(X) @ cost).argmin(axis=1))
    assert (model.predict(X) != model.predict_proba(X).argmax(axis=1)).any()
    trained = MCKLRClassifier(cost, cost_in="training").fit(X, y)
    assert_array_equal(trained.predict(X), trained.predict_proba(X).argmax(axis=1))


def v_shaped(rng, k=5):
    """Return costs that rise away from the diagonal, each row in its own way."""
    cost = np.zeros((k, k))
    for i in range(k):
        cost[i, i + 1 :] = rng.uniform(0.1, 3, k - 1 - i).cumsum()
        cost[i, :i] = rng.uniform(0.1, 3, i).cumsum()[::-1]
    return cost


@pytest.mark.parametrize("cost", ["absolute", "squared", "any"])
def test_misjudged_thresholds_sum_to_the_cost(cost, rng):
    matrix = ordinal_cost(v_shaped(rng) if cost == "any" else cost, np.arange(5))
    weights = threshold_weights(matrix)
    for i in range(5):
        for j in range(5):
            wrong = (np.arange(4) < i) != (np.arange(4) < j)
            assert_allclose(weights[i] @ wrong, matrix[i, j], rtol=1e-12)


@pytest.fixture
def levels(rng):
    X = rng.standard_normal((90, 2))
    return X, np.digitize(X[:, 0] + 0.5 * rng.standard_normal(90), [-1.0, -0.3, 0.3, 1.0])


def test_mistakes_of_the_machines_are_what_is_paid(levels, rng):
    X, y = levels
    cost = v_shaped(rng)
    model = CSORClassifier(cost).fit(X, y)
    yes = np.column_stack([machine.predict(X) for machine in model.estimators_])
    in_order = (np.diff(yes, axis=1) <= 0).all(axis=1)
    charged = (threshold_weights(cost)[y] * (yes != (y[:, None] > np.arange(4)))).sum(axis=1)
    assert in_order.sum() > 60
    assert charged[in_order].any()
    assert_allclose(charged[in_order], cost[y, model.predict(X)][in_order])


def test_thresholds_are_machines_weighted_by_the_steps_of_the_cost(levels, rng):
    X, y = levels
    cost = v_shaped(rng)
    expected = np.zeros(90, dtype=int)
    for t in range(4):
        w = np.array([abs(cost[level, t + 1] - cost[level, t]) for level in y])
        expected += SVC().fit(X, y > t, sample_weight=w / w.mean()).predict(X)
    found = CSORClassifier(cost).fit(X, y).predict(X)
    assert_array_equal(found, expected)
    assert (found != CSORClassifier().fit(X, y).predict(X)).any()


def test_absolute_costs_are_plain_thresholds(rng):
    X = rng.standard_normal((90, 2))
    y = np.digitize(X[:, 0] + 0.3 * rng.standard_normal(90), [-0.5, 0.5])
    machines = [SVC().fit(X, y > t) for t in (0, 1)]
    expected = sum(machine.predict(X).astype(int) for machine in machines)
    assert_array_equal(CSORClassifier().fit(X, y).predict(X), expected)


def test_a_threshold_without_costs_is_passed_by_no_row(rng):
    X, y = rng.standard_normal((30, 2)), np.repeat([0, 1, 2], 10)
    cost = np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0.0]])  # 1 and 2 are the same
    model = CSORClassifier(cost).fit(X, y)
    assert model.estimators_[1] is False
    assert set(model.predict(X)) <= {0, 1}
    with pytest.raises(ValueError, match="cost must be 'absolute', 'squared' or"):
        CSORClassifier("cubic").fit(X, y)


def literal_regret(missed, grid):
    """Return the worst regret of each machine by a loop over machines and costs.

    A ratio below 1 makes the first class the more costly one; the other weighs 1.
    """

    def total(g, ratio):
        first, second = (1.0, ratio) if ratio >= 1 else (1.0 / ratio, 1.0)
        return first * missed[g][0] + second * missed[g][1]

    worst = []
    for g in range(len(grid)):
        regrets = []
        for ratio in grid:
            least = min(total(other, ratio) for other in range(len(grid)))
            regrets.append((total(g, ratio) - least) / (least + 1))
        worst.append(max(regrets))
    return worst


def test_regret_as_printed(rng):
    grid = np.geomspace(0.2, 7.0, 6)
    missed = rng.integers(0, 20, (6, 2)).astype(float)
    assert_allclose(largest_regret(missed, grid), literal_regret(missed, grid), rtol=1e-12)


def test_the_ratio_of_least_regret_on_validation_folds_is_chosen(rng):
    X = rng.standard_normal((80, 2))
    y = (X[:, 0] + rng.standard_normal(80) > 0.5).astype(int)
    grid = np.geomspace(1.0, 10.0, 5)
    missed = []
    for ratio in grid:
        machine = SVC(gamma=0.5, class_weight={0: 1, 1: ratio})
        wrong = cross_val_predict(machine, X, y, cv=StratifiedKFold(5)) != y
        missed.append([(wrong & (y == c)).sum() for c in (0, 1)])
    regret = literal_regret(missed, grid)
    assert len(set(np.round(regret, 9))) > 2  # or there would be nothing to choose
    model = CISVMClassifier(cost_high={1: 10}, n_grid=5, gamma=0.5).fit(X, y)
    assert model.ratios_[0] == pytest.approx(grid[np.argmin(regret)])


def test_an_interval_of_one_cost_is_a_weighted_svc(rng):
    X = rng.standard_normal((80, 2))
    y = (X[:, 0] + rng.standard_normal(80) > 0.5).astype(int)
    model = CISVMClassifier({1: 4}, gamma=0.5).fit(X, y)
    twin = SVC(gamma=0.5, class_weight={0: 1, 1: 4}).fit(X, y)
    assert_allclose(model.decision_function(X), twin.decision_function(X), atol=1e-2)
    assert model.ratios_[0] == pytest.approx(4)


@pytest.mark.parametrize(("strategy", "ratio"), [("mean", 10**0.5), ("max", 10.0)])
def test_strategies_choose_inside_the_interval(rng, strategy, ratio):
    X = rng.standard_normal((60, 2))
    y = (X[:, 0] + rng.standard_normal(60) > 0.5).astype(int)
    model = CISVMClassifier(cost_high={1: 10}, strategy=strategy).fit(X, y)
    assert model.ratios_[0] == pytest.approx(ratio)
    mirrored = CISVMClassifier(cost_high={0: 10}, strategy=strategy).fit(X, 1 - y)
    assert mirrored.ratios_[0] == pytest.approx(1 / ratio)


def test_without_costs_every_mistake_costs_from_one_to_ten(rng):
    X = rng.standard_normal((80, 2))
    y = (X[:, 0] + rng.standard_normal(80) > 0.8).astype(int)
    equal = 1.0 - np.eye(2)
    by_default = CISVMClassifier(gamma=0.5).fit(X, y)
    stated = CISVMClassifier(equal, 10 * equal, gamma=0.5).fit(X, y)
    assert by_default.ratios_[0] == pytest.approx(stated.ratios_[0])
    assert 0.1 <= by_default.ratios_[0] <= 10.0
    assert CISVMClassifier(strategy="max").fit(X, y).ratios_[0] == pytest.approx(10.0)
    assert CISVMClassifier(equal, strategy="max").fit(X, y).ratios_[0] == pytest.approx(1.0)


def test_a_pair_without_mistakes_takes_the_middle_of_its_interval(rng):
    X = np.vstack([rng.standard_normal((20, 2)), 9.0 + rng.standard_normal((20, 2))])
    y = np.repeat([0, 1], 20)
    model = CISVMClassifier(cost_high={1: 10}).fit(X, y)
    assert model.ratios_[0] == pytest.approx(10**0.5)


def test_bad_intervals_are_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="cost <= cost_high must hold"):
        CISVMClassifier({0: 3}, {0: 2}).fit(X, y)
    with pytest.raises(ValueError, match="cost must be > 0 for every mistake"):
        CISVMClassifier({0: 0}).fit(X, y)
