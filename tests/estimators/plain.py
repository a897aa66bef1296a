"""Searches without what defaults add to them: one layer, no pull to a prior, no verdict."""

from typing import Any

from ecselm import CostSearchCV, ECSELMClassifier

PLAIN = {"smoothing": 0.5, "shrinkage": 0.0, "keep_prior": False}
ONE_LAYER = {
    **PLAIN,
    "activation": "radbas",
    "C": 32.0,
    "max_epochs": 30,
    "scoring": "accuracy",
}


def one_machine(*n_hidden: int, **parameters: Any) -> ECSELMClassifier:
    """Return a classifier that is a single machine."""
    return ECSELMClassifier(*n_hidden, **{**ONE_LAYER, **parameters})


def plain_search(estimator: Any, **parameters: Any) -> CostSearchCV:
    """Return a search around an estimator that settles on the best fitness."""
    return CostSearchCV(estimator, **{**PLAIN, **parameters})
