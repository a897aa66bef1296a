"""What is reported of a model on test rows, beside baselines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse, stats
from sklearn.base import is_regressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.costs.parse import numbers
from ecselm.estimators import ELMClassifier, ELMRegressor, WELMClassifier
from ecselm.metrics import get_scorer
from ecselm.metrics.confusion import ConfusionMetric
from ecselm.paper.statistics import paired_t_test
from ecselm.study.card import Compared, Curve, Estimate, HeldOut
from ecselm.study.curves import cumulative_of, precision_recall_of, reliability_of, roc_of
from ecselm.study.scores import better, known_codes, scored_classes, scored_numbers
from ecselm.tables.schema import Task

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


def held_out_of(
    model: Any, X: Any, y: Any, *, metric: str | None = None, stated: Any = None
) -> HeldOut:
    """Return results of a fitted model on rows that it was not fitted on.

    What these rows do not allow for, such as the recall of a class that none of them
    belongs to, is left out.

    Parameters
    ----------
    model : classifier or regressor
        Fitted. Curves need ``predict_proba`` or ``decision_function``.
    X : array, sparse matrix or dataframe of shape (n, m), or what the model takes
    y : array of shape (n,)
        True labels or numbers.
    metric : str or None, default=None
        A score to give beside the usual ones, see :func:`ecselm.metrics.get_scorer`.
    stated : array, DataFrame, dict or None, default=None
        What mistakes cost, in any form the estimators take, arrays in the order of
        ``classes_``.

    Returns
    -------
    results : HeldOut
        Of two classes, curves are of the rarer one.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ecselm import ELMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ELMClassifier(random_state=0).fit(X[::2], y[::2])
    >>> results = held_out_of(model, X[1::2], y[1::2], metric="gmean")
    >>> results.scores["gmean"] > 0.9, [recall.n for recall in results.recalls]
    (True, [25, 25, 25])
    """
    check_is_fitted(model)
    if metric is not None:
        get_scorer(metric)  # a name that nobody knows is refused before any work
    y = column_or_1d(np.asarray(y))
    check_consistent_length(X, y)
    if not len(y):
        raise ValueError("y must have at least one row, got none")
    if is_regressor(model):
        return _numbers(model, X, numbers(y, "y"), metric)
    return _classes(model, X, known_codes(y, np.asarray(model.classes_)), metric, stated)


def _numbers(model: Any, X: Any, truth: FloatArray, metric: str | None) -> HeldOut:
    scored = scored_numbers(model, X, truth, metric)
    return HeldOut(scored.scores, cumulative=cumulative_of(truth - np.asarray(model.predict(X))))


def _classes(model: Any, X: Any, truth: IntArray, metric: str | None, stated: Any) -> HeldOut:
    classes = np.asarray(model.classes_)
    scored = scored_classes(model, X, truth, metric, stated)
    said = _said(model, X, classes, truth)
    costs = None if scored.costs is None else tuple(map(tuple, scored.costs.tolist()))
    return HeldOut(
        scored.scores,
        scored.confusion,
        costs,
        scored.total_cost,
        _recalls(scored.counts, classes),
        () if said is None else said.curves(roc_of),
        () if said is None else said.curves(precision_recall_of),
        None if said is None else said.reliability(known_codes(model.predict(X), classes)),
    )


def recall_of(name: str, n_right: int, n: int) -> Estimate:
    """Return the share of rows of a class that were told right, with its interval.

    Drawing n answers anew makes the number of right ones binomial, so that the percentile
    bootstrap needs no drawing. Where all answers are right, or none, all samples are equal
    and the interval has no width: there it is that of Clopper and Pearson, which is exact.

    Examples
    --------
    >>> one = recall_of("ill", 1, 1)
    >>> one.value, round(one.low, 3), one.high
    (1.0, 0.025, 1.0)
    """
    if n_right in {0, n}:
        exact = stats.binomtest(n_right, n).proportion_ci(0.95, method="exact")
        low, high = exact.low, exact.high
    else:
        low, high = stats.binom.ppf([0.025, 0.975], n, n_right / n) / n
    return Estimate(name, n_right / n, float(low), float(high), n)


def _recalls(counts: Any, classes: AnyArray) -> tuple[Estimate, ...]:
    seen = zip(
        classes.tolist(), counts.diagonal().tolist(), counts.sum(axis=1).tolist(), strict=True
    )
    return tuple(recall_of(str(name), right, n) for name, right, n in seen if n)


@dataclass(frozen=True, slots=True)
class _Said:
    """What a classifier says beside its decision: scores (n, k), probabilities if they are."""

    classes: AnyArray
    truth: IntArray
    scores: FloatArray
    are_probabilities: bool

    @property
    def shown(self) -> list[int]:
        """Return the classes that have curves: of two the rarer one, as the other says the same."""
        n = np.bincount(self.truth, minlength=len(self.classes))
        if len(n) == 2:
            return [0 if n[0] < n[1] else 1]
        return list(range(len(n)))

    def curves(self, curve: Any) -> tuple[Curve, ...]:
        """Return the curves of the classes that have one."""
        names = self.classes.tolist()
        made = [curve(str(names[c]), self.truth == c, self.scores[:, c]) for c in self.shown]
        return tuple(one for one in made if one is not None)

    def reliability(self, told: IntArray) -> Curve | None:
        """Return how probabilities come true: of the class shown, or of the answers ``told``."""
        if not self.are_probabilities:
            return None
        if len(self.classes) == 2:
            (shown,) = self.shown
            name = str(self.classes.tolist()[shown])
            return reliability_of(name, self.scores[:, shown], self.truth == shown)
        chosen = self.scores[np.arange(len(told)), told]
        return reliability_of("the answer given", chosen, self.truth == told)


def _said(model: Any, X: Any, classes: AnyArray, truth: IntArray) -> _Said | None:
    if hasattr(model, "predict_proba"):
        return _Said(classes, truth, np.asarray(model.predict_proba(X), dtype=np.float64), True)
    if not hasattr(model, "decision_function"):
        return None
    scores = np.asarray(model.decision_function(X), dtype=np.float64)
    if scores.ndim == 1:
        scores = np.column_stack([-scores, scores])
    if scores.shape[1] != len(classes):  # one column per pair of classes says nothing of one class
        return None
    return _Said(classes, truth, scores, False)


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
    metric: ConfusionMetric,
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
    >>> from ecselm.metrics.confusion import accuracy
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
