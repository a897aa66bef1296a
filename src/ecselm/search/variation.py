"""Which coordinates a trial takes from the mutant (paper, eq. 28)."""

from __future__ import annotations

import numpy as np

from ecselm._typing import BoolArray


def crossover_mask(
    shape: tuple[int, int], rng: np.random.Generator, mixrate: float = 1.0
) -> BoolArray:
    """Draw the binary map of (28), True where a trial takes the mutant.

    The paper leaves the map open; this is the published one (Civicioglu 2013). A coin
    decides for the whole generation: either row i takes ``ceil(mixrate u_i D)`` random
    coordinates with ``u_i ~ U(0, 1)``, or exactly one.

    Examples
    --------
    >>> import numpy as np
    >>> mask = crossover_mask((4, 6), np.random.default_rng(0))
    >>> bool((mask.sum(axis=1) >= 1).all())
    True
    """
    size, D = shape
    if rng.random() < rng.random():
        taken = np.ceil(mixrate * rng.random(size) * D).astype(np.intp).clip(1, D)
        keys = rng.random(shape)
        # The row's taken-th smallest key is the threshold: no ranking is needed.
        thresholds = np.sort(keys, axis=1)[np.arange(size), taken - 1]
        return keys <= thresholds[:, np.newaxis]
    mask = np.zeros(shape, dtype=bool)
    mask[np.arange(size), rng.integers(D, size=size)] = True
    return mask
