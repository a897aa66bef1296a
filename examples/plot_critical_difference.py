"""
Comparing methods over data sets
================================

On one data set some method is always the best. Mean ranks over several are more informative, and a
critical-difference diagram shows which differences exceed chance.
"""

# %%
# Twelve problems: pairs of similar digits with few training rows. Each method predicts the test
# rows.

from itertools import combinations

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.datasets import load_digits
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

from ecselm import ELMClassifier, KELMClassifier, WELMClassifier
from ecselm.paper.statistics import CriticalDifferenceDisplay, friedman_test

X, y = load_digits(return_X_y=True)
methods = {
    "ELM": ELMClassifier(60, random_state=0),
    "W1-ELM": WELMClassifier(60, random_state=0),
    "KELM": KELMClassifier(),
    "ridge": RidgeClassifier(),
    "naive Bayes": GaussianNB(),
    "always the same": DummyClassifier(),
}
scores = []
for pair in [*combinations([1, 3, 5, 8, 9], 2), (4, 7), (2, 7)]:
    rows = (y == pair[0]) | (y == pair[1])
    X_train, X_test, y_train, y_test = train_test_split(
        X[rows], y[rows], train_size=40, random_state=0
    )
    scores.append(
        {
            name: balanced_accuracy_score(y_test, model.fit(X_train, y_train).predict(X_test))
            for name, model in methods.items()
        }
    )
table = pd.DataFrame(scores)
print(table.mean().round(3).to_string())
print(f"Friedman's test: p = {friedman_test(table).p:.2g}")

# %%
# Methods joined by a line do not differ significantly on twelve problems.

CriticalDifferenceDisplay.from_scores(table)
plt.show()
