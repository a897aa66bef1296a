"""
Access control by face
======================

Ten members are recognised by their faces. All others are strangers, half of them unseen in
training. Admitting a stranger is worse than rejecting a member, and that is worse than confusing
two members; the ratios are unknown. Faces are those of Olivetti in the folder that ECSELM_DATA
names, or else synthetic.
"""

# %%
# One gallery of the protocol of ``ecselm reproduce access``: half of the pictures of the members
# and of 15 strangers are training rows; the other half and 15 more strangers are test rows.
# Future strangers are new persons, so parameters of all methods are selected in folds that
# divide no stranger.

import warnings

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold
from threadpoolctl import threadpool_limits

from ecselm.estimators import FewCasesWarning
from ecselm.metrics import total_cost
from ecselm.paper.methods import tuned_method
from ecselm.paper.protocols import FULL
from ecselm.paper.protocols.access import (
    GUESS,
    STRANGER,
    TRUE_COSTS,
    UNSEEN,
    access_cases,
    access_splits,
    known_order,
    mean_ordered_costs,
    person_groups,
    relabel,
)
from ecselm.paper.protocols.faces import eigenfaces

SEED, SPLIT = 0, 0
warnings.simplefilter("ignore", FewCasesWarning)  # five pictures of each member are few

(case,) = access_cases()
data = case.load()
train, test = access_splits(data, FULL, SEED)[SPLIT]
y = relabel(data, SEED, SPLIT).y
groups = person_groups(data, SEED, SPLIT)[train]
folds = list(StratifiedGroupKFold(3).split(data.X[train], y[train], groups))
if data.synthetic:
    print("These faces are SYNTHETIC: set ECSELM_DATA for real ones, see docs/datasets.md.\n")

# %%
# Information given to each method. The order alone also gives numbers: the mean of all costs that
# satisfy it, here with a ratio of at most 100 between the most and the least costly mistake.

ORDERED = mean_ordered_costs()
methods = {
    "ELM, no costs": ("ELM", {"n_hidden": 300, "scale": None, "random_state": SEED}),
    "KELM, no costs": ("KELM", {}),
    "ECSELM, order": (
        "ECSELM",
        {"cost": ORDERED, "cost_order": known_order(), "scale": None, "random_state": SEED},
    ),
    f"mcKLR, order as {ORDERED}": ("mcKLR", {"cost": ORDERED}),
    f"mcKLR, guess {GUESS}": ("mcKLR", {"cost": GUESS}),
    f"CSLDA, guess {GUESS}": ("CSLDA-NN", {"cslda__cost": GUESS}),
}
predictions = {"everyone rejected": np.full(len(test), STRANGER)}
with threadpool_limits(1):  # small problems are slower on several
    for name, (method, params) in methods.items():
        rows = data.X[train], y[train]
        model = tuned_method(method, *rows, before=eigenfaces(), cv=folds, **params)
        own = {"method__groups": groups} if method == "ECSELM" else {}  # it makes its own folds
        predictions[name] = model.fit(*rows, **own).predict(data.X[test])

# %%
# Mistakes on the test rows, and their total cost for several true cost ratios.

y_true = y[test]
truth = np.where(y_true == UNSEEN, STRANGER, y_true)
known, unseen = y_true == STRANGER, y_true == UNSEEN
member = ~(known | unseen)
ratios = TRUE_COSTS[1], TRUE_COSTS[3], TRUE_COSTS[5]
print(f"Test rows: {unseen.sum()} pictures of unseen strangers, {known.sum()} of known strangers")
print(f"and {member.sum()} of members.\n")
print(f"{'':36} {'strangers admitted':>18} {'members':>16} {'total cost, if the ratio is':>29}")
print(
    f"{'':36} {'unseen':>9} {'known':>8} {'rejected':>8} {'confused':>8}"
    + "".join(f"{cost!s:>10}" for cost in ratios)
)
for name, y_pred in predictions.items():
    admitted = y_pred != STRANGER
    mistakes = (
        f"{(admitted & unseen).sum():9d} {(admitted & known).sum():8d} "
        f"{(~admitted & member).sum():8d} {(admitted & member & (y_pred != y_true)).sum():8d}"
    )
    costs = "".join(f"{total_cost(truth, y_pred, cost=cost):10.0f}" for cost in ratios)
    print(f"{name:36} {mistakes}{costs}")
print("\nCosts are written as stranger admitted : member rejected : member confused.")
print("One gallery is weak evidence. ecselm reproduce access runs ten galleries with more methods,")
print("also with the true costs.")
