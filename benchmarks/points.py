"""Points of a curve, each measured in a process of its own and kept in a file of its own.

A process has one thread, a limit of its address space and of its time, so that a point that does
not fit is a result too. A later run measures what has no file yet.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
BEGIN, END = "<!-- {} -->\n", "<!-- end -->\n"


def cpu_seconds() -> float:
    """Return the CPU time of this process and its threads: a busy machine does not change it."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def peak_megabytes() -> float:
    """Return the peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measured_apart(
    module: str, arguments: Sequence[str], *, seconds: float, gibibytes: float
) -> dict[str, Any]:
    """Return what ``python -m module --point arguments`` prints, or why it printed nothing."""
    bound = int(gibibytes * 2**30)
    try:
        done = subprocess.run(  # noqa: S603  a module of this package
            [sys.executable, "-m", module, "--point", *arguments],
            env={**os.environ, **ONE_THREAD},
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (bound, bound)),
        )
    except subprocess.TimeoutExpired:
        return {"missing": f"longer than {seconds:g} s"}
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        return {"missing": lines[-1][:120]}
    point: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return point


def kept_points(
    module: str,
    folder: Path,
    points: Sequence[Sequence[str]],
    *,
    seconds: float,
    gibibytes: float,
    again: bool = False,
) -> list[dict[str, Any]]:
    """Return all points, measuring those that have no file in the folder, or all ``again``."""
    found = []
    folder.mkdir(parents=True, exist_ok=True)
    for arguments in points:
        file = folder / f"{'-'.join(arguments).replace('/', '_')}.json"
        if again or not file.is_file():
            point = measured_apart(module, arguments, seconds=seconds, gibibytes=gibibytes)
            point["point"] = list(arguments)
            file.write_text(json.dumps(point, indent=1) + "\n", encoding="utf-8")
            print(json.dumps(point), flush=True)
        found.append(json.loads(file.read_text(encoding="utf-8")))
    return found


def filled(page: str, name: str, text: str) -> str:
    """Return a page with the text between the mark of this name and the next end.

    Examples
    --------
    >>> filled("<!-- rows -->\\nold\\n<!-- end -->\\n", "rows", "new")
    '<!-- rows -->\\nnew\\n<!-- end -->\\n'
    """
    begin = BEGIN.format(name)
    before, rest = page.split(begin, 1)
    return f"{before}{begin}{text}\n{rest[rest.index(END) :]}"
