"""Fitness by name or scorer, against scikit-learn on predictions made literally."""

import inspect
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from sklearn.datasets import make_classification, make_friedman1
from sklearn.metrics import (
    balanced_accuracy_score,
    cohen_kappa_score,
    fbeta_score,
    get_scorer,
    get_scorer_names,
    log_loss,
    make_scorer,
    mean_absolute_error,
    mean_pinball_loss,
    mean_squared_error,
    r2_score,
    recall_score,
    roc_auc_score,
)
from sklearn.model_selection import KFold, StratifiedKFold

from ecselm import ECSELMClassifier, ECSELMRegressor
from ecselm.costs import outcome_costs
from ecselm.estimators._base import class_targets
from ecselm.estimators._scoring import (
    RecallingClassifier,
    RecallingRegressor,
    ValidationClasses,
    ValidationRows,
    class_fitness,
    target_fitness,
)
from ecselm.metrics import (
    cumulative_score,
    geometric_mean_score,
    match_rate,
    mean_cost,
    savings_score,
    total_cost,
)
from ecselm.metrics import get_scorer as own_scorer
from tests.conftest import targets
from tests.estimators.literal import out_of_fold, printed_beta
from tests.estimators.plain import one_machine

FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)
SETTINGS = {
    "n_hidden": 12,
    "population_size": 5,
    "max_epochs": 2,
    "smoothing": 0.0,
    "fitness": FOLDS,
    "random_state": 0,
}
WORDS = np.array(["ill", "so so", "well"])
BINARY = ["f1", "precision", "recall", "jaccard"]


def counted_names():
    """Return scikit-learn's names of functions of the confusion matrix, of words."""
    names = []
    for name in get_scorer_names():
        scorer = get_scorer(name)
        if scorer._response_method != "predict":
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                scorer._score_func(WORDS[[0, 1, 2, 1]], WORDS[[0, 1, 2, 2]], **scorer._kwargs)
            except (TypeError, ValueError):
                continue
        names.append(name)
    return names


COUNTED = counted_names()


def made(k, n=90):
    X, y = make_classification(
        n,
        5,
        n_informative=5,
        n_redundant=0,
        n_classes=k,
        n_clusters_per_class=1,
        weights=[0.5] + [0.5 / (k - 1)] * (k - 1),
        flip_y=0.1,
        random_state=k,
    )
    return X, y


def literal_scores(model, X, y, weight=None):
    """Return scores (n, k) of rows by machines trained without them, and their positions."""
    B = model.cost_vector_ if weight is None else weight * model.cost_vector_
    codes = np.searchsorted(model.classes_, y)
    splits = model.fitness.split(X, y)
    return out_of_fold(model.layer_(X), targets(codes), B, model.C_, splits, printed_beta)


def scored(name, y, predicted, **options):
    """Return what scikit-learn's scorer makes of predictions."""
    scorer = get_scorer(name)
    return scorer._sign * scorer._score_func(y, predicted, **scorer._kwargs, **options)


@pytest.mark.parametrize("name", COUNTED)
@pytest.mark.parametrize("weighted", [False, True])
def test_fitness_is_the_score_of_pooled_out_of_fold_predictions(name, weighted, rng):
    X, y = made(3)
    y = WORDS[y]
    weight = rng.uniform(0.2, 3, len(y)) if weighted else None
    model = one_machine(**SETTINGS, scoring=name).fit(X, y, sample_weight=weight)
    Z, places = literal_scores(model, X, y, weight)
    options = {}
    if weighted and "sample_weight" in inspect.signature(get_scorer(name)._score_func).parameters:
        options = {"sample_weight": weight[places]}
    expected = scored(name, y[places], WORDS[Z.argmax(axis=1)], **options)
    assert_allclose(model.best_score_, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("classes", [(0, 1), (1, 2), (-1, 1), (False, True)], ids=str)
def test_the_class_1_is_the_positive_one_wherever_it_stands(name, classes):
    X, y = made(2)
    y = np.array(classes)[y]
    model = one_machine(**SETTINGS, scoring=name).fit(X, y)
    Z, places = literal_scores(model, X, y)
    expected = scored(name, y[places], model.classes_[Z.argmax(axis=1)])
    assert_allclose(model.best_score_, expected, rtol=1e-12)


def test_the_names_of_scores_that_are_counted_are_all_there():
    assert {"accuracy", "balanced_accuracy", "matthews_corrcoef"} <= set(COUNTED)
    for kind in ("f1", "precision", "recall", "jaccard"):
        assert {f"{kind}_macro", f"{kind}_micro", f"{kind}_weighted"} <= set(COUNTED)


@pytest.mark.parametrize("k", [2, 3])
def test_none_is_the_balanced_accuracy_without_stated_costs(k):
    X, y = made(k)
    model = one_machine(**SETTINGS, scoring=None).fit(X, y)
    Z, places = literal_scores(model, X, y)
    expected = balanced_accuracy_score(y[places], Z.argmax(axis=1))
    assert_allclose(model.best_score_, expected, rtol=1e-12)


def test_none_is_the_mean_of_stated_costs():
    X, y = made(3)
    named = one_machine(**SETTINGS, scoring="mean_cost", cost=COST).fit(X, y)
    found = one_machine(**SETTINGS, scoring=None, cost=COST).fit(X, y)
    assert found.best_score_ == named.best_score_


@pytest.mark.parametrize(
    "scoring",
    [
        make_scorer(fbeta_score, beta=2, average="macro"),
        make_scorer(cohen_kappa_score),
        make_scorer(recall_score, average="macro", greater_is_better=False),
        lambda model, X, y: float(np.mean(model.predict(X) == y)),
    ],
    ids=["fbeta", "kappa", "worst recall", "callable"],
)
def test_scorers_and_callables_are_asked(scoring):
    X, y = made(3)
    model = one_machine(**SETTINGS, scoring=scoring).fit(X, y)
    Z, places = literal_scores(model, X, y)
    recalled = RecallingClassifier(X[places], Z, model.classes_, targets(y)[places])
    assert_allclose(model.best_score_, scoring(recalled, recalled.X, y[places]), rtol=1e-12)


@pytest.mark.parametrize("k", [2, 3])
def test_log_loss_is_that_of_scores_with_the_slope_of_their_residuals(k):
    X, y = made(k)
    model = one_machine(**SETTINGS, scoring="neg_log_loss").fit(X, y)
    Z, places = literal_scores(model, X, y)
    ideal = 2 * (1 - 1 / k)
    slope = ideal / (np.mean((targets(y)[places] - Z) ** 2) + ideal / 12)
    expected = -log_loss(y[places], softmax(slope * Z, axis=1))
    assert_allclose(model.best_score_, expected, rtol=1e-8)


def test_areas_under_curves_are_those_of_the_scores():
    X, y = made(2)
    model = one_machine(**SETTINGS, scoring="roc_auc").fit(X, y)
    Z, places = literal_scores(model, X, y)
    assert_allclose(model.best_score_, roc_auc_score(y[places], Z[:, 1]), rtol=1e-12)


def test_areas_of_many_classes_are_taken_from_probabilities():
    X, y = made(3)
    model = one_machine(**SETTINGS, scoring="roc_auc_ovr").fit(X, y)
    assert 0.5 < model.best_score_ <= 1.0
    assert model.best_score_ >= max(model.prior_scores_.values())


COST = np.array([[0.0, 1.0, 9.0], [2.0, 0.0, 1.0], [4.0, 3.0, 0.0]])


def test_mean_cost_counts_stated_costs_of_confusions():
    X, y = made(3)
    model = one_machine(**SETTINGS, scoring="mean_cost", cost=COST).fit(X, y)
    Z, places = literal_scores(model, X, y)
    expected = -mean_cost(y[places], Z.argmax(axis=1), cost=COST)
    assert_allclose(model.best_score_, expected, rtol=1e-12)
    plain = one_machine(**SETTINGS, scoring="mean_cost").fit(X, y)
    error = one_machine(**SETTINGS).fit(X, y)
    assert_allclose(plain.best_score_, error.best_score_ - 1, rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "function"),
    [("savings", savings_score), ("total_cost", lambda *y, **told: -total_cost(*y, **told))],
)
def test_other_scores_of_costs_count_stated_costs_of_confusions(name, function):
    X, y = made(3)
    model = one_machine(**SETTINGS, scoring=name, cost=COST).fit(X, y)
    Z, places = literal_scores(model, X, y)
    expected = function(y[places], Z.argmax(axis=1), cost=COST)
    assert_allclose(model.best_score_, expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["savings", "total_cost"])
def test_other_scores_of_costs_refuse_those_of_rows(name):
    X, y = made(3)
    model = one_machine(**SETTINGS, scoring=name)
    with pytest.raises(ValueError, match=f"scoring must be 'mean_cost' .* got '{name}'"):
        model.fit(X, y, sample_cost=np.ones(len(y)))


@pytest.mark.parametrize("weighted", [False, True])
def test_the_share_of_classes_among_the_best_is_asked_of_scores(weighted, rng):
    X, y = made(3)
    weight = rng.uniform(0.2, 3, len(y)) if weighted else None
    scorer = own_scorer("match_rate", rank=2)
    model = one_machine(**SETTINGS, scoring=scorer).fit(X, y, sample_weight=weight)
    Z, places = literal_scores(model, X, y, weight)
    shares = None if weight is None else weight[places]
    expected = match_rate(y[places], Z, rank=2, sample_weight=shares)
    assert_allclose(model.best_score_, expected, rtol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_mean_cost_counts_stated_costs_of_rows(weighted, rng):
    X, y = made(3)
    cost = rng.uniform(0, 9, (len(y), 3)) * (1 - np.eye(3))[y]
    weight = rng.uniform(0.2, 3, len(y)) if weighted else None
    model = one_machine(**SETTINGS, scoring="mean_cost")
    model.fit(X, y, sample_weight=weight, sample_cost=cost)
    Z, places = literal_scores(model, X, y, weight)
    paid = cost[places, Z.argmax(axis=1)]
    shares = None if weight is None else weight[places]
    assert_allclose(model.best_score_, -np.average(paid, weights=shares), rtol=1e-10)


def test_mean_cost_counts_one_cost_per_row_for_any_mistake_on_it(rng):
    X, y = made(3)
    cost = rng.uniform(0.1, 9, len(y))
    model = one_machine(**SETTINGS, scoring="mean_cost").fit(X, y, sample_cost=cost)
    Z, places = literal_scores(model, X, y)
    paid = cost[places] * (Z.argmax(axis=1) != y[places])
    assert_allclose(model.best_score_, -paid.mean(), rtol=1e-12)


def test_mean_cost_counts_costs_of_outcomes(rng):
    X, y = made(2)
    outcomes = {"fn_cost": rng.uniform(5, 50, len(y)), "fp_cost": 2.0, "tn_cost": 0.5}
    model = one_machine(**SETTINGS, scoring="mean_cost").fit(X, y, **outcomes)
    cost = outcome_costs(y, tp_cost=None, **outcomes)
    cost = cost - cost[np.arange(len(y)), y][:, np.newaxis]  # what a right answer costs is sunk
    twin = one_machine(**SETTINGS, scoring="mean_cost").fit(X, y, sample_cost=cost)
    assert_array_equal(model.cost_vector_, twin.cost_vector_)
    Z, places = literal_scores(model, X, y)
    assert_allclose(model.best_score_, -cost[places, Z.argmax(axis=1)].mean(), rtol=1e-12)


def test_costs_are_stated_once():
    X, y = made(3)
    with pytest.raises(ValueError, match="costs must be stated once"):
        one_machine(cost=COST).fit(X, y, sample_cost=np.ones(len(y)))


@pytest.mark.parametrize("kind", [ECSELMClassifier, ECSELMRegressor])
def test_a_wrong_name_gives_one_clear_error(kind):
    X, y = made(3)
    with pytest.raises(ValueError, match=r"scoring must be .* the name of one.* got 'acuracy'"):
        kind(scoring="acuracy").fit(X, y)


def test_a_scorer_that_asks_for_other_rows_is_refused():
    def peeking(model, X, y):
        return float(np.mean(model.predict(X[::-1]) == y[::-1]))

    model = one_machine(**SETTINGS, scoring=peeking)
    with pytest.raises(ValueError, match="scoring must ask for predictions of the rows it was"):
        model.fit(*made(3))
    assert not hasattr(model, "beta_")


@pytest.mark.parametrize("answer", [np.ones(2), {"a": 1.0}], ids=["array", "dict"])
def test_a_scorer_must_return_one_number(answer):
    with pytest.raises(ValueError, match="scoring must return one number"):
        one_machine(**SETTINGS, scoring=lambda model, X, y: answer).fit(*made(3))


class Picky:
    """A scorer that cannot say what the first candidate is worth."""

    def __init__(self):
        self.n_calls, self.best = 0, -np.inf

    def __call__(self, model, X, y):
        self.n_calls += 1
        value = float(np.mean(model.predict(X) == y)) if self.n_calls > 1 else np.nan
        self.best = max(value, self.best) if self.n_calls > 1 else self.best
        return value


def test_a_score_that_is_not_a_number_never_wins():
    X, y = made(3)

    def moody(model, X, y):
        right = float(np.mean(model.predict(X) == y))
        return right if right < 0.8 else np.nan

    model = one_machine(**SETTINGS, scoring=moody).fit(X, y)
    assert model.best_score_ < 0.8
    never = one_machine(**SETTINGS, scoring=lambda model, X, y: np.nan)
    with pytest.raises(ValueError, match="must meet a candidate with a finite fitness"):
        never.fit(X, y)
    picky = Picky()
    model = one_machine(**SETTINGS, scoring=picky).fit(X, y)
    assert model.prior_scores_["ones"] == -np.inf  # the first candidate that was validation
    assert model.best_score_ == picky.best


def validation(y, k, weight=None, cost=None, by_row=None, classes=None):
    rows = ValidationRows(np.zeros((len(y), 1)), y, class_targets(k)[y], weight)
    return rows, ValidationClasses(y, np.arange(k) if classes is None else classes, cost, by_row)


def drawn(k, rng, n=200, P=3):
    """Return codes and the scores of P candidates."""
    y = rng.integers(0, k, n)
    return y, class_targets(k)[y] + 1.5 * rng.standard_normal((P, n, 1 if k == 2 else k))


def decided(Z):
    return (Z[:, 0] > 0).astype(int) if Z.shape[1] == 1 else Z.argmax(axis=1)


@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("name", [*COUNTED, "gmean"])
@pytest.mark.parametrize("weighted", [False, True])
def test_fitness_of_classes_equal_scikit_learn(k, name, weighted, rng):
    y, Z = drawn(k, rng)
    function = geometric_mean_score if name == "gmean" else get_scorer(name)._score_func
    takes_weight = "sample_weight" in inspect.signature(function).parameters
    weight = rng.uniform(0.2, 3, len(y)) if weighted and takes_weight else None
    fitness = class_fitness(name, *validation(y, k, weight), smoothing=0.0)
    options = {} if weight is None else {"sample_weight": weight}
    if name == "gmean":
        expected = [function(y, decided(z), **options) for z in Z]
    else:
        expected = [scored(name, y, decided(z), **options) for z in Z]
    assert_allclose(fitness(Z), expected, rtol=1e-10)


@pytest.mark.parametrize("name", ["balanced_accuracy", "gmean", "recall_macro", "f1_weighted"])
def test_a_class_missing_from_the_validation_rows_does_no_harm(name, rng):
    y, Z = drawn(4, rng)
    y[y == 3] = 0
    value = class_fitness(name, *validation(y, 4), smoothing=0.0)(Z)
    assert np.isfinite(value).all()
    if name == "balanced_accuracy":
        recalls = [[np.mean(decided(z)[y == c] == c) for c in range(3)] for z in Z]
        assert_allclose(value, np.mean(recalls, axis=1))


@pytest.mark.parametrize("name", ["accuracy", "gmean", "mean_cost", "f1_macro"])
@pytest.mark.parametrize("k", [2, 4])
def test_smoothing_mixes_the_counted_and_the_smoothed(name, k, rng):
    y, Z = drawn(k, rng)
    for by_row in (None, rng.uniform(0, 3, (len(y), k))):
        values = [
            class_fitness(name, *validation(y, k, by_row=by_row), smoothing=s)(Z)
            for s in (0, 0.3, 1)
        ]
        assert_allclose(values[1], 0.7 * values[0] + 0.3 * values[2], rtol=1e-12)
        assert_allclose(values[0], values[2], atol=0.35)


@pytest.mark.parametrize("weighted", [False, True])
def test_flat_scores_get_a_thousandth_of_the_squared_error(weighted, rng):
    y, Z = drawn(3, rng)
    weight = rng.uniform(0.2, 3, len(y)) if weighted else None
    known = validation(y, 3, weight)
    T = class_targets(3)[y]
    bare, smooth = (class_fitness("jaccard_macro", *known, smoothing=s)(Z) for s in (0, 0.5))
    squares = np.average(((T - Z) ** 2).mean(axis=2), axis=1, weights=weight)
    assert_allclose(smooth, bare - 1e-3 * squares / T.var(), rtol=1e-12)


def test_counted_names_of_two_classes_need_the_positive_one_to_be_second(rng):
    y, Z = drawn(2, rng)
    counted = class_fitness("recall", *validation(y, 2), smoothing=0.0)(Z)
    assert_allclose(counted, [recall_score(y, decided(z)) for z in Z])
    first = np.array([1, 2])
    rows, known = validation(y, 2, classes=first)
    rows = ValidationRows(rows.X, first[y], rows.T, None)
    asked = class_fitness("recall", rows, known, smoothing=0.0)(Z)
    assert_allclose(asked, [recall_score(first[y], first[decided(z)]) for z in Z])


def test_costs_of_rows_count_only_with_mean_cost(rng):
    y, Z = drawn(3, rng)
    by_row = rng.uniform(0, 3, (len(y), 3))
    plain = class_fitness("accuracy", *validation(y, 3), smoothing=0.5)(Z)
    assert_array_equal(
        class_fitness("accuracy", *validation(y, 3, by_row=by_row), smoothing=0.5)(Z), plain
    )


@pytest.mark.parametrize("k", [2, 3])
def test_a_recalled_classifier_is_of_one_piece(k, rng):
    y, Z = drawn(k, rng, P=1)
    X = rng.standard_normal((len(y), 2))
    model = RecallingClassifier(X, Z[0], WORDS[:k], class_targets(k)[y])
    z, P = model.decision_function(X), model.predict_proba(X)
    winners = (z > 0).astype(int) if k == 2 else z.argmax(axis=1)
    assert_array_equal(model.predict(X), WORDS[winners])
    assert_array_equal(P.argmax(axis=1), winners)
    assert_allclose(P.sum(axis=1), 1.0)
    assert_array_equal(model.classes_, WORDS[:k])
    for method in (model.predict, model.predict_proba, model.decision_function):
        with pytest.raises(ValueError, match="scoring must ask for predictions of the rows"):
            method(X.copy())


def test_logarithms_of_probabilities_are_recalled_as_probabilities(rng):
    P = rng.dirichlet(np.ones(3), 20)
    X = np.zeros((20, 1))
    assert_allclose(RecallingClassifier(X, np.log(P), WORDS, None).predict_proba(X), P)


def test_a_recalled_regressor_knows_its_rows_only(rng):
    X = rng.standard_normal((5, 2))
    model = RecallingRegressor(X, np.arange(5.0))
    assert_array_equal(model.predict(X), np.arange(5.0))
    with pytest.raises(ValueError, match="scoring must ask for predictions of the rows"):
        model.predict(X[:3])


TARGET_SCORES = {
    None: lambda y, z, w: -mean_absolute_error(y, z, sample_weight=w),
    "neg_mean_absolute_error": lambda y, z, w: -mean_absolute_error(y, z, sample_weight=w),
    "neg_mean_squared_error": lambda y, z, w: -mean_squared_error(y, z, sample_weight=w),
    "neg_root_mean_squared_error": lambda y, z, w: (
        -np.sqrt(np.average((y - z) ** 2, axis=0, weights=w)).mean()
    ),
    "r2": lambda y, z, w: r2_score(y, z, sample_weight=w),
    "cumulative_score": lambda y, z, w: cumulative_score(y, z, sample_weight=w),
    make_scorer(mean_pinball_loss, alpha=0.9, greater_is_better=False): lambda y, z, w: (
        -mean_pinball_loss(y, z, sample_weight=w, alpha=0.9)
    ),
}


@pytest.mark.parametrize("scoring", TARGET_SCORES, ids=str)
@pytest.mark.parametrize("m", [None, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_regressors_are_scored_as_scikit_learn_would(scoring, m, weighted, rng):
    X, y = make_friedman1(60, random_state=0)
    T = y[:, np.newaxis] if m is None else np.column_stack([y, 5 * X[:, 1]])
    y = y if m is None else T
    weight = rng.uniform(0.2, 3, 60) if weighted else None
    folds = KFold(3, shuffle=True, random_state=0)
    settings = {**SETTINGS, "fitness": folds, "scoring": scoring}
    model = ECSELMRegressor(**settings).fit(X, y, sample_weight=weight)
    B = model.cost_vector_ if weight is None else weight * model.cost_vector_
    Z, places = out_of_fold(model.layer_(X), T, B, model.C_, folds.split(X))
    w = None if weight is None else weight[places]
    expected = TARGET_SCORES[scoring](y[places], Z[:, 0] if m is None else Z, w)
    assert_allclose(model.best_score_, expected, rtol=1e-7, atol=1e-9)


def test_flat_scores_of_targets_are_broken_by_the_squared_error(rng):
    T, Z = rng.standard_normal((40, 1)), rng.standard_normal((3, 40, 1))
    rows = ValidationRows(np.zeros((40, 1)), T[:, 0], T, None)
    bare, broken = (target_fitness("cumulative_score", rows, s)(Z) for s in (0.0, 0.5))
    squares = ((T - Z) ** 2).mean(axis=(1, 2))
    assert_allclose(broken, bare - 1e-3 * squares / T.var(), rtol=1e-12)
    for name in (None, "neg_mean_absolute_error", "neg_mean_squared_error"):
        first, second = (target_fitness(name, rows, s)(Z) for s in (0.0, 0.5))
        assert_array_equal(first, second)
