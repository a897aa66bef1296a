"""
Learning unknown costs
======================

The cost of a missed tumour is unknown: only a metric is given, or bounds of the cost. Costs are
learned on the training rows, and the models are compared on test rows.
"""

# %%
# ECSELM is an ensemble whose decisions have learned costs. W1-ELM with the same ensemble shows what
# the ensemble gives, ECSELM with one layer what costs give. The last model is the form of the
# paper: one cost per row, which may be negative, with a fitness on the training rows.

from pathlib import Path

import matplotlib as mpl
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold, cross_validate

from ecselm import ECSELMClassifier, ELMClassifier, WELMClassifier
from ecselm.displays import ConvergenceDisplay
from ecselm.metrics import get_scorer

mpl.use("Agg")

X, y = load_breast_cancer(return_X_y=True)
y = np.where(y == 0, "malignant", "benign")
MISSED, ALARM = ("malignant", "benign"), ("benign", "malignant")

learned = ECSELMClassifier(scoring="gmean", random_state=0)
half_known = ECSELMClassifier(
    scoring="gmean", fixed_costs={ALARM: 1}, cost_intervals={MISSED: (2, 20)}, random_state=0
)
models = {
    "ELM, no costs": ELMClassifier(random_state=0),
    "W1-ELM": WELMClassifier(normalize=True, random_state=0),
    "W2-ELM": WELMClassifier(weighting="w2", normalize=True, random_state=0),
    "W1-ELM, ensemble": WELMClassifier(ensemble="auto", random_state=0),
    "ECSELM, one layer": ECSELMClassifier(scoring="gmean", ensemble=None, random_state=0),
    "ECSELM, ensemble": learned,
    "ECSELM, a miss is 2 to 20 alarms": half_known,
    "ECSELM as printed": ECSELMClassifier.paper(random_state=0),
}

# %%
# The geometric mean of both recalls, on training and on test rows:

print("Costs unknown. G-mean over 5 folds:\n")
print(f"{'model':33} {'training rows':>14} {'test rows':>14}")
folds = StratifiedKFold(5, shuffle=True, random_state=0)
for name, model in models.items():
    scores = cross_validate(
        model, X, y, cv=folds, scoring=get_scorer("gmean"), return_train_score=True, n_jobs=2
    )
    print(f"{name:33} {scores['train_score'].mean():14.3f} {scores['test_score'].mean():14.3f}")

# %%
# The costs learned on all rows, and their fitness beside that of the priors, which shows whether
# the search gained anything over W1.

learned.fit(X, y)
costs = dict(zip(learned.classes_, learned.class_costs_, strict=True))
print(
    f"\nA missed tumour is treated as {costs['malignant'] / costs['benign']:.1f} times as bad as "
    "a false alarm."
)
print("Fitness of learned costs and of the priors:")
for name, score in {"learned": learned.best_score_, **learned.prior_scores_}.items():
    print(f"  {name:8} {score:.4f}")

display = ConvergenceDisplay.from_estimator(learned, x="evaluations")
display.ax_.set_title("Cost search")
picture = Path("demo") / "learned_costs.png"
picture.parent.mkdir(exist_ok=True)
display.figure_.savefig(picture, dpi=120)
print(f"\nSaved {picture}: convergence of the search.")
