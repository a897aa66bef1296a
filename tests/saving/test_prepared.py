"""Prepared models answer as the models they are made from."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ecselm import (
    CSELMClassifier,
    ECSELMClassifier,
    ELMClassifier,
    ELMRegressor,
    KELMClassifier,
    KELMRegressor,
    WELMClassifier,
)
from ecselm.layers import RankScale
from ecselm.saving import prepare
from ecselm.saving.prepared import _ranks

LAYERS = [("laplacian", "ranks", 1.0), ("rbf", "root", 0.3), ("rbf", "standard", 1.0)]
CLASSIFIERS = [
    ELMClassifier(20, random_state=0),
    ELMClassifier(20, activation="sigmoid", draw="uniform", scale="minmax", random_state=0),
    ELMClassifier(ensemble=LAYERS, random_state=0),
    WELMClassifier(20, ensemble=LAYERS, random_state=0),
    WELMClassifier(20, random_state=0),
    KELMClassifier(),
    KELMClassifier(kernel="polynomial", scale="standard"),
    CSELMClassifier(20, random_state=0),
    ECSELMClassifier(ensemble=LAYERS, scoring="gmean", max_epochs=1, random_state=0),
]


@pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)
@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
def test_a_prepared_classifier_answers_as_the_model(model, load):
    X, y = load(return_X_y=True)
    X, y = X[::3], np.array(["no", "yes", "perhaps"])[y[::3]]
    model.fit(X, y)
    prepared = prepare(model)
    assert_array_equal(prepared.predict(X), model.predict(X))
    for name in ("predict_proba", "decision_function"):
        assert_allclose(getattr(prepared, name)(X), getattr(model, name)(X), rtol=0, atol=1e-12)
    for row in X[:5]:
        one = row[np.newaxis]
        assert_array_equal(prepared.predict(row), model.predict(one))
        for name in ("predict_proba", "decision_function"):
            assert_allclose(getattr(prepared, name)(row), getattr(model, name)(one), atol=1e-12)


@pytest.mark.parametrize("model", [ELMRegressor(20, ensemble=LAYERS), KELMRegressor()], ids=repr)
@pytest.mark.parametrize("n_targets", [1, 2])
def test_a_prepared_regressor_answers_as_the_model(model, n_targets):
    X, y = load_diabetes(return_X_y=True)
    X, y = X[::3], y[::3]
    model.fit(X, y if n_targets == 1 else np.column_stack([y, -y]))
    assert_allclose(prepare(model).predict(X), model.predict(X), rtol=1e-12)
    assert_allclose(prepare(model).predict(X[0]), model.predict(X[:1]), rtol=1e-12)


def test_float32_stays_float32():
    X, y = load_iris(return_X_y=True)
    X = X.astype(np.float32)
    model = ELMClassifier(20, random_state=0).fit(X, y)
    assert prepare(model).scores(X).dtype == np.float32
    assert_allclose(prepare(model).scores(X), model.decision_function(X), rtol=1e-4, atol=1e-5)


def test_ranks_of_one_row_are_those_of_many(rng):
    known = np.round(rng.standard_normal((200, 4)), 1)  # many equal values
    known[:, 3] = 2.0  # and a constant
    scale = RankScale.measured(known)
    rows = np.vstack([known[:40], 3.0 * rng.standard_normal((40, 4)), np.full((1, 4), 2.0)])
    one_by_one = np.vstack([_ranks(row[np.newaxis], scale.knots, scale.levels) for row in rows])
    assert_allclose(one_by_one, scale(rows), rtol=0, atol=1e-13)


def test_rows_of_another_width_or_without_scores_are_refused():
    X, y = load_iris(return_X_y=True)
    prepared = prepare(ELMClassifier(5, random_state=0).fit(X, y))
    with pytest.raises(ValueError, match=r"rows of 4 numbers, got the shape \(1, 3\)"):
        prepared.predict([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="finite scores"):
        prepared.predict([1.0, 2.0, 3.0, np.nan])


def test_other_estimators_are_refused():
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(StandardScaler(), ELMClassifier(5)).fit(X, y)
    with pytest.raises(ValueError, match="got Pipeline: of a pipeline, prepare the last step"):
        prepare(model)


def test_a_regressor_has_no_probabilities():
    X, y = load_iris(return_X_y=True)
    prepared = prepare(ELMRegressor(5).fit(X, y))
    for name in ("predict_proba", "decision_function"):
        with pytest.raises(AttributeError, match="got a regressor"):
            getattr(prepared, name)(X)
