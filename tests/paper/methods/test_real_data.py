"""Every classifier beats chance and the majority class, every regressor the mean."""

from functools import partial

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier
from sklearn.metrics import accuracy_score, balanced_accuracy_score, mean_absolute_error
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from ecselm.paper.datasets import load_gas, load_german, load_olivetti, load_scut
from ecselm.paper.methods import get_method, list_methods, tuned_method

BINARY = {
    *("LightGBM with tuned threshold", "CSLogit", "CSBoost", "CSTree", "CSThreshold"),
}
LONG_SEARCHES = {
    *("ECSELM as printed", "kernel ECSELM", "one layer with tuned threshold", "random forest"),
}
LONG_WITH_FACES = {  # of 40 persons
    *("ECSELM", "LDA", "PCA-LDA", "CISVM"),
    *("Sparse Bayesian ELM", "HistGradientBoosting", "LightGBM", "unbalanced LightGBM"),
}
# Their defaults suit no credits: what is not given here is chosen on the training rows.
CHOSEN = {"KLDA": {"gamma": "scale"}, "mcSVM": {"gamma": "scale"}, "NS": {}}
# One neighbour, or weights that care for the rare class first: the majority of 70 % that is
# good has the better accuracy, by a few points, and finds no bad credit at all.
LESS_ACCURATE = {
    *("NN", "PCA-NN", "CSPCA-NN", "LDA-NN", "LPP-NN", "CSLPP-NN", "MFA-NN", "CSMFA-NN", "NS"),
    *("W2ELM", "W2KELM", "CSELM", "RUSBoost", "ECSELM as printed", "CSTree", "Boosting WELM"),
    "one layer with tuned threshold",
}
SMALLER = {"E-ELM": {"population_size": 20}, "EasyEnsemble": {"n_estimators": 3}}
CLASSIFIERS = [m for m in list_methods("classification") if m.extra != "boosting"]
MANY_CLASSES = [method for method in CLASSIFIERS if method not in BINARY]
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(autouse=True)
def one_thread():
    """Keep to one core: the problems are small, and tests run side by side."""
    with threadpool_limits(1):
        yield


def marked(methods, others=()):
    """Return the methods, the slow ones of them and the others named marked."""
    slow, long = pytest.mark.slow, {*LONG_SEARCHES, *others}
    return [pytest.param(m, marks=slow if m in long else ()) for m in methods]


def known_to_fail(methods):
    """Return the methods, with the printed search as one that must not pass unnoticed."""
    reason = "costs of either sign, with fitness on training rows, miss the mean by far"
    marks = [pytest.mark.slow, pytest.mark.xfail(reason=reason, strict=True)]
    return [pytest.param(m, marks=marks if m == "ECSELM as printed" else ()) for m in methods]


def options(method, task):
    """Return what makes the method repeatable."""
    known = get_method(method, task).get_params()
    found = {name: 0 for name in known if name.rpartition("__")[2] == "random_state"}
    found |= SMALLER.get(method, {})
    if "LightGBM" in method or method == "CSBoost":  # its idle threads spin
        found |= {name: 1 for name in known if name.rpartition("__")[2] == "n_jobs"}
    return found


def scores(method, X, y, before, n_folds, make=get_method):
    """Return accuracy and balanced accuracy on held-out rows, and both of the majority."""
    model = make(method, task="classification", **options(method, "classification"))
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=0)
    return [
        score(y, cross_val_predict(machine, X, y, cv=folds))
        for machine in (make_pipeline(before, model), DummyClassifier())
        for score in (accuracy_score, balanced_accuracy_score)
    ]


@pytest.mark.parametrize("method", marked(MANY_CLASSES))
def test_gases(method, data_folder):
    data = load_gas(folder=data_folder)
    accuracy, balanced, majority, chance = scores(method, data.X, data.y, StandardScaler(), 3)
    assert accuracy > majority + 0.1
    assert balanced > chance + 0.1


@pytest.mark.slow
@pytest.mark.parametrize("method", marked(MANY_CLASSES, LONG_WITH_FACES))
def test_faces(method, data_folder):
    data = load_olivetti(data_folder)
    before = make_pipeline(StandardScaler(), PCA(30, svd_solver="full"))
    accuracy, _, majority, _ = scores(method, data.X, data.y, before, 2)
    assert accuracy > 2 * majority


@pytest.mark.slow
@pytest.mark.parametrize("method", marked(CLASSIFIERS))
def test_credits(method, data_folder):
    data = load_german(folder=data_folder)
    X, y = data.X, data.y
    make = (
        partial(tuned_method, X=X, y=y, cv=3, **CHOSEN[method]) if method in CHOSEN else get_method
    )
    accuracy, balanced, majority, chance = scores(method, X, y, StandardScaler(), 3, make)
    assert balanced > chance + 0.02
    if method not in LESS_ACCURATE:
        assert accuracy > majority


@pytest.mark.parametrize("method", known_to_fail(list_methods("regression")))
def test_attractiveness(method, data_folder):
    data = load_scut(target="score", folder=data_folder)
    X, y = data.X, data.y
    train, test, y_train, y_test = train_test_split(X[:, :50], y, test_size=0.5, random_state=0)
    model = get_method(method, "regression", **options(method, "regression")).fit(train, y_train)
    error = mean_absolute_error(y_test, model.predict(test))
    assert error < 0.95 * mean_absolute_error(y_test, np.full_like(y_test, y_train.mean()))
