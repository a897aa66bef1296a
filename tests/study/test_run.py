"""From rows to a model and its card: no test row reaches a choice."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import make_column_transformer
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from ecselm import ECSELMClassifier, ECSELMRegressor, ELMClassifier, ELMRegressor
from ecselm.study import Card, RequestSummary
from ecselm.study import evaluate as evaluate_module
from ecselm.study.evaluate import evaluate, fit_baselines, record_predictions
from ecselm.study.models import MODELS
from ecselm.study.run import study

SMALL = {"population_size": 5, "max_epochs": 1, "activation": "radbas"}
REQUEST = RequestSummary("classes", "diagnosis", "gmean", (), 0.25, 0)


class Spy(TransformerMixin, BaseEstimator):
    """A transformer that notes which rows it was fitted on, by their first column."""

    seen = None

    def fit(self, X, y=None):
        type(self).seen = set(np.asarray(X)[:, 0].tolist())
        return self

    def transform(self, X):
        return np.asarray(X, dtype=float)[:, 1:]


class SpyingELM(ELMClassifier):
    """A machine that notes which rows it was fitted on, by their first column."""

    seen = None

    def fit(self, X, y, sample_weight=None):
        type(self).seen = set(np.asarray(X)[:, 0].tolist())
        return super().fit(X, y, sample_weight)


@pytest.fixture
def tumours(rng):
    """Rows of two classes, numbered in the first column."""
    y = np.repeat(["ill", "well"], [60, 140])
    numbers = rng.normal(size=(200, 3)) + (y == "ill")[:, np.newaxis]
    frame = pd.DataFrame(numbers, columns=["x1", "x2", "x3"])
    frame.insert(0, "row", np.arange(200.0))
    return frame, y


def test_test_rows_reach_no_fit(tumours, monkeypatch):
    X, y = tumours
    monkeypatch.setattr(evaluate_module, "BASELINES", {"classes": {"spy": "spy"}})
    monkeypatch.setitem(MODELS["classes"], "spy", lambda *_: SpyingELM(20))
    pipeline, card = study(X, y, request=REQUEST, model=ELMClassifier(20), transformer=Spy())
    train = np.array(sorted(Spy.seen), dtype=int)
    held = np.setdiff1d(np.arange(200), train)
    assert (len(train), len(held)) == (card.data.n_train, card.data.n_test) == (150, 50)
    assert SpyingELM.seen == set(X["x1"].to_numpy()[train])
    again = ELMClassifier(20, random_state=0).fit(X.to_numpy()[train, 1:], y[train])
    assert_allclose(pipeline[-1].beta_, again.beta_)
    y_pred = again.predict(X.to_numpy()[held, 1:])
    assert card.test.scores["accuracy"] == np.mean(y_pred == y[held])


def test_baselines_see_what_the_model_sees(tumours):
    X, y = tumours
    pipeline, card = study(
        X, y, request=REQUEST, model=ELMClassifier(20), transformer=Spy(), cost={("ill", "well"): 5}
    )
    train = np.array(sorted(Spy.seen), dtype=int)
    held = np.setdiff1d(np.arange(200), train)
    inputs = X.to_numpy()[:, 1:]
    baselines = fit_baselines(inputs[train], y[train], metric="gmean")
    by = {"metric": "gmean", "cost": {("ill", "well"): 5}}
    expected = baselines.compared(
        inputs[held],
        y[held],
        **by,
        model=record_predictions(pipeline, X.iloc[held]),
    )
    assert card.baselines == expected


def test_card_holds_everything_and_travels(tumours):
    X, y = tumours
    model = ECSELMClassifier(20, scoring="gmean", **SMALL)
    pipeline, card = study(
        X,
        y,
        request=REQUEST,
        model=model,
        scaler=StandardScaler(),
        file="tumours.csv",
        notes=["2 rows had no diagnosis."],
        command="ecselm fit tumours.csv",
    )
    assert Card.from_json(card.to_json()) == card
    assert [one.name for one in card.data.classes] == ["ill", "well"]
    assert sum(one.n_train + one.n_test for one in card.data.classes) == 200
    assert card.data.notes == ("2 rows had no diagnosis.",)
    assert card.learned.class_costs == tuple(pipeline[-1].class_costs_)
    assert card.search.n_evaluations == 10
    assert card.settings["scoring"] == "'gmean'"
    assert "C" not in card.settings
    assert set(card.versions) == {"python", "ecselm", "numpy", "scipy", "scikit-learn"}
    assert not hasattr(model, "classes_")


def test_one_seed_makes_one_card(tumours):
    X, y = tumours

    def cards(seed):
        request = RequestSummary("classes", "diagnosis", "gmean", (), 0.25, seed)
        card = study(X, y, request=request, model=ELMClassifier(20))[1]
        return card.test, card.baselines, card.warnings

    assert cards(0) == cards(0)
    assert cards(0)[0] != cards(1)[0]


def test_words_and_missing_values_pass_through_the_transformer(tumours, rng):
    X, y = tumours
    X = X.assign(word=rng.choice(["a", "b", None], 200))
    encoder = OneHotEncoder(handle_unknown="ignore")
    transformer = make_column_transformer((encoder, ["word"]), (StandardScaler(), ["x1", "x2"]))
    pipeline, card = study(X, y, request=REQUEST, model=ELMClassifier(20), transformer=transformer)
    assert len(card.baselines) == 5
    assert pipeline.predict(X[["word", "x2", "x1"]]).shape == (200,)


def test_groups_are_not_split_and_are_handed_on(tumours):
    X, y = tumours
    groups = np.arange(200) // 4
    seen = []

    class Told(ECSELMClassifier):
        def fit(self, X, y, sample_weight=None, sample_cost=None, *, groups=None):
            seen.append(groups)
            return super().fit(X, y, groups=groups)

    _, card = study(X, y, request=REQUEST, model=Told(10, **SMALL), groups=groups)
    assert len(seen[0]) == card.data.n_train
    assert set(np.bincount(seen[0])) <= {0, 4}


def test_callbacks_are_called_and_not_kept(tumours):
    seen = []
    model = ECSELMClassifier(10, **SMALL)
    pipeline, card = study(*tumours, request=REQUEST, model=model, callbacks=seen.append)
    assert [progress.generation for progress in seen] == [0, 1]
    assert pipeline[-1].callbacks is None
    assert "callbacks" not in card.settings
    assert not card.search.interrupted


def test_interrupted_search_keeps_the_best_and_tells(tumours):
    def interrupt(_):
        raise KeyboardInterrupt

    model = ECSELMClassifier(10, **SMALL)
    pipeline, card = study(*tumours, request=REQUEST, model=model, callbacks=interrupt)
    assert card.search.interrupted
    assert card.search.generation == (0,)
    assert any("interrupted" in one for one in card.warnings)
    assert len(pipeline.predict(tumours[0])) == 200


def test_numbers_are_studied_too(rng):
    X = rng.normal(size=(120, 3))
    y = X[:, 0] + 0.1 * rng.normal(size=120)
    request = RequestSummary("numbers", "price", "mae", (), 0.25, 0)
    model = ECSELMRegressor(20, population_size=5, max_epochs=1)
    _, card = study(X, y, request=request, model=model)
    assert Card.from_json(card.to_json()) == card
    assert card.learned is None
    assert card.data.classes == ()
    names = ["ELM", "ridge regression", "boosting", "mean", "median"]
    assert [one.name for one in card.baselines] == names
    assert card.test.scores["mae"] < card.baselines[3].scores["mae"]


def test_columns_that_hold_the_target_are_warned_of(tumours):
    X, y = tumours
    X = X.assign(biopsy=(y == "ill").astype(float)).drop(columns="row")
    _, card = study(X, y, request=REQUEST, model=ELMClassifier(20))
    assert card.warnings[0].startswith("The column biopsy alone")


def test_baseline_that_is_clearly_better_is_preferred(rng):
    X = rng.normal(size=(400, 2))
    y = X.sum(axis=1) > 0
    _, card = study(X, y, request=REQUEST, model=DecisionTreeClassifier(max_depth=1))
    (sentence,) = [one for one in card.warnings if one.startswith("A baseline")]
    assert sentence.endswith("prefer the baseline.")


def test_class_with_one_row_is_trained_on(tumours):
    X, y = tumours
    y = y.astype(object)
    y[0] = "odd"
    pipeline, card = study(X, y, request=REQUEST, model=ELMClassifier(20))
    assert "No test row of odd" in card.data.notes[0]
    assert pipeline.classes_.tolist() == ["ill", "odd", "well"]
    assert len(card.test.confusion) == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": ELMRegressor()}, "model must be a classifier to predict classes"),
        (
            {"request": RequestSummary("classes", "d", "goodness", (), 0.25, 0)},
            "scoring must be a scorer",
        ),
        (
            {"request": RequestSummary("classes", "d", "gmean", (), 1.5, 0)},
            "test_share must lie between",
        ),
        (
            {"request": RequestSummary("numbers", "d", "mae", (), 0.25, 0)},
            "model must be a regressor",
        ),
        ({"cost": {("dead", "well"): 2}}, "cost must name classes"),
        ({"groups": [1, 2]}, "inconsistent numbers of samples"),
    ],
)
def test_what_cannot_be_studied_is_refused_before_any_fit(tumours, change, message):
    Spy.seen = None
    given = {"request": REQUEST, "model": ELMClassifier(20), "transformer": Spy(), **change}
    with pytest.raises(ValueError, match=message):
        study(*tumours, **given)
    assert Spy.seen is None


def test_other_rows_are_evaluated_alike(tumours):
    X, y = tumours
    pipeline, _ = study(X, y, request=REQUEST, model=ELMClassifier(20))
    found = evaluate(pipeline, X[:80], y[:80], metric="roc_auc", cost=[[0, 5], [1, 0]])
    assert {"roc_auc", "gmean", "mean_cost"} <= set(found.scores)
    assert np.sum(found.confusion) == 80
    with pytest.raises(ValueError, match=r"knows, ill, well, got illl; did you mean ill\?"):
        evaluate(pipeline, X[:1], ["illl"])
