"""
Costs that are half known
=========================

Between knowing costs and knowing nothing lies most of what people know: bounds, an order, a
number for some mistakes. What is stated is never contradicted; the rest is learned.
"""

# %%
# Four states of knowledge about a missed tumour, in false alarms.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from ecselm import ECSELMClassifier
from ecselm.displays import CostMatrixDisplay, SensitivityDisplay

X, y = load_breast_cancer(return_X_y=True)
y = np.where(y == 0, "malignant", "benign")
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
MISSED, ALARM = ("malignant", "benign"), ("benign", "malignant")
known = {
    "nothing": {},
    "which is worse": {"cost_order": [(MISSED, ALARM)]},
    "4 to 20 alarms": {"fixed_costs": {ALARM: 1}, "cost_intervals": {MISSED: (4, 20)}},
    "20 alarms": {"fixed_costs": {ALARM: 1, MISSED: 20}},
}
models = {
    name: ECSELMClassifier(60, activation="radbas", random_state=0, **knowledge).fit(
        X_train, y_train
    )
    for name, knowledge in known.items()
}
figure, axes = plt.subplots(2, 2, figsize=(8, 7), layout="constrained")
for ax, (name, model) in zip(axes.flat, models.items(), strict=True):
    CostMatrixDisplay.from_estimator(model, ax=ax)
    ax.set_title(f"known: {name}")

# %%
# What each of them costs on rows held out, over the ratio that is true in the end:

SensitivityDisplay.from_estimator(models, X_test, y_test, dear=MISSED, interval=(4, 20))
plt.show()
