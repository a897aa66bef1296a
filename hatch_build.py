"""Compile the C sources where there is a compiler; the package works without.

The same sources are compiled twice, for any processor and for those with AVX2, and the
package takes at run time what the processor has. A build without a compiler, or with one
that knows no vector types, is a pure Python package that solves through LAPACK.
"""

from __future__ import annotations

import os
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
VARIANTS = {"plain": [], "avx2": ["-mavx2", "-mfma"]}


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
            self.app.display_warning("no C compiler: ecselm is built without its compiled path")
            return
        build_data["artifacts"].append(f"/{FOLDER.as_posix()}/*.so")
        build_data["pure_python"] = False
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"py3-none-{platform}"


def _compile(folder: Path, name: str, flags: list[str]) -> bool:
    compiler = _compiler()
    if compiler is None:
        return False
    sources = sorted(str(path) for path in folder.glob("*.c"))
    target, fresh = folder / f"{name}.so", folder / f"{name}.new"
    command = [*compiler, *COMMON, *flags, *sources, "-o", str(fresh), "-lm"]
    done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603
    if done.returncode:
        fresh.unlink(missing_ok=True)
        return False
    fresh.replace(target)  # in one step: others may be using the old one
    return True


def _compiler() -> list[str] | None:
    """Return the compiler that CC names, or the first that is found."""
    if sys.platform == "win32":
        return None
    for name in (os.environ.get("CC"), "cc", "gcc", "clang"):
        command = shlex.split(name or "")
        if command and shutil.which(command[0]):
            return command
        if command and name == os.environ.get("CC"):
            return None
    return None
