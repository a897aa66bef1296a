"""Two methods on the same rows, by formulas as printed and by enumeration."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from ecselm.paper.protocols.published import PUBLISHED
from ecselm.paper.statistics import Finding, corrected_t_test, paired_t_test, wilcoxon_test

TABLE_XII = PUBLISHED["table-12"].by_method()
TABLE_XIII = PUBLISHED["table-13"].by_method()
TESTS = {
    "ttest": paired_t_test,
    "corrected": lambda a, b: corrected_t_test(a, b, test_train_ratio=0.5),
    "wilcoxon": wilcoxon_test,
}
EVERY = pytest.mark.parametrize("test", TESTS.values(), ids=TESTS)


@pytest.fixture
def pair(rng):
    """Return the results of two methods in 8 rows."""
    b = rng.standard_normal(8)
    return b + 0.5 + rng.standard_normal(8), b


def literal_wilcoxon(a, b):
    """Return the exact p value: of all signs, how many are as far from even."""
    d = np.subtract(a, b)
    ranks = stats.rankdata(np.abs(d))
    half = ranks.sum() / 2
    seen = abs(ranks[d > 0].sum() - half)
    all_signs = np.array(list(product([0, 1], repeat=len(d))))
    return np.mean(np.abs(all_signs @ ranks - half) >= seen - 1e-9)


@pytest.mark.parametrize("method", TABLE_XIII)
def test_the_paired_t_test_gives_the_published_p_values(method):
    p = paired_t_test(TABLE_XII[method], TABLE_XII["ECSELM"]).p
    published, at_one, at_five = TABLE_XIII[method]
    assert p == pytest.approx(published, abs=5e-5)
    assert (p < 0.01, p < 0.05) == (at_one, at_five)


@pytest.mark.parametrize(
    ("method", "expected"), [("CSLDA", 0.0048), ("CSLPP", 0.0334), ("CSMFA", 0.0058)]
)
def test_results_of_ar_under_their_own_headings_turn_three_decisions(method, expected):
    results = np.array(TABLE_XII[method])
    results[3] = PUBLISHED["table-6"].column(method)[0]
    p = paired_t_test(results, TABLE_XII["ECSELM"]).p
    assert p == pytest.approx(expected, abs=5e-5)
    assert (p < 0.01) != TABLE_XIII[method][1]


@pytest.mark.parametrize("method", TABLE_XIII)
def test_wilcoxon_finds_in_table_xii_the_least_that_six_rows_allow(method):
    assert wilcoxon_test(TABLE_XII[method], TABLE_XII["ECSELM"]).p == 2 / 2**6


def test_the_t_test_is_that_of_scipy(pair):
    expected = stats.ttest_rel(*pair)
    found = paired_t_test(*pair)
    assert_allclose([found.statistic, found.p], [expected.statistic, expected.pvalue], rtol=1e-12)


@pytest.mark.parametrize("ratio", [220 / 400, 1 / 9])
def test_the_corrected_t_test_is_that_of_nadeau_and_bengio(pair, ratio):
    d = [x - y for x, y in zip(*pair, strict=True)]
    n, mean = len(d), sum(d) / len(d)
    variance = sum((x - mean) ** 2 for x in d) / (n - 1)
    t = mean / np.sqrt((1 / n + ratio) * variance)
    found = corrected_t_test(*pair, test_train_ratio=ratio)
    assert found.statistic == pytest.approx(t, rel=1e-12)
    assert found.p == pytest.approx(2 * stats.t(n - 1).sf(abs(t)), rel=1e-12)


def test_the_correction_vanishes_with_the_ratio_and_never_helps(pair):
    plain = paired_t_test(*pair)
    assert corrected_t_test(*pair, test_train_ratio=1e-12).p == pytest.approx(plain.p, rel=1e-9)
    assert corrected_t_test(*pair, test_train_ratio=0.1).p > plain.p


def test_the_correction_keeps_its_level_where_splits_share_rows(rng):
    """Methods that are alike, over splits whose results vary together as the source assumes."""
    n, ratio, runs = 10, 220 / 400, 2000
    shared = ratio / (1 + ratio)  # n_test / (n_test + n_train)
    error = rng.standard_normal((runs, n)) * np.sqrt(1 - shared)
    d = error + rng.standard_normal((runs, 1)) * np.sqrt(shared)
    zero = np.zeros(n)
    plain = np.mean([paired_t_test(row, zero).p < 0.05 for row in d])
    corrected = [corrected_t_test(row, zero, test_train_ratio=ratio).p < 0.05 for row in d]
    assert np.mean(corrected) == pytest.approx(0.05, abs=0.015)
    assert plain > 0.3


def test_equal_differences_share_their_rank_whatever_their_last_bits():
    a, b = [0.95, 0.85, 0.75, 0.2], [0.9, 0.8, 0.7, 0.9]
    whole = wilcoxon_test([19, 17, 15, 4], [18, 16, 14, 18])
    assert wilcoxon_test(a, b) == whole


def test_wilcoxon_counts_all_signs(pair):
    assert wilcoxon_test(*pair).p == pytest.approx(literal_wilcoxon(*pair), rel=1e-12)


def test_wilcoxon_leaves_out_rows_without_a_difference(pair):
    a, b = pair
    expected = wilcoxon_test(a, b)
    tied = wilcoxon_test(np.r_[a, 1.0, 2.0], np.r_[b, 1.0, 2.0])
    assert_allclose([tied.statistic, tied.p], [expected.statistic, expected.p], rtol=1e-12)


@EVERY
def test_the_order_of_rows_and_of_methods_does_not_matter(rng, pair, test):
    a, b = pair
    order = rng.permutation(8)
    assert test(a[order], b[order]).p == pytest.approx(test(a, b).p, rel=1e-9)
    assert test(b, a).p == pytest.approx(test(a, b).p, rel=1e-9)


@EVERY
def test_the_unit_does_not_matter(pair, test):
    a, b = pair
    assert test(100 * a, 100 * b).p == pytest.approx(test(a, b).p, rel=1e-9)


@EVERY
def test_equal_results_differ_in_nothing(test):
    assert test([0.3, 0.5, 0.9], [0.3, 0.5, 0.9]) == Finding(0.0, 1.0)


def test_one_difference_in_all_rows_leaves_no_doubt_to_a_t_test():
    assert paired_t_test([2.0, 3.0, 4.0], [1.0, 2.0, 3.0]) == Finding(np.inf, 0.0)
    assert paired_t_test([1.0, 2.0, 3.0], [2.0, 3.0, 4.0]) == Finding(-np.inf, 0.0)


@EVERY
@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ([1.0], [2.0], r"a and b must have one shape \(n,\), n >= 2, got \(1,\) and \(1,\)"),
        ([1.0, 2.0], [2.0], r"one shape .* \(2,\) and \(1,\)"),
        (np.eye(2), np.eye(2), r"one shape .* \(2, 2\)"),
        ([1.0, np.nan], [1.0, 2.0], "a and b must be finite, got NaN or infinity"),
    ],
)
def test_what_makes_no_pairs_is_refused(test, a, b, message):
    with pytest.raises(ValueError, match=message):
        test(a, b)


@pytest.mark.parametrize("ratio", [0.0, -1.0, np.nan, np.inf])
def test_the_ratio_of_sizes_is_positive(pair, ratio):
    with pytest.raises(ValueError, match=f"test_train_ratio must be > 0, got {ratio}"):
        corrected_t_test(*pair, test_train_ratio=ratio)
