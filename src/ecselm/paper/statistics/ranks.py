"""Several methods by their ranks.

Demsar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7 (2006).
Sizes: n rows, k methods.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from scipy import stats

from ecselm._typing import FloatArray
from ecselm.paper.statistics.tests import NO_DIFFERENCE, Finding, read_table


def mean_ranks(table: Any, *, greater_is_better: bool = True) -> Any:
    """Return the mean rank of each method, 1 for the best; equals share theirs.

    Parameters
    ----------
    table : DataFrame of shape (n, k)
        Data sets by methods.
    greater_is_better : bool, default=True

    Returns
    -------
    ranks : Series of length k

    Examples
    --------
    >>> mean_ranks({"ELM": [70, 80], "KELM": [75, 80], "ECSELM": [78, 90]}).to_dict()
    {'ELM': 2.75, 'KELM': 2.25, 'ECSELM': 1.0}
    """
    frame = read_table(table)
    return frame.rank(axis=1, ascending=not greater_is_better).mean()


def friedman_test(table: Any) -> Finding:
    """Test whether any method differs from the others, rows being blocks.

    ``chi2 = 12 n / (k (k + 1)) sum_j (R_j - (k + 1) / 2)^2`` with k - 1 degrees of freedom,
    R_j the mean ranks, divided by what equal results leave of the spread (Friedman 1937).

    Parameters
    ----------
    table : DataFrame of shape (n, k)

    Examples
    --------
    >>> round(friedman_test({"a": [1, 2, 1, 2], "b": [3, 3, 4, 4], "c": [5, 5, 6, 6]}).p, 3)
    0.018
    """
    return friedman(read_table(table).to_numpy())


def kruskal_test(table: Any) -> Finding:
    """Test whether any method differs from the others, as if rows were unrelated.

    Kruskal and Wallis (1952). On results of the same data sets it mistakes how hard these
    are for noise, and finds less than :func:`friedman_test`.

    Parameters
    ----------
    table : DataFrame of shape (n, k)

    Examples
    --------
    >>> round(kruskal_test({"a": [1, 2, 1, 2], "b": [3, 3, 4, 4], "c": [5, 5, 6, 6]}).p, 3)
    0.007
    """
    return kruskal(read_table(table).to_numpy())


def nemenyi_test(table: Any) -> Any:
    """Return the p value of every pair of methods, all pairs allowed for.

    ``q = |R_i - R_j| / sqrt(k (k + 1) / (12 n))`` is referred to the range of k normal
    variables (Nemenyi 1963).

    Parameters
    ----------
    table : DataFrame of shape (n, k)

    Returns
    -------
    p : DataFrame of shape (k, k)

    Examples
    --------
    >>> p = nemenyi_test({"a": [1, 2, 1, 2], "b": [3, 3, 4, 4], "c": [5, 5, 6, 6]})
    >>> p.round(3).loc["a"].to_dict()
    {'a': 1.0, 'b': 0.333, 'c': 0.013}
    """
    import pandas as pd  # noqa: PLC0415

    frame = read_table(table)
    V, k = frame.to_numpy(), frame.shape[1]
    p = np.ones((k, k))
    for i, j in combinations(range(k), 2):
        p[i, j] = p[j, i] = nemenyi(V, i, j).p
    return pd.DataFrame(p, frame.columns, frame.columns)


def critical_difference(n_methods: int, n_rows: int, *, alpha: float = 0.05) -> float:
    """Return by how much mean ranks must differ to be told apart by :func:`nemenyi_test`.

    ``CD = q_alpha sqrt(k (k + 1) / (6 n))``.

    Parameters
    ----------
    n_methods, n_rows : int
    alpha : float, default=0.05

    Examples
    --------
    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    if n_methods < 2 or n_rows < 2:
        raise ValueError(f"n_methods and n_rows must be at least 2, got {n_methods} and {n_rows}")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must lie between 0 and 1, got {alpha}")
    span = stats.studentized_range.isf(alpha, n_methods, np.inf)
    return float(span * _unit(n_rows, n_methods) / np.sqrt(2.0))


def friedman(V: FloatArray) -> Finding:
    """Test the columns of ``V`` (n, k), see :func:`friedman_test`."""
    k = V.shape[1]
    centred = stats.rankdata(V, axis=1) - (k + 1) / 2.0
    spread = (centred**2).sum()  # n k (k + 1) (k - 1) / 12 where no results are equal
    if spread == 0:
        return NO_DIFFERENCE
    chi2 = (k - 1) * (centred.sum(axis=0) ** 2).sum() / spread
    return Finding(float(chi2), float(stats.chi2.sf(chi2, k - 1)))


def kruskal(V: FloatArray) -> Finding:
    """Test the columns of ``V`` (n, k), see :func:`kruskal_test`."""
    if np.ptp(V) == 0:
        return NO_DIFFERENCE
    found = stats.kruskal(*V.T)
    return Finding(float(found.statistic), float(found.pvalue))


def nemenyi(V: FloatArray, i: int, j: int) -> Finding:
    """Test two columns among all of ``V`` (n, k), see :func:`nemenyi_test`."""
    q = rank_difference(V, i, j) * np.sqrt(2.0)
    return Finding(q, float(stats.studentized_range.sf(abs(q), V.shape[1], np.inf)))


def by_mean_rank(V: FloatArray, i: int, j: int) -> Finding:
    """Test two columns among all of ``V`` (n, k) by the normal distribution of mean ranks.

    What follows a Friedman test against one control; to be corrected, as by :func:`holm`.
    """
    z = rank_difference(V, i, j)
    return Finding(z, float(2.0 * stats.norm.sf(abs(z))))


def rank_difference(V: FloatArray, i: int, j: int) -> float:
    """Return ``(R_i - R_j) / sqrt(k (k + 1) / (6 n))``; greater results have greater ranks."""
    R = stats.rankdata(V, axis=1).mean(axis=0)
    return float((R[i] - R[j]) / _unit(*V.shape))


def _unit(n: int, k: int) -> float:
    """Return the standard deviation of the difference of two mean ranks."""
    return float(np.sqrt(k * (k + 1) / (6.0 * n)))
