"""Scores of any fitted classifier: one column per class, the largest is the prediction."""

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from ecselm.estimators.cost_search import (
    FittedEngine,
    class_probabilities,
    class_scores,
    split_probabilities,
    split_scores,
    weight_parameter,
)
from ecselm.fitness import Candidates, CostedRows, Split


class PredictsOnly(ClassifierMixin, BaseEstimator):
    """A classifier with neither probabilities nor a decision function."""

    def fit(self, X, y, sample_weight=None):
        self.inner_ = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y, sample_weight)
        self.classes_ = self.inner_.classes_
        return self

    def predict(self, X):
        return self.inner_.predict(X)


MODELS = pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        GaussianNB(),
        RandomForestClassifier(2, max_depth=2, random_state=0),
        HistGradientBoostingClassifier(max_iter=3),
        SVC(),
        SVC(decision_function_shape="ovo"),
        SVC(break_ties=True),
        RidgeClassifier(),
        KNeighborsClassifier(4),
        DummyClassifier(strategy="uniform", random_state=0),
        PredictsOnly(),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ],
    ids=str,
)


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Small fits take no longer beside another process."""
    with threadpool_limits(1):
        yield


@pytest.fixture
def rows(labelled):
    X, y = labelled
    return X[:120], y[:120]


@MODELS
@pytest.mark.parametrize("labels", ["numbers", "words"])
def test_largest_score_is_the_prediction(rows, model, labels):
    X, y = rows
    y = np.array(["c", "a", "d", "b"])[y] if labels == "words" else y
    classes = np.unique(y)
    fitted = clone(model).fit(X[:90], y[:90])
    Z = class_scores(fitted, X, classes)
    assert Z.shape == (120, len(classes))
    assert np.isfinite(Z).all()
    if not isinstance(model, DummyClassifier):  # whose answers change from call to call
        assert_array_equal(classes[Z.argmax(axis=1)], fitted.predict(X))


def test_scores_are_logarithms_of_probabilities(rows):
    X, y = rows
    fitted = LogisticRegression().fit(X, y)
    assert_array_equal(class_scores(fitted, X, fitted.classes_), fitted.predict_log_proba(X))
    assert_array_equal(class_probabilities(fitted, X, fitted.classes_), fitted.predict_proba(X))


def test_scores_are_the_decision_function_without_probabilities(rows):
    X, y = rows
    fitted = SVC().fit(X, y)
    D, Z = fitted.decision_function(X), class_scores(fitted, X, fitted.classes_)
    if D.ndim == 1:
        assert_array_equal(Z, np.column_stack([-D, D]))
    else:
        assert_array_equal(Z, D)


def test_probability_of_nothing_has_a_score(rows):
    X, y = rows
    fitted = DecisionTreeClassifier(random_state=0).fit(X, y)
    Z = class_scores(fitted, X, fitted.classes_)
    assert_allclose(Z.min(), np.log(np.finfo(float).eps), rtol=1e-12)


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        RandomForestClassifier(3, random_state=0),
        SVC(),
        SVC(decision_function_shape="ovo"),
        PredictsOnly(),
    ],
    ids=str,
)
@pytest.mark.parametrize("missing", [[0], [2], [1, 3]], ids=str)
def test_class_that_a_model_has_never_seen_never_wins(model, missing):
    X, y = make_classification(200, 6, n_informative=5, n_redundant=0, n_classes=4, random_state=0)
    known = ~np.isin(y, missing)
    fitted = clone(model).fit(X[known], y[known])
    Z = class_scores(fitted, X, np.arange(4))
    assert_array_equal(Z.argmax(axis=1), fitted.predict(X))
    assert (Z[:, missing].max(axis=1) <= Z.max(axis=1)).all()
    if hasattr(fitted, "predict_proba"):
        P = class_probabilities(fitted, X, np.arange(4))
        assert_array_equal(P[:, missing], 0.0)
        assert_array_equal(np.delete(P, missing, axis=1), fitted.predict_proba(X))


@pytest.mark.parametrize("only", [0, 1])
@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(3, random_state=0),
        HistGradientBoostingClassifier(max_iter=2),
        DummyClassifier(),
        GaussianNB(),
    ],
    ids=str,
)
def test_model_of_a_single_class_is_sure_of_it(rng, model, only):
    X = rng.standard_normal((30, 2))
    fitted = clone(model).fit(X, np.full(30, only))
    assert_array_equal(class_probabilities(fitted, X, np.arange(2))[:, only], 1.0)
    assert_array_equal(class_scores(fitted, X, np.arange(2)).argmax(axis=1), only)


def test_split_is_fitted_on_its_rows_with_their_weights(rows, rng):
    X, y = rows
    w, classes = rng.uniform(0.1, 3, len(y)), np.unique(y)
    split = Split(np.arange(0, 120, 2), np.arange(1, 120, 4))
    alone = LogisticRegression().fit(X[::2], y[::2], sample_weight=w[::2])
    given = LogisticRegression(), X, y, classes, w, split
    assert_array_equal(split_scores(*given), alone.predict_log_proba(X[1::4]))
    assert_array_equal(split_probabilities(*given), alone.predict_proba(X[1::4]))
    plain = LogisticRegression().fit(X[::2], y[::2]).predict_proba(X[1::4])
    assert_array_equal(split_probabilities(*given[:4], None, split), plain)


@pytest.mark.parametrize("weighted", [False, True])
def test_engine_is_a_loop_over_candidates_and_splits(rows, rng, weighted):
    X, y = rows
    k, weight = len(np.unique(y)), rng.uniform(0.5, 2, len(y)) if weighted else None
    costs = rng.uniform(0.2, 5, (3, k))
    splits = [Split(np.arange(70), np.arange(70, 120)), Split(np.arange(40, 120), np.arange(40))]
    costed = CostedRows(np.empty((120, 0)), y, k, weight)
    engine = FittedEngine(LogisticRegression(), X, y, np.arange(k), costed, splits, None)
    Z = engine.scores(Candidates(costs, np.ones(3)))
    assert Z.shape == (3, 90, k)
    for one, B in zip(Z, costs, strict=True):
        w = B[y] if weight is None else B[y] * weight
        literal = [
            LogisticRegression()
            .fit(X[split.train], y[split.train], w[split.train])
            .predict_log_proba(X[split.test])
            for split in splits
        ]
        assert_array_equal(one, np.concatenate(literal))


def test_name_of_the_weights():
    piped = make_pipeline(StandardScaler(), LogisticRegression())
    assert weight_parameter(LogisticRegression()) == "sample_weight"
    assert weight_parameter(piped) == "logisticregression__sample_weight"
    nested = make_pipeline(StandardScaler(), piped)
    assert weight_parameter(nested) == "pipeline__logisticregression__sample_weight"


@pytest.mark.parametrize(
    "model",
    [
        KNeighborsClassifier(),
        make_pipeline(StandardScaler(), KNeighborsClassifier()),
        make_pipeline(StandardScaler(), make_pipeline(KNeighborsClassifier())),
    ],
    ids=["alone", "piped", "nested"],
)
@pytest.mark.parametrize("routing", [False, True])
def test_estimator_without_weights_is_refused_by_name(model, routing):
    with (
        sklearn.config_context(enable_metadata_routing=routing),
        pytest.raises(ValueError, match=r"(?s)^estimator must take sample_weight.*KNeighborsClass"),
    ):
        weight_parameter(model)


def test_routing_asks_who_requests_weights():
    with sklearn.config_context(enable_metadata_routing=True):
        asks = LogisticRegression().set_fit_request(sample_weight=True)
        for model in (make_pipeline(asks), VotingClassifier([("a", asks)]), LogisticRegression()):
            assert weight_parameter(model) == "sample_weight"
        silent = make_pipeline(StandardScaler(), LogisticRegression())
        with pytest.raises(ValueError, match="with metadata routing: request it"):
            weight_parameter(silent)


def test_estimator_that_calibrates_takes_weights():
    assert weight_parameter(CalibratedClassifierCV(LogisticRegression())) == "sample_weight"
