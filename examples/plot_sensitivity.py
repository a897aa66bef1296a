"""
Sensitivity of the choice of a model to an unknown cost
=======================================================

A missed tumour is worse than a false alarm, by an unknown ratio between 2 and 20. The plot shows
which of several models is the cheapest, and whether that depends on the ratio.
"""

# %%
# Three models: without costs, with a larger weight of the rarer class, and with a cost of 10 for a
# missed tumour. Mean cost on test rows over the true ratio:

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
    "CSELM, cost 10": CSELMClassifier(cost={MISSED: 10}, random_state=0),
}
for model in models.values():
    model.fit(X_train, y_train)
SensitivityDisplay.from_estimator(models, X_test, y_test, mistake=MISSED, interval=(2, 20))

# %%
# Where curves cross, the choice depends on the ratio. It is easier to read relative to one of them.

SensitivityDisplay.from_estimator(
    models, X_test, y_test, mistake=MISSED, interval=(2, 20), relative_to="ELM, no costs"
)

# %%
# With probabilities the decision can be made for every ratio, as if it were known: the distance to
# that curve is the price of not knowing it.

regression = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
y_pred = {
    "ratio known": regression.predict_proba(X_test),
    "ratio assumed 1": regression.predict(X_test),
}
SensitivityDisplay.from_predictions(
    y_test, y_pred, mistake=MISSED, interval=(2, 20), labels=regression.classes_
)
plt.show()
