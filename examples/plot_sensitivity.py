"""
Which machine, if the cost may be anything from 2 to 20?
========================================================

A missed tumour is worse than a false alarm; nobody says by how much. One can still see which of
several machines is the cheapest, and whether that depends on what nobody knows.
"""

# %%
# Three machines: no costs, the rarer class counting more, and one told that a miss is worth ten
# alarms. Over the ratio that is true in the end, on rows held out:

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ecselm import CSELMClassifier, ELMClassifier, WELMClassifier
from ecselm.displays import SensitivityDisplay

X, y = load_breast_cancer(return_X_y=True)
y = np.where(y == 0, "malignant", "benign")
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
MISSED = ("malignant", "benign")
models = {
    "ELM, no costs": ELMClassifier(random_state=0),
    "W1-ELM": WELMClassifier(random_state=0),
    "CSELM, told 10": CSELMClassifier(cost={MISSED: 10}, decision="min_cost", random_state=0),
}
for model in models.values():
    model.fit(X_train, y_train)
SensitivityDisplay.from_estimator(models, X_test, y_test, dear=MISSED, interval=(2, 20))

# %%
# Where curves cross, the choice depends on the ratio. Relative to one of them that is easier to
# read off.

SensitivityDisplay.from_estimator(
    models, X_test, y_test, dear=MISSED, interval=(2, 20), relative_to="ELM, no costs"
)

# %%
# Probabilities can be decided anew for every ratio, as if it were known: what one pays for not
# knowing is the distance to that curve.

regression = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
told = {
    "ratio known": regression.predict_proba(X_test),
    "ratio taken to be 1": regression.predict(X_test),
}
SensitivityDisplay.from_predictions(
    y_test, told, dear=MISSED, interval=(2, 20), labels=regression.classes_
)
plt.show()
