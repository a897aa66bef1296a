"""Cumulative score curves: the share of rows within an error."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ecselm._typing import FloatArray
from ecselm.costs.parse import numbers
from ecselm.costs.weights import label_codes
from ecselm.displays._drawing import axes_or_new, look, whole_numbers
from ecselm.metrics import cumulative_score

N_POINTS = 101  # of a curve, unless errors are few integers


class CumulativeScoreDisplay:
    """Share of rows whose absolute error is at most j, over j: ``CumScore(j)`` (35).

    For real targets, and for ordered classes, where errors are counted in steps. Repeated
    calls with the same ``ax`` and different ``name`` draw several curves.

    Parameters
    ----------
    tolerances : array of shape (g,)
        In increasing order.
    shares : array of shape (g,)
    name : str, default=None
        Label in the legend.

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
        """Draw the curve of the predictions of a fitted estimator.

        Parameters
        ----------
        estimator : estimator
        X : array, sparse matrix or dataframe of shape (N, n)
            Preferably test rows.
        y : array of shape (N,) or (N, m)
        name : str, default=None
            None takes the class name of the estimator.
        **kwargs
            Passed to :meth:`from_predictions`.

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
            Real targets; or classes, whose order ``labels`` gives.
        max_error : float, default=None
            Largest error drawn; None is the greatest error. The curve has a point at every
            integer if all errors are integers up to 100, else 101 points.
        labels : array of shape (k,), default=None
            Classes from the lowest to the highest.
        sample_weight : array of shape (N,), default=None
        name : str, default=None
            Label in the legend.
        ax : matplotlib Axes, default=None
            None makes a new figure.
        **kwargs
            Passed to ``Axes.plot``.

        Returns
        -------
        display : CumulativeScoreDisplay
        """
        y_true, y_pred = _levels(y_true, labels, "y_true"), _levels(y_pred, labels, "y_pred")
        weighted = {"sample_weight": sample_weight}
        cumulative_score(y_true, y_pred, **weighted)  # raises for shapes that do not match
        tolerances = _tolerances(np.abs(y_true - y_pred.reshape(y_true.shape)), max_error)
        shares = [cumulative_score(y_true, y_pred, tolerance=j, **weighted) for j in tolerances]
        return cls(tolerances, np.array(shares), name=name).plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the curve, in a style not yet used on ``ax``.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a new figure.
        name : str, default=None
            Label that replaces the name of the display.
        **kwargs
            Passed to ``Axes.plot``.

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
        self.ax_.set_ylim(-0.03, 1.03)  # the frame would hide curves at 0 and 1
        if not np.mod(self.tolerances, 1.0).any():
            whole_numbers(self.ax_)
        self.ax_.grid(alpha=0.3)
        if shown is not None:
            self.ax_.legend(loc="lower right")
        return self


def _levels(y: Any, labels: Any, name: str) -> FloatArray:
    """Return real targets, or the positions of classes in their order."""
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
