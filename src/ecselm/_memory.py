"""How much memory a search may use for what it keeps."""

from __future__ import annotations

import os
import re
from pathlib import Path

SHARE = 0.25  # of what is free, unless a person says otherwise
UNKNOWN = 4 << 30  # taken as free where the system does not tell
UNITS = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}

_GROUPS = Path("/sys/fs/cgroup")
_SYSTEM = Path("/proc/meminfo")


def memory_limit(stated: int | float | str | None) -> int:
    """Return a limit in bytes: as stated, or a quarter of what is free now.

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


def free_memory() -> int:
    """Return the bytes that are free here: in this container, or on this machine."""
    known = [free for free in (_free_in_group(), _free_in_system()) if free is not None]
    return min(known, default=UNKNOWN)


def _free_in_system() -> int | None:
    try:
        found = re.search(r"MemAvailable:\s+(\d+) kB", _SYSTEM.read_text())
        return int(found[1]) * 1024 if found else None
    except OSError:  # not Linux
        names = getattr(os, "sysconf_names", {})
        if "SC_PHYS_PAGES" not in names:
            return None
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


def _free_in_group() -> int | None:
    try:
        limit = (_GROUPS / "memory.max").read_text().strip()
        used = int((_GROUPS / "memory.current").read_text())
        return None if limit == "max" else max(0, int(limit) - used)
    except (OSError, ValueError):
        return None
