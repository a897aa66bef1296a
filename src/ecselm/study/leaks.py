"""Columns that tell the answer by themselves, as a copy of it would."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics import balanced_accuracy_score
from sklearn.tree import DecisionTreeClassifier

from ecselm._typing import AnyArray
from ecselm.study.card import Task

ENOUGH = 20  # rows; among fewer some column tells the answer by chance
MOST_ROWS = 2000
NEARLY_ALL = 0.99  # of every class on average
STRAIGHT = 0.999  # correlation with a number


def telling_columns(X: Any, y: Any, task: Task) -> tuple[str, ...]:
    """Return the columns each of which nearly determines the target.

    A class must follow from a column by as many intervals, or at most twice as many names, as
    there are classes; a number by a straight line.

    Parameters
    ----------
    X : array or dataframe of shape (N, n)
        Training rows; of a sparse matrix nothing is said.
    y : array of shape (N,)
    task : {"classes", "numbers"}

    Examples
    --------
    >>> import pandas as pd
    >>> y = np.repeat(["ill", "well"], 20)
    >>> frame = pd.DataFrame({"age": np.arange(40) % 7, "drug": np.where(y == "ill", "yes", "no")})
    >>> telling_columns(frame, y, "classes")
    ('drug',)
    """
    if sparse.issparse(X) or len(y) < ENOUGH:
        return ()
    rows = np.unique(np.linspace(0, len(y) - 1, min(len(y), MOST_ROWS)).astype(np.intp))
    truth = np.asarray(y)[rows]
    told = _class_told if task == "classes" else _number_told
    return tuple(name for name, values in _columns(X) if told(values[rows], truth))


def _columns(X: Any) -> list[tuple[str, AnyArray]]:
    if hasattr(X, "columns"):
        return [(str(name), np.asarray(X[name])) for name in X.columns]
    table = np.asarray(X)
    return [(f"column {i + 1}", table[:, i]) for i in range(table.shape[1])]


def _class_told(values: AnyArray, truth: AnyArray) -> bool:
    classes, codes = np.unique(truth, return_inverse=True)
    if len(classes) < 2:
        return False
    if values.dtype.kind in "biuf":
        tree = DecisionTreeClassifier(max_leaf_nodes=len(classes), random_state=0)
        column = values.astype(np.float64)[:, np.newaxis]
        if np.isinf(column).any():
            return False
        guesses = tree.fit(column, codes).predict(column)
    else:
        kinds, places = np.unique([str(value) for value in values.tolist()], return_inverse=True)
        if len(kinds) > 2 * len(classes):
            return False
        table = np.zeros((len(kinds), len(classes)))
        np.add.at(table, (places, codes), 1.0)
        guesses = table.argmax(axis=1)[places]
    return bool(balanced_accuracy_score(codes, guesses) >= NEARLY_ALL)


def _number_told(values: AnyArray, truth: AnyArray) -> bool:
    if values.dtype.kind not in "biuf":
        return False
    column, target = values.astype(np.float64), truth.astype(np.float64)
    known = np.isfinite(column) & np.isfinite(target)
    column, target = column[known], target[known]
    if len(column) < ENOUGH or np.ptp(column) == 0 or np.ptp(target) == 0:
        return False
    return bool(abs(np.corrcoef(column, target)[0, 1]) >= STRAIGHT)
