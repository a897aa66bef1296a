"""Which coordinates a trial takes from the mutant (paper, eq. 28)."""

from __future__ import annotations

import numpy as np

from ecselm._typing import BoolArray, IntArray

WIDE = 2**10  # coordinates from which on selecting row by row beats sorting all rows


def crossover_mask(
    shape: tuple[int, int], rng: np.random.Generator, mixrate: float = 1.0
) -> BoolArray:
    """Draw the binary map of (28), True where a trial takes the mutant.

    The paper leaves the map open; this is the published one (Civicioglu 2013): row i takes
    ``ceil(mixrate u_i D)`` random coordinates with ``u_i ~ U(0, 1)``. In the other half of
    the generations a trial takes exactly one, for which no map is needed.

    Examples
    --------
    >>> import numpy as np
    >>> mask = crossover_mask((4, 6), np.random.default_rng(0))
    >>> bool((mask.sum(axis=1) >= 1).all())
    True
    """
    size, D = shape
    u = 1.0 - rng.random(size)  # never 0: each row takes at least one
    return random_subsets(np.ceil(mixrate * u * D).astype(np.intp), D, rng)


def random_subsets(counts: IntArray, D: int, rng: np.random.Generator) -> BoolArray:
    """Mark ``counts[i]`` of D coordinates in row i, every such subset equally likely.

    The smallest of random keys are marked. A row that ties at its last one would have
    too many and is drawn again, which favours no subset.

    Examples
    --------
    >>> import numpy as np
    >>> random_subsets(np.array([1, 5, 3]), 5, np.random.default_rng(0)).sum(axis=1).tolist()
    [1, 5, 3]
    """
    # Halves of 64 bits, which come faster than 32 at a time.
    draws = rng.integers(2**64, size=(len(counts), (D + 1) // 2), dtype=np.uint64)
    keys = draws.view(np.uint32)[:, :D]
    mask = keys <= _last_taken(keys, counts)[:, np.newaxis]
    tied = np.flatnonzero(mask.sum(axis=1) != counts)
    if len(tied):
        mask[tied] = random_subsets(counts[tied], D, rng)
    return mask


def _last_taken(keys: IntArray, counts: IntArray) -> IntArray:
    """Return the ``counts[i]``-th smallest key of row i."""
    if keys.shape[1] < WIDE:
        return np.sort(keys, axis=1)[np.arange(len(keys)), counts - 1]
    return np.array([np.partition(row, k)[k] for row, k in zip(keys, counts - 1, strict=True)])
