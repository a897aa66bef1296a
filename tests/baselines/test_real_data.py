"""Every classifier beats the majority class, and so chance, on real data."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ecselm import baselines
from tests import real_data

NAMES = [n for n in baselines.__all__ if n not in ("DFATRegressor", "NearestSubspaceClassifier")]
COST_SENSITIVE = [
    "CISVMClassifier",
    "CSORClassifier",
    "MCKLRClassifier",
    "MCKNNClassifier",
    "MCSVMClassifier",
]
# Penalties that fit German credit neither to every row nor to none are not the defaults.
PENALTIES = {
    "KernelLDA": {"reg": [1e-2, 1e-1, 1.0, 10.0]},
    "MCSVMClassifier": {"alpha": [2.0**-8, 2.0**-10]},
}


def balanced_accuracy(model, X, y):
    train, test, y_train, y_test = train_test_split(
        X, y, stratify=y, test_size=1 / 3, random_state=0
    )
    predicted = make_pipeline(StandardScaler(), model).fit(train, y_train).predict(test)
    recalls = [(predicted[y_test == c] == c).mean() for c in np.unique(y)]
    return (predicted == y_test).mean(), np.mean(recalls)


@pytest.mark.parametrize("name", NAMES)
def test_gas(name, data_folder):
    X, y = real_data.gas(data_folder)
    accuracy, recall = balanced_accuracy(getattr(baselines, name)(), X, y)
    assert accuracy > 0.5  # the majority has .22
    assert recall > 0.4  # chance is .17


@pytest.mark.parametrize("name", NAMES)
def test_olivetti(name, data_folder):
    X, y = real_data.olivetti(data_folder)
    X = PCA(40, random_state=0, svd_solver="full").fit_transform(X)
    model = getattr(baselines, name)()
    if "n_components" in model.get_params() and name != "KernelLDA":
        model.set_params(n_components=15)
    accuracy, _ = balanced_accuracy(model, X, y)
    assert accuracy > 0.1  # chance and majority are .025


@pytest.mark.parametrize("name", NAMES)
def test_german_credit(name, data_folder):
    X, y, _ = real_data.german(data_folder)
    model = getattr(baselines, name)()
    if name in PENALTIES:  # chosen on the training rows
        model = GridSearchCV(model, PENALTIES[name], cv=3)
    accuracy, recall = balanced_accuracy(model, X, y)
    assert accuracy > 0.7  # the majority
    assert recall > 0.5


@pytest.mark.parametrize("name", COST_SENSITIVE)
def test_german_credit_costs_less_when_costs_are_known(name, data_folder):
    X, y, cost = real_data.german(data_folder)
    split = train_test_split(StandardScaler().fit_transform(X), y, stratify=y, random_state=0)
    train, test, y_train, y_test = split

    def paid(model):
        return cost[y_test - 1, model.fit(train, y_train).predict(test) - 1].mean()

    kind = getattr(baselines, name)
    options = {"alpha": 2.0**-10} if name == "MCSVMClassifier" else {}
    told, plain = paid(kind(cost, **options)), paid(kind(**options))
    assert told < plain
