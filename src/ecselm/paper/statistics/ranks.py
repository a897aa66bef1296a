"""Several methods by their ranks, and the critical-difference diagram.

Demsar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7 (2006).
Sizes: n rows, k methods.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any, Self

import numpy as np
from scipy import stats

from ecselm._typing import FloatArray
from ecselm.displays._drawing import axes_or_new
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
    R_j the mean ranks, corrected for ties (Friedman 1937).

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

    Kruskal and Wallis (1952). On results of the same data sets it takes the
    difficulty of these for error variance, and has less power than :func:`friedman_test`.

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
    """Return by how much mean ranks must differ to be significant by :func:`nemenyi_test`.

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
    total = (centred**2).sum()  # n k (k + 1) (k - 1) / 12 where no results are equal
    if total == 0:
        return NO_DIFFERENCE
    chi2 = (k - 1) * (centred.sum(axis=0) ** 2).sum() / total
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


WIDTH, LINE = 7.5, 0.22  # inches


class CriticalDifferenceDisplay:
    """A critical-difference diagram (Demsar 2006): mean ranks of methods, 1 being the best.

    Methods joined by a bar do not differ by Nemenyi's test.

    Parameters
    ----------
    ranks : dict of str to float
        Mean ranks by method, in any order.
    difference : float
        By how much mean ranks must differ to be significant.

    Attributes
    ----------
    name_lines_ : dict of str to matplotlib Line2D
        From the rank of each method to its name.
    text_ : dict of str to matplotlib Text
        The methods with their ranks.
    bars_ : list of matplotlib Line2D
        One for every longest run of methods within the difference.
    difference_line_ : matplotlib Line2D
        As long as the difference, or as there is room for.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from ecselm.paper.statistics import CriticalDifferenceDisplay
    >>> scores = {"ELM": [70, 80, 60], "KELM": [75, 80, 65], "ECSELM": [78, 90, 70]}
    >>> display = CriticalDifferenceDisplay.from_scores(scores)
    >>> [text.get_text().strip() for text in display.text_.values()]
    ['ECSELM (1.00)', 'KELM (2.17)', 'ELM (2.83)']
    >>> plt.close(display.figure_)
    """

    name_lines_: dict[str, Any]
    text_: dict[str, Any]
    bars_: list[Any]
    difference_line_: Any
    ax_: Any
    figure_: Any

    def __init__(self, ranks: Mapping[str, float], difference: float) -> None:
        self.ranks = ranks
        self.difference = difference

    @classmethod
    def from_scores(
        cls,
        scores: Any,
        *,
        greater_is_better: bool = True,
        alpha: float = 0.05,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the diagram of a table of results.

        Parameters
        ----------
        scores : DataFrame of shape (n, k)
            Data sets by methods: complete, at least 2 by 2.
        greater_is_better : bool, default=True
        alpha : float, default=0.05
            Level of Nemenyi's test.
        ax : matplotlib Axes, default=None
            None makes a new figure, large enough for all names.
        **kwargs
            Of :meth:`plot`.

        Returns
        -------
        display : CriticalDifferenceDisplay
        """
        table = read_table(scores)
        ranks = mean_ranks(table, greater_is_better=greater_is_better)
        return cls.from_ranks(ranks, len(table), alpha=alpha, ax=ax, **kwargs)

    @classmethod
    def from_ranks(
        cls, ranks: Any, n_rows: int, *, alpha: float = 0.05, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Draw the diagram of mean ranks.

        Parameters
        ----------
        ranks : Series, or dict of str to float
            Mean ranks by method, 1 being the best.
        n_rows : int
            Data sets that they are means over.
        alpha, ax, **kwargs :
            As in :meth:`from_scores`.

        Returns
        -------
        display : CriticalDifferenceDisplay
        """
        named = {str(method): float(rank) for method, rank in dict(ranks).items()}
        difference = critical_difference(len(named), n_rows, alpha=alpha)
        return cls(named, difference).plot(ax, **kwargs)

    @property
    def size(self) -> tuple[float, float]:
        """Return the width and height in inches at which no names overlap."""
        n_bars = len(cliques(sorted(self.ranks.values()), self.difference))
        return WIDTH, LINE * (len(self.ranks) / 2 + n_bars + 6)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the ranks, the critical difference and the bars.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a new figure of the size :attr:`size`. Names stand beside the axes,
            for which a figure with ``layout="constrained"`` makes room.
        **kwargs
            Of ``Axes.text``, for the methods.

        Returns
        -------
        self
        """
        self.ax_ = axes_or_new(ax, self.size)
        self.figure_ = self.ax_.figure
        ordered = dict(sorted(self.ranks.items(), key=lambda item: item[1]))
        ranks = list(ordered.values())
        joined = cliques(ranks, self.difference)
        self._draw_axis(len(ranks))
        self.bars_ = [
            self._draw_bar(ranks[first], ranks[last], i) for i, (first, last) in enumerate(joined)
        ]
        self._draw_names(ordered, -2.2 - 0.5 * len(joined), kwargs)
        return self

    def _draw_axis(self, n_methods: int) -> None:
        ax = self.ax_
        ax.set_xlim(0.5, n_methods + 0.5)
        ax.xaxis.tick_top()
        ax.set_xticks(range(1, n_methods + 1))
        ax.set_yticks([])
        for side in ("left", "right", "bottom"):
            ax.spines[side].set_visible(False)
        end = min(1 + self.difference, n_methods + 0.5)
        (self.difference_line_,) = ax.plot([1, end], [-0.7, -0.7], color="black", linewidth=1.2)
        label = f"critical difference {self.difference:.2f} "
        ax.text(0.95, -0.7, label, ha="right", va="center", fontsize="small")

    def _draw_bar(self, first: float, last: float, i: int) -> Any:
        ends, y = [first - 0.05, last + 0.05], -1.5 - 0.5 * i
        return self.ax_.plot(ends, [y, y], color="black", linewidth=3.0)[0]

    def _draw_names(self, ranks: dict[str, float], top: float, style: dict[str, Any]) -> None:
        """Write the better half on the left and the others on the right, none over another."""
        n = len(ranks)
        self.name_lines_, self.text_ = {}, {}
        for i, (method, rank) in enumerate(ranks.items()):
            left = i < (n + 1) // 2
            y = top - (i if left else n - 1 - i)
            edge = 0.5 if left else n + 0.5
            (self.name_lines_[method],) = self.ax_.plot(
                [rank, rank, edge], [0.0, y, y], color="0.4", linewidth=0.8
            )
            where = {"ha": "right" if left else "left", "va": "center", **style}
            self.text_[method] = self.ax_.text(edge, y, f" {method} ({rank:.2f}) ", **where)
        self.ax_.set_ylim(top - (n + 1) // 2, 0.0)


def cliques(ranks: list[float], difference: float) -> list[tuple[int, int]]:
    """Return the first and last of every longest run of rising ranks within the difference.

    Examples
    --------
    >>> cliques([1.0, 1.5, 2.2, 4.0], 1.0)
    [(0, 1), (1, 2)]
    """
    found: list[tuple[int, int]] = []
    for i, first in enumerate(ranks):
        last = max(j for j, rank in enumerate(ranks) if rank - first < difference)
        if last > i and (not found or last > found[-1][1]):
            found.append((i, last))
    return found
