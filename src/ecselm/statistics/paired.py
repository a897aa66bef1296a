"""Two methods on the same rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from ecselm.statistics.finding import NO_DIFFERENCE, Finding
from ecselm.statistics.tables import differences, read_pair


def paired_t_test(a: Any, b: Any) -> Finding:
    """Test whether the mean of ``a - b`` is 0, rows being independent: table XIII.

    ``t = mean(d) / sqrt(var(d) / n)`` with n - 1 degrees of freedom. Splits of one data
    set are not independent: see :func:`corrected_t_test`.

    Parameters
    ----------
    a, b : array of shape (n,)

    Examples
    --------
    >>> paired_t_test([50.0, 55.0, 93.0], [33.0, 37.0, 82.0]).p < 0.05
    True
    """
    return _t_test(a, b, 0.0)


def corrected_t_test(a: Any, b: Any, *, test_train_ratio: float) -> Finding:
    """Test whether the mean of ``a - b`` is 0 over repeated splits of one data set.

    ``t = mean(d) / sqrt((1/n + n_test/n_train) var(d))`` with n - 1 degrees of freedom
    (Nadeau and Bengio 2003): training sets that overlap make results vary together, which
    the plain test takes for certainty.

    Parameters
    ----------
    a, b : array of shape (n,)
        Results of n random splits, or of n folds of repeated cross-validation.
    test_train_ratio : float
        ``n_test / n_train``: 220 / 400 in table I, 1 / (k - 1) with k folds.

    Examples
    --------
    >>> a, b = [0.51, 0.53, 0.50, 0.54], [0.49, 0.50, 0.49, 0.50]
    >>> paired_t_test(a, b).p < 0.05 < corrected_t_test(a, b, test_train_ratio=220 / 400).p
    True
    """
    if not (np.isfinite(test_train_ratio) and test_train_ratio > 0):
        raise ValueError(f"test_train_ratio must be > 0, got {test_train_ratio}")
    return _t_test(a, b, test_train_ratio)


def wilcoxon_test(a: Any, b: Any) -> Finding:
    """Test whether ``a - b`` is symmetric about 0, by signed ranks (Wilcoxon 1945).

    Pairs without a difference are left out. The p value is exact for few rows; of n rows
    it cannot be less than ``2 / 2^n``.

    Parameters
    ----------
    a, b : array of shape (n,)

    Examples
    --------
    >>> wilcoxon_test([2.0, 4.0, 6.0, 8.0, 10.0, 12.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    Finding(statistic=0.0, p=0.03125)
    """
    difference = differences(*read_pair(a, b))
    if not difference.any():
        return NO_DIFFERENCE
    found = stats.wilcoxon(difference)
    return Finding(float(found.statistic), float(found.pvalue))


def _t_test(a: Any, b: Any, ratio: float) -> Finding:
    difference = differences(*read_pair(a, b))
    if not difference.any():
        return NO_DIFFERENCE
    n = len(difference)
    deviation = np.sqrt((1.0 / n + ratio) * difference.var(ddof=1))
    with np.errstate(divide="ignore"):  # one difference in all rows is beyond any doubt
        t = difference.mean() / deviation
    return Finding(float(t), float(2.0 * stats.t.sf(np.abs(t), n - 1)))
