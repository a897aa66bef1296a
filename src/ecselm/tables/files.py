"""Bytes of untrusted files: read whole or refused, in memory, with a limit."""

from __future__ import annotations

import gzip
import io
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from ecselm._typing import AnyArray
from ecselm._wording import brief

LIMIT = 2**28  # bytes, once unpacked; the largest real file has 4 million
_NOT_TEXT = re.compile(r"[^\S\t\n\r ]|[\x00-\x08\x0e-\x1f\x7f]")
_VERSIONS = {(1, 0), (2, 0), (3, 0)}  # of NumPy's format


class MissingArray(FileNotFoundError, ValueError):
    """Raised for a file that is whole but lacks an array."""


def read_bytes(path: Path) -> bytes:
    """Return a file as it is."""
    with path.open("rb") as stream:
        return _limited(stream.read(LIMIT + 1), path.name)


def read_text(path: Path) -> str:
    """Return a text file."""
    return _decoded(read_bytes(path), path.name)


def read_gzip(path: Path) -> str:
    """Return a text file packed by gzip."""
    packed = io.BytesIO(read_bytes(path))
    with unpacking(path.name), gzip.GzipFile(fileobj=packed) as stream:
        data = stream.read(LIMIT + 1)
    return _decoded(_limited(data, path.name), path.name)


def read_zip(path: Path, members: list[str]) -> list[str]:
    """Return text files out of a zip, named without their folders.

    Nothing is written to disk, so that names in the zip cannot lead out of a folder.
    """
    with _archive(path) as archive:
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
    with _archive(path) as archive:
        listed = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        missing = [name for name in names if name not in listed]
        if missing:
            raise MissingArray(
                f"{path.name} must hold the arrays {', '.join(names)}; "
                f"{', '.join(missing)} missing, got {brief(', '.join(listed)) or 'none'}"
            )
        data = {name: _member(archive, listed[name], path.name) for name in names}
    return {name: _array(part, f"{path.name}, array {name}") for name, part in data.items()}


def list_npz(path: Path) -> list[str]:
    """Return the names of the arrays in NumPy's ``.npz``."""
    with _archive(path) as archive:
        return [name.removesuffix(".npy") for name in archive.namelist()]


@contextmanager
def unpacking(file: str) -> Iterator[None]:
    """Say in one sentence that ``file`` is damaged, in whatever way a library fails at it.

    Damaged bytes lead libraries into errors of any class, so all are caught: nothing but
    the call of the library belongs inside.
    """
    try:
        yield
    except Exception as error:
        reason = f": {brief(str(error))}" if str(error) else ""
        raise ValueError(f"{file} is damaged or truncated{reason}") from error


@contextmanager
def _archive(path: Path) -> Iterator[zipfile.ZipFile]:
    packed = io.BytesIO(read_bytes(path))
    with unpacking(path.name):
        archive = zipfile.ZipFile(packed)
    with archive:
        yield archive


def _limited(data: bytes, file: str) -> bytes:
    if len(data) > LIMIT:
        raise ValueError(f"{file} must hold at most {LIMIT} bytes once unpacked")
    return data


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, file: str) -> bytes:
    if info.file_size > LIMIT:
        raise ValueError(
            f"{file}, {brief(info.filename)}: must hold at most {LIMIT} bytes once unpacked, "
            f"got {info.file_size}"
        )
    with unpacking(file):
        return archive.read(info)


def _decoded(data: bytes, file: str) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{file} must be text in UTF-8, byte {error.start} is not") from error
    odd = _NOT_TEXT.search(text)
    if odd is not None:
        line = text.count("\n", 0, odd.start()) + 1
        raise ValueError(f"{file}, line {line}: must be plain text, got {odd.group()!r}")
    return text


def _array(data: bytes, place: str) -> AnyArray:
    stream = io.BytesIO(data)
    try:
        shape, dtype = _header(stream)
    except Exception as error:
        raise ValueError(f"{place}: not an array of NumPy: {brief(str(error))}") from error
    if dtype.hasobject:
        raise ValueError(f"{place}: must hold numbers or text, got pickled objects")
    size = int(np.prod([int(n) for n in shape], dtype=object)) * dtype.itemsize
    if size != len(data) - stream.tell() or min(shape, default=0) < 0:
        raise ValueError(
            f"{place}: shape {brief(str(shape))} of {dtype} must take {size} bytes, got "
            f"{len(data) - stream.tell()}"
        )
    stream.seek(0)
    return np.lib.format.read_array(stream, allow_pickle=False)


def _header(stream: io.BytesIO) -> tuple[tuple[int, ...], np.dtype[np.generic]]:
    version = np.lib.format.read_magic(stream)
    if version not in _VERSIONS:
        raise ValueError(f"version {version}")
    if version == (1, 0):
        shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    else:
        shape, _, dtype = np.lib.format.read_array_header_2_0(stream)
    return shape, dtype
