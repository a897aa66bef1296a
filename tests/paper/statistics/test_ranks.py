"""Several methods by ranks, against SciPy, published tables and simulation."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from ecselm.paper.protocols.published import PUBLISHED
from ecselm.paper.statistics import (
    Finding,
    critical_difference,
    friedman_test,
    kruskal_test,
    mean_ranks,
    nemenyi_test,
)
from ecselm.paper.statistics.ranks import by_mean_rank

TABLE_XII = PUBLISHED["table-12"].by_method()
# Demsar (2006), table 6: AUC of C4.5 as it is, with m, with cf and with both tuned. The ranks
# printed beside it separate values that rounding made equal in one row, hence its fourth decimal.
DEMSAR = pd.DataFrame(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ],
    columns=["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"],
)
TIES = pytest.mark.parametrize("ties", [False, True], ids=["no ties", "ties"])


def made(rng, ties, n=9, k=4):
    table = rng.standard_normal((n, k)) + np.arange(k)
    return pd.DataFrame(table.round(0) if ties else table, columns=list("abcdefghi")[:k])


def test_the_example_of_demsar_comes_out_as_printed():
    assert_allclose(mean_ranks(DEMSAR), [3.143, 2.000, 2.893, 1.964], atol=5e-4)
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=0.005)
    ranks = mean_ranks(DEMSAR)
    uncorrected = 12 * 14 / (4 * 5) * ((ranks**2).sum() - 4 * 25 / 4)
    assert uncorrected == pytest.approx(9.28, abs=0.005)
    assert friedman_test(DEMSAR).statistic > uncorrected  # ties leave less variance


@pytest.mark.parametrize(
    ("k", "alpha", "q"),
    [(2, 0.05, 1.960), (5, 0.05, 2.728), (10, 0.05, 3.164), (3, 0.1, 2.052), (9, 0.1, 2.855)],
)
def test_critical_values_are_those_of_demsars_table(k, alpha, q):
    n = 20
    expected = q * np.sqrt(k * (k + 1) / (6 * n))
    assert critical_difference(k, n, alpha=alpha) == pytest.approx(expected, rel=4e-4)


def test_table_xii_has_differences_by_friedman_and_none_by_kruskal():
    friedman, kruskal = friedman_test(TABLE_XII), kruskal_test(TABLE_XII)
    assert friedman.statistic == pytest.approx(26.76, abs=0.005)
    assert friedman.p == pytest.approx(0.0008, abs=5e-5)
    assert kruskal.statistic == pytest.approx(5.27, abs=0.005)
    assert kruskal.p == pytest.approx(0.73, abs=0.005)
    assert mean_ranks(TABLE_XII)["ECSELM"] == 1.0


@TIES
def test_friedman_and_kruskal_are_those_of_scipy(rng, ties):
    table = made(rng, ties)
    for ours, theirs in ((friedman_test, stats.friedmanchisquare), (kruskal_test, stats.kruskal)):
        found, expected = ours(table), theirs(*table.to_numpy().T)
        assert found.statistic == pytest.approx(expected.statistic, rel=1e-12)
        assert found.p == pytest.approx(expected.pvalue, rel=1e-10)


def test_friedman_is_the_formula_as_printed_where_there_are_no_ties(rng):
    table = made(rng, ties=False)
    n, k = table.shape
    R = [
        sum(sum(row[i] <= row[j] for i in range(k)) for row in table.to_numpy()) / n
        for j in range(k)
    ]
    chi2 = 12 * n / (k * (k + 1)) * sum((r - (k + 1) / 2) ** 2 for r in R)
    assert friedman_test(table).statistic == pytest.approx(chi2, rel=1e-12)


def test_two_methods_by_friedman_are_a_sign_test():
    table = {"a": [1, 2, 3, 4, 5, 6], "b": [2, 3, 4, 5, 6, 1]}
    assert friedman_test(table).statistic == pytest.approx((5 - 1) ** 2 / 6, rel=1e-12)


def test_nemenyi_meets_alpha_where_ranks_differ_by_the_critical_difference(rng):
    table = made(rng, ties=False, n=12, k=5)
    ranks, p = mean_ranks(table), nemenyi_test(table)
    for alpha in (0.01, 0.05, 0.2):
        gaps = np.abs(np.subtract.outer(ranks.to_numpy(), ranks.to_numpy()))
        far = gaps > critical_difference(5, 12, alpha=alpha)
        assert ((p.to_numpy() < alpha) == far).all()


def test_nemenyi_is_the_chance_that_normal_variables_range_so_far(rng):
    table = made(rng, ties=False, n=6, k=3)
    ranks, (n, k) = mean_ranks(table).to_numpy(), table.shape
    unit = np.sqrt(k * (k + 1) / (12 * n))
    ranges = np.ptp(rng.standard_normal((200_000, k)), axis=1)
    p = nemenyi_test(table).to_numpy()
    for i in range(k):
        for j in range(k):
            expected = np.mean(ranges >= abs(ranks[i] - ranks[j]) / unit)
            assert p[i, j] == pytest.approx(expected, abs=0.005)


def test_two_methods_need_no_correction_by_nemenyi(rng):
    table = made(rng, ties=False, n=9, k=2)
    p = by_mean_rank(table.to_numpy(), 0, 1).p
    assert nemenyi_test(table).loc["a", "b"] == pytest.approx(p, rel=1e-6)


def test_a_control_is_compared_by_the_normal_distribution(rng):
    table = made(rng, ties=True)
    (n, k), ranks = table.shape, mean_ranks(table, greater_is_better=False).to_numpy()
    z = (ranks[2] - ranks[0]) / np.sqrt(k * (k + 1) / (6 * n))
    found = by_mean_rank(table.to_numpy(), 2, 0)
    assert found.statistic == pytest.approx(z, rel=1e-12)
    assert found.p == pytest.approx(2 * stats.norm.cdf(-abs(z)), rel=1e-12)


@TIES
def test_rising_functions_of_each_row_change_no_ranks(rng, ties):
    table = made(rng, ties)
    bent = np.exp(table).mul(np.arange(1.0, 10.0), axis=0)
    assert friedman_test(bent) == friedman_test(table)
    pd.testing.assert_frame_equal(nemenyi_test(bent), nemenyi_test(table))


def test_the_best_has_the_first_rank_and_equals_share():
    table = {"a": [1, 1], "b": [2, 2], "c": [3, 2]}
    assert mean_ranks(table).to_dict() == {"a": 3.0, "b": 1.75, "c": 1.25}
    by_cost = mean_ranks(table, greater_is_better=False)
    assert by_cost.to_dict() == {"a": 1.0, "b": 2.25, "c": 2.75}


def test_equal_methods_differ_in_nothing():
    table = {"a": [1, 1, 1], "b": [1, 1, 1], "c": [1, 1, 1]}
    assert friedman_test(table) == Finding(0.0, 1.0)
    assert kruskal_test(table) == Finding(0.0, 1.0)
    assert (nemenyi_test(table) == 1.0).all(axis=None)
    blocks = {"a": [1, 2, 3], "b": [1, 2, 3]}
    assert friedman_test(blocks) == Finding(0.0, 1.0)
    assert kruskal_test(blocks).p == 1.0


@pytest.mark.parametrize(
    ("arguments", "alpha", "message"),
    [
        ((1, 5), 0.05, "n_methods and n_rows must be at least 2, got 1 and 5"),
        ((5, 1), 0.05, "n_methods and n_rows must be at least 2, got 5 and 1"),
        ((5, 5), 1.0, "alpha must lie between 0 and 1, got 1.0"),
    ],
)
def test_critical_differences_need_something_to_compare(arguments, alpha, message):
    with pytest.raises(ValueError, match=message):
        critical_difference(*arguments, alpha=alpha)


@pytest.mark.parametrize("test", [friedman_test, kruskal_test, nemenyi_test, mean_ranks])
def test_tables_must_be_complete(test):
    with pytest.raises(ValueError, match="table must be complete, got nan in row 1, column 'b'"):
        test({"a": [1.0, 2.0], "b": [1.0, np.nan]})
