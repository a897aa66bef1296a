"""What all methods of a protocol are given instead of the rows, learned once per split.

It is kept in a file of plain numbers: whoever opens it runs nothing.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from ecselm._files import write_whole
from ecselm._typing import AnyArray, FloatArray
from ecselm.paper.protocols.budget import Budget

Prepare = Callable[[FloatArray, AnyArray, FloatArray, Budget], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True, slots=True)
class Prepared:
    """Rows to train and to test with, and how long it took to make them."""

    train: FloatArray
    test: FloatArray
    seconds: float


def prepared(
    prepare: Prepare,
    X: FloatArray,
    y: AnyArray,
    X_test: FloatArray,
    budget: Budget,
    path: Path | None,
) -> Prepared:
    """Return what ``prepare`` learns from training rows, from a file where there is one.

    Parameters
    ----------
    prepare : callable
        Of training rows, their labels, test rows and the budget.
    X, y, X_test : arrays
    budget : Budget
    path : path or None
        Where it is kept; a file that cannot be read is made anew.

    Returns
    -------
    Prepared

    Examples
    --------
    >>> from ecselm.paper.protocols.budget import QUICK
    >>> def centred(X, y, X_test, budget):
    ...     return X - X.mean(axis=0), X_test - X.mean(axis=0)
    >>> rows = np.array([[1.0], [3.0]])
    >>> prepared(centred, rows, np.arange(2), rows + 1.0, QUICK, None).test.tolist()
    [[0.0], [2.0]]
    """
    kept = None if path is None else _read(path, len(X), len(X_test))
    if kept is not None:
        return kept
    start = time.perf_counter()
    train, test = prepare(X, y, X_test, budget)
    made = Prepared(train, test, time.perf_counter() - start)
    if path is not None:
        _write(path, made)
    return made


def _read(path: Path, n_train: int, n_test: int) -> Prepared | None:
    try:
        # From memory: NumPy leaves the file open where it is no archive.
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            found = Prepared(file["train"], file["test"], float(file["seconds"]))
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return None
    return found if (len(found.train), len(found.test)) == (n_train, n_test) else None


def _write(path: Path, made: Prepared) -> None:
    buffer = io.BytesIO()
    np.savez(buffer, train=made.train, test=made.test, seconds=np.float64(made.seconds))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, buffer.getvalue())
