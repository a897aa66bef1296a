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

import warnings

import numpy as np
from threadpoolctl import threadpool_limits

from ecselm.methods import tuned_method
from ecselm.metrics import total_cost
from ecselm.protocols import FULL
from ecselm.protocols.access import (
    GUESS,
    STRANGER,
    TRUTHS,
    UNSEEN,
    cases,
    known_order,
    order_alone,
    relabel,
    splits,
)
from ecselm.protocols.faces import eigenfaces

SEED, SPLIT = 0, 0
warnings.filterwarnings("ignore", message="The least populated class")

(case,) = cases()
data = case.load()
train, test = splits(data, FULL, SEED)[SPLIT]
y = relabel(data, SEED, SPLIT).y
if data.synthetic:
    print("These faces are DRAWN, nobody's: set ECSELM_DATA for real ones, see docs/datasets.md.\n")

# %%
# What each machine is told. The order alone comes to numbers, too: the mean of all costs that
# obey it, here with nothing dearer than a hundred times the cheapest.

layer = {"n_hidden": 300, "scale": None, "random_state": SEED}
machines = {
    "ELM, told nothing": ("ELM", layer),
    "KELM, told nothing": ("KELM", {}),
    "ECSELM, told the order": (
        "ECSELM",
        layer
        | {"cost_level": "matrix", "decision": "min_cost"}
        | {"cost": order_alone(), "cost_order": known_order()},
    ),
    f"mcKLR, told the order as {order_alone()}": ("mcKLR", {"cost": order_alone()}),
    f"mcKLR, told the guess {GUESS}": ("mcKLR", {"cost": GUESS}),
    f"CSLDA, told the guess {GUESS}": ("CSLDA-NN", {"cslda__cost": GUESS}),
}
answers = {"a door that stays closed": np.full(len(test), STRANGER)}
with threadpool_limits(1):  # problems as small as this one are slower on several
    for name, (method, params) in machines.items():
        model = tuned_method(method, data.X[train], y[train], before=eigenfaces(), cv=3, **params)
        answers[name] = model.fit(data.X[train], y[train]).predict(data.X[test])

# %%
# What happens at the door, and what it costs if the truth is one of these.

came = y[test]
truth = np.where(came == UNSEEN, STRANGER, came)
known, unseen = came == STRANGER, came == UNSEEN
member = ~(known | unseen)
shown = TRUTHS[1], TRUTHS[3], TRUTHS[5]
print(
    f"{unseen.sum()} pictures of strangers never seen, {known.sum()} of strangers seen before, "
    f"{member.sum()} of members.\n"
)
print(f"{'':36} {'let in':>15} {'members':>18} {'total cost at':>30}")
print(
    f"{'':36} {'unseen':>7} {'seen':>7} {'rejected':>9} {'mixed up':>8} "
    + " ".join(f"{cost!s:>9}" for cost in shown)
)
for name, told in answers.items():
    enters = told != STRANGER
    mistakes = (
        f"{(enters & unseen).sum():7d} {(enters & known).sum():7d} {(~enters & member).sum():9d} "
        f"{(enters & member & (told != came)).sum():8d}"
    )
    costs = " ".join(f"{total_cost(truth, told, cost=cost):9.0f}" for cost in shown)
    print(f"{name:36} {mistakes} {costs}")
print(
    "\nOne gallery says little. Ten of them, more machines, and what knowing the true costs is "
    "worth:\necselm reproduce access"
)
