"""The bytes of files nobody vouches for: whole or refused, in memory, with a limit."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ecselm._typing import AnyArray

LIMIT = 2**28  # bytes, once unpacked; the largest real file has 4 million
_DAMAGE = (OSError, EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError)


def read_text(path: Path) -> str:
    """Return a text file."""
    with path.open("rb") as stream:
        return _decoded(_bounded(stream, path.name), path.name)


def read_gzip(path: Path) -> str:
    """Return a text file packed by gzip."""
    with _named(path.name), gzip.open(path, "rb") as stream:
        data = _bounded(stream, path.name)
    return _decoded(data, path.name)


def read_zip(path: Path, members: list[str]) -> list[str]:
    """Return text files out of a zip, named without their folders.

    Nothing is written to disk, so that names in the zip cannot lead out of a folder.
    """
    with _named(path.name), zipfile.ZipFile(path) as archive:
        listed = {info.filename.rsplit("/", 1)[-1]: info for info in archive.infolist()}
        missing = [member for member in members if member not in listed]
        if missing:
            raise ValueError(f"{path.name} must hold {', '.join(missing)}")
        data = [_member(archive, listed[member], path.name) for member in members]
    return [
        _decoded(part, f"{path.name}, {member}") for part, member in zip(data, members, strict=True)
    ]


def read_npz(path: Path, names: list[str]) -> dict[str, AnyArray]:
    """Return named arrays out of NumPy's ``.npz``; pickled objects are refused.

    The header of an array may claim any size: it is held against the bytes that are
    there before memory is taken.
    """
    with _named(path.name), zipfile.ZipFile(path) as archive:
        listed = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        missing = [name for name in names if name not in listed]
        if missing:
            raise ValueError(
                f"{path.name} must hold the arrays {', '.join(names)}; "
                f"{', '.join(missing)} missing, got {', '.join(listed) or 'none'}"
            )
        data = {name: _member(archive, listed[name], path.name) for name in names}
    return {name: _array(part, f"{path.name}, array {name}") for name, part in data.items()}


def list_npz(path: Path) -> list[str]:
    """Return the names of the arrays in NumPy's ``.npz``."""
    with _named(path.name), zipfile.ZipFile(path) as archive:
        return [name.removesuffix(".npy") for name in archive.namelist()]


@contextmanager
def _named(file: str) -> Iterator[None]:
    try:
        yield
    except _DAMAGE as error:
        raise ValueError(f"{file} is damaged or truncated: {error}") from error


def _bounded(stream: Any, file: str) -> bytes:
    data: bytes = stream.read(LIMIT + 1)
    if len(data) > LIMIT:
        raise ValueError(f"{file} must hold at most {LIMIT} bytes once unpacked")
    return data


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, file: str) -> bytes:
    if info.file_size > LIMIT:
        raise ValueError(
            f"{file}, {info.filename}: must hold at most {LIMIT} bytes once unpacked, "
            f"got {info.file_size}"
        )
    return archive.read(info)


def _decoded(data: bytes, file: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{file} must be text in UTF-8, byte {error.start} is not") from error


def _array(data: bytes, place: str) -> AnyArray:
    stream = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(stream)
        if version == (1, 0):
            shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
        else:
            shape, _, dtype = np.lib.format.read_array_header_2_0(stream)
    except ValueError as error:
        raise ValueError(f"{place}: not an array of NumPy: {error}") from error
    if dtype.hasobject:
        raise ValueError(f"{place}: must hold numbers or text, got pickled objects")
    size = int(np.prod([int(n) for n in shape], dtype=object)) * dtype.itemsize
    if size != len(data) - stream.tell():
        raise ValueError(
            f"{place}: shape {shape} of {dtype} must take {size} bytes, got "
            f"{len(data) - stream.tell()}"
        )
    stream.seek(0)
    return np.lib.format.read_array(stream, allow_pickle=False)
