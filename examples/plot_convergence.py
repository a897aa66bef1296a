"""
Convergence of a cost search
============================

A cost search begins with priors: equal costs, costs by class counts. The distance above them is the
gain of the search, on decisions about rows that were left out in training.
"""

# %%
# One search with all its priors. The mean of a generation may be far below its best.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from ecselm import ECSELMClassifier
from ecselm.displays import ConvergenceDisplay

X, y = load_digits(return_X_y=True)
rare = np.random.default_rng(0).random(len(y)) < 0.1
kept = (y < 3) | ((y < 5) & rare)
X, y = X[kept, :24], y[kept]  # five digits, two of them rare; upper half of the image


def search(optimizer):
    model = ECSELMClassifier(
        40,
        cost_level="matrix",
        scoring="balanced_accuracy",
        keep_prior=False,
        optimizer=optimizer,
        population_size=15,
        max_epochs=25,
        random_state=0,
    )
    return model.fit(X, y)


searches = {name: search(name) for name in ("bsa", "de", "random")}
ConvergenceDisplay.from_estimator(searches["bsa"])

# %%
# Three optimisers over the number of evaluated candidates. All begin with the same priors; random
# search is the baseline. Only the range above the best prior is shown.

display = ConvergenceDisplay.from_estimator(searches, x="evaluations")
low = max(searches["bsa"].prior_scores_.values())
high = max(model.best_score_ for model in searches.values())
display.ax_.set_ylim(low - 0.1 * (high - low), high + 0.1 * (high - low))
plt.show()
