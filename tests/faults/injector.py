"""Let the n-th call of an operation on files fail, as SQLite's tests do for every n.

Python's own files are wrapped at the level of the system's calls, below their buffers, so that a
failure may come late, when a buffer is flushed or a file is closed. What libraries write without
Python, such as Parquet files, is stopped by a limit of the file size instead.
"""

import builtins
import errno
import io
import mmap
import os
import resource
import threading
from contextlib import ExitStack, contextmanager
from pathlib import Path
from unittest import mock

import numpy as np

from ecselm._files import PART

OPERATIONS = {
    "open": ("ENOSPC", "EIO", "EINTR", "EACCES", "EROFS"),
    "read": ("EIO", "EINTR"),
    "write": ("ENOSPC", "EIO", "EINTR"),
    "fsync": ("ENOSPC", "EIO", "EINTR"),
    "replace": ("ENOSPC", "EIO", "EACCES"),
    "mkdir": ("ENOSPC", "EROFS"),
    "mmap": ("ENOMEM", "MemoryError"),
    "memory": ("MemoryError",),
}
ALLOCATIONS = ("concatenate", "empty", "ones", "stack", "vstack", "zeros", "tile", "repeat")
SAFE_SIZE = 1 << 26  # bytes of a file: whatever a fault leads to, it fills no disk
REAL_OPEN, CURRENT = io.open, os.getcwd


def error_of(name):
    """Return a new error as the system raises it."""
    if name == "MemoryError":
        return MemoryError()
    code = getattr(errno, name)
    return OSError(code, os.strerror(code))


class Injector:
    """Let the n-th call of an operation fail, for files below a folder.

    Parameters
    ----------
    folder : path
        Other files are left alone; steps that take memory fail wherever they are.
    operation : str
        One of OPERATIONS.
    n : int
        Which call fails, from 1.
    error : str
        Name of the error.
    lasting : bool, default=False
        Whether all later calls fail, too, as on a disk that stays full.

    Attributes
    ----------
    fired : bool
        Whether there were n calls.
    """

    def __init__(self, folder, operation, n, error, *, lasting=False):
        if lasting and error == "EINTR":
            raise ValueError("an interrupted call is repeated, without an end if all fail")
        self.folder, self.operation, self.n = os.path.realpath(folder), operation, n
        self.error, self.lasting = error, lasting
        self.count, self._lock, self._patches = 0, threading.Lock(), ExitStack()

    def __repr__(self):
        return f"{self.error} at {self.operation} {self.n}{' and later' if self.lasting else ''}"

    @property
    def fired(self):
        return self.count >= self.n

    def is_due(self, operation):
        """Count a call, and return whether it has to fail."""
        if operation != self.operation:
            return False
        with self._lock:
            self.count += 1
            return self.count == self.n or (self.lasting and self.fired)

    def step(self, operation):
        if self.is_due(operation):
            raise error_of(self.error)

    def is_inside(self, file):
        """Return whether a path or a descriptor belongs to the folder."""
        try:
            if isinstance(file, int):
                place = str(Path(f"/proc/self/fd/{file}").readlink())
            else:
                place = os.path.join(CURRENT(), os.fsdecode(file))  # noqa: PTH118  as it is given
        except (OSError, TypeError, ValueError):
            return False
        return place.startswith(self.folder + os.sep) or place == self.folder

    def __enter__(self):
        replaced = [(builtins, "open", self._open), (io, "open", self._open)]
        for name, operation in (
            ("open", "open"),
            ("fsync", "fsync"),
            ("replace", "replace"),
            ("rename", "replace"),
            ("mkdir", "mkdir"),
        ):
            replaced.append((os, name, self._called(getattr(os, name), operation)))
        replaced.append((os, "write", self._write))
        if self.operation == "mmap":
            replaced.append((mmap, "mmap", self._map()))
        if self.operation == "memory":
            replaced += [
                (np, name, self._everywhere(getattr(np, name), "memory")) for name in ALLOCATIONS
            ]
        self._patches.enter_context(file_size_limit(SAFE_SIZE))
        for place, name, function in replaced:
            self._patches.enter_context(mock.patch.object(place, name, function))
        return self

    def __exit__(self, *_):
        self._patches.close()

    def _called(self, real, operation):
        def called(*args, **options):
            if any(self.is_inside(one) for one in args[:2]):
                self.step(operation)
            return real(*args, **options)

        return called

    def _everywhere(self, real, operation):
        def called(*args, **options):
            self.step(operation)
            return real(*args, **options)

        return called

    def _map(self):
        class Map(mmap.mmap):  # a class, as others ask for instances of it
            def __new__(cls, *args, **options):
                self.step("mmap")
                return super().__new__(cls, *args, **options)

        return Map

    def _write(self, descriptor, content, real=os.write):
        if self.is_inside(descriptor) and self.is_due("write"):
            real(descriptor, self.half(content))
            raise error_of(self.error)
        return real(descriptor, content)

    def half(self, content):
        """Return what a failing write leaves: half, but nothing where the call is repeated."""
        return b"" if self.error == "EINTR" else bytes(content)[: len(content) // 2]

    def _open(
        self, file, mode="r", buffering=-1, encoding=None, errors=None, newline=None,
        closefd=True, opener=None,
    ):  # fmt: skip
        if isinstance(file, int) or not self.is_inside(file):
            return REAL_OPEN(file, mode, buffering, encoding, errors, newline, closefd, opener)
        self.step("open")
        raw = FaultyFile(self, file, mode.replace("b", "").replace("t", ""), closefd, opener)
        if buffering == 0:
            return raw
        kinds = {(True, True): io.BufferedRandom, (False, True): io.BufferedWriter}
        kind = kinds.get((raw.readable(), raw.writable()), io.BufferedReader)
        buffer = kind(raw)
        if "b" in mode:
            return buffer
        text = io.TextIOWrapper(buffer, encoding, errors, newline, buffering == 1)
        text.mode = mode
        return text


class FaultyFile(io.FileIO):
    """A file without a buffer whose reads and writes may fail; a failed write leaves a half."""

    def __init__(self, injector, file, mode, closefd, opener):
        self._injector = injector
        super().__init__(file, mode, closefd, opener)

    def write(self, content):
        if self._injector.is_due("write"):
            super().write(self._injector.half(content))
            raise error_of(self._injector.error)
        return super().write(content)

    def readinto(self, buffer):
        self._injector.step("read")
        return super().readinto(buffer)

    def readall(self):
        self._injector.step("read")
        return super().readall()

    def read(self, size=-1):
        self._injector.step("read")
        return super().read(size)


def faults(folder, operation, error, *, lasting=False, every=True):
    """Yield a fault for n = 1, 2, ... until one has no call left to fail.

    Parameters
    ----------
    folder, operation, error, lasting : see Injector
    every : bool, default=True
        Whether n takes every value; otherwise 1, 2, 3, 5, 8, ... do.
    """
    n, step = 1, 1
    while True:
        fault = Injector(folder, operation, n, error, lasting=lasting)
        yield fault
        if not fault.fired:
            return
        n, step = (n + 1, 1) if every else (n + step, n)


@contextmanager
def file_size_limit(n_bytes):
    """Let the system refuse to write more bytes to a file, whichever library writes them."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def contents(folder):
    """Return the bytes of every file below a folder, by its relative path."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file()
    }


def leftovers(folder):
    """Return temporary files and locks that are left below a folder."""
    names = (path.name for path in Path(folder).rglob("*"))
    return [one for one in names if PART.fullmatch(one) or one.endswith((".part", "lock", ".tmp"))]
