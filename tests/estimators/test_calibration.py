"""Every calibration against its law, solved literally, and the choice between them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, log_softmax, softmax
from sklearn.isotonic import IsotonicRegression

from ecselm.estimators import _calibration
from ecselm.estimators._calibration import (
    LogisticCalibration,
    LooScores,
    MonotoneCalibration,
    ScoreCalibration,
    VectorCalibration,
    fit_calibration,
)
from tests.contracts.calibration_contract import CalibrationContract


def left_out(n, k, seed=0, noise=0.6, weighted=False, stretch=1.0):
    """Draw scores around the targets of (18), with a spread that may differ by class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    T = (2.0 * y - 1.0)[:, None] if k == 2 else 2.0 * np.eye(k)[y] - 1.0
    Z = T + 2.0 * noise * rng.standard_normal(T.shape)
    Z = Z * np.linspace(1.0, stretch, Z.shape[1])
    return LooScores(Z, y, rng.uniform(0.5, 2.0, n) if weighted else np.ones(n))


def repeated(loo, counts):
    rows = np.repeat(np.arange(len(loo)), counts)
    return LooScores(loo.scores[rows], loo.y[rows], np.ones(len(rows)))


def columns(Z):
    return np.hstack([-Z, Z]) if Z.shape[1] == 1 else Z


def smoothed(loo, k):
    """Return Platt's targets, row by row."""
    n = [loo.weight[loo.y == c].sum() for c in range(k)]
    return np.array(
        [
            [w * (n[c] + 1 if j == c else 1 / (k - 1)) / (n[c] + 2) for j in range(k)]
            for c, w in zip(loo.y, loo.weight, strict=True)
        ]
    )


def log_loss(calibration, loo):
    P = calibration(loo.scores)[np.arange(len(loo)), loo.y]
    return -np.average(np.log(P), weights=loo.weight)


@pytest.mark.parametrize(
    "calibration",
    [
        LogisticCalibration(1.5, np.array([0.0, 0.7])),
        LogisticCalibration(0.0, np.zeros(3)),
        VectorCalibration(np.array([0.0, 1.0, 2.0]), np.array([0.0, 0.5, -1.0])),
        ScoreCalibration(2.0, np.zeros(2)),
        ScoreCalibration(2.0, np.log([1.0, 3.0, 9.0])),
        MonotoneCalibration(np.array([0.3]), np.array([0.2])),
        MonotoneCalibration(np.array([-1.0, 0.0, 0.5]), np.array([0.01, 0.5, 0.5])),
    ],
    ids=lambda one: type(one).__name__,
)
class TestCalibrations(CalibrationContract):
    @pytest.fixture
    def case(self, calibration):
        if isinstance(calibration, MonotoneCalibration):
            return calibration, 2
        by_class = "log_weights" if isinstance(calibration, ScoreCalibration) else "offsets"
        return calibration, len(getattr(calibration, by_class))


@pytest.mark.parametrize("k", [3, 5, 40])
def test_vector_calibration_is_the_optimum_of_its_loss(k):
    loo = left_out(600, k, weighted=True, stretch=3.0)
    common = LogisticCalibration.from_loo(loo, k)
    found = VectorCalibration.from_loo(loo, k, common)
    targets = smoothed(loo, k)

    def loss(theta):
        logs = log_softmax(theta[:k] * loo.scores + theta[k:], axis=1)
        return -(targets * logs).sum() + 0.5 * ((theta[:k] / common.slope - 1) ** 2).sum()

    mine = np.append(found.slopes, found.offsets)
    bounds = [(0, None)] * k + [(None, None)] * k
    options = {"maxiter": 10_000, "maxfun": 10**6, "ftol": 1e-13, "gtol": 1e-9}
    start = np.append(np.ones(k), np.zeros(k))
    best = minimize(loss, start, method="L-BFGS-B", bounds=bounds, options=options).fun
    assert loss(mine) <= best * (1 + 1e-7)


def test_many_classes_find_the_optimum_of_few():
    """Newton and quasi-Newton solve the same problem."""
    loo = left_out(900, 6, weighted=True, stretch=2.0)
    newton = LogisticCalibration.from_loo(loo, 6)
    by_class = VectorCalibration.from_loo(loo, 6, newton)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_calibration, "NEWTON_CLASSES", 5)
        quasi = LogisticCalibration.from_loo(loo, 6)
        quasi_by_class = VectorCalibration.from_loo(loo, 6, newton)
    assert_allclose(quasi(loo.scores), newton(loo.scores), atol=1e-4)
    assert_allclose(quasi_by_class(loo.scores), by_class(loo.scores), atol=1e-4)


def test_a_start_changes_nothing():
    loo = left_out(500, 3)
    cold = LogisticCalibration.from_loo(loo, 3)
    warm = LogisticCalibration.from_loo(loo, 3, LogisticCalibration(5.0, np.arange(3.0)))
    assert_allclose(warm(loo.scores), cold(loo.scores), rtol=1e-6)


def test_slopes_of_opposed_scores_are_zero():
    loo = left_out(600, 3)
    opposed = LooScores(loo.scores * [1.0, 1.0, -1.0], loo.y, loo.weight)
    found = VectorCalibration.from_loo(opposed, 3, LogisticCalibration.from_loo(opposed, 3))
    assert found.slopes[2] == 0.0
    assert (found.slopes[:2] > 0).all()


@pytest.mark.parametrize("n_rare", [0, 1, 3])
def test_slopes_of_rare_classes_stay_near_the_common_one(n_rare):
    loo = left_out(400, 4, noise=0.3)
    rare = np.flatnonzero(loo.y == 3)
    loo = loo.taken(np.setdiff1d(np.arange(400), rare[n_rare:]))
    common = LogisticCalibration.from_loo(loo, 4)
    found = VectorCalibration.from_loo(loo, 4, common)
    assert 0.0 <= found.slopes[3] / common.slope < 3.0


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_slope_of_scores_is_the_optimum_of_its_loss(k, weighted):
    loo = left_out(400, k, weighted=weighted)
    w = np.arange(1.0, k + 1.0) if weighted else None
    found = ScoreCalibration.from_loo(loo, k, w)
    targets = smoothed(loo, k)
    Z, shift = columns(loo.scores), np.log(np.ones(k) if w is None else w)

    def loss(a):
        return -(targets * log_softmax(a * Z - shift, axis=1)).sum()

    best = minimize_scalar(loss, bounds=(0.0, 50.0), method="bounded", options={"xatol": 1e-10})
    assert_allclose(found.slope, best.x, rtol=1e-5)
    assert_allclose(found(loo.scores), softmax(found.slope * Z - shift, axis=1), rtol=1e-12)


@pytest.mark.parametrize("k", [2, 5])
def test_weighted_probabilities_are_largest_where_scores_are(k):
    loo = left_out(500, k)
    w = np.geomspace(1.0, 20.0, k)
    P = ScoreCalibration.from_loo(loo, k, w)(loo.scores)
    assert_array_equal((w * P).argmax(axis=1), columns(loo.scores).argmax(axis=1))


@pytest.mark.parametrize("weights", [None, np.full(3, 7.0)])
def test_the_largest_probability_is_at_the_largest_score_even_by_a_bit(weights):
    loo = left_out(300, 3)
    calibration = ScoreCalibration.from_loo(loo, 3, weights)
    Z = np.full((3, 3), 1.0)
    Z[[0, 1, 2], [0, 1, 2]] = np.nextafter(1.0, 2.0)
    for flat in (calibration, ScoreCalibration(0.0, np.zeros(3))):
        assert_array_equal(flat(Z).argmax(axis=1), [0, 1, 2])


@pytest.mark.parametrize("weights", [[0.0, 1.0], [-1.0, 1.0], [np.inf, 1.0]])
def test_class_weights_must_be_positive(weights):
    with pytest.raises(ValueError, match="weights must be positive and finite"):
        ScoreCalibration.from_loo(left_out(20, 2), 2, np.array(weights))


def literal_venn_abers(loo, score):
    """Fit twice with one row added, and read both fits at its score."""
    p = []
    for label in (0.0, 1.0):
        fit = IsotonicRegression().fit(
            np.append(loo.scores[:, 0], score),
            np.append(loo.y, label),
            sample_weight=np.append(loo.weight, 1.0),
        )
        p.append(fit.predict([score])[0])
    return p[1] / (1.0 - p[0] + p[1])


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_venn_abers_is_two_isotonic_fits_with_a_row_added(tied, weighted):
    loo = left_out(300, 2, weighted=weighted)
    if tied:
        loo = LooScores(loo.scores.round(1), loo.y, loo.weight)
    found = MonotoneCalibration.venn_abers(loo)
    expected = [literal_venn_abers(loo, score) for score in found.knots]
    assert_allclose(found.values, expected, rtol=1e-10)
    assert len(found.knots) <= _calibration.MAX_KNOTS
    assert found.knots[0] == loo.scores.min()
    assert found.knots[-1] == loo.scores.max()


@pytest.mark.parametrize("tied", [False, True])
def test_isotonic_calibration_is_that_of_scikit_learn(tied):
    loo = left_out(300, 2, weighted=True)
    if tied:
        loo = LooScores(loo.scores.round(1), loo.y, loo.weight)
    least = 1.0 / (loo.weight.sum() + 2.0)
    fit = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
    fit.fit(loo.scores[:, 0], loo.y, sample_weight=loo.weight)
    z = np.sort(loo.scores[:, 0])  # between blocks both are linear, but clipped before or after
    expected = np.clip(fit.predict(z), least, 1.0 - least)
    found = MonotoneCalibration.isotonic(loo)
    assert_allclose(found(z[:, None])[:, 1], expected, atol=1e-6)
    assert len(found.knots) < 100


def test_more_scores_than_groups_are_pooled():
    loo = left_out(12_000, 2)
    found = MonotoneCalibration.venn_abers(loo)
    z = np.linspace(-1.5, 1.5, 7)
    expected = [literal_venn_abers(loo, score) for score in z]
    assert_allclose(found(z[:, None])[:, 1], expected, atol=0.02)


@pytest.mark.parametrize("fit", [MonotoneCalibration.isotonic, MonotoneCalibration.venn_abers])
def test_monotone_limits(fit):
    y = np.repeat([0, 1], [30, 10])
    opposed = fit(LooScores((1.0 - 2.0 * y)[:, None], y, np.ones(40)))
    assert_allclose(opposed(np.array([[-1.0], [1.0]]))[:, 1], 0.25, atol=0.02)
    constant = fit(LooScores(np.full((40, 1), 3.0), y, np.ones(40)))
    assert len(constant.knots) == 1
    assert_allclose(constant(np.array([[0.0]]))[:, 1], 0.25, atol=0.02)
    separate = fit(LooScores((2.0 * y - 1.0)[:, None], y, np.ones(40)))
    assert 0.0 < separate.values[0] < 0.05
    assert 0.9 < separate.values[-1] < 1.0
    one_class = fit(LooScores(np.arange(5.0)[:, None], np.zeros(5, dtype=int), np.ones(5)))
    assert ((one_class.values > 0) & (one_class.values < 0.5)).all()


@pytest.mark.parametrize(
    ("fit", "k"),
    [
        (LogisticCalibration.from_loo, 2),
        (LogisticCalibration.from_loo, 3),
        (ScoreCalibration.from_loo, 2),
        (ScoreCalibration.from_loo, 3),
        (
            lambda loo, k: VectorCalibration.from_loo(loo, k, LogisticCalibration(1.0, np.ones(k))),
            3,
        ),
        (lambda loo, _: MonotoneCalibration.isotonic(loo), 2),
        (lambda loo, _: MonotoneCalibration.venn_abers(loo), 2),
    ],
)
def test_weight_two_equals_row_repeated_twice(fit, k):
    loo = left_out(200, k)
    counts = np.arange(200) % 3  # some not at all
    weighted = LooScores(loo.scores, loo.y, counts.astype(float)).usable()
    expected = fit(repeated(loo, counts), k)(loo.scores)
    assert_allclose(fit(weighted, k)(loo.scores), expected, rtol=1e-6)


@pytest.mark.parametrize("k", [2, 3, 40])
@pytest.mark.parametrize("unit", [1e-9, 1e-4, 1e6])
def test_scores_of_any_unit_give_the_same_probabilities(k, unit):
    """A model of a tiny C has tiny scores."""

    def probabilities(Z):
        rows = LooScores(Z, loo.y, loo.weight)
        logistic = LogisticCalibration.from_loo(rows, k)
        yield logistic(Z)
        yield ScoreCalibration.from_loo(rows, k)(Z)
        if k > 2:
            yield VectorCalibration.from_loo(rows, k, logistic)(Z)

    loo = left_out(600, k, stretch=2.0)
    expected = probabilities(loo.scores)
    for found, wanted in zip(probabilities(unit * loo.scores), expected, strict=True):
        assert_allclose(found, wanted, atol=1e-7 if k < 40 else 3e-5)


def test_scores_far_from_zero_are_calibrated_by_their_differences():
    loo = left_out(600, 2)
    near = LogisticCalibration.from_loo(loo, 2)
    moved = LooScores(5.0 + 1e-3 * loo.scores, loo.y, loo.weight)
    far = LogisticCalibration.from_loo(moved, 2)
    assert_allclose(far(moved.scores), near(loo.scores), atol=1e-7)


def test_scores_equal_up_to_rounding_leave_only_the_frequencies():
    y = np.arange(400) % 4 // 3
    scores = 0.3 * (1.0 + np.finfo(float).eps * (2.0 * y - 1.0))[:, None]
    calibration = LogisticCalibration.from_loo(LooScores(scores, y, np.ones(400)), 2)
    assert calibration.slope == 0.0
    assert_allclose(calibration(np.array([[0.7]])), [[0.75, 0.25]], atol=0.01)


@pytest.mark.parametrize("n", [0, 1, 2, 7, 1200])
@pytest.mark.parametrize("k", [2, 3, 35])
@pytest.mark.parametrize("kind", ["separate", "constant", "opposed", "one class", "tiny"])
def test_hopeless_scores_have_finite_probabilities(n, k, kind):
    y = np.arange(n) % k
    T = (2.0 * y - 1.0)[:, None] if k == 2 else 2.0 * np.eye(k)[y] - 1.0
    if kind == "constant":
        T = np.zeros_like(T)
    elif kind == "opposed":
        T = -T
    elif kind == "one class":
        y = np.zeros(n, dtype=int)
    elif kind == "tiny":
        T = 1e-12 * T
    loo = LooScores(T, y, np.ones(n))
    for calibration in (fit_calibration(loo, k), ScoreCalibration.from_loo(loo, k)):
        P = calibration(T)
        assert ((P > 0) & (P < 1)).all()
        assert_allclose(P.sum(axis=1), 1.0, rtol=1e-12)
    if kind in {"constant", "opposed"} and n == 1200:
        shares = np.bincount(y, minlength=k) / n
        assert_allclose(fit_calibration(loo, k)(T), np.tile(shares, (n, 1)), atol=0.02)


def test_rows_without_a_score_or_a_weight_are_omitted():
    loo = left_out(200, 3)
    scores, weight = loo.scores.copy(), loo.weight.copy()
    scores[3, 1], scores[5, 0], weight[9] = np.nan, np.inf, 0.0
    kept = np.setdiff1d(np.arange(200), [3, 5, 9])
    broken = LooScores(scores, loo.y, weight)
    for fit in (fit_calibration, ScoreCalibration.from_loo):
        expected = fit(loo.taken(kept), 3)(loo.scores)
        assert_array_equal(fit(broken, 3)(loo.scores), expected)


def bent(n, seed=0):
    """Draw scores of two classes whose law has a plateau in the middle."""
    rng = np.random.default_rng(seed)
    z = rng.uniform(-2.0, 2.0, n)
    p = np.where(np.abs(z) < 1.0, 0.5, np.where(z < 0, 0.02, 0.98))
    return LooScores(z[:, None], (rng.random(n) < p).astype(int), np.ones(n))


@pytest.mark.parametrize("n", [1000, 4000])
def test_scores_of_a_logistic_law_need_no_more(n):
    assert isinstance(fit_calibration(left_out(n, 2), 2), LogisticCalibration)
    assert isinstance(fit_calibration(left_out(n, 3), 3), LogisticCalibration)


def test_scores_without_a_law_are_calibrated_by_rank():
    test_rows = bent(20_000, seed=1)
    found = fit_calibration(bent(4000), 2)
    assert isinstance(found, MonotoneCalibration)
    best = 0.5 * (np.log(2.0) - 0.98 * np.log(0.98) - 0.02 * np.log(0.02))  # of the true law
    assert log_loss(found, test_rows) < best + 0.02
    assert log_loss(LogisticCalibration.from_loo(bent(4000), 2), test_rows) > best + 0.02


def test_few_rows_of_two_classes_keep_the_law():
    assert isinstance(fit_calibration(bent(999), 2), LogisticCalibration)


def test_classes_that_differ_get_slopes_of_their_own():
    loo, test_rows = left_out(1500, 4, stretch=4.0), left_out(5000, 4, seed=1, stretch=4.0)
    found = fit_calibration(loo, 4)
    assert isinstance(found, VectorCalibration)
    common = LogisticCalibration.from_loo(loo, 4)
    assert log_loss(found, test_rows) < 0.97 * log_loss(common, test_rows)


@pytest.mark.parametrize(("per_class", "kind"), [(5, LogisticCalibration), (12, VectorCalibration)])
def test_many_classes_are_chosen_for_by_their_rows(per_class, kind):
    assert isinstance(fit_calibration(left_out(40 * per_class, 40), 40), kind)


def test_the_choice_is_the_same_every_time():
    for loo, k in ((bent(6000), 2), (left_out(800, 3), 3)):
        first, second = (fit_calibration(loo, k)(loo.scores) for _ in range(2))
        assert_array_equal(first, second)


def test_costs_in_the_scores_are_undone():
    """Scores moved towards one class, as costs move them, say the same of the classes."""
    rng = np.random.default_rng(0)
    z = 2.0 * rng.standard_normal(5000)
    y = (rng.random(5000) < expit(z - 2.0)).astype(int)
    for moved in (z, z + 3.0):
        found = fit_calibration(LooScores(moved[:, None], y, np.ones(5000)), 2)
        assert_allclose(found(moved[:, None])[:, 1].mean(), y.mean(), atol=0.01)


def test_rows_are_thinned_evenly():
    loo = left_out(10_000, 3)
    some = loo.thinned(500)
    assert len(some) == 500
    assert_allclose(np.bincount(some.y) / 500, np.bincount(loo.y) / 10_000, atol=0.01)
    assert_allclose(some.scores.mean(axis=0), loo.scores.mean(axis=0), atol=0.1)
    assert loo.thinned(10_000) is loo


@pytest.mark.parametrize(
    ("kind", "fields", "message"),
    [
        (LogisticCalibration, (np.nan, np.zeros(2)), "slope must be a finite number"),
        (LogisticCalibration, (1.0, np.array([0.0, np.inf])), "offsets must be a row"),
        (VectorCalibration, (np.ones(3), np.zeros(2)), "slopes must be as many"),
        (VectorCalibration, (np.ones((2, 1)), np.zeros(2)), "slopes must be a row"),
        (ScoreCalibration, (np.inf, np.zeros(2)), "slope must be a finite number"),
        (ScoreCalibration, (1.0, np.array([-np.inf, 0.0])), "log_weights must be a row"),
        (MonotoneCalibration, (np.zeros(0), np.zeros(0)), "knots must be at least one"),
        (MonotoneCalibration, (np.zeros(2), np.full(2, 0.5)), "knots must increase"),
        (MonotoneCalibration, (np.arange(2.0), np.array([0.6, 0.5])), "values must not decrease"),
        (MonotoneCalibration, (np.arange(2.0), np.array([0.0, 0.5])), "between 0 and 1"),
        (MonotoneCalibration, (np.arange(2.0), np.array([0.5, 1.0])), "between 0 and 1"),
    ],
)
def test_calibrations_check_themselves(kind, fields, message):
    with pytest.raises(ValueError, match=message):
        kind(*fields)
