"""One machine per pair of classes, and their vote."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ecselm._typing import FloatArray, IntArray


def class_pairs(n_classes: int) -> Iterator[tuple[int, int]]:
    """Give the pairs i < j of classes, in the order of the columns of :func:`voted`."""
    first, second = np.triu_indices(n_classes, 1)
    yield from zip(first.tolist(), second.tolist(), strict=True)


def pair_rows(y: IntArray, pair: tuple[int, int], weight: FloatArray | None = None) -> IntArray:
    """Return the positions of the rows of both classes that have a positive weight."""
    member = (y == pair[0]) | (y == pair[1])
    return np.flatnonzero(member if weight is None else member & (weight > 0))


def voted(D: FloatArray, n_classes: int) -> FloatArray:
    """Return the votes (N, k) of pairwise scores ``D`` (N, k(k-1)/2).

    A positive score of the pair (i, j) is a vote for j. Equal votes are told apart by
    the sum of the scores, squashed to less than half a vote.

    Examples
    --------
    >>> import numpy as np
    >>> voted(np.array([[-1.0, -1.0, 2.0]]), 3).argmax(axis=1)
    array([0])
    """
    first, second = np.triu_indices(n_classes, 1)
    votes, sums = np.zeros((n_classes, len(D))), np.zeros((n_classes, len(D)))
    np.add.at(votes, second, D.T > 0)
    np.add.at(votes, first, D.T <= 0)
    np.add.at(sums, second, D.T)
    np.subtract.at(sums, first, D.T)
    return (votes + sums / (3.0 * (np.abs(sums) + 1.0))).T.astype(D.dtype)
