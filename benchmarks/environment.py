"""The environment of a run: date, processor and versions."""

from __future__ import annotations

import os
import platform
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import joblib

from benchmarks.baselines import ELM_PACKAGES
from benchmarks.optimizers import OPTIMIZERS
from benchmarks.searches import INTELELM
from benchmarks.timing import OMITTED

DISTRIBUTIONS = ("ecselm", "numpy", "scipy", "scikit-learn")
MOST_BUSY = 0.25  # cores that other processes may keep busy
LOOK = 3.0  # seconds for which they are watched
FLAGS = ("avx", "avx2", "fma", "avx512f", "avx512dq", "asimd", "sve")  # that NumPy dispatches on


@dataclass(frozen=True, slots=True)
class Environment:
    """The date, the processor, and the versions of all packages that were run."""

    date: str
    quick: bool
    python: str
    versions: dict[str, str]
    cpu: str
    flags: list[str]
    cores: int
    busy: float | None = field(default=None, metadata=OMITTED)  # cores, by other processes


def current_environment(quick: bool, *, timed: bool = False) -> Environment:
    """Return the environment of this process; ``timed`` refuses a machine that others keep busy.

    Ratios are of times measured side by side, but caches and memory are shared: the page of
    speed is not written from a busy machine. A ``quick`` run means nothing anyway.
    """
    busy = check_idle(Path("/proc/stat")) if timed and not quick else None
    cpu, flags = _processor(Path("/proc/cpuinfo"))
    packages = (*ELM_PACKAGES, *OPTIMIZERS, INTELELM)
    return Environment(
        date=datetime.now(UTC).date().isoformat(),
        quick=quick,
        python=platform.python_version(),
        versions={name: version(name) for name in DISTRIBUTIONS}
        | {package.distribution: package.version for package in packages},
        cpu=cpu,
        flags=flags,
        cores=joblib.cpu_count(),
        busy=busy,
    )


def check_idle(path: Path, look: float = LOOK) -> float | None:
    """Return how many cores others keep busy; raise RuntimeError if they are too many.

    None where the system does not tell.
    """
    if not os.access(path, os.R_OK):
        return None
    before, start = _busy_seconds(path), time.monotonic()
    time.sleep(look)
    busy = (_busy_seconds(path) - before) / (time.monotonic() - start)
    if busy > MOST_BUSY:
        raise RuntimeError(
            f"the machine must be idle for benchmarks: other processes must keep at most "
            f"{MOST_BUSY} cores busy, got {busy:.2f}"
        )
    return round(busy, 3)


def _busy_seconds(path: Path) -> float:
    """Return the seconds of all cores that were not idle since the start, by Linux's stat."""
    user, nice, system, _, _, *interrupted = map(int, path.read_text().splitlines()[0].split()[1:])
    stolen = interrupted[:3]  # by interrupts, and by other machines on the same processor
    return (user + nice + system + sum(stolen)) / os.sysconf("SC_CLK_TCK")


def _processor(path: Path) -> tuple[str, list[str]]:
    """Return model and flags from Linux's cpuinfo; on other systems the name Python reports."""
    if not os.access(path, os.R_OK):
        return platform.processor() or platform.machine(), []
    lines = [line.partition(":") for line in path.read_text().splitlines()]
    entries = {name.strip().lower(): value.strip() for name, _, value in lines}
    flags = entries.get("flags", entries.get("features", "")).split()
    return entries.get("model name", platform.machine()), [flag for flag in FLAGS if flag in flags]
