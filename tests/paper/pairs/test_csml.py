import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import check_grad
from sklearn.exceptions import ConvergenceWarning

from ecselm.paper.pairs import CSML
from ecselm.paper.pairs.csml import CosineLoss, whitening
from tests.contracts.pair_contract import pairs_of


def printed(A, A_0, pairs, y, beta):
    """Return the objective as printed, to be maximised."""

    def cosine(x, z):
        return (A @ x) @ (A @ z) / np.linalg.norm(A @ x) / np.linalg.norm(A @ z)

    alpha = (y == 1).sum() / (y == 0).sum()
    total = sum(cosine(x, z) * (1 if t else -alpha) for (x, z), t in zip(pairs, y, strict=True))
    return total - beta * np.sum((A - A_0) ** 2)


def loss_of(rng, r=2):
    pairs, y = pairs_of(rng, 30)
    y[:7] = 1
    sign = np.where(y == 1, 1.0, -(y == 1).sum() / (y == 0).sum())
    A_0 = rng.standard_normal((r, 4))
    return CosineLoss(pairs, sign, A_0, 0.3), pairs, y


def test_loss_is_the_negative_of_the_printed_objective(rng):
    loss, pairs, y = loss_of(rng)
    A = rng.standard_normal((2, 4))
    expected = -printed(A, loss.prior, pairs, y, 0.3)
    assert loss(A.ravel())[0] == pytest.approx(expected)


@pytest.mark.parametrize("r", [1, 2, 4])
def test_gradient_is_that_of_finite_differences(rng, r):
    loss, _, _ = loss_of(rng, r)
    theta = rng.standard_normal(4 * r)
    assert check_grad(lambda t: loss(t)[0], lambda t: loss(t)[1], theta) < 1e-5


def test_starts_from_whitened_components(rng):
    X = rng.standard_normal((200, 4)) @ rng.standard_normal((4, 4))
    A_0 = whitening(X, 3)
    assert_allclose(np.cov(A_0 @ X.T), np.eye(3), atol=1e-10)
    flat = X.copy()
    flat[:, 3] = flat[:, 2]
    assert np.isfinite(whitening(flat, 4)).all()


def test_huge_beta_leaves_the_start_and_small_beta_improves_on_it(rng):
    pairs, y = pairs_of(rng)
    A_0 = whitening(pairs.reshape(-1, 4), 3)
    still = CSML(3, 1e9).fit(pairs, y).similarity_.projection
    assert_allclose(still, A_0, atol=1e-6)
    moved = CSML(3, 1.0).fit(pairs, y).similarity_.projection
    assert printed(moved, A_0, pairs, y, 1.0) > printed(A_0, A_0, pairs, y, 1.0)


def test_rounds_go_on_from_one_another(rng):
    pairs, y = pairs_of(rng)
    A_0 = whitening(pairs.reshape(-1, 4), 3)
    values = [
        printed(CSML(3, 5.0, rounds=n).fit(pairs, y).similarity_.projection, A_0, pairs, y, 0.0)
        for n in (1, 2, 3)
    ]
    assert values == sorted(values)


def test_too_few_steps_warn(rng):
    with pytest.warns(ConvergenceWarning, match="max_iter=1 steps"):
        CSML(max_iter=1).fit(*pairs_of(rng))


def test_a_vector_of_zeros_is_like_nothing_and_hinders_nothing(rng):
    pairs, y = made_pairs(rng)
    pairs[0, 0] = 0.0
    model = CSML().fit(pairs, y)
    assert model.n_iter_ > 0
    assert model.score_pairs(pairs)[0] == 0.0


def test_features_that_are_copies_change_nothing(rng):
    pairs, y = made_pairs(rng)
    doubled = np.concatenate([pairs, pairs[:, :, :1]], axis=2)
    assert np.abs(CSML().fit(doubled, y).similarity_.projection).max() < 100
    assert CSML().fit(doubled, y).score(doubled, y) > 0.8


def made_pairs(rng):
    x, y = rng.standard_normal((200, 1, 3)), np.arange(200) % 2
    z = y[:, np.newaxis, np.newaxis] * x + 0.3 * rng.standard_normal(x.shape)
    return np.concatenate([x, z], axis=1), y
