"""Places of rows: among all of them, and within their partitions."""

from __future__ import annotations

import numpy as np

from ecselm._typing import IntArray


def by_partition(places: IntArray, sizes: IntArray) -> list[IntArray]:
    """Return sorted places among all rows as places within partitions of these sizes.

    Examples
    --------
    >>> [own.tolist() for own in by_partition(np.array([0, 2, 3]), np.array([2, 0, 3]))]
    [[0], [], [0, 1]]
    """
    ends = np.cumsum(sizes)
    edges = np.searchsorted(places, ends)
    starts = ends - sizes
    return [own - start for own, start in zip(np.split(places, edges[:-1]), starts, strict=True)]
