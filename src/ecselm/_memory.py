"""The memory limit of a search."""

from __future__ import annotations

import os
import re
from pathlib import Path

SHARE = 0.25  # of the free memory, used by default
UNKNOWN = 4 << 30  # assumed to be free where the system does not report it
NEGLIGIBLE = 1 << 26  # 64 MiB, less than the libraries take
UNITS = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}

_CGROUP = Path("/sys/fs/cgroup")
_MEMINFO = Path("/proc/meminfo")


def memory_limit(stated: int | float | str | None) -> int:
    """Return a limit in bytes: ``stated``, or by default a quarter of the free memory.

    Examples
    --------
    >>> memory_limit("2 GiB"), memory_limit(1e6)
    (2147483648, 1000000)
    """
    if stated is None:
        return int(SHARE * free_memory())
    if not isinstance(stated, str):
        return int(stated)
    match = re.fullmatch(r"\s*([0-9.]+)\s*([kmgt]?)(i?b)?\s*", stated.lower())
    try:
        limit = int(float(match[1]) * 2 ** UNITS[match[2]])  # type: ignore[index]
    except (TypeError, ValueError, OverflowError):
        limit = 0
    if limit <= 0:
        raise ValueError(f"memory_limit must be bytes or a text such as '2 GiB', got {stated!r}")
    return limit


def refuse_beyond(needed: int, limit: int, what: str) -> None:
    """Raise ValueError if ``what`` takes more bytes than the limit.

    Up to ``NEGLIGIBLE`` bytes nothing is refused: a limit then asks for the slowest and
    smallest way of computing, whatever it says.

    Examples
    --------
    >>> refuse_beyond(10, 20, "a row")
    >>> refuse_beyond(3 << 30, 1 << 30, "20000 rows of 10000 classes")
    Traceback (most recent call last):
        ...
    ValueError: memory_limit must be at least 3221225472 bytes (3.00 GiB), which 20000 rows of
    10000 classes take, got 1073741824
    """
    if needed > max(limit, NEGLIGIBLE):
        raise ValueError(
            f"memory_limit must be at least {needed} bytes ({needed / 2**30:.2f} GiB), which "
            f"{what} take, got {limit}"
        )


def free_memory() -> int:
    """Return the free memory of this container or machine in bytes."""
    known = [free for free in (_free_in_cgroup(), _free_in_system()) if free is not None]
    return min(known, default=UNKNOWN)


def _free_in_system() -> int | None:
    try:
        found = re.search(r"MemAvailable:\s+(\d+) kB", _MEMINFO.read_text())
        return int(found[1]) * 1024 if found else None
    except OSError:  # not Linux
        names = getattr(os, "sysconf_names", {})
        if "SC_PHYS_PAGES" not in names:
            return None
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


def _free_in_cgroup() -> int | None:
    try:
        limit = (_CGROUP / "memory.max").read_text().strip()
        used = int((_CGROUP / "memory.current").read_text())
        return None if limit == "max" else max(0, int(limit) - used)
    except (OSError, ValueError):
        return None
