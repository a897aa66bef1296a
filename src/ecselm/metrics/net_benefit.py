"""Net benefit and saved costs: what decisions by a model gain over constant answers.

Vickers and Elkin, "Decision curve analysis: a novel method for evaluating prediction models",
Medical Decision Making 26 (2006). Who treats at a probability of t or more takes one true
positive to be worth (1 - t)/t false positives. A decision curve has the net benefit at every t;
with more than two classes, the cost saved along a ray of cost matrices is in its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import column_or_1d

from ecselm._typing import AnyArray, BoolArray, FloatArray, IntArray
from ecselm.costs import min_cost_decision, parse_cost
from ecselm.costs.parse import numbers
from ecselm.costs.weights import label_codes
from ecselm.metrics.intervals import MIN_ROWS

TREAT_ALL, TREAT_NONE = "treat all", "treat none"
BEST_CONSTANT = "best constant answer"
N_FACTORS = 41
SUM_TOLERANCE = 1e-6  # of the probabilities of a row
_AT_ONCE = 4_000_000  # counts of resamples in memory


def net_benefit(
    y_true: Any, y_prob: Any, *, threshold: Any, pos_label: Any = None, sample_weight: Any = None
) -> Any:
    """Return the net benefit of treating the rows whose probability reaches a threshold.

    ``TP/N - FP/N t/(1 - t)``, in units of true positives per row. Treating none has the net
    benefit 0.

    Parameters
    ----------
    y_true : array of shape (N,)
        Of two classes.
    y_prob : array of shape (N,)
        Probabilities of the positive class. A row is treated if its probability is the
        threshold or greater.
    threshold : float or array of shape (g,)
        Between 0 and 1, both excluded.
    pos_label : label, default=None
        The positive class; None takes the second, sorted.
    sample_weight : array of shape (N,), default=None

    Returns
    -------
    benefit : float or array of shape (g,)

    Examples
    --------
    >>> y_true, y_prob = ["ill", "ill", "well", "well"], [0.9, 0.3, 0.4, 0.1]
    >>> net_benefit(y_true, y_prob, threshold=0.2, pos_label="ill")
    0.4375
    >>> net_benefit(y_true, y_prob, threshold=[0.2, 0.5], pos_label="ill")
    array([0.4375, 0.25  ])
    """
    t = read_thresholds(threshold)
    positive = positive_rows(y_true, pos_label)
    p = read_probabilities(y_prob, len(positive))
    w = read_weights(sample_weight, len(positive))
    order = np.argsort(p)
    below = np.searchsorted(p[order], t, side="left")  # rows that are not treated
    tp, fp = (
        np.r_[0.0, (w * mine)[order][::-1].cumsum()][len(p) - below] / w.sum()
        for mine in (positive, ~positive)
    )
    benefit = tp - fp * odds(t)
    return float(benefit) if t.ndim == 0 else benefit


def odds(threshold: FloatArray) -> FloatArray:
    """Return what a false positive costs in units of true positives, ``t/(1 - t)``."""
    return threshold / (1.0 - threshold)


@dataclass(frozen=True, slots=True)
class CostRay:
    """Mean costs of decisions along a ray of cost matrices.

    Examples
    --------
    >>> ray = CostRay(np.array([1.0, 4.0]), ("a", "b"), np.array([0.2, 0.5]),
    ...               np.array([[0.6, 0.6], [0.4, 1.6]]))
    >>> ray.best_constant, ray.saved.round(3)
    (array([0.4, 0.6]), array([0.2, 0.1]))
    """

    factors: FloatArray  # (g,), of the costs that vary
    labels: tuple[Any, ...]  # k classes
    costs: FloatArray  # (g,), mean cost of a row, decided for the least expected cost
    constants: FloatArray  # (k, g), the same if all rows have one answer

    @property
    def best_constant(self) -> FloatArray:
        """Return the mean cost of the cheapest constant answer at each factor (g,)."""
        least: FloatArray = self.constants.min(axis=0)
        return least

    @property
    def saved(self) -> FloatArray:
        """Return the mean cost (g,) that decisions save against the cheapest constant answer."""
        return self.best_constant - self.costs


def cost_ray(
    y_true: Any,
    y_prob: Any,
    *,
    cost: Any = None,
    factor_of: Any,
    factors: Any = None,
    labels: Any = None,
    sample_weight: Any = None,
) -> CostRay:
    """Return the mean costs of least-cost decisions where some costs vary by a factor.

    The cost matrix ``M(s)`` is ``cost`` with the costs of one class or of one mistake
    multiplied by s. At every s, rows are decided by ``M(s)`` and their mistakes counted by it.
    With two classes, ``cost=None`` and the positive class as ``factor_of``, the cost saved
    against answering "negative" is s times the :func:`net_benefit` at the threshold
    ``1/(1 + s)``.

    Parameters
    ----------
    y_true : array of shape (N,)
    y_prob : array of shape (N, k)
        Probabilities, columns in the order of ``labels``.
    cost : array, DataFrame, dict or None, default=None
        Costs of mistakes at s = 1, in any form the estimators take; None is 1 each. Of
        half-known costs, the mean.
    factor_of : class, or pair (true, predicted)
        Whose costs vary: those of all mistakes on a class, or of one mistake.
    factors : array of shape (g,), default=None
        Rising; None takes 41 from 0.1 to 10 with a constant ratio.
    labels : array of shape (k,), default=None
        All classes; None takes those that occur in ``y_true``, sorted.
    sample_weight : array of shape (N,), default=None

    Examples
    --------
    >>> y_true, y_prob = ["ill", "well", "well"], [[0.3, 0.7], [0.2, 0.8], [0.4, 0.6]]
    >>> ray = cost_ray(y_true, y_prob, factor_of="ill", factors=[1, 2, 3])
    >>> ray.costs.round(2), ray.saved.round(2)
    (array([0.33, 1.  , 0.33]), array([ 0.  , -0.33,  0.33]))
    """
    s = read_factors(factors)
    y, classes = _codes_of(y_true, labels)
    P = read_probabilities(y_prob, len(y), len(classes))
    matrices = ray_matrices(cost, factor_of, s, classes)
    w = read_weights(sample_weight, len(y))
    shares = np.bincount(y, w, minlength=len(classes)) / w.sum()
    costs = [
        w @ M[y, answers] / w.sum()
        for M, answers in zip(matrices, ray_answers(P, matrices), strict=True)
    ]
    constants = np.einsum("i,gij->jg", shares, matrices)
    return CostRay(s, tuple(classes.tolist()), np.array(costs), constants)


def ray_matrices(cost: Any, factor_of: Any, factors: FloatArray, classes: AnyArray) -> FloatArray:
    """Return the cost matrices (g, k, k) of a ray."""
    base = parse_cost(cost, classes)
    pair = factor_of if isinstance(factor_of, tuple) else (factor_of,)
    codes = label_codes(pair, classes, "factor_of").tolist()
    if len(set(codes)) != len(pair) or len(pair) > 2:
        raise ValueError(f"factor_of must be a class or a pair of two classes, got {factor_of!r}")
    varies = np.zeros(base.shape, dtype=bool)
    varies[codes[0], codes[1] if len(codes) == 2 else slice(None)] = True
    if not base[varies].any():
        raise ValueError(f"factor_of must name mistakes that cost something, got {factor_of!r}")
    return np.where(varies, base * factors[:, np.newaxis, np.newaxis], base)


def ray_answers(P: FloatArray, matrices: FloatArray) -> IntArray:
    """Return the answers (g, N) of least expected cost, of equal ones the first class."""
    return np.array([min_cost_decision(P, M) for M in matrices])


def in_words(factor_of: Any) -> str:
    """Return the mistakes whose costs vary, as text.

    Examples
    --------
    >>> in_words("ill"), in_words(("ill", "well"))
    ('a mistake on ill', 'ill taken for well')
    """
    if not isinstance(factor_of, tuple):
        return f"a mistake on {factor_of}"
    return f"{factor_of[0]} taken for {factor_of[1]}"


@dataclass(frozen=True, slots=True)
class DecisionBand:
    """Difference of benefit between the first model and another way to decide, with bounds.

    Bounds hold at each point alone. They are missing (NaN) where fewer than six rows differ in
    what their answers are worth, which cannot show a difference.
    """

    difference: FloatArray  # (g,)
    low: FloatArray  # (g,)
    high: FloatArray  # (g,)

    def beyond_chance(self) -> BoolArray:
        """Return where (g,) the bounds exclude 0.

        Examples
        --------
        >>> low, high = np.array([-0.1, 0.1, np.nan]), np.array([0.2, 0.3, np.nan])
        >>> DecisionBand((low + high) / 2, low, high).beyond_chance()
        array([False,  True, False])
        """
        return (self.low > 0.0) | (self.high < 0.0)


@dataclass(frozen=True, slots=True)
class DecisionCurve:
    """Benefits of models over thresholds, or over the factor of a ray of cost matrices.

    Examples
    --------
    >>> curve = decision_curve([0, 1, 1], [0.2, 0.6, 0.9], thresholds=[0.5], n_resamples=10)
    >>> curve.first, list(curve.references), curve.best_reference.round(2)
    ('model', ['treat all', 'treat none'], array([0.33]))
    """

    points: FloatArray  # (g,), rising: thresholds, or factors of the costs that vary
    benefits: dict[str, FloatArray]  # (g,) by model
    references: dict[str, FloatArray]  # (g,) of answers without a model
    differences: dict[str, DecisionBand]  # of the first model over references and other models
    confidence: float = 0.95
    varied: str | None = None  # mistakes whose costs vary, in words; None: points are thresholds

    @property
    def first(self) -> str:
        """Return the name of the model that is compared with all others."""
        return next(iter(self.benefits))

    @property
    def best_reference(self) -> FloatArray:
        """Return the benefit (g,) of the best answer without a model."""
        best: FloatArray = np.max(list(self.references.values()), axis=0)
        return best


def decision_curve(
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
    groups: Any = None,
    confidence: float = 0.95,
    n_resamples: int = 1000,
    name: str = "model",
    rng: Any = 0,
) -> DecisionCurve:
    """Return net benefits over thresholds, or saved costs along a ray, with bands.

    Without ``factor_of`` there are two classes, benefits are those of :func:`net_benefit`, and
    the references are to treat all rows and none. With it, the benefit is the mean cost that is
    saved against the constant answer that is the cheapest on these rows, see :func:`cost_ray`.

    Bands are percentiles over resamples of the rows, the same rows for all models, so that
    they are those of paired differences.

    Parameters
    ----------
    y_true : array of shape (N,)
    y_prob : array of shape (N,) or (N, k), or dict of str to these
        Probabilities of the positive class, or of all. A dict holds several models by name; the
        first is compared with all others.
    thresholds : array of shape (g,), default=None
        Rising; None takes 0.01, 0.02, ..., 0.99.
    pos_label : label, default=None
        The positive class; None takes the second, sorted.
    cost, factor_of, factors :
        As in :func:`cost_ray`.
    labels : array of shape (k,), default=None
        All classes, in the order of the columns of probabilities.
    sample_weight : array of shape (N,), default=None
    groups : array of shape (N,), default=None
        Labels of rows that belong together, which are resampled together.
    confidence : float, default=0.95
    n_resamples : int, default=1000
    name : str, default="model"
        Name of a single model.
    rng : int or numpy.random.Generator, default=0
        A number gives the same bands every time.

    Notes
    -----
    Bands hold for one point at a time. They are too narrow where few rows decide: at extreme
    thresholds, and between models that are nearly equal.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(1, 3, 500)
    >>> y = rng.random(500) < p
    >>> curve = decision_curve(y, {"model": p, "blurred": (p + 0.25) / 2}, thresholds=[0.1, 0.4])
    >>> curve.benefits["model"].round(2), curve.references["treat all"].round(2)
    (array([0.22, 0.06]), array([ 0.21, -0.19]))
    >>> curve.differences["treat none"].beyond_chance()
    array([ True,  True])
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, got {confidence}")
    if n_resamples < 1:
        raise ValueError(f"n_resamples must be >= 1, got {n_resamples}")
    named = dict(y_prob) if isinstance(y_prob, Mapping) else {name: y_prob}
    if not named:
        raise ValueError("y_prob must hold the probabilities of a model or more, got none")
    if factor_of is None:
        if cost is not None or factors is not None:
            raise ValueError("factor_of must be given with cost or factors, got None")
        decided = _by_thresholds(y_true, named, thresholds, pos_label, labels)
    else:
        if thresholds is not None or pos_label is not None:
            raise ValueError("thresholds and pos_label must be left out with factor_of")
        weight = read_weights(sample_weight, len(column_or_1d(y_true)))
        decided = _along_ray(y_true, named, cost, factor_of, factors, labels, weight)
    taken = sorted(set(decided.references) & set(decided.models))
    if taken:
        raise ValueError(f"y_prob must not name a model {taken[0]!r}, which is a reference")
    w = read_weights(sample_weight, len(decided.truth))
    rows, counts = decided.cells(w) if groups is None else decided.single_rows()
    worths, shares = decided.worths(rows), counts * w[rows] / w.sum()
    benefits = np.array([shares @ worth for worth in worths])
    weight = w[rows]
    gains = np.array([worths[0] - other for other in worths[1:]]) * weight[:, np.newaxis]
    if groups is not None:
        gains, weight, counts = _by_group(gains, weight, groups)
    low, high = _bands(gains, weight, counts, confidence, n_resamples, rng)
    by_name = dict(zip([*decided.models, *decided.references], benefits, strict=True))
    others = [*decided.models[1:], *decided.references]
    offset = benefits[-1] if factor_of is not None else 0.0  # costs are relative to the reference
    return DecisionCurve(
        decided.points,
        {one: by_name[one] - offset for one in decided.models},
        {one: by_name[one] - offset for one in decided.references},
        {
            one: DecisionBand(benefits[0] - by_name[one], low[i], high[i])
            for i, one in enumerate(others)
        },
        confidence,
        None if factor_of is None else in_words(factor_of),
    )


@dataclass(frozen=True, slots=True)
class _Decided:
    """Answers of models and references at every point, and what answers are worth."""

    points: FloatArray  # (g,)
    truth: IntArray  # (N,), positions of classes
    worth: FloatArray  # (g, k, k), of answer j if class i is true
    models: list[str]
    answers: list[IntArray]  # (g, N) by model
    references: list[str]
    constants: IntArray  # (references, g), one answer for all rows

    def worths(self, rows: IntArray) -> list[FloatArray]:
        """Return what the answers to some rows are worth, (rows, g) by model and reference."""
        truth, points = self.truth[rows, np.newaxis], np.arange(len(self.points))
        found = [self.worth[points, truth, A[:, rows].T] for A in self.answers]
        return found + [self.worth[points, truth, c] for c in self.constants]

    def cells(self, weight: FloatArray) -> tuple[IntArray, IntArray]:
        """Return a row of each kind (c,), and how many rows (c,) are of this kind.

        Rows of one class and weight that all models answer alike at all points are of one kind.
        """
        kinds = np.zeros(len(self.truth), dtype=np.intp)
        # Only points at which some rows change their answer divide the rows further.
        for codes in (self.truth, weight, *(one for A in self.answers for one in A)):
            different, places = np.unique(codes, return_inverse=True)
            if len(different) > 1:
                joined = kinds * len(different) + places.reshape(-1)
                kinds = np.unique(joined, return_inverse=True)[1].reshape(-1)
        _, rows, counts = np.unique(kinds, return_index=True, return_counts=True)
        return rows, counts

    def single_rows(self) -> tuple[IntArray, IntArray]:
        """Return all rows (N,), each as a kind of its own."""
        return np.arange(len(self.truth)), np.ones(len(self.truth), dtype=np.intp)


def _by_thresholds(
    y_true: Any, named: Mapping[Any, Any], thresholds: Any, pos_label: Any, labels: Any
) -> _Decided:
    stated = np.arange(1, 100) / 100.0 if thresholds is None else thresholds
    t = _rising(read_thresholds(stated, "thresholds"), "thresholds")
    positive = positive_rows(y_true, pos_label, labels)
    probabilities = [
        _positive_column(P, len(positive), y_true, pos_label, labels) for P in named.values()
    ]
    worth = np.zeros((len(t), 2, 2))
    worth[:, 1, 1], worth[:, 0, 1] = 1.0, -odds(t)
    return _Decided(
        *(t, positive.astype(np.intp), worth, [str(one) for one in named]),
        [(p >= t[:, np.newaxis]).astype(np.int8) for p in probabilities],
        [TREAT_ALL, TREAT_NONE],
        np.repeat([[1], [0]], len(t), axis=1),
    )


def _along_ray(
    y_true: Any,
    named: Mapping[Any, Any],
    cost: Any,
    factor_of: Any,
    factors: Any,
    labels: Any,
    weight: FloatArray,
) -> _Decided:
    s = read_factors(factors)
    y, classes = _codes_of(y_true, labels)
    probabilities = [read_probabilities(P, len(y), len(classes)) for P in named.values()]
    matrices = ray_matrices(cost, factor_of, s, classes)
    # The cheapest constant answer is chosen once, on all rows, which favours the reference.
    shares = np.bincount(y, weight, minlength=len(classes)) / weight.sum()
    cheapest = np.einsum("i,gij->gj", shares, matrices).argmin(axis=1)
    return _Decided(
        *(s, y, -matrices, [str(one) for one in named]),
        [ray_answers(P, matrices) for P in probabilities],
        [BEST_CONSTANT],
        cheapest[np.newaxis],
    )


def _by_group(
    gains: FloatArray, weight: FloatArray, groups: Any
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return the gains (ways - 1, G, g) and weights (G,) of groups, of which each is one."""
    labels = column_or_1d(groups)
    if len(labels) != len(weight):
        raise ValueError(f"groups must have the shape ({len(weight)},), got ({len(labels)},)")
    codes = np.unique(labels, return_inverse=True)[1].reshape(-1)
    n_groups = int(codes.max()) + 1
    summed = np.zeros((len(gains), n_groups, gains.shape[2]))
    for total, one in zip(summed, gains, strict=True):
        np.add.at(total, codes, one)
    weights = np.bincount(codes, weight).astype(np.float64)
    return summed, weights, np.ones(n_groups, dtype=np.intp)


def _bands(
    gains: FloatArray,
    weight: FloatArray,
    counts: IntArray,
    confidence: float,
    n_resamples: int,
    rng: Any,
) -> tuple[FloatArray, FloatArray]:
    """Return bounds (ways - 1, g) of the benefit of the first way to decide over each other.

    To resample rows is to draw how many are of each kind, which is as exact, and takes less
    time than drawing rows where there are many.

    Parameters
    ----------
    gains : array of shape (ways - 1, c, g)
        Of a row of each kind, times its weight.
    weight, counts : array of shape (c,)
        Of a row of each kind, and how many rows are of this kind.
    """
    rng, N = np.random.default_rng(rng), int(counts.sum())
    n_different = np.einsum("c,wcg->wg", counts, gains != 0.0)
    step = max(1, _AT_ONCE // len(counts))
    resampled = []
    for start in range(0, n_resamples, step):
        drawn = rng.multinomial(N, counts / N, size=min(step, n_resamples - start)).astype(float)
        totals = (drawn @ weight)[:, np.newaxis]
        resampled.append(drawn @ gains / np.where(totals > 0, totals, 1.0))
    tails = [(1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0]
    low, high = np.quantile(np.concatenate(resampled, axis=1), tails, axis=1)
    for bound in (low, high):
        bound[n_different < MIN_ROWS] = np.nan
    return low, high


# Checks.


def read_thresholds(threshold: Any, name: str = "threshold") -> FloatArray:
    """Return a threshold (), or thresholds (g,), between 0 and 1."""
    t = numbers(threshold, name)
    if t.ndim > 1 or not t.size:
        raise ValueError(
            f"{name} must be a number or an array of shape (g,), g >= 1, got {t.shape}"
        )
    if not ((t > 0) & (t < 1)).all():
        wrong = t[~((t > 0) & (t < 1))][0]
        raise ValueError(f"{name} must lie between 0 and 1, both excluded, got {wrong:g}")
    return t


def read_factors(factors: Any) -> FloatArray:
    """Return rising factors (g,), by default from a tenth to ten times."""
    if factors is None:
        return np.geomspace(0.1, 10.0, N_FACTORS)
    s = numbers(factors, "factors")
    if not (s > 0).all():
        raise ValueError(f"factors must be > 0, got {s.min():g}")
    return _rising(s, "factors")


def _rising(values: FloatArray, name: str) -> FloatArray:
    if values.ndim != 1 or not values.size or (np.diff(values) <= 0).any():
        raise ValueError(f"{name} must be one rising number or more, got {values.tolist()}")
    return values


def positive_rows(y_true: Any, pos_label: Any = None, labels: Any = None) -> BoolArray:
    """Return which rows (N,) are of the positive class, by default the second of two."""
    y = _labels_of(y_true)
    classes = unique_labels(y).tolist() if labels is None else np.asarray(labels).tolist()
    if len(classes) > 2:
        raise ValueError(
            f"y_true must have two classes, got {len(classes)}; give factor_of for more"
        )
    if pos_label is None and len(classes) < 2:
        raise ValueError(f"pos_label must be given where y_true has one class, got {classes}")
    if pos_label is not None and len(classes) == 2 and pos_label not in classes:
        raise ValueError(f"pos_label must be one of {classes}, got {pos_label!r}")
    if labels is not None:
        label_codes(y.tolist(), np.asarray(labels), "y_true")
    positive = classes[1] if pos_label is None else pos_label
    found: BoolArray = np.asarray(y == positive, dtype=bool)
    return found


def _positive_column(P: Any, n_rows: int, y_true: Any, pos_label: Any, labels: Any) -> FloatArray:
    """Return the probabilities (N,) of the positive class, from these or from those of both."""
    if np.ndim(P) != 2:
        return read_probabilities(P, n_rows)
    both = read_probabilities(P, n_rows, 2)
    classes = unique_labels(_labels_of(y_true)) if labels is None else np.asarray(labels)
    if len(classes) != 2:
        raise ValueError(
            f"labels must have the classes of the columns of y_prob, got {classes.tolist()}"
        )
    column = 1 if pos_label is None else classes.tolist().index(pos_label)
    return both[:, column]


def read_probabilities(y_prob: Any, n_rows: int, n_classes: int | None = None) -> FloatArray:
    """Return probabilities (N,), or (N, k) where ``n_classes`` is given."""
    P = numbers(y_prob, "y_prob")
    shape = (n_rows,) if n_classes is None else (n_rows, n_classes)
    if P.shape != shape:
        raise ValueError(f"y_prob must have the shape {shape}, got {P.shape}")
    if ((P < 0) | (P > 1)).any():
        raise ValueError(f"y_prob must lie between 0 and 1, got {P[(P < 0) | (P > 1)][0]:g}")
    if n_classes is not None and (np.abs(P.sum(axis=1) - 1.0) > SUM_TOLERANCE).any():
        wrong = P.sum(axis=1)[np.abs(P.sum(axis=1) - 1.0).argmax()]
        raise ValueError(f"y_prob must have rows with the sum 1, got {wrong:g}")
    return P


def read_weights(sample_weight: Any, n_rows: int) -> FloatArray:
    """Return the weights (N,) of rows, by default 1."""
    if sample_weight is None:
        return np.ones(n_rows)
    w = numbers(sample_weight, "sample_weight")
    if w.shape != (n_rows,):
        raise ValueError(f"sample_weight must have the shape ({n_rows},), got {w.shape}")
    if (w < 0).any() or not w.any():
        raise ValueError(f"sample_weight must be >= 0 and not 0 everywhere, got {w.min():g}")
    return w


def _codes_of(y_true: Any, labels: Any) -> tuple[IntArray, AnyArray]:
    """Return the positions of the true classes (N,), and the classes (k,)."""
    y = _labels_of(y_true)
    classes = np.asarray(unique_labels(y) if labels is None else labels)
    return label_codes(y.tolist(), classes, "y_true"), classes


def _labels_of(y_true: Any) -> AnyArray:
    y: AnyArray = column_or_1d(y_true)
    if not len(y):
        raise ValueError("y_true must have at least one row, got none")
    if any(label is None or label != label for label in y.tolist()):  # noqa: PLR0124
        raise ValueError("y_true must not have missing labels")
    return y
