"""Sensitivity of mean costs to the cost of one mistake."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import check_is_fitted

from ecselm._typing import AnyArray, FloatArray
from ecselm.costs import min_cost_decision, parse_cost
from ecselm.costs.parse import numbers
from ecselm.costs.weights import label_codes
from ecselm.displays._drawing import GREY, WIDE, axes_or_new, draw_legend, look
from ecselm.metrics import mean_cost

N_RATIOS = 101
CONSTANT = "constant"
RESPONSES = ("predict", "predict_proba")


@dataclass(frozen=True, slots=True)
class VariedMistake:
    """A mistake whose cost varies, while all others cost 1."""

    mistake: Any  # a pair (true, predicted), or a class for every mistake on it
    classes: AnyArray

    def mean_costs(
        self, y_true: Any, y_pred: Any, ratios: FloatArray, sample_weight: Any
    ) -> FloatArray:
        """Return the mean cost of labels (N,) or of probabilities (N, k) at each ratio (g,)."""
        predictions = np.asarray(y_pred)
        if predictions.ndim != 2:
            return self._of_labels(y_true, predictions, ratios, sample_weight)
        P = numbers(y_pred, "y_pred")
        if P.shape[1] != len(self.classes):
            raise ValueError(
                f"y_pred must have a column per class {self.classes.tolist()} where it holds "
                f"probabilities, got the shape {P.shape}"
            )
        decided = (self.classes[min_cost_decision(P, self._matrix(ratio))] for ratio in ratios)
        return np.array(
            [
                self._cost(y_true, one, ratio, sample_weight)
                for one, ratio in zip(decided, ratios, strict=True)
            ]
        )

    def constant_costs(self, y_true: Any, ratios: FloatArray, sample_weight: Any) -> FloatArray:
        """Return the mean cost of the best constant prediction at each ratio (g,)."""
        n = len(np.asarray(y_true))
        constants = [np.full(n, label) for label in self.classes]
        return np.min([self._of_labels(y_true, one, ratios, sample_weight) for one in constants], 0)

    def in_words(self) -> str:
        """Return the mistake as text."""
        if not isinstance(self.mistake, tuple):
            return f"a mistake on {self.mistake}"
        return f"{self.mistake[0]} taken for {self.mistake[1]}"

    def _of_labels(
        self, y_true: Any, y_pred: AnyArray, ratios: FloatArray, sample_weight: Any
    ) -> FloatArray:
        """Return the mean cost at each ratio, a linear function of the ratio."""
        free, once = (self._cost(y_true, y_pred, ratio, sample_weight) for ratio in (0.0, 1.0))
        return free + (once - free) * ratios

    def _cost(self, y_true: Any, y_pred: AnyArray, ratio: float, sample_weight: Any) -> float:
        cost = {self.mistake: ratio}
        return mean_cost(
            y_true, y_pred, cost=cost, labels=self.classes, sample_weight=sample_weight
        )

    def _matrix(self, ratio: float) -> FloatArray:
        return parse_cost({self.mistake: ratio}, self.classes)


def read_classes(y_true: Any, y_pred: Mapping[Any, Any], labels: Any) -> AnyArray:
    """Return ``labels``, or the classes of the true and of all predicted labels."""
    if not y_pred:
        raise ValueError("y_pred must hold the predictions of a method or more, got none")
    if labels is not None:
        return np.asarray(labels)
    predictions = [np.asarray(one) for one in y_pred.values()]
    predicted = (one for one in predictions if one.ndim == 1)
    return np.asarray(unique_labels(np.asarray(y_true), *predicted))


def read_mistake(mistake: Any, classes: AnyArray) -> VariedMistake:
    """Return the mistake; by default, of two classes, to miss the second."""
    if mistake is None and len(classes) == 2:
        first, second = classes.tolist()
        return VariedMistake((second, first), classes)
    if mistake is None:
        raise ValueError(
            f"mistake must be given for more than two classes, {classes.tolist()}, got None"
        )
    pair = mistake if isinstance(mistake, tuple) else (mistake,)
    codes = label_codes(pair, classes, "mistake")
    if len(set(codes.tolist())) != len(pair) or len(pair) > 2:
        raise ValueError(f"mistake must be a class or a pair of two classes, got {mistake!r}")
    return VariedMistake(mistake, classes)


def read_ratios(ratios: Any, interval: Any) -> FloatArray:
    """Return ``ratios``, or by default a grid that covers the interval."""
    low, high = (1.0, 1.0) if interval is None else _ends(interval)
    if ratios is None:
        return np.geomspace(min(1.0, low), max(100.0, high), N_RATIOS)
    grid = numbers(ratios, "ratios")
    if grid.ndim != 1 or len(grid) < 2 or not (grid > 0).all() or (np.diff(grid) <= 0).any():
        raise ValueError(f"ratios must be two or more rising numbers > 0, got {ratios!r}")
    return grid


def _ends(interval: Any) -> tuple[float, float]:
    ends = numbers(interval, "interval")
    if ends.shape != (2,) or not 0 < ends[0] < ends[1]:
        raise ValueError(f"interval must be a pair with 0 < low < high, got {interval!r}")
    return float(ends[0]), float(ends[1])


class SensitivityDisplay:
    """Mean cost of predictions over the cost of one mistake relative to all others.

    Where curves cross, the better method changes. A shaded interval shows whether they cross
    within the range in which the ratio is believed to lie.

    Parameters
    ----------
    ratios : array of shape (g,)
        Cost of the mistake, all others costing 1.
    costs : dict of str to array of shape (g,)
        Mean costs by method.
    constant : array of shape (g,), default=None
        Mean cost of the best constant prediction at each ratio.
    interval : pair of float, default=None
        Range in which the ratio is believed to lie.
    mistake_name : str, default="the mistake"
        Name of the mistake, for the label of the x axis.

    Attributes
    ----------
    lines_ : dict of str to matplotlib Line2D
        By method.
    constant_line_ : matplotlib Line2D or None
    band_ : matplotlib Patch or None
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from ecselm.displays import SensitivityDisplay
    >>> y_true = ["ill", "ill", "well", "well"]
    >>> y_pred = {"bold": ["ill", "well", "well", "well"], "shy": ["ill", "ill", "ill", "ill"]}
    >>> display = SensitivityDisplay.from_predictions(
    ...     y_true, y_pred, mistake=("ill", "well"), ratios=[1, 2, 4], interval=(1, 3)
    ... )
    >>> {name: costs.tolist() for name, costs in display.costs.items()}
    {'bold': [0.25, 0.5, 1.0], 'shy': [0.5, 0.5, 0.5]}
    >>> plt.close(display.figure_)
    """

    lines_: dict[str, Any]
    constant_line_: Any
    band_: Any
    ax_: Any
    figure_: Any

    def __init__(
        self,
        ratios: Any,
        costs: Mapping[str, Any],
        *,
        constant: Any = None,
        interval: tuple[float, float] | None = None,
        mistake_name: str = "the mistake",
    ) -> None:
        self.ratios = ratios
        self.costs = costs
        self.constant = constant
        self.interval = interval
        self.mistake_name = mistake_name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        response_method: str = "predict",
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the costs of the predictions of fitted classifiers.

        Parameters
        ----------
        estimator : classifier, or dict of str to classifier
            A dict holds several by name.
        X : array, sparse matrix or dataframe of shape (N, n)
            Test rows.
        y : array of shape (N,)
        response_method : {"predict", "predict_proba"}, default="predict"
            Use the predicted labels; or decide at every ratio for the class of least
            expected cost, as if the ratio had been known.
        ax : matplotlib Axes, default=None
            None makes a new figure.
        **kwargs
            Passed to :meth:`from_predictions`.

        Returns
        -------
        display : SensitivityDisplay
        """
        if response_method not in RESPONSES:
            raise ValueError(f"response_method must be one of {RESPONSES}, got {response_method!r}")
        several = isinstance(estimator, Mapping)
        models = estimator if several else {type(estimator).__name__: estimator}
        for model in models.values():
            check_is_fitted(model)
        y_pred = {name: getattr(model, response_method)(X) for name, model in models.items()}
        if "labels" not in kwargs:
            kwargs["labels"] = _common_classes(models)
        return cls.from_predictions(y, y_pred, ax=ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        *,
        mistake: Any = None,
        ratios: Any = None,
        interval: tuple[float, float] | None = None,
        labels: Any = None,
        sample_weight: Any = None,
        name: str = "predictions",
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the costs of predictions.

        Parameters
        ----------
        y_true : array of shape (N,)
        y_pred : array of shape (N,) or (N, k), or dict of str to these
            Labels; or probabilities, from which the class of least expected cost is
            predicted at every ratio. A dict holds several methods by name.
        mistake : pair (true, predicted), or class, default=None
            The mistake whose cost varies; a class stands for every mistake on it. None, for
            two classes, is to predict the first where the second is true.
        ratios : array of shape (g,), default=None
            Costs of the mistake, all others costing 1; None takes 101 ratios from 1 to
            100, or further to cover the interval.
        interval : pair of float, default=None
            Range in which the ratio is believed to lie; shaded.
        labels : array of shape (k,), default=None
            All classes, in the order of the columns of probabilities; None takes those
            that occur, sorted.
        sample_weight : array of shape (N,), default=None
        name : str, default="predictions"
            Name of a single method.
        ax : matplotlib Axes, default=None
            None makes a new figure.
        **kwargs
            Passed to :meth:`plot`.

        Returns
        -------
        display : SensitivityDisplay
        """
        named = dict(y_pred) if isinstance(y_pred, Mapping) else {name: y_pred}
        classes = read_classes(y_true, named, labels)
        grid = read_ratios(ratios, interval)
        varied = read_mistake(mistake, classes)
        costs = {
            str(method): varied.mean_costs(y_true, one, grid, sample_weight)
            for method, one in named.items()
        }
        constant = varied.constant_costs(y_true, grid, sample_weight)
        display = cls(
            grid, costs, constant=constant, interval=interval, mistake_name=varied.in_words()
        )
        return display.plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, relative_to: str | None = None, **kwargs: Any) -> Self:
        """Draw a curve for every method, and shade the interval.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a new figure.
        relative_to : str, default=None
            Divide by the costs of this method, or, if "constant", of the best constant
            prediction; None draws mean costs.
        **kwargs
            Passed to ``Axes.plot`` for the curves of the methods.

        Returns
        -------
        self
        """
        unit, what = self._unit(relative_to)
        self.ax_ = axes_or_new(ax, WIDE)
        self.figure_ = self.ax_.figure
        self.lines_ = {}
        for i, (method, costs) in enumerate(self.costs.items()):
            style = {**look(i, len(self.ratios)), "label": method, **kwargs}
            (self.lines_[method],) = self.ax_.plot(self.ratios, np.asarray(costs) / unit, **style)
        shows_constant = relative_to in {None, CONSTANT}  # otherwise it would dwarf the methods
        self.constant_line_ = self._draw_constant(unit) if shows_constant else None
        self.band_ = self._draw_band()
        self.ax_.set(xlabel=f"cost of {self.mistake_name}, other mistakes costing 1", ylabel=what)
        self.ax_.set_ylim(bottom=0.0, auto=None)  # further curves may still raise the top
        _log_axis(self.ax_)
        self.ax_.grid(alpha=0.3)
        draw_legend(self.ax_, beside=ax is None)
        return self

    def _unit(self, relative_to: str | None) -> tuple[Any, str]:
        """Return the divisor of the costs and the label of the y axis."""
        if relative_to is None:
            return 1.0, "mean cost per row"
        known = {**({} if self.constant is None else {CONSTANT: self.constant}), **self.costs}
        if relative_to not in known:
            raise ValueError(f"relative_to must be one of {list(known)}, got {relative_to!r}")
        unit = np.asarray(known[relative_to])
        if not (unit > 0).all():
            raise ValueError(f"relative_to must cost something everywhere, got {relative_to!r}")
        of = "the best constant prediction" if relative_to == CONSTANT else relative_to
        return unit, f"cost, relative to {of}"

    def _draw_constant(self, unit: Any) -> Any:
        if self.constant is None:
            return None
        style = {"color": GREY, "linewidth": 0.9, "linestyle": ":"}
        return self.ax_.plot(
            self.ratios, np.asarray(self.constant) / unit, label="best constant prediction", **style
        )[0]

    def _draw_band(self) -> Any:
        if self.interval is None:
            return None
        low, high = self.interval
        return self.ax_.axvspan(
            low, high, color="0.5", alpha=0.15, linewidth=0, label=f"stated: {low:g} to {high:g}"
        )


def _common_classes(models: Mapping[Any, Any]) -> AnyArray:
    """Return the classes of the models, or raise ValueError if they differ."""
    first, *others = [np.asarray(model.classes_) for model in models.values()]
    if any(first.tolist() != one.tolist() for one in others):
        raise ValueError("estimator must name classifiers of the same classes, got different ones")
    return first


def _log_axis(ax: Any) -> None:
    """Use a logarithmic axis with ticks at 1, 2, 5, 10, and so on."""
    from matplotlib.ticker import FormatStrFormatter, LogLocator, NullLocator  # noqa: PLC0415

    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.xaxis.set_major_formatter(FormatStrFormatter("%g"))
    ax.xaxis.set_minor_locator(NullLocator())
