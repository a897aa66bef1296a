import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, ShuffleSplit, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ecselm.paper.pairs import PairSimilarities, SubSML
from tests.contracts.pair_contract import pairs_of
from tests.paper.pairs.test_subsml import intra_personal


@pytest.fixture
def data(rng):
    return pairs_of(rng)


def test_five_are_the_formulas_of_every_pair_alone(data):
    pairs, y = data
    values = PairSimilarities(None).fit(pairs, y).transform(pairs)
    model, X = SubSML().fit(pairs, y).similarity_, intra_personal(pairs, y)
    for row, (x, z), (a, c) in zip(values, pairs, X, strict=True):
        expected = [
            np.corrcoef(x, z)[0, 1],
            np.linalg.norm(x / np.linalg.norm(x) - z / np.linalg.norm(z)),
            a @ c,
            (a - c) @ model.distance @ (a - c),
            a @ model.bilinear @ c,
        ]
        assert_allclose(row, expected, rtol=1e-6, atol=1e-9)


def test_last_two_make_up_the_score_of_subsml(data):
    pairs, y = data
    values = PairSimilarities(None, 3.0, 5.0).fit(pairs, y).transform(pairs)
    expected = SubSML(3.0, 5.0).fit(pairs, y).score_pairs(pairs)
    assert_allclose(values[:, 4] - values[:, 3], expected, rtol=1e-9, atol=1e-12)


def test_components_are_those_of_the_training_vectors(data):
    pairs, y = data
    components = PCA(2, svd_solver="full").fit(pairs.reshape(-1, 4))
    low = components.transform(pairs.reshape(-1, 4)).reshape(-1, 2, 2)
    expected = PairSimilarities(None).fit(low, y).transform(low)
    assert_allclose(PairSimilarities(2).fit(pairs, y).transform(pairs), expected, rtol=1e-8)


def test_fit_transform_gives_every_pair_what_was_learned_without_it(data):
    pairs, y = data
    values = PairSimilarities(cv=4).fit_transform(pairs, y)
    for train, test in StratifiedKFold(4).split(pairs, y):
        alone = PairSimilarities().fit(pairs[train], y[train]).transform(pairs[test])
        assert_allclose(values[test], alone, rtol=1e-10)


def test_fit_transform_learns_from_all_for_later_pairs(data, rng):
    pairs, y = data
    model, later = PairSimilarities(cv=3), pairs_of(rng, 9)[0]
    model.fit_transform(pairs, y)
    assert_array_equal(model.transform(later), clone(model).fit(pairs, y).transform(later))


def test_changing_a_fold_does_not_change_its_own_matrices(data):
    pairs, y = data
    groups = np.arange(len(y)) // 40
    before = PairSimilarities(cv=GroupKFold(3)).fit_transform(pairs, y, groups)
    other = pairs.copy()
    other[groups == 1, :, :] = 0.5 * pairs[groups == 1][:, ::-1]
    after = PairSimilarities(cv=GroupKFold(3)).fit_transform(other, y, groups)
    assert not np.allclose(after[groups == 0], before[groups == 0], rtol=1e-6)
    plain = PairSimilarities(None, cv=GroupKFold(3))
    before, after = (plain.fit_transform(p, y, groups) for p in (pairs, other))
    assert_allclose(after[groups == 1, 2:], before[groups == 1, 2:], rtol=1e-8)


def test_features_of_training_folds_are_not_flattered(rng):
    pairs, y = pairs_of(rng, 90, 12, noise=1.0)
    y = rng.permutation(y)  # nothing to be learned
    model = PairSimilarities(gamma=0.1, beta=0.1, cv=5)
    honest = model.fit_transform(pairs, y)
    flattered = model.transform(pairs)
    gain = [np.corrcoef(v[:, 4] - v[:, 3], y)[0, 1] for v in (honest, flattered)]
    assert gain[1] > 0.8
    assert abs(gain[0]) < 0.4


def test_psd_clips_the_bilinear_form_only(data):
    pairs, y = data
    free, clipped = (PairSimilarities(None, 0.05, 0.05, psd=p).fit(pairs, y) for p in (False, True))
    assert np.linalg.eigvalsh(clipped.similarities_.learned.bilinear)[0] > -1e-12
    assert_array_equal(free.transform(pairs)[:, :4], clipped.transform(pairs)[:, :4])


def test_covariance_takes_the_inverse_of_like_pairs(data):
    pairs, y = data
    model = PairSimilarities(None, mahalanobis="covariance").fit(pairs, y)
    X = intra_personal(pairs, y)
    D = (X[:, 0] - X[:, 1])[y == 1]
    expected = np.linalg.inv(D.T @ D / len(D))
    assert_allclose(model.similarities_.learned.distance, expected, rtol=1e-4)


def test_symmetric_in_the_pair(data):
    pairs, y = data
    model = PairSimilarities().fit(pairs, y)
    assert_allclose(model.transform(pairs[:, ::-1]), model.transform(pairs), atol=1e-9)


def test_serves_a_pipeline_and_survives_pickling(data, rng):
    model = make_pipeline(PairSimilarities(cv=3), StandardScaler(), LogisticRegression())
    model = pickle.loads(pickle.dumps(model.fit(*data)))
    assert model.score(*pairs_of(rng, 300)) > 0.7
    names = ["correlation", "euclidean", "cosine", "mahalanobis", "bilinear"]
    assert list(model[0].get_feature_names_out()) == names


def test_refuses_bad_input(data):
    pairs, y = data
    model = PairSimilarities(cv=3).fit(pairs, y)
    with pytest.raises(ValueError, match="pairs must have the 4 features of fit, got 3"):
        model.transform(pairs[:, :, :3])
    with pytest.raises(ValueError, match="y must hold two labels"):
        PairSimilarities().fit(pairs, np.zeros(len(y)))
    with pytest.raises(ValueError, match="cv must test every pair once"):
        PairSimilarities(cv=ShuffleSplit(2)).fit_transform(pairs, y)
    for name, value in {"pca_dim": 0, "gamma": 0, "beta": -1, "mahalanobis": "no"}.items():
        with pytest.raises(ValueError, match=name):
            PairSimilarities(**{name: value}).fit(pairs, y)


def test_folds_that_cannot_be_are_refused_before_any_work(rng):
    pairs, y = rng.standard_normal((10, 2, 3)), np.arange(10) % 2
    model = PairSimilarities()
    with pytest.raises(ValueError, match="cv must cut these pairs into folds, got 9: "):
        model.fit_transform(pairs, y)
    assert not hasattr(model, "similarities_")
