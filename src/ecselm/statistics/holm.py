"""Many tests at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from ecselm._typing import FloatArray


def holm(p: Any) -> FloatArray:
    """Return p values corrected for there being several of them.

    In rising order, ``p~_(i) = max_{j <= i} min(1, (n - j + 1) p_(j))`` (Holm 1979): what
    is below alpha may be rejected, with a chance of at most alpha of any false rejection.

    Parameters
    ----------
    p : array of shape (n,)

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    values = np.asarray(p, dtype=np.float64)
    if values.ndim != 1:
        raise ValueError(f"p must have the shape (n,), got {values.shape}")
    if not ((values >= 0) & (values <= 1)).all():
        raise ValueError(f"p must lie between 0 and 1, got {values.tolist()}")
    order = np.argsort(values, kind="stable")
    steps = values[order] * np.arange(len(values), 0, -1)
    corrected = np.empty_like(values)
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return corrected
