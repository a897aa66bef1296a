"""AdaBoost of weighted ELMs, written out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_wine, make_classification

from ecselm import WELMClassifier
from ecselm.paper.elms import BoostingWELMClassifier
from ecselm.paper.elms.boosting import balanced_by_class, boosted_weights


def literal_rounds(H, y, k, C, n_rounds):
    """Return output weights, votes and weights of the rows after every round."""
    N = len(y)
    T = np.where(y[:, None] == np.arange(k), 1.0, -1.0)
    n = np.bincount(y)
    D = np.array([1 / (k * n[c]) for c in y])
    betas, alphas, after = [], [], []
    for _ in range(n_rounds):
        B = np.diag(N * D)
        beta = np.linalg.inv(np.eye(H.shape[1]) / C + H.T @ B @ H) @ H.T @ B @ T
        wrong = (H @ beta).argmax(axis=1) != y
        error = D[wrong].sum()
        if error >= 0.5:
            break
        alpha = np.log((1 - error) / error) / 2
        D = D * np.where(wrong, np.exp(alpha), np.exp(-alpha))
        for c in range(k):
            D[y == c] /= k * D[y == c].sum()
        betas.append(beta)
        alphas.append(alpha)
        after.append(D)
    return betas, alphas, after


@pytest.fixture(params=[2, 3])
def overlapping(request):
    return make_classification(
        240, 6, n_informative=4, n_classes=request.param, flip_y=0.3, random_state=1
    )


def test_rounds_as_written_out(overlapping):
    X, y = overlapping
    k = y.max() + 1
    model = BoostingWELMClassifier(5, n_hidden=12, C=3.0, redraw=False, random_state=0).fit(X, y)
    H = model.layer_(X)
    betas, alphas, after = literal_rounds(H, y, k, 3.0, 5)
    assert len(alphas) == 5
    assert_allclose(model.votes_, alphas, rtol=1e-10)
    for member, beta in zip(model.members_, betas, strict=True):
        full = np.hstack([-member.beta, member.beta]) if k == 2 else member.beta
        assert_allclose(full, beta, rtol=1e-9, atol=1e-10)
    assert_allclose(model.row_weights_, after[-1], rtol=1e-10)
    votes = np.zeros((len(y), k))
    for alpha, beta in zip(alphas, betas, strict=True):
        votes[np.arange(len(y)), (H @ beta).argmax(axis=1)] += alpha
    assert_array_equal(model.predict(X), votes.argmax(axis=1))


def test_weights_of_every_class_sum_to_their_share_after_every_round(overlapping):
    X, y = overlapping
    k = y.max() + 1
    for n_rounds in range(1, 4):
        model = BoostingWELMClassifier(n_rounds, n_hidden=12, redraw=False, random_state=0)
        assert len(model.fit(X, y).members_) == n_rounds
        assert_allclose(np.bincount(y, model.row_weights_), np.full(k, 1 / k), rtol=1e-12)


def test_one_round_is_the_weighted_elm():
    X, y = load_wine(return_X_y=True)
    model = BoostingWELMClassifier(1, n_hidden=15, random_state=0).fit(X, y)
    layer = model.members_[0].layer
    twin = WELMClassifier(n_hidden=15, weighting="w1", normalize=True, C=32.0)
    twin.set_params(random_state=np.random.default_rng(0).spawn(1)[0]).fit(X, y)
    assert_allclose(layer.weights, twin.layer_.weights, rtol=1e-12)
    assert_allclose(model.members_[0].beta, twin.beta_, rtol=1e-8, atol=1e-10)
    assert_array_equal(model.predict(X), twin.predict(X))


def test_with_equal_sums_of_right_and_wrong_it_is_adaboost():
    D, y = np.full(8, 1 / 8), np.repeat([0, 1], 4)
    wrong = np.array([True, False, False, False] * 2)
    alpha = np.log(3) / 2
    plain = D * np.where(wrong, np.exp(alpha), np.exp(-alpha))
    assert_allclose(boosted_weights(D, wrong, alpha, y, 2), plain / plain.sum(), rtol=1e-14)


def test_a_class_without_weight_takes_no_share():
    assert_allclose(balanced_by_class(np.array([1.0, 3.0]), np.array([0, 2]), 3), [0.5, 0.5])


def test_a_perfect_round_is_the_last():
    X, y = load_wine(return_X_y=True)
    model = BoostingWELMClassifier(n_hidden=150, C=1e6, random_state=0).fit(X, y)
    assert model.errors_.tolist() == [0.0]
    assert np.isfinite(model.votes_).all()


def test_a_first_round_no_better_than_chance_stays_alone(rng):
    X, y = rng.standard_normal((300, 3)), rng.integers(0, 6, 300)
    model = BoostingWELMClassifier(n_hidden=2, random_state=0).fit(X, y)
    assert len(model.members_) == 1
    assert model.errors_[0] >= 0.5
