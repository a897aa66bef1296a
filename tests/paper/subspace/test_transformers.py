"""What the shell promises: components, dimensions, names, errors."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris, make_classification
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.metrics import recall_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from ecselm.paper.subspace import CSLDA, CSLPP, CSMFA, CSPCA, LPP, MFA, gallery_impostor_cost
from ecselm.paper.subspace._base import class_importance

EVERY = [LPP, MFA, CSPCA, CSLDA, CSLPP, CSMFA]
RATIOS = [LPP, MFA, CSLDA, CSLPP, CSMFA]
DEAR = [CSPCA, CSLDA, CSLPP, CSMFA]


@pytest.fixture
def iris():
    return load_iris(return_X_y=True)


@pytest.mark.parametrize("method", RATIOS)
def test_normalisation_is_kept(iris, method):
    X, y = iris
    unit = method(2, normalize="unit").fit(X, y).components_
    metric = method(2, normalize="metric").fit(X, y).components_
    orth = method(2, normalize="orth").fit(X, y).components_
    assert_allclose(np.linalg.norm(unit, axis=1), 1.0)
    assert_allclose(orth @ orth.T, np.eye(2), atol=1e-12)
    assert_allclose(metric / np.linalg.norm(metric, axis=1, keepdims=True), unit, atol=1e-12)
    assert_allclose(orth[0], unit[0], atol=1e-12)
    assert (unit[[0, 1], np.abs(unit).argmax(axis=1)] > 0).all()


@pytest.mark.parametrize("method", [LPP, MFA, CSLPP, CSMFA])
def test_all_orthonormal_directions_leave_neighbours_as_they_were(iris, method):
    X, y = iris
    rotated = method(normalize="orth").fit_transform(X, y)
    plain = KNeighborsClassifier(1).fit(X[::2], y[::2]).predict(X[1::2])
    turned = KNeighborsClassifier(1).fit(rotated[::2], y[::2]).predict(rotated[1::2])
    assert_array_equal(plain, turned)


@pytest.mark.parametrize("method", EVERY)
def test_pca_first_is_a_pipeline_of_both(iris, method):
    X, y = iris
    both = method(1, pca_dim=3).fit_transform(X, y)
    pipeline = make_pipeline(PCA(3, svd_solver="full"), method(1)).fit_transform(X, y)
    assert_allclose(np.abs(both), np.abs(pipeline), atol=1e-8)


@pytest.mark.parametrize("method", EVERY)
def test_single_precision_is_kept(method):
    X, y = make_classification(100, 4, n_informative=4, n_redundant=0, random_state=0)
    single = method(1).fit(X.astype(np.float32), y)
    assert single.transform(X.astype(np.float32)).dtype == np.float32
    assert_allclose(single.components_, method(1).fit(X, y).components_, atol=1e-3)


@pytest.mark.parametrize("method", EVERY)
def test_output_columns_are_named_after_the_method(iris, method):
    X, y = iris
    model = method(2).set_output(transform="pandas").fit(X, y)
    name = method.__name__.lower()
    assert list(model.get_feature_names_out()) == [f"{name}0", f"{name}1"]
    assert list(model.transform(X).columns) == [f"{name}0", f"{name}1"]


@pytest.mark.parametrize("method", EVERY)
def test_transform_before_fit_is_refused(method):
    with pytest.raises(NotFittedError):
        method().transform(np.eye(3))


@pytest.mark.parametrize("method", DEAR)
def test_every_form_of_cost_is_understood(iris, method):
    X, y = iris
    names = np.array(["c", "a", "b"])[y]
    matrix = np.array([[0.0, 1.0, 1.0], [4.0, 0.0, 4.0], [1.0, 1.0, 0.0]])  # a, b, c
    frame = pd.DataFrame(matrix, index=list("abc"), columns=list("abc")).loc[::-1]
    forms = [matrix, frame, {"b": 4}, {("b", "a"): 4, ("b", "c"): 4}, [1, 4, 1]]
    fitted = [method(2, cost=form).fit(X, names) for form in forms]
    for model in fitted:
        assert_array_equal(model.cost_matrix_, matrix)
        assert_allclose(model.components_, fitted[0].components_)
    assert list(fitted[0].classes_) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("method", "weight"), [(CSPCA, 50), (CSLDA, 50), (CSLPP, 200), (CSMFA, 50)]
)
def test_a_rare_costly_class_gains_recall(method, weight):
    """One direction separates the two large classes, another the rare one from the first."""
    rng = np.random.default_rng(0)
    centres, sizes = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 4.0]]), [400, 400, 40]
    y = np.repeat([0, 1, 2], sizes)
    X = centres[y] + rng.standard_normal((840, 2))
    recalls = []
    for cost in (None, {2: weight}):
        model = make_pipeline(method(1, cost=cost), KNeighborsClassifier(1))
        predicted = model.fit(X[::2], y[::2]).predict(X[1::2])
        recalls.append(recall_score(y[1::2], predicted, labels=[2], average=None)[0])
    assert recalls[1] > recalls[0] + 0.2


@pytest.mark.parametrize("kind", ["sum", "mean", "max"])
def test_importance_is_one_on_average(kind):
    cost, counts = gallery_impostor_cost(3), np.array([5.0, 2.0, 3.0, 10.0])
    f = class_importance(kind, cost, counts)
    assert_allclose(f @ counts / counts.sum(), 1.0)
    assert f[-1] > f[0]


def test_importance_is_what_its_name_says():
    cost = np.array([[0.0, 1.0, 3.0], [2.0, 0.0, 2.0], [5.0, 0.0, 0.0]])
    counts = np.array([1.0, 3.0, 6.0])
    rows = {
        "sum": [4, 4, 5],
        "mean": [(3 * 1 + 6 * 3) / 9, (1 * 2 + 6 * 2) / 7, 5 / 4],
        "max": [3, 2, 5],
    }
    for kind, expected in rows.items():
        f = class_importance(kind, cost, counts)
        assert_allclose(f / f[0], np.array(expected) / expected[0])


@pytest.mark.parametrize("method", DEAR)
def test_a_class_whose_mistakes_cost_nothing_does_no_harm(iris, method):
    X, y = iris
    cost = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    assert np.isfinite(method(2, cost=cost).fit_transform(X, y)).all()


@pytest.mark.parametrize("method", [MFA, CSMFA, CSLDA, CSLPP])
def test_classes_of_one_row_are_learned_from_too(iris, method):
    X, y = iris
    y = y.copy()
    y[0] = 3
    assert np.isfinite(method(2).fit_transform(X, y)).all()


@pytest.mark.parametrize("method", [MFA, CSMFA, CSLDA])
def test_classes_of_one_row_only_are_refused(method):
    X = np.random.default_rng(0).standard_normal((5, 2))
    with pytest.raises(ValueError, match="differ from others of their class"):
        method().fit(X, np.arange(5))


@pytest.mark.parametrize("method", EVERY)
def test_too_many_components_are_refused(iris, method):
    X, y = iris
    with pytest.raises(ValueError, match=r"n_components must be at most [24].*got 5"):
        method(5).fit(X, y)
    with pytest.raises(ValueError, match=r"pca_dim must be at most 4.*got 9"):
        method(pca_dim=9).fit(X, y)


@pytest.mark.parametrize("method", [MFA, *DEAR])
def test_one_class_is_refused_and_nothing_changes(iris, method):
    X, y = iris
    model = method().fit(X, y)
    before = dict(vars(model))
    with pytest.raises(ValueError, match="at least two classes"):
        model.fit(X, np.zeros(150, dtype=int))
    assert vars(model) == before


@pytest.mark.parametrize("method", DEAR)
def test_costs_of_the_wrong_shape_are_refused(iris, method):
    with pytest.raises(ValueError, match="cost must have the shape"):
        method(cost=np.ones((2, 2))).fit(*iris)


def test_dependent_features_without_a_ridge_are_refused(iris):
    X, y = iris
    X = np.hstack([X, np.zeros((150, 1))])
    with pytest.raises(ValueError, match=r"reg must make .*got reg=0"):
        CSLDA(reg=0.0).fit(X, y)


def test_variant_b_needs_edges_between_classes(iris):
    X, y = iris
    with pytest.raises(ValueError, match="supervised must be False"):
        CSLPP(variant="B", supervised=True).fit(X, y)
    with pytest.raises(ValueError, match="n_neighbors must reach"):
        CSLPP(variant="B", n_neighbors=1).fit(X[:100], y[:100])


def test_copies_of_rows_are_learned_from():
    X, y = make_classification(30, 4, random_state=0)
    X, y = np.repeat(X, 8, axis=0), np.repeat(y, 8)
    assert np.isfinite(LPP(2).fit_transform(X)).all()


@pytest.mark.parametrize("wrong", [{"n_gallery": 0}, {"n_gallery": 2, "c_ig": -1.0}])
def test_a_gallery_needs_persons_and_costs(wrong):
    name = list(wrong)[-1]
    with pytest.raises(ValueError, match=name):
        gallery_impostor_cost(**wrong)
