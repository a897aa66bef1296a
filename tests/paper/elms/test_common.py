"""scikit-learn's own checks, and what all these machines have in common."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from ecselm.paper import elms
from ecselm.paper.elms import (
    HELMClassifier,
    KernelOSELMClassifier,
    MLELMClassifier,
    ParsimoniousELMClassifier,
    TwinELMClassifier,
    TwinELMRegressor,
)
from ecselm.paper.methods import find_method, get_method

NAMES = (
    "Boosting WELM",
    "Kernel OS-ELM",
    "Parsimonious ELM",
    "Sparse Bayesian ELM",
    "Twin ELM",
    "ML-ELM",
    "H-ELM",
)
EVERY = [getattr(elms, name)() for name in elms.__all__]
VARIANTS = [
    KernelOSELMClassifier(novelty=0.0),
    ParsimoniousELMClassifier(direction="destructive"),
    TwinELMClassifier(20, method="evidence"),
    TwinELMRegressor(20, method="evidence"),
]
SMALL = {"SparseBayesianELMClassifier": {"n_hidden": 20}}  # steps take long with many units


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
@parametrize_with_checks(
    [clone(one).set_params(**SMALL.get(type(one).__name__, {})) for one in [*EVERY, *VARIANTS]]
)
def test_scikit_learn_finds_nothing_wrong(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
@parametrize_with_checks([getattr(elms, name)() for name in SMALL])
def test_nor_at_the_defaults(estimator, check):
    check(estimator)


def test_the_registry_has_them_under_the_names_of_their_authors():
    for name in NAMES:
        assert find_method(name).name == name
        assert is_classifier(get_method(name))
        assert type(get_method(name)).__name__ in elms.__all__


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("load", [load_wine, load_digits, load_breast_cancer])
def test_defaults_are_within_five_points_of_an_elm(name, load):
    X, X_test, y, y_test = train_test_split(
        *load(return_X_y=True), test_size=0.5, stratify=load().target, random_state=0
    )

    def accuracy(method):
        model = get_method(method)
        if "random_state" in model.get_params():
            model.set_params(random_state=0)
        return make_pipeline(StandardScaler(), model).fit(X, y).score(X_test, y_test)

    assert accuracy(name) > accuracy("ELM") - 0.05


@pytest.mark.parametrize("model", [*EVERY, *VARIANTS], ids=str)
def test_fits_repeat_and_survive_pickling(model):
    X, y = load_iris(return_X_y=True)
    model = clone(model)
    if "random_state" in model.get_params():
        model.set_params(random_state=3)
    first = model.fit(X, y).predict(X)
    assert_array_equal(clone(model).fit(X, y).predict(X), first)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), first)


@pytest.mark.parametrize("model", [*EVERY, *VARIANTS], ids=str)
def test_weight_two_is_a_row_twice_and_weight_zero_none(model):
    X, y = load_iris(return_X_y=True)
    s = np.arange(150) % 3
    model = clone(model)
    if "random_state" in model.get_params():
        model.set_params(random_state=3)
    if "encoder_units" in model.get_params():
        model.set_params(encoder_units=(5,))
    answer = "decision_function" if is_classifier(model) else "predict"
    weighted = getattr(clone(model).fit(X, y, s), answer)(X)
    repeated = getattr(clone(model).fit(np.repeat(X, s, axis=0), np.repeat(y, s)), answer)(X)
    assert_allclose(weighted, repeated, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "model",
    [
        HELMClassifier(max_iter=2),
        TwinELMClassifier(max_iter=1),
        elms.SparseBayesianELMClassifier(max_iter=2),
    ],
    ids=str,
)
def test_steps_that_do_not_suffice_are_warned_of(model):
    with pytest.warns(ConvergenceWarning, match="did not converge in max_iter="):
        model.fit(*load_iris(return_X_y=True))


def test_layers_that_are_no_numbers_of_units_are_refused():
    for model in (MLELMClassifier([10, 0]), HELMClassifier((1.5,))):
        with pytest.raises(ValueError, match=r"encoder_units must be one or several integers >= 1"):
            model.fit(*load_iris(return_X_y=True))
        assert not hasattr(model, "classes_")


def test_activations_that_overflow_are_refused():
    X, y = load_iris(return_X_y=True)
    model = elms.BoostingWELMClassifier(activation=lambda A: A / 0.0)
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="activation must give finite"):
        model.fit(X, y)
