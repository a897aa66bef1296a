"""Net benefit, costs along a ray, and decision curves with their bands."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from ecselm.costs import min_cost_decision, parse_cost
from ecselm.metrics import cost_ray, decision_curve, mean_cost, net_benefit

THRESHOLDS = np.array([0.05, 0.25, 0.5, 0.8])


def drawn(n, rng, noise=0.0):
    """Return true classes 0 and 1 with their probabilities, moved by noise on the logit."""
    p = rng.beta(1.0, 2.5, n)
    y = (rng.random(n) < p).astype(int)
    moved = np.log(p / (1 - p)) + noise * rng.standard_normal(n)
    return y, 1.0 / (1.0 + np.exp(-moved))


def of_classes(n, k, rng):
    """Return true classes with calibrated probabilities (n, k)."""
    P = rng.dirichlet(np.full(k, 0.8), n)
    y = (rng.random((n, 1)) > P.cumsum(axis=1)).sum(axis=1).clip(max=k - 1)
    return y, P


# Net benefit.


@pytest.mark.parametrize("weighted", [False, True])
def test_net_benefit_is_the_printed_formula(rng, weighted):
    y, p = drawn(60, rng)
    w = rng.random(60) if weighted else np.ones(60)
    expected = []
    for t in THRESHOLDS:
        tp = sum(w[i] for i in range(60) if p[i] >= t and y[i] == 1)
        fp = sum(w[i] for i in range(60) if p[i] >= t and y[i] == 0)
        expected.append(tp / w.sum() - fp / w.sum() * t / (1 - t))
    found = net_benefit(y, p, threshold=THRESHOLDS, sample_weight=w if weighted else None)
    assert_allclose(found, expected, atol=1e-14)


def test_a_probability_equal_to_the_threshold_is_treated():
    assert net_benefit([1, 0], [0.3, 0.1], threshold=0.3) == 0.5
    assert net_benefit([1, 0], [0.3, 0.1], threshold=np.nextafter(0.3, 1)) == 0.0


def test_a_number_gives_a_number_and_an_array_an_array_in_its_order(rng):
    y, p = drawn(50, rng)
    one = net_benefit(y, p, threshold=0.4)
    assert type(one) is float
    assert_array_equal(net_benefit(y, p, threshold=[0.8, 0.4, 0.4])[1:], [one, one])


def test_net_benefit_does_not_depend_on_the_order_of_rows_nor_on_repeated_rows(rng):
    y, p = drawn(80, rng)
    found = net_benefit(y, p, threshold=THRESHOLDS)
    order = rng.permutation(80)
    assert_allclose(net_benefit(y[order], p[order], threshold=THRESHOLDS), found, atol=1e-14)
    twice = net_benefit(np.r_[y, y], np.r_[p, p], threshold=THRESHOLDS)
    assert_allclose(twice, found, atol=1e-14)


def test_a_weight_of_two_is_a_row_twice(rng):
    y, p = drawn(40, rng)
    w = rng.integers(1, 4, 40)
    repeated = net_benefit(np.repeat(y, w), np.repeat(p, w), threshold=THRESHOLDS)
    assert_allclose(net_benefit(y, p, threshold=THRESHOLDS, sample_weight=w), repeated, atol=1e-14)


def test_treating_all_and_none_are_the_limits(rng):
    y, _ = drawn(100, rng)
    share, t = y.mean(), THRESHOLDS
    all_treated = net_benefit(y, np.ones(100), threshold=t)
    assert_allclose(all_treated, share - (1 - share) * t / (1 - t), atol=1e-14)
    assert_array_equal(net_benefit(y, np.zeros(100), threshold=t), np.zeros(4))
    assert_allclose(net_benefit(y, y, threshold=t), share, atol=1e-14)


@pytest.mark.parametrize("kind", [list, np.array, pd.Series, pl.Series])
def test_any_labels_and_containers_are_taken(kind, rng):
    y, p = drawn(30, rng)
    words = np.where(y == 1, "ill", "well")
    found = net_benefit(kind(words), kind(p), threshold=0.3, pos_label="ill")
    assert found == net_benefit(y, p, threshold=0.3)
    assert net_benefit(y == 1, p, threshold=0.3) == found


def test_one_class_alone_needs_its_name():
    assert net_benefit([1, 1], [0.2, 0.8], threshold=0.5, pos_label=1) == 0.5
    assert net_benefit([0, 0], [0.2, 0.8], threshold=0.5, pos_label=1) == -0.5
    with pytest.raises(ValueError, match=r"pos_label must be given .* got \[1\]"):
        net_benefit([1, 1], [0.2, 0.8], threshold=0.5)


@pytest.mark.filterwarnings("ignore")  # those of another package
def test_net_benefit_equals_that_of_dcurves(rng):
    dcurves = pytest.importorskip("dcurves")
    y, p = drawn(300, rng)
    p = p.round(2).clip(0.01, 0.99)  # many are equal to a threshold
    frame = pd.DataFrame({"y": y, "p": p})
    thresholds = np.arange(1, 100) / 100
    found = dcurves.dca(data=frame, outcome="y", modelnames=["p"], thresholds=thresholds)
    by_name = {name: part["net_benefit"].to_numpy() for name, part in found.groupby("model")}
    curve = decision_curve(y, p, n_resamples=1)
    assert_allclose(net_benefit(y, p, threshold=thresholds), by_name["p"], atol=1e-12)
    assert_allclose(curve.benefits["model"], by_name["p"], atol=1e-12)
    assert_allclose(curve.references["treat all"], by_name["all"], atol=1e-12)
    assert_allclose(curve.references["treat none"], by_name["none"], atol=1e-12)


WRONG = {
    "threshold 0": ({"threshold": 0.0}, "threshold must lie between 0 and 1.*got 0"),
    "threshold 1": ({"threshold": [0.5, 1.0]}, "threshold must lie between 0 and 1.*got 1"),
    "threshold nan": ({"threshold": np.nan}, "threshold must be finite, got nan"),
    "thresholds 2-d": ({"threshold": [[0.5]]}, r"threshold must be a number or.*got \(1, 1\)"),
    "no thresholds": ({"threshold": []}, r"threshold must be a number or.*got \(0,\)"),
    "probability 1.2": ({"y_prob": [0.1, 1.2, 0.3]}, "y_prob must lie between 0 and 1, got 1.2"),
    "probability -1": ({"y_prob": [0.1, -1.0, 0.3]}, "y_prob must lie between 0 and 1, got -1"),
    "probability nan": ({"y_prob": [0.1, np.nan, 0.3]}, "y_prob must be finite, got nan"),
    "words": ({"y_prob": ["a", "b", "c"]}, "y_prob must hold numbers only"),
    "columns": (
        {"y_prob": np.ones((3, 2)) / 2},
        r"y_prob must have the shape \(3,\), got \(3, 2\)",
    ),
    "too few": ({"y_prob": [0.1, 0.2]}, r"y_prob must have the shape \(3,\), got \(2,\)"),
    "three classes": ({"y_true": [0, 1, 2]}, "y_true must have two classes, got 3"),
    "missing label": ({"y_true": [0.0, 1.0, np.nan]}, "y_true must not have missing labels"),
    "no label": ({"y_true": np.array(["a", None, "b"], object)}, "y_true must not have missing"),
    "no rows": ({"y_true": [], "y_prob": []}, "y_true must have at least one row"),
    "positive class": ({"pos_label": 2}, r"pos_label must be one of \[0, 1\], got 2"),
    "weights": ({"sample_weight": [1, 2]}, r"sample_weight must have the shape \(3,\), got \(2,\)"),
    "negative": ({"sample_weight": [1, -2, 1]}, "sample_weight must be >= 0.*got -2"),
    "no weight": ({"sample_weight": [0, 0, 0]}, "sample_weight must be >= 0.*got 0"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_arguments_of_net_benefit_are_refused(case):
    changed, message = WRONG[case]
    given = {"y_true": [0, 1, 1], "y_prob": [0.1, 0.2, 0.9], "threshold": 0.5, **changed}
    with pytest.raises(ValueError, match=message):
        net_benefit(given.pop("y_true"), given.pop("y_prob"), **given)


# Costs along a ray.


@pytest.mark.parametrize("factor_of", ["b", ("a", "c")])
def test_a_ray_multiplies_the_costs_of_a_class_or_of_a_mistake(rng, factor_of):
    y, P = of_classes(70, 3, rng)
    labels, w = np.array(["a", "b", "c"]), rng.random(70)
    cost = rng.uniform(0.5, 3.0, (3, 3)) * (1 - np.eye(3))
    ray = cost_ray(
        labels[y], P, cost=cost, factor_of=factor_of, factors=[0.2, 1, 7], sample_weight=w
    )
    for g, s in enumerate([0.2, 1, 7]):
        M = cost.copy()
        if factor_of == "b":
            M[1] *= s
        else:
            M[0, 2] *= s
        y_pred = labels[min_cost_decision(P, M)]
        options = {"cost": M, "labels": labels, "sample_weight": w}
        assert_allclose(ray.costs[g], mean_cost(labels[y], y_pred, **options), rtol=1e-12)
        always = [mean_cost(labels[y], np.full(70, one), **options) for one in labels]
        assert_allclose(ray.constants[:, g], always, rtol=1e-12)
        assert_allclose(ray.saved[g], min(always) - ray.costs[g], rtol=1e-9, atol=1e-12)


def test_two_classes_along_a_ray_have_the_net_benefit(rng):
    y, p = drawn(200, rng)
    s = np.array([0.25, 1.0, 3.0, 19.0])
    ray = cost_ray(y, np.column_stack([1 - p, p]), factor_of=1, factors=s)
    saved = ray.constants[0] - ray.costs
    assert_allclose(saved, s * net_benefit(y, p, threshold=1 / (1 + s)), atol=1e-12)


def test_calibrated_decisions_save_costs_at_every_factor(rng):
    y, P = of_classes(4000, 4, rng)
    assert (cost_ray(y, P, factor_of=2).saved > 0).all()
    assert len(cost_ray(y, P, factor_of=2).factors) == 41


def test_all_costs_times_a_number_change_no_decision(rng):
    y, P = of_classes(50, 3, rng)
    one, ten = (cost_ray(y, P, cost=s * (1 - np.eye(3)), factor_of=0) for s in (1.0, 10.0))
    assert_allclose(ten.costs, 10 * one.costs, rtol=1e-12)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"factor_of": "d"}, "factor_of must name classes.*got 'd'"),
        ({"factor_of": ("a", "a")}, "factor_of must be a class or a pair of two classes"),
        ({"factor_of": ("a", "b", "c")}, "factor_of must be a class or a pair of two classes"),
        ({"cost": {("a", "b"): 0}, "factor_of": ("a", "b")}, "mistakes that cost something"),
        ({"factors": [0, 1]}, "factors must be > 0, got 0"),
        ({"factors": [2, 1]}, "factors must be one rising number or more"),
        ({"y_prob": np.full((3, 2), 0.5)}, r"y_prob must have the shape \(3, 3\), got \(3, 2\)"),
        ({"y_prob": np.full((3, 3), 0.5)}, "y_prob must have rows with the sum 1, got 1.5"),
        ({"labels": ["a", "b"]}, "y_true must name classes.*got 'c'"),
    ],
)
def test_wrong_arguments_of_a_ray_are_refused(changed, message):
    given = {"y_prob": np.full((3, 3), 1 / 3), "factor_of": "a", **changed}
    with pytest.raises(ValueError, match=message):
        cost_ray(["a", "b", "c"], given.pop("y_prob"), **given)


# Decision curves.


def test_curves_are_net_benefits_and_differences_of_them(rng):
    y, p = drawn(300, rng)
    _, q = drawn(300, rng)
    curve = decision_curve(y, {"p": p, "q": q}, thresholds=THRESHOLDS)
    expected = {
        "p": net_benefit(y, p, threshold=THRESHOLDS),
        "q": net_benefit(y, q, threshold=THRESHOLDS),
        "treat all": net_benefit(y, np.ones(300), threshold=THRESHOLDS),
        "treat none": np.zeros(4),
    }
    assert curve.first == "p"
    assert curve.varied is None
    assert list(curve.differences) == ["q", "treat all", "treat none"]
    for name, values in (curve.benefits | curve.references).items():
        assert_allclose(values, expected[name], atol=1e-12)
    for name, band in curve.differences.items():
        assert_allclose(band.difference, expected["p"] - expected[name], atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_bands_are_percentiles_over_resamples_of_rows(rng, weighted):
    """Against a loop over resamples, up to the error of 2000 of them."""
    y, p = drawn(150, rng)
    q = drawn(150, rng)[1]
    w = rng.random(150) if weighted else np.ones(150)
    resampled = []
    for _ in range(2000):
        rows = rng.integers(0, 150, 150)
        options = {"threshold": [0.2, 0.4], "sample_weight": w[rows], "pos_label": 1}
        resampled.append(
            net_benefit(y[rows], p[rows], **options) - net_benefit(y[rows], q[rows], **options)
        )
    low, high = np.quantile(resampled, [0.025, 0.975], axis=0)
    curve = decision_curve(
        y, {"p": p, "q": q}, thresholds=[0.2, 0.4], n_resamples=4000,
        sample_weight=w if weighted else None,
    )  # fmt: skip
    band = curve.differences["q"]
    assert_allclose(band.low, low, atol=0.08 * (high - low).max())
    assert_allclose(band.high, high, atol=0.08 * (high - low).max())


def test_a_curve_is_the_same_every_time_and_differs_by_seed(rng):
    y, p = drawn(100, rng)
    first, again, other = (decision_curve(y, p, rng=seed, n_resamples=50) for seed in (1, 1, 2))
    band, same, new = (one.differences["treat all"].low for one in (first, again, other))
    assert_array_equal(band, same)
    assert not np.array_equal(band, new, equal_nan=True)


def test_equal_models_do_not_differ_and_few_rows_show_nothing(rng):
    y, p = drawn(100, rng)
    q = p.copy()
    q[np.argsort(p)[:5]] = 1.0
    curve = decision_curve(y, {"p": p, "same": p, "five": q}, thresholds=[0.5])
    assert_array_equal(curve.differences["same"].difference, [0.0])
    for name in ("same", "five"):
        assert np.isnan(curve.differences[name].low).all()
        assert not curve.differences[name].beyond_chance().any()


def test_bands_shrink_with_the_root_of_the_number_of_rows(rng):
    widths = []
    for n in (500, 50_000):
        y, p = drawn(n, rng)
        band = decision_curve(y, p, thresholds=[0.3]).differences["treat all"]
        widths.append(float((band.high - band.low)[0]))
    assert 8 < widths[0] / widths[1] < 12.5


def test_classes_along_a_ray_save_costs_against_the_best_constant_answer(rng):
    y, P = of_classes(900, 4, rng)
    flat = np.tile(np.bincount(y) / 900, (900, 1))
    cost = parse_cost({(0, 1): 3}, range(4))
    options = {"cost": cost, "factor_of": 2, "factors": [0.5, 1, 4]}
    curve = decision_curve(y, {"model": P, "shares": flat}, **options)
    ray = cost_ray(y, P, **options)
    assert_allclose(curve.benefits["model"], ray.saved, atol=1e-12)
    assert_allclose(curve.benefits["shares"], 0.0, atol=1e-12)  # it is the best constant answer
    assert_array_equal(curve.references["best constant answer"], np.zeros(3))
    assert curve.differences["best constant answer"].beyond_chance().all()
    assert curve.varied == "a mistake on 2"


def test_probabilities_of_both_classes_are_taken(rng):
    y, p = drawn(60, rng)
    both = np.column_stack([1 - p, p])
    one = decision_curve(y, p, n_resamples=10).benefits["model"]
    assert_array_equal(decision_curve(y, both, n_resamples=10).benefits["model"], one)
    words = np.where(y == 1, "ill", "well")
    named = decision_curve(
        words, both[:, ::-1], pos_label="ill", labels=["ill", "well"], n_resamples=10
    )
    assert_array_equal(named.benefits["model"], one)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"thresholds": [0.5, 0.2]}, "thresholds must be one rising number or more"),
        ({"thresholds": [0.0, 0.2]}, "thresholds must lie between 0 and 1.*got 0"),
        ({"y_prob": {}}, "y_prob must hold the probabilities of a model or more, got none"),
        ({"y_prob": {"treat all": [0.1, 0.2, 0.3]}}, "must not name a model 'treat all'"),
        ({"y_prob": [[0.5, 0.5]] * 3, "labels": [0, 1, 2]}, "y_true must have two classes, got 3"),
        ({"cost": [[0, 1], [2, 0]]}, "factor_of must be given with cost or factors"),
        ({"factor_of": 1, "pos_label": 1}, "pos_label must be left out with factor_of"),
        ({"confidence": 1.0}, "confidence must lie between 0 and 1, got 1.0"),
        ({"n_resamples": 0}, "n_resamples must be >= 1, got 0"),
    ],
)
def test_wrong_arguments_of_a_curve_are_refused(changed, message):
    given = {"y_prob": [0.1, 0.2, 0.9], **changed}
    with pytest.raises(ValueError, match=message):
        decision_curve([0, 1, 1], given.pop("y_prob"), **given)


def coverage(n_repetitions, n_rows=400, n_resamples=500):
    """Return how often (references, thresholds) bands hold the difference of the population."""
    thresholds = np.array([0.15, 0.3, 0.5])
    rng = np.random.default_rng(20)
    y, p = drawn(1_000_000, rng)
    noisy = 1.0 / (1.0 + np.exp(-np.log(p / (1 - p)) - rng.standard_normal(len(p))))
    options = {"threshold": thresholds}
    first = net_benefit(y, p, **options)
    truth = np.array(
        [
            first - net_benefit(y, noisy, **options),
            first - net_benefit(y, np.ones(len(y)), **options),
            first,
        ]
    )
    held = np.zeros(truth.shape)
    for _ in range(n_repetitions):
        rows = rng.integers(0, len(y), n_rows)
        curve = decision_curve(
            y[rows], {"p": p[rows], "noisy": noisy[rows]}, thresholds=thresholds,
            n_resamples=n_resamples, rng=rng,
        )  # fmt: skip
        low, high = (
            np.array([getattr(band, end) for band in curve.differences.values()])
            for end in ("low", "high")
        )
        held += (low <= truth) & (truth <= high)
    return held


def test_bands_cover_the_truth_about_as_often_as_stated():
    held = coverage(40)
    assert held.mean() / 40 > 0.88
    assert (held >= stats.binom.ppf(1e-4, 40, 0.95)).all()


@pytest.mark.slow
def test_bands_cover_the_truth_as_often_as_stated():
    n = 400
    held = coverage(n, n_resamples=1000)
    # Nine proportions, within sampling error of 95 %: each beyond it once in a thousand.
    low, high = stats.binom.ppf([5e-4, 1 - 5e-4], n, 0.95)
    assert ((held >= low) & (held <= high)).all(), held / n
    assert abs(held.mean() / n - 0.95) < 0.02


def test_groups_are_resampled_together(rng):
    """Rows that repeat others say nothing new: their bands are those of the rows alone."""
    y, p = drawn(60, rng)
    others = {"model": p, "noisy": np.clip(p + rng.normal(0, 0.2, 60), 0, 1)}
    repeated = {name: np.repeat(one, 5) for name, one in others.items()}
    options = {"thresholds": THRESHOLDS, "n_resamples": 4000}
    alone = decision_curve(y, others, **options)
    grouped = decision_curve(
        np.repeat(y, 5), repeated, groups=np.repeat(np.arange(60), 5), **options
    )
    ignored = decision_curve(np.repeat(y, 5), repeated, **options)
    for name in ("noisy", "treat all"):
        one, same, narrow = (each.differences[name] for each in (alone, grouped, ignored))
        assert_allclose(same.difference, one.difference)
        widths = [each.high - each.low for each in (one, same, narrow)]
        known = np.isfinite(widths[0]) & (widths[0] > 0)
        assert known.any()
        assert_allclose(widths[1][known], widths[0][known], rtol=0.15)
        assert (widths[2][known] < 0.6 * widths[0][known]).all()


def test_groups_of_another_length_are_refused(rng):
    y, p = drawn(20, rng)
    with pytest.raises(ValueError, match=r"groups must have the shape \(20,\), got \(3,\)"):
        decision_curve(y, p, groups=[1, 2, 3])
