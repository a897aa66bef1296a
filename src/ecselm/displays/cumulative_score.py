"""Shares of rows within an error as curves."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ecselm._typing import FloatArray
from ecselm.costs.parse import numbers
from ecselm.costs.weights import label_codes
from ecselm.displays._drawing import axes_or_new, look, whole_numbers
from ecselm.metrics import cumulative_score

N_POINTS = 101  # of a curve over errors that are no whole numbers, or many of them


class CumulativeScoreDisplay:
    """The share of rows whose absolute error is at most j, over j: ``CumScore(j)`` (35).

    For numbers, and for classes in an order, where errors are counted in steps. Repeated
    calls with one ``ax`` and a ``name`` each draw several curves.

    Parameters
    ----------
    tolerances : array of shape (g,)
        Rising.
    shares : array of shape (g,)
    name : str, default=None
        For the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from ecselm.displays import CumulativeScoreDisplay
    >>> display = CumulativeScoreDisplay.from_predictions([1, 2, 3, 4], [1, 3, 5, 4])
    >>> display.tolerances.tolist(), display.shares.tolist()
    ([0.0, 1.0, 2.0], [0.5, 0.75, 1.0])
    >>> plt.close(display.figure_)
    """

    line_: Any
    ax_: Any
    figure_: Any

    def __init__(self, tolerances: Any, shares: Any, *, name: str | None = None) -> None:
        self.tolerances = tolerances
        self.shares = shares
        self.name = name

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, name: str | None = None, **kwargs: Any
    ) -> Self:
        """Draw the curve of what a fitted estimator predicts.

        Parameters
        ----------
        estimator : estimator
        X : array, sparse matrix or dataframe of shape (N, n)
            Best of rows that it was not fitted on.
        y : array of shape (N,) or (N, m)
        name : str, default=None
            None takes the name of its class.
        **kwargs
            Of :meth:`from_predictions`.

        Returns
        -------
        display : CumulativeScoreDisplay
        """
        check_is_fitted(estimator)
        shown = type(estimator).__name__ if name is None else name
        return cls.from_predictions(y, estimator.predict(X), name=shown, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        *,
        max_error: float | None = None,
        labels: Any = None,
        sample_weight: Any = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the curve of predictions.

        Parameters
        ----------
        y_true, y_pred : array of shape (N,) or (N, m)
            Numbers; or classes, if ``labels`` says in which order they stand.
        max_error : float, default=None
            Where the curve ends; None is the greatest error. It has a point at every whole
            number if all errors are whole numbers and it ends by 100, else 101 points.
        labels : array of shape (k,), default=None
            Classes from the lowest to the highest.
        sample_weight : array of shape (N,), default=None
        name : str, default=None
            For the legend.
        ax : matplotlib Axes, default=None
            None makes a new figure.
        **kwargs
            Of ``Axes.plot``.

        Returns
        -------
        display : CumulativeScoreDisplay
        """
        truth, told = _levels(y_true, labels, "y_true"), _levels(y_pred, labels, "y_pred")
        weighted = {"sample_weight": sample_weight}
        cumulative_score(truth, told, **weighted)  # refuses what cannot be compared
        tolerances = _tolerances(np.abs(truth - told.reshape(truth.shape)), max_error)
        shares = [cumulative_score(truth, told, tolerance=j, **weighted) for j in tolerances]
        return cls(tolerances, np.array(shares), name=name).plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the curve, in a look of its own among those on ``ax``.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a new figure.
        name : str, default=None
            In the place of that of the display.
        **kwargs
            Of ``Axes.plot``.

        Returns
        -------
        self
        """
        shown = self.name if name is None else name
        self.ax_ = axes_or_new(ax)
        self.figure_ = self.ax_.figure
        style = look(len(self.ax_.get_lines()), len(self.tolerances))
        (self.line_,) = self.ax_.plot(
            self.tolerances, self.shares, **{**style, "label": shown, **kwargs}
        )
        self.ax_.set(xlabel="absolute error at most", ylabel="cumulative score")
        self.ax_.set_ylim(-0.03, 1.03)  # what lies at 0 and 1 would hide behind the frame
        if not np.mod(self.tolerances, 1.0).any():
            whole_numbers(self.ax_)
        self.ax_.grid(alpha=0.3)
        if shown is not None:
            self.ax_.legend(loc="lower right")
        return self


def _levels(y: Any, labels: Any, name: str) -> FloatArray:
    """Return numbers, for classes their places in the order."""
    if labels is None:
        return numbers(y, name)
    return label_codes(np.asarray(y).tolist(), np.asarray(labels), name).astype(np.float64)


def _tolerances(errors: FloatArray, max_error: float | None) -> FloatArray:
    end = float(errors.max()) if max_error is None else float(max_error)
    if not (np.isfinite(end) and end >= 0):
        raise ValueError(f"max_error must be >= 0, got {max_error}")
    if end < N_POINTS and (errors == np.round(errors)).all():
        return np.arange(np.floor(end) + 1.0)
    return np.linspace(0.0, end, N_POINTS)
