"""
Towards which class a mistake goes
==================================

The paper turns costs into weights of the rows. A weight says how dear mistakes on a row are, and
forgets towards which class. Deciding for the least expected cost uses the whole matrix.
"""

# %%
# Iris by its sepals alone, by which two of the species are hardly told apart. To take virginica
# for versicolor costs 10, and every other mistake 1.

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits, load_iris
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from ecselm import CSELMClassifier
from ecselm.displays import CostMatrixDisplay
from ecselm.metrics import total_cost

iris = load_iris()
X, y = iris.data[:, :2], iris.target_names[iris.target]
costs = {("virginica", "versicolor"): 10}
CostMatrixDisplay.from_matrix(costs, labels=iris.target_names)

# %%
# Answers for rows held out, of the machine without costs, with costs as weights, and with costs in
# the decision:

folds = StratifiedKFold(5, shuffle=True, random_state=0)


def compare(X, y, cost):
    models = {
        "no costs": CSELMClassifier(weighting=None, random_state=0),
        "weights": CSELMClassifier(cost=cost, random_state=0),
        "decisions": CSELMClassifier(cost=cost, decision="min_cost", random_state=0),
    }
    _, axes = plt.subplots(1, 3, figsize=(13, 4.5), layout="constrained")
    for ax, (name, model) in zip(axes, models.items(), strict=True):
        told = cross_val_predict(model, X, y, cv=folds)
        ConfusionMatrixDisplay.from_predictions(
            y, told, ax=ax, cmap="cividis_r", colorbar=False, xticks_rotation=30
        )
        ax.set_title(f"{name}: total cost {total_cost(y, told, cost=cost):g}")


compare(X, y, costs)

# %%
# It is not always the cheaper way. On three digits, where a 1 taken for a 7 costs 30 but is never
# seen, costs insure against what does not happen, and the machine without them is the cheapest:

X, y = load_digits(return_X_y=True)
kept = (y == 1) | (y == 4) | (y == 7)
compare(X[kept], y[kept], {(1, 7): 30})
plt.show()
