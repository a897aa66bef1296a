"""Linear discriminants of few rows, against the equations solved in full."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.covariance import ledoit_wolf_shrinkage
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.utils.estimator_checks import parametrize_with_checks

from ecselm.paper.baselines.discriminants import SmallSampleLDA


@parametrize_with_checks([SmallSampleLDA()])
def test_conventions_of_scikit_learn(estimator, check):
    check(estimator)


def few_rows(rng, k, n=12, d=40):
    y = np.arange(n) % k
    return rng.standard_normal((n, d)) * np.linspace(1, 3, d) + rng.standard_normal((k, d))[y], y


@pytest.mark.parametrize("k", [2, 3])
def test_few_rows_have_the_shrunk_scatter_solved_in_full(rng, k):
    X, y = few_rows(rng, k)
    model = SmallSampleLDA().fit(X, y)
    means = np.array([X[y == c].mean(axis=0) for c in range(k)])
    Z = X - means[y]
    S, s = Z.T @ Z / len(X), ledoit_wolf_shrinkage(Z, assume_centered=True)
    S = (1 - s) * S + s * np.trace(S) / len(S) * np.eye(len(S))
    coef = np.linalg.solve(S, means.T).T
    shares = np.bincount(y) / len(y)
    scores = X @ coef.T - 0.5 * (means * coef).sum(axis=1) + np.log(shares)
    assert_allclose(model.shrinkage_, s, rtol=1e-12)
    expected = scores[:, 1] - scores[:, 0] if k == 2 else scores
    assert_allclose(model.decision_function(X), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("load", [load_iris, load_wine])
@pytest.mark.parametrize("k", [2, 3])
def test_many_rows_are_scikit_learns_analysis(load, k):
    X, y = load(return_X_y=True)
    X, y = X[y < k], y[y < k]
    model, plain = SmallSampleLDA().fit(X, y), LinearDiscriminantAnalysis().fit(X, y)
    assert model.shrinkage_ == 0
    assert_allclose(model.decision_function(X), plain.decision_function(X), rtol=1e-9, atol=1e-9)


def test_other_solvers_shrink_as_they_are_asked_to(rng):
    X, y = few_rows(rng, 2)
    model = SmallSampleLDA("lsqr", shrinkage=0.5).fit(X, y)
    plain = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.5).fit(X, y)
    assert_allclose(model.decision_function(X), plain.decision_function(X), rtol=1e-9)


def test_scores_do_not_depend_on_the_axes(rng):
    X, y = few_rows(rng, 3)
    turn = np.linalg.qr(rng.standard_normal((40, 40)))[0]
    scores = SmallSampleLDA().fit(X, y).decision_function(X)
    assert_allclose(SmallSampleLDA().fit(X @ turn, y).decision_function(X @ turn), scores)


def test_classes_of_equal_rows_are_separated_by_their_means():
    X = np.repeat([[0.0, 1.0, 2.0, 0.0], [1.0, 0.0, 2.0, 3.0]], 2, axis=0)
    assert SmallSampleLDA().fit(X, [5, 5, 9, 9]).predict(X).tolist() == [5, 5, 9, 9]
