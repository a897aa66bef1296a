"""Faces by person: AR of the paper, Olivetti in public."""

from __future__ import annotations

import math
import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ecselm._typing import AnyArray, IntArray
from ecselm.paper.datasets._text import check_array, check_counts
from ecselm.paper.datasets.dataset import Dataset, Source, find_file
from ecselm.tables.files import LIMIT, read_bytes, read_npz, unpacking

_ORDERS = {b"\x00\x01IM": "<", b"\x01\x00MI": ">"}  # version, and the mark of the byte order
_NUMBERS = {
    1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8",
}  # fmt: skip
_MATRIX, _PACKED = 14, 15
_REAL = range(6, 16)  # classes of arrays, double to uint64; text, cells and sparse come before
_COMPLEX = 0x800

Element = tuple[int, bytes]  # kind and content


def read_mat(path: Path, wanted: str) -> dict[str, AnyArray | None]:
    """Return the contents of a file by name: the array ``wanted``, and None for others.

    An array of anything but real numbers is None too.
    """
    data = read_bytes(path)
    order = _ORDERS.get(data[124:128])
    if order is None:
        raise ValueError(f"{path.name} is damaged or truncated, or not of MATLAB's version 5")
    found: dict[str, AnyArray | None] = {}
    with unpacking(path.name):
        for matrix in _matrices(data[128:], order):
            parts = list(_elements(matrix, order))
            name = parts[2][1].decode("latin-1")
            found[name] = _array(parts, order) if name == wanted else None
    return found


def _matrices(data: bytes, order: str) -> Iterator[bytes]:
    for kind, content in _elements(data, order):
        inner = _elements(_inflated(content), order) if kind == _PACKED else [(kind, content)]
        yield from (matrix for k, matrix in inner if k == _MATRIX)


def _elements(data: bytes, order: str) -> Iterator[Element]:
    """Yield consecutive elements, padded to eight bytes where not packed."""
    start = 0
    while start < len(data):
        kind, size = struct.unpack_from(f"{order}II", data, start)
        if kind >> 16:  # four bytes or less lie in the place of the size
            kind, size, begin, after = kind & 0xFFFF, kind >> 16, start + 4, start + 8
        else:
            begin = start + 8
            after = begin + size + (0 if kind == _PACKED else -size % 8)
        if begin + size > len(data):
            raise ValueError(f"{size} bytes must follow, got {len(data) - begin}")
        yield kind, data[begin : begin + size]
        start = after


def _inflated(packed: bytes) -> bytes:
    stream = zlib.decompressobj()
    data = stream.decompress(packed, LIMIT)
    if not stream.eof:
        raise ValueError(f"the packed part must end, after {LIMIT} bytes at most")
    return data


def _array(parts: list[Element], order: str) -> AnyArray | None:
    (_, flags), (_, sizes), _, *rest = parts
    (flag,) = struct.unpack_from(f"{order}I", flags)
    kind, content = rest[0] if rest else (0, b"")
    if flag & 0xFF not in _REAL or flag & _COMPLEX or kind not in _NUMBERS:
        return None
    shape = np.frombuffer(sizes, f"{order}i4").tolist()
    values = np.frombuffer(content, order + _NUMBERS[kind])
    if values.size != math.prod(shape):
        raise ValueError(f"{math.prod(shape)} numbers must follow, got {values.size}")
    return values.reshape(shape, order="F")


AR_SOURCE = Source(
    "ar",
    "AR faces, Martinez and Benavente 1998",
    "https://www2.ece.ohio-state.edu/~aleix/ARdatabase.html, on request; the documentation of "
    "load_ar says how to write ar.npz",
    "research only, not to be passed on",
)


AR_SHAPE, AR_PERSONS = (1400, 300), 100


def load_ar(folder: str | os.PathLike[str] | None = None) -> Dataset:
    """Read AR faces, 14 of each of 100 persons (tables VI and VII).

    The file is ``ar/ar.npz`` with the arrays ``X`` (1400, 300), eigenfaces; ``person``
    (1400,), whole numbers, 100 different ones; ``session`` (1400,), 1 or 2, seven pictures
    of everyone in each. Own data may have other numbers of pictures, columns and persons, with
    everyone in both sessions.

    Parameters
    ----------
    folder : path, default=None
        The folder of all data, by default what ``ECSELM_DATA`` names.

    Returns
    -------
    Dataset
        With one split: session 1 trains and session 2 tests. ``own`` is set for other sizes.

    Examples
    --------
    >>> train, test = load_ar().folds[0]  # doctest: +SKIP
    """
    path = find_file(AR_SOURCE, "ar.npz", folder)
    arrays = read_npz(path, ["X", "person", "session"])
    X = check_array(arrays, "X", "f", (None, None), path.name)
    person = check_array(arrays, "person", "i", (len(X),), path.name)
    session = check_array(arrays, "session", "i", (len(X),), path.name)
    classes = np.unique(person)
    if len(classes) < 2:
        raise ValueError(f"{path.name}, array person: must name 2 persons or more, got 1")
    if not np.isin(session, (1, 2)).all():
        raise ValueError(f"{path.name}, array session: must be 1 or 2, got {np.unique(session)}")
    split = (np.flatnonzero(session == 1), np.flatnonzero(session == 2))
    for which, rows in enumerate(split, 1):
        place = f"{path.name}, session {which}"
        check_counts(person[rows], classes.tolist(), (1,) * len(classes), place)
    own = X.shape != AR_SHAPE or len(classes) != AR_PERSONS or not _seven_of_each(person, split)
    return Dataset(
        "own faces" if own else "AR",
        X.astype(float),
        person,
        AR_SOURCE.own_sentence(path.name) if own else AR_SOURCE.sentence,
        classes,
        folds=(split,),
        own=own,
    )


def _seven_of_each(person: AnyArray, split: tuple[IntArray, IntArray]) -> bool:
    """Tell whether both sessions have seven pictures of everyone, as those of AR have."""
    return all((np.unique(person[rows], return_counts=True)[1] == 7).all() for rows in split)


OLIVETTI_SOURCE = Source(
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
    path = find_file(OLIVETTI_SOURCE, "olivettifaces.mat", folder)
    faces = _faces(path)
    return Dataset(
        "Olivetti faces",
        np.ascontiguousarray(faces.T) / 255.0,
        np.repeat(np.arange(40), 10),
        OLIVETTI_SOURCE.sentence,
        np.arange(40),
    )


def _faces(path: Path) -> AnyArray:
    found = read_mat(path, "faces")
    faces = found.get("faces")
    if "faces" not in found or (faces is not None and faces.shape != SHAPE):
        got = "nothing of that name" if faces is None else faces.shape
        raise ValueError(f"{path.name} must hold faces of shape {SHAPE}, got {got}")
    if faces is None or not ((faces >= 0) & (faces <= 255)).all():
        raise ValueError(f"{path.name}, faces: must hold numbers in [0, 255]")
    return faces
