"""
Costs as weights or in the decision
===================================

The paper turns costs into weights of the rows. A weight holds the cost of mistakes on a row, but
not which class is predicted instead. Deciding for the least expected cost uses the whole matrix.
"""

# %%
# Iris by its sepals alone, which hardly separate two of the species. Taking virginica for
# versicolor costs 10, every other mistake 1.

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits, load_iris
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from ecselm import CSELMClassifier, ELMClassifier
from ecselm.displays import CostMatrixDisplay
from ecselm.metrics import total_cost

iris = load_iris()
X, y = iris.data[:, :2], iris.target_names[iris.target]
costs = {("virginica", "versicolor"): 10}
CostMatrixDisplay.from_matrix(costs, labels=iris.target_names)

# %%
# Predictions of test rows without costs, with costs as weights, and with costs in the decision:

folds = StratifiedKFold(5, shuffle=True, random_state=0)


def compare(X, y, cost):
    models = {
        "no costs": ELMClassifier(random_state=0),
        "weights": CSELMClassifier.paper(cost=cost, random_state=0),
        "decisions": CSELMClassifier(cost=cost, random_state=0),
    }
    _, axes = plt.subplots(1, 3, figsize=(13, 4.5), layout="constrained")
    for ax, (name, model) in zip(axes, models.items(), strict=True):
        y_pred = cross_val_predict(model, X, y, cv=folds)
        ConfusionMatrixDisplay.from_predictions(
            y, y_pred, ax=ax, cmap="cividis_r", colorbar=False, xticks_rotation=30
        )
        ax.set_title(f"{name}: total cost {total_cost(y, y_pred, cost=cost):g}")


compare(X, y, costs)

# %%
# It is not always cheaper. On three digits, where a 1 taken for a 7 costs 30 but never occurs,
# costs insure against a mistake that does not happen, and the model without costs is the
# cheapest:

X, y = load_digits(return_X_y=True)
kept = (y == 1) | (y == 4) | (y == 7)
compare(X[kept], y[kept], {(1, 7): 30})
plt.show()
