"""Count the instructions of the hot loops: ``python -m benchmarks.instructions``.

Unlike seconds, instructions do not depend on what else a machine does. Callgrind counts those
of one call of each loop on fixed data; the counts are kept in ``benchmarks/instructions.json``
and ``--compare`` prints how those of the sources differ, with an error where a loop needs more
than a twentieth more. Compilers differ too: counts are compared only with those of the same one.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.tables import table

HERE = Path(__file__).resolve().parent
SOURCES = HERE.parent / "src" / "ecselm" / "_native"
FILE = HERE / "instructions.json"
LOOPS = (
    "add_gram64",
    "add_gram32",
    "project64",
    "project32",
    "add_products",
    "solve_matrices",
    "count",
    "smooth",
)
FLAGS = ("-O3", "-std=gnu11", "-Wno-psabi", "-mavx2", "-mfma")  # Valgrind has no AVX-512
ALLOWED = 0.05  # share by which a count may grow


def missing() -> str | None:
    """Return why nothing can be counted here, or None."""
    for tool in ("gcc", "valgrind"):
        if shutil.which(tool) is None:
            return f"{tool} is not installed"
    if not list(SOURCES.glob("*.c")):
        return "the C sources are not here"
    return None


def compiler() -> str:
    """Return the name and version of the compiler."""
    done = subprocess.run(["gcc", "--version"], capture_output=True, text=True, check=True)  # noqa: S607
    return done.stdout.splitlines()[0]


def count(loops: Sequence[str] = LOOPS) -> dict[str, int]:
    """Return the instructions of one call of each loop."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "instructions"
        sources = [str(HERE / "instructions.c"), *map(str, sorted(SOURCES.glob("*.c")))]
        command = ["gcc", *FLAGS, *sources, "-o", str(program), "-lm"]
        subprocess.run(command, check=True)  # noqa: S603
        return {loop: _instructions(program, loop) for loop in loops}


def _instructions(program: Path, loop: str) -> int:
    command = ["valgrind", "--tool=callgrind", f"--toggle-collect=ecselm_{loop}"]
    command += [f"--callgrind-out-file={program.parent / loop}", str(program), loop]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    return int(re.findall(r"Collected : (\d+)", done.stderr)[0])


def comparison(kept: dict[str, int], now: dict[str, int]) -> str:
    """Return a table of kept and new counts.

    Examples
    --------
    >>> print(comparison({"count": 100}, {"count": 110}))
    | Loop | Kept | Now | Change |
    | --- | --- | --- | --- |
    | count | 100 | 110 | +10.0 % |
    """
    rows = [
        [loop, str(kept[loop]), str(n), f"{100.0 * (n / kept[loop] - 1.0):+.1f} %"]
        if loop in kept
        else [loop, "", str(n), "new"]
        for loop, n in now.items()
    ]
    return table(["Loop", "Kept", "Now", "Change"], rows)


def grown(kept: dict[str, int], now: dict[str, int]) -> list[str]:
    """Return the loops that need more instructions than allowed."""
    return [loop for loop, n in now.items() if n > (1.0 + ALLOWED) * kept.get(loop, n)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Count, and keep the counts or compare them with those kept."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.instructions")
    parser.add_argument("--compare", action="store_true", help="compare with the kept counts")
    options = parser.parse_args(arguments)
    if reason := missing():
        print(f"skipped: {reason}")
        return 0
    now = count()
    if not options.compare:
        FILE.write_text(json.dumps({"compiler": compiler(), "counts": now}, indent=2) + "\n")
        print(f"wrote {FILE}")
        return 0
    kept = json.loads(FILE.read_text())
    print(comparison(kept["counts"], now))
    if kept["compiler"] != compiler():
        print(f"not compared: kept by {kept['compiler']}, this is {compiler()}")
        return 0
    return 1 if grown(kept["counts"], now) else 0


if __name__ == "__main__":
    sys.exit(main())
