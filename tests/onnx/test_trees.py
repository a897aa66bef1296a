"""Boosted trees of scikit-learn as graphs: equal to their predictions, not near them."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from ecselm import CostDecisionClassifier, CostSearchCV
from ecselm.onnx import to_onnx
from ecselm.study.models import one_thread
from tests.onnx.agreement import assert_agrees, fed, outputs, rows_beyond

WORDS = ["u", "v", "x", "y", "z"]


@pytest.fixture(autouse=True)
def threads():
    """Boosted trees wait for cores that other tests use, unless they have one thread."""
    with one_thread():
        yield


def numbers(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    score = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, score


def table(n=300, seed=0, words=WORDS):
    """Return columns of numbers, of words and of categories that are numbers; some missing."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "word": pd.Categorical(rng.choice(words, n), categories=words),
            "depth": rng.normal(size=n),
            "kind": pd.Categorical(rng.choice([1, 5, 7, 9], n)),
        }
    )
    score = 2.0 * frame["word"].isin(["x", "z"]) + frame["kind"].isin([5, 9]) + frame["depth"]
    frame.loc[rng.random(n) < 0.1, ["size", "word"]] = np.nan
    return frame, score.to_numpy()


def boosted(*, classes=True, **options):
    kind = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    return kind(max_iter=15, min_samples_leaf=5, random_state=0, **options)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", ["integers", "texts", "truths", "floats"])
def test_classes_agree(n_classes, kind):
    X, score = numbers()
    codes = np.digitize(score, [-0.5, 0.5][: n_classes - 1])
    make = {
        "integers": lambda: codes * 3 - 4,
        "texts": lambda: np.array(["no", "yes", "more"])[codes],
        "truths": lambda: codes > 0,
        "floats": lambda: codes.astype(float),
    }
    model = CostDecisionClassifier(boosted(), cost=None).fit(X, make[kind]())
    assert_agrees(model, rows_with_gaps(X))
    if kind != "floats":  # which skl2onnx does not declare as labels of estimators of others
        assert_agrees(model.estimator_, rows_with_gaps(X))


def rows_with_gaps(X, n_rows=2000):
    rows = rows_beyond(np.nan_to_num(X), n_rows)
    rows[np.random.default_rng(2).random(rows.shape) < 0.1] = np.nan
    return rows


@pytest.mark.parametrize(
    "loss", ["squared_error", "absolute_error", "poisson", "gamma", "quantile"]
)
def test_numbers_agree(loss):
    X, score = numbers()
    model = boosted(classes=False, loss=loss, quantile=0.7).fit(X, np.exp(score))
    found = assert_agrees(model, rows_with_gaps(X))
    assert found["variable"].ndim == 1


@pytest.mark.parametrize("scale", [1e-30, 1e60])
def test_numbers_beyond_float32_agree(scale):
    X, score = numbers()
    model = boosted(classes=False, loss="absolute_error").fit(X, scale * score)
    rows = rows_with_gaps(X)
    found = outputs(to_onnx(model), {"X": rows})["variable"]
    assert_allclose(found / scale, model.predict(rows) / scale, rtol=0, atol=1e-9)


@pytest.mark.parametrize("classes", [True, False])
def test_splits_by_category_agree(classes):
    frame, score = table()
    model = boosted(classes=classes).fit(frame, score > 1.0 if classes else score)
    assert any(one.nodes["is_categorical"].any() for (one,) in model._predictors)
    # New rows have a word that training had not; it goes the way of missing words.
    new, _ = table(seed=1, words=[*WORDS, "new"])
    inputs = {
        "word": new[["word"]].astype(object).fillna("").to_numpy(object),
        **fed(new.drop(columns="word").astype(float)),
    }
    assert_agrees(model, new, inputs)


@pytest.mark.parametrize("columns", [[0, 2], [0, 1, 2]], ids=["some", "all"])
@pytest.mark.parametrize("leaf", [5, 1000], ids=["split", "not split"])
def test_categories_by_position_agree(columns, leaf):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (300, 3)).astype(float)
    y = (X[:, 0] % 2 == 1) ^ (rng.random(300) < 0.1)
    model = boosted(categorical_features=columns).set_params(min_samples_leaf=leaf).fit(X, y)
    assert_agrees(model, rng.integers(-1, 9, (300, 3)).astype(float))


def test_rows_on_a_threshold_go_the_same_way_in_float32():
    """A threshold is rounded down, so that no float32 number changes sides."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2)).astype(np.float32)
    y = np.sin(3 * X[:, 0]) + X[:, 1]
    model = boosted(classes=False).fit(X, y)
    nodes = np.concatenate([one.nodes for (one,) in model._predictors])
    thresholds = nodes["num_threshold"][(nodes["is_leaf"] == 0) & (nodes["feature_idx"] == 0)]
    near = thresholds.astype(np.float32)
    sides = [np.nextafter(near, np.float32(end)) for end in (-np.inf, np.inf)]
    rows = np.column_stack([np.concatenate([near, *sides]), np.zeros(3 * len(near))])
    found = outputs(to_onnx(model, dtype=np.float32), {"X": rows.astype(np.float32)})
    assert_allclose(found["variable"], model.predict(rows.astype(np.float32)), rtol=0, atol=1e-6)


def test_float32_probabilities_agree_to_float32():
    X, score = numbers()
    model = boosted().fit(X, np.digitize(score, [-0.5, 0.5]))
    rows = rows_with_gaps(X).astype(np.float32)
    found = outputs(to_onnx(model, dtype=np.float32), {"X": rows})
    assert_allclose(found["probabilities"], model.predict_proba(rows), rtol=0, atol=1e-6)
    assert_array_equal(found["label"], model.predict(rows))


def test_searched_costs_around_trees_agree():
    X, score = numbers()
    model = CostSearchCV(
        boosted(), cost_level="decision", population_size=3, max_epochs=1, random_state=0, fitness=2
    )
    assert_agrees(model.fit(X, (score > 0.5).astype(int)), rows_with_gaps(X))


@pytest.mark.slow
def test_many_trees_agree():
    """Sums of 1500 trees keep their digits."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 20))
    y = np.digitize(X[:, 0] + rng.normal(size=3000), [-0.5, 0.5])
    model = boosted().set_params(max_iter=500, early_stopping=False).fit(X, y)
    assert_agrees(model, rows_beyond(X))
