"""Chosen units against refits of every choice."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

from ecselm import ELMClassifier
from ecselm.paper.elms import ParsimoniousELMClassifier, ParsimoniousELMRegressor
from ecselm.paper.elms.parsimonious import (
    backward_elimination,
    forward_selection,
    penalised_rows,
)


def squared_error(H, T):
    """Return what a full refit leaves."""
    beta = np.linalg.lstsq(H, T, rcond=None)[0]
    return ((T - H @ beta) ** 2).sum()


@pytest.fixture(params=[1, 3], ids=["one target", "three targets"])
def problem(request, rng):
    H = rng.standard_normal((40, 9)) @ rng.standard_normal((9, 9))
    return H, rng.standard_normal((40, request.param)) + H[:, :1] - H[:, 4:5]


def test_forward_selection_is_greedy_refitting(problem):
    H, T = problem
    found = forward_selection(H, T)
    chosen = []
    for unit, left in zip(found.units, found.squares[1:], strict=True):
        errors = {j: squared_error(H[:, [*chosen, j]], T) for j in range(9) if j not in chosen}
        assert unit == min(errors, key=errors.get)
        assert_allclose(left, errors[unit], rtol=1e-10)
        chosen.append(int(unit))
    assert len(chosen) == 9


def test_backward_elimination_is_greedy_refitting(problem):
    H, T = problem
    left = list(range(9))
    for n_units in range(8, 0, -1):
        errors = {j: squared_error(H[:, [i for i in left if i != j]], T) for j in left}
        worst = min(errors, key=errors.get)
        left.remove(worst)
        found = backward_elimination(H, T, 0.0, n_units)
        assert_array_equal(found.units, left)
        assert_allclose(found.squares[-1], errors[worst], rtol=1e-10)


def test_both_stop_where_a_unit_explains_too_little(problem):
    H, T = problem
    bound = 0.02 * (T**2).sum()
    forward = forward_selection(H, T, bound)
    assert (-np.diff(forward.squares) > bound).all()
    more = forward_selection(H, T)
    assert more.squares[len(forward.units)] - more.squares[len(forward.units) + 1] <= bound
    backward = backward_elimination(H, T, bound)
    assert (np.diff(backward.squares) <= bound).all()
    for j in range(len(backward.units)):
        without = squared_error(H[:, np.delete(backward.units, j)], T)
        assert without - backward.squares[-1] > bound


def test_dependent_units_are_never_kept(rng):
    H = rng.standard_normal((30, 4))
    H = np.hstack([H, H @ rng.standard_normal((4, 3)), np.zeros((30, 1))])
    T = rng.standard_normal((30, 2))
    for found in (forward_selection(H, T), backward_elimination(H, T)):
        assert len(found.units) == 4
        assert_allclose(squared_error(H[:, found.units], T), squared_error(H, T), rtol=1e-10)
        assert_allclose(found.squares[-1], squared_error(H, T), rtol=1e-10)


@pytest.mark.parametrize("direction", ["constructive", "destructive"])
@pytest.mark.parametrize("C", [2.0, None])
def test_the_penalty_takes_part_in_the_choice(direction, C, rng):
    X, y = load_iris(return_X_y=True)
    w = rng.uniform(0.5, 2.0, 150)
    model = ParsimoniousELMClassifier(12, direction=direction, C=C, tol=5e-3, random_state=0).fit(
        X, y, w
    )
    full = ELMClassifier(12, random_state=0).fit(X, y, w)
    H, T = full.layer_(X), np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    assert_allclose(model.layer_(X), H[:, model.units_], rtol=1e-10)
    B = np.diag(w)
    S = H[:, model.units_]
    ridge = np.zeros(len(S.T)) if C is None else np.full(len(S.T), 1 / C)
    beta = np.linalg.solve(np.diag(ridge) + S.T @ B @ S, S.T @ B @ T)
    assert_allclose(model.beta_, beta, rtol=1e-7, atol=1e-8)
    left = (w[:, None] * (T - S @ beta) ** 2).sum() + ridge.sum() / max(len(S.T), 1) * (
        beta**2
    ).sum()
    assert_allclose(model.squares_[-1], left, rtol=1e-9)
    assert 2 < len(model.units_) < 12


def test_no_tolerance_keeps_all_units_and_is_the_elm():
    X, y = load_iris(return_X_y=True)
    full = ELMClassifier(10, C=32.0, random_state=0).fit(X, y)
    for direction in ("constructive", "destructive"):
        model = ParsimoniousELMClassifier(10, direction=direction, tol=0.0, random_state=0)
        scores = model.fit(X, y).decision_function(X)
        assert len(model.units_) == 10
        assert_allclose(scores, full.decision_function(X), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("direction", ["constructive", "destructive"])
def test_units_have_a_limit(direction):
    X, y = load_iris(return_X_y=True)
    model = ParsimoniousELMClassifier(
        30, direction=direction, tol=0.0, max_units=4, random_state=0
    ).fit(X, y)
    assert len(model.units_) == 4
    assert model.layer_.n_hidden == 4


def test_targets_without_variance_are_predicted(rng):
    X = rng.standard_normal((20, 2))
    model = ParsimoniousELMRegressor(random_state=0).fit(X, np.full(20, 3.0))
    assert_allclose(model.predict(X), 3.0)


def test_penalised_rows_are_ridge_regression(rng):
    H, T, w = rng.standard_normal((20, 4)), rng.standard_normal((20, 2)), rng.uniform(1, 2, 20)
    A, Y = penalised_rows(H, T, w, 3.0)
    B = np.diag(w)
    expected = np.linalg.solve(np.eye(4) / 3.0 + H.T @ B @ H, H.T @ B @ T)
    assert_allclose(np.linalg.lstsq(A, Y, rcond=None)[0], expected, rtol=1e-10)
