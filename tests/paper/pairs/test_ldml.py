import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import check_grad
from sklearn.linear_model import LogisticRegression

from ecselm.paper.pairs import LDML
from ecselm.paper.pairs.ldml import LogisticLoss
from tests.contracts.pair_contract import pairs_of


def noisy_pairs(rng, n=400):
    """Return pairs in two dimensions that overlap, so that the likelihood has a maximum."""
    D = rng.standard_normal((n, 2)) * [1.0, 1.5]
    same = rng.random(n) < 1.0 / (1.0 + np.exp(D[:, 0] ** 2 + 0.5 * D[:, 1] ** 2 - 1.5))
    x = rng.standard_normal((n, 2))
    return np.stack([x, x - D], axis=1), same


def test_equals_logistic_regression_on_products_of_differences(rng):
    pairs, same = noisy_pairs(rng)
    model = LDML(class_weight=None, max_iter=2000, tol=1e-9).fit(pairs, same)
    D = pairs[:, 0] - pairs[:, 1]
    products = np.einsum("ni,nj->nij", D, D).reshape(len(D), -1)
    twin = LogisticRegression(C=np.inf, tol=1e-9, max_iter=5000).fit(products, same)
    M = -twin.coef_.reshape(2, 2)
    assert np.linalg.eigvalsh(M)[0] > 0  # else the constraint would bind
    assert_allclose(model.get_metric().matrix, M, rtol=1e-3, atol=1e-3)
    assert model.similarity_.offset == pytest.approx(twin.intercept_[0], rel=1e-3)


def test_balanced_weights_are_those_of_logistic_regression(rng):
    pairs, same = noisy_pairs(rng)
    model = LDML(max_iter=2000, tol=1e-9).fit(pairs, same)
    D = pairs[:, 0] - pairs[:, 1]
    products = np.einsum("ni,nj->nij", D, D).reshape(len(D), -1)
    twin = LogisticRegression(C=np.inf, tol=1e-9, max_iter=5000, class_weight="balanced")
    twin.fit(products, same)
    assert_allclose(-model.get_metric().matrix.ravel(), twin.coef_[0], rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_gradient_is_that_of_finite_differences(rng, rank):
    D, same = rng.standard_normal((20, 3)), rng.random(20) < 0.5
    loss = LogisticLoss(D, same, np.full(20, 0.05), 0.1)
    theta = rng.standard_normal(3 * rank + 1)
    assert check_grad(lambda t: loss(t)[0], lambda t: loss(t)[1], theta) < 1e-6


def test_rank_is_that_of_the_metric(rng):
    model = LDML(2).fit(*pairs_of(rng))
    assert model.components_.shape == (2, 4)
    assert np.linalg.matrix_rank(model.get_metric().matrix) == 2


def test_decay_keeps_the_metric_of_separable_pairs_bounded(rng):
    pairs, y = pairs_of(rng, noise=0.01)
    norms = [np.linalg.norm(LDML(decay=c).fit(pairs, y).components_) for c in (1e-1, 1e-3, 0.0)]
    assert norms[0] < norms[1] < norms[2]


def test_steps_end_at_max_iter(rng):
    assert LDML(max_iter=3).fit(*pairs_of(rng)).n_iter_ == 3


@pytest.mark.parametrize("unit", [1e-6, 1e-3, 1e4])
def test_units_change_nothing(unit, rng):
    x, y = rng.standard_normal((200, 1, 3)), np.arange(200) % 2
    z = y[:, np.newaxis, np.newaxis] * x + 0.3 * rng.standard_normal(x.shape)
    pairs = np.concatenate([x, z], axis=1)
    plain, scaled = LDML().fit(pairs, y), LDML().fit(unit * pairs, y)
    assert_allclose(scaled.get_metric().matrix * unit**2, plain.get_metric().matrix, rtol=1e-3)
