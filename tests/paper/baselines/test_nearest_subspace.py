"""The nearest subspace against regressions on the rows of each class."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, normalize
from sklearn.utils.estimator_checks import parametrize_with_checks

from ecselm.paper.baselines import NearestSubspaceClassifier
from ecselm.paper.datasets import load_gas, load_german, load_olivetti

FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)


@pytest.fixture
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:300], y[:300], X[300:500]


def test_residuals_are_those_of_regression_on_the_rows_of_a_class(digits):
    X, y, new = digits
    model = NearestSubspaceClassifier(None, center=False).fit(X, y)
    X, new = normalize(X), normalize(new)
    for code in range(10):
        rows = X[y == code].T
        coefficients, *_ = np.linalg.lstsq(rows, new.T, rcond=None)
        expected = np.linalg.norm(new.T - rows @ coefficients, axis=0)
        assert_allclose(model.residuals(new)[:, code], expected, atol=1e-8)
    assert_array_equal(model.predict(new), model.residuals(new).argmin(axis=1))


def test_centred_classes_are_rebuilt_by_their_principal_components(digits):
    X, y, new = digits
    model = NearestSubspaceClassifier(3, center=True, normalize=False).fit(X, y)
    for code in range(10):
        pca = PCA(3, svd_solver="full").fit(X[y == code])
        rebuilt = pca.inverse_transform(pca.transform(new))
        expected = np.linalg.norm(new - rebuilt, axis=1)
        assert_allclose(model.residuals(new)[:, code], expected, atol=1e-8)


@pytest.mark.parametrize("share", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("center", [False, True])
def test_a_share_takes_the_fewest_directions_with_so_much_of_the_squares(digits, share, center):
    X, y, _ = digits
    model = NearestSubspaceClassifier(share, center=center).fit(X, y)
    for code, U in enumerate(model.bases_):
        rows = normalize(X)[y == code]
        rows = rows - rows.mean(axis=0) if center else rows
        kept = [np.sum((rows @ U[:, :r]) ** 2) / np.sum(rows**2) for r in range(U.shape[1] + 1)]
        assert kept[-1] >= share - 1e-12
        assert max(kept[:-1]) < share


def test_a_class_of_equal_rows_is_its_mean():
    X = np.array([[1.0, 2.0, 0.0]] * 3 + [[0.0, 1.0, 1.0], [3.0, 0.0, 1.0]])
    model = NearestSubspaceClassifier(normalize=False).fit(X, [0, 0, 0, 1, 1])
    assert model.bases_[0].shape == (3, 0)
    assert_allclose(model.residuals(X)[:3, 0], 0.0, atol=1e-12)


def test_scores_are_residuals_negated_and_margins_for_two_classes(digits):
    X, y, new = digits
    many = NearestSubspaceClassifier().fit(X, y)
    assert_array_equal(many.decision_function(new), -many.residuals(new))
    two = NearestSubspaceClassifier(5).fit(X, y > 4)
    residuals = two.residuals(new)
    assert_allclose(two.decision_function(new), residuals[:, 0] - residuals[:, 1])
    assert_array_equal(two.predict(new), two.decision_function(new) > 0)


def test_length_of_rows_does_not_matter_when_normalised(digits):
    X, y, new = digits
    model = NearestSubspaceClassifier().fit(X, y)
    assert_array_equal(model.predict(new), model.predict(7.0 * new))


def test_no_class_spans_all_features():
    rng = np.random.default_rng(0)
    model = NearestSubspaceClassifier(None).fit(rng.standard_normal((40, 4)), np.arange(40) % 2)
    assert [U.shape for U in model.bases_] == [(4, 3), (4, 3)]


def test_single_precision_is_kept(digits):
    X, y, new = digits
    model = NearestSubspaceClassifier(5).fit(X.astype(np.float32), y)
    assert model.residuals(new.astype(np.float32)).dtype == np.float32


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="at least two classes"):
        NearestSubspaceClassifier().fit(np.eye(3), [1, 1, 1])


@parametrize_with_checks(
    [NearestSubspaceClassifier(), NearestSubspaceClassifier(None, center=False)]
)
def test_scikit_learn_finds_nothing_wrong(estimator, check):
    check(estimator)


def test_faces_and_gases_are_recognised(data_folder):
    data = load_olivetti(data_folder)
    faces, persons = data.X, data.y
    model = NearestSubspaceClassifier().fit(faces[::2], persons[::2])
    assert model.score(faces[1::2], persons[1::2]) > 0.9  # chance is .025
    gases = load_gas(folder=data_folder)
    model = NearestSubspaceClassifier()
    assert cross_val_score(model, gases.X, gases.y, cv=FOLDS).mean() > 0.85


def test_bad_credits_need_centred_classes_of_few_directions(data_folder):
    """As many are good as .7, which full spans through 0 do not reach."""
    data = load_german(folder=data_folder)
    few = NearestSubspaceClassifier(4, center=True, normalize=False)
    model = make_pipeline(StandardScaler(), few)
    scores = cross_val_score(model, data.X, data.y, cv=FOLDS, scoring="balanced_accuracy")
    assert scores.mean() > 0.65
