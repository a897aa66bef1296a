"""Mean ranks on a line, and which of them cannot be told apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from ecselm.displays._drawing import axes_or_new
from ecselm.paper.statistics.ranks import critical_difference, mean_ranks
from ecselm.paper.statistics.tests import read_table

WIDTH, LINE = 7.5, 0.22  # inches


class CriticalDifferenceDisplay:
    """A critical-difference diagram (Demsar 2006): mean ranks of methods, 1 being the best.

    Methods joined by a bar do not differ by Nemenyi's test.

    Parameters
    ----------
    ranks : dict of str to float
        Mean ranks by method, in any order.
    difference : float
        By how much mean ranks must differ to be told apart.

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
        """Return the width and height in inches at which no name stands over another."""
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
        told = f"critical difference {self.difference:.2f} "
        ax.text(0.95, -0.7, told, ha="right", va="center", fontsize="small")

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
