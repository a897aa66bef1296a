"""Faces of forty persons."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from ecselm._typing import AnyArray
from ecselm.paper.datasets.dataset import Dataset, Source, find_file
from ecselm.paper.datasets.mat_format import read_mat

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
    held = read_mat(path, "faces")
    faces = held.get("faces")
    if "faces" not in held or (faces is not None and faces.shape != SHAPE):
        got = "nothing of that name" if faces is None else faces.shape
        raise ValueError(f"{path.name} must hold faces of shape {SHAPE}, got {got}")
    if faces is None or not ((faces >= 0) & (faces <= 255)).all():
        raise ValueError(f"{path.name}, faces: must hold numbers in [0, 255]")
    return faces
