"""A nearest neighbour in every subspace, on real data."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ecselm.metrics import total_cost
from ecselm.subspace import CSLDA, CSLPP, CSMFA, CSPCA, LPP, MFA
from tests import real_data

FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)
METHODS = [LPP, MFA, CSPCA, CSLDA, CSLPP, CSMFA]


def accuracy(model, X, y):
    return np.mean(cross_val_predict(model, X, y, cv=FOLDS) == y)


@pytest.mark.parametrize("method", METHODS)
def test_gases_are_told_apart(data_folder, method):
    X, y = real_data.gas(data_folder)
    model = make_pipeline(StandardScaler(), method(), KNeighborsClassifier(1))
    assert accuracy(model, X, y) > 0.85  # the largest class has .22


@pytest.mark.parametrize("method", METHODS)
def test_faces_are_told_apart(data_folder, method):
    X, y = real_data.olivetti(data_folder)
    model = make_pipeline(method(39, pca_dim=100), KNeighborsClassifier(1))
    assert model.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.8  # chance is .025


@pytest.mark.parametrize("method", METHODS)
def test_bad_credits_are_found(data_folder, method):
    X, y, cost = real_data.german(data_folder)
    model = method(1) if method is CSLDA else method(10)
    if hasattr(model, "cost"):
        model.set_params(cost=cost)
    chain = make_pipeline(StandardScaler(), model, KNeighborsClassifier(15))
    predicted = cross_val_predict(chain, X, y, cv=FOLDS)
    assert np.mean(predicted == y) > 0.7  # as many are good
    assert total_cost(y, predicted, cost=cost) < total_cost(y, np.ones_like(y), cost=cost)
