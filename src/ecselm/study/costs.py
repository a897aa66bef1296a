"""Learned costs in words, and how the search for them went."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import floor, log10
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from ecselm._typing import FloatArray
from ecselm.study.card import Learned, Progress

ALIKE = 1.05  # costs that differ by less are not told apart
MOST_SENTENCES = 3  # of dear mistakes, and of free ones
_VOWEL = re.compile("(?!eu|us[eu]|unit|one)[aeiou]", re.IGNORECASE)  # as it is spoken


def cost_words(classes: Sequence[Any], costs: Any) -> tuple[str, ...]:
    """Say what costs mean, a sentence each, the dearest mistakes first.

    Parameters
    ----------
    classes : sequence of k labels
    costs : array of shape (k,) or (k, k)
        By true class, or by confusion with the truth as rows.

    Examples
    --------
    >>> for sentence in cost_words(["benign", "malignant"], [1.0, 6.28]):
    ...     print(sentence)
    a malignant case taken for benign is treated as 6.3 times as bad as a benign case taken for
    malignant
    >>> cost_words(["a", "b"], [1.0, 1.02])
    ('all mistakes are treated alike',)
    """
    mistakes = _mistakes([str(name) for name in classes], np.asarray(costs, dtype=np.float64))
    free = [name for name, cost in mistakes if cost <= 0]
    paid = sorted((pair for pair in mistakes if pair[1] > 0), key=lambda pair: -pair[1])
    words = [f"{name} is treated as no mistake at all" for name in free[:MOST_SENTENCES]]
    if not paid:
        return tuple(words)
    reference, least = paid[-1]
    dear = [(name, cost / least) for name, cost in paid if cost > ALIKE * least]
    if not dear:
        everything = "all other mistakes" if free else "all mistakes"
        return (f"{everything} are treated alike", *words)
    told = [
        f"{name} is treated as {rounded(ratio)} times as bad as {reference}"
        for name, ratio in dear[:MOST_SENTENCES]
    ]
    if between := len(dear) - len(told):
        many = "other kinds of mistakes lie" if between > 1 else "other kind of mistake lies"
        told.append(f"{between} {many} between")
    return (*told, *words)


def rounded(ratio: float) -> str:
    """Return a ratio with two digits: it is not known better.

    Examples
    --------
    >>> [rounded(ratio) for ratio in (2.0, 6.28, 9.96, 12.4, 147.0, 12345.0)]
    ['2', '6.3', '10', '12', '150', '12,000']
    """
    value = round(ratio, 1 - floor(log10(ratio)))
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}".removesuffix(".0")


def learned_of(model: Any, classes: Sequence[Any]) -> Learned | None:
    """Return the costs that a model has learned, None where it has learned none by class.

    Parameters
    ----------
    model : estimator
        Fitted; of a pipeline, the last step counts.
    classes : sequence of k labels
        In the order of ``classes_``.

    Examples
    --------
    >>> from ecselm import ELMClassifier
    >>> learned_of(ELMClassifier().fit([[0.0], [1.0]], [0, 1]), [0, 1]) is None
    True
    """
    learner = last_step(model)
    if not (hasattr(learner, "keeps_prior_") and hasattr(learner, "cost_matrix_")):
        return None
    matrix = np.asarray(learner.cost_matrix_, dtype=np.float64)
    return Learned(
        tuple(np.asarray(learner.class_costs_, dtype=np.float64).tolist()),
        tuple(tuple(row) for row in matrix.tolist()),
        cost_words(classes, matrix),
        bool(learner.keeps_prior_),
        _finite(learner.gain_),
        _finite(learner.gain_std_error_),
    )


def progress_of(model: Any, seconds: float, interrupted: bool = False) -> Progress | None:
    """Return how the search of a model went, None where nothing was searched.

    Generations without a candidate of finite fitness are left out.

    Parameters
    ----------
    model : estimator
        Fitted; of a pipeline, the last step counts.
    seconds : float
        What the fit took.
    interrupted : bool, default=False

    Examples
    --------
    >>> from ecselm import ELMClassifier
    >>> progress_of(ELMClassifier().fit([[0.0], [1.0]], [0, 1]), 0.1) is None
    True
    """
    learner = last_step(model)
    if not hasattr(learner, "history_"):
        return None
    history = learner.history_
    history = history[np.isfinite(history[["best", "mean"]].to_numpy()).all(axis=1)]
    return Progress(
        tuple(history["generation"].astype(int).tolist()),
        tuple(history["best"].astype(float).tolist()),
        tuple(history["mean"].astype(float).tolist()),
        int(learner.n_evaluations_),
        float(seconds),
        interrupted,
    )


def last_step(model: Any) -> Any:
    """Return the estimator at the end of a pipeline, or the model itself."""
    return model[-1] if isinstance(model, Pipeline) else model


def _mistakes(names: list[str], costs: FloatArray) -> list[tuple[str, float]]:
    """Return every kind of mistake in words, with its cost: by class where no more is told."""
    k = len(names)
    if costs.shape not in {(k,), (k, k)}:
        raise ValueError(f"costs must have the shape ({k},) or ({k}, {k}), got {costs.shape}")
    matrix = costs[:, np.newaxis] * np.ones(k) if costs.ndim == 1 else costs
    others = matrix[~np.eye(k, dtype=bool)].reshape(k, k - 1)
    if k > 2 and np.allclose(others, others[:, :1]):
        return [(f"a mistake on {_case(names[i])}", float(others[i, 0])) for i in range(k)]
    pairs = [(i, j) for i in range(k) for j in range(k) if i != j]
    return [(_taken(names[i], names[j]), float(matrix[i, j])) for i, j in pairs]


def _taken(truth: str, told: str) -> str:
    return f"{_case(truth)} taken for {told if _is_word(told) else f'class {told}'}"


def _case(name: str) -> str:
    if not _is_word(name):
        return f"a case of class {name}"
    return f"{'an' if _VOWEL.match(name) else 'a'} {name} case"


def _is_word(name: str) -> bool:
    return name[:1].isalpha()


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
