"""What predictions cost if costs are not what one thinks."""

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
class Mistake:
    """A mistake whose cost varies, while all others cost 1."""

    dear: Any  # a pair (true, predicted), or a class any mistake on which is meant
    classes: AnyArray

    def mean_costs(
        self, y_true: Any, y_pred: Any, ratios: FloatArray, sample_weight: Any
    ) -> FloatArray:
        """Return the mean cost of labels (N,) or of probabilities (N, k) at each ratio (g,)."""
        told = np.asarray(y_pred)
        if told.ndim != 2:
            return self._of_labels(y_true, told, ratios, sample_weight)
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
        """Return the mean cost of the one answer for all rows that is best at each ratio (g,)."""
        n = len(np.asarray(y_true))
        answers = [np.full(n, label) for label in self.classes]
        return np.min([self._of_labels(y_true, one, ratios, sample_weight) for one in answers], 0)

    def in_words(self) -> str:
        """Return what the mistake is."""
        if not isinstance(self.dear, tuple):
            return f"a mistake on {self.dear}"
        return f"{self.dear[0]} taken for {self.dear[1]}"

    def _of_labels(
        self, y_true: Any, told: AnyArray, ratios: FloatArray, sample_weight: Any
    ) -> FloatArray:
        """Return costs at each ratio, of which they are a linear function."""
        free, once = (self._cost(y_true, told, ratio, sample_weight) for ratio in (0.0, 1.0))
        return free + (once - free) * ratios

    def _cost(self, y_true: Any, told: AnyArray, ratio: float, sample_weight: Any) -> float:
        cost = {self.dear: ratio}
        return mean_cost(y_true, told, cost=cost, labels=self.classes, sample_weight=sample_weight)

    def _matrix(self, ratio: float) -> FloatArray:
        return parse_cost({self.dear: ratio}, self.classes)


def read_classes(y_true: Any, told: Mapping[Any, Any], labels: Any) -> AnyArray:
    """Return the classes stated, or those of the truth and of all labels told."""
    if not told:
        raise ValueError("y_pred must hold the predictions of a method or more, got none")
    if labels is not None:
        return np.asarray(labels)
    answers = [np.asarray(one) for one in told.values()]
    return np.asarray(unique_labels(np.asarray(y_true), *(one for one in answers if one.ndim == 1)))


def read_mistake(dear: Any, classes: AnyArray) -> Mistake:
    """Return the mistake stated; of two classes, to miss the second."""
    if dear is None and len(classes) == 2:
        first, second = classes.tolist()
        return Mistake((second, first), classes)
    if dear is None:
        raise ValueError(
            f"dear must be given for more than two classes, {classes.tolist()}, got None"
        )
    pair = dear if isinstance(dear, tuple) else (dear,)
    codes = label_codes(pair, classes, "dear")
    if len(set(codes.tolist())) != len(pair) or len(pair) > 2:
        raise ValueError(f"dear must be a class or a pair of two classes, got {dear!r}")
    return Mistake(dear, classes)


def read_ratios(ratios: Any, interval: Any) -> FloatArray:
    """Return the ratios stated, or those that show the interval."""
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
    """The mean cost of predictions over what one mistake costs compared with the others.

    Where curves cross, the better method changes; a stated interval is shaded, so that one
    sees whether it does so where it matters.

    Parameters
    ----------
    ratios : array of shape (g,)
        What the mistake costs, all others costing 1.
    costs : dict of str to array of shape (g,)
        Mean costs by method.
    constant : array of shape (g,), default=None
        Of the one answer for all rows that costs least at each ratio.
    interval : pair of float, default=None
        Where the ratio is thought to lie.
    mistake : str, default="the dear mistake"
        The mistake in words.

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
    >>> truth = ["ill", "ill", "well", "well"]
    >>> told = {"bold": ["ill", "well", "well", "well"], "shy": ["ill", "ill", "ill", "ill"]}
    >>> display = SensitivityDisplay.from_predictions(
    ...     truth, told, dear=("ill", "well"), ratios=[1, 2, 4], interval=(1, 3)
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
        mistake: str = "the dear mistake",
    ) -> None:
        self.ratios = ratios
        self.costs = costs
        self.constant = constant
        self.interval = interval
        self.mistake = mistake

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
        """Draw the costs of what fitted classifiers predict.

        Parameters
        ----------
        estimator : classifier, or dict of str to classifier
            Several by name.
        X : array, sparse matrix or dataframe of shape (N, n)
            Rows that they were not fitted on.
        y : array of shape (N,)
        response_method : {"predict", "predict_proba"}, default="predict"
            Take their answers as they are; or decide anew at every ratio for the class
            that is expected to cost least, as if the ratio had been known.
        ax : matplotlib Axes, default=None
            None makes a new figure.
        **kwargs
            Of :meth:`from_predictions`.

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
        told = {name: getattr(model, response_method)(X) for name, model in models.items()}
        if "labels" not in kwargs:
            kwargs["labels"] = _common_classes(models)
        return cls.from_predictions(y, told, ax=ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        *,
        dear: Any = None,
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
            Labels; or probabilities, with which the class that is expected to cost least
            is predicted anew at every ratio. Several methods by name.
        dear : pair (true, predicted), or class, default=None
            The mistake whose cost is not known, or the class any mistake on which is meant.
            None, for two classes, is to answer the first where the second is true.
        ratios : array of shape (g,), default=None
            Costs to draw, all other mistakes costing 1; None takes 101 from 1 to 100, and
            further where the interval goes.
        interval : pair of float, default=None
            Where the ratio is thought to lie; shaded.
        labels : array of shape (k,), default=None
            All classes, in the order of the columns of probabilities; None takes those
            that occur, sorted.
        sample_weight : array of shape (N,), default=None
        name : str, default="predictions"
            Of the method if there is only one.
        ax : matplotlib Axes, default=None
            None makes a new figure.
        **kwargs
            Of :meth:`plot`.

        Returns
        -------
        display : SensitivityDisplay
        """
        told = dict(y_pred) if isinstance(y_pred, Mapping) else {name: y_pred}
        classes = read_classes(y_true, told, labels)
        grid = read_ratios(ratios, interval)
        mistake = read_mistake(dear, classes)
        costs = {
            str(method): mistake.mean_costs(y_true, one, grid, sample_weight)
            for method, one in told.items()
        }
        constant = mistake.constant_costs(y_true, grid, sample_weight)
        display = cls(grid, costs, constant=constant, interval=interval, mistake=mistake.in_words())
        return display.plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, relative_to: str | None = None, **kwargs: Any) -> Self:
        """Draw a curve for every method, and shade the interval.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a new figure.
        relative_to : str, default=None
            Divide by the costs of this method, or, if "constant", of the best answer that is
            the same for all rows; None draws mean costs of a row.
        **kwargs
            Of ``Axes.plot``, for the curves of the methods.

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
        shows_constant = relative_to in {None, CONSTANT}  # else it would dwarf the methods
        self.constant_line_ = self._draw_constant(unit) if shows_constant else None
        self.band_ = self._draw_band()
        self.ax_.set(xlabel=f"cost of {self.mistake}, other mistakes costing 1", ylabel=what)
        self.ax_.set_ylim(bottom=0.0, auto=None)  # further curves may still raise the top
        _log_axis(self.ax_)
        self.ax_.grid(alpha=0.3)
        draw_legend(self.ax_, beside=ax is None)
        return self

    def _unit(self, relative_to: str | None) -> tuple[Any, str]:
        """Return what to divide by, and what is drawn then."""
        if relative_to is None:
            return 1.0, "mean cost of a row"
        known = {**({} if self.constant is None else {CONSTANT: self.constant}), **self.costs}
        if relative_to not in known:
            raise ValueError(f"relative_to must be one of {list(known)}, got {relative_to!r}")
        unit = np.asarray(known[relative_to])
        if not (unit > 0).all():
            raise ValueError(f"relative_to must cost something everywhere, got {relative_to!r}")
        of = "the best constant answer" if relative_to == CONSTANT else relative_to
        return unit, f"cost, relative to {of}"

    def _draw_constant(self, unit: Any) -> Any:
        if self.constant is None:
            return None
        style = {"color": GREY, "linewidth": 0.9, "linestyle": ":"}
        return self.ax_.plot(
            self.ratios, np.asarray(self.constant) / unit, label="best constant answer", **style
        )[0]

    def _draw_band(self) -> Any:
        if self.interval is None:
            return None
        low, high = self.interval
        return self.ax_.axvspan(
            low, high, color="0.5", alpha=0.15, linewidth=0, label=f"stated: {low:g} to {high:g}"
        )


def _common_classes(models: Mapping[Any, Any]) -> AnyArray:
    """Return the classes of models, which must agree for their answers to be compared."""
    first, *others = [np.asarray(model.classes_) for model in models.values()]
    if any(first.tolist() != one.tolist() for one in others):
        raise ValueError("estimator must name classifiers of the same classes, got different ones")
    return first


def _log_axis(ax: Any) -> None:
    """Write ratios as people say them: 1, 2, 5, 10, and so on."""
    from matplotlib.ticker import FormatStrFormatter, LogLocator, NullLocator  # noqa: PLC0415

    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.xaxis.set_major_formatter(FormatStrFormatter("%g"))
    ax.xaxis.set_minor_locator(NullLocator())
