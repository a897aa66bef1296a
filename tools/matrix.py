"""Test the built package with several Pythons, and with minimum and newest dependencies.

The sdist and the wheel are built once. Every environment gets the wheel, installed with the
versions in question, and runs the tests of the unpacked sdist. ``make test-matrix`` prints the
table; ``python tools/matrix.py --constraints minimum`` prints the lower bounds alone.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
OLDEST = "3.11"
PYTHONS = (OLDEST, "3.12", "3.13", "3.14")
VERSIONS = ("minimum", "newest")
# A part of every layer that a version of a dependency may break, in some minutes.
QUICK = (
    "tests/linalg",
    "tests/layers",
    "tests/tables",
    *(f"tests/search/test_{name}.py" for name in ("searches", "space")),
    *(f"tests/costs/test_{name}.py" for name in ("parse_cost", "cost_constraints", "knowledge")),
    *(f"tests/metrics/test_{name}.py" for name in ("registry", "cost_scorers")),
    *(f"tests/estimators/test_{name}.py" for name in ("equations", "input", "probabilities")),
    *(f"tests/estimators/test_{name}.py" for name in ("routing", "prior_test", "common")),
    *(f"tests/saving/test_{name}.py" for name in ("trusted", "round_trip", "files")),
    *(f"tests/cli/test_{name}.py" for name in ("main", "tables", "models", "product")),
    "tests/test_package.py",
)
SHOWN = ("numpy", "scipy", "scikit-learn", "pandas")
# What users install; tools for development are always the newest.
DEVELOPMENT = {"docs", "test", "bench", "bench-gpl", "fuzz", "release"}


@dataclass(frozen=True)
class Environment:
    """One row of the matrix."""

    python: str
    versions: str

    @property
    def name(self) -> str:
        """Return the name of its folder."""
        return f"{self.python}-{self.versions}"


@dataclass(frozen=True)
class Outcome:
    """What an environment did."""

    environment: Environment
    result: str
    installed: tuple[str, ...] = ("",) * len(SHOWN)
    seconds: float = 0.0
    failed: bool = False

    def cells(self) -> tuple[str, ...]:
        """Return the row of the table."""
        one = self.environment
        took = f"{self.seconds:.0f} s" if self.seconds else ""
        return one.python, one.versions, *self.installed, self.result, took


def lower_bounds(pyproject: str) -> list[str]:
    r"""Return the constraints that pin every dependency of users to its lower bound.

    Examples
    --------
    >>> text = '[project]\ndependencies = ["numpy>=1.26"]\noptional-dependencies = {}'
    >>> lower_bounds(text)
    ['numpy==1.26']
    """
    project = tomllib.loads(pyproject)["project"]
    texts = list(project["dependencies"])
    for extra, requirements in project["optional-dependencies"].items():
        texts += [] if extra in DEVELOPMENT else requirements
    pinned: dict[str, str] = {}
    for requirement in map(Requirement, texts):
        name = canonicalize_name(requirement.name)
        if name == "ecselm":
            continue
        bounds = [one.version for one in requirement.specifier if one.operator == ">="]
        if len(bounds) != 1:
            raise ValueError(f"{name} must have one lower bound, got {requirement}")
        if pinned.setdefault(name, bounds[0]) != bounds[0]:
            raise ValueError(f"{name} must have one lower bound, got {pinned[name]}, {bounds[0]}")
    return [f"{name}=={version}" for name, version in sorted(pinned.items())]


def environments(pythons: Sequence[str]) -> list[Environment]:
    """Return the minimum versions with the oldest Python, the newest with each."""
    oldest = [Environment(OLDEST, "minimum")] if OLDEST in pythons else []
    return [*oldest, *(Environment(python, "newest") for python in pythons)]


def interpreter(version: str) -> str | None:
    """Return the path of a Python: on PATH, of pyenv, or of uv."""
    candidates = [shutil.which(f"python{version}")]
    folder = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates += [str(one / "bin/python") for one in sorted(folder.glob(f"{version}.*"))]
    if uv := shutil.which("uv"):
        found = _output([uv, "python", "find", version])
        candidates.append(found.strip() if found else None)
    for path in filter(None, candidates):
        if (
            _output([path, "-c", "import sys; print(*sys.version_info[:2], sep='.')"]) or ""
        ).strip() == version:
            return path
    return None


def build(folder: Path) -> tuple[Path, Path]:
    """Build the sdist, and the wheel from it; return the wheel and the unpacked sdist."""
    dist, source = folder / "dist", folder / "source"
    for old in (dist, source):
        shutil.rmtree(old, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "build", "--outdir", str(dist), str(ROOT)], check=True)
    (sdist,), (wheel,) = dist.glob("*.tar.gz"), dist.glob("*.whl")
    with tarfile.open(sdist) as archive:
        archive.extractall(source, filter="data")
    (unpacked,) = source.iterdir()
    return wheel, unpacked


def run(one: Environment, folder: Path, wheel: Path, source: Path, tests: list[str]) -> Outcome:
    """Make the environment, install the wheel, run the tests."""
    python = interpreter(one.python)
    if python is None:
        return Outcome(one, "no such Python here")
    start = time.perf_counter()
    place = folder / one.name
    constraints = folder / f"{one.name}.txt"
    lines = lower_bounds((ROOT / "pyproject.toml").read_text()) if one.versions == "minimum" else []
    constraints.write_text("\n".join(lines) + "\n")
    subprocess.run([python, "-m", "venv", "--clear", str(place)], check=True)
    own = str(place / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))
    wanted = f"ecselm[test] @ {wheel.resolve().as_uri()}"
    install = [own, "-m", "pip", "install", "--quiet", "--constraint", str(constraints), wanted]
    if uv := shutil.which("uv"):
        install = [uv, "pip", "install", "--quiet", "--python", own, *install[5:]]
    log = folder / f"{one.name}.log"
    with log.open("w") as stream:
        if subprocess.run(install, stdout=stream, stderr=stream, check=False).returncode:
            return Outcome(one, f"not installed, see {log}", failed=True)
        done = subprocess.run(
            [own, "-m", "pytest", "-p", "no:cacheprovider", *tests],
            cwd=source,
            env={**os.environ, "ECSELM_MATRIX": one.versions},
            stdout=stream,
            stderr=stream,
            check=False,
        )
    code = "from importlib.metadata import version as v; import sys; print(*map(v, sys.argv[1:]))"
    installed = tuple((_output([own, "-c", code, *SHOWN]) or "").split())
    return Outcome(
        one, summary(log), installed, time.perf_counter() - start, failed=done.returncode != 0
    )


def summary(log: Path) -> str:
    """Return the last line of pytest's output that counts tests."""
    counted = re.findall(
        r"^=*\s*(\d+ (?:passed|failed|error|skipped).*?) in [\d.]+", log.read_text(), re.MULTILINE
    )
    return counted[-1] if counted else f"no tests were run, see {log}"


def table(outcomes: list[Outcome]) -> str:
    """Return the table of all environments in Markdown."""
    header = ("Python", "versions", *SHOWN, "tests", "time")
    rows = [header, tuple("---" for _ in header), *(one.cells() for one in outcomes)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _output(command: list[str]) -> str | None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return None if done.returncode else done.stdout


def main(arguments: list[str] | None = None) -> int:
    """Run the matrix and print its table, or print the constraints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--constraints", choices=VERSIONS, help="print these, and run nothing")
    parser.add_argument("--pythons", default=",".join(PYTHONS), help="versions, by commas")
    parser.add_argument("--folder", type=Path, default=ROOT / "build/matrix", help="environments")
    parser.add_argument("--quick", action="store_true", help="run a part of every layer")
    parser.add_argument("tests", nargs="*", help="arguments of pytest (default: -n 2 tests)")
    args = parser.parse_args(arguments)
    if args.constraints:
        pyproject = (ROOT / "pyproject.toml").read_text()
        print("\n".join(lower_bounds(pyproject) if args.constraints == "minimum" else []))
        return 0
    args.folder.mkdir(parents=True, exist_ok=True)
    wheel, source = build(args.folder)
    tests = args.tests or (list(QUICK) if args.quick else ["-n", "2", "tests"])
    outcomes = []
    for one in environments(args.pythons.split(",")):
        outcomes.append(run(one, args.folder, wheel, source, tests))
        print(" | ".join(outcomes[-1].cells()), flush=True)
    print(f"\n{table(outcomes)}")
    return any(one.failed for one in outcomes)


if __name__ == "__main__":
    sys.exit(main())
