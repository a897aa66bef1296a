"""Find and load the compiled library, if there is one."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
SWITCH = "ECSELM_COMPILED"

_off = [os.environ.get(SWITCH, "1") == "0"]


@cache
def _loaded() -> tuple[str, ctypes.CDLL] | None:
    """Return the fastest library that this processor can run, with its name."""
    plain = _open("plain")
    if plain is None:
        return None
    fast = _open("avx2") if plain.ecselm_has_avx2() else None
    return ("plain", plain) if fast is None else ("avx2", fast)


def _open(name: str) -> ctypes.CDLL | None:
    try:
        opened = ctypes.CDLL(str(FOLDER / f"{name}.so"))
    except OSError:  # not built, or for another machine
        return None
    opened.ecselm_count_checked.restype = ctypes.c_size_t
    return opened


def library() -> ctypes.CDLL:
    """Return the library; ask :func:`is_available` first."""
    loaded = _loaded()
    if loaded is None:
        raise RuntimeError("ecselm must be installed with a C compiler for this, got none")
    return loaded[1]


def is_available() -> bool:
    """Tell whether the compiled path is there and switched on."""
    return not _off[-1] and _loaded() is not None


def path_name() -> str:
    """Return what solves: "compiled, avx2", "compiled, plain" or "LAPACK".

    Examples
    --------
    >>> with disabled():
    ...     path_name()
    'LAPACK'
    """
    loaded = _loaded()
    return f"compiled, {loaded[0]}" if loaded and is_available() else "LAPACK"


@contextmanager
def disabled() -> Iterator[None]:
    """Make engines that are built meanwhile solve through LAPACK."""
    _off.append(True)
    try:
        yield
    finally:
        _off.pop()
