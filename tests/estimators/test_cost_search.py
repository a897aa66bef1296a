"""CostSearchCV against loops over its definition, and around every kind of classifier."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.class_weight import compute_sample_weight
from threadpoolctl import threadpool_limits

from ecselm import CostSearchCV
from ecselm.metrics import mean_cost
from ecselm.search import RandomSearch
from tests.estimators.plain import plain_search

FOLDS = StratifiedKFold(2)
TINY = {"population_size": 3, "max_epochs": 1, "random_state": 0, "fitness": FOLDS}
NAMES = ["logistic", "svc", "boosting", "forest", "pipeline", "lightgbm"]
LEVELS = ["class", "matrix", "sample", "decision"]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Small fits take no longer beside another process."""
    with threadpool_limits(1):
        yield


def estimator(name):
    if name == "lightgbm":
        lightgbm = pytest.importorskip("lightgbm")
        return lightgbm.LGBMClassifier(n_estimators=5, min_child_samples=5, verbose=-1, n_jobs=1)
    return {
        "logistic": LogisticRegression(),
        "svc": SVC(),
        "boosting": HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=5),
        "forest": RandomForestClassifier(3, random_state=0),
        "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
    }[name]


def weight_name(name):
    return "logisticregression__sample_weight" if name == "pipeline" else "sample_weight"


def made(k, n=100, seed=0):
    """Return rows of overlapping classes, the first of which has most."""
    rng = np.random.default_rng(seed)
    y = rng.choice(k, n, p=[0.6] + [0.4 / (k - 1)] * (k - 1))
    return rng.standard_normal((n, 4)) + rng.standard_normal((k, 4))[y], y


@pytest.fixture(params=[2, 3], ids=["two classes", "three classes"])
def data(request):
    return made(request.param)


def recording(asked):
    """Return a search that draws all its points, and keeps them in a list."""

    class Recorder(RandomSearch):
        def ask(self):
            points = super().ask()
            asked.extend(points)
            return points

    return Recorder


def out_of_fold(model, X, y, weights=None, name="sample_weight"):
    """Return the positions of validation rows, and all answers of models fitted without them."""
    positions, answers = [], {}
    for train, test in FOLDS.split(X, y):
        options = {} if weights is None else {name: weights[train]}
        fitted = clone(model).fit(X[train], y[train], **options)
        positions.append(test)
        for answer in ("predict", "predict_proba", "decision_function"):
            if hasattr(fitted, answer):
                answers.setdefault(answer, []).append(getattr(fitted, answer)(X[test]))
    return np.concatenate(positions), {
        answer: np.concatenate(parts) for answer, parts in answers.items()
    }


def literal_score(scoring, y, answers, w):
    """Score answers by the function of scikit-learn's, without any scorer."""
    predicted, P = answers["predict"], answers.get("predict_proba")
    if scoring == "roc_auc":
        order = answers["decision_function"] if P is None else P[:, 1]
        return roc_auc_score(y, order, sample_weight=w)
    return {
        "accuracy": lambda: accuracy_score(y, predicted, sample_weight=w),
        "balanced_accuracy": lambda: balanced_accuracy_score(y, predicted, sample_weight=w),
        "roc_auc_ovr": lambda: roc_auc_score(y, P, multi_class="ovr", sample_weight=w),
        "neg_log_loss": lambda: -log_loss(y, P, sample_weight=w),
    }[scoring]()


# The definition.


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("level", ["class", "matrix", "sample"])
def test_final_estimator_is_one_fitted_with_the_costs(name, level, rng):
    X, y = made(2 if level == "class" else 3)
    w = None if level == "class" else rng.uniform(0.5, 2, len(y))
    search = plain_search(estimator(name), cost_level=level, **TINY).fit(X, y, sample_weight=w)
    weights = search.cost_vector_ * (1.0 if w is None else w)
    twin = clone(search.estimator_).fit(X, y, **{weight_name(name): weights})
    answer = "predict_proba" if hasattr(twin, "predict_proba") else "decision_function"
    assert_array_equal(search.predict(X), twin.predict(X))
    assert_array_equal(getattr(search, answer)(X), getattr(twin, answer)(X))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("scoring", "k", "weighted"),
    [
        ("accuracy", 2, True),
        ("accuracy", 3, False),
        ("balanced_accuracy", 2, False),
        ("balanced_accuracy", 3, True),
        ("roc_auc", 2, True),
        ("roc_auc_ovr", 3, False),
        ("neg_log_loss", 2, False),
        ("neg_log_loss", 3, True),
    ],
)
def test_best_score_is_that_of_a_loop_over_the_candidates(name, scoring, k, weighted, rng):
    (X, y), model, asked = made(k), estimator(name), []
    if scoring in {"neg_log_loss", "roc_auc_ovr"} and name == "svc":
        pytest.skip("needs probabilities")
    w = rng.uniform(0.5, 2, len(y)) if weighted else np.ones(len(y))
    search = plain_search(
        model,
        cost_level="class",
        scoring=scoring,
        smoothing=0.0,
        cost_bounds=(0.1, 10),
        priors=(),
        optimizer=recording(asked),
        population_size=2,
        max_epochs=1,
        fitness=FOLDS,
        random_state=0,
    ).fit(X, y, sample_weight=w if weighted else None)
    literal = []
    for point in asked:
        B = np.exp(point)[y]
        B = B * w.sum() / (B @ w)  # a mean of 1
        validation, answers = out_of_fold(search.estimator_, X, y, B * w, weight_name(name))
        literal.append(literal_score(scoring, y[validation], answers, w[validation]))
    assert len(asked) == search.n_evaluations_ == 4
    if (name, scoring) == ("forest", "roc_auc_ovr"):  # rounding may part equal probabilities
        assert_allclose(search.best_score_, max(literal), atol=0.02)
        return
    assert_allclose(search.best_score_, max(literal), rtol=1e-9)
    assert_allclose(search.class_costs_, np.exp(asked[int(np.argmax(literal))]), rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "level"),
    [*((name, "class") for name in NAMES), ("logistic", "matrix"), ("logistic", "sample")],
)
def test_costs_of_one_are_the_plain_estimator(name, level):
    X, y = made(3)
    search = plain_search(estimator(name), cost_level=level, cost_bounds=(1, 1), **TINY).fit(X, y)
    # A forest draws its rows by weight, and draws others where there are no weights.
    options = {"sample_weight": np.ones(len(y))} if name == "forest" else {}
    plain = clone(search.estimator_).fit(X, y, **options)
    assert_array_equal(search.cost_vector_, 1.0)
    assert_array_equal(search.predict(X), plain.predict(X))
    assert search.best_score_ == search.prior_scores_["ones"]


@pytest.mark.parametrize("smoothing", [0.0, 0.5])
@pytest.mark.parametrize("level", LEVELS)
def test_result_is_never_worse_than_a_prior(level, smoothing):
    X, y = made(3)
    search = plain_search(
        LogisticRegression(), cost_level=level, scoring="gmean", smoothing=smoothing, **TINY
    ).fit(X, y)
    assert set(search.prior_scores_) == {"ones", "w1", "w2"}
    assert search.best_score_ >= max(search.prior_scores_.values())


def test_prior_scores_are_those_of_ready_made_weights(data):
    """What scikit-learn calls balanced is (9)."""
    X, y = data
    search = plain_search(
        LogisticRegression(), cost_level="class", scoring="balanced_accuracy", smoothing=0.0, **TINY
    ).fit(X, y)
    balanced = compute_sample_weight("balanced", y)
    for name, weights in (("ones", None), ("w1", balanced)):
        positions, answers = out_of_fold(LogisticRegression(), X, y, weights)
        expected = balanced_accuracy_score(y[positions], answers["predict"])
        assert_allclose(search.prior_scores_[name], expected, rtol=1e-12)


@pytest.mark.parametrize("form", ["matrix", "by row"])
def test_mean_cost_is_counted_out_of_fold(data, rng, form):
    X, y = data
    k = len(np.unique(y))
    M = rng.uniform(1, 9, (k, k)) * (1 - np.eye(k))
    by_row = rng.uniform(0.5, 2, len(y))[:, np.newaxis] * M[y]
    search = plain_search(
        LogisticRegression(),
        cost_level="class",
        scoring="mean_cost",
        smoothing=0.0,
        cost=M if form == "matrix" else None,
        **TINY,
    ).fit(X, y, sample_cost=None if form == "matrix" else by_row)
    positions, answers = out_of_fold(LogisticRegression(), X, y, search.cost_vector_)
    stated = {"cost": M} if form == "matrix" else {"sample_cost": by_row[positions]}
    expected = mean_cost(y[positions], answers["predict"], **stated)
    assert_allclose(search.best_score_, -expected, rtol=1e-12)
    assert set(search.prior_scores_) == {"ones", "w1", "w2", "cost"}


def test_costs_of_outcomes_are_costs_by_row(rng):
    X, y = made(2)
    amounts = rng.uniform(1, 9, len(y))
    search = plain_search(LogisticRegression(), scoring="mean_cost", **TINY)
    one = search.fit(X, y, fn_cost=amounts, fp_cost=2.0).best_score_
    cost = np.column_stack([np.where(y == 1, amounts, 0), np.where(y == 1, 0, 2.0)])
    assert search.fit(X, y, sample_cost=cost).best_score_ == one


# Decisions.


def test_deciding_leaves_the_estimator_alone(data):
    X, y = data
    search = plain_search(LogisticRegression(), cost_level="decision", **TINY).fit(X, y)
    plain = LogisticRegression().fit(X, y)
    assert_array_equal(search.estimator_.coef_, plain.coef_)
    assert_array_equal(search.predict_proba(X), plain.predict_proba(X))
    assert_array_equal(search.cost_vector_, 1.0)


@pytest.mark.parametrize("name", ["logistic", "boosting", "forest", "pipeline", "lightgbm"])
def test_decisions_are_of_least_expected_cost(data, name):
    X, y = data
    k = len(np.unique(y))
    search = plain_search(
        estimator(name), cost_level="decision", scoring="balanced_accuracy", **TINY
    ).fit(X, y)
    P, M = search.predict_proba(X), search.cost_matrix_
    assert M.shape == (k, k)
    assert_array_equal(np.diag(M), 0.0)
    assert_array_equal(search.predict(X), (P @ M).argmin(axis=1))
    scores = search.decision_function(X)
    if k == 2:
        assert_array_equal(search.predict(X), (scores > 0).astype(int))
    else:
        assert_allclose(scores, -(P @ M))


def test_estimator_is_fitted_once_per_fold_and_once_at_the_end():
    X, y = made(3)
    fits = []

    class Counted(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            fits.append(len(y))
            return super().fit(X, y, sample_weight)

    plain_search(Counted(), cost_level="decision", **TINY).fit(X, y)
    assert fits == [50, 50, 100]


def test_two_classes_have_a_threshold_as_good_as_scikit_learn_finds():
    X, y = made(2, n=300)
    search = plain_search(
        LogisticRegression(),
        cost_level="decision",
        scoring="balanced_accuracy",
        smoothing=0.0,
        population_size=50,
        fitness=FOLDS,
        random_state=0,
    ).fit(X, y)
    M = search.cost_matrix_
    threshold = M[0, 1] / (M[0, 1] + M[1, 0])
    seconds = search.predict_proba(X)[:, 1]
    assert_array_equal(search.predict(X), (seconds > threshold).astype(int))
    tuned = TunedThresholdClassifierCV(
        LogisticRegression(), scoring="balanced_accuracy", cv=FOLDS
    ).fit(X, y)
    positions, answers = out_of_fold(LogisticRegression(), X, y)
    left_out = answers["predict_proba"][:, 1]

    def score(threshold):
        return balanced_accuracy_score(y[positions], left_out > threshold)

    assert_allclose(score(threshold), search.best_score_, rtol=1e-12)
    assert search.best_score_ >= score(0.5)
    assert search.best_score_ >= score(tuned.best_threshold_) - 0.005


@pytest.mark.parametrize("seed", range(3))
def test_learned_decisions_are_no_worse_than_the_largest_probability(seed):
    rng = np.random.default_rng(seed)
    y = rng.choice(4, 300, p=[0.7, 0.2, 0.07, 0.03])
    X = rng.standard_normal((300, 3)) + rng.standard_normal((4, 3))[y]
    search = plain_search(
        GaussianNB(),
        cost_level="decision",
        scoring="balanced_accuracy",
        smoothing=0.0,
        fitness=FOLDS,
        random_state=seed,
    ).fit(X, y)
    positions, answers = out_of_fold(GaussianNB(), X, y)
    P = answers["predict_proba"]
    learned = balanced_accuracy_score(y[positions], (P @ search.cost_matrix_).argmin(axis=1))
    plain = balanced_accuracy_score(y[positions], P.argmax(axis=1))
    assert_allclose(search.best_score_, learned, rtol=1e-12)
    assert_allclose(search.prior_scores_["ones"], plain, rtol=1e-12)
    assert learned > plain  # such classes always leave something to gain


@pytest.mark.parametrize("level", ["matrix", "decision"])
def test_costs_of_confusions_obey_what_is_known(level):
    X, y = made(3)
    labels = np.array(["fire", "smoke", "steam"])
    search = plain_search(
        LogisticRegression(),
        cost_level=level,
        fixed_costs={("steam", "smoke"): 1.0},
        cost_intervals={("smoke", "steam"): (2.0, 5.0)},
        cost_order=[(("fire", "steam"), ("fire", "smoke")), (("fire", "smoke"), ("smoke", "fire"))],
        **TINY,
    ).fit(X, labels[y])
    M = pd.DataFrame(search.cost_matrix_, labels, labels)
    assert M.loc["steam", "smoke"] == 1.0
    assert 2.0 <= M.loc["smoke", "steam"] <= 5.0
    assert M.loc["fire", "steam"] >= 1.01 * M.loc["fire", "smoke"] * (1 - 1e-12)
    assert M.loc["fire", "smoke"] >= 1.01 * M.loc["smoke", "fire"] * (1 - 1e-12)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_costs_of_decisions_obey_what_is_known_of_classes(k):
    """A class stands for all mistakes on it."""
    X, y = made(k, n=200)
    search = plain_search(
        LogisticRegression(),
        fixed_costs={0: 1.5},
        cost_intervals={1: (3.0, 7.0)},
        cost_order=[] if k == 2 else [(2, 1)],
        **TINY,
    ).fit(X, y)
    mistakes = search.cost_matrix_[~np.eye(k, dtype=bool)].reshape(k, k - 1)
    assert_array_equal(mistakes[0], 1.5)
    assert (mistakes[1] >= 3.0 * (1 - 1e-12)).all()
    assert (mistakes[1] <= 7.0 * (1 + 1e-12)).all()
    if k > 2:
        assert mistakes[2].min() >= 1.01 * mistakes[1].max() * (1 - 1e-12)
    assert_array_equal(search.cost_vector_, 1.0)


def test_stated_costs_must_not_contradict_what_is_known_of_decisions(data):
    search = plain_search(
        Untouched(), cost={(0, 1): 9.0}, cost_intervals={(0, 1): (1.0, 2.0)}, cost_bounds=(1, 9)
    )
    with pytest.raises(ValueError, match="cost must not contradict"):
        search.fit(*data)


@pytest.mark.parametrize("form", ["matrix", "by row"])
@pytest.mark.parametrize("weighted", [False, True])
def test_mean_cost_of_decisions_is_counted_out_of_fold(data, rng, form, weighted):
    X, y = data
    k = len(np.unique(y))
    w = rng.uniform(0.5, 2, len(y)) if weighted else None
    M = rng.uniform(1, 9, (k, k)) * (1 - np.eye(k))
    by_row = rng.uniform(0.5, 2, len(y))[:, np.newaxis] * M[y]
    search = plain_search(
        LogisticRegression(), smoothing=0.0, cost=M if form == "matrix" else None, **TINY
    ).fit(X, y, sample_weight=w, sample_cost=None if form == "matrix" else by_row)
    positions, answers = out_of_fold(LogisticRegression(), X, y, w)
    stated = M[y] if form == "matrix" else by_row
    weights = None if w is None else w[positions]
    costs = {"ones": 1 - np.eye(k), "found": search.cost_matrix_}
    scores = {
        name: -mean_cost(
            y[positions],
            (answers["predict_proba"] @ matrix).argmin(axis=1),
            sample_cost=stated[positions],
            sample_weight=weights,
        )
        for name, matrix in costs.items()
    }
    assert_allclose(search.best_score_, scores["found"], rtol=1e-12)
    assert_allclose(search.prior_scores_["ones"], scores["ones"], rtol=1e-12)
    assert search.best_score_ >= search.prior_scores_["cost"]


def test_prior_of_decisions_is_the_stated_costs(data):
    """Where nothing is gained by others, decisions are by the costs as stated."""
    X, y = data
    k = len(np.unique(y))
    M = np.arange(1.0, k * k + 1).reshape(k, k) * (1 - np.eye(k))
    search = CostSearchCV(LogisticRegression(), cost=M, keep_prior="always", **TINY).fit(X, y)
    ratios = search.cost_matrix_[M > 0] / M[M > 0]
    assert_allclose(ratios, ratios[0], rtol=1e-12)
    assert_array_equal(search.predict(X), (search.predict_proba(X) @ M).argmin(axis=1))


def test_groups_are_not_divided_where_costs_decide(rng):
    X, y = made(3)
    groups, seen = rng.integers(0, 20, len(y)), []

    class Watched(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            seen.append({row.tobytes() for row in X})
            return super().fit(X, y, sample_weight)

    plain_search(Watched(), **{**TINY, "fitness": 2}).fit(X, y, groups=groups)
    first, second, _ = seen
    sides = np.array([[row.tobytes() in part for part in (first, second)] for row in X])
    assert all(len(np.unique(sides[groups == g], axis=0)) == 1 for g in np.unique(groups))


@pytest.mark.parametrize(
    ("stated", "scoring"),
    [
        ({}, "balanced_accuracy"),
        ({"cost_order": [(1, 0)]}, "balanced_accuracy"),
        ({"fixed_costs": {0: 1.0}}, "balanced_accuracy"),
        ({"cost": {1: 4.0}}, "mean_cost"),
        ({"fn_cost": 4.0}, "mean_cost"),
    ],
    ids=str,
)
@pytest.mark.parametrize("level", ["decision", "class"])
def test_default_metric_depends_on_whether_costs_are_stated(level, stated, scoring):
    X, y = made(2)
    by_row = {name: value for name, value in stated.items() if name == "fn_cost"}
    settings = {name: value for name, value in stated.items() if name not in by_row}
    one, other = (
        plain_search(
            LogisticRegression(), cost_level=level, scoring=metric, **settings, **TINY
        ).fit(X, y, **by_row)
        for metric in (None, scoring)
    )
    assert one.best_score_ == other.best_score_
    assert_array_equal(one.cost_matrix_, other.cost_matrix_)


def test_costs_of_classes_obey_what_is_known():
    X, y = made(3)
    search = plain_search(
        LogisticRegression(),
        cost_level="class",
        fixed_costs={0: 1.0},
        cost_intervals={1: (3.0, 7.0)},
        cost_order=[(2, 1)],
        **TINY,
    ).fit(X, y)
    assert search.class_costs_[0] == 1.0
    assert 3.0 <= search.class_costs_[1] <= 7.0
    assert search.class_costs_[2] >= 1.01 * search.class_costs_[1] * (1 - 1e-12)
    shares = search.cost_vector_ / search.class_costs_[y]
    assert_allclose(shares, shares[0], rtol=1e-12)  # weights differ from costs by a unit
    assert_allclose(search.cost_vector_.mean(), 1.0, rtol=1e-12)


# Invariances.


@pytest.mark.parametrize(
    ("name", "level"), [("pipeline", "class"), *(("forest", level) for level in LEVELS)]
)
def test_same_seed_same_result(name, level):
    X, y = made(3)
    model = estimator(name)
    if name == "forest":
        model.set_params(random_state=None)
    one, other = (plain_search(model, cost_level=level, **TINY).fit(X, y) for _ in range(2))
    assert one.best_score_ == other.best_score_
    assert_array_equal(one.cost_vector_, other.cost_vector_)
    assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    assert one.history_.equals(other.history_)


def test_open_random_states_are_seeded_the_same_for_every_candidate():
    X, y = made(2)
    forest = make_pipeline(StandardScaler(), RandomForestClassifier(3))
    search = plain_search(forest, cost_bounds=(1, 1), smoothing=0.0, **TINY).fit(X, y)
    assert isinstance(search.estimator_[-1].random_state, int)
    assert forest[-1].random_state is None
    assert search.history_["std"].max() == 0.0  # equal candidates have equal scores
    other = plain_search(forest, **{**TINY, "random_state": 1}).fit(X, y)
    assert other.estimator_[-1].random_state != search.estimator_[-1].random_state


def test_seed_of_the_estimator_is_kept():
    X, y = made(2)
    search = plain_search(RandomForestClassifier(3, random_state=7), **TINY).fit(X, y)
    assert search.estimator_.random_state == 7


def test_result_does_not_depend_on_the_number_of_jobs():
    """Settings of scikit-learn's reach the processes, too."""
    frame, y = pd.DataFrame(made(3)[0], columns=list("abcd")), made(3)[1]
    asks = LogisticRegression().set_fit_request
    with sklearn.config_context(enable_metadata_routing=True, transform_output="pandas"):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        columns = make_column_transformer(
            (scaler, ["standardscaler__a", "standardscaler__b"]),  # names that pandas alone has
        )
        first = make_column_transformer((clone(scaler), list("abcd")))
        model = make_pipeline(first, make_pipeline(columns, asks(sample_weight=True)))
        for level in ("class", "decision"):
            one, other = (
                plain_search(model, cost_level=level, n_jobs=n_jobs, **TINY).fit(frame, y)
                for n_jobs in (None, 2)
            )
            assert one.best_score_ == other.best_score_
            assert_array_equal(one.cost_vector_, other.cost_vector_)
            assert_array_equal(one.cost_matrix_, other.cost_matrix_)
            assert_array_equal(one.predict_proba(frame), other.predict_proba(frame))


def test_weight_two_is_the_row_twice(data):
    """Equal rows share a fold: 1e-4, because scikit-learn solves by steps."""
    X, y = data
    twice = np.arange(len(y)) % 3 == 0
    settings = {**TINY, "fitness": 2}
    weighted = plain_search(LogisticRegression(tol=1e-10, max_iter=1000), **settings).fit(
        X, y, sample_weight=1.0 + twice
    )
    repeated = plain_search(LogisticRegression(tol=1e-10, max_iter=1000), **settings).fit(
        np.vstack([X, X[twice]]), np.append(y, y[twice])
    )
    assert_allclose(weighted.best_score_, repeated.best_score_, rtol=1e-6)
    assert_allclose(weighted.class_costs_, repeated.class_costs_, rtol=1e-4)
    assert_allclose(weighted.estimator_.coef_, repeated.estimator_.coef_, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("level", LEVELS)
def test_row_of_weight_zero_is_no_row(level):
    X, y = made(3)
    w = np.ones(len(y))
    w[::5] = 0.0
    settings = {**TINY, "cost_level": level}
    zero = plain_search(LogisticRegression(), **settings).fit(X, y, sample_weight=w)
    less = plain_search(LogisticRegression(), **settings).fit(
        X[w > 0], y[w > 0], sample_weight=w[w > 0]
    )
    assert zero.cost_vector_.shape == y.shape
    assert_array_equal(zero.cost_vector_[w > 0], less.cost_vector_)
    assert_array_equal(zero.estimator_.coef_, less.estimator_.coef_)


@pytest.mark.parametrize("level", LEVELS)
def test_names_of_classes_do_not_matter(level):
    X, y = made(3)
    words = np.array(["alarm", "calm", "storm"])[y]
    one, other = (
        plain_search(LogisticRegression(), cost_level=level, **TINY).fit(X, labels)
        for labels in (y, words)
    )
    assert_array_equal(one.cost_vector_, other.cost_vector_)
    assert_array_equal(other.classes_[one.predict(X)], other.predict(X))


def test_arguments_are_left_as_they_were(data):
    X, y = data
    before = X.copy(), y.copy()
    model = LogisticRegression()
    plain_search(model, **TINY).fit(X, y)
    assert_array_equal(X, before[0])
    assert_array_equal(y, before[1])
    assert not hasattr(model, "coef_")


# Every kind of input.


def mixed_frame(n=90):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "dose": rng.standard_normal(n),
            "site": rng.choice(["Bern", "Oslo", "Rome"], n),
            "grade": pd.Categorical(rng.choice(["low", "high"], n)),
            "count": rng.integers(0, 5, n),
        }
    )
    y = np.where((frame["dose"] > 0) ^ (frame["site"] == "Oslo"), "yes", "no")
    return frame, y


@pytest.mark.parametrize("level", LEVELS)
def test_frame_of_words_and_numbers(level):
    frame, y = mixed_frame()
    model = make_pipeline(
        make_column_transformer(
            (StandardScaler(), ["dose", "count"]),
            (OneHotEncoder(handle_unknown="ignore"), ["site", "grade"]),
        ),
        LogisticRegression(),
    )
    search = plain_search(model, cost_level=level, **TINY).fit(frame, y)
    assert search.n_features_in_ == 4
    assert_array_equal(search.feature_names_in_, frame.columns)
    assert set(search.predict(frame)) == {"yes", "no"}
    assert search.score(frame, y) > 0.6
    with pytest.raises(ValueError, match="columns are missing"):
        search.predict(frame.drop(columns="site"))


@pytest.mark.parametrize("fitness", [2, "holdout"])
@pytest.mark.parametrize(
    "make",
    [
        lambda frame: frame[["site", "grade"]],
        lambda frame: frame[["site", "grade"]].astype("category"),
        lambda frame: frame[["site", "grade"]].to_numpy(dtype=object),
        lambda frame: frame[["site", "grade"]].to_numpy(dtype=str),
        lambda frame: pd.DataFrame({"day": pd.to_datetime(frame["count"], unit="D")}),
        lambda frame: pd.DataFrame({"n": frame["count"].astype("Int64").mask(frame["count"] > 3)}),
    ],
    ids=["frame of words", "categories", "objects", "text array", "dates", "nullable"],
)
def test_inputs_that_are_no_numbers(fitness, make):
    frame, y = mixed_frame()
    X = make(frame)
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
    search = plain_search(model, **{**TINY, "fitness": fitness}).fit(X, y)
    assert search.predict(X).shape == y.shape


def test_texts():
    y = np.arange(40) % 2
    texts = [f"good morning {i}" if label else f"bad evening {i}" for i, label in enumerate(y)]
    model = make_pipeline(TfidfVectorizer(), LogisticRegression())
    search = plain_search(model, **{**TINY, "fitness": 2}).fit(texts, y)
    assert_array_equal(search.predict(["good evening morning", "bad evening"]), [1, 0])
    assert not hasattr(search, "n_features_in_")


def test_polars_frame():
    polars = pytest.importorskip("polars")
    X, y = made(2)
    frame = polars.DataFrame(X, schema=list("abcd"))
    search = plain_search(LogisticRegression(), **{**TINY, "fitness": 2}).fit(frame, y)
    dense = plain_search(LogisticRegression(), **{**TINY, "fitness": 2}).fit(X, y)
    assert search.best_score_ == dense.best_score_
    assert list(search.feature_names_in_) == list("abcd")


@pytest.mark.parametrize(
    ("form", "level"),
    [
        (sparse.csr_array, "class"),
        (sparse.csc_matrix, "decision"),
        (sparse.coo_array, "sample"),
    ],
)
def test_sparse_rows(form, level):
    X, y = made(3)
    X = np.where(np.abs(X) > 1, X, 0.0)
    settings = {**TINY, "cost_level": level, "fitness": 2}
    one = plain_search(LogisticRegression(), **settings).fit(form(X), y)
    other = plain_search(LogisticRegression(), **settings).fit(X, y)
    assert_allclose(one.class_costs_, other.class_costs_, rtol=1e-9)
    assert_array_equal(one.predict(form(X)), other.predict(X))
    assert one.n_features_in_ == 4


@pytest.mark.parametrize(
    ("name", "level"),
    [
        *((name, "class") for name in NAMES),
        ("logistic", "matrix"),
        ("logistic", "sample"),
        ("logistic", "decision"),
        ("forest", "decision"),
        ("boosting", "decision"),
    ],
)
def test_class_missing_from_a_training_fold(name, level):
    X, y = made(3)
    y = np.where(np.arange(len(y)) == 5, 3, y)  # one row of a class of its own
    search = plain_search(
        estimator(name), cost_level=level, scoring="gmean", **{**TINY, "fitness": 2}
    ).fit(X, y)
    assert_array_equal(search.classes_, [0, 1, 2, 3])
    assert search.class_costs_.shape == (4,)
    assert np.isfinite(search.best_score_)


def test_missing_values_are_left_to_the_estimator():
    X, y = made(2)
    X[::7, 1] = np.nan
    search = plain_search(estimator("boosting"), **TINY).fit(X, y)
    assert search.predict(X).shape == y.shape
    with pytest.raises(ValueError, match="contains NaN"):
        plain_search(LogisticRegression(), **TINY).fit(X, y)


# Refusals.


class Untouched(LogisticRegression):
    """A classifier that may not be fitted."""

    def fit(self, X, y, sample_weight=None):
        raise AssertionError("an estimator was fitted")


class WithoutWeights(KNeighborsClassifier):
    """A classifier without weights that may not be fitted."""

    def fit(self, X, y):
        raise AssertionError("an estimator was fitted")


@pytest.mark.parametrize("level", ["class", "matrix", "sample"])
@pytest.mark.parametrize("piped", [False, True])
def test_estimator_without_weights_is_refused_before_any_work(data, level, piped):
    model = make_pipeline(WithoutWeights()) if piped else WithoutWeights()
    search = plain_search(model, cost_level=level, **TINY)
    with pytest.raises(ValueError, match=r"must take sample_weight in fit.*WithoutWeights\(\)"):
        search.fit(*data)
    assert not hasattr(search, "classes_")


def test_estimator_without_weights_may_decide(data):
    X, y = data
    search = plain_search(KNeighborsClassifier(), cost_level="decision", **TINY)
    assert search.fit(X, y).predict(X).shape == y.shape
    with pytest.raises(ValueError, match=r"must take sample_weight in fit.* without weights it"):
        search.fit(X, y, sample_weight=np.ones(len(y)))


def test_estimator_without_probabilities_may_decide_behind_a_calibration(data):
    X, y = data
    search = plain_search(CalibratedClassifierCV(LinearSVC(), cv=2), **TINY).fit(X, y)
    assert_array_equal(search.predict(X), (search.predict_proba(X) @ search.cost_matrix_).argmin(1))


def test_scorer_of_probabilities_is_refused_where_costs_decide(data):
    with pytest.raises(ValueError, match=r"got 'neg_log_loss': it asks for probabilities"):
        plain_search(LogisticRegression(), scoring="neg_log_loss", **TINY).fit(*data)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"estimator": SVC()}, "must have predict_proba .*SVC.*: wrap it in .*Calibrated"),
        ({"estimator": LinearRegression()}, "estimator must be a classifier, got LinearReg"),
        ({"estimator": 3}, "'estimator' parameter of CostSearchCV"),
        ({"cost_level": "row"}, "'cost_level' parameter of CostSearchCV"),
        ({"fitness": "loo"}, "fitness must not be 'loo' around an estimator"),
        ({"fitness": 1}, "'fitness' parameter of CostSearchCV"),
        ({"cost_bounds": (0.0, 1.0), "normalize": False}, "cost_bounds must be > 0 with"),
        (
            {"cost_level": "class", "cost_bounds": (-1.0, 1.0), "normalize": False},
            "cost_bounds must be >= 0",
        ),
        ({"cost_bounds": (2.0, 1.0)}, "cost_bounds must be a pair"),
        ({"cost_bounds": ("low", "high")}, "cost_bounds must"),
        ({"priors": ("w3",)}, "priors must be among .* got 'w3'"),
        ({"scoring": "goodness"}, "goodness"),
        ({"fixed_costs": {7: 1.0}}, "fixed_costs"),
        ({"cost_order": [(0, 1), (1, 0)]}, "cost_order must not run in a circle"),
    ],
    ids=str,
)
def test_settings_are_refused_before_any_work(data, changes, message):
    search = plain_search(**{"estimator": Untouched(), **TINY, **changes})
    before = dict(search.__dict__)
    with pytest.raises((ValueError, TypeError), match=message):
        search.fit(*data)
    assert search.__dict__ == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (X, None), "requires y to be passed"),
        (lambda X, y: (X, y[:-1]), "inconsistent numbers of samples"),
        (lambda X, y: (X, np.zeros(len(y))), "at least two classes, got one"),
        (lambda X, y: (X, X[:, 0]), "Unknown label type"),
        (lambda X, y: (X, y, -np.ones(len(y))), "sample_weight must be >= 0"),
        (lambda X, y: (X, y, (y == 0).astype(float)), "two classes among the rows of positive"),
        (lambda X, y: (X, y, None, np.ones(3)), "sample_cost"),
    ],
)
def test_rows_are_refused_before_any_work(data, change, message):
    with pytest.raises(ValueError, match=message):
        plain_search(Untouched(), **TINY).fit(*change(*data))


def test_failure_leaves_the_model_as_it_was(data):
    X, y = data
    search = plain_search(LogisticRegression(), **TINY).fit(X, y)
    before = dict(search.__dict__)
    with pytest.raises(ValueError, match="contains NaN"):
        search.fit(np.where(X > 2, np.nan, X), np.where(y == 0, "a", "b"))
    assert search.__dict__ == before


# An estimator among others.


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("k", [2, 3])
def test_attributes_are_there(k, level):
    X, y = made(k)
    search = plain_search(LogisticRegression(), cost_level=level, **TINY)
    for name in ("history_", "n_evaluations_"):
        with pytest.raises(NotFittedError):
            getattr(search, name)
    search.fit(X, y)
    assert isinstance(search.estimator_, LogisticRegression)
    assert_array_equal(search.classes_, np.arange(k))
    assert search.cost_vector_.shape == y.shape
    assert search.class_costs_.shape == (k,)
    assert search.cost_matrix_.shape == (k, k)
    assert (search.cost_matrix_[~np.eye(k, dtype=bool)] > 0).all()
    assert list(search.history_) == ["generation", "evaluations", "best", "mean", "std"]
    assert len(search.history_) == 2
    assert isinstance(search.best_score_, float)
    assert search.n_evaluations_ == 6
    assert search.n_features_in_ == 4
    means = search.cost_matrix_.sum(axis=1) / (k - 1)
    assert_allclose(search.class_costs_, means, rtol=1e-12)


@pytest.mark.parametrize("level", ["class", "decision"])
@pytest.mark.parametrize(
    ("name", "proba", "function"),
    [("logistic", True, True), ("svc", False, True), ("forest", True, False)],
)
def test_what_the_estimator_answers_is_offered(level, name, proba, function):
    X, y = made(2)
    search = plain_search(estimator(name), cost_level=level, **TINY)
    function = function or level == "decision"
    assert hasattr(search, "predict_proba") == proba
    assert hasattr(search, "decision_function") == function
    if level == "decision" and not proba:
        return
    search.fit(X, y)
    assert hasattr(search, "predict_proba") == proba
    assert hasattr(search, "decision_function") == function


def test_parameters_reach_the_estimator(data):
    X, y = data
    search = plain_search(LogisticRegression(), **TINY)
    copy = clone(search).set_params(estimator__C=0.01)
    assert search.get_params()["estimator__C"] == 1.0
    assert copy.estimator.C == 0.01
    assert copy.fit(X, y).estimator_.C == 0.01
    assert "CostSearchCV" in repr(search)


@pytest.mark.parametrize("level", LEVELS)
def test_pickled_model_answers_the_same(level):
    X, y = made(3)
    search = plain_search(LogisticRegression(), cost_level=level, **TINY).fit(X, y)
    again = pickle.loads(pickle.dumps(search))
    assert_array_equal(again.predict(X), search.predict(X))
    assert_array_equal(again.cost_matrix_, search.cost_matrix_)
    assert again.history_.equals(search.history_)


@pytest.mark.parametrize("level", LEVELS)
def test_warm_start_is_never_worse_than_the_fit_before(level):
    X, y = made(3)
    search = plain_search(LogisticRegression(), cost_level=level, warm_start=True, **TINY).fit(X, y)
    scores = [search.best_score_]
    for _ in range(2):
        search.set_params(priors=()).fit(X, y)
        assert set(search.prior_scores_) == {"previous"}
        scores.append(search.best_score_)
    assert_allclose(scores, np.maximum.accumulate(scores), rtol=1e-9)


@pytest.mark.parametrize("level", ["class", "decision"])
def test_labels_of_chance_are_predicted_by_chance(level, rng):
    """Three standard errors of an accuracy by guess on 1000 rows are 0.047."""
    X, y = rng.standard_normal((1150, 4)), rng.integers(0, 2, 1150)
    search = plain_search(
        GaussianNB(), cost_level=level, scoring="balanced_accuracy", **{**TINY, "max_epochs": 9}
    ).fit(X[:150], y[:150])
    assert abs(balanced_accuracy_score(y[150:], search.predict(X[150:])) - 0.5) < 0.047


def test_rare_classes_are_found_more_often_than_without_costs():
    X, y = made(3, n=600, seed=2)
    train, test = slice(0, 300), slice(300, 600)
    search = plain_search(
        LogisticRegression(), scoring="balanced_accuracy", **{**TINY, "max_epochs": 4}
    ).fit(X[train], y[train])
    plain = LogisticRegression().fit(X[train], y[train])
    learned, given = (
        balanced_accuracy_score(y[test], model.predict(X[test])) for model in (search, plain)
    )
    assert learned > given


# Routing.


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def example_costs(rng, y):
    cost = rng.uniform(0.5, 5, (len(y), len(np.unique(y))))
    cost[np.arange(len(y)), y] = 0.0
    return cost


@pytest.mark.usefixtures("routing")
def test_pipeline_passes_weights_and_costs(data, rng):
    X, y = data
    w, cost = rng.uniform(0.5, 2, len(y)), example_costs(rng, y)
    search = plain_search(LogisticRegression(), scoring="mean_cost", **TINY)
    asks = clone(search).set_fit_request(sample_weight=True, sample_cost=True)
    scaler = StandardScaler().set_fit_request(sample_weight=False)
    piped = make_pipeline(scaler, asks).fit(X, y, sample_weight=w, sample_cost=cost)
    alone = search.fit(piped[0].transform(X), y, sample_weight=w, sample_cost=cost)
    assert_array_equal(piped[-1].cost_vector_, alone.cost_vector_)
    assert_array_equal(piped[-1].estimator_.coef_, alone.estimator_.coef_)


@pytest.mark.usefixtures("routing")
def test_weights_reach_whoever_asks_for_them_inside(data):
    X, y = data
    scaler = StandardScaler().set_fit_request(sample_weight=True)
    inner = make_pipeline(scaler, LogisticRegression().set_fit_request(sample_weight=True))
    search = plain_search(inner, cost_level="class", **TINY).fit(X, y)
    twin = clone(inner).fit(X, y, sample_weight=search.cost_vector_)
    assert_array_equal(search.predict_proba(X), twin.predict_proba(X))
    assert_allclose(search.estimator_[0].mean_, np.average(X, axis=0, weights=search.cost_vector_))


@pytest.mark.usefixtures("routing")
def test_grid_search_cuts_weights_and_costs_with_the_rows(rng):
    X, y = made(2)
    w, cost = rng.uniform(0.5, 2, len(y)), example_costs(rng, y)
    search = plain_search(LogisticRegression(), scoring="mean_cost", **TINY)
    search.set_fit_request(sample_weight=True, sample_cost=True)
    search.set_score_request(sample_weight=False)
    cv = StratifiedKFold(2)
    grid = GridSearchCV(search, {"estimator__C": [0.01, 1.0]}, cv=cv, error_score="raise")
    grid.fit(X, y, sample_weight=w, sample_cost=cost)
    by_hand = [
        clone(search)
        .set_params(estimator__C=0.01)
        .fit(X[train], y[train], sample_weight=w[train], sample_cost=cost[train])
        .score(X[test], y[test])
        for train, test in cv.split(X, y)
    ]
    assert_allclose(grid.cv_results_["mean_test_score"][0], np.mean(by_hand))


@pytest.mark.usefixtures("routing")
def test_cross_validation_passes_costs(data, rng):
    X, y = data
    search = plain_search(GaussianNB(), cost_level="decision", scoring="mean_cost", **TINY)
    search.set_fit_request(sample_cost=True)
    given = {"sample_cost": example_costs(rng, y)}
    scores = cross_validate(search, X, y, cv=2, params=given, error_score="raise")
    assert len(scores["test_score"]) == 2


def test_grid_search_without_routing_compares_levels(data):
    X, y = data
    grid = GridSearchCV(
        plain_search(GaussianNB(), **TINY), {"cost_level": ["class", "decision"]}, cv=2
    ).fit(X, y)
    assert grid.best_score_ > 0.5
