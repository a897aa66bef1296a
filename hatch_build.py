"""Compile the C sources where there is a compiler; the package works without.

The same sources are compiled for any processor, for those with AVX2 and for those with
AVX-512, and the package takes at run time what the processor has. A build without a compiler,
or with one that knows no vector types, is a pure Python package that solves through LAPACK; so
is one with ``ECSELM_PURE=1``. The tag of a wheel says what its libraries need: they are
inspected for the version of glibc, so that ``python -m build`` makes wheels that a package index
takes.
"""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = Path("src/ecselm/_native")
# Contracting a product and a sum is left to the compiler; nothing else may be reordered.
COMMON = ["-O3", "-std=gnu11", "-fPIC", "-shared", "-fvisibility=hidden", "-Wno-psabi"]
AVX2 = ["-mavx2", "-mfma"]
AVX512 = [*AVX2, "-mavx512f", "-mavx512dq", "-mavx512bw", "-mavx512vl"]
VARIANTS = {"plain": [], "avx2": AVX2, "avx512": AVX512}


class CustomBuildHook(BuildHookInterface):
    """Compile into the source folder, for wheels and editable installs alike."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the libraries to the wheel, if they can be made."""
        folder = Path(self.root) / FOLDER
        made = [name for name, flags in VARIANTS.items() if _compile(folder, name, flags)]
        if "plain" in made or version == "editable":  # else an editable install may need them
            for stale in folder.glob("*.so"):
                if stale.stem not in made:
                    stale.unlink()
        if "plain" not in made:
            if not _is_pure():
                self.app.display_warning("no C compiler: ecselm is built without its compiled path")
            return
        build_data["artifacts"].append(f"/{FOLDER.as_posix()}/*.so")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{_platform_tag(sorted(folder.glob('*.so')))}"


def _compile(folder: Path, name: str, flags: list[str]) -> bool:
    compiler = _compiler()
    if compiler is None:
        return False
    sources = sorted(str(path) for path in folder.glob("*.c"))
    target, fresh = folder / f"{name}.so", folder / f"{name}.new"
    command = [*compiler, *COMMON, *_system_flags(folder), *flags, *sources]
    command += ["-o", str(fresh), "-lm"]
    done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603
    if done.returncode:
        fresh.unlink(missing_ok=True)
        return False
    fresh.replace(target)  # in one step: others may be using the old one
    return True


def _compiler() -> list[str] | None:
    """Return the compiler that CC names, or the first that is found."""
    if sys.platform == "win32" or _is_pure():
        return None
    for name in (os.environ.get("CC"), "cc", "gcc", "clang"):
        command = shlex.split(name or "")
        if command and shutil.which(command[0]):
            return command
        if command and name == os.environ.get("CC"):
            return None
    return None


def _is_pure() -> bool:
    """Tell whether a package without compiled libraries is asked for."""
    return os.environ.get("ECSELM_PURE", "0") not in {"", "0"}


def _system_flags(folder: Path) -> list[str]:
    if sys.platform == "darwin":
        return [f"-mmacosx-version-min={_macos_version()}", "-arch", platform.machine()]
    if sys.platform == "linux":
        return ["-include", str(folder / "glibc.h")]
    return []


def _macos_version() -> str:
    """Return the oldest macOS that the libraries are built for."""
    oldest = "11.0" if platform.machine() == "arm64" else "10.13"
    return os.environ.get("MACOSX_DEPLOYMENT_TARGET") or oldest


def _platform_tag(libraries: list[Path]) -> str:
    """Return the platform of a wheel with these libraries."""
    machine = platform.machine()
    if sys.platform == "darwin":  # Python may be universal, the libraries are for one processor
        major, minor = (*_macos_version().split("."), "0")[:2]
        return f"macosx_{major}_{minor}_{machine}"
    # Symbols of glibc carry the version that they came with. What stands beside glibc, or asks
    # for an unknown processor, is left to the system that it was built on.
    if platform.libc_ver()[0] == "glibc" and machine in {"x86_64", "aarch64"}:
        contents = b"".join(path.read_bytes() for path in libraries)
        needed = set(re.findall(rb"\0(lib\w+\.so[.\d]*)(?=\0)", contents))
        minors = [int(minor) for minor in re.findall(rb"\0GLIBC_2\.(\d+)", contents)]
        if minors and needed <= {b"libc.so.6", b"libm.so.6"}:
            return f"manylinux_2_{max(17, *minors)}_{machine}"
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")
