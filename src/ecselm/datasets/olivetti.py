"""Faces of forty persons."""

from __future__ import annotations

import os
import zlib
from pathlib import Path

import numpy as np
from scipy.io import loadmat, whosmat
from scipy.io.matlab import MatReadError

from ecselm._typing import AnyArray
from ecselm.datasets.dataset import Dataset
from ecselm.datasets.source import Source, find_file

SOURCE = Source(
    folder="olivetti_faces",
    origin="Olivetti (ORL) faces, AT&T Laboratories Cambridge, prepared by S. Roweis",
    address="https://cs.nyu.edu/~roweis/data.html",
    terms="credit to AT&T Laboratories Cambridge",
)
SHAPE = (4096, 400)  # a column per picture of 64 x 64


def load_olivetti(folder: str | os.PathLike[str] | None = None) -> Dataset:
    """Read 400 faces of 64 x 64 points, ten of each of 40 persons.

    Parameters
    ----------
    folder : path, default=None
        The folder of all data, by default what ``ECSELM_DATA`` names.

    Returns
    -------
    Dataset
        Values in [0, 1]; ``X[i].reshape(64, 64, order="F")`` is a picture. ``y`` is 0 to 39.

    Examples
    --------
    >>> load_olivetti().X.shape  # doctest: +SKIP
    (400, 4096)
    """
    path = find_file(SOURCE, "olivettifaces.mat", folder)
    faces = _faces(path)
    return Dataset(
        "Olivetti faces",
        np.ascontiguousarray(faces.T) / 255.0,
        np.repeat(np.arange(40), 10),
        SOURCE.sentence,
        np.arange(40),
    )


def _faces(path: Path) -> AnyArray:
    """Return the one array wanted, once the file says that it is as small as it must be."""
    damage = (ValueError, TypeError, OSError, EOFError, KeyError, IndexError, zlib.error)
    try:
        listed = {name: shape for name, shape, _ in whosmat(path)}
        faces = loadmat(path, variable_names=["faces"])["faces"] if _fits(listed) else None
    except (*damage, NotImplementedError, MatReadError, MemoryError) as error:
        raise ValueError(f"{path.name} is damaged or truncated: {error}") from error
    if faces is None:
        raise ValueError(f"{path.name} must hold faces of shape {SHAPE}, got {listed or 'nothing'}")
    numbers = isinstance(faces, np.ndarray) and faces.dtype.kind in "uif"
    if not numbers or not ((faces >= 0) & (faces <= 255)).all():
        raise ValueError(f"{path.name}, faces: must hold numbers in [0, 255]")
    return faces


def _fits(listed: dict[str, tuple[int, ...]]) -> bool:
    return listed.get("faces") == SHAPE
