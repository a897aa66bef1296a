"""Costs that are known make decisions cheaper, on real data."""

import pytest
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from ecselm.paper import baselines
from ecselm.paper.datasets import load_german

COST_SENSITIVE = [
    "CISVMClassifier",
    "CSORClassifier",
    "MCKLRClassifier",
    "MCKNNClassifier",
    "MCSVMClassifier",
]


@pytest.mark.parametrize("name", COST_SENSITIVE)
def test_german_credit_costs_less_when_costs_are_known(name, data_folder):
    data = load_german(folder=data_folder)
    X, y, cost = data.X, data.y, data.cost
    split = train_test_split(StandardScaler().fit_transform(X), y, stratify=y, random_state=0)
    train, test, y_train, y_test = split

    def paid(model):
        return cost[y_test - 1, model.fit(train, y_train).predict(test) - 1].mean()

    kind = getattr(baselines, name)
    options = {"alpha": 2.0**-10} if name == "MCSVMClassifier" else {}
    costly, plain = paid(kind(cost, **options)), paid(kind(**options))
    assert costly < plain
