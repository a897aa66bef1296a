"""One record per metric, and the scorers that are found by their names."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics import get_scorer as sklearn_scorer
from sklearn.metrics import get_scorer_names as sklearn_names
from sklearn.metrics import make_scorer, mean_absolute_error
from sklearn.utils.metadata_routing import get_routing_for_object

from ecselm._sklearn import Scorer, routing_enabled
from ecselm._typing import AnyArray, FloatArray
from ecselm.costs.parse import has_reject_column
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

    Any stated costs make the mean cost the goal, whether they are known by number or in part,
    such as by an order or by intervals; without them every class counts the same.

    Parameters
    ----------
    costs : object or None, default=None
        Stated costs by class or by row, in any form; None where nothing is stated.

    Returns
    -------
    name : {"balanced_accuracy", "mean_cost"}

    Examples
    --------
    >>> default_metric(), default_metric({("ill", "well"): 5})
    ('balanced_accuracy', 'mean_cost')
    >>> default_metric("ill->well > well->ill")
    'mean_cost'
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
        Of the package's own scores: ``cost``, ``labels``, ``reject_label``, ``reject_cost``,
        ``tolerance``, ``rank``. The scorers of costs know the classes of a model, if not of
        every fold; ``labels`` states another order, or classes that a model never saw.

    Returns
    -------
    scorer : callable
        Called with a fitted model, rows and truth. The scorers of costs also take
        ``sample_cost``, ``tp_cost``, ``tn_cost``, ``fp_cost``, ``fn_cost`` and ``reject_cost``
        by row, see :func:`total_cost`, or have them routed after
        ``scorer.set_score_request(sample_cost=True)``. They hand them on to the ``predict`` of
        a model that takes them and, where metadata are routed, has requested them. Rejected
        predictions of a model that states their cost are scored by it.

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
    if metric.function is not None and metric.uses_cost:
        return _cost_scorer(metric, metric.function, options)
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


BY_ROW = ("sample_cost", "tp_cost", "tn_cost", "fp_cost", "fn_cost")


class CostScorer(Scorer):
    """Score a model by a metric of costs, with its own classes and the costs of each row."""

    def __repr__(self) -> str:
        """Return the call that makes this scorer."""
        name = next(n for n, metric in METRICS.items() if metric.function is self._score_func)
        options = "".join(f", {option}={value!r}" for option, value in self._kwargs.items())
        return f"get_scorer({name!r}{options})"

    def __call__(
        self, estimator: Any, X: Any, y_true: Any, sample_weight: Any = None, **kwargs: Any
    ) -> float:
        """Return the score; costs by row need no metadata routing where they are given here."""
        if sample_weight is not None:
            kwargs["sample_weight"] = sample_weight
        return self._score(_response, estimator, X, y_true, **kwargs)

    def _score(
        self, method_caller: Any, estimator: Any, X: Any, y_true: Any, **kwargs: Any
    ) -> float:
        kwargs = _without_none(kwargs)
        stated = {**self._kwargs, **kwargs}
        for_predict = _requested(estimator, _by_row(stated, np.shape(y_true)[0]))
        if for_predict:  # predictions that other scorers must not share
            method_caller = partial(_response, for_predict=for_predict)
        known = _known_of_model(estimator, y_true, stated)
        return float(super()._score(method_caller, estimator, X, y_true, **known, **kwargs))


def _response(
    estimator: Any, method: str, X: Any, *, for_predict: Any = None, **_positive: Any
) -> AnyArray:
    """Return predictions, called as scikit-learn's scorers do; there is no positive class."""
    predictions: AnyArray = getattr(estimator, method)(X, **(for_predict or {}))
    return predictions


def _without_none(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that are stated; None can be the label of rejected predictions."""
    return {name: v for name, v in options.items() if v is not None or name == "reject_label"}


def _last_step(estimator: Any) -> Any:
    while hasattr(estimator, "steps"):
        estimator = estimator.steps[-1][1]
    return estimator


def _by_row(stated: dict[str, Any], n_rows: int) -> dict[str, Any]:
    """Return the costs of rows that may be for ``predict``."""
    names = [name for name in BY_ROW if name in stated]
    if np.shape(stated.get("reject_cost", 0.0)) == (n_rows,):
        names.append("reject_cost")
    return {name: stated[name] for name in names}


def _requested(estimator: Any, costs: dict[str, Any]) -> dict[str, Any]:
    """Return those of the costs that the model's ``predict`` takes, by the names it takes."""
    last = _last_step(estimator)
    if not costs or not hasattr(last, "predict"):
        return {}
    taken = set(inspect.signature(last.predict).parameters) & set(costs)
    if not hasattr(last, "reject_label_"):
        taken.discard("reject_cost")
    if not routing_enabled():
        # Nothing says for whom they are: costs that depend on the truth are for the score.
        return {name: costs[name] for name in taken if not _depends_on_truth(costs[name])}
    if not taken or not hasattr(last, "get_metadata_routing"):
        return {}
    requests = get_routing_for_object(last).predict.requests
    aliases = {name: requests.get(name) for name in taken}
    return {
        alias if isinstance(alias, str) and last is not estimator else name: costs[name]
        for name, alias in aliases.items()
        if alias is True or isinstance(alias, str)
    }


def _depends_on_truth(cost: Any) -> bool:
    shape = np.shape(cost)
    return len(shape) == 2 and shape[1] > 1


def _known_of_model(estimator: Any, y_true: Any, stated: dict[str, Any]) -> dict[str, Any]:
    """Return the classes and, if it rejects, the label and the prices of a model.

    Without what is stated already. A class that the model never saw follows by order of labels,
    and costs as much to reject as the most expensive of the others.
    """
    known: dict[str, Any] = {}
    classes = getattr(estimator, "classes_", None)
    if classes is not None and "labels" not in stated:
        unseen = ~np.isin(y_true, classes)
        known["labels"] = np.union1d(classes, y_true) if unseen.any() else classes
    last = _last_step(estimator)
    while hasattr(last, "best_estimator_"):
        last = _last_step(last.best_estimator_)
    if not hasattr(last, "reject_label_"):
        return known
    if "reject_label" not in stated:
        known["reject_label"] = last.reject_label_
    of_rows = np.shape(stated.get("sample_cost", 0.0))
    in_table = len(of_rows) == 3 and of_rows[2] == of_rows[1] + 1
    if not ("reject_cost" in stated or in_table or has_reject_column(stated.get("cost"))):
        prices = getattr(last, "_reject_costs_", None)
        prices = np.zeros(len(last.classes_)) if prices is None else np.asarray(prices)
        by_class = dict(zip(last.classes_.tolist(), prices.tolist(), strict=True))
        labels = np.asarray({"labels": last.classes_, **known, **stated}["labels"]).tolist()
        known["reject_cost"] = [by_class.get(label, max(prices)) for label in labels]
    return known


def _cost_scorer(
    metric: Metric, function: Callable[..., float], options: dict[str, Any]
) -> CostScorer:
    takes = [*inspect.signature(function).parameters][2:]
    unknown = sorted(set(options) - set(takes))
    if unknown:
        raise ValueError(f"options of {metric.name!r} must be among {takes}, got {unknown}")
    return CostScorer(function, 1 if metric.greater_is_better else -1, _without_none(options))


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
