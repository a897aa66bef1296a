"""What metrics are called, and what they mean in a line."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric in plain words."""

    name: str  # as it stands inside a sentence
    meaning: str
    smaller_is_better: bool = False
    is_share: bool = False  # from 0 to 1
    is_counted: bool = True  # a function of the table of answers against the truth

    def advantage(self, one: float, other: float) -> float:
        """Return by how much the first value is better than the second."""
        return other - one if self.smaller_is_better else one - other


_METRICS = {
    "accuracy": Metric("accuracy", "The share of right answers.", is_share=True),
    "average_precision": Metric(
        "average precision",
        "Area under the curve of precision over recall.",
        is_share=True,
        is_counted=False,
    ),
    "balanced_accuracy": Metric(
        "balanced accuracy",
        "The mean share of each class that is found, so that rare classes count as much as others.",
        is_share=True,
    ),
    "cumulative_score": Metric(
        "cumulative score",
        "The share of rows whose error is within a tolerance.",
        is_share=True,
        is_counted=False,
    ),
    "f1": Metric(
        "F1",
        "Harmonic mean of precision (how many alarms are right) and recall (how many cases are "
        "found).",
        is_share=True,
    ),
    "f1_macro": Metric(
        "macro F1",
        "Mean over classes of F1, which is high where a class is both found and seldom claimed "
        "wrongly.",
        is_share=True,
    ),
    "gmean": Metric(
        "G-mean",
        "Geometric mean of the shares of each class that are found: 1 is perfect, and 0 says that "
        "some class is never found.",
        is_share=True,
    ),
    "mae": Metric(
        "mean absolute error",
        "How far an answer is off on average.",
        smaller_is_better=True,
        is_counted=False,
    ),
    "matthews_corrcoef": Metric(
        "Matthews correlation",
        "Correlation of answers with the truth: 1 is perfect, 0 is no better than guessing.",
    ),
    "mean_cost": Metric(
        "mean cost",
        "What a decision costs on average, by the costs that were stated.",
        smaller_is_better=True,
    ),
    "precision": Metric("precision", "The share of alarms that are right.", is_share=True),
    "precision_macro": Metric(
        "macro precision", "Mean over classes of the share of claims that are right.", is_share=True
    ),
    "r2": Metric(
        "R²",
        "The share of the variance explained: 1 is perfect, 0 is always telling the mean.",
        is_counted=False,
    ),
    "recall": Metric("recall", "The share of cases that are found.", is_share=True),
    "recall_macro": Metric(
        "macro recall", "The mean share of each class that is found.", is_share=True
    ),
    "rmse": Metric(
        "root mean squared error",
        "How far answers are off, with large errors counting more.",
        smaller_is_better=True,
        is_counted=False,
    ),
    "roc_auc": Metric(
        "area under the ROC curve",
        "How often a case gets a higher score than a non-case: 1 is always, 0.5 is guessing.",
        is_share=True,
        is_counted=False,
    ),
    "savings": Metric("savings", "The share of costs saved over the better of all yes and all no."),
    "total_cost": Metric(
        "total cost", "What all decisions cost, by the costs that were stated.", True
    ),
}


def metric_named(name: str) -> Metric:
    """Return what is known of a metric; of one that is not known, that greater is better.

    Examples
    --------
    >>> metric_named("gmean").name
    'G-mean'
    >>> metric_named("mine").meaning
    'Greater is better.'
    """
    return _METRICS.get(name, Metric(name, "Greater is better.", is_counted=False))
