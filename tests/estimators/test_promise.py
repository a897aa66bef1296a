"""Promises of estimators: held-out rows, decisions that keep them, and how often they break."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import binomtest, norm
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ecselm import CostDecisionClassifier, ECSELMClassifier
from ecselm.costs import PromiseError, min_cost_decision
from ecselm.costs.promise import check_promise
from ecselm.estimators._promise import rows_needed
from ecselm.saving import load_model, save_model

BUDGET = {"population_size": 4, "max_epochs": 1, "random_state": 0}
SHIFT = 1.5  # scores of class 1 are N(SHIFT, 1), those of class 0 N(0, 1)


class Posterior(ClassifierMixin, BaseEstimator):
    """Fitted already: the probability of a score from one of two normal laws."""

    classes_ = np.array([0, 1])

    def __init__(self, slope=1.0):
        self.slope = slope

    def fit(self, X, y):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def predict_proba(self, X):
        z = self.slope * (SHIFT * np.asarray(X)[:, 0] - SHIFT**2 / 2)
        p = 1 / (1 + np.exp(-z))
        return np.column_stack([1 - p, p])

    def predict(self, X):
        return self.predict_proba(X).argmax(axis=1)


def true_rates(model, slope=1.0):
    """Return the recall of class 1 and the rate of false alarms on new rows, exactly."""
    t = model.thresholds_[0]  # on the scale of the estimator
    cut = (np.log(t / (1 - t)) / slope + SHIFT**2 / 2) / SHIFT
    return norm.sf(cut, SHIFT), norm.sf(cut)


def scores_of(n_zeros, n_ones, rng):
    y = np.repeat([0, 1], [n_zeros, n_ones])
    return rng.standard_normal((len(y), 1)) + SHIFT * y[:, np.newaxis], y


def is_rare(broken, fits, level=0.1):
    return binomtest(broken, fits, level, alternative="greater").pvalue > 1e-3


@pytest.fixture(scope="module")
def tumours():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), np.array(["malignant", "benign"])[y]


@pytest.fixture(scope="module")
def three():
    return make_classification(
        3000, 8, n_classes=3, n_informative=5, flip_y=0.02, class_sep=1.5, random_state=1
    )


def test_the_chosen_costs_decide_everywhere(tumours):
    X, y = tumours
    model = CostDecisionClassifier(LogisticRegression(), promise={"malignant": 0.95}).fit(X, y)
    (kept,) = model.promise_
    t = kept["threshold"]
    assert (kept["truth"], kept["predicted"], kept["asked"]) == ("malignant", None, 0.95)
    assert kept["n_cases"] == 77  # for a test with one failure
    assert kept["bound"] >= 0.95
    assert t < 0.5
    M = model.cost_matrix_
    assert_allclose(M[0, 1] / (M[0, 1] + M[1, 0]), t)
    assert_allclose(model.thresholds_, [t])
    P = model.predict_proba(X)
    assert_array_equal(model.predict(X) == "malignant", P[:, 1] > t)
    assert_array_equal(model.predict(X), model.classes_[min_cost_decision(P, M)])
    assert_array_equal(model.decision_function(X) > 0, P[:, 1] > t)


def test_rows_that_test_are_not_fitted(tumours):
    X, y = tumours

    class Counting(LogisticRegression):
        seen = 0

        def fit(self, X, y, sample_weight=None):
            Counting.seen = max(Counting.seen, len(y))
            return super().fit(X, y, sample_weight)

    model = CostDecisionClassifier(Counting(), promise={"malignant": 0.95}, calibration=None)
    model.fit(X, y)
    held = sum(int(np.ceil(77 / 212 * n - 1e-9)) for n in (212, 357))
    assert Counting.seen == len(y) - held


def test_stated_costs_stay_where_they_keep_the_promise(tumours):
    X, y = tumours
    cost = {("malignant", "benign"): 50.0}
    plain = CostDecisionClassifier(LogisticRegression(), cost=cost).fit(X, y)
    model = CostDecisionClassifier(LogisticRegression(), cost=cost, promise={"malignant": 0.8})
    model.fit(X, y)
    assert_array_equal(model.cost_matrix_, plain.cost_matrix_)


def test_labels_may_be_words_or_numbers(tumours):
    X, y = tumours
    words = CostDecisionClassifier(GaussianNB(), promise={"malignant": 0.9}).fit(X, y)
    numbers = CostDecisionClassifier(GaussianNB(), promise={1: 0.9})
    numbers.fit(X, (y == "malignant").astype(int))
    assert_array_equal(words.cost_matrix_, numbers.cost_matrix_)
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    framed = clone(words).fit(frame, pd.Series(y))
    assert_array_equal(words.cost_matrix_, framed.cost_matrix_)
    assert list(framed.feature_names_in_) == list(frame.columns)


@pytest.mark.parametrize(
    "promise", [{0: 0.95}, {(0, 1): 0.02}, {0: 0.8, 1: 0.8}, {0: 0.8, (1, 0): 0.2}]
)
def test_several_classes_keep_promises(three, promise):
    X, y = three
    model = CostDecisionClassifier(GaussianNB(), promise=promise).fit(X, y)
    P = model.predict_proba(X)
    assert_array_equal(model.predict(X), min_cost_decision(P, model.cost_matrix_))
    assert all("factor" in one for one in model.promise_)
    assert len(model.promise_) == len(promise)
    again = clone(model).fit(X, y)
    assert again.promise_ == model.promise_


@pytest.mark.parametrize("asking", [{"reject_cost": 0.2}, {"reject_capacity": 0.05}])
def test_asking_a_person_goes_with_a_promise(tumours, asking):
    X, y = tumours
    model = CostDecisionClassifier(LogisticRegression(), promise={"malignant": 0.9}, **asking)
    model.fit(X, y)
    predicted = model.predict(X)
    assert (predicted == "reject").any()
    assert np.mean(predicted[y == "malignant"] == "malignant") > 0.9
    assert model.promise_[0]["bound"] >= 0.9


def test_costs_by_row_and_weights_are_split_with_the_rows(tumours):
    X, y = tumours
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 3, len(y)).astype(float)
    model = CostDecisionClassifier(LogisticRegression(), promise={"malignant": 0.9})
    model.fit(X, y, sample_weight=weight, fn_cost=rng.random(len(y)), fp_cost=1.0)
    used = (weight > 0) & (y == "malignant")
    assert model.promise_[0]["n_cases"] <= used.sum() / 2
    with pytest.raises(ValueError, match="must have one entry per row, 569"):
        model.fit(X, y, fn_cost=np.ones(5))


def test_an_ensemble_keeps_its_promise(tumours, tmp_path):
    X, y = tumours
    model = ECSELMClassifier(promise={"malignant": 0.95}, **BUDGET).fit(X, y)
    (kept,) = model.promise_
    M = model._decision_costs_
    assert model.cost_matrix_ is M
    assert_allclose(M[0, 1] / M.sum(), kept["threshold"])
    assert_array_equal(
        model.predict(X) == "malignant", model.predict_proba(X)[:, 1] > kept["threshold"]
    )
    plain = clone(model).set_params(promise=None).fit(X, y)
    assert not hasattr(plain, "promise_")
    assert not hasattr(model.set_params(promise=None).fit(X, y), "promise_")


def test_one_layer_must_decide_by_costs(tumours):
    X, y = tumours
    model = ECSELMClassifier(ensemble=None, promise={"malignant": 0.9}, **BUDGET)
    with pytest.raises(ValueError, match="promise must be None unless costs decide"):
        model.fit(X, y)
    model.set_params(decision="min_cost", cost_level="matrix").fit(X, y)
    assert model.promise_[0]["bound"] >= 0.9
    with pytest.raises(ValueError, match="groups must be None with a promise"):
        model.fit(X, y, groups=np.arange(len(y)) // 2)


@pytest.mark.parametrize(
    "model",
    [
        CostDecisionClassifier(GaussianNB(), promise={"malignant": 0.9}),
        CostDecisionClassifier(
            GaussianNB(), promise={"malignant": 0.85, ("benign", "malignant"): 0.15}
        ),
        ECSELMClassifier(promise={"malignant": 0.9}, **BUDGET),
    ],
    ids=["recall", "both", "ensemble"],
)
def test_saved_models_keep_their_promises(model, tumours, tmp_path):
    X, y = tumours
    model = clone(model).fit(X, y)
    path = tmp_path / "model.ecselm"
    save_model(model, path)
    loaded = load_model(path)
    loaded = getattr(loaded, "model", loaded)
    for other in (loaded, pickle.loads(pickle.dumps(model))):
        assert other.promise_ == model.promise_
        assert other.promise == model.promise
        assert_array_equal(other.predict(X), model.predict(X))


def test_a_promise_that_cannot_be_kept_leaves_the_model_unfitted(tumours):
    X, y = tumours
    model = CostDecisionClassifier(LogisticRegression(), promise={"malignant": 0.999})
    with pytest.raises(
        ValueError, match=r"'malignant' of at least 0.999 .* takes 2302 .*, got 159, 2143 too few"
    ):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)


@pytest.mark.parametrize(
    "model", [CostDecisionClassifier(GaussianNB()), ECSELMClassifier(**BUDGET)]
)
def test_conflicting_promises_raise_and_lose_nothing(model):
    rng = np.random.default_rng(0)
    X, y = scores_of(300, 300, rng)
    model = clone(model).fit(X, y)
    before = model.predict(X)
    model.set_params(promise={1: 0.95, (0, 1): 0.05})
    with pytest.raises(ValueError, match=r"promise must pass its test: .* no number of cases"):
        model.fit(X, y)
    assert_array_equal(model.predict(X), before)
    assert not hasattr(model, "promise_")


@pytest.mark.parametrize(
    "model", [CostDecisionClassifier(GaussianNB()), ECSELMClassifier(**BUDGET)]
)
def test_a_failed_promise_hands_over_the_fit_without_it(model):
    rng = np.random.default_rng(0)
    X, y = scores_of(300, 300, rng)
    model = clone(model).set_params(promise={1: 0.95, (0, 1): 0.05})
    with pytest.raises(PromiseError) as caught:
        model.fit(X, y)
    plain = caught.value.model
    assert plain.promise is None
    assert not hasattr(plain, "promise_")
    assert plain.score(X, y) > 0.7
    assert [one["asked"] for one in caught.value.records] == [0.95, 0.05]
    assert plain.at(costs={(0, 1): 3.0}).predict(X).shape == y.shape
    M = plain.cost_matrix_
    assert_array_equal(plain.predict(X), min_cost_decision(plain.predict_proba(X), M))


def test_answers_are_counted_by_the_stated_costs(tumours):
    X, y = tumours
    cost = {("malignant", "benign"): 3.0}
    model = CostDecisionClassifier(LogisticRegression(), cost=cost, promise={"malignant": 0.97})
    model.fit(X, y)
    assert model.cost_matrix_[1, 0] / model.cost_matrix_[0, 1] > 3.0  # more cautious
    P, benign = model.predict_proba(X), model.predict(X) == "benign"
    assert_allclose(model.expected_cost(X), np.where(benign, 3.0 * P[:, 1], P[:, 0]))
    assert not hasattr(model.at(costs=cost), "_plain_costs_")


def test_the_interval_is_that_of_bootstrap_samples(record_property):
    """It covers the threshold that other rows choose about as often as it says."""
    rng, inside, fits = np.random.default_rng(6), 0, 60
    chosen, ends = [], []
    for i in range(fits):
        X, y = scores_of(100, 300, rng)
        model = CostDecisionClassifier(
            Posterior(), cv="prefit", promise={1: 0.9}, calibration=None, random_state=i
        ).fit(X, y)
        (kept,) = model.promise_
        low, high = kept["interval"]
        assert low <= kept["threshold"] <= high
        chosen.append(kept["threshold"])
        ends.append((low, high))
    middle = float(np.median(chosen))
    inside = sum(low <= middle <= high for low, high in ends)
    record_property("inside", inside)
    assert inside >= 48


def test_factors_have_intervals_too(three):
    X, y = three
    model = CostDecisionClassifier(GaussianNB(), promise={0: 0.9, (1, 0): 0.1}).fit(X, y)
    for one in model.promise_:
        assert one["interval"][0] <= one["interval"][1]


class OfGroup(Posterior):
    """The same, but scores of the second group, the second column, are shifted."""

    def predict_proba(self, X):
        return super().predict_proba(np.asarray(X)[:, :1])


def grouped_scores(rng, n=400):
    """Return rows of two groups, of which the second is harder to recognise."""
    X, y = scores_of(n, n, rng)
    group = rng.integers(2, size=len(y))
    X[:, 0] -= 0.8 * group * y
    return np.column_stack([X, group]), y, group


def test_a_promise_in_every_group_is_kept_in_the_hardest(record_property):
    rng, fits = np.random.default_rng(7), 50
    broken = {False: 0, True: 0}
    for i in range(fits):
        X, y, group = grouped_scores(rng)
        for by_group in broken:
            model = CostDecisionClassifier(
                OfGroup(), cv="prefit", promise={1: 0.85}, calibration=None, random_state=i
            ).fit(X, y, promise_groups=group if by_group else None)
            t = model.thresholds_[0]
            cut = (np.log(t / (1 - t)) + SHIFT**2 / 2) / SHIFT
            broken[by_group] += int(norm.sf(cut, SHIFT - 0.8) < 0.85)  # in the second group
    record_property("broken in a group", str(broken))
    assert is_rare(broken[True], fits)
    assert broken[False] > 25  # without groups nothing is promised of one


def test_groups_need_cases_of_their_own(tumours):
    X, y = tumours
    model = CostDecisionClassifier(LogisticRegression(), promise={"malignant": 0.9})
    with pytest.raises(ValueError, match=r"in the group 'b' with confidence 0\.9 takes 22"):
        model.fit(X, y, promise_groups=np.where(np.arange(len(y)) < 550, "a", "b"))
    with pytest.raises(ValueError, match="promise_groups must have one label per row"):
        model.fit(X, y, promise_groups=["a"])
    with pytest.raises(ValueError, match="promise_groups must be None without a promise"):
        model.set_params(promise=None).fit(X, y, promise_groups=np.zeros(len(y)))


def test_learned_costs_have_intervals():
    X, y = make_classification(
        600, 10, n_informative=6, weights=[0.85], flip_y=0.1, class_sep=0.7, random_state=0
    )
    model = ECSELMClassifier(scoring="f1_macro", keep_prior=False, random_state=0).fit(X, y)
    ends = model.class_costs_interval_
    assert ends.shape == (2, 2)
    assert (ends[:, 0] <= model.class_costs_ + 1e-9).all()
    assert (model.class_costs_ <= ends[:, 1] + 1e-9).all()
    assert_allclose(ends[0] + ends[1, ::-1], model.class_costs_.sum())
    kept = clone(model).set_params(keep_prior="always").fit(X, y)
    assert kept.class_costs_interval_ is None


@pytest.mark.parametrize(
    ("promise", "message"),
    [
        ({"malignant": 0.0}, "must be between 0 and 1, got 0.0"),
        ({"malignant": 1}, "must be between 0 and 1, got 1"),
        ({"malignant": float("nan")}, "must be between 0 and 1, got nan"),
        ({"unknown": 0.9}, "must be about classes, .* got 'unknown'"),
        ({("malignant", "malignant"): 0.9}, "must be about a class or a pair"),
        ({}, "must be a dict of at least one class"),
        (0.9, "'promise' parameter"),
    ],
)
@pytest.mark.parametrize("kind", [CostDecisionClassifier, ECSELMClassifier])
def test_bad_promises_are_refused(kind, promise, message, tumours):
    first = {"estimator": GaussianNB()} if kind is CostDecisionClassifier else {}
    with pytest.raises(ValueError, match=message):
        kind(**first, promise=promise).fit(*tumours)


@pytest.mark.parametrize("confidence", [0, 1, float("nan"), "high"])
def test_bad_confidence_is_refused(confidence, tumours):
    model = CostDecisionClassifier(GaussianNB(), promise={"benign": 0.9}, confidence=confidence)
    with pytest.raises(ValueError, match="'confidence' parameter"):
        model.fit(*tumours)


def test_what_is_stated_by_row_elsewhere_is_refused(tumours):
    X, y = tumours
    asked = {"promise": {"benign": 0.9}}
    splits = list(KFold(3).split(X))
    with pytest.raises(ValueError, match="cv must be a number or a splitter with a promise"):
        CostDecisionClassifier(GaussianNB(), cv=splits, **asked).fit(X, y)
    for kind in (CostDecisionClassifier(GaussianNB(), **asked), ECSELMClassifier(**asked)):
        with pytest.raises(ValueError, match="cost must not be by row with a promise"):
            kind.set_params(cost=np.ones(len(y))).fit(X, y)


def broken_recalls(fits, n_zeros, n_ones, asked, seed, **options):
    rng, broken, kept = np.random.default_rng(seed), 0, 0
    for i in range(fits):
        X, y = scores_of(n_zeros, n_ones, rng)
        model = CostDecisionClassifier(
            Posterior(), cv="prefit", promise={1: asked}, random_state=i, **options
        ).fit(X, y)
        kept += 1
        broken += true_rates(model)[0] < asked
    assert kept == fits  # one class can always be promised, given enough cases
    return broken


@pytest.mark.parametrize(
    ("n_ones", "asked"), [pytest.param(200, 0.9, marks=pytest.mark.slow), (20, 0.85)]
)
def test_recall_is_missed_no_more_often_than_stated(n_ones, asked, record_property):
    broken = broken_recalls(200, 200, n_ones, asked, seed=0, calibration=None)
    record_property("broken", str(broken))
    assert is_rare(broken, 200)


def test_recall_of_calibrated_rows_is_missed_no_more_often_than_stated():
    assert is_rare(broken_recalls(100, 100, 60, 0.85, seed=1), 100)


@pytest.mark.slow
def test_two_promises_are_broken_together_no_more_often_than_stated(record_property):
    rng, broken, kept = np.random.default_rng(2), 0, 0
    for i in range(200):
        X, y = scores_of(200, 200, rng)
        model = CostDecisionClassifier(
            Posterior(),
            cost={(1, 0): 5.0},  # by which alarms are too many: the test decides where to stop
            cv="prefit",
            calibration=None,
            promise={1: 0.65, (0, 1): 0.35},
            random_state=i,
        )
        try:
            model.fit(X, y)
        except ValueError:
            continue
        kept += 1
        recall, alarms = true_rates(model)
        broken += recall < 0.65 or alarms > 0.35
    record_property("kept, broken", f"{kept}, {broken}")
    assert is_rare(broken, 200)
    assert kept > 100


@pytest.mark.slow
@pytest.mark.parametrize(("n_ones", "asked"), [(300, 0.95), (100, 0.9), (20, 0.85)])
def test_thousand_fits_keep_the_recall(n_ones, asked, record_property):
    rng, broken, fits = np.random.default_rng(3), 0, 1000
    for i in range(fits):
        X, y = scores_of(200, n_ones, rng)
        model = CostDecisionClassifier(
            LogisticRegression(), promise={1: asked}, random_state=i
        ).fit(X, y)
        model_log_odds = np.log(model.thresholds_[0] / (1 - model.thresholds_[0]))
        slope, offset = model.estimator_.coef_[0, 0], model.estimator_.intercept_[0]
        cut = (model_log_odds - offset) / slope
        recall = norm.sf(cut, SHIFT) if slope > 0 else norm.cdf(cut, SHIFT)
        broken += recall < asked
    record_property("broken", str(broken))
    assert is_rare(broken, fits)


@pytest.mark.slow
@pytest.mark.parametrize(
    "promise",
    [{0: 0.95}, {(1, 0): 0.05}, {0: 0.6, (1, 0): 0.4}],
    ids=["recall", "alarms", "both"],
)
def test_resampled_tumours_keep_the_promise(promise, record_property):
    """Rows drawn with repetition are a sample of a population that is known in full."""
    X, y = load_breast_cancer(return_X_y=True)  # 0 is malignant
    X = X[:, [1, 4, 8]]  # texture, smoothness, symmetry: a promise that is hard to keep
    cost = {(0, 1): 5.0} if len(promise) == 2 else None  # by which alarms are too many
    rng, broken, kept, fits = np.random.default_rng(4), 0, 0, 200
    for i in range(fits):
        rows = rng.integers(len(y), size=len(y))
        model = CostDecisionClassifier(
            make_pipeline(StandardScaler(), LogisticRegression()),
            cost=cost,
            promise=promise,
            random_state=i,
        )
        try:
            model.fit(X[rows], y[rows])
        except ValueError:
            continue
        kept += 1
        rates = confusion_matrix(y, model.predict(X), normalize="true")
        recall, alarms = promise.get(0, 0.0), promise.get((1, 0), 1.0)
        broken += rates[0, 0] < recall or rates[1, 0] > alarms
    record_property("kept, broken", f"{kept}, {broken}")
    assert is_rare(broken, fits)
    assert kept > 100


@pytest.mark.slow
def test_three_classes_keep_two_recalls_together(three, record_property):
    X, y = three
    rng, broken, kept, fits = np.random.default_rng(5), 0, 0, 200
    promise = {0: 0.75, 1: 0.75}
    for i in range(fits):
        rows = rng.integers(len(y), size=1000)
        model = CostDecisionClassifier(
            GaussianNB(), cost={2: 10.0}, promise=promise, random_state=i
        )  # by these costs class 2 is predicted too often
        try:
            model.fit(X[rows], y[rows])
        except ValueError:
            continue
        kept += 1
        rates = confusion_matrix(y, model.predict(X), normalize="true")
        broken += min(rates[0, 0], rates[1, 1]) < 0.75
    record_property("kept, broken", f"{kept}, {broken}")
    assert is_rare(broken, fits)
    assert kept > 100


def test_groups_of_new_rows_are_checked(tumours):
    X, y = tumours
    rng = np.random.default_rng(0)
    fitted = rng.random(len(y)) < 0.6
    promise = {"malignant": 0.9}
    model = CostDecisionClassifier(LogisticRegression(), promise=promise)
    model.fit(X[fitted], y[fitted])
    group = np.where(X[~fitted, 0] > 0, "large", "small")
    checks = check_promise(
        y[~fitted], model.predict(X[~fitted]), promise, model.classes_, 0.9, group
    )
    assert [one.group for one in checks] == ["large", "small"]
    assert checks[0].n_cases + checks[1].n_cases == (y[~fitted] == "malignant").sum()


@pytest.mark.parametrize("n_tests", [1, 2, 22, 45, 2302])
def test_rows_needed_are_the_fewest_that_are_enough(n_tests):
    def drawn(n):
        return min(int(np.ceil(0.75 * n - 1e-9)), n - 1)

    n = rows_needed(n_tests)
    assert drawn(n) >= n_tests > drawn(n - 1)
