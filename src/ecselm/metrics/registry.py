"""One record per metric, and the scorers that are found by their names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics import get_scorer as sklearn_scorer
from sklearn.metrics import get_scorer_names as sklearn_names
from sklearn.metrics import make_scorer, mean_absolute_error

from ecselm._typing import AnyArray, FloatArray
from ecselm.metrics import confusion
from ecselm.metrics.confusion import ConfusionMetric
from ecselm.metrics.costs import (
    cumulative_score,
    geometric_mean_score,
    mean_cost,
    savings_score,
    total_cost,
)
from ecselm.metrics.recognition import average_recognition_rate, match_rate, total_recognition_rate

MAJORITY_POWER = 0.0  # implied by metrics in which every row counts the same
DEFAULT_POWER = 0.5


@dataclass(frozen=True, slots=True)
class Metric:
    """Everything the package knows of a metric.

    Examples
    --------
    >>> metric = get_metric("gmean")
    >>> metric.label, metric.implied_power, metric.greater_is_better
    ('G-mean', 1.0, True)
    """

    name: str  # of the scorer
    label: str  # inside a sentence
    description: str
    greater_is_better: bool = True  # of the value in cards and reports; scorers negate others
    is_share: bool = False  # lies between 0 and 1
    implied_power: float = DEFAULT_POWER  # of the weights W1, the prior costs for this metric
    uses_cost: bool = False  # counts the costs of mistakes that the user states
    # From confusion matrices (P, k, k) to values (P,), greater is better; with a parameter
    # cost (k, k) if uses_cost.
    from_confusion: Callable[..., FloatArray] | None = None
    needs_positive_class: bool = False  # from_confusion takes the second of two classes for it
    from_residuals: Callable[[FloatArray], FloatArray] | None = None  # minus its mean is the score
    function: Callable[..., float] | None = None  # of (y_true, y_pred); None: scikit-learn's

    @property
    def favours_majority(self) -> bool:
        """Return whether predicting the largest class everywhere can score well."""
        return self.implied_power == MAJORITY_POWER and not self.uses_cost

    def advantage(self, a: float, b: float) -> float:
        """Return by how much the value ``a`` is better than ``b``.

        Examples
        --------
        >>> get_metric("gmean").advantage(0.75, 0.5), get_metric("mae").advantage(0.75, 0.5)
        (0.25, -0.25)
        """
        return a - b if self.greater_is_better else b - a

    def confusion_metric(
        self, classes: AnyArray, cost: FloatArray | None = None
    ) -> ConfusionMetric | None:
        """Return the metric as a function of confusion matrices (P, k, k), greater is better.

        Parameters
        ----------
        classes : array of shape (k,)
        cost : array of shape (k, k) or None, default=None
            Costs of mistakes, rows are the truth; None is 1 each.

        Returns
        -------
        callable or None
            None if the metric is not a function of the confusion matrix of these classes.
        """
        if self.from_confusion is None:
            return None
        if self.uses_cost:
            return partial(
                self.from_confusion, cost=1.0 - np.eye(len(classes)) if cost is None else cost
            )
        if self.needs_positive_class and not (len(classes) == 2 and classes[1] == 1):
            return None
        return self.from_confusion


def _averages(
    name: str, label: str, per_class: ConfusionMetric, what: str, powers: Sequence[float]
) -> list[Metric]:
    """Return the metrics that average a metric of single classes as scikit-learn does."""
    binary, macro, micro, weighted = powers
    return [
        Metric(
            name, label, f"{what}, of the positive class.", is_share=True, implied_power=binary,
            from_confusion=partial(confusion.positive_class, per_class=per_class),
            needs_positive_class=True,
        ),
        Metric(
            f"{name}_macro", f"macro {label}", f"{what}, averaged over the classes.",
            is_share=True, implied_power=macro,
            from_confusion=partial(confusion.macro_average, per_class=per_class),
        ),
        Metric(
            f"{name}_micro", f"micro {label}", "Share of correct predictions.", is_share=True,
            implied_power=micro, from_confusion=confusion.accuracy,
        ),
        Metric(
            f"{name}_weighted", f"weighted {label}",
            f"{what}, averaged over the classes by their number of rows.", is_share=True,
            implied_power=weighted,
            from_confusion=partial(confusion.weighted_average, per_class=per_class),
        ),
    ]  # fmt: skip


_RECOGNISED = "Share of correct predictions."
_MEAN_RECALL = "Mean recall of the classes, so that rare classes count as much as frequent ones."
_JACCARD = "Correct predictions of a class over all rows that are or are predicted as this class"
_RECORDS = [
    Metric(
        "accuracy", "accuracy", _RECOGNISED, is_share=True, implied_power=MAJORITY_POWER,
        from_confusion=confusion.accuracy,
    ),
    Metric(
        "arr", "average recognition rate", _MEAN_RECALL, is_share=True, implied_power=1.0,
        from_confusion=confusion.balanced_accuracy, function=average_recognition_rate,
    ),
    Metric(
        "average_precision", "average precision", "Area under the precision-recall curve.",
        is_share=True,
    ),
    Metric(
        "balanced_accuracy", "balanced accuracy", _MEAN_RECALL, is_share=True, implied_power=1.0,
        from_confusion=confusion.balanced_accuracy,
    ),
    Metric(
        "cumulative_score", "cumulative score", "Share of rows whose error is within a tolerance.",
        is_share=True, function=cumulative_score,
    ),
    *_averages(
        "f1", "F1", confusion.f1, "Harmonic mean of precision and recall",
        (DEFAULT_POWER, DEFAULT_POWER, MAJORITY_POWER, DEFAULT_POWER),
    ),
    Metric(
        "gmean", "G-mean",
        "Geometric mean of the recalls of the classes: 1 is perfect, 0 means that some class is "
        "never recognised.",
        is_share=True, implied_power=1.0, from_confusion=confusion.gmean,
        function=geometric_mean_score,
    ),
    Metric(
        "jaccard", "Jaccard index", f"{_JACCARD}, of the positive class.", is_share=True,
        implied_power=DEFAULT_POWER,
    ),
    Metric(
        "jaccard_macro", "macro Jaccard index", f"{_JACCARD}, averaged over the classes.",
        is_share=True, implied_power=DEFAULT_POWER,
    ),
    Metric(
        "jaccard_weighted", "weighted Jaccard index",
        f"{_JACCARD}, averaged over the classes by their number of rows.", is_share=True,
        implied_power=DEFAULT_POWER,
    ),
    Metric(
        "mae", "mean absolute error", "Mean absolute difference of prediction and truth.",
        greater_is_better=False, from_residuals=np.abs, function=mean_absolute_error,
    ),
    Metric(
        "match_rate", "match rate", "Share of rows whose true class has one of the best scores.",
        is_share=True, function=match_rate,
    ),
    Metric(
        "matthews_corrcoef", "Matthews correlation",
        "Correlation of predictions and truth: 1 is perfect, 0 is no better than guessing.",
        implied_power=DEFAULT_POWER, from_confusion=confusion.matthews_corrcoef,
    ),
    Metric(
        "mean_cost", "mean cost", "Mean cost of a prediction, by the stated costs.",
        greater_is_better=False, implied_power=MAJORITY_POWER, uses_cost=True,
        from_confusion=confusion.neg_mean_cost, function=mean_cost,
    ),
    Metric(
        "neg_mean_absolute_error", "negative mean absolute error",
        "Minus the mean absolute difference of prediction and truth.", from_residuals=np.abs,
    ),
    Metric(
        "neg_mean_squared_error", "negative mean squared error",
        "Minus the mean squared difference of prediction and truth.", from_residuals=np.square,
    ),
    *_averages(
        "precision", "precision", confusion.precision,
        "Share of the predictions of a class that are correct",
        (DEFAULT_POWER, DEFAULT_POWER, MAJORITY_POWER, DEFAULT_POWER),
    ),
    Metric(
        "r2", "R²", "Share of the variance explained: 1 is perfect, 0 is predicting the mean.",
    ),
    Metric(
        "rank_1", "rank-1 recognition rate", _RECOGNISED, is_share=True,
        implied_power=MAJORITY_POWER, from_confusion=confusion.accuracy,
        function=total_recognition_rate,
    ),
    *_averages(
        "recall", "recall", confusion.recall, "Share of the rows of a class that are recognised",
        (DEFAULT_POWER, 1.0, MAJORITY_POWER, DEFAULT_POWER),
    ),
    Metric(
        "rmse", "root mean squared error",
        "Root of the mean squared difference of prediction and truth; large errors count more.",
        greater_is_better=False,
    ),
    Metric(
        "roc_auc", "area under the ROC curve",
        "Probability that a positive row has a higher score than a negative one: 1 is perfect, "
        "0.5 is guessing.",
        is_share=True,
    ),
    Metric(
        "savings", "savings",
        "Share of the cost saved, compared with the cheapest constant prediction.",
        implied_power=MAJORITY_POWER, uses_cost=True, from_confusion=confusion.savings,
        function=savings_score,
    ),
    Metric(
        "total_cost", "total cost", "Cost of all predictions, by the stated costs.",
        greater_is_better=False, implied_power=MAJORITY_POWER, uses_cost=True,
        from_confusion=confusion.neg_total_cost, function=total_cost,
    ),
    Metric(
        "trr", "total recognition rate", _RECOGNISED, is_share=True,
        implied_power=MAJORITY_POWER, from_confusion=confusion.accuracy,
        function=total_recognition_rate,
    ),
]  # fmt: skip
METRICS = {metric.name: metric for metric in _RECORDS}
_OWN = sorted(name for name, metric in METRICS.items() if metric.function is not None)


def get_metric(scoring: Any) -> Metric:
    """Return the record of a metric by the name of its scorer.

    Parameters
    ----------
    scoring : str or callable
        Other scorers, and scorers that are not given by name, have a record that says only
        that greater is better.

    Returns
    -------
    metric : Metric

    Examples
    --------
    >>> get_metric("mae").label, get_metric("max_error").description
    ('mean absolute error', 'Greater is better.')
    """
    name = scoring if isinstance(scoring, str) else "score"
    known = METRICS.get(scoring) if isinstance(scoring, str) else None
    return Metric(name, name, "Greater is better.") if known is None else known


def default_metric(costs: Any = None) -> str:
    """Return the name of the metric to optimise for classes where none is named.

    Costs of all mistakes make the mean cost the goal; without them, or where only an order,
    intervals or some of them are known, every class counts the same.

    Parameters
    ----------
    costs : object or None, default=None
        Costs of all mistakes by number, by class or by row, in any form; None where not all
        are stated.

    Returns
    -------
    name : {"balanced_accuracy", "mean_cost"}

    Examples
    --------
    >>> default_metric(), default_metric({("ill", "well"): 5})
    ('balanced_accuracy', 'mean_cost')
    """
    return "balanced_accuracy" if costs is None else "mean_cost"


def get_scorer_names() -> list[str]:
    """Return the names of all scorers, the package's own and scikit-learn's.

    Examples
    --------
    >>> "gmean" in get_scorer_names()
    True
    """
    return sorted({*_OWN, *sklearn_names()})


def get_scorer(scoring: Any, **options: Any) -> Any:
    """Return a scorer by name, or a callable as it is; greater is always better.

    Parameters
    ----------
    scoring : str or callable
        ``"gmean"``, ``"arr"``, ``"trr"`` or ``"rank_1"`` (both the share of correct
        predictions), ``"match_rate"`` (by decision values or probabilities), ``"savings"``,
        ``"cumulative_score"``; ``"mean_cost"``, ``"total_cost"`` and ``"mae"`` (with a minus
        sign); or what scikit-learn's ``get_scorer`` takes.
    **options
        Of the package's own scores: ``cost``, ``labels``, ``tolerance``, ``rank``. Give
        ``labels`` with costs where a fold may lack a class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ecselm import ELMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(get_scorer("gmean")(ELMClassifier(random_state=0).fit(X, y), X, y) > 0.9)
    True
    """
    metric = get_metric(scoring)
    if metric.function is match_rate:
        return _match_scorer(**options)
    if metric.function is not None:
        return make_scorer(metric.function, greater_is_better=metric.greater_is_better, **options)
    if options:
        raise ValueError(f"options must be of {_OWN}, got {options} for {scoring!r}")
    try:
        return sklearn_scorer(scoring)
    except ValueError as error:
        raise ValueError(
            f"scoring must be a scorer or the name of one, see "
            f"ecselm.metrics.get_scorer_names(), got {scoring!r}"
        ) from error


@dataclass(frozen=True)
class MatchScorer:
    """Score a model by :func:`match_rate`, its classes in the order it knows.

    scikit-learn's own scorers hand on scores without the classes of their columns, and of
    two classes one column of probabilities, whose threshold is not that of a decision.
    """

    rank: int = 1
    # Where scikit-learn's scorers keep it, for callers that inspect whether it takes weights.
    _score_func = staticmethod(match_rate)

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of rows whose true class is among the best."""
        method = "decision_function" if hasattr(estimator, "decision_function") else "predict_proba"
        scores = np.asarray(getattr(estimator, method)(X))
        return match_rate(
            y, scores, rank=self.rank, labels=estimator.classes_, sample_weight=sample_weight
        )


def _match_scorer(rank: int = 1, **unknown: Any) -> MatchScorer:
    if unknown:
        raise ValueError(f"options of 'match_rate' must be rank alone, got {unknown}")
    return MatchScorer(rank)
