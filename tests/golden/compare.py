"""Compare with the golden record: ``python -m tests.golden.compare [NAMES] [--arrays DIR]``.

Prints, by configuration, what differs from the record, for both paths; with the numbers in full
that ``record --arrays DIR`` has left, the greatest relative difference of each. The exit code
is 1 where something differs.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from tests.golden.configurations import CONFIGURATIONS
from tests.golden.record import array_file, in_process, ran
from tests.golden.results import PATHS, RECORD, Arrays, differences, machine


def main() -> None:
    """Compare both paths, or the one that a parent process asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="configurations, all by default")
    parser.add_argument("--arrays", type=Path, help="the folder of the numbers in full")
    parser.add_argument("--record", type=Path, default=RECORD, help="the record to compare with")
    parser.add_argument("--path", choices=PATHS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    unknown = set(options.names) - set(CONFIGURATIONS)
    if unknown:
        parser.error(f"no configuration is called {', '.join(sorted(unknown))}")
    if options.path:
        sys.stdout.write(json.dumps(compared(options)))
        return
    more = [*options.names, "--record", str(options.record.resolve())]
    found = {
        name: in_process("tests.golden.compare", name, options.arrays, *more) for name in PATHS
    }
    for name, report in found.items():
        sys.stdout.write(described(name, report))
    sys.exit(any(report["differ"] for report in found.values()))


def compared(options: Any) -> dict[str, Any]:
    """Return what differs on the path that this process takes."""
    record = json.loads(options.record.read_text())[options.path]
    same = record["machine"] == machine()
    report: dict[str, Any] = {"same_machine": same, "n_cases": 0, "differ": {}}
    for case, now, values in ran(tuple(options.names)):
        report["n_cases"] += 1
        old = record["cases"].get(case)
        if old is None:
            report["differ"][case] = {"all": "is not in the record"}
            continue
        configuration = CONFIGURATIONS[case.partition(" ")[0]]
        told = differences(now, old, configuration, same_machine=same)
        if told and options.arrays is not None:
            told = with_distances(told, values, array_file(options.arrays, case))
        if told:
            report["differ"][case] = told
    return report


def with_distances(told: dict[str, str], values: Arrays, file: Path) -> dict[str, str]:
    """Return the sentences with the greatest relative difference where both arrays are there."""
    if not file.exists():
        return {**told, "all": f"no {file.name} to compare with"}
    with np.load(file) as old:
        return {
            name: said + _distance(values[name], old[name])
            if name in values and name in old and values[name].shape == old[name].shape
            else said
            for name, said in told.items()
        }


def _distance(new: np.ndarray, old: np.ndarray) -> str:
    apart = np.abs(new - old)[np.isfinite(new) & np.isfinite(old)]
    scale = np.max(np.abs(old[np.isfinite(old)]), initial=0.0) or 1.0
    n_bits = int((new != old).sum() - (np.isnan(new) & np.isnan(old)).sum())
    return (
        f"; at most {np.max(apart, initial=0.0) / scale:.1e} of the greatest value, "
        f"{n_bits} of {new.size} numbers differ"
    )


def described(name: str, report: dict[str, Any]) -> str:
    """Return the report of one path in lines."""
    how = "bit for bit" if report["same_machine"] else "on another machine, within tolerances"
    head = f"{name}: {report['n_cases']} cases compared {how}, {len(report['differ'])} differ\n"
    lines = []
    for case, told in report["differ"].items():
        lines.append(f"  {case}\n")
        lines += [f"    {key} {said}\n" for key, said in told.items()]
    return head + "".join(lines)


if __name__ == "__main__":
    main()
