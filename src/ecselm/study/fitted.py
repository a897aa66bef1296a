"""What a fitted model tells of itself: settings, costs, search and members, for its card."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ecselm._typing import FloatArray
from ecselm._wording import case_of
from ecselm.costs import parse_cost
from ecselm.estimators import CostDecisionClassifier
from ecselm.study.card import LearnedCosts, Member, SearchSummary
from ecselm.study.decisions import is_half_known, last_step
from ecselm.study.statements import cost_sentences, weight_sentences


def settings_of(model: Any) -> dict[str, str]:
    """Return the name of a model and its parameters that differ from the defaults, as text.

    Examples
    --------
    >>> from ecselm import ELMClassifier
    >>> settings_of(ELMClassifier(50, activation="tanh"))
    {'model': 'ELMClassifier', 'activation': "'tanh'", 'n_hidden': '50'}
    """
    defaults = inspect.signature(type(model).__init__).parameters
    given = {name: repr(value) for name, value in model.get_params(deep=False).items()}
    changed = {
        name: text for name, text in sorted(given.items()) if text != repr(defaults[name].default)
    }
    return {"model": type(model).__name__, **changed}


def learned_costs(
    model: Any, classes: Sequence[Any], cost: Any = None, *, by_row: bool = False
) -> LearnedCosts | None:
    """Return the costs that a model has learned, None if it has none by class.

    Parameters
    ----------
    model : estimator
        Fitted, or a pipeline that ends with it.
    classes : sequence of k labels
        In the order of ``classes_``.
    cost : array, DataFrame, dict or None, default=None
        Stated costs of all mistakes, which sentences compare with what was learned.
    by_row : bool, default=False
        Whether costs are known by row instead.

    Examples
    --------
    >>> from ecselm import ELMClassifier
    >>> learned_costs(ELMClassifier().fit([[0.0], [1.0]], [0, 1]), [0, 1]) is None
    True
    """
    learner = last_step(model)
    if isinstance(learner, CostDecisionClassifier):
        return _costs_of_decisions(learner, classes, cost, by_row=by_row)
    if not (hasattr(learner, "keeps_prior_") and hasattr(learner, "cost_matrix_")):
        return None
    matrix = np.asarray(learner.cost_matrix_, dtype=np.float64)
    decides = (
        getattr(learner, "cost_level", None) == "decision"
        or getattr(learner, "_decision_costs_", None) is not None
    )
    if cost is None or (decides and is_half_known(cost)):
        sentences = cost_sentences(classes, matrix)
    else:
        stated = parse_cost(cost, learner.classes_)
        sentences = weight_sentences(classes, stated, matrix, decides=decides)
    intervals = getattr(learner, "class_costs_interval_", None)
    if intervals is not None:
        sentences = (*sentences, *interval_sentences(classes, intervals))
    return LearnedCosts(
        tuple(np.asarray(learner.class_costs_, dtype=np.float64).tolist()),
        tuple(tuple(row) for row in matrix.tolist()),
        sentences,
        bool(learner.keeps_prior_),
        _finite(learner.gain_),
        _finite(learner.gain_std_error_),
        decides,
        None if intervals is None else tuple(tuple(row) for row in intervals.tolist()),
    )


def interval_sentences(classes: Sequence[Any], intervals: FloatArray) -> Iterator[str]:
    """Yield between which ratios the learned costs of two classes lie.

    Examples
    --------
    >>> list(interval_sentences(["ill", "well"], np.array([[3.0, 3.5], [0.5, 1.0]])))
    ['by bootstrap samples of the validation rows, a mistake on an ill case costs 3 to 7 times as
    much as one on a well case (95 % interval)']
    """
    if len(classes) != 2:
        return
    i, j = (0, 1) if intervals[0].sum() >= intervals[1].sum() else (1, 0)
    low, high = (intervals[i] / intervals[j, ::-1]).tolist()
    yield (
        f"by bootstrap samples of the validation rows, a mistake on {case_of(str(classes[i]))} "
        f"costs {low:.3g} to {high:.3g} times as much as one on {case_of(str(classes[j]))} "
        "(95 % interval)"
    )


def _costs_of_decisions(
    model: CostDecisionClassifier, classes: Sequence[Any], cost: Any, *, by_row: bool
) -> LearnedCosts:
    """Return the costs by which a model decides, of which none are learned."""
    k = len(classes)
    matrix = model.cost_matrix_[:, :k]
    if by_row:
        sentences: tuple[str, ...] = ("decisions are made by the costs of each row",)
    elif cost is None or is_half_known(cost):
        sentences = cost_sentences(classes, matrix)
    else:
        stated = parse_cost(cost, model.classes_)
        sentences = weight_sentences(classes, stated, matrix, decides=True)
    by_class = tuple((matrix.sum(axis=1) / (k - 1)).tolist())
    rows = tuple(tuple(row) for row in matrix.tolist())
    return LearnedCosts(by_class, rows, sentences, True, None, None, True)


def search_summary(model: Any, seconds: float, interrupted: bool = False) -> SearchSummary | None:
    """Return the history of the search of a model, None if it has not searched.

    Generations without a candidate of finite fitness are omitted.

    Parameters
    ----------
    model : estimator
        Fitted, or a pipeline that ends with it.
    seconds : float
        Time of the fit.
    interrupted : bool, default=False

    Examples
    --------
    >>> from ecselm import ELMClassifier
    >>> search_summary(ELMClassifier().fit([[0.0], [1.0]], [0, 1]), 0.1) is None
    True
    """
    learner = learner_of(model)
    if not hasattr(learner, "history_"):
        return None
    history = learner.history_
    history = history[np.isfinite(history[["best", "mean"]].to_numpy(dtype=np.float64)).all(axis=1)]
    return SearchSummary(
        tuple(history["generation"].astype(int).tolist()),
        tuple(history["best"].astype(float).tolist()),
        tuple(history["mean"].astype(float).tolist()),
        int(learner.n_evaluations_),
        float(seconds),
        interrupted,
    )


def members_of(model: Any) -> tuple[Member, ...]:
    """Return the members of the ensemble of a model, the best first; none of one layer.

    Parameters
    ----------
    model : estimator
        Fitted, or a pipeline that ends with it.

    Examples
    --------
    >>> from ecselm import ELMClassifier
    >>> members_of(ELMClassifier().fit([[0.0], [1.0]], [0, 1]))
    ()
    """
    return tuple(Member(*one) for one in getattr(learner_of(model), "_members_", None) or ())


def learner_of(model: Any) -> Any:
    """Return the estimator that a model ends with, or the one by whose probabilities it decides."""
    last = last_step(model)
    if isinstance(last, CostDecisionClassifier):
        return last_step(getattr(last, "estimator_", last.estimator))
    return last


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
