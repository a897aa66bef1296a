"""Write the golden record again: ``python -m tests.golden.record [--arrays DIR]``.

To be run where results are meant to change, and only there. Both paths are recorded, that of
the compiled library and that of LAPACK, each in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tests.golden.results import PATHS, RECORD, Arrays, Entry, cases, entry, machine, path, run

ROOT = Path(__file__).parents[2]


def main() -> None:
    """Record both paths, or the one that a parent process asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arrays", type=Path, help="a folder for the numbers in full, as .npz")
    parser.add_argument("--output", type=Path, default=RECORD, help="the record to be written")
    parser.add_argument("--path", choices=PATHS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.path:
        sys.stdout.write(json.dumps(recorded(options.arrays)))
        return
    found = {}
    for name in PATHS:
        found[name] = in_process("tests.golden.record", name, options.arrays)
        seconds = found[name].pop("seconds")
        sys.stderr.write(f"{name}: {len(found[name]['cases'])} cases, {seconds:.0f} s\n")
    options.output.write_text(as_text(found))


def in_process(module: str, name: str, arrays: Path | None, *more: str) -> Any:
    """Return what a module writes as JSON when it is run with a path of its own."""
    folder = [] if arrays is None else ["--arrays", str(arrays.resolve())]
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", module, "--path", name, *folder, *more],
        env={**os.environ, "ECSELM_COMPILED": PATHS[name]},
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def recorded(arrays: Path | None) -> dict[str, Any]:
    """Return the record of the path that this process takes."""
    if path() != ("compiled" if os.environ.get("ECSELM_COMPILED") != "0" else "LAPACK"):
        raise RuntimeError("the compiled library must be there to be recorded: pip install -e .")
    start = time.perf_counter()
    entries = {}
    for case, made, values in ran():
        entries[case] = made
        if arrays is not None:
            file = array_file(arrays, case)
            file.parent.mkdir(parents=True, exist_ok=True)
            np.savez(file, **values)
    return {"machine": machine(), "cases": entries, "seconds": time.perf_counter() - start}


def ran(only: tuple[str, ...] = ()) -> Iterator[tuple[str, Entry, Arrays]]:
    """Yield the name of a case, what is to be recorded of it, and its numbers in full."""
    for configuration, data_set in cases():
        if only and configuration not in only:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # tests look at these
            values, texts = run(configuration, data_set)
        yield f"{configuration} on {data_set}", entry(values, texts), values


def array_file(folder: Path, case: str) -> Path:
    """Return the file that holds the numbers of a case in full."""
    return folder / path() / f"{case}.npz"


def as_text(record: dict[str, Any]) -> str:
    """Return the record as JSON with a line per number, so that changes can be read."""
    text = json.dumps(record, indent=1, sort_keys=True)
    return re.sub(r"\n {5,}|\n {4}(?=\])", "", text) + "\n"


if __name__ == "__main__":
    main()
