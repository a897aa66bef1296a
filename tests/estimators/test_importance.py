"""Permutation importance of columns, in the unit of a metric or of costs."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from scipy import sparse, stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

from ecselm import CostDecisionClassifier, ELMRegressor
from ecselm.estimators import _importance as module
from ecselm.estimators._importance import Effect, Importance, permutation_importance
from ecselm.metrics import geometric_mean_score, mean_cost, savings_score

COST = {(1, 0): 5.0}


@pytest.fixture
def fitted():
    """Return a model of three columns that matter and one that it does not use, with rows."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((900, 4))
    y = (rng.random(900) < 1 / (1 + np.exp(-(2 * X[:, 0] + X[:, 1] - 0.5 * X[:, 2])))).astype(int)
    model = LogisticRegression().fit(X[:300], y[:300])
    model.coef_[0, 3] = 0.0
    return model, X[300:], y[300:]


def permuted_tables(X, n_repeats, seed, j):
    """Return the tables with a permuted column, drawn as the function draws them."""
    rng = np.random.default_rng(seed)
    kept = np.sort(rng.choice(len(X), len(X), replace=False))
    order = rng.permuted(np.tile(np.arange(len(X)), (n_repeats, 1)), axis=1)
    made = []
    for one in order:
        Z = X[kept].copy()
        Z[:, j] = X[kept][one, j]
        made.append(Z)
    return made


SCORES = {
    "accuracy": lambda y, p: -np.mean(y == p),
    "gmean": lambda y, p: -geometric_mean_score(y, p),
    "mean_cost": lambda y, p: mean_cost(y, p, cost=COST),
    "total_cost": lambda y, p: len(y) * mean_cost(y, p, cost=COST),
    "savings": lambda y, p: -savings_score(y, p, cost=COST),
}


@pytest.mark.parametrize("metric", SCORES)
def test_importance_is_the_mean_loss_by_permuting_a_column(fitted, metric):
    model, X, y = fitted
    found = permutation_importance(model, X, y, metric=metric, cost=COST, n_repeats=3, rng=7)
    loss = SCORES[metric]
    by_name = {one.column: one.whole for one in found}
    for j in range(4):
        lost = [loss(y, model.predict(Z)) for Z in permuted_tables(X, 3, 7, j)]
        expected = np.mean(lost) - loss(y, model.predict(X))
        assert_allclose(by_name[f"x{j}"].value, expected, atol=1e-9 * len(y))
        assert by_name[f"x{j}"].n == 600
    assert found[0].column == "x0"


def test_the_interval_of_a_mean_holds_what_rows_add(fitted):
    """It is at least that of paired differences, and not much more."""
    model, X, y = fitted
    found = permutation_importance(model, X, y, metric="accuracy", columns=[0], rng=7)[0].whole
    tables = permuted_tables(X, 5, 7, 0)
    losses = np.mean([model.predict(Z) != y for Z in tables], axis=0) - (model.predict(X) != y)
    paired = stats.t.ppf(0.975, 599) * losses.std() / np.sqrt(600)
    assert 0.999 * paired < (found.high - found.low) / 2 < 1.5 * paired
    assert_allclose((found.high + found.low) / 2, found.value, rtol=1e-9)


def test_other_metrics_are_scored_and_have_intervals_by_a_jackknife(fitted):
    model, X, y = fitted
    found = permutation_importance(model, X, y, metric="roc_auc", rng=7, n_repeats=2)
    first = found[0].whole
    P = np.concatenate([model.predict_proba(Z)[:, 1] for Z in permuted_tables(X, 2, 7, 0)])
    expected = roc_auc_score(y, model.predict_proba(X)[:, 1]) - roc_auc_score(np.tile(y, 2), P)
    assert_allclose(first.value, expected, atol=1e-12)
    assert 0 < first.low < first.value < first.high
    assert next(one for one in found if one.column == "x3").whole == Effect(0.0, 0.0, 0.0, 600)


def test_metrics_of_confusion_matrices_agree_with_a_jackknife(fitted, monkeypatch):
    model, X, y = fitted
    options = {"metric": "gmean", "columns": [0, 1], "rng": 1, "n_repeats": 1}
    by_slopes = permutation_importance(model, X, y, **options)
    monkeypatch.setattr(module.Metric, "confusion_metric", lambda *_: None)
    by_blocks = permutation_importance(model, X, y, **options)
    for one, other in zip(by_slopes, by_blocks, strict=True):
        assert_allclose(one.whole.value, other.whole.value, atol=1e-12)
        widths = [found.whole.high - found.whole.low for found in (one, other)]
        assert 0.6 < widths[0] / widths[1] < 1.6


def test_costs_by_row_decide_and_count(fitted, rng):
    _, X, y = fitted
    costs = rng.uniform(1, 20, len(y))
    model = CostDecisionClassifier(LogisticRegression(), random_state=0).fit(X[::2], y[::2])
    options = {"sample_cost": costs, "rng": 7, "n_repeats": 2}
    found = {one.column: one.whole for one in permutation_importance(
        model, X, y, metric="mean_cost", **options)}  # fmt: skip
    y_pred = model.predict(X, sample_cost=costs)
    for j in (0, 1):
        lost = [
            mean_cost(y, model.predict(Z, sample_cost=costs), sample_cost=costs)
            for Z in permuted_tables(X, 2, 7, j)
        ]
        expected = np.mean(lost) - mean_cost(y, y_pred, sample_cost=costs)
        assert_allclose(found[f"x{j}"].value, expected, atol=1e-12)
    saved = permutation_importance(model, X, y, metric="savings", **options)
    assert saved[0].column == "x0"
    assert saved[0].whole.low > 0


def test_rows_that_are_not_settled_have_an_effect_of_their_own():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.iloc[:, :6]
    base = make_pipeline(StandardScaler(), LogisticRegression())
    model = CostDecisionClassifier(base, cost={(0, 1): (2.0, 30.0)}, random_state=0)
    model.fit(X[::2], y[::2])
    test = X[1::2], y[1::2]
    found = permutation_importance(model, *test, metric="mean_cost", cost={(0, 1): 8}, rng=0)
    n_open = int((~model.settled(test[0])).sum())
    assert 0 < n_open < len(test[0])
    assert {one.not_settled.n for one in found} == {n_open}
    known = CostDecisionClassifier(base, cost={(0, 1): 8.0}, random_state=0).fit(X[::2], y[::2])
    found = permutation_importance(known, *test, metric="mean_cost", cost={(0, 1): 8}, rng=0)
    assert {one.not_settled for one in found} == {None}


def test_pipelines_with_a_decision_by_costs_are_looked_into():
    X, y = load_breast_cancer(return_X_y=True)
    decider = CostDecisionClassifier(LogisticRegression(), cost={(0, 1): (2, 30)}, random_state=0)
    model = make_pipeline(StandardScaler(), decider).fit(X[::2, :5], y[::2])
    found = permutation_importance(model, X[1::2, :5], y[1::2], metric="mean_cost", rng=0)
    n_open = int((~model[-1].settled(model[:-1].transform(X[1::2, :5]))).sum())
    assert found[0].not_settled.n == n_open


@pytest.mark.parametrize(
    "metric", ["mae", "neg_mean_squared_error", "r2", "neg_root_mean_squared_error"]
)
@pytest.mark.parametrize("model", [LinearRegression(), ELMRegressor(20, random_state=0)])
def test_numbers_are_predicted_as_well(model, metric):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model.fit(X[::2], y[::2])
    found = permutation_importance(model, X[1::2], y[1::2], metric=metric, rng=0)
    assert found[0].column in {"bmi", "s5", "s1"}
    assert found[0].whole.low > 0
    assert found[0].not_settled is None


def test_many_classes(fitted):
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[::2], y[::2])
    for metric in ("balanced_accuracy", "roc_auc_ovr", "neg_log_loss"):
        found = permutation_importance(model, X[1::2], y[1::2], metric=metric, rng=0)
        assert len(found) == 13
        assert found[0].whole.value > 0


# Invariances.


def test_frames_arrays_and_sparse_matrices_have_the_same_importance(fitted):
    model, X, y = fitted
    options = {"metric": "accuracy", "rng": 0}
    expected = [one.whole for one in permutation_importance(model, X, y, **options)]
    names = ["a", "b", "c", "d"]
    model.feature_names_in_ = np.array(names, dtype=object)
    for table in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        found = permutation_importance(model, table, y, **options)
        assert [one.whole for one in found] == expected
        assert found[0].column == "a"
    del model.feature_names_in_
    found = permutation_importance(model, sparse.csr_array(X), y, **options)
    assert [one.whole for one in found] == expected


def test_columns_are_permuted_before_the_steps_of_the_model(rng):
    frame = pd.DataFrame(
        {"city": pd.Categorical(rng.choice(["a", "b", "c"], 400)), "size": rng.random(400)},
        index=np.arange(400)[::-1],
    )
    y = np.where(rng.random(400) < np.where(frame["city"] == "a", 0.9, 0.1), "yes", "no")
    coded = make_column_transformer((OneHotEncoder(), ["city"]), remainder="passthrough")
    model = make_pipeline(coded, LogisticRegression()).fit(frame, y)
    before = frame.copy(deep=True)
    found = permutation_importance(model, frame, y, metric="accuracy", rng=0)
    assert [one.column for one in found] == ["city", "size"]
    assert found[0].whole.low > 0.2
    pd.testing.assert_frame_equal(frame, before)


def test_the_result_depends_on_the_seed_alone(fitted):
    model, X, y = fitted
    options = {"metric": "mean_cost", "cost": COST}
    first, again = (permutation_importance(model, X, y, rng=4, **options) for _ in range(2))
    assert first == again
    given = permutation_importance(model, X, y, rng=np.random.default_rng(4), **options)
    assert given == first
    assert permutation_importance(model, X, y, rng=5, **options) != first
    alone = permutation_importance(model, X, y, rng=4, columns=[1], **options)
    assert alone[0] in first


def test_costs_times_ten_are_ten_times_the_importance(fitted):
    model, X, y = fitted
    costs = [{(1, 0): 5.0, (0, 1): 1.0}, {(1, 0): 50.0, (0, 1): 10.0}]
    once, tenfold = (
        permutation_importance(model, X, y, metric="mean_cost", cost=cost, rng=0) for cost in costs
    )
    for one, other in zip(once, tenfold, strict=True):
        assert_allclose(other.whole.value, 10 * one.whole.value, rtol=1e-9, atol=1e-12)
        assert_allclose(other.whole.high, 10 * one.whole.high, rtol=1e-5, atol=1e-12)


# Limits.


def test_few_rows_stand_for_all(fitted):
    model, X, y = fitted
    found = permutation_importance(model, X, y, metric="accuracy", rows=200, rng=0)
    assert {one.whole.n for one in found} == {200}
    whole = permutation_importance(model, X, y, metric="total_cost", cost=COST, rng=0)
    part = permutation_importance(model, X, y, metric="total_cost", cost=COST, rows=300, rng=0)
    assert 0.5 < part[0].whole.value / whole[0].whole.value < 2.0


@pytest.mark.parametrize("m", [120, 1000])
def test_of_many_columns_those_that_change_predictions_are_measured(m):
    X, y = make_classification(
        400, m, n_informative=4, n_redundant=0, shuffle=False, random_state=0
    )
    model = LogisticRegression().fit(X[:, :4], y)
    weights = np.zeros((1, m))
    weights[0, :4] = model.coef_
    model.coef_, model.n_features_in_ = weights, m
    found = permutation_importance(model, X, y, metric="accuracy", rng=0)
    assert len(found) == 50
    assert {"x0", "x1", "x2", "x3"} <= {one.column for one in found}


def test_a_column_that_few_rows_depend_on_has_no_interval():
    X = np.zeros((100, 1))
    X[:2] = 1.0
    y = np.r_[1, 1, np.zeros(98, dtype=int)]

    class Rule(ClassifierMixin, BaseEstimator):
        classes_ = np.array([0, 1])

        def fit(self, X, y):
            return self

        def __sklearn_is_fitted__(self):
            return True

        def predict(self, X):
            return (X[:, 0] > 0.5).astype(int)

    effect = permutation_importance(Rule(), X, y, metric="accuracy", n_repeats=1, rng=0)[0].whole
    assert effect.value > 0
    assert (effect.low, effect.high) == (None, None)


def test_names_of_any_kind_survive(fitted):
    model, X, y = fitted
    names = ["<script>alert(1)</script>", "$x_1$" + "long " * 100, "", "a->b"]
    model.feature_names_in_ = np.array(names, dtype=object)
    frame = pd.DataFrame(X, columns=names)
    found = permutation_importance(model, frame, y, metric="accuracy", rng=0)
    assert sorted(one.column for one in found) == sorted(names)
    chosen = permutation_importance(model, frame, y, metric="accuracy", rng=0, columns=names[:1])
    assert chosen == found[:1]


def test_columns_of_one_name_are_permuted_one_by_one(rng):
    X = pd.DataFrame(rng.standard_normal((200, 2)), columns=["a", "a"])

    class Rule(ClassifierMixin, BaseEstimator):
        classes_ = np.array([False, True])

        def fit(self, X, y):
            return self

        def __sklearn_is_fitted__(self):
            return True

        def predict(self, X):
            return X.iloc[:, 1].to_numpy() > 0

    y = X.iloc[:, 1].to_numpy() > 0
    found = permutation_importance(Rule(), X, y, metric="accuracy", rng=0, columns=["a"])
    assert [one.column for one in found] == ["a", "a"]
    assert found[0].whole.low > 0.3
    assert found[1].whole.value == 0.0


def test_models_without_probabilities_are_taken(fitted):
    _, X, y = fitted
    model = LinearSVC().fit(X, y)
    for metric in ("accuracy", "roc_auc"):
        assert permutation_importance(model, X, y, metric=metric, rng=0)[0].column == "x0"
    with pytest.raises(ValueError, match=r"metric must be defined on the rows.*'neg_log_loss'"):
        permutation_importance(model, X, y, metric="neg_log_loss", rng=0)


def test_a_record_holds_plain_values(fitted):
    model, X, y = fitted
    one = permutation_importance(model, X, y, metric="roc_auc", rng=0)[0]
    assert isinstance(one, Importance)
    assert [type(value) for value in (one.whole.value, one.whole.low, one.whole.n)] == [
        float, float, int,
    ]  # fmt: skip


# Errors.


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"rows": 1}, "rows must be >= 2, got 1"),
        ({"n_repeats": 0}, "n_repeats must be >= 1, got 0"),
        ({"columns": ["x9"]}, "columns must name columns of X, got 'x9'"),
        ({"columns": [4]}, "columns must name columns of X, got '4'"),
        ({"metric": "accuracies"}, "accuracies"),
        ({"cost": [[0, 1]], "metric": "mean_cost"}, "cost must"),
        ({"sample_cost": [1.0]}, "sample_cost must be an array of shape"),
    ],
)
def test_wrong_arguments_are_refused(fitted, changed, message):
    with pytest.raises(ValueError, match=message):
        permutation_importance(*fitted, **{"metric": "accuracy", "rng": 0, **changed})


def test_wrong_models_and_labels_are_refused(fitted):
    model, X, y = fitted
    options = {"metric": "accuracy", "rng": 0}
    with pytest.raises(NotFittedError):
        permutation_importance(LogisticRegression(), X, y, **options)
    with pytest.raises(ValueError, match="y must name classes of y"):
        permutation_importance(model, X, y + 5, **options)
    with pytest.raises(ValueError, match="y must have two rows or more, got 1"):
        permutation_importance(model, X[:1], y[:1], **options)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        permutation_importance(model, X[:5], y, **options)
    number = LinearRegression().fit(X, X[:, 0])
    for costs in ({"cost": COST}, {"sample_cost": np.ones(len(X))}):
        with pytest.raises(ValueError, match="cost must be left out where numbers"):
            permutation_importance(number, X, X[:, 0], metric="mae", rng=0, **costs)


# Coverage.


def coverage(n_repetitions, metric, n_rows=400):
    """Return how often (3,) intervals hold the loss on a large population."""
    rng = np.random.default_rng(11)
    X = np.column_stack(
        [rng.standard_normal(200_000), rng.exponential(size=200_000), rng.random(200_000) < 0.1]
    )
    z = X[:, 0] + 0.8 * X[:, 1] + 3.0 * X[:, 2] - 1.6
    y = (rng.random(len(X)) < 1 / (1 + np.exp(-z))).astype(int)
    model = LogisticRegression().fit(X[:2000], y[:2000])
    loss, truth, held = SCORES[metric], [], np.zeros(3)
    for j in range(3):
        Z = X.copy()
        Z[:, j] = rng.permutation(Z[:, j])
        truth.append(loss(y, model.predict(Z)) - loss(y, model.predict(X)))
    for seed in range(n_repetitions):
        rows = rng.integers(0, len(X), n_rows)
        found = permutation_importance(model, X[rows], y[rows], metric=metric, cost=COST, rng=seed)
        for one in found:
            j = int(one.column[1:])
            held[j] += one.whole.low <= truth[j] <= one.whole.high
    return held


def test_intervals_hold_the_loss_of_the_population_about_as_often_as_stated():
    assert coverage(40, "mean_cost").min() >= stats.binom.ppf(1e-4, 40, 0.95)


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["accuracy", "mean_cost", "gmean"])
def test_intervals_hold_the_loss_of_the_population_as_often_as_stated(metric):
    held = coverage(400, metric)
    assert held.min() >= stats.binom.ppf(5e-4, 400, 0.95), held / 400
