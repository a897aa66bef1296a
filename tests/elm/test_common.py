"""scikit-learn's own checks: no failures and none expected."""

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

import ecselm
import ecselm.elm
from ecselm import CSELMClassifier, CSELMRegressor, ELMClassifier, KELMClassifier, WELMClassifier

EVERY_ESTIMATOR = [getattr(ecselm, name)() for name in ecselm.__all__]
VARIANTS = [
    ELMClassifier(scale="minmax", activation="tanh", draw="sobol"),
    KELMClassifier(kernel="laplacian"),
    WELMClassifier(weighting="w2", normalize=True),
    WELMClassifier(kernel="rbf"),
    CSELMClassifier(decision="min_cost"),
    CSELMClassifier(kernel="rbf"),
    CSELMClassifier(kernel="rbf", decision="min_cost"),
    CSELMRegressor(kernel="cosine"),
]


@pytest.mark.filterwarnings("ignore::ecselm.hidden.SaturationWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
@parametrize_with_checks([*EVERY_ESTIMATOR, *VARIANTS])
def test_scikit_learn_finds_nothing_wrong(estimator, check):
    check(estimator)


def test_every_estimator_is_exported():
    family = {
        name
        for name, value in vars(ecselm.elm).items()
        if isinstance(value, type) and issubclass(value, BaseEstimator)
    }
    assert family == set(ecselm.__all__)
