"""
Cumulative score of regressors
==============================

A mean error hides how often errors are small enough to be tolerated. The cumulative score is the
share of rows whose error is at most a tolerance, over all tolerances.
"""

# %%
# The progression of diabetes after a year, predicted by ELM, by a kernel, and by the mean of the
# training rows, on test rows.

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.dummy import DummyRegressor
from sklearn.model_selection import train_test_split

from ecselm import ELMClassifier, ELMRegressor, KELMRegressor
from ecselm.displays import CumulativeScoreDisplay

X, y = load_diabetes(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
models = {
    "ELM": ELMRegressor(50, C=0.1, random_state=0),
    "kernel": KELMRegressor(C=2.0),
    "mean": DummyRegressor(),
}
figure, ax = plt.subplots(layout="constrained")
for name, model in models.items():
    model.fit(X_train, y_train)
    CumulativeScoreDisplay.from_estimator(model, X_test, y_test, name=name, max_error=150, ax=ax)

# %%
# For ordered classes errors are counted in steps. At 0 the curve is the accuracy.

levels = ["mild", "moderate", "severe", "grave"]
grades = [levels[int(value > 90) + int(value > 140) + int(value > 210)] for value in y]
X_train, X_test, y_train, y_test = train_test_split(X, grades, random_state=0)
classifier = ELMClassifier(50, C=0.1, random_state=0).fit(X_train, y_train)
CumulativeScoreDisplay.from_estimator(classifier, X_test, y_test, labels=levels)
plt.show()
