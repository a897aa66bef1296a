"""
Half-known costs
================

Costs are often partly known: bounds, an order, the cost of some mistakes. Such constraints are
always satisfied; the remaining costs are learned.
"""

# %%
# Four sets of constraints on the cost of a missed tumour, in units of a false alarm.

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
constraints = {
    "nothing": {},
    "which is worse": {"cost_order": [(MISSED, ALARM)]},
    "4 to 20 alarms": {"fixed_costs": {ALARM: 1}, "cost_intervals": {MISSED: (4, 20)}},
    "20 alarms": {"fixed_costs": {ALARM: 1, MISSED: 20}},
}
models = {
    name: ECSELMClassifier(random_state=0, **given).fit(X_train, y_train)
    for name, given in constraints.items()
}
figure, axes = plt.subplots(2, 2, figsize=(8, 7), layout="constrained")
for ax, (name, model) in zip(axes.flat, models.items(), strict=True):
    CostMatrixDisplay.from_estimator(model, ax=ax)
    ax.set_title(f"known: {name}")

# %%
# Mean cost of each model on test rows, over the true ratio:

SensitivityDisplay.from_estimator(models, X_test, y_test, mistake=MISSED, interval=(4, 20))
plt.show()
