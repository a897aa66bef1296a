"""Cost matrices as heat maps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from ecselm._typing import AnyArray, FloatArray
from ecselm.costs import parse_cost
from ecselm.displays._drawing import MOST_WRITTEN, axes_or_new, having, name_classes, write_cells

IN_LEAST = "cost, relative to the cheapest mistake"


class CostMatrixDisplay:
    """Heat map of the cost of each confusion, with true classes as rows.

    Correct predictions, on the diagonal, are left blank. Use :meth:`from_estimator` for the
    costs of a fitted estimator, :meth:`from_matrix` for any costs.

    Parameters
    ----------
    cost_matrix : array of shape (k, k)
        The diagonal is ignored.
    labels : array of shape (k,), default=None
        The classes; None numbers them from 0.
    name : str, default="cost"
        Title of the plot.

    Attributes
    ----------
    im_ : matplotlib AxesImage
    text_ : array of shape (k, k) of matplotlib Text, or None
        The numbers, with None on the diagonal; None if no numbers are written.
    colorbar_ : matplotlib Colorbar or None
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from ecselm.displays import CostMatrixDisplay
    >>> display = CostMatrixDisplay.from_matrix({("ill", "well"): 5}, labels=["ill", "well"])
    >>> display.text_[0, 1].get_text(), display.text_[1, 0].get_text()
    ('5', '1')
    >>> plt.close(display.figure_)
    """

    im_: Any
    text_: AnyArray | None
    colorbar_: Any
    ax_: Any
    figure_: Any

    def __init__(self, cost_matrix: Any, *, labels: Any = None, name: str = "cost") -> None:
        self.cost_matrix = cost_matrix
        self.labels = labels
        self.name = name

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, normalize: str | None = "least", ax: Any = None, **kwargs: Any
    ) -> Self:
        """Draw the ``cost_matrix_`` of a fitted estimator.

        Parameters
        ----------
        estimator : estimator
            Fitted, with learned costs (:class:`ecselm.ECSELMClassifier`,
            :class:`ecselm.CostSearchCV`) or given costs (:class:`ecselm.CSELMClassifier`);
            also at the end of a pipeline, or in a ``GridSearchCV``.
        normalize : {"least"} or None, default="least"
            Divide by the smallest cost above 0, since only ratios of costs matter; None
            draws costs unchanged.
        ax : matplotlib Axes, default=None
            None makes a new figure.
        **kwargs
            Passed to :meth:`plot`.

        Returns
        -------
        display : CostMatrixDisplay
        """
        fitted = having(estimator, "cost_matrix_")
        if fitted.cost_matrix_ is None:
            raise ValueError("estimator must have costs by class to draw them, got costs by row")
        M, name = _normalized(fitted.cost_matrix_, normalize)
        return cls(M, labels=fitted.classes_, name=name).plot(ax, **kwargs)

    @classmethod
    def from_matrix(
        cls,
        matrix: Any,
        *,
        labels: Any = None,
        normalize: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw costs by class, in any form that estimators accept.

        Parameters
        ----------
        matrix : array, DataFrame or dict
            As ``cost`` of :class:`ecselm.CSELMClassifier`. The cost of correct predictions
            is subtracted first.
        labels : array of shape (k,), default=None
            The classes, in the order of the rows of the plot. None takes the columns of a
            DataFrame, and numbers from 0 for an array; a dict needs labels.
        normalize, ax, **kwargs :
            As in :meth:`from_estimator`.

        Returns
        -------
        display : CostMatrixDisplay
        """
        classes = _classes(matrix, labels)
        M, name = _normalized(parse_cost(matrix, classes), normalize)
        return cls(M, labels=classes, name=name).plot(ax, **kwargs)

    def plot(
        self,
        ax: Any = None,
        *,
        include_values: bool | None = None,
        values_format: str = ".3g",
        cmap: Any = "cividis_r",
        colorbar: bool | None = None,
        text_kw: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the matrix, on a logarithmic colour scale if all costs are above 0.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a new figure.
        include_values : bool, default=None
            Whether to write numbers into the cells; None writes them up to 12 classes.
        values_format : str, default=".3g"
        cmap : str or matplotlib Colormap, default="cividis_r"
            Darker for higher costs.
        colorbar : bool, default=None
            None adds one if no numbers are written.
        text_kw : dict, default=None
            Text properties of the numbers, such as ``{"fontsize": 8}``.
        **kwargs
            Passed to ``Axes.imshow``.

        Returns
        -------
        self
        """
        M = np.array(self.cost_matrix, dtype=np.float64)
        np.fill_diagonal(M, np.nan)
        written = len(M) <= MOST_WRITTEN if include_values is None else include_values
        self.ax_ = axes_or_new(ax)
        self.figure_ = self.ax_.figure
        style = {"cmap": cmap, "norm": _scale(M), **kwargs}
        self.im_ = self.ax_.imshow(np.ma.masked_invalid(M), **style)
        self.text_ = (
            write_cells(self.ax_, self.im_, M, values_format, **(text_kw or {}))
            if written
            else None
        )
        self.colorbar_ = None
        if (not written if colorbar is None else colorbar) and np.nanmin(M) < np.nanmax(M):
            self.colorbar_ = _colorbar(self.im_, self.ax_)
        labels = range(len(M)) if self.labels is None else self.labels
        name_classes(self.ax_, [str(label) for label in labels])
        self.ax_.set(xlabel="predicted class", ylabel="true class", title=self.name)
        return self


def _classes(matrix: Any, labels: Any) -> AnyArray:
    if labels is None and isinstance(matrix, Mapping):
        raise ValueError("labels must be given for costs in a dict, got None")
    if labels is not None:
        return np.asarray(labels)
    return np.asarray(matrix.columns if hasattr(matrix, "columns") else range(len(matrix)))


def _normalized(cost_matrix: Any, normalize: str | None) -> tuple[FloatArray, str]:
    """Return the normalised costs and the title that describes them."""
    if normalize not in {"least", None}:
        raise ValueError(f"normalize must be 'least' or None, got {normalize!r}")
    M = np.asarray(cost_matrix, dtype=np.float64)
    if normalize is None:
        return M, "cost"
    positive = M[(M > 0) & ~np.eye(len(M), dtype=bool)]
    if not positive.size:
        raise ValueError("normalize must be None where no mistake costs more than 0, got 'least'")
    return M / positive.min(), IN_LEAST


def _scale(M: FloatArray) -> str:
    """Return the colour scale: logarithmic, unless some costs are 0 or negative."""
    return "log" if np.nanmin(M) > 0 else "linear"


def _colorbar(im: Any, ax: Any) -> Any:
    made = ax.figure.colorbar(im, ax=ax, format="%g")
    if im.norm.vmin > 0:
        from matplotlib.ticker import LogLocator  # noqa: PLC0415

        made.set_ticks(LogLocator(subs=(1.0, 2.0, 5.0)))
        made.minorticks_off()
    return made
