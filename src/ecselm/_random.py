"""The random generator of a fit or a search."""

from __future__ import annotations

from typing import Any

import numpy as np


def as_generator(random_state: Any) -> np.random.Generator:
    """Return the generator of a fit from scikit-learn's ``random_state``.

    A ``RandomState`` instance is advanced, so that two fits with it differ, as in
    scikit-learn; global state is never read.
    """
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**32, size=4, dtype=np.uint64))
    return np.random.default_rng(random_state)
