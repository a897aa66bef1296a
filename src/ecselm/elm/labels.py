"""Labels to positions among the classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from ecselm._typing import AnyArray, FloatArray, IntArray


def class_codes(y: Any, weight: FloatArray | None = None) -> tuple[AnyArray, IntArray]:
    """Return the classes (k,) in sorted order, and the position (N,) of every label.

    Rows of positive weight must have two classes or more, and be as many as all classes.

    Examples
    --------
    >>> class_codes(["well", "ill", "well"])
    (array(['ill', 'well'], dtype='<U4'), array([1, 0, 1]))
    """
    y = np.asarray(y)
    if y.dtype.kind not in "biuU":  # numbers that count and words are always classes
        check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    used = codes if weight is None else codes[weight > 0]
    seen = classes[np.unique(used)]
    if len(seen) < 2:
        raise ValueError(
            "y must have at least two classes among the rows of positive weight, got one "
            f"class only: {seen.tolist()}"
        )
    if len(used) < len(classes):
        raise ValueError(
            "there must be at least as many samples of positive weight as the "
            f"{len(classes)} classes of y, got {len(used)}"
        )
    return classes, codes
