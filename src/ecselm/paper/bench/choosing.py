"""Which candidate is best for each target, by rows left out of training rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from ecselm._typing import IntArray
from ecselm.paper.bench.fitting import SPOILED, Fitter
from ecselm.paper.bench.judging import Labelled, scores
from ecselm.paper.protocols.splits import thinned

N_FOLDS = 5
MOST_ROWS = 2000
Splits = list[tuple[IntArray, IntArray]]


@dataclass(frozen=True, slots=True)
class Choice:
    """The positions of the candidates, the best for a target first."""

    order: Mapping[str, tuple[int, ...]]

    def best(self, target: str) -> int:
        """Return the position of the best candidate."""
        return self.order[target][0]


def inner_folds(y: IntArray, seed: int) -> Splits:
    """Return the folds in which all methods are tuned.

    Five, or as many as the smallest class has rows, but two at least: a class of one row is
    then missing from what one of them trains on.

    Examples
    --------
    >>> len(inner_folds(np.array([0] * 9 + [1] * 3), 0))
    3
    """
    _, counts = np.unique(y, return_counts=True)
    n_folds = int(np.clip(counts.min(), 2, N_FOLDS))
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    return list(folds.split(np.zeros((len(y), 1)), y))


def rows_to_choose_on(rows: Labelled, seed: int) -> Labelled:
    """Return at most about 2000 rows, the same share of every class."""
    every = np.arange(len(rows.y))
    return rows.part(thinned(every, rows.y, MOST_ROWS, np.random.default_rng(seed)))


def choose(
    fitter: Fitter,
    candidates: Sequence[Mapping[str, Any]],
    rows: Labelled,
    targets: Sequence[str],
) -> Choice:
    """Return how candidates do for each target, by their answers to all folds together.

    One pass over folds and candidates serves all targets. A candidate that cannot be fitted
    in some fold comes last; ties go to the earlier candidate.

    Parameters
    ----------
    fitter : Fitter
    candidates : sequence of mapping
    rows : Labelled
        Training rows, not scaled yet.
    targets : sequence of str
    """
    if len(candidates) == 1:
        return Choice(dict.fromkeys(targets, (0,)))
    answers = np.zeros((len(candidates), len(rows.y)), dtype=np.intp)
    spoiled = np.zeros(len(candidates), dtype=bool)
    for train, test in inner_folds(rows.y, fitter.seed):
        known, asked = rows.part(train), rows.part(test)
        before = StandardScaler().fit(known.X)
        known, asked = known.scaled(before), asked.scaled(before)
        for i, candidate in enumerate(candidates):
            try:
                answers[i, test] = fitter.fit(candidate, known).predict(asked.X)
            except SPOILED:
                spoiled[i] = True
    order = {}
    for target in targets:
        judged = np.where(spoiled, -np.inf, scores(target, answers, rows))
        order[target] = tuple(np.argsort(-judged, kind="stable").tolist())
    return Choice(order)
