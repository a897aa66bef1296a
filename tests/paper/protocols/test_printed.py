"""C and L of ECSELM as printed, chosen one after the other."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from ecselm import ECSELMClassifier, ELMClassifier
from ecselm.paper.protocols import Item
from ecselm.paper.protocols.imbalance import GASES
from ecselm.paper.protocols.items import AS_PRINTED, GAS_FORMS, Part
from ecselm.paper.protocols.printed import PENALTIES, UNITS, SequentialSearchCV
from ecselm.paper.protocols.reproduction import plan_item


class Recorder(ClassifierMixin, BaseEstimator):
    """Remembers its parameters; a validation score is best at C = 2 and L = 3."""

    fits = []

    def __init__(self, C=1, L=1, epochs=100):
        self.C = C
        self.L = L
        self.epochs = epochs

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.fits.append((self.C, self.L, self.epochs, len(X)))
        return self

    def predict(self, X):
        return np.zeros(len(X), dtype=int)

    def score(self, X, y):
        return -((self.C - 2) ** 2) - (self.L - 3) ** 2


def test_parameters_are_chosen_in_turn_by_short_fits_and_the_last_fit_is_whole():
    Recorder.fits.clear()
    grid = (("C", (1, 2, 3)), ("L", (3, 5)))
    y = np.arange(12) % 2
    search = SequentialSearchCV(Recorder(), grid, short={"epochs": 7}, cv=2)
    search.fit(np.zeros((12, 1)), y)
    assert search.best_params_ == {"C": 2, "L": 3}
    *choice, last = Recorder.fits
    assert choice[:6] == [(C, 1, 7, 6) for C in (1, 2, 3) for _ in range(2)]
    assert choice[6:] == [(2, L, 7, 6) for L in (3, 5) for _ in range(2)]
    assert last == (2, 3, 100, 12)
    assert search.classes_.tolist() == [0, 1]
    assert search.refit_time_ >= 0
    assert not hasattr(search, "decision_function")


def test_one_parameter_is_chosen_as_by_a_grid_search():
    X, y = load_iris(return_X_y=True)
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    model, values = ELMClassifier(20, random_state=0), (1e-6, 1e-3, 1.0, 1e3)
    ours = SequentialSearchCV(model, (("C", values),), cv=cv, scoring="accuracy").fit(X, y)
    theirs = GridSearchCV(model, {"C": values}, cv=cv, scoring="accuracy").fit(X, y)
    assert ours.best_params_ == theirs.best_params_
    np.testing.assert_array_equal(ours.decision_function(X), theirs.decision_function(X))


@pytest.fixture
def job(budget):
    item = Item("toy", "A toy", (Part(GASES, GAS_FORMS[:1]),))
    return plan_item(item, replace(budget, repeats=1, tuned=True, folds=2), 0)[0]


def test_a_tuned_run_chooses_c_then_l_on_its_training_rows(job, monkeypatch):
    tried = []
    fit = ECSELMClassifier.fit

    def seen(self, X, y, **params):
        tried.append((self.C, self.n_hidden, self.max_epochs, len(X)))
        return fit(self, X, y, **params)

    monkeypatch.setattr(ECSELMClassifier, "fit", seen)
    result = job.run()
    n_train = len(GASES.splits(job.case.load(), job.budget, 0)[0][0])
    *choice, last = tried
    assert [C for C, L, _, _ in choice[:10:2]] == list(PENALTIES)
    assert {L for _, L, _, _ in choice[:10]} == {200}  # where the paper varies C
    assert [L for _, L, _, _ in choice[10::2]] == list(UNITS)
    assert last[0] in PENALTIES
    assert last[1] in UNITS
    assert {C for C, *_ in choice[10:]} == {last[0]}
    assert max(n for *_, n in choice) < n_train == last[3]
    assert {row.at for row in result.seconds} == {"prepare", "choose", "learn", "answer"}


def test_searches_are_short_while_c_and_l_are_chosen_and_then_as_the_paper_has_them(job):
    whole = replace(job, budget=replace(job.budget, population=None))
    data = whole.case.load()
    search = whole._model(data.X, data.y, data)
    assert search.short == {"method__population_size": 10, "method__max_epochs": 10}
    model = search.estimator[-1]
    assert (model.population_size, model.max_epochs, model.scale) == (100, 100, "minmax")
    assert (model.C, model.n_hidden) == (2.0**20, 200)
    assert whole.setting.name == AS_PRINTED
