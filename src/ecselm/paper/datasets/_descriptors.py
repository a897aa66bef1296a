"""Read pictures of faces and compute their descriptors: LBP and SIFT."""

from __future__ import annotations

import io
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ecselm._typing import FloatArray
from ecselm.tables.files import read_bytes

SIZE = (250, 250)
CROP = (slice(50, 200), slice(85, 165))
BLOCK = 10
N_PATTERNS = 59  # 58 patterns with at most two changes, and all others
# Corners of the eyes, nostrils and tip of the nose, corners of the mouth: where they lie
# on average, (row, column), by eye and not by any published figure.
POINTS = (
    (113, 94), (113, 114), (113, 136), (113, 156),
    (141, 114), (139, 125), (141, 136),
    (160, 108), (160, 142),
)  # fmt: skip
WIDTHS = (16, 32, 48)
N_CELLS, N_ANGLES = 4, 8
LARGEST = 2**22  # bytes of a picture; the real ones have about 9000
_FORMS = ((SIZE, "L"), (SIZE, "RGB"))


def imported(module: str) -> Any:
    """Return a module of scikit-image or Pillow; raise ImportError naming the missing extra."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            'pictures need scikit-image and Pillow: install the extra "images"'
        ) from error


def lbp(picture: FloatArray) -> FloatArray:
    """Return roots of the shares (7080,) of uniform patterns LBP(8, 1) in blocks of 10 x 10."""
    grey = np.rint(picture[CROP]).astype(np.uint8)
    pattern = imported("skimage.feature").local_binary_pattern(grey, 8, 1, "nri_uniform")
    rows, columns = (n // BLOCK for n in pattern.shape)
    blocks = pattern.astype(np.intp).reshape(rows, BLOCK, columns, BLOCK).swapaxes(1, 2)
    numbered = blocks.reshape(rows * columns, -1) + N_PATTERNS * np.arange(rows * columns)[:, None]
    counts = np.bincount(numbered.ravel(), minlength=rows * columns * N_PATTERNS)
    return np.sqrt(counts / BLOCK**2)


def sift(picture: FloatArray) -> FloatArray:
    """Return SIFT's descriptors (3456,) at nine points and three widths, upright.

    scikit-image describes only points that it found itself, so the histograms are ours:
    4 x 4 cells of 8 angles, weighted by the gradient and by a Gaussian as wide as half the
    patch, shared between neighbouring cells and angles, clipped at 0.2 and of length 1.
    """
    rows, columns = np.gradient(picture)
    strength, angle = np.hypot(rows, columns), np.arctan2(rows, columns) % (2 * np.pi)
    parts = [
        _histograms(strength[place], angle[place], width)
        for point in POINTS
        for width in WIDTHS
        for place in [tuple(slice(c - width // 2, c + width // 2) for c in point)]
    ]
    return np.concatenate(parts)


def _histograms(strength: FloatArray, angle: FloatArray, width: int) -> FloatArray:
    offset = (np.arange(width) + 0.5) / width - 0.5
    bell = np.exp(-2.0 * offset**2)  # a standard deviation of half the patch
    weight = strength * np.outer(bell, bell)
    cells = _tent(((offset + 0.5) * N_CELLS - 0.5)[:, None] - np.arange(N_CELLS))
    turn = angle[..., None] * N_ANGLES / (2 * np.pi) - np.arange(N_ANGLES)
    angles = _tent((turn + N_ANGLES / 2) % N_ANGLES - N_ANGLES / 2)
    sums = np.einsum("ij,ia,jb,ijt->abt", weight, cells, cells, angles, optimize=True).ravel()
    return _unit(np.minimum(_unit(sums), 0.2))


def _tent(distance: FloatArray) -> FloatArray:
    return np.maximum(0.0, 1.0 - np.abs(distance))


def _unit(values: FloatArray) -> FloatArray:
    return values / max(float(np.linalg.norm(values)), 1e-12)


DESCRIPTORS: dict[str, Callable[[FloatArray], FloatArray]] = {"lbp": lbp, "sift": sift}


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
