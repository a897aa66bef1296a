"""How many rows are recognised, counted one by one and against the paper's tables."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import accuracy_score, top_k_accuracy_score

from ecselm.metrics import average_recognition_rate, cmc_curve, match_rate, total_recognition_rate
from ecselm.paper.protocols.published import GAS_TEST_ROWS, GASES, PUBLISHED

WEIGHTED = pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
KINDS = {
    "numbers": np.array([3, 7, 9]),
    "words": np.array(["a", "b", "c"]),
    "objects": np.array(["a", "b", "c"], dtype=object),
    "floats": np.array([0.0, 1.0, 2.0]),
}
COLUMNS = [
    pytest.param(column[:6], *column[6:], id=f"{table} {name}")
    for table in ("table-10", "table-11")
    for name, column in PUBLISHED[table].by_method().items()
]
MISPRINT = (83.22, 83.33)  # ELM on benzene: 20 of 24


def gas_predictions(rates):
    """Return labels and predictions, so many of each gas right as the printed rate says."""
    truth, predicted = [], []
    for gas, (size, rate) in enumerate(zip(GAS_TEST_ROWS, rates, strict=True)):
        right = round(size * rate / 100.0)
        truth += [GASES[gas]] * size
        predicted += [GASES[gas]] * right + [GASES[gas - 1]] * (size - right)
    return truth, predicted


def literal_cmc(truth, scores, classes, weight):
    """Return the shares by sorting the classes of each row, the earlier of equals first."""
    k, w = len(classes), np.ones(len(truth)) if weight is None else weight
    shares = np.zeros(k)
    for r in range(1, k + 1):
        for i, true in enumerate(truth):
            best = sorted(range(k), key=lambda c, row=scores[i]: (-row[c], c))[:r]
            shares[r - 1] += w[i] * (true in [classes[c] for c in best])
    return shares / w.sum()


@pytest.mark.parametrize(("rates", "arr", "trr"), COLUMNS)
def test_tables_x_and_xi_recompute_from_counts(rates, arr, trr):
    truth, predicted = gas_predictions(rates)
    assert 100.0 * average_recognition_rate(truth, predicted) == pytest.approx(arr, abs=0.02)
    assert 100.0 * total_recognition_rate(truth, predicted) == pytest.approx(trr, abs=0.01)


@pytest.mark.parametrize(("rates", "arr", "trr"), COLUMNS)
def test_every_rate_of_tables_x_and_xi_is_a_share_of_its_gas_but_one(rates, arr, trr):
    for size, rate in zip(GAS_TEST_ROWS, rates, strict=True):
        share = 100.0 * round(size * rate / 100.0) / size
        printed = MISPRINT[1] if rate == MISPRINT[0] else rate
        assert printed == pytest.approx(share, abs=0.01)


def test_the_misprint_is_the_only_one():
    tables = [PUBLISHED[item].means for item in ("table-10", "table-11")]
    rates = [rate for table in tables for row in table for rate in row]
    assert rates.count(MISPRINT[0]) == 1


@pytest.mark.parametrize("kind", KINDS)
@WEIGHTED
def test_arr_is_the_mean_of_recalls_and_trr_the_share_of_correct_predictions(rng, kind, weighted):
    truth, predicted = rng.integers(0, 3, (2, 40))
    w = rng.uniform(0.2, 3.0, 40) if weighted else np.ones(40)
    right = w * (truth == predicted)
    recalls = [right[truth == c].sum() / w[truth == c].sum() for c in range(3)]
    y, z, weight = KINDS[kind][truth], KINDS[kind][predicted], w if weighted else None
    arr = average_recognition_rate(y, z, sample_weight=weight)
    assert arr == pytest.approx(np.mean(recalls), rel=1e-12)
    trr = total_recognition_rate(y, z, sample_weight=weight)
    assert trr == pytest.approx(right.sum() / w.sum(), rel=1e-12)


def test_classes_of_equal_size_have_one_rate(rng):
    truth, predicted = np.repeat(range(4), 10), rng.integers(0, 4, 40)
    arr, trr = average_recognition_rate(truth, predicted), total_recognition_rate(truth, predicted)
    assert arr == pytest.approx(trr, rel=1e-12)


def test_arr_leaves_out_classes_that_are_answered_but_never_true():
    assert average_recognition_rate(["a", "a", "b"], ["a", "c", "b"]) == 0.75


def test_a_single_class_is_no_reason_to_warn():
    assert average_recognition_rate(["a", "a"], ["a", "a"]) == 1.0


@pytest.mark.parametrize("kind", KINDS)
@WEIGHTED
@pytest.mark.parametrize("ties", [False, True], ids=["no ties", "ties"])
def test_the_cmc_curve_is_counted_row_by_row(rng, kind, weighted, ties):
    truth = KINDS[kind][rng.integers(0, 3, 30)]
    scores = rng.integers(0, 2, (30, 3)) if ties else rng.standard_normal((30, 3))
    weight = rng.uniform(0.2, 3.0, 30) if weighted else None
    expected = literal_cmc(truth.tolist(), scores, KINDS[kind].tolist(), weight)
    curve = cmc_curve(truth, scores, labels=KINDS[kind], sample_weight=weight)
    assert_allclose(curve, expected, rtol=1e-12)
    assert curve[-1] == 1.0
    for rank in (1, 2, 3):
        value = match_rate(truth, scores, rank=rank, sample_weight=weight)
        assert value == pytest.approx(expected[rank - 1], rel=1e-12)


def test_without_ties_it_is_the_top_k_accuracy_of_scikit_learn(rng):
    truth, scores = np.r_[:5, rng.integers(0, 5, 45)], rng.standard_normal((50, 5))
    expected = [top_k_accuracy_score(truth, scores, k=r, labels=range(5)) for r in range(1, 5)]
    assert_allclose(cmc_curve(truth, scores)[:4], expected, rtol=1e-12)


@pytest.mark.parametrize("ties", [False, True], ids=["no ties", "ties"])
def test_the_first_rank_is_the_share_of_correct_predictions(rng, ties):
    truth = np.r_[:4, rng.integers(0, 4, 46)]
    scores = rng.integers(0, 3, (50, 4)) if ties else rng.standard_normal((50, 4))
    assert match_rate(truth, scores) == accuracy_score(truth, scores.argmax(axis=1))


def test_any_rising_function_of_the_scores_gives_the_same_curve(rng):
    truth, scores = np.r_[:4, rng.integers(0, 4, 46)], rng.standard_normal((50, 4))
    assert_array_equal(cmc_curve(truth, scores), cmc_curve(truth, np.exp(scores)))


def test_one_column_decides_between_two_classes():
    truth, decision = ["no", "yes", "yes", "no"], [-1.0, 2.0, -0.5, 0.0]
    assert_array_equal(cmc_curve(truth, decision), [0.75, 1.0])
    both = np.column_stack([np.negative(decision), decision])
    assert_array_equal(cmc_curve(truth, both), [0.75, 1.0])


@pytest.mark.parametrize(
    ("truth", "scores", "options", "message"),
    [
        (["a", "b"], np.eye(3)[:2], {}, r"y_score must have the shape \(2, 2\), .* in labels"),
        (["a", "b", "c"], np.ones(3), {}, r"y_score must have the shape \(3, 3\), .* got \(3,\)"),
        (["a", "d"], np.eye(3)[:2], {"labels": list("abc")}, "y_true must name classes .* 'd'"),
        (["a", "b"], [[1.0, np.nan], [0.0, 1.0]], {}, "y_score must be finite, got nan"),
        (["a", "b"], [["x", "y"]] * 2, {}, "y_score must hold numbers only"),
        (["a", "b", "c"], np.eye(2), {}, "inconsistent numbers of samples"),
    ],
)
def test_scores_that_fit_no_classes_are_refused(truth, scores, options, message):
    for function in (cmc_curve, match_rate):
        with pytest.raises(ValueError, match=message):
            function(truth, scores, **options)


@pytest.mark.parametrize("rank", [0, 3, 1.5, "first"])
def test_ranks_are_whole_numbers_of_classes(rank):
    with pytest.raises(ValueError, match=f"rank must be a whole number .*, 2, got {rank!r}"):
        match_rate(["a", "b"], np.eye(2), rank=rank)
