"""Plainer models on the same rows: what there is without learning any costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.dummy import DummyClassifier, DummyRegressor

from ecselm._typing import FloatArray, IntArray
from ecselm.elm import ELMClassifier, ELMRegressor, WELMClassifier
from ecselm.metrics.counted import Metric
from ecselm.statistics import paired_t_test
from ecselm.study.card import Compared, Task
from ecselm.study.scores import better, known_codes, scored_classes, scored_numbers

MAJORITY = "most frequent class"
N_HIDDEN = 100
N_SAMPLES = 2000  # of the bootstrap
SQUARED = ("rmse", "r2", "neg_mean_squared_error", "neg_root_mean_squared_error")
_RIVALS: dict[Task, dict[str, Callable[[int], Any]]] = {
    "classes": {
        "ELM": lambda seed: ELMClassifier(N_HIDDEN, random_state=seed),
        "W1-ELM": lambda seed: WELMClassifier(N_HIDDEN, weighting="w1", random_state=seed),
        "W2-ELM": lambda seed: WELMClassifier(N_HIDDEN, weighting="w2", random_state=seed),
        MAJORITY: lambda _: DummyClassifier(strategy="most_frequent"),
    },
    "numbers": {
        "ELM": lambda seed: ELMRegressor(N_HIDDEN, random_state=seed),
        "mean": lambda _: DummyRegressor(strategy="mean"),
        "median": lambda _: DummyRegressor(strategy="median"),
    },
}
CONSTANT = (MAJORITY, "mean", "median")  # rivals that do not look at the row


@dataclass(frozen=True, slots=True)
class Rivals:
    """Fitted models by name, and a sentence for each that could not be fitted."""

    models: dict[str, Any]
    notes: tuple[str, ...] = ()

    def compared(
        self, X: Any, y: Any, *, metric: str | None = None, stated: Any = None
    ) -> tuple[Compared, ...]:
        """Return what each scores on the rows of ``X`` with the true ``y``."""
        return tuple(
            _compared(name, model, X, y, metric, stated) for name, model in self.models.items()
        )


def fitted_rivals(
    X: Any, y: Any, *, task: Task = "classes", seed: int = 0, sample_weight: Any = None
) -> Rivals:
    """Fit the plainer models for a task.

    Parameters
    ----------
    X : array or sparse matrix of shape (N, n)
        Numbers, as they reach the last step of a pipeline.
    y : array of shape (N,)
    task : {"classes", "numbers"}, default="classes"
    seed : int, default=0
    sample_weight : array of shape (N,), default=None

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> list(fitted_rivals(*load_iris(return_X_y=True)).models)
    ['ELM', 'W1-ELM', 'W2-ELM', 'most frequent class']
    """
    models, notes = {}, []
    for name, make in _RIVALS[task].items():
        try:
            models[name] = make(seed).fit(X, y, sample_weight=sample_weight)
        except (ValueError, MemoryError) as error:
            notes.append(f"{name} could not be fitted for comparison: {_first_sentence(error)}")
    return Rivals(models, tuple(notes))


def best_of(compared: Sequence[Compared], metric: str) -> Compared | None:
    """Return the model with the best score, the first of equals; None where none has one.

    Examples
    --------
    >>> best_of([Compared("ELM", {"mae": 2.0}), Compared("mean", {"mae": 3.0})], "mae").name
    'ELM'
    """
    best = None
    for one in compared:
        if metric not in one.scores:
            continue
        if best is None or better(one.scores[metric], best.scores[metric], metric):
            best = one
    return best


def differ_in_classes(
    truth: IntArray,
    answers: Sequence[IntArray],
    metric: Metric,
    n_classes: int,
    rng: np.random.Generator,
    confidence: float = 0.95,
) -> bool:
    """Tell whether two models differ in a metric by more than the choice of the rows.

    Rows are drawn anew with both answers to them, so that what both get right or wrong does
    not blur the comparison; the models differ if the bootstrap interval of the difference
    leaves out 0.

    Examples
    --------
    >>> from ecselm.metrics.counted import accuracy
    >>> truth = np.repeat([0, 1], 50)
    >>> answers = truth, np.where(np.arange(100) % 3, truth, 0)
    >>> differ_in_classes(truth, answers, accuracy, 2, np.random.default_rng(0))
    True
    """
    k, (mine, other) = n_classes, answers
    cells, counts = np.unique((truth * k + mine) * k + other, return_counts=True)
    drawn = rng.multinomial(len(truth), counts / len(truth), size=N_SAMPLES)
    of_truth, of_mine, of_other = cells // (k * k), cells // k % k, cells % k
    gains = metric(_tables(drawn, of_truth, of_mine, k))
    gains = gains - metric(_tables(drawn, of_truth, of_other, k))
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(gains, [tail, 1.0 - tail])
    return bool(low > 0 or high < 0)


def differ_in_numbers(
    errors: FloatArray, other: FloatArray, metric: str | None, confidence: float = 0.95
) -> bool:
    """Tell whether the errors of two regressors on the same rows differ by more than chance.

    By the paired t-test on squared errors where the metric squares them, else on absolute
    ones.

    Examples
    --------
    >>> differ_in_numbers(np.array([1.0, -1.0, 1.1]), np.array([5.0, -5.1, 5.0]), "mae")
    True
    """
    size = np.square if metric in SQUARED else np.abs
    if len(errors) < 2:
        return False
    return paired_t_test(size(errors), size(other)).p < 1.0 - confidence


def _tables(drawn: IntArray, truth: IntArray, told: IntArray, n_classes: int) -> FloatArray:
    """Return confusion matrices (P, k, k) from how often cells (P, c) were drawn."""
    c, k = drawn.shape[1], n_classes
    places = sparse.csr_array((np.ones(c), (truth * k + told, np.arange(c))), shape=(k * k, c))
    return (places @ drawn.T).T.reshape(-1, k, k)


def _compared(name: str, model: Any, X: Any, y: Any, metric: str | None, stated: Any) -> Compared:
    if hasattr(model, "classes_"):
        scored = scored_classes(model, X, known_codes(y, model.classes_), metric, stated)
    else:
        scored = scored_numbers(model, X, np.asarray(y, dtype=np.float64), metric)
    return Compared(name, scored.scores, scored.confusion, scored.total_cost)


def _first_sentence(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
