"""Every method of the tables can be had by name."""

import inspect
import pickle
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

from ecselm import ECSELMClassifier, WELMClassifier
from ecselm.metrics import get_scorer
from ecselm.paper.methods import Method, Shape, find_method, get_method, list_methods, tuned_method
from ecselm.paper.methods.regression import LevelWeights

# The columns of the paper's tables, as they are printed there.
COLUMNS = {
    "I": "ELM KELM W1ELM W2ELM E-ELM ECSELM",
    "II": "PCA-NN CSPCA-NN LDA-NN CSLDA-NN LPP-NN CSLPP-NN CSMFA-NN ECSELM",
    "III": "KNN SVM LSSVM CISVM CSOR ECSELM",
    "IV": "NN Ridge-Regression Neural-Network DFAT LDFAT ELM KELM W1ELM W2ELM E-ELM ECSELM",
    "V": "DFAT LDFAT ELM KELM W1ELM W2ELM E-ELM ECSELM",
    "VI": "CSPCA CSLPP CSMFA CSLDA ELM KELM WELM E-ELM CSELM",
    "VII": "NN NS SVM CISVM mckNN mcSVM mcKLR ECSELM kernel-ECSELM",
    "VIII": "CSPCA CSLDA CSLPP CSMFA ELM KELM WELM E-ELM ECSELM",
    "IX": "SILD ITML LDML CSML KISSME DML-eig LMLML SubSML ECSELM",
    "X": "PCA CS-PCA LDA-NN CS-LDA LPP CS-LPP CS-MFA ELM KELM W1ELM W2ELM E-ELM ECS-ELM",
    "XI": "SVM PCA-SVM KSVM LDA PCA-LDA PLS-DA KLDA KPLS-DA CISVM CSELM ECSELM",
    "XII": "CSPCA CSLDA CSLPP CSMFA ELM KELM WELM E-ELM ECSELM",
    "XIV": "CSPCA CSLDA CSLPP CSMFA ELM KELM WELM E-ELM ECSELM",
}
TASKS = {"IV": "regression", "V": "regression", "VIII": "pairs", "IX": "pairs"}
INSTALLED = [m for m in list_methods() if m.extra != "boosting" or find_spec(m.lower())]
EVERY = [pytest.param(method, id=f"{method.task}: {method}") for method in INSTALLED]


@pytest.mark.parametrize("table", COLUMNS)
def test_every_column_of_the_tables_is_there(table):
    task = TASKS.get(table, "classification")
    for name in COLUMNS[table].split():
        assert table in find_method(name, task).tables
        made = get_method(name, task=task)
        assert is_regressor(made) if task == "regression" else is_classifier(made)


def test_other_methods_are_there():
    assert is_classifier(get_method("MFA-NN"))
    assert is_classifier(get_method("five similarities"))


@pytest.mark.parametrize("method", EVERY)
def test_each_is_recorded_and_makes_a_fresh_estimator(method):
    assert method.task in ("classification", "regression", "pairs")
    assert method.status in ("exact", "wrapped", "substitute")
    assert method.source
    first, second = (get_method(method, task=method.task) for _ in range(2))
    assert first is not second
    clone(first)


@pytest.mark.parametrize("method", EVERY)
def test_what_may_be_chosen_are_parameters_of_the_method(method):
    grid = method.grid_for(Shape(n_samples=200, n_features=30, n_classes=4))
    known = get_method(method, task=method.task).get_params()
    assert set(grid) <= set(known)
    assert all(len(values) > 0 for values in grid.values())


@pytest.mark.parametrize("method", EVERY)
def test_records_survive_pickling(method):
    copy = pickle.loads(pickle.dumps(method))
    assert (copy, copy.task, copy.tables) == (method.name, method.task, method.tables)


def test_names_are_unique_within_a_task():
    keys = [(m.task, m.lower()) for m in list_methods()]
    assert len(keys) == len(set(keys))


def test_a_substitute_says_so_in_its_docstring():
    """What could not be confirmed stands where a user of the class reads it."""
    for method in list_methods():
        if method.status != "substitute" or "ECSELM" in method or method.task == "pairs":
            continue
        made = get_method(method, task=method.task)
        parts = [step for _, step in getattr(made, "steps", [("", made)])]
        words = " ".join(inspect.getdoc(part) for part in parts).lower()
        if "W1ELM" not in method and "W2ELM" not in method:
            assert any(w in words for w in ("uncertain", "our reading", "could not be had")), method


def test_parameters_reach_the_step_that_has_them():
    model = get_method("CSLDA-NN", cost={0: 3}, n_components=1, n_neighbors=5)
    assert model["cslda"].cost == {0: 3}
    assert model["kneighborsclassifier"].n_neighbors == 5


def test_parameters_of_a_wrapped_model_can_be_given_plainly():
    assert get_method("CSLogit", C=0.5, cost={0: 2}).get_params()["estimator__C"] == 0.5


def test_parameters_reach_the_parts_of_a_step():
    model = get_method("CSLDA-NN", task="pairs", cost={(0, 1): 3})
    assert model.get_params()["pipeline__cslda__cost"] == {(0, 1): 3}
    assert get_method("PCA-LDA", solver="lsqr")["onevsoneclassifier"].estimator.solver == "lsqr"


def test_of_a_step_and_its_parts_the_step_is_meant():
    assert get_method("PCA-LDA", n_components=3)["pca"].n_components == 3


def test_ambiguous_parameters_ask_which_step_is_meant():
    with pytest.raises(ValueError, match=r"say which of its steps .*'lpp__n_neighbors'\], got"):
        get_method("LPP-NN", n_neighbors=3)


def test_a_recorded_method_keeps_its_task():
    for method in INSTALLED:
        assert is_regressor(get_method(method)) == (method.task == "regression")


def test_names_are_strings():
    with pytest.raises(ValueError, match="name must be a string, got None"):
        get_method(None)


def test_unknown_parameters_are_refused_with_those_there_are():
    with pytest.raises(ValueError, match=r"'NN' must be a parameter of it, one of .*n_neighb.*'k'"):
        get_method("NN", k=3)


def test_unknown_names_are_refused_with_those_there_are():
    with pytest.raises(ValueError, match=r"method for pairs, one of SILD, ITML.*got 'NS'"):
        get_method("NS", task="pairs")


def test_unknown_tasks_are_refused():
    with pytest.raises(ValueError, match=r"task must be one of .* got 'ranking'"):
        list_methods("ranking")


def test_without_a_task_the_first_that_has_the_name_is_taken():
    assert is_classifier(get_method("NN"))
    assert find_method("SILD").task == "pairs"
    assert find_method("dfat").task == "regression"


def test_the_two_weightings_differ():
    assert get_method("W1ELM").weighting == "w1"
    assert get_method("WELM").weighting == "w2"
    assert isinstance(get_method("W2ELM"), WELMClassifier)


def test_weighted_machines_have_a_kernel_form():
    for name, weighting in (("W1KELM", "w1"), ("W2KELM", "w2")):
        made = get_method(name)
        assert isinstance(made, WELMClassifier)
        assert (made.kernel, made.weighting) == ("rbf", weighting)


def test_the_printed_search_and_the_one_that_holds_up_are_two_methods():
    assert get_method("ECSELM as printed").cost_bounds == ECSELMClassifier.paper().cost_bounds
    assert get_method("ECSELM", random_state=3).random_state == 3


def test_missing_extras_are_named(monkeypatch):
    code = (
        "import sys; sys.modules['lightgbm'] = None\n"
        "from ecselm.paper.methods import get_method, list_methods\n"
        "assert 'LightGBM' in list_methods()\n"
        "get_method('LightGBM')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)  # noqa: PLW1510, S603
    assert 'install the extra "compare"' in done.stderr.splitlines()[-1]


def test_levels_of_scores_are_weighed_like_classes():
    y = np.array([1.0, 1.5, 5.0, 9.0])
    np.testing.assert_allclose(LevelWeights("w1", (2.0, 4.0, 6.0, 8.0))(y), [0.5, 0.5, 1, 1])
    np.testing.assert_allclose(LevelWeights("w1", None)(y), [0.5, 0.5, 1, 1])


def test_what_comes_before_says_how_many_features_there_are():
    X, y = load_iris(return_X_y=True)
    search = tuned_method("PCA-NN", X, y, before=PCA(2))
    assert search.param_grid == {"method__pca__n_components": [2]}


def test_parameters_are_tuned_for_given_costs():
    X, y = load_iris(return_X_y=True)
    scoring = tuned_method("mcKLR", X, y, cost={0: 50}).scoring
    assert scoring._kwargs == {"cost": {0: 50}}
    assert tuned_method("CSLDA-NN", X, y, cslda__cost={0: 50}).scoring._kwargs == scoring._kwargs
    assert tuned_method("mcKLR", X, y).scoring is None
    assert tuned_method("CSOR", X, y, cost="squared").scoring is None


@pytest.mark.parametrize("aim", [{"scoring": "gmean"}, {"cost": {0: 50}}], ids=["gmean", "cost"])
def test_a_method_that_searches_costs_does_so_for_what_its_parameters_are_chosen_for(aim):
    X, y = load_iris(return_X_y=True)
    search = tuned_method("kernel ECSELM", X, y, before=StandardScaler(), **aim)
    name = aim.get("scoring", "mean_cost")
    assert search.estimator[-1].scoring == name
    assert tuned_method("ECSELM", X, y, before=StandardScaler(), **aim)[-1].scoring == name
    assert search.scoring._score_func is get_scorer(name)._score_func


def test_one_fold_is_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="cv must be at least 2 or a splitter, got 0"):
        tuned_method("kNN", X, y, cv=0)


def test_given_folds_say_how_many_rows_there_are_to_learn_from():
    X, y = load_iris(return_X_y=True)
    folds = [(np.arange(i % 3, 150, 3), np.arange((i + 1) % 3, 150, 3)) for i in range(3)]
    made = (tuned_method("PCA-NN", np.tile(X, 20), y, cv=cv) for cv in (2, 3, folds))
    half, thirds, third = (max(one.param_grid["pca__n_components"]) for one in made)
    assert third <= 50 < half < thirds


def test_what_is_given_is_not_chosen():
    X, y = load_iris(return_X_y=True)
    search = tuned_method("KLDA", X, y, before=StandardScaler(), reg=0.1, cv=3)
    assert isinstance(search, GridSearchCV)
    assert list(search.param_grid) == ["method__gamma"]
    assert search.estimator["method"].reg == 0.1


def test_where_nothing_is_to_choose_there_is_no_search():
    X, y = load_iris(return_X_y=True)
    assert type(tuned_method("NN", X, y)).__name__ == "KNeighborsClassifier"


def test_what_is_chosen_depends_on_training_rows_alone():
    X, y = load_iris(return_X_y=True)
    search = tuned_method("kNN", X, y, cv=3).fit(X[::2], y[::2])
    assert search.n_features_in_ == 4
    assert search.score(X[1::2], y[1::2]) > 0.9


def test_labels_may_be_any_numbers():
    X, y = load_iris(return_X_y=True)
    search = tuned_method("CSLDA-NN", X, y + 0.0, cv=3)
    assert search.param_grid == {"cslda__n_components": [1, 2]}


def test_a_method_is_its_name():
    method = find_method("lssvm")
    assert isinstance(method, Method)
    assert f"{method}" == "LSSVM"
    assert method in list_methods("classification")


TWINS = [m for m in list_methods("classification") if m.twin in list_methods("classification")]


def test_variants_with_costs_and_with_attributes_name_their_twins():
    assert set(TWINS) == {"CSPCA-NN", "CSLPP-NN", "CSMFA-NN"}
    noted = {method for method in list_methods() if method.footnote}
    assert noted == {*TWINS, "CSLDA-NN", "DFAT", "LDFAT"}
    assert all(bool(m.twin) == (m.twin_if in ("equal costs", "no attributes")) for m in noted)
    assert find_method("LDFAT").footnote == (
        "LDFAT: the same as Ridge with another penalty (no attributes)"
    )


@pytest.mark.parametrize("method", TWINS, ids=str)
def test_with_equal_costs_a_variant_is_its_twin(method, rng):
    X, y = load_iris(return_X_y=True)
    new = X[rng.permutation(len(X))] + 0.3 * rng.standard_normal(X.shape)
    cost = 3.0 * (1.0 - np.eye(3))
    made = [get_method(method), get_method(method, cost=cost), get_method(method.twin)]
    first, stated, twin = (model.fit(X, y).predict(new) for model in made)
    assert np.array_equal(first, twin)
    assert np.array_equal(stated, twin)
