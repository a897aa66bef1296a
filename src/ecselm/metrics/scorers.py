"""Scorers of the package, beside scikit-learn's, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.metrics import get_scorer as sklearn_scorer
from sklearn.metrics import get_scorer_names as sklearn_names
from sklearn.metrics import make_scorer

from ecselm.metrics.costs import cumulative_score, geometric_mean_score, mean_cost

_OWN: dict[str, tuple[Callable[..., float], bool]] = {
    "cumulative_score": (cumulative_score, True),
    "gmean": (geometric_mean_score, True),
    "mean_cost": (mean_cost, False),
}


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
        ``"gmean"``, ``"mean_cost"`` (given with a minus sign), ``"cumulative_score"``,
        or what scikit-learn's ``get_scorer`` takes.
    **options
        Of the package's own scores: ``cost``, ``tolerance``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ecselm import ELMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(get_scorer("gmean")(ELMClassifier(random_state=0).fit(X, y), X, y) > 0.9)
    True
    """
    if isinstance(scoring, str) and scoring in _OWN:
        function, greater_is_better = _OWN[scoring]
        return make_scorer(function, greater_is_better=greater_is_better, **options)
    if options:
        raise ValueError(f"options must be of {sorted(_OWN)}, got {options} for {scoring!r}")
    try:
        return sklearn_scorer(scoring)
    except ValueError as error:
        raise ValueError(
            f"scoring must be a scorer or the name of one, see "
            f"ecselm.metrics.get_scorer_names(), got {scoring!r}"
        ) from error
