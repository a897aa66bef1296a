"""Scorers of the package, beside scikit-learn's, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import get_scorer as sklearn_scorer
from sklearn.metrics import get_scorer_names as sklearn_names
from sklearn.metrics import make_scorer, mean_absolute_error

from ecselm.metrics.costs import (
    cumulative_score,
    geometric_mean_score,
    mean_cost,
    savings_score,
    total_cost,
)
from ecselm.metrics.recognition import average_recognition_rate, match_rate, total_recognition_rate

_OWN: dict[str, tuple[Callable[..., float], bool]] = {
    "arr": (average_recognition_rate, True),
    "cumulative_score": (cumulative_score, True),
    "gmean": (geometric_mean_score, True),
    "mae": (mean_absolute_error, False),
    "mean_cost": (mean_cost, False),
    "rank_1": (total_recognition_rate, True),
    "savings": (savings_score, True),
    "total_cost": (total_cost, False),
    "trr": (total_recognition_rate, True),
}
_NAMES = (*_OWN, "match_rate")


def get_scorer_names() -> list[str]:
    """Return the names of all scorers, the package's own and scikit-learn's.

    Examples
    --------
    >>> "gmean" in get_scorer_names()
    True
    """
    return sorted({*_NAMES, *sklearn_names()})


def get_scorer(scoring: Any, **options: Any) -> Any:
    """Return a scorer by name, or a callable as it is; greater is always better.

    Parameters
    ----------
    scoring : str or callable
        ``"gmean"``, ``"arr"``, ``"trr"`` or ``"rank_1"`` (both the share of right answers),
        ``"match_rate"`` (by decision values or probabilities), ``"savings"``,
        ``"cumulative_score"``; ``"mean_cost"``, ``"total_cost"`` and ``"mae"`` (given with
        a minus sign); or what scikit-learn's ``get_scorer`` takes.
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
    if isinstance(scoring, str) and scoring == "match_rate":
        return _match_scorer(**options)
    if isinstance(scoring, str) and scoring in _OWN:
        function, greater_is_better = _OWN[scoring]
        return make_scorer(function, greater_is_better=greater_is_better, **options)
    if options:
        raise ValueError(f"options must be of {sorted(_NAMES)}, got {options} for {scoring!r}")
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
    # Where scikit-learn's scorers keep it, for those who ask whether it takes weights.
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
