"""Whole files: written atomically, locked, and read with memory bounded by their size.

A file is written next to its place under a temporary name, ``.NAME.ecselm-HEX.part``, and renamed
when it is on disk. The process that writes holds a lock on the temporary file, so that one which a
killed process has left is recognised: it is removed by the next write in its folder.
"""

from __future__ import annotations

import ast
import contextlib
import errno
import math
import os
import re
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

try:
    import fcntl
except ImportError:  # Windows has locks of its own
    fcntl = None  # type: ignore[assignment]

ARRAY = b"\x93NUMPY"  # how a stored array begins
EMPTY_LIMIT = 1 << 20  # items that an array without content may claim, such as rows of no columns
STALE_AFTER = 24 * 3600.0  # seconds without a change, for temporary files that cannot be locked
PART = re.compile(r"\..*\.ecselm-[0-9a-f]{32}\.part", re.DOTALL)  # a temporary file of ours
_NAME_KEPT = 50  # characters of a name in that of its temporary file, which may have 255 bytes
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}  # of some file systems
_LENGTH_BYTES = {1: 2, 2: 4, 3: 4}  # of a header's length, by version of NumPy's format
_HEADER_LIMIT = 10_000  # as NumPy's: longer ones are slow to parse


class FileWriteError(ValueError):
    """A file could not be written; what was there before is unchanged.

    Attributes
    ----------
    path : Path
        The file.
    reason : str
        Of the system, such as "No space left on device".
    """

    def __init__(self, path: Path, reason: str, name: str = "path") -> None:
        super().__init__(path, reason, name)  # which pickling needs: workers send errors
        self.path, self.reason, self.name = path, reason, name

    def __str__(self) -> str:
        return (
            f"{self.name} must be a file that can be written to, got {str(self.path)!r}: "
            f"{self.reason}"
        )


class InUseError(RuntimeError):
    """Another process works on the same files."""


def write_whole(path: Path, content: bytes, *, name: str = "path") -> None:
    """Replace the file by ``content``; on an error the old file stays.

    Parameters
    ----------
    path : path
    content : bytes
    name : str, default="path"
        Parameter or option that error messages name.

    Raises
    ------
    FileWriteError
        A ValueError with the name, the file and the reason.
    """
    with replacing(path, name=name) as part:
        part.write_bytes(content)


def append_whole(path: Path, content: bytes, *, name: str = "path") -> None:
    """Append to a file and return when it is on disk; on an error nothing is appended."""
    size = None
    try:
        with path.open("ab", buffering=0) as file:
            size = file.seek(0, os.SEEK_END)
            left = memoryview(content)
            while left:  # the system may take less than all
                left = left[file.write(left) :]
            os.fsync(file.fileno())
    except BaseException as error:
        if size is not None:
            with contextlib.suppress(OSError):  # readers ignore a line without its end
                os.truncate(path, size)
        if isinstance(error, OSError):
            raise FileWriteError(path, _reason(error), name) from error
        raise


def make_folder(path: Path, *, name: str = "path") -> None:
    """Create a folder and those above it if they do not exist, or raise FileWriteError."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileWriteError(path, _reason(error), name) from error


@contextlib.contextmanager
def replacing(path: Path, *, name: str = "path") -> Iterator[Path]:
    """Yield a temporary file that replaces ``path`` at the end of the block.

    On an error the old file stays, and the temporary file is removed. An OSError of the block is
    taken for one of writing, except that of a closed pipe.

    Parameters
    ----------
    path : path
    name : str, default="path"
        Parameter or option that error messages name.
    """
    try:
        with temporary(path) as part:
            yield part
            with part.open("rb+") as file:
                os.fsync(file.fileno())
            with contextlib.suppress(OSError):  # a new file, or one of another owner
                part.chmod(stat.S_IMODE(path.stat().st_mode))
            part.replace(path)
            _sync_folder(path.parent)
    except BrokenPipeError:  # of standard output, not of a file
        raise
    except OSError as error:
        raise FileWriteError(path, _reason(error), name) from error


@contextlib.contextmanager
def temporary(path: Path) -> Iterator[Path]:
    """Yield an empty file next to ``path``, which is removed at the end unless it was renamed.

    Temporary files that killed processes have left in the folder are removed first.
    """
    check_name(path)
    _remove_stale(path.parent)
    part, descriptor = _create_part(path)
    try:
        yield part
    finally:
        with contextlib.suppress(OSError):  # the error that ended the block counts
            part.unlink(missing_ok=True)
        if descriptor is not None:
            os.close(descriptor)


def _create_part(path: Path) -> tuple[Path, int | None]:
    """Return a new temporary file and the descriptor that holds its lock, if there are locks."""
    while True:
        part = path.with_name(f".{path.name[:_NAME_KEPT]}.ecselm-{uuid4().hex}.part")
        descriptor = os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
        if fcntl is None:  # an open file cannot be renamed on Windows
            os.close(descriptor)
            return part, None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError:  # a file system without locks: age tells which files are stale
            return part, descriptor
        if os.fstat(descriptor).st_nlink:
            return part, descriptor
        os.close(descriptor)  # another process removed it before it was locked


def _remove_stale(folder: Path) -> None:
    """Remove temporary files whose processes have ended; those in use stay."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if PART.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                with contextlib.suppress(OSError):  # removed meanwhile, or of another user
                    _remove_if_stale(entry)


def _remove_if_stale(entry: os.DirEntry[str]) -> None:
    is_old = time.time() - entry.stat(follow_symlinks=False).st_mtime > STALE_AFTER
    if fcntl is None:
        if is_old:
            Path(entry.path).unlink()
        return
    descriptor = os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        Path(entry.path).unlink()
    except OSError as error:
        if error.errno in _NO_LOCKS and is_old:
            Path(entry.path).unlink()
    finally:
        os.close(descriptor)


def _sync_folder(folder: Path) -> None:
    """Bring a renaming to disk where the system can; the file itself is there already."""
    if fcntl is None:
        return
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _reason(error: OSError) -> str:
    if error.errno is not None:  # libraries add words of their own
        return os.strerror(error.errno)
    return " ".join(str(error).split()) or type(error).__name__


@contextlib.contextmanager
def locked(path: Path, refusal: str, *, name: str = "path") -> Iterator[None]:
    """Hold a lock file, or raise InUseError while another process holds it.

    The system releases the lock when the process ends, however it does: a lock file that was left
    behind is taken over. File systems without locks are not protected.

    Parameters
    ----------
    path : path
        The lock file; it is removed at the end.
    refusal : str
        Message of the error; the process that holds the lock is added.
    name : str, default="path"
        Parameter or option that error messages name where the file cannot be written.
    """
    descriptor = _acquire(path, refusal, name)
    try:
        with contextlib.suppress(OSError):  # who holds it is only for a message
            os.truncate(descriptor, 0)
            os.write(descriptor, f"{os.getpid()}\n".encode())
        yield
    finally:
        # Removed while it is locked: who opened it meanwhile finds that it is gone.
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
        os.close(descriptor)


def _acquire(path: Path, refusal: str, name: str) -> int:
    """Return the descriptor of a locked file."""
    while True:
        try:
            descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o666)
        except OSError as error:
            raise FileWriteError(path, _reason(error), name) from error
        try:
            _lock(descriptor)
            if _is_same(descriptor, path):
                return descriptor
        except (BlockingIOError, PermissionError):
            owner = _owner(path)
            os.close(descriptor)
            raise InUseError(f"{refusal}{owner}") from None
        except OSError as error:
            if error.errno in _NO_LOCKS:
                return descriptor
            os.close(descriptor)
            raise FileWriteError(path, _reason(error), name) from error
        os.close(descriptor)  # the holder removed the file meanwhile


def _lock(descriptor: int) -> None:
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return
    import msvcrt  # noqa: PLC0415

    windows: Any = msvcrt
    os.lseek(descriptor, 1 << 20, os.SEEK_SET)  # beyond the content, which others may read
    windows.locking(descriptor, windows.LK_NBLCK, 1)
    os.lseek(descriptor, 0, os.SEEK_SET)


def _is_same(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _owner(path: Path) -> str:
    """Return words about the process in a lock file, none while it is being written."""
    with contextlib.suppress(OSError, ValueError):
        return f" (process {int(path.read_text(encoding='ascii')[:20])})"
    return ""


def read_whole(path: Path) -> bytes:
    """Return the content of a regular file, or raise OSError.

    Devices and pipes are refused unread: they have no size that bounds what they return, and
    opening a pipe may wait forever.
    """
    check_name(path)
    with open(path, "rb", opener=_open_at_once) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it must be a regular file, not a device or a pipe")
        try:
            return file.read(status.st_size)  # a file that grows meanwhile is not read further
        except MemoryError as error:
            raise OSError(errno.ENOMEM, f"its {status.st_size} bytes exceed the memory") from error


def check_name(path: Path, name: str = "path") -> None:
    """Raise ValueError for a name that no file can have."""
    if "\0" in str(path):
        raise ValueError(f"{name} must not hold the character NUL, got {str(path)!r}")


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
