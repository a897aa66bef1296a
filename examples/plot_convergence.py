"""
Did the search get anywhere?
============================

A search of costs begins with prior ones: equal costs, weights by class. What it has reached above
those is what it was worth, on the rows that it was judged by.
"""

# %%
# One search, with all its priors. The mean of a generation may lie far below its best: most of
# what is tried is bad.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from ecselm import ECSELMClassifier
from ecselm.displays import ConvergenceDisplay

X, y = load_digits(return_X_y=True)
rare = np.random.default_rng(0).random(len(y)) < 0.1
kept = (y < 3) | ((y < 5) & rare)
X, y = X[kept, :24], y[kept]  # five digits, two of them rare, and the upper part of each


def search(optimizer):
    model = ECSELMClassifier(
        40,
        cost_level="matrix",
        scoring="balanced_accuracy",
        optimizer=optimizer,
        population_size=15,
        max_epochs=25,
        random_state=0,
    )
    return model.fit(X, y)


searches = {name: search(name) for name in ("bsa", "de", "random")}
ConvergenceDisplay.from_estimator(searches["bsa"])

# %%
# Three ways to search, over the candidates they have evaluated. All begin with the same priors;
# a search that draws at random is the one to beat. Only what lies above the best prior is shown.

display = ConvergenceDisplay.from_estimator(searches, x="evaluations")
low = max(searches["bsa"].prior_scores_.values())
high = max(model.best_score_ for model in searches.values())
display.ax_.set_ylim(low - 0.1 * (high - low), high + 0.1 * (high - low))
plt.show()
