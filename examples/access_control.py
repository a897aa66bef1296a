"""
Who may come in?
================

A door knows ten members by their faces. Everybody else is a stranger, and half of the strangers
who come were never seen before. A stranger let in is worse than a member rejected, and that is
worse than a member taken for another: nobody can say more. Faces are those of Olivetti in the
folder that ECSELM_DATA names, or else drawn.
"""

# %%
# One gallery of the protocol behind ``ecselm reproduce access``: half of the pictures of the
# members and of 15 strangers train; the other half and 15 more strangers come to the door.
# Strangers to come are new ones. So whatever is chosen is chosen in folds that part no
# stranger, for all machines alike.

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
warnings.simplefilter("ignore", FewCasesWarning)  # five pictures of a member are few, it is true

(case,) = access_cases()
data = case.load()
train, test = access_splits(data, FULL, SEED)[SPLIT]
y = relabel(data, SEED, SPLIT).y
groups = person_groups(data, SEED, SPLIT)[train]
folds = list(StratifiedGroupKFold(3).split(data.X[train], y[train], groups))
if data.synthetic:
    print("These faces are DRAWN, nobody's: set ECSELM_DATA for real ones, see docs/datasets.md.\n")

# %%
# What each machine is told. The order alone comes to numbers, too: the mean of all costs that
# obey it, here with nothing dearer than a hundred times the cheapest.

ORDERED = mean_ordered_costs()
machines = {
    "ELM, told nothing": ("ELM", {"n_hidden": 300, "scale": None, "random_state": SEED}),
    "KELM, told nothing": ("KELM", {}),
    "ECSELM, told the order": (
        "ECSELM",
        {"cost": ORDERED, "cost_order": known_order(), "scale": None, "random_state": SEED},
    ),
    f"mcKLR, told the order as {ORDERED}": ("mcKLR", {"cost": ORDERED}),
    f"mcKLR, told the guess {GUESS}": ("mcKLR", {"cost": GUESS}),
    f"CSLDA, told the guess {GUESS}": ("CSLDA-NN", {"cslda__cost": GUESS}),
}
answers = {"a door that stays closed": np.full(len(test), STRANGER)}
with threadpool_limits(1):  # problems as small as this one are slower on several
    for name, (method, params) in machines.items():
        shown = data.X[train], y[train]
        model = tuned_method(method, *shown, before=eigenfaces(), cv=folds, **params)
        own = {"method__groups": groups} if method == "ECSELM" else {}  # it makes its own folds
        answers[name] = model.fit(*shown, **own).predict(data.X[test])

# %%
# What happens at the door, and what it costs if the truth is one of these.

came = y[test]
truth = np.where(came == UNSEEN, STRANGER, came)
known, unseen = came == STRANGER, came == UNSEEN
member = ~(known | unseen)
fitness_on = TRUE_COSTS[1], TRUE_COSTS[3], TRUE_COSTS[5]
print(f"To the door come {unseen.sum()} pictures of strangers whom nobody has seen,")
print(f"{known.sum()} of strangers seen before, and {member.sum()} of members.\n")
print(f"{'':36} {'strangers let in':>16} {'members':>16} {'total cost, if the truth is':>29}")
print(
    f"{'':36} {'unseen':>8} {'seen':>7} {'rejected':>8} {'mixed up':>8}"
    + "".join(f"{cost!s:>10}" for cost in fitness_on)
)
for name, told in answers.items():
    enters = told != STRANGER
    mistakes = (
        f"{(enters & unseen).sum():8d} {(enters & known).sum():7d} {(~enters & member).sum():8d} "
        f"{(enters & member & (told != came)).sum():8d}"
    )
    costs = "".join(f"{total_cost(truth, told, cost=cost):10.0f}" for cost in fitness_on)
    print(f"{name:36} {mistakes}{costs}")
print(
    "\nCosts are those of a stranger let in : a member rejected : a member mixed up with another."
)
print("One gallery says little. Ten of them, more machines, and what knowing the true costs is")
print("worth: ecselm reproduce access")
