"""Costs learned for a metric that does not count costs obey what is half known of them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from ecselm import CostSearchCV, ECSELMClassifier
from ecselm.costs import CostConstraints

SMALL = {"population_size": 6, "max_epochs": 2, "random_state": 0}
MODELS = {
    "ensemble": ECSELMClassifier(10, ensemble=2, scoring="gmean", **SMALL),
    "one layer": ECSELMClassifier(10, ensemble=None, scoring="gmean", **SMALL),
    "decisions": CostSearchCV(LogisticRegression(), scoring="gmean", **SMALL),
}
STATED = {
    2: {
        "interval": ["1->0 = 3..20"],
        "against the metric": ["0->1 > 1->0"],
        "ratio": ["1->0 = 3..8 * 0->1", "0->1 = 2..5"],
        "fixed ratio": ["1->0 = 2 * 0->1", "0->1 = 2..5"],
    },
    3: {
        "class": ["2 = 3..20"],
        "classes in order": ["0 > 1", "1 > 2", "2 = 1..4"],
        "ratios of classes": ["2 >= 3 * 1", "1 = 2..9", "0 = 0.5..1"],
        "confusions": ["2->0 >= 3 * 0->2", "0->2 = 2..4 * 1->0", "1->2 = 2..3", "1->0 = 1..2"],
        "a class and a confusion": ["2->0 >= 2 * 1->0", "1 = 2..9"],
    },
}
CASES = [(k, name) for k, stated in STATED.items() for name in stated]
STATEMENTS = pytest.mark.parametrize(("k", "name"), CASES, ids=str)
MODEL = pytest.mark.parametrize("kind", MODELS)


def made(k):
    return make_classification(
        120,
        5,
        n_informative=4,
        n_redundant=0,
        n_classes=k,
        weights=[0.6, 0.3][: k - 1],
        flip_y=0.1,
        random_state=3,
    )


def model_of(kind, **options):
    return clone(MODELS[kind]).set_params(**options)


def obeys(matrix, constraints):
    """Check statement by statement, as they are written."""
    k = len(matrix)
    for one in constraints.statements:
        rights = [(1.0,)] if one.right is None else [(matrix[p],) for p in one.right.pairs(k)]
        for left in one.left.pairs(k):
            for (right,) in rights:
                assert matrix[left] >= one.low * right * (1 - 1e-12)
                assert matrix[left] <= one.high * right * (1 + 1e-12)
    return constraints.contains(matrix)


@STATEMENTS
@MODEL
@pytest.mark.parametrize("keep_prior", [True, False, "always"])
def test_learned_costs_and_the_prior_obey_all_statements(kind, k, name, keep_prior):
    X, y = made(k)
    model = model_of(kind, cost=STATED[k][name], keep_prior=keep_prior).fit(X, y)
    assert obeys(model.cost_matrix_, model.constraints_)
    assert_allclose(model.class_costs_, model.cost_matrix_.sum(axis=1) / (k - 1), rtol=1e-12)
    assert keep_prior != "always" or model.keeps_prior_


@STATEMENTS
@pytest.mark.parametrize("optimizer", ["bsa", "de", "random", "sobol"])
def test_no_optimiser_leaves_the_region(k, name, optimizer):
    X, y = made(k)
    given = {"optimizer": optimizer, "keep_prior": False, "shrinkage": 0.0, "priors": ()}
    model = model_of("decisions", cost=STATED[k][name], **given).fit(X, y)
    assert obeys(model.cost_matrix_, model.constraints_)


@pytest.mark.parametrize(
    ("kind", "scoring"),
    [
        *(
            (kind, name)
            for kind in MODELS
            for name in ("balanced_accuracy", "accuracy", "f1_macro")
        ),
        ("ensemble", "neg_log_loss"),  # which costs of decisions do not change
        ("one layer", "neg_log_loss"),
    ],
)
def test_costs_obey_whatever_the_metric(kind, scoring):
    X, y = made(3)
    stated = STATED[3]["confusions"]
    model = model_of(kind, cost=stated, scoring=scoring, keep_prior=False).fit(X, y)
    assert obeys(model.cost_matrix_, model.constraints_)


@MODEL
def test_learned_costs_obey_answers_that_are_no_ratios(kind):
    X, y = made(3)
    stated = CostConstraints([0, 1, 2], intervals={0: (0.5, 9), 1: (0.5, 9), 2: (0.5, 9)})
    worse = np.array([[0, 4, 0], [0, 0, -1], [-1, 0, 0]])  # 4 of the first outweigh both others
    stated = stated.with_answer(worse, "four mistakes on 0 are worse than one on 1 and one on 2")
    for keep_prior in (True, False, "always"):
        model = model_of(kind, cost=stated, keep_prior=keep_prior).fit(X, y)
        assert stated.contains(model.cost_matrix_)
        by_class = model.class_costs_
        assert 4 * by_class[0] >= (by_class[1] + by_class[2]) * (1 - 1e-9)


def test_costs_are_by_class_unless_statements_are_about_confusions():
    X, y = made(3)
    for name, by_class in (("classes in order", True), ("confusions", False)):
        matrix = model_of("ensemble", cost=STATED[3][name]).fit(X, y).cost_matrix_
        rows = matrix[~np.eye(3, dtype=bool)].reshape(3, 2)
        assert (rows[:, 0] == rows[:, 1]).all() == by_class


@MODEL
def test_the_prior_is_as_near_to_the_metric_as_statements_allow(kind):
    X, y = made(2)
    counts = np.bincount(y)
    implied = float(counts[0] / counts[1])  # W1, for the G-mean
    for low, high in ((implied * 2, implied * 9), (implied / 9, implied / 2), (0.01, 100)):
        stated = {(1, 0): (low, high)}
        model = model_of(kind, cost=stated, keep_prior="always").fit(X, y)
        expected = np.clip(implied, low, high)
        assert_allclose(model.class_costs_, [1.0, expected], rtol=1e-12)
    stated = ["1->0 = 1..2", f"0->1 >= {2 / implied!r} * 1->0", "0->1 <= 99"]  # no unit is fixed
    model = model_of(kind, cost=stated, keep_prior="always").fit(X, y)
    assert_allclose(model.class_costs_[1] / model.class_costs_[0], implied / 2, rtol=1e-9)


@MODEL
def test_forms_of_the_same_statements_learn_the_same(kind):
    X, y = made(2)
    forms = [
        "1->0 = 3..20",
        ["1->0 = 3..20"],
        {(1, 0): (3, 20)},
        {1: "3..20"},
        CostConstraints([0, 1], intervals={(1, 0): (3, 20)}),
        np.array([[[0, 0], [1, 1]], [[3, 20], [0, 0]]]),
        lambda classes: CostConstraints(classes, intervals={classes[1]: (3, 20)}),
    ]
    first, *others = (model_of(kind, cost=form, keep_prior=False).fit(X, y) for form in forms)
    for model in others:
        assert_allclose(model.cost_matrix_, first.cost_matrix_, rtol=1e-12)
        assert_array_equal(model.predict(X), first.predict(X))


@MODEL
def test_the_unit_of_the_statements_does_not_matter(kind):
    X, y = made(3)
    stated = [
        CostConstraints(
            [0, 1, 2], {1: u}, {2: (3 * u, 20 * u), 0: (u, 2 * u)}, ratios={(2, 0): (2, 5)}
        )
        for u in (1, 8)
    ]
    one, other = (model_of(kind, cost=form, keep_prior=False).fit(X, y) for form in stated)
    assert_allclose(other.cost_matrix_, 8 * one.cost_matrix_, rtol=1e-9)
    assert_array_equal(other.predict(X), one.predict(X))


def test_statements_that_leave_all_open_bound_nothing_near_the_prior():
    X, y = made(2)
    stated = {(0, 1): (1e-6, 1e6), (1, 0): (1e-6, 1e6)}
    for kind in MODELS:
        model = model_of(kind, cost=stated, keep_prior="always").fit(X, y)
        free = model_of(kind, keep_prior="always").fit(X, y)
        ratio, expected = (one.class_costs_[1] / one.class_costs_[0] for one in (model, free))
        assert ratio == pytest.approx(expected, rel=1e-9)
        assert_array_equal(model.predict(X), free.predict(X))


@MODEL
def test_without_a_metric_half_known_costs_are_counted(kind):
    X, y = made(2)
    stated = ["1->0 = 3..20"]
    one, other = (
        model_of(kind, cost=stated, scoring=metric).fit(X, y) for metric in (None, "mean_cost")
    )
    assert_array_equal(one.cost_matrix_, other.cost_matrix_)
    if kind != "one layer":  # a rule decides
        assert one.n_evaluations_ == 0


@pytest.mark.parametrize("kind", ["ensemble", "decisions"])
def test_what_is_open_is_open_to_learned_costs_too(kind):
    """Answers are settled where they are the best for all possible costs, whatever was learned."""
    X, y = made(2)
    model = model_of(kind, cost=["1->0 = 3..20"]).fit(X, y)
    p = model.predict_proba(X)[:, 1]
    same = (p < 1 / 21) | (p > 1 / 4)
    assert_array_equal(model.settled(X), same)
    assert (model.regret(X)[same] == 0).all()
    assert_array_equal(model.predict_set(X).sum(axis=1), np.where(same, 1, 2))


@MODEL
def test_a_search_goes_on_from_its_checkpoint(kind, tmp_path):
    X, y = made(3)
    given = {"cost": STATED[3]["confusions"], "keep_prior": False}
    whole = model_of(kind, **given, max_epochs=4).fit(X, y)
    file = tmp_path / "search"
    model_of(kind, **given, checkpoint=file).fit(X, y)
    resumed = model_of(kind, **given, checkpoint=file, max_epochs=4).fit(X, y)
    assert_array_equal(resumed.cost_matrix_, whole.cost_matrix_)


@MODEL
def test_costs_of_an_earlier_fit_are_moved_into_the_region(kind):
    X, y = made(2)
    model = model_of(kind, cost=["1->0 = 3..20"], warm_start=True, keep_prior=False).fit(X, y)
    model.set_params(cost=["0->1 = 3..20"]).fit(X, y)
    assert obeys(model.cost_matrix_, model.constraints_)


@MODEL
def test_costs_known_by_number_stay_what_they_were(kind):
    """A metric that does not count costs learns others than those, in any form."""
    X, y = made(2)
    forms = ({(1, 0): 5.0}, [[0.0, 1.0], [5.0, 0.0]], ["1->0 = 5"])
    first, *others = (model_of(kind, cost=form, cost_order=[(1, 0)]).fit(X, y) for form in forms)
    for model in others:
        assert model.constraints_ is None
        assert_allclose(model.cost_matrix_, first.cost_matrix_, rtol=1e-12)


class Untouched(LogisticRegression):
    """Must not be fitted."""

    def fit(self, X, y, sample_weight=None):
        raise AssertionError


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cost_level": "sample"}, r"cost_level must not be 'sample' .*, got 'sample'"),
        ({"cost_level": "class"}, r"cost_level must be .* 3 classes, got 'class'"),
        ({"fixed_costs": {0: 1.0}}, r"fixed_costs must be None where cost is known in part"),
        ({"cost_intervals": {0: (1, 2)}}, r"cost_intervals must be None .*, got \{0: \(1, 2\)\}"),
        ({"cost_order": [(0, 1)], "scoring": "mean_cost"}, r"cost_order must be None .*\(0, 1\)"),
        ({"cost_bounds": (1, 9)}, r"cost_bounds must be None .*, got \(1, 9\)"),
        ({"cost": ["1->0 = 0", "0->1 = 2..3"]}, r"cost must state costs > 0 .* got 0 for 1 taken"),
    ],
    ids=str,
)
def test_what_contradicts_half_known_costs_is_refused_before_any_fit(options, message):
    X, y = made(3)
    given = {"cost": STATED[3]["confusions"], "scoring": "gmean", **SMALL, **options}
    with pytest.raises(ValueError, match=message):
        CostSearchCV(Untouched(), **given).fit(X, y)
    if options == {"cost_level": "class"}:  # the default, which yields to the statements
        return
    with pytest.raises(ValueError, match=message):
        ECSELMClassifier(10, **given).fit(X, y)
