"""The environment of a run: date, processor and versions."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import joblib

from benchmarks.baselines import ELM_PACKAGES
from benchmarks.optimizers import OPTIMIZERS
from benchmarks.searches import INTELELM

DISTRIBUTIONS = ("ecselm", "numpy", "scipy", "scikit-learn")
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


def current_environment(quick: bool) -> Environment:
    """Return the environment of this process."""
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
    )


def _processor(path: Path) -> tuple[str, list[str]]:
    """Return model and flags from Linux's cpuinfo; on other systems the name Python reports."""
    if not os.access(path, os.R_OK):
        return platform.processor() or platform.machine(), []
    lines = [line.partition(":") for line in path.read_text().splitlines()]
    entries = {name.strip().lower(): value.strip() for name, _, value in lines}
    flags = entries.get("flags", entries.get("features", "")).split()
    return entries.get("model name", platform.machine()), [flag for flag in FLAGS if flag in flags]
