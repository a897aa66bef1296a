"""The random stream of a fit or a search."""

from __future__ import annotations

from typing import Any

import numpy as np


def as_generator(random_state: Any) -> np.random.Generator:
    """Turn scikit-learn's ``random_state`` into the one generator of a fit.

    A ``RandomState`` instance is advanced, so that two fits with it differ, as
    scikit-learn's users expect; global state is never read.
    """
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**32, size=4, dtype=np.uint64))
    return np.random.default_rng(random_state)
