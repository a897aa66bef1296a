"""Permutation importance of columns, as bars with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import is_regressor

from ecselm._wording import brief
from ecselm.displays._drawing import COLOURS, GREY, axes_or_new
from ecselm.estimators._importance import Importance, permutation_importance
from ecselm.metrics import default_metric, get_metric

LONGEST = 40  # characters of a name in a plot


class ImportanceDisplay:
    """Bars of what columns are worth to a model, with their intervals.

    Parameters
    ----------
    importances : sequence of Importance
        The most important first.
    unit : str, default="loss"
        What is lost, for the label of the x axis.

    Attributes
    ----------
    bars_ : matplotlib BarContainer
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_iris
    >>> from ecselm import ELMClassifier
    >>> from ecselm.displays import ImportanceDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = ELMClassifier(random_state=0).fit(X[::2], y[::2])
    >>> display = ImportanceDisplay.from_estimator(model, X[1::2], y[1::2])
    >>> [one.column for one in display.importances][:2]
    ['petal length (cm)', 'petal width (cm)']
    >>> plt.close(display.figure_)
    """

    bars_: Any
    ax_: Any
    figure_: Any

    def __init__(self, importances: Sequence[Importance], *, unit: str = "loss") -> None:
        self.importances = importances
        self.unit = unit

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        metric: Any = None,
        cost: Any = None,
        sample_cost: Any = None,
        rows: int | None = None,
        n_repeats: int = 5,
        rng: Any = 0,
        columns: Sequence[Any] | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw what the columns of test rows are worth to a fitted model.

        Parameters
        ----------
        estimator : classifier or regressor
        X : dataframe, array or sparse matrix of shape (N, m)
            Test rows.
        y : array of shape (N,)
        metric : str or callable, default=None
            Whose loss is measured; None is the mean absolute error for numbers, the mean cost
            where costs are stated, and the balanced accuracy otherwise.
        cost : CostConstraints, array, DataFrame, dict or None, default=None
            Costs of mistakes, for metrics that count them; of half-known costs, the mean.
        sample_cost : array of shape (N, k, k) or (N,), default=None
            Known costs of the rows.
        rows : int or None, default=None
            Most rows to use, drawn at random; None is 1000.
        n_repeats : int, default=5
            Permutations of every column.
        rng : int or numpy.random.Generator, default=0
        columns : sequence of str or int, default=None
            None measures all, or the 50 that change predictions most.
        ax : matplotlib Axes, default=None
            None makes a new figure.
        **kwargs
            Passed to :meth:`plot`.

        Returns
        -------
        display : ImportanceDisplay
        """
        if metric is None and is_regressor(estimator):
            metric = "mae"
        elif metric is None:
            metric = default_metric(cost if sample_cost is None else sample_cost)
        found = permutation_importance(
            estimator, X, y, metric=metric, cost=cost, sample_cost=sample_cost, rows=rows,
            n_repeats=n_repeats, rng=rng, columns=columns,
        )  # fmt: skip
        record = get_metric(metric)
        verb = "loss of" if record.greater_is_better else "increase of the"
        return cls(found, unit=f"{verb} {record.label}").plot(ax, **kwargs)

    def plot(
        self,
        ax: Any = None,
        *,
        max_columns: int = 20,
        only_not_settled: bool = False,
        **kwargs: Any,
    ) -> Self:
        """Draw a bar for every column, the most important on top.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a new figure.
        max_columns : int, default=20
            Most bars.
        only_not_settled : bool, default=False
            Draw the effect on rows whose best answer depends on unknown costs.
        **kwargs
            Passed to ``Axes.barh``.

        Returns
        -------
        self
        """
        if max_columns < 1:
            raise ValueError(f"max_columns must be >= 1, got {max_columns}")
        drawn = [
            (one.column, one.not_settled if only_not_settled else one.whole)
            for one in self.importances
        ]
        effects = [(name, effect) for name, effect in drawn if effect is not None]
        if not effects:
            rows = "rows that are not settled" if only_not_settled else "columns"
            raise ValueError(f"importances must have {rows}, got none")
        effects = sorted(effects, key=lambda one: -one[1].value)[:max_columns]
        self.ax_ = axes_or_new(ax, (6.4, 1.2 + 0.3 * len(effects)))
        self.figure_ = self.ax_.figure
        places, values = np.arange(len(effects)), [effect.value for _, effect in effects]
        style = {"color": COLOURS[0], "alpha": 0.8, **kwargs}
        self.bars_ = self.ax_.barh(places, values, **style)
        for place, (_, effect) in zip(places, effects, strict=True):
            if effect.low is not None and effect.high is not None:
                self.ax_.plot([effect.low, effect.high], [place, place], color="black", lw=1.2)
        self.ax_.axvline(0.0, color=GREY, linewidth=0.9)
        # Names are of any length, and no formulas.
        names = [brief(name, LONGEST) for name, _ in effects]
        self.ax_.set_yticks(places, names, parse_math=False)
        self.ax_.invert_yaxis()
        what = "on rows that are not settled" if only_not_settled else "if the column is permuted"
        self.ax_.set_xlabel(f"{self.unit}, {what}", parse_math=False)
        self.ax_.grid(alpha=0.3, axis="x")
        return self
