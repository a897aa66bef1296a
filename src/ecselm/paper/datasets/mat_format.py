"""MATLAB's files of version 5, as far as arrays of real numbers go.

SciPy's reader is not used because there are damaged files that end the process in it.
Here nothing is read but what lies inside the bytes that are there.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ecselm._typing import AnyArray
from ecselm.tables.files import LIMIT, read_bytes, unpacking

_ORDERS = {b"\x00\x01IM": "<", b"\x01\x00MI": ">"}  # version, and the mark of the byte order
_NUMBERS = {
    1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8",
}  # fmt: skip
_MATRIX, _PACKED = 14, 15
_REAL = range(6, 16)  # classes of arrays, double to uint64; text, cells and sparse come before
_COMPLEX = 0x800

Element = tuple[int, bytes]  # kind and content


def read_mat(path: Path, wanted: str) -> dict[str, AnyArray | None]:
    """Return what a file holds by name: the array ``wanted``, and None for anything else.

    An array of anything but real numbers is None too.
    """
    data = read_bytes(path)
    order = _ORDERS.get(data[124:128])
    if order is None:
        raise ValueError(f"{path.name} is damaged or truncated, or not of MATLAB's version 5")
    held: dict[str, AnyArray | None] = {}
    with unpacking(path.name):
        for matrix in _matrices(data[128:], order):
            parts = list(_elements(matrix, order))
            name = parts[2][1].decode("latin-1")
            held[name] = _array(parts, order) if name == wanted else None
    return held


def _matrices(data: bytes, order: str) -> Iterator[bytes]:
    for kind, content in _elements(data, order):
        inner = _elements(_inflated(content), order) if kind == _PACKED else [(kind, content)]
        yield from (matrix for k, matrix in inner if k == _MATRIX)


def _elements(data: bytes, order: str) -> Iterator[Element]:
    """Yield what lies one behind another, filled up to eight bytes where it is not packed."""
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
