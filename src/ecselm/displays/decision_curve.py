"""Decision curves: the benefit of models over thresholds, or over the factor of some costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ecselm._typing import AnyArray, FloatArray
from ecselm.displays._drawing import COLOURS, GREY, LINES, WIDE, axes_or_new, draw_legend, look
from ecselm.metrics import DecisionCurve, decision_curve

BELOW = 0.25  # share of the largest benefit that is drawn below 0, where treating all falls to


class DecisionCurveDisplay:
    """Net benefit of models over thresholds, beside that of treating all rows and none.

    With more than two classes, and wherever ``factor_of`` is given, the mean cost that a model
    saves against the best constant answer takes the place of the net benefit, and a factor of
    some costs that of the threshold.

    The shaded band is the interval of the difference between the first model and the best
    reference, drawn from this reference: where it lies above the grey lines, the first model is
    better than they are by more than chance, at this point alone.

    Parameters
    ----------
    curve : DecisionCurve
        See :func:`ecselm.metrics.decision_curve`.

    Attributes
    ----------
    lines_ : dict of str to matplotlib Line2D
        By model, or the difference to one of them.
    reference_lines_ : dict of str to matplotlib Line2D
    band_ : matplotlib artist
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from ecselm.displays import DecisionCurveDisplay
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(1, 3, 300)
    >>> y = rng.random(300) < p
    >>> display = DecisionCurveDisplay.from_predictions(y, p, name="score")
    >>> list(display.lines_), list(display.reference_lines_)
    (['score'], ['treat all', 'treat none'])
    >>> plt.close(display.figure_)
    """

    lines_: dict[str, Any]
    reference_lines_: dict[str, Any]
    band_: Any
    ax_: Any
    figure_: Any

    def __init__(self, curve: DecisionCurve) -> None:
        self.curve = curve

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Draw the curves of fitted classifiers.

        Parameters
        ----------
        estimator : classifier, or dict of str to classifier
            With ``predict_proba``. A dict holds several by name; the first is compared with
            all others.
        X : array, sparse matrix or dataframe of shape (N, n)
            Test rows.
        y : array of shape (N,)
        ax : matplotlib Axes, default=None
            None makes a new figure.
        **kwargs
            Passed to :meth:`from_predictions`.

        Returns
        -------
        display : DecisionCurveDisplay
        """
        several = isinstance(estimator, Mapping)
        models = estimator if several else {type(estimator).__name__: estimator}
        if not models:
            raise ValueError("estimator must name a classifier or more, got none")
        for name, model in models.items():
            check_is_fitted(model)
            if not hasattr(model, "predict_proba"):
                raise ValueError(f"estimator must have predict_proba, got {name!r} without it")
        kwargs.setdefault("labels", _common_classes(models))
        y_prob = {str(name): model.predict_proba(X) for name, model in models.items()}
        return cls.from_predictions(y, y_prob, ax=ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        thresholds: Any = None,
        pos_label: Any = None,
        cost: Any = None,
        factor_of: Any = None,
        factors: Any = None,
        labels: Any = None,
        sample_weight: Any = None,
        confidence: float = 0.95,
        n_resamples: int = 1000,
        name: str = "model",
        rng: Any = 0,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the curves of probabilities.

        Parameters
        ----------
        y_true, y_prob, thresholds, pos_label, cost, factor_of, factors, labels, sample_weight :
            As in :func:`ecselm.metrics.decision_curve`. More than two classes need
            ``factor_of``.
        confidence, n_resamples, name, rng :
            As in :func:`ecselm.metrics.decision_curve`.
        ax : matplotlib Axes, default=None
            None makes a new figure.
        **kwargs
            Passed to :meth:`plot`.

        Returns
        -------
        display : DecisionCurveDisplay
        """
        curve = decision_curve(
            y_true, y_prob, thresholds=thresholds, pos_label=pos_label, cost=cost,
            factor_of=factor_of, factors=factors, labels=labels, sample_weight=sample_weight,
            confidence=confidence, n_resamples=n_resamples, name=name, rng=rng,
        )  # fmt: skip
        return cls(curve).plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, against: str | None = None, **kwargs: Any) -> Self:
        """Draw the benefits of all models, or the difference of the first to another.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a new figure.
        against : str, default=None
            Draw the difference between the first model and this reference or model, with its
            interval; None draws benefits.
        **kwargs
            Passed to ``Axes.plot`` for the curves of the models.

        Returns
        -------
        self
        """
        curve = self.curve
        if against is not None and against not in curve.differences:
            raise ValueError(f"against must be one of {list(curve.differences)}, got {against!r}")
        self.ax_ = axes_or_new(ax, WIDE)
        self.figure_ = self.ax_.figure
        self.lines_, self.reference_lines_ = {}, {}
        if against is None:
            drawn, low, high = curve.benefits, *self._nearest_band()
            references, interval = curve.references, "difference to the best reference"
        else:
            band = curve.differences[against]
            drawn, low, high = {curve.first: band.difference}, band.low, band.high
            references, interval = {against: np.zeros(len(curve.points))}, "interval"
        for i, (name, values) in enumerate(drawn.items()):
            style = {**look(i, len(curve.points)), "label": name, **kwargs}
            (self.lines_[name],) = self.ax_.plot(curve.points, values, **style)
        for i, (name, values) in enumerate(references.items()):
            style = {"color": GREY, "linewidth": 0.9, "linestyle": LINES[1:][i % 2]}
            (self.reference_lines_[name],) = self.ax_.plot(
                curve.points, values, label=name, **style
            )
        colour = self.lines_[curve.first].get_color() if self.lines_ else COLOURS[0]
        self.band_ = self.ax_.fill_between(
            *(curve.points, low, high), color=colour, alpha=0.15, linewidth=0,
            label=f"{interval}, {100 * curve.confidence:g} %",
        )  # fmt: skip
        self._name_axes(against)
        if against is None:
            self._bound(drawn, high)
        self.ax_.grid(alpha=0.3)
        draw_legend(self.ax_, beside=ax is None)
        return self

    def _nearest_band(self) -> tuple[FloatArray, FloatArray]:
        """Return the bounds of the difference to the best reference, added to its benefit."""
        names = list(self.curve.references)
        best = np.argmax([self.curve.references[name] for name in names], axis=0)
        bands = [self.curve.differences[name] for name in names]
        low, high = (
            np.choose(best, [getattr(band, end) for band in bands]) for end in ("low", "high")
        )
        return low + self.curve.best_reference, high + self.curve.best_reference

    def _name_axes(self, against: str | None) -> None:
        varied = self.curve.varied
        what = "net benefit" if varied is None else "mean cost saved per row"
        if against is not None:
            what = f"{what} of {self.curve.first}, over {against}"
        self.ax_.set_ylabel(what, parse_math=False)
        if varied is None:
            self.ax_.set_xlabel("threshold of the probability")
        else:
            self.ax_.set_xlabel(f"factor of the cost of {varied}", parse_math=False)
            self.ax_.set_xscale("log")

    def _bound(self, drawn: Mapping[str, FloatArray], high: FloatArray) -> None:
        """Cut what lies far below 0: treating all at high thresholds would dwarf all else."""
        shown = np.concatenate([*drawn.values(), high[np.isfinite(high)]])
        top = max(float(shown.max()), float(self.curve.best_reference.max()))
        if top <= 0.0:
            return
        lowest = min(float(np.min(list(drawn.values()))), 0.0)
        self.ax_.set_ylim(max(1.1 * lowest, -BELOW * top) - 0.02 * top, 1.05 * top)


def _common_classes(models: Mapping[Any, Any]) -> AnyArray:
    """Return the classes of the models, or raise ValueError if they differ."""
    first, *others = [np.asarray(model.classes_) for model in models.values()]
    if any(first.tolist() != one.tolist() for one in others):
        raise ValueError("estimator must name classifiers of the same classes, got different ones")
    return first
