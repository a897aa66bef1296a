"""From rows to a model and its card: nothing that is held out reaches a choice."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import make_column_transformer
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from ecselm import ECSELMClassifier, ECSELMRegressor, ELMClassifier, ELMRegressor
from ecselm.study import Asked, Card
from ecselm.study import evaluate as rivals_module
from ecselm.study.evaluate import fitted_rivals
from ecselm.study.run import evaluate_on, study

SMALL = {"population_size": 5, "max_epochs": 1, "activation": "radbas"}
ASKED = Asked("classes", "diagnosis", "gmean", (), 0.25, 0)


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


def test_held_out_rows_reach_no_fit(tumours, monkeypatch):
    X, y = tumours
    fitted = []
    monkeypatch.setattr(
        rivals_module,
        "_RIVALS",
        {"classes": {"spy": lambda seed: fitted.append(SpyingELM(20)) or fitted[-1]}},
    )
    pipeline, card = study(X, y, asked=ASKED, model=ELMClassifier(20), transformer=Spy())
    train = np.array(sorted(Spy.seen), dtype=int)
    held = np.setdiff1d(np.arange(200), train)
    assert (len(train), len(held)) == (card.data.n_train, card.data.n_held_out) == (150, 50)
    assert SpyingELM.seen == set(X["x1"].to_numpy()[train])
    again = ELMClassifier(20, random_state=0).fit(X.to_numpy()[train, 1:], y[train])
    assert_allclose(pipeline[-1].beta_, again.beta_)
    told = again.predict(X.to_numpy()[held, 1:])
    assert card.held_out.scores["accuracy"] == np.mean(told == y[held])


def test_compared_models_see_what_the_model_sees(tumours):
    X, y = tumours
    _, card = study(
        X, y, asked=ASKED, model=ELMClassifier(20), transformer=Spy(), stated={("ill", "well"): 5}
    )
    train = np.array(sorted(Spy.seen), dtype=int)
    held = np.setdiff1d(np.arange(200), train)
    inputs = X.to_numpy()[:, 1:]
    rivals = fitted_rivals(inputs[train], y[train])
    by = {"metric": "gmean", "stated": {("ill", "well"): 5}}
    assert card.compared == rivals.compared(inputs[held], y[held], **by)


def test_card_holds_everything_and_travels(tumours):
    X, y = tumours
    model = ECSELMClassifier(20, scoring="gmean", **SMALL)
    pipeline, card = study(
        X,
        y,
        asked=ASKED,
        model=model,
        scaler=StandardScaler(),
        file="tumours.csv",
        notes=["2 rows had no diagnosis."],
        command="ecselm fit tumours.csv",
    )
    assert Card.from_json(card.to_json()) == card
    assert [one.name for one in card.data.classes] == ["ill", "well"]
    assert sum(one.n_train + one.n_held_out for one in card.data.classes) == 200
    assert card.data.notes == ("2 rows had no diagnosis.",)
    assert card.learned.class_costs == tuple(pipeline[-1].class_costs_)
    assert card.progress.n_evaluations == 10
    assert card.settings["scoring"] == "'gmean'"
    assert "C" not in card.settings
    assert set(card.versions) == {"python", "ecselm", "numpy", "scipy", "scikit-learn"}
    assert not hasattr(model, "classes_")


def test_one_seed_makes_one_card(tumours):
    X, y = tumours

    def cards(seed):
        asked = Asked("classes", "diagnosis", "gmean", (), 0.25, seed)
        card = study(X, y, asked=asked, model=ELMClassifier(20))[1]
        return card.held_out, card.compared, card.warnings

    assert cards(0) == cards(0)
    assert cards(0)[0] != cards(1)[0]


def test_words_and_missing_values_pass_through_the_transformer(tumours, rng):
    X, y = tumours
    X = X.assign(word=rng.choice(["a", "b", None], 200))
    encoder = OneHotEncoder(handle_unknown="ignore")
    transformer = make_column_transformer((encoder, ["word"]), (StandardScaler(), ["x1", "x2"]))
    pipeline, card = study(X, y, asked=ASKED, model=ELMClassifier(20), transformer=transformer)
    assert len(card.compared) == 4
    assert pipeline.predict(X[["word", "x2", "x1"]]).shape == (200,)


def test_groups_are_held_out_whole_and_handed_on(tumours):
    X, y = tumours
    groups = np.arange(200) // 4
    told = []

    class Told(ECSELMClassifier):
        def fit(self, X, y, sample_weight=None, sample_cost=None, *, groups=None):
            told.append(groups)
            return super().fit(X, y, groups=groups)

    _, card = study(X, y, asked=ASKED, model=Told(10, **SMALL), groups=groups)
    assert len(told[0]) == card.data.n_train
    assert set(np.bincount(told[0])) <= {0, 4}


def test_callbacks_are_told_and_not_kept(tumours):
    told = []
    model = ECSELMClassifier(10, **SMALL)
    pipeline, card = study(*tumours, asked=ASKED, model=model, callbacks=told.append)
    assert [progress.generation for progress in told] == [0, 1]
    assert pipeline[-1].callbacks is None
    assert "callbacks" not in card.settings
    assert not card.progress.interrupted


def test_interrupted_search_keeps_the_best_and_tells(tumours):
    def interrupt(_):
        raise KeyboardInterrupt

    model = ECSELMClassifier(10, **SMALL)
    pipeline, card = study(*tumours, asked=ASKED, model=model, callbacks=interrupt)
    assert card.progress.interrupted
    assert card.progress.generation == (0,)
    assert any("interrupted" in one for one in card.warnings)
    assert len(pipeline.predict(tumours[0])) == 200


def test_numbers_are_studied_too(rng):
    X = rng.normal(size=(120, 3))
    y = X[:, 0] + 0.1 * rng.normal(size=120)
    asked = Asked("numbers", "price", "mae", (), 0.25, 0)
    model = ECSELMRegressor(20, population_size=5, max_epochs=1)
    _, card = study(X, y, asked=asked, model=model)
    assert Card.from_json(card.to_json()) == card
    assert card.learned is None
    assert card.data.classes == ()
    assert [one.name for one in card.compared] == ["ELM", "mean", "median"]
    assert card.held_out.scores["mae"] < card.compared[1].scores["mae"]


def test_columns_that_hold_the_answer_are_warned_of(tumours):
    X, y = tumours
    X = X.assign(biopsy=(y == "ill").astype(float)).drop(columns="row")
    _, card = study(X, y, asked=ASKED, model=ELMClassifier(20))
    assert card.warnings[0].startswith("The column biopsy alone")


def test_plainer_model_that_is_clearly_better_is_preferred(rng):
    X = rng.normal(size=(400, 2))
    y = X.sum(axis=1) > 0
    _, card = study(X, y, asked=ASKED, model=DecisionTreeClassifier(max_depth=1))
    (told,) = [one for one in card.warnings if one.startswith("A plainer model")]
    assert told.endswith("prefer the plainer one.")


def test_class_with_one_row_is_trained_on(tumours):
    X, y = tumours
    y = y.astype(object)
    y[0] = "odd"
    pipeline, card = study(X, y, asked=ASKED, model=ELMClassifier(20))
    assert "No row of odd was held out" in card.data.notes[0]
    assert pipeline.classes_.tolist() == ["ill", "odd", "well"]
    assert len(card.held_out.confusion) == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": ELMRegressor()}, "model must be a classifier to predict classes"),
        ({"asked": Asked("classes", "d", "goodness", (), 0.25, 0)}, "scoring must be a scorer"),
        ({"asked": Asked("classes", "d", "gmean", (), 1.5, 0)}, "held_out must lie between"),
        ({"asked": Asked("numbers", "d", "mae", (), 0.25, 0)}, "model must be a regressor"),
        ({"stated": {("dead", "well"): 2}}, "cost must name classes"),
        ({"groups": [1, 2]}, "inconsistent numbers of samples"),
    ],
)
def test_what_cannot_be_studied_is_refused_before_any_fit(tumours, change, message):
    Spy.seen = None
    given = {"asked": ASKED, "model": ELMClassifier(20), "transformer": Spy(), **change}
    with pytest.raises(ValueError, match=message):
        study(*tumours, **given)
    assert Spy.seen is None


def test_other_rows_are_judged_alike(tumours):
    X, y = tumours
    pipeline, _ = study(X, y, asked=ASKED, model=ELMClassifier(20))
    found = evaluate_on(pipeline, X[:80], y[:80], metric="roc_auc", stated=[[0, 5], [1, 0]])
    assert {"roc_auc", "gmean", "mean_cost"} <= set(found.scores)
    assert np.sum(found.confusion) == 80
    with pytest.raises(ValueError, match=r"knows, ill, well, got illl; did you mean ill\?"):
        evaluate_on(pipeline, X[:1], ["illl"])
