"""What a fitted estimator has to show."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted


def having(estimator: Any, attribute: str) -> Any:
    """Return the estimator that has an attribute: this one, or the last of its pipeline.

    Also that which a search around it, such as ``GridSearchCV``, has chosen.
    """
    check_is_fitted(estimator)
    inner = estimator
    while not hasattr(inner, attribute):
        if hasattr(inner, "best_estimator_"):
            inner = inner.best_estimator_
        elif hasattr(inner, "steps"):
            inner = inner.steps[-1][1]
        else:
            raise ValueError(
                f"estimator must have {attribute}, got {type(estimator).__name__}, which has none"
            )
    return inner
