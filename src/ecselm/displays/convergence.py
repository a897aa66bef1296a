"""Convergence curves of searches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from ecselm.displays._drawing import (
    GREY,
    WIDE,
    axes_or_new,
    draw_legend,
    having,
    look,
    whole_numbers,
)

AXES = {"generation": "generation", "evaluations": "candidates evaluated"}
WORDS = {
    "ones": "equal costs",
    "w1": "W1",
    "w2": "W2",
    "prior": "prior of the metric",
    "cost": "stated costs",
}
PRIORS = ("auto", "all", "best", None)


class ConvergenceDisplay:
    """Best and mean fitness of a search over its generations; greater is better.

    Priors, the costs that a search begins with, are horizontal lines: the distance above
    them is the gain of searching, on the validation rows of the search.

    Parameters
    ----------
    histories : dict of str to DataFrame
        Searches by name, each with the columns ``best``, ``mean``, and ``generation`` or
        ``evaluations`` or both.
    prior_scores : dict of str to dict, default=None
        Fitness of each prior by name, for each search that has priors.

    Attributes
    ----------
    best_lines_, mean_lines_ : dict of str to matplotlib Line2D
        By the name of the search.
    prior_lines_ : dict of (str, str) to matplotlib Line2D
        By the names of search and prior.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from ecselm.displays import ConvergenceDisplay
    >>> history = {"generation": [0, 1, 2], "best": [0.8, 0.9, 0.9], "mean": [0.5, 0.7, 0.8]}
    >>> display = ConvergenceDisplay.from_history(history, prior_scores={"w1": 0.85})
    >>> display.best_lines_["search"].get_ydata().tolist()
    [0.8, 0.9, 0.9]
    >>> plt.close(display.figure_)
    """

    best_lines_: dict[str, Any]
    mean_lines_: dict[str, Any]
    prior_lines_: dict[tuple[str, str], Any]
    ax_: Any
    figure_: Any

    def __init__(
        self,
        histories: Mapping[str, Any],
        *,
        prior_scores: Mapping[str, Mapping[str, float]] | None = None,
    ) -> None:
        self.histories = histories
        self.prior_scores = prior_scores

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the search of one or more fitted estimators.

        Parameters
        ----------
        estimator : estimator, or dict of str to estimator
            One that searches: ECSELM, EELM, ``CostSearchCV``; also at the end of a pipeline,
            or in a ``GridSearchCV``. A dict holds several by name.
        ax : matplotlib Axes, default=None
            None makes a new figure.
        **kwargs
            Passed to :meth:`plot`.

        Returns
        -------
        display : ConvergenceDisplay
        """
        named = estimator if isinstance(estimator, Mapping) else {"search": estimator}
        searching = {str(name): having(one, "history_") for name, one in named.items()}
        histories = {name: one.history_ for name, one in searching.items()}
        scores = {name: getattr(one, "prior_scores_", {}) for name, one in searching.items()}
        return cls(_checked(histories), prior_scores=scores).plot(ax, **kwargs)

    @classmethod
    def from_history(
        cls,
        history: Any,
        *,
        prior_scores: Mapping[str, float] | None = None,
        name: str = "search",
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw a search from its recorded history.

        Parameters
        ----------
        history : DataFrame or dict of columns
            With ``best``, ``mean``, and ``generation`` or ``evaluations`` or both, as
            ``history_`` of the estimators has them.
        prior_scores : dict of str to float, default=None
            Fitness of each prior.
        name : str, default="search"
        ax, **kwargs :
            As in :meth:`from_estimator`.

        Returns
        -------
        display : ConvergenceDisplay
        """
        scores = {name: prior_scores or {}}
        return cls(_checked({name: history}), prior_scores=scores).plot(ax, **kwargs)

    def plot(
        self, ax: Any = None, *, x: str = "generation", priors: str | None = "auto", **kwargs: Any
    ) -> Self:
        """Draw the best and the mean fitness of every search, and its priors.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a new figure.
        x : {"generation", "evaluations"}, default="generation"
            The x axis; evaluations make populations of different sizes comparable.
        priors : {"auto", "all", "best"} or None, default="auto"
            Priors to draw for every search; "auto" is all priors of a single search, and
            the best of each of several.
        **kwargs
            Passed to ``Axes.plot`` for the curves of the best fitness.

        Returns
        -------
        self
        """
        self._check(x, priors)
        self.ax_ = axes_or_new(ax, WIDE)
        self.figure_ = self.ax_.figure
        self.best_lines_, self.mean_lines_, self.prior_lines_ = {}, {}, {}
        for i, (name, history) in enumerate(self.histories.items()):
            self._draw_search(name, history, x, {**look(i, len(history[x])), **kwargs})
            self._draw_priors(name, priors, self.best_lines_[name].get_color())
        self.ax_.set(xlabel=AXES[x], ylabel="fitness (greater is better)")
        whole_numbers(self.ax_)
        self.ax_.grid(alpha=0.3)
        draw_legend(self.ax_, beside=ax is None)
        return self

    def _check(self, x: str, priors: str | None) -> None:
        if x not in AXES:
            raise ValueError(f"x must be one of {tuple(AXES)}, got {x!r}")
        if priors not in PRIORS:
            raise ValueError(f"priors must be one of {PRIORS}, got {priors!r}")
        for name, history in self.histories.items():
            if x not in _columns(history):
                raise ValueError(f"x must be a column of the history of {name!r}, got {x!r}")

    def _draw_search(self, name: str, history: Any, x: str, style: dict[str, Any]) -> None:
        of = f"{name}: " if len(self.histories) > 1 else ""
        at, best, mean = (np.asarray(history[column]) for column in (x, "best", "mean"))
        (self.best_lines_[name],) = self.ax_.plot(
            at, best, **{"label": f"{of}best so far", **style}
        )
        faint = {"color": self.best_lines_[name].get_color(), "linewidth": 1.0, "alpha": 0.6}
        (self.mean_lines_[name],) = self.ax_.plot(
            at, mean, linestyle="--", label=f"{of}mean of the generation", **faint
        )

    def _draw_priors(self, name: str, priors: str | None, colour: Any) -> None:
        scores = dict((self.prior_scores or {}).get(name, {}))
        single = len(self.histories) == 1
        if priors is None or not scores:
            return
        if priors == "best" or (priors == "auto" and not single):
            best = max(scores, key=scores.__getitem__)
            scores = {best: scores[best]}
        of = "" if single else f"{name}: "
        for i, (prior, score) in enumerate(scores.items()):
            self.prior_lines_[name, prior] = self.ax_.axhline(
                score,
                color=GREY if single else colour,
                linewidth=0.9,
                linestyle=(0, (1 + 2 * i, 2)),
                label=f"{of}{WORDS.get(prior, prior)}, {score:.4g}",
            )


def _columns(history: Any) -> list[str]:
    return list(history) if isinstance(history, Mapping) else list(history.columns)


def _checked(histories: dict[str, Any]) -> dict[str, Any]:
    """Return the histories, or raise ValueError if there are none or columns are missing."""
    if not histories:
        raise ValueError("estimator must be one estimator or more, got an empty dict")
    for history in histories.values():
        missing = [column for column in ("best", "mean") if column not in _columns(history)]
        if missing:
            raise ValueError(f"history must have the columns best and mean, got no {missing[0]!r}")
    return histories
