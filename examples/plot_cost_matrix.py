"""
What a confusion costs
======================

Costs are a matrix: a row for every true class, a column for every answer. Here those that a
person states, and those that a search has learned for the G-mean of the recalls.
"""

# %%
# Three wines. Only ratios of costs matter, so both pictures have the cheapest mistake as their
# unit. Right answers cost nothing and are left blank.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from ecselm import CSELMClassifier, ECSELMClassifier
from ecselm.displays import CostMatrixDisplay

X, y = load_wine(return_X_y=True)
y = np.array(["Barolo", "Grignolino", "Barbera"])[y]

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
stated = {("Barolo", "Grignolino"): 8, ("Barolo", "Barbera"): 5, ("Barbera", "Grignolino"): 2}
told = CSELMClassifier(cost=stated, decision="min_cost", random_state=0).fit(X, y)
CostMatrixDisplay.from_estimator(told, ax=left)
left.set_title("stated")

# %%
# With ``cost_level="matrix"`` every confusion has a cost of its own. There is little to learn on
# wines that are told apart so easily, and the search says so by staying near equal costs.

learned = ECSELMClassifier(
    cost_level="matrix", decision="min_cost", keep_prior=False, random_state=0
).fit(X, y)
CostMatrixDisplay.from_estimator(learned, ax=right)
right.set_title("learned")
plt.show()
