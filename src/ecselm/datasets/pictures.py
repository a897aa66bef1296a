"""Pictures of faces, grey and of one size."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from ecselm._typing import FloatArray
from ecselm.datasets.descriptors import SIZE, imported
from ecselm.datasets.readers import read_bytes

LARGEST = 2**22  # bytes of a picture; the real ones have about 9000
_FORMS = ((SIZE, "L"), (SIZE, "RGB"))


def read_grey(path: Path) -> FloatArray:
    """Return a picture (250, 250) in JPEG with values in [0, 255].

    No other format is tried, and the size is looked at before the points are unpacked.
    """
    if path.stat().st_size > LARGEST:
        raise ValueError(f"{path.name} must have at most {LARGEST} bytes")
    images, data = imported("PIL.Image"), io.BytesIO(read_bytes(path))
    try:
        picture = images.open(data, formats=["JPEG"])
        form = (picture.size, picture.mode)
        points = np.asarray(picture) if form in _FORMS else None
    except Exception as error:
        raise ValueError(f"{path.name} is damaged or truncated, or no JPEG") from error
    if points is None:
        raise ValueError(f"{path.name} must have {SIZE} points, grey or RGB, got {form}")
    if points.ndim == 3:
        return imported("skimage.color").rgb2gray(points) * 255.0
    return points.astype(np.float64)
