"""
Cost matrices
=============

A cost matrix has a row for every true class and a column for every predicted class. Here one that
is stated, and one that a search has learned for the balanced accuracy.
"""

# %%
# Three wines. Only ratios of costs matter, so both matrices are shown relative to the cheapest
# mistake. Correct predictions cost nothing and are left blank.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from ecselm import CSELMClassifier, ECSELMClassifier
from ecselm.displays import CostMatrixDisplay

X, y = load_wine(return_X_y=True)
y = np.array(["Barolo", "Grignolino", "Barbera"])[y]

cost = {("Barolo", "Grignolino"): 8, ("Barolo", "Barbera"): 5, ("Barbera", "Grignolino"): 2}
stated = CSELMClassifier(cost=cost, random_state=0).fit(X, y)
CostMatrixDisplay.from_estimator(stated).ax_.set_title("stated")
plt.show()

# %%
# With ``cost_level="matrix"`` every confusion has a cost of its own. These wines are easy to
# separate, so there is little to learn, and the search stays near equal costs.

learned = ECSELMClassifier(cost_level="matrix", keep_prior=False, random_state=0).fit(X, y)
CostMatrixDisplay.from_estimator(learned).ax_.set_title("learned")
plt.show()
