"""Whole files: written atomically, and read with memory bounded by their size."""

from __future__ import annotations

import ast
import contextlib
import errno
import math
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import numpy as np

ARRAY = b"\x93NUMPY"  # how a stored array begins
EMPTY_LIMIT = 1 << 20  # items that an array without content may claim, such as rows of no columns
_LENGTH_BYTES = {1: 2, 2: 4, 3: 4}  # of a header's length, by version of NumPy's format
_HEADER_LIMIT = 10_000  # as NumPy's: longer ones are slow to parse


def write_whole(path: Path, content: bytes) -> None:
    """Replace the file by ``content``; on an error the old file stays."""
    with replacing(path) as part:
        part.write_bytes(content)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary file that replaces ``path`` at the end of the block.

    On an error the old file stays.
    """
    part = path.with_name(
        f".{path.name}.{uuid4().hex}.part"
    )  # another process may write the same file
    try:
        part.touch(exist_ok=False)
        yield part
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise ValueError(
            f"path must be a file that can be written to, got {str(path)!r}: "
            f"{error.strerror or error}"
        ) from error
    finally:
        with contextlib.suppress(OSError):  # there is nothing to remove if it could not be created
            part.unlink(missing_ok=True)


def read_whole(path: Path) -> bytes:
    """Return the content of a regular file, or raise OSError.

    Devices and pipes are refused unread: they have no size that bounds what they return, and
    opening a pipe may wait forever.
    """
    with open(path, "rb", opener=_open_at_once) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it must be a regular file, not a device or a pipe")
        try:
            return file.read(status.st_size)  # a file that grows meanwhile is not read further
        except MemoryError as error:
            raise OSError(errno.ENOMEM, f"its {status.st_size} bytes exceed the memory") from error


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def check_array(content: bytes, name: str) -> int:
    """Return the number of items of a stored array, or raise ValueError if it claims too many.

    Parameters
    ----------
    content : bytes
        A file in NumPy's format.
    name : str
        How error messages name it.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> np.save(file, np.zeros((2, 3)))
    >>> check_array(file.getvalue(), "a.npy")
    6
    >>> check_array(file.getvalue().replace(b"(2, 3)", b"(9, 3)"), "a.npy")
    Traceback (most recent call last):
        ...
    ValueError: the shape of a.npy must agree with its 48 bytes, got (9, 3) of float64
    """
    shape, dtype, start = _array_header(content, name)
    n_claimed = math.prod(max(size, 1) for size in shape) * math.prod(dtype.shape)
    n_bytes = len(content) - start
    if n_claimed > max(n_bytes, EMPTY_LIMIT):
        raise ValueError(
            f"{name} of {n_bytes} bytes must claim at most {max(n_bytes, EMPTY_LIMIT)} items, "
            f"got shape {shape}"
        )
    if not dtype.hasobject and math.prod(shape) * dtype.itemsize != n_bytes:
        raise ValueError(
            f"the shape of {name} must agree with its {n_bytes} bytes, got {shape} of {dtype}"
        )
    return math.prod(shape) * math.prod(dtype.shape)


def _array_header(content: bytes, name: str) -> tuple[tuple[int, ...], np.dtype[np.generic], int]:
    """Return shape, type and first byte of a stored array."""
    damaged = ValueError(f"{name} must be an array in NumPy's format")
    width = _LENGTH_BYTES.get(content[6]) if content.startswith(ARRAY) and content[6:8] else None
    if width is None:
        raise damaged
    length = int.from_bytes(content[8 : 8 + width], "little")
    start = 8 + width + length
    if length > _HEADER_LIMIT or start > len(content):
        raise damaged
    try:
        header = ast.literal_eval(content[8 + width : start].decode("latin1"))
        shape = header["shape"]
        dtype = np.lib.format.descr_to_dtype(header["descr"])
    except (ValueError, SyntaxError, TypeError, LookupError, RecursionError, MemoryError) as error:
        raise damaged from error
    if not (type(shape) is tuple and all(type(size) is int and size >= 0 for size in shape)):
        raise damaged
    return shape, dtype, start


def parsed_size(text: bytes) -> int:
    """Return a bound of the bytes that parsing JSON takes, from its punctuation.

    Parsing multiplies the size of a text by up to 30. Punctuation within strings counts, too:
    it may be JSON itself.

    Examples
    --------
    >>> parsed_size(b"[[], [], []]") > 3 * 56
    True
    """
    # Other characters than ASCII, or escapes of them, make strings of four bytes a character.
    # Escapes may also hide punctuation.
    width = 2 if text.isascii() and b"\\u" not in text else 8
    costs = {b"[": 152, b"{": 200, b",": 72, b":": 48}
    return width * len(text) + sum(cost * text.count(sign) for sign, cost in costs.items())
