"""The cost-sensitive classifiers keep one contract."""

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from ecselm.paper.baselines import (
    CISVMClassifier,
    CSORClassifier,
    MCKLRClassifier,
    MCKNNClassifier,
    MCSVMClassifier,
)
from tests.contracts.cost_sensitive_contract import CostSensitiveContract
from tests.paper.baselines.convex_hinge import convex_hinge


class TestMCKNN(CostSensitiveContract):
    def make(self, cost, unit):
        return MCKNNClassifier(cost, n_neighbors=7)

    def plain_predictions(self, X, y, new):
        return MCKNNClassifier(n_neighbors=7).fit(X, y).predict_proba(new).argmax(axis=1)


class TestMCKLRDecision(CostSensitiveContract):
    def make(self, cost, unit):
        return MCKLRClassifier(cost)

    def plain_predictions(self, X, y, new):
        return MCKLRClassifier().fit(X, y).predict_proba(new).argmax(axis=1)


class TestMCKLRTraining(TestMCKLRDecision):
    def make(self, cost, unit):
        return MCKLRClassifier(cost, cost_in="training")


class TestCSOR(CostSensitiveContract):
    order = (2, 1, 0)  # of levels only the direction is free

    def make(self, cost, unit):
        return CSORClassifier(cost, estimator=SVC(gamma=0.2, tol=1e-8))

    def plain_predictions(self, X, y, new):
        """Each threshold between two levels, from the rows of these two."""
        steps = np.zeros(len(new), dtype=int)
        for t in (0, 1):
            rows = (y == t) | (y == t + 1)
            steps += SVC(gamma=0.2, tol=1e-8).fit(X[rows], y[rows] > t).predict(new)
        return steps


class TestMCSVM(CostSensitiveContract):
    def make(self, cost, unit):
        return MCSVMClassifier(cost, alpha=unit * 2.0**-6, gamma=0.2, tol=1e-6)

    def plain_predictions(self, X, y, new):
        _, C, b = convex_hinge(rbf_kernel(X, gamma=0.2), y, 1.0 - np.eye(3), 2.0**-6)
        return (rbf_kernel(new, X, gamma=0.2) @ C + b).argmax(axis=1)


class TestCISVM(CostSensitiveContract):
    def make(self, cost, unit):
        return CISVMClassifier(self.right_one if cost is None else cost, gamma=0.2)

    def plain_predictions(self, X, y, new):
        return SVC(gamma=0.2, break_ties=True).fit(X, y).predict(new)
