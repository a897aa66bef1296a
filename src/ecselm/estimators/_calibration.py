"""Probabilities from scores, calibrated on leave-one-out scores.

Sizes: n rows, k classes, m columns of scores; m = 1 for two classes, where a positive score
speaks for class 1, and otherwise m = k.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Protocol

import numpy as np
from scipy.optimize import isotonic_regression, minimize
from scipy.special import log_softmax, softmax
from sklearn.exceptions import ConvergenceWarning

from ecselm._typing import BoolArray, FloatArray, IntArray
from ecselm.estimators._training import KernelLearner, LayerLearner, Rows
from ecselm.linalg import Solution, loo_scores

MAX_SLOPE = 12.0  # residuals have heavier tails than the normal law that gives the slope
MAX_LOGIT = 64.0  # of a row whose scores differ as much as is usual
NEWTON_STEPS = 100
QUASI_NEWTON_STEPS = 500
NEWTON_CLASSES = 30  # beyond, a Hessian costs more than many gradients
MAX_ENTRIES = 1 << 22  # scores that a calibration is fitted to, so that many classes end in time
ROWS_PER_CLASS = 10  # below, a class cannot afford a slope of its own
ROWS_PER_OFFSET = 2  # below, beyond NEWTON_CLASSES, most classes would lose by chance
MONOTONE_ROWS = 1000  # below, a law of two parameters is the better estimate
MAX_KNOTS = 128
MAX_GROUPS = 5000  # of equal or neighbouring scores
N_FOLDS = 5
CHOICE_ROWS = 5000
CHOICE_ENTRIES = 1 << 16


class Calibration(Protocol):
    """A map from scores to probabilities."""

    def __call__(self, scores: FloatArray) -> FloatArray:
        """Return the probabilities (N, k), float64, of scores (N, m)."""


def residual_slope(
    Z: FloatArray, T: FloatArray, n_classes: int, weight: FloatArray | None = None
) -> float:
    """Return the a of ``softmax(a z)`` for scores and targets (n, m) of rows not trained on.

    If the score vector of class c is normal around its target t_c with the variance s2 in
    each entry, its log-likelihoods differ by ``a z_c`` with ``a = 2 (1 - 1/k) / s2``. Where s2
    is small the law fails in its tails, so the slope approaches ``MAX_SLOPE``.
    """
    squares = np.mean((T - Z) ** 2, axis=1)
    return _slope(float(np.average(squares, weights=weight)), n_classes)


def _slope(variance: float, n_classes: int) -> float:
    return _ideal(n_classes) / (variance + _ideal(n_classes) / MAX_SLOPE)


def _ideal(n_classes: int) -> float:
    return 2.0 * (1.0 - 1.0 / n_classes)


def softmax_probabilities(Z: FloatArray, slope: float) -> FloatArray:
    """Return ``softmax(slope z)``, with the largest where the largest score is.

    Scores that differ by less than rounding give equal probabilities; the winner's is
    then moved up by the least possible step.
    """
    P = softmax(slope * Z.astype(np.float64), axis=1)
    winners = Z.argmax(axis=1)
    tied = np.flatnonzero(P.argmax(axis=1) != winners)
    P[tied, winners[tied]] = np.nextafter(P[tied].max(axis=1), 2.0)
    return P


@dataclass(frozen=True, slots=True)
class LooScores:
    """Leave-one-out scores of rows, with their classes and weights.

    The weights are those of the rows in the population, without any cost: a calibration
    fitted to them undoes what costs have done to the scores.
    """

    scores: FloatArray  # (n, m)
    y: IntArray  # (n,)
    weight: FloatArray  # (n,)
    B: FloatArray | None = None  # (n,) costs of the rows in training; None: all 1

    def __len__(self) -> int:
        return len(self.y)

    def taken(self, rows: IntArray | BoolArray) -> LooScores:
        """Return some of the rows."""
        B = None if self.B is None else self.B[rows]
        return LooScores(self.scores[rows], self.y[rows], self.weight[rows], B)

    def weighted(self) -> LooScores:
        """Return the rows weighted by their costs."""
        return self if self.B is None else replace(self, weight=self.weight * self.B)

    @property
    def has_equal_costs(self) -> bool:
        """Tell whether all rows cost the same in training."""
        return self.B is None or bool(np.ptp(self.B) <= 1e-6 * np.abs(self.B).max())

    def usable(self) -> LooScores:
        """Return the rows of positive weight and finite scores.

        Negative costs may give a row the leverage 1, and then no score without it exists.
        """
        kept = (self.weight > 0) & np.isfinite(self.scores).all(axis=1)
        return self if kept.all() else self.taken(kept)

    def thinned(self, n_rows: int) -> LooScores:
        """Return at most ``n_rows`` rows, evenly from every class and all of its scores."""
        if len(self) <= n_rows:
            return self
        places = np.linspace(0, len(self) - 1, n_rows).round().astype(np.intp)
        return self.taken(np.sort(self.order()[places]))

    def order(self) -> IntArray:
        """Return the order of the rows by class, then by the score of the class."""
        column = 0 if self.scores.shape[1] == 1 else self.y
        return np.lexsort((self.scores[np.arange(len(self)), column], self.y))


@dataclass(frozen=True, slots=True)
class LogisticCalibration:
    """``softmax(a z + b)`` with one slope for all classes and an offset for each.

    The offsets know how frequent the classes are, which the largest score does not.

    Examples
    --------
    >>> import numpy as np
    >>> LogisticCalibration(1.0, np.log([1.0, 3.0]))(np.array([[0.0]]))
    array([[0.25, 0.75]])
    """

    slope: float
    offsets: FloatArray  # (k,)

    def __post_init__(self) -> None:
        _check_numbers("slope", np.asarray(self.slope), 0)
        _check_numbers("offsets", self.offsets, 1)

    @classmethod
    def from_loo(
        cls, loo: LooScores, n_classes: int, start: LogisticCalibration | None = None
    ) -> LogisticCalibration:
        """Fit slope and offsets to leave-one-out scores by Newton's method.

        With more than ``NEWTON_CLASSES`` classes by a quasi-Newton method. A fit to nearly
        the same rows is a good ``start``.
        """
        Z = _columns(loo.scores)
        targets = _smoothed_targets(loo, n_classes)
        centre, unit = _centre_and_unit(Z)
        if unit == 0.0:
            return cls(0.0, np.log(targets.sum(axis=0)))
        Z = (Z - centre) / unit
        if n_classes > NEWTON_CLASSES:
            first = _best_slope(Z, targets, np.zeros(n_classes))
            theta = _quasi_newton(np.append(first, np.zeros(n_classes)), Z, targets, None)
        elif start is None:
            theta = _newton(np.zeros(1 + n_classes), Z, targets)
        else:
            moved = start.offsets + start.slope * centre
            theta = _newton(np.append(start.slope * unit, moved), Z, targets)
        if theta[0] < 0:  # scores opposed to their class carry no information
            return cls(0.0, np.log(targets.sum(axis=0)))
        slope = float(theta[0]) / unit
        return cls(slope, theta[1:] - slope * centre)

    def __call__(self, scores: FloatArray) -> FloatArray:
        """Return the probabilities (N, k) of scores (N, m)."""
        return softmax(self.slope * _columns(scores) + self.offsets, axis=1)


@dataclass(frozen=True, slots=True)
class VectorCalibration:
    """``softmax(a_c z_c + b_c)`` with a slope and an offset for each of many classes.

    Examples
    --------
    >>> import numpy as np
    >>> calibration = VectorCalibration(np.array([0.0, 0.0, 1.0]), np.zeros(3))
    >>> calibration(np.array([[5.0, 7.0, np.log(2.0)]]))
    array([[0.25, 0.25, 0.5 ]])
    """

    slopes: FloatArray  # (k,)
    offsets: FloatArray  # (k,)

    def __post_init__(self) -> None:
        _check_numbers("slopes", self.slopes, 1)
        _check_numbers("offsets", self.offsets, 1)
        if len(self.slopes) != len(self.offsets):
            raise ValueError(
                f"slopes must be as many as offsets, got {len(self.slopes)} and {len(self.offsets)}"
            )

    @classmethod
    def from_loo(
        cls, loo: LooScores, n_classes: int, common: LogisticCalibration
    ) -> VectorCalibration:
        """Fit slopes >= 0 and offsets to leave-one-out scores, from the fit with one slope.

        The loss has ``(a_c / a - 1)^2 / 2`` added for every class, where a is the common
        slope: as much as one row, so that it is the classes of few rows that keep to a.
        """
        Z = _columns(loo.scores)
        targets = _smoothed_targets(loo, n_classes)
        centre, unit = _centre_and_unit(Z)
        slope, moved = common.slope * unit, common.offsets + common.slope * centre
        if slope == 0.0:
            return cls(np.zeros(n_classes), common.offsets)
        solve = _quasi_newton if n_classes > NEWTON_CLASSES else _projected_newton
        start = np.append(np.full(n_classes, slope), moved)
        theta = solve(start, (Z - centre) / unit, targets, slope)
        slopes = theta[:n_classes] / unit
        return cls(slopes, theta[n_classes:] - slopes * centre)

    def __call__(self, scores: FloatArray) -> FloatArray:
        """Return the probabilities (N, k) of scores (N, m)."""
        return softmax(self.slopes * _columns(scores) + self.offsets, axis=1)


@dataclass(frozen=True, slots=True)
class ScoreCalibration:
    """``softmax(a z - log w)``, for models that decide by the largest score (19).

    With the class weights w that the scores were trained with, ``w_c P_c`` is largest where
    ``z_c`` is: the probabilities explain every decision.

    Examples
    --------
    >>> import numpy as np
    >>> ScoreCalibration(1.0, np.log([1.0, 3.0]))(np.array([[0.0]]))
    array([[0.75, 0.25]])
    """

    slope: float
    log_weights: FloatArray  # (k,)

    def __post_init__(self) -> None:
        _check_numbers("slope", np.asarray(self.slope), 0)
        _check_numbers("log_weights", self.log_weights, 1)

    @classmethod
    def from_loo(
        cls, loo: LooScores, n_classes: int, weights: FloatArray | None = None
    ) -> ScoreCalibration:
        """Fit the slope to leave-one-out scores; without ``weights`` (k,) all are 1."""
        if weights is None:
            weights = np.ones(n_classes)
        if not (np.isfinite(weights) & (weights > 0)).all():
            raise ValueError(f"weights must be positive and finite, got {weights}")
        loo = loo.usable().thinned(MAX_ENTRIES // n_classes)
        log_weights = np.log(weights.astype(np.float64))
        targets = _smoothed_targets(loo, n_classes)
        return cls(_best_slope(_columns(loo.scores), targets, -log_weights), log_weights)

    def __call__(self, scores: FloatArray) -> FloatArray:
        """Return the probabilities (N, k) of scores (N, m)."""
        Z = _columns(scores)
        if np.ptp(self.log_weights) == 0.0:
            return softmax_probabilities(Z, self.slope)
        return softmax(self.slope * Z.astype(np.float64) - self.log_weights, axis=1)


@dataclass(frozen=True, slots=True)
class MonotoneCalibration:
    """Probabilities of two classes that increase with the score, linear between knots.

    Examples
    --------
    >>> import numpy as np
    >>> calibration = MonotoneCalibration(np.array([0.0, 1.0]), np.array([0.2, 0.6]))
    >>> calibration(np.array([[-5.0], [0.5], [5.0]]))
    array([[0.8, 0.2],
           [0.6, 0.4],
           [0.4, 0.6]])
    """

    knots: FloatArray  # (q,)
    values: FloatArray  # (q,) of class 1, constant outside of the knots

    def __post_init__(self) -> None:
        _check_numbers("knots", self.knots, 1)
        _check_numbers("values", self.values, 1)
        if not 0 < len(self.knots) == len(self.values):
            raise ValueError(
                f"knots must be at least one and as many as values, got {len(self.knots)} "
                f"and {len(self.values)}"
            )
        if (np.diff(self.knots) <= 0).any():
            raise ValueError(f"knots must increase, got {self.knots}")
        if (np.diff(self.values) < 0).any() or self.values[0] <= 0 or self.values[-1] >= 1:
            raise ValueError(f"values must not decrease, between 0 and 1, got {self.values}")

    @classmethod
    def isotonic(cls, loo: LooScores) -> MonotoneCalibration:
        """Return the least squares fit among all increasing functions.

        It is 0 and 1 at the ends: ``1 / (n + 2)``, what n rows of one class say of the
        next (Laplace), is the least distance kept from them.
        """
        scores, ones, weight = _by_score(loo)
        fit = isotonic_regression(ones / weight, weights=weight)
        # Within a block nothing changes: its first and its last score are enough.
        ends = np.union1d(fit.blocks[:-1], fit.blocks[1:] - 1)
        least = 1.0 / (weight.sum() + 2.0)
        return cls(scores[ends], np.clip(fit.x[ends], least, 1.0 - least))

    @classmethod
    def venn_abers(cls, loo: LooScores) -> MonotoneCalibration:
        """Return ``p1 / (1 - p0 + p1)``, where p0 and p1 are two isotonic fits at the score.

        One has a row of class 0 added there, the other one of class 1: how far they are
        apart says how little is known (inductive Venn-Abers predictors, Vovk and Petej
        2014). They are computed at quantiles of the scores.
        """
        scores, ones, weight = _pooled(*_by_score(loo))
        sums = np.cumsum(weight)
        shares = np.linspace(0.0, sums[-1], MAX_KNOTS)
        places = np.unique(np.minimum(np.searchsorted(sums, shares), len(sums) - 1))
        below = _blocks_before(ones, weight, places)
        # Seen from the other end and with the classes exchanged, means increase as well.
        mirrored = len(sums) - 1 - places[::-1]
        above = _blocks_before((weight - ones)[::-1], weight[::-1], mirrored)[::-1]
        p0, p1 = (
            np.array(
                [
                    _merged_mean(left, right, ones[i] + label, weight[i] + 1.0)
                    for left, right, i in zip(below, above, places.tolist(), strict=True)
                ]
            )
            for label in (0.0, 1.0)
        )
        # Both increase, up to rounding.
        return cls(scores[places], np.maximum.accumulate(p1 / (1.0 - p0 + p1)))

    def __call__(self, scores: FloatArray) -> FloatArray:
        """Return the probabilities (N, 2) of scores (N, 1)."""
        P = np.interp(scores[:, 0].astype(np.float64), self.knots, self.values)
        return np.column_stack([1.0 - P, P])


def fit_calibration(loo: LooScores, n_classes: int) -> Calibration:
    """Return the calibration that validation rows prefer.

    Tried are, the simplest first, one slope, a slope per class (for many classes), isotonic
    regression and Venn-Abers (for two classes of enough rows). A later one must have a lower
    log loss in a cross-validation, by more than a standard error of the difference. Beyond
    ``NEWTON_CLASSES`` classes the number of rows alone decides, and where these are fewer than
    two for a class, offsets are not fitted: they undo the costs of the classes in training.

    Parameters
    ----------
    loo : LooScores
    n_classes : int
        Some may have no row.

    Examples
    --------
    >>> import numpy as np
    >>> loo = LooScores(np.array([[-1.0], [1.0]]), np.array([0, 1]), np.ones(2))
    >>> fit_calibration(loo, 2)(np.array([[0.0]]))
    array([[0.5, 0.5]])
    """
    usable = loo.usable()
    loo = usable.thinned(MAX_ENTRIES // n_classes)
    if not len(loo):
        return LogisticCalibration(0.0, np.zeros(n_classes))
    if n_classes > NEWTON_CLASSES and len(loo) < ROWS_PER_OFFSET * n_classes:
        # Classes without a row would be taken for impossible.
        offsets = -np.log(_class_costs(usable, n_classes))
        slope = _best_slope(_columns(loo.scores), _smoothed_targets(loo, n_classes), offsets)
        return LogisticCalibration(slope, offsets)
    if len(loo) < (MONOTONE_ROWS if n_classes == 2 else ROWS_PER_CLASS * n_classes):
        return LogisticCalibration.from_loo(loo, n_classes)
    chosen = 1 if n_classes > NEWTON_CLASSES else _choice(loo, n_classes)
    return next(islice(_candidates(loo, n_classes), chosen, None))


def _class_costs(loo: LooScores, n_classes: int) -> FloatArray:
    """Return the mean cost (k,) of the rows of every class in training; of none, that of all."""
    if loo.B is None:
        return np.ones(n_classes)
    counts = np.bincount(loo.y, loo.weight, n_classes)
    totals = np.bincount(loo.y, loo.weight * loo.B, n_classes)
    mean = totals.sum() / counts.sum()
    costs = np.where(counts > 0, totals / np.where(counts > 0, counts, 1.0), mean)
    return np.where(costs > 0, costs, mean) if mean > 0 else np.ones(n_classes)


def _candidates(
    loo: LooScores, n_classes: int, start: LogisticCalibration | None = None
) -> Iterator[Calibration]:
    """Yield the calibrations to choose from, the simplest first."""
    logistic = LogisticCalibration.from_loo(loo, n_classes, start)
    yield logistic
    if n_classes > 2:
        yield VectorCalibration.from_loo(loo, n_classes, logistic)
    else:
        yield MonotoneCalibration.isotonic(loo)
        yield MonotoneCalibration.venn_abers(loo)


def _choice(loo: LooScores, n_classes: int) -> int:
    """Return the place among the candidates of the best in a cross-validation."""
    loo = loo.thinned(min(CHOICE_ROWS, CHOICE_ENTRIES // n_classes))
    # Rows dealt out by score would make all folds alike, and what repeats one would win.
    shuffled = np.random.default_rng(0).permutation(len(loo))
    folds = np.empty(len(loo), dtype=np.intp)
    folds[np.lexsort((shuffled, loo.y))] = np.arange(len(loo)) % N_FOLDS
    start = LogisticCalibration.from_loo(loo, n_classes)
    losses: dict[int, FloatArray] = {}
    for fold in range(N_FOLDS):
        held = np.flatnonzero(folds == fold)
        training, validation = loo.taken(folds != fold), loo.taken(held)
        for place, calibration in enumerate(_candidates(training, n_classes, start)):
            P = calibration(validation.scores)[np.arange(len(held)), validation.y]
            loss = losses.setdefault(place, np.empty(len(loo)))
            loss[held] = -np.log(np.maximum(P, np.finfo(float).tiny))
    best, w = 0, loo.weight / loo.weight.sum()
    for place in range(1, len(losses)):
        gain = losses[best] - losses[place]
        mean = float(w @ gain)
        if mean > np.sqrt((w**2) @ (gain - mean) ** 2):
            best = place
    return best


def _check_numbers(name: str, values: FloatArray, ndim: int) -> None:
    if values.ndim != ndim or not np.isfinite(values).all():
        kind = "a finite number" if ndim == 0 else "a row of finite numbers"
        raise ValueError(f"{name} must be {kind}, got {values}")


def _columns(scores: FloatArray) -> FloatArray:
    """Return one column of scores per class, two where two classes share one."""
    return np.hstack([-scores, scores]) if scores.shape[1] == 1 else scores


def _centre_and_unit(Z: FloatArray) -> tuple[FloatArray, float]:
    """Return what to subtract from scores and divide them by, so that they differ by about 1.

    Only beside such scores is the ridge of Newton's method small; those that are of this
    size already, as targets are, are left alone. The unit of equal scores is 0.
    """
    nothing = np.zeros(Z.shape[1])
    if not len(Z):
        return nothing, 0.0
    spread = float(np.sqrt(Z.var(axis=0).mean()))
    if spread <= max(1e-12 * float(np.abs(Z).max()), 1e-100):
        return nothing, 0.0
    if 1.0 / 16.0 <= spread <= 16.0:
        return nothing, 1.0
    return Z.mean(axis=0), spread


def _smoothed_targets(loo: LooScores, n_classes: int) -> FloatArray:
    """Return weighted target probabilities, kept from 0 and 1 as Platt does.

    A class of n rows has the target ``(n + 1) / (n + 2)``, so that the slope stays finite
    where the classes are separated; the other classes share the rest.
    """
    y, weight = loo.y, loo.weight
    n = np.bincount(y, weights=weight, minlength=n_classes)
    rest = 1.0 / ((n[y] + 2.0) * (n_classes - 1))
    targets = np.repeat(rest[:, np.newaxis], n_classes, axis=1)
    targets[np.arange(len(y)), y] = (n[y] + 1.0) / (n[y] + 2.0)
    return targets * weight[:, np.newaxis]


def _newton(theta: FloatArray, Z: FloatArray, targets: FloatArray) -> FloatArray:
    """Return slope and offsets (1 + k,) of the least loss."""
    loss = _loss(theta, Z, targets)
    for _ in range(NEWTON_STEPS):
        step = _newton_step(theta, Z, targets)
        size = 1.0
        while (after := _loss(theta - size * step, Z, targets)) > loss and size > 1e-10:
            size /= 2.0
        theta = theta - size * step
        before, loss = loss, after
        if before - loss <= 1e-13 * abs(before):
            return theta
    _warn(NEWTON_STEPS)
    return theta


def _loss(theta: FloatArray, Z: FloatArray, targets: FloatArray) -> float:
    return -float((targets * log_softmax(theta[0] * Z + theta[1:], axis=1)).sum())


def _newton_step(theta: FloatArray, Z: FloatArray, targets: FloatArray) -> FloatArray:
    """Return the inverse Hessian of the loss times its gradient."""
    P = softmax(theta[0] * Z + theta[1:], axis=1)
    w = targets.sum(axis=1, keepdims=True)
    residual = w * P - targets
    gradient = np.append((residual * Z).sum(), residual.sum(axis=0))
    mean = (P * Z).sum(axis=1, keepdims=True)
    hessian = np.empty((len(theta), len(theta)))
    hessian[0, 0] = (w * P * (Z - mean) ** 2).sum()
    hessian[0, 1:] = hessian[1:, 0] = (w * P * (Z - mean)).sum(axis=0)
    hessian[1:, 1:] = np.diag((w * P).sum(axis=0)) - (w * P).T @ P
    # Adding one number to all offsets changes nothing: the ridge holds that direction.
    hessian.flat[:: len(theta) + 1] += 1e-8 * w.sum()
    return np.linalg.solve(hessian, gradient)


def _projected_newton(
    theta: FloatArray, Z: FloatArray, targets: FloatArray, common: float
) -> FloatArray:
    """Return slopes >= 0 and offsets (2k,) of the least loss.

    A slope at 0 that the gradient would make negative takes no part in a step.
    """
    k = Z.shape[1]
    loss, gradient = _loss_and_gradient(theta, Z, targets, common)
    for _ in range(NEWTON_STEPS):
        free = np.flatnonzero(np.append((theta[:k] > 0) | (gradient[:k] < 0), np.ones(k, bool)))
        hessian = _vector_hessian(theta, Z, targets, common)[np.ix_(free, free)]
        step = np.zeros(2 * k)
        step[free] = np.linalg.solve(hessian, gradient[free])
        size = 1.0
        while True:
            trial = theta - size * step
            trial[:k] = np.maximum(trial[:k], 0.0)
            after, gradient_after = _loss_and_gradient(trial, Z, targets, common)
            if after <= loss or size <= 1e-10:
                break
            size /= 2.0
        if after > loss:  # no step is small enough to win more than rounding loses
            return theta
        before, loss, theta, gradient = loss, after, trial, gradient_after
        if before - loss <= 1e-13 * abs(before):
            return theta
    _warn(NEWTON_STEPS)
    return theta


def _quasi_newton(
    theta: FloatArray, Z: FloatArray, targets: FloatArray, common: float | None
) -> FloatArray:
    """Return slopes >= 0 and offsets of the least loss, in units of their curvature."""
    k = Z.shape[1]
    n_slopes = len(theta) - k
    P = softmax(theta[:-k] * Z + theta[-k:], axis=1)
    spread = targets.sum(axis=1, keepdims=True) * P * (1.0 - P)
    slopes = (spread * Z**2).sum(axis=0)
    curvature = np.append(slopes if n_slopes == k else slopes.sum(), spread.sum(axis=0))
    unit = 1.0 / np.sqrt(np.maximum(curvature, 1e-3))  # classes without rows have next to none

    def objective(x: FloatArray) -> tuple[float, FloatArray]:
        loss, gradient = _loss_and_gradient(x * unit, Z, targets, common)
        return loss, gradient * unit

    found = minimize(
        objective,
        theta / unit,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, None)] * n_slopes + [(None, None)] * k,
        options={"maxiter": QUASI_NEWTON_STEPS, "ftol": 1e-10, "gtol": 1e-6},
    )
    if found.status == 1:
        _warn(QUASI_NEWTON_STEPS)
    return np.asarray(found.x * unit)


def _loss_and_gradient(
    theta: FloatArray, Z: FloatArray, targets: FloatArray, common: float | None
) -> tuple[float, FloatArray]:
    """Return both for one slope, or for a slope per class drawn to a ``common`` one."""
    k = Z.shape[1]
    slopes, offsets = theta[:-k], theta[-k:]
    logs = log_softmax(slopes * Z + offsets, axis=1)
    loss = -float(np.einsum("ij,ij->", targets, logs))
    residual = targets.sum(axis=1, keepdims=True) * np.exp(logs) - targets
    by_class = np.einsum("ij,ij->j", residual, Z)
    if common is None:
        return loss, np.append(by_class.sum(), residual.sum(axis=0))
    apart = slopes / common - 1.0
    loss += 0.5 * float(apart @ apart)
    return loss, np.append(by_class + apart / common, residual.sum(axis=0))


def _vector_hessian(
    theta: FloatArray, Z: FloatArray, targets: FloatArray, common: float
) -> FloatArray:
    k = Z.shape[1]
    P = softmax(theta[:k] * Z + theta[k:], axis=1)
    w = targets.sum(axis=1, keepdims=True)
    G = np.hstack([P * Z, P])
    wG = w * G
    hessian = -wG.T @ G
    slopes, offsets = np.arange(k), np.arange(k, 2 * k)
    crossed = wG[:, :k].sum(axis=0)
    hessian[slopes, slopes] += np.einsum("ij,ij->j", wG[:, :k], Z) + 1.0 / common**2
    hessian[slopes, offsets] += crossed
    hessian[offsets, slopes] += crossed
    hessian[offsets, offsets] += wG[:, k:].sum(axis=0)
    hessian.flat[:: 2 * k + 1] += 1e-8 * w.sum()  # as for one slope
    return hessian


def _best_slope(Z: FloatArray, targets: FloatArray, offsets: FloatArray) -> float:
    """Return the a >= 0 of the least loss of ``softmax(a z + offsets)``.

    By Newton's method within a bracket, which ends at ``MAX_LOGIT``.
    """
    w = targets.sum(axis=1)
    spread = float(np.sqrt(w @ Z.var(axis=1) / max(w.sum(), np.finfo(float).tiny)))
    if spread <= 1e-100:
        return 0.0
    wanted = float(np.einsum("ij,ij->", targets, Z))
    Z = np.ascontiguousarray(Z.T)  # sums over a few classes are fast along the rows of columns
    P, a, low, high = np.empty(Z.shape), 0.0, 0.0, MAX_LOGIT / spread
    for _ in range(NEWTON_STEPS):
        np.multiply(Z, a, out=P)
        P += offsets[:, np.newaxis]
        P -= P.max(axis=0)
        np.exp(P, out=P)
        P /= P.sum(axis=0)
        P *= Z
        mean = P.sum(axis=0)
        first = float(w @ mean) - wanted
        if first > 0:
            high = a
        else:
            low = a
        second = float(w @ np.einsum("ij,ij->j", P, Z) - w @ mean**2)
        step = -first / second if second > 0 else np.inf
        if a == 0.0 and first >= 0:
            return 0.0
        if abs(step) <= 1e-12 * a or high - low <= 1e-12 * high:
            break
        a = a + step if low < a + step < high else (low + high) / 2.0
    return a


def _warn(n_steps: int) -> None:
    warnings.warn(
        f"the calibration has not converged in {n_steps} steps", ConvergenceWarning, stacklevel=4
    )


def _by_score(loo: LooScores) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the different scores, and the weight at each: of class 1, and of both."""
    scores, group = np.unique(loo.scores[:, 0].astype(np.float64), return_inverse=True)
    ones = np.bincount(group, weights=loo.weight * (loo.y == 1)).astype(np.float64)
    return scores, ones, np.bincount(group, weights=loo.weight).astype(np.float64)


def _pooled(
    scores: FloatArray, ones: FloatArray, weight: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Join neighbouring scores to at most ``MAX_GROUPS``, each at the one in its middle."""
    if len(scores) <= MAX_GROUPS:
        return scores, ones, weight
    edges = np.linspace(0, len(scores), MAX_GROUPS + 1).astype(np.intp)
    middle = (edges[:-1] + edges[1:]) // 2
    return scores[middle], np.add.reduceat(ones, edges[:-1]), np.add.reduceat(weight, edges[:-1])


Block = tuple[float, float]  # weight of class 1, and of both


def _blocks_before(ones: FloatArray, weight: FloatArray, places: IntArray) -> list[list[Block]]:
    """Return the blocks of the isotonic fit to what is before each place, the last at the end.

    Pool adjacent violators: a group whose mean is not above that of the block before joins it.
    """
    wanted = set(places.tolist())
    blocks: list[Block] = []
    found = []
    for place, group in enumerate(zip(ones.tolist(), weight.tolist(), strict=True)):
        if place in wanted:
            found.append(blocks.copy())
        t, w = group
        while blocks and blocks[-1][0] * w >= t * blocks[-1][1]:
            before = blocks.pop()
            t, w = t + before[0], w + before[1]
        blocks.append((t, w))
    return found


def _merged_mean(left: list[Block], right: list[Block], t: float, w: float) -> float:
    """Return the isotonic fit at a group with blocks on both sides; the right ones are mirrored."""
    i, j = len(left), len(right)
    while True:
        if i and left[i - 1][0] * w >= t * left[i - 1][1]:
            i -= 1
            t, w = t + left[i][0], w + left[i][1]
        elif j and (right[j - 1][1] - right[j - 1][0]) * w <= t * right[j - 1][1]:
            j -= 1
            t, w = t + right[j][1] - right[j][0], w + right[j][1]
        else:
            return t / w


def loo_rows(
    learner: KernelLearner | LayerLearner,
    solution: Solution,
    coefficients: FloatArray | None = None,
) -> LooScores:
    """Return leave-one-out scores of the training rows, or of a sample of them.

    ``coefficients`` are the costs that the solution was made with; without them all are 1.
    They are in the scores, not in the weights.
    """
    rows = _scored_rows(learner, solution)
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight.astype(np.float64)
    B = None if coefficients is None else rows.terms.vector(coefficients).astype(np.float64)
    total = weight if B is None else weight * B
    H = learner.layer(rows.X).astype(np.float64, copy=False)
    return LooScores(loo_scores(H, rows.T, solution, total, weight), rows.y, weight, B)


def _scored_rows(learner: KernelLearner | LayerLearner, solution: Solution) -> Rows:
    """Return all rows where the system is in the samples, else the sample kept of them."""
    if isinstance(learner, LayerLearner) and not solution.is_dual and learner.sample is not None:
        return learner.sample.rows
    if not isinstance(learner.known, Rows):
        raise TypeError("the learner has kept no rows for leave-one-out")
    return learner.known
