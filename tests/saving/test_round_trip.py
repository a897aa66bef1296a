"""Loaded models predict bit for bit as before, and can be fitted again."""

import json
import os

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from ecselm import (
    CostSearchCV,
    CSELMClassifier,
    CSELMRegressor,
    ECSELMClassifier,
    ECSELMRegressor,
    EELMClassifier,
    EELMRegressor,
    ELMClassifier,
    ELMRegressor,
    KELMClassifier,
    KELMRegressor,
    WELMClassifier,
)
from ecselm.saving import load_model, save_model
from tests.estimators.plain import one_machine

BUDGET = {"population_size": 5, "max_epochs": 1, "random_state": 0}
NAMES = np.array(["gut", "schön", "größer"])


def _data(n=60):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 3))
    return X, np.digitize(X[:, 0] + 0.3 * rng.standard_normal(n), [-0.4, 0.6])


X, Y = _data()
SCHOEN = NAMES[Y]
PLAIN = {
    "layer": ELMClassifier(20, random_state=0),
    "wide layer": ELMClassifier(90, random_state=0),
    "unscaled": ELMClassifier(20, scale=None, draw="uniform", random_state=0),
    "sigmoid": ELMClassifier(20, scale="minmax", activation="sigmoid", draw="sobol"),
    "transformer": ELMClassifier(
        hidden_layer=make_pipeline(StandardScaler(), Nystroem(n_components=9))
    ),
    "kernel": KELMClassifier(scale="standard"),
    "polynomial": KELMClassifier(kernel="polynomial", degree=2),
    "weighted": WELMClassifier(20, weighting=dict.fromkeys(NAMES, 2.0)),
    "cost by confusion": CSELMClassifier(20, cost={("gut", "schön"): 10, ("schön", "gut"): 2.5}),
    "cost as frame": CSELMClassifier(20, cost=pd.DataFrame(1 - np.eye(3), NAMES, NAMES)),
    "paper": CSELMClassifier.paper(n_hidden=20, random_state=0),
    "cost and kernel": CSELMClassifier(kernel="laplacian"),
    "ensemble": ELMClassifier(20, ensemble="auto", random_state=0),
    "ensemble of kernels": KELMClassifier(ensemble=[("laplacian", "ranks", 0.3), ("rbf", None)]),
    "weighted ensemble": WELMClassifier(20, ensemble=5, random_state=0),
    "evolved": EELMClassifier(10, population_size=5, max_epochs=1, random_state=0),
}
LEARNED = {
    "ensemble": ECSELMClassifier(20, **BUDGET),
    "matrix of an ensemble": ECSELMClassifier(20, cost_level="matrix", **BUDGET),
    "one machine": ECSELMClassifier(20, activation="tanh", scoring="gmean", **BUDGET),
    "matrix": ECSELMClassifier(
        20, cost_level="matrix", decision="min_cost", ensemble=None, **BUDGET
    ),
    "rows": ECSELMClassifier(20, cost_level="sample", **BUDGET),
    "width": ECSELMClassifier(kernel="rbf", gamma="search", **BUDGET),
    "paper": ECSELMClassifier.paper(n_hidden=20, **BUDGET),
    "constraints": ECSELMClassifier(
        20,
        fixed_costs={"gut": 1},
        cost_intervals={"schön": (2, 20)},
        cost_order=[("größer", "gut")],
        fitness=StratifiedKFold(3),
        ensemble=None,
        **BUDGET,
    ),
}
QUICK = {"population_size": 2, "max_epochs": 0, "fitness": 2, "random_state": 0}
SEARCHED = {
    "logistic": CostSearchCV(
        LogisticRegression(), cost_level="class", cost={("gut", "schön"): 3}, **QUICK
    ),
    "decision": CostSearchCV(make_pipeline(StandardScaler(), LogisticRegression()), **QUICK),
    "vectors": CostSearchCV(SVC(), cost_level="class", **QUICK),
    "bayes": CostSearchCV(GaussianNB(), **QUICK),
    "machine": CostSearchCV(ELMClassifier(20, random_state=0), **QUICK),
    "tree": CostSearchCV(DecisionTreeClassifier(random_state=0), **QUICK),
    "forest": CostSearchCV(RandomForestClassifier(3, random_state=0), **QUICK),
    "extra trees": CostSearchCV(ExtraTreesClassifier(3, random_state=0), **QUICK),
    "boosting": HistGradientBoostingClassifier(max_iter=2),
}
REGRESSORS = {
    "layer": ELMRegressor(20, random_state=0),
    "kernel": KELMRegressor(),
    "costs": CSELMRegressor(20, random_state=0),
    "ensemble": ELMRegressor(20, ensemble="auto", random_state=0),
    "learned": ECSELMRegressor(20, **BUDGET),
    "evolved": EELMRegressor(10, population_size=5, max_epochs=1, random_state=0),
}


def again(model, tmp_path):
    path = tmp_path / "model.skops"
    save_model(model, path)
    return load_model(path).model


def assert_same(model, loaded, rows):
    """Compare predictions bit for bit, learned attributes, and parameters."""
    for name in ("predict", "predict_proba", "decision_function"):
        if hasattr(model, name):
            expected = getattr(model, name)(rows)
            predicted = getattr(loaded, name)(rows)
            assert expected.dtype == predicted.dtype
            assert_array_equal(expected, predicted)
    for name in ("class_costs_", "cost_matrix_", "cost_vector_", "classes_", "beta_"):
        assert hasattr(model, name) == hasattr(loaded, name)
        if hasattr(model, name):
            assert_array_equal(getattr(model, name), getattr(loaded, name))
    for name in ("history_", "members_"):
        if getattr(model, name, None) is not None:
            pd.testing.assert_frame_equal(getattr(model, name), getattr(loaded, name))
    assert repr(model) == repr(loaded)


@pytest.mark.parametrize("name", PLAIN)
def test_machines_answer_as_before(name, tmp_path):
    model = clone(PLAIN[name]).fit(X, SCHOEN)
    loaded = again(model, tmp_path)
    assert_same(model, loaded, X)
    clone(loaded).fit(X, SCHOEN)


@pytest.mark.parametrize("name", LEARNED)
def test_learned_costs_are_kept(name, tmp_path):
    model = clone(LEARNED[name]).fit(X, SCHOEN)
    loaded = again(model, tmp_path)
    assert_same(model, loaded, X)
    if model._members_ is not None:
        assert _centres(loaded) == _centres(model)
        assert type(loaded._members_[0]) is type(model._members_[0])


def _centres(model):
    """Return how many arrays of rows the layers are around; many share one."""
    return len({id(part.rows) for part in model.layer_.parts})


@pytest.mark.parametrize("model", [CSELMClassifier(20), LEARNED["ensemble"]], ids=["one", "many"])
def test_costs_of_rows_decide_as_before(model, tmp_path):
    costs = np.random.default_rng(0).uniform(1.0, 9.0, len(Y))
    model = clone(model).fit(X, SCHOEN, sample_cost=costs)
    assert model._weighted_probabilities_ is not None
    assert_same(model, again(model, tmp_path), X)


@pytest.mark.parametrize("name", SEARCHED)
def test_searches_around_other_classifiers_answer_as_before(name, tmp_path):
    model = clone(SEARCHED[name]).fit(X, SCHOEN)
    assert_same(model, again(model, tmp_path), X)


@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors_answer_as_before(name, tmp_path):
    model = clone(REGRESSORS[name]).fit(X, X[:, 1] ** 2)
    assert_same(model, again(model, tmp_path), X)


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        (ELMClassifier(20), np.float32),
        (KELMClassifier(), np.float32),
        (ELMClassifier(20), sparse.csr_array),
        (KELMClassifier(scale="standard"), sparse.csr_array),
        (KELMClassifier(), sparse.csr_matrix),
        (LEARNED["ensemble"], sparse.csr_array),
    ],
)
def test_other_inputs_give_the_same_answers(model, kind, tmp_path):
    rows = X.astype(kind) if kind is np.float32 else kind(X)
    model = clone(model).fit(rows, Y)
    assert_same(model, again(model, tmp_path), rows)


def test_tables_with_words_and_gaps_give_the_same_answers(tmp_path):
    table = pd.DataFrame({"größe": X[:, 0], "farbe": np.where(X[:, 1] > 0, "grün", "rot")})
    table["stufe"] = pd.Series(np.where(X[:, 2] > 0, "hoch", "tief"))
    table.loc[3, "größe"] = np.nan
    prepare = make_column_transformer(
        (make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), table.columns[:1]),
        (OneHotEncoder(handle_unknown="ignore"), ["farbe"]),
        (OrdinalEncoder(), make_column_selector(pattern="stufe")),
    )
    model = make_pipeline(prepare, one_machine(20, **BUDGET)).fit(table, SCHOEN)
    loaded = again(model, tmp_path)
    for name in ("predict", "predict_proba"):
        assert_array_equal(getattr(model, name)(table), getattr(loaded, name)(table))
    assert_array_equal(loaded.feature_names_in_, table.columns)
    clone(loaded).fit(table, SCHOEN)


def test_refitted_model_is_the_same_again(tmp_path):
    model = clone(LEARNED["constraints"]).fit(X, SCHOEN)
    fresh = clone(again(model, tmp_path)).fit(X, SCHOEN)
    assert_same(model, fresh, X)


def test_keys_of_any_kind_keep_their_kind(tmp_path):
    cost = {(True, False): 10, (False, True): 2}
    model = CSELMClassifier(10, cost=cost, random_state=0).fit(X, X[:, 0] > 0)
    assert again(model, tmp_path).cost == cost
    model = WELMClassifier(10, weighting={False: 1.0, True: 3.0}).fit(X, X[:, 0] > 0)
    assert again(model, tmp_path).weighting == {False: 1.0, True: 3.0}
    weighting = {np.int64(0): 1.0, 1: 3.0, 2: 0.5}
    model = WELMClassifier(10, weighting=weighting, random_state=0).fit(X, Y)
    loaded = again(model, tmp_path).weighting
    assert loaded == weighting
    assert [type(key) for key in loaded] == [np.int64, int, int]


@pytest.mark.parametrize("kind", [np.random.default_rng, np.random.RandomState])
def test_random_streams_go_on_where_they_were(kind, tmp_path):
    model = ELMClassifier(20, random_state=kind(0)).fit(X, Y)
    loaded = again(model, tmp_path)
    assert_array_equal(model.fit(X, Y).beta_, loaded.fit(X, Y).beta_)


def test_streams_end_where_they_were_saved(tmp_path):
    model = ELMClassifier(20, random_state=0).partial_fit(X, Y, classes=[0, 1, 2])
    loaded = again(model, tmp_path)
    assert_same(model, loaded, X)
    with pytest.raises(ValueError, match="a model loaded from a file has no sums to go on with"):
        loaded.partial_fit(X, Y)
    assert_same(model, loaded, X)  # a refused chunk changes nothing
    model.partial_fit(X, Y)  # nor has saving taken anything from the one in memory


def test_warm_start_goes_on_from_a_file(tmp_path):
    model = ECSELMClassifier(20, activation="tanh", warm_start=True, **BUDGET).fit(X, Y)
    loaded = again(model, tmp_path)
    assert_same(model.fit(X, Y), loaded.fit(X, Y), X)


def test_training_rows_are_stored_once_or_not_at_all(tmp_path):
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((2000, 50))
    path, labels = tmp_path / "model.skops", np.arange(2000) % 2
    save_model(KELMClassifier().fit(rows, labels), path)
    kernel = rows.nbytes + 2 * labels.nbytes  # rows and beta_
    assert kernel < path.stat().st_size < 1.05 * kernel
    save_model(ELMClassifier(20).fit(rows, labels), path)
    assert path.stat().st_size < 0.05 * rows.nbytes


@pytest.mark.slow
def test_default_model_of_a_thousand_rows_takes_less_than_a_megabyte(tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((1000, 20))
    model = ECSELMClassifier(random_state=0).fit(rows, (rows[:, 0] > 0.8).astype(int))
    save_model(model, tmp_path / "model.skops")
    assert (tmp_path / "model.skops").stat().st_size < 1.1e6


def test_paths_become_text(tmp_path):
    checkpoint = tmp_path / "search.npz"
    model = ECSELMClassifier(10, activation="tanh", checkpoint=checkpoint, **BUDGET).fit(X, Y)
    assert again(model, tmp_path).checkpoint == os.fspath(checkpoint)


def test_card_travels_along(tmp_path):
    path, card = tmp_path / "model.skops", json.dumps({"größe": [1, None]}, ensure_ascii=False)
    save_model(clone(PLAIN["layer"]).fit(X, Y), path, card=card)
    assert load_model(path).card == card
