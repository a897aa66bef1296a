"""What is said of a model on rows that nothing was learned from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from sklearn.base import is_regressor
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.costs.parse import numbers
from ecselm.metrics import get_scorer
from ecselm.study.card import Curve, Estimate, HeldOut
from ecselm.study.curves import cumulative_of, precision_recall_of, reliability_of, roc_of
from ecselm.study.scores import known_codes, scored_classes, scored_numbers


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
