"""Results by group: recalls, costs and settled answers, each with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import stats

from ecselm._typing import FloatArray, IntArray
from ecselm.estimators._policy import Decisions
from ecselm.study.card import Estimate, GroupResult, PromiseResult
from ecselm.study.evaluate import recall_estimate
from ecselm.study.promises import group_promises

MOST_GROUPS = 20
OTHERS = "all other groups"
CONFIDENCE = 0.95


def group_results(
    decisions: Decisions,
    codes: IntArray,
    classes: Any,
    groups: Any,
    *,
    are_stated: bool,
    promises: Sequence[PromiseResult] = (),
) -> tuple[GroupResult, ...]:
    """Return the results of every group of test rows, the largest first.

    Beyond 20 groups the smallest ones are one.

    Parameters
    ----------
    decisions : Decisions
    codes : array of shape (n,)
        True classes, by position.
    classes : array of shape (k,)
    groups : array of shape (n,)
        Names of groups.
    are_stated : bool
        Whether costs are stated, by which mistakes are counted.
    promises : sequence of PromiseResult, default=()
        Those of the model, checked in every group.
    """
    names, members, counts = np.unique(
        np.asarray(groups, dtype=str), return_inverse=True, return_counts=True
    )
    order = np.argsort(-counts, kind="stable")
    labels = [str(label) for label in np.asarray(classes).tolist()]
    shown = order if len(order) <= MOST_GROUPS else order[: MOST_GROUPS - 1]
    parts = [(str(names[g]), np.flatnonzero(members == g)) for g in shown]
    if len(shown) < len(order):
        parts.append((OTHERS, np.flatnonzero(~np.isin(members, shown))))
    answers, settled = decisions.classes(), decisions.settled()
    paid = _paid(decisions, codes) if are_stated else None
    found = []
    for name, rows in parts:
        right = answers[rows] == codes[rows]
        recalls = tuple(
            recall_estimate(
                label, int(right[codes[rows] == c].sum()), int((codes[rows] == c).sum())
            )
            for c, label in enumerate(labels)
            if (codes[rows] == c).any()
        )
        cost = None if paid is None else mean_estimate(name, paid[rows])
        n_settled = int(settled[rows].sum()) if are_stated else None
        kept = group_promises(promises, decisions.answers[rows], codes[rows], classes)
        found.append(GroupResult(name, len(rows), recalls, cost, n_settled, kept))
    return tuple(found)


def _paid(decisions: Decisions, codes: IntArray) -> FloatArray:
    """Return what the answers (n,) cost, of half-known costs by their mean."""
    rows = np.arange(len(codes))
    if decisions.by_row is not None:
        return decisions.by_row[rows, codes, decisions.answers]
    return decisions.policy.mean[codes, decisions.answers]


def mean_estimate(name: str, values: FloatArray) -> Estimate:
    """Return a mean with Student's interval, which is the mean itself for one value.

    Examples
    --------
    >>> one = mean_estimate("a", np.array([0.0, 1.0, 2.0]))
    >>> print(f"{one.value} ({one.low:.2f} to {one.high:.2f})")
    1.0 (-1.48 to 3.48)
    """
    n, mean = len(values), float(values.mean())
    half = 0.0
    if n > 1:
        error = float(values.std(ddof=1) / np.sqrt(n))
        half = float(stats.t.ppf(0.5 + CONFIDENCE / 2, n - 1)) * error
    return Estimate(name, mean, mean - half, mean + half, n)
