"""A user's module, as type checkers see it; they run on it, nothing imports it."""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

from ecselm import (
    CostDecisionClassifier,
    CostSearchCV,
    CSELMClassifier,
    ECSELMClassifier,
    ECSELMRegressor,
    EELMClassifier,
    ELMClassifier,
    ELMRegressor,
    KELMClassifier,
    WELMClassifier,
)

X: NDArray[np.float64] = np.zeros((4, 2))
y = np.array([0, 1, 0, 1])

assert_type(ELMClassifier(n_hidden=10).fit(X, y), ELMClassifier)
assert_type(ELMClassifier(n_hidden=10).partial_fit(X, y, classes=[0, 1]), ELMClassifier)
assert_type(ELMRegressor().fit(X, y), ELMRegressor)
assert_type(KELMClassifier().fit(X, y), KELMClassifier)
assert_type(WELMClassifier().fit(X, y, sample_weight=None), WELMClassifier)
assert_type(CSELMClassifier(cost={0: 10}).fit(X, y), CSELMClassifier)
assert_type(ECSELMClassifier(scoring="gmean").fit(X, y), ECSELMClassifier)
assert_type(ECSELMRegressor().fit(X, y), ECSELMRegressor)
assert_type(EELMClassifier().fit(X, y), EELMClassifier)


class Mine(ECSELMClassifier):
    """A subclass keeps its type."""

    def extra(self) -> int:
        return 1


assert_type(Mine().fit(X, y), Mine)
assert_type(Mine().fit(X, y).extra(), int)


def around(estimator: Any) -> None:
    """Estimators around another one."""
    assert_type(CostSearchCV(estimator).fit(X, y), CostSearchCV)
    decided = CostDecisionClassifier(estimator, cost="a->b = 3..20 * b->a").fit(X, y)
    assert_type(decided, CostDecisionClassifier)
