"""Under which conditions the numbers were measured."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import joblib

from benchmarks.opponents import PEERS
from benchmarks.rivals import INTELELM
from benchmarks.search import SEARCHES

PACKAGES = ("ecselm", "numpy", "scipy", "scikit-learn")
FLAGS = ("avx", "avx2", "fma", "avx512f", "avx512dq", "asimd", "sve")  # what NumPy looks for


@dataclass(frozen=True, slots=True)
class Conditions:
    """The date, the processor, and the versions of everything that was run."""

    date: str
    quick: bool
    python: str
    versions: dict[str, str]
    cpu: str
    flags: list[str]
    cores: int


def present_conditions(quick: bool) -> Conditions:
    """Return the conditions of this process."""
    cpu, flags = _processor(Path("/proc/cpuinfo"))
    return Conditions(
        date=datetime.now(UTC).date().isoformat(),
        quick=quick,
        python=platform.python_version(),
        versions={name: version(name) for name in PACKAGES}
        | {peer.distribution: peer.version for peer in (*PEERS, *SEARCHES, INTELELM)},
        cpu=cpu,
        flags=flags,
        cores=joblib.cpu_count(),
    )


def _processor(path: Path) -> tuple[str, list[str]]:
    """Return model and flags, as Linux tells them; elsewhere only what Python knows."""
    if not os.access(path, os.R_OK):
        return platform.processor() or platform.machine(), []
    lines = [line.partition(":") for line in path.read_text().splitlines()]
    entries = {name.strip().lower(): value.strip() for name, _, value in lines}
    flags = entries.get("flags", entries.get("features", "")).split()
    return entries.get("model name", platform.machine()), [flag for flag in FLAGS if flag in flags]
