"""``ecselm reproduce`` and ``ecselm bench`` interrupted or killed at any moment: the same bytes.

This file is also the program whose runs are interrupted and killed.
"""

import contextlib
import os
import signal
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[2]))  # as a program

from ecselm.cli import main
from ecselm.cli import reproduce as reproduce_command
from ecselm.paper.protocols import QUICK
from tests.processes import LOST, Forked, cut_often, fork_each, mark_start

COMMANDS = {
    "reproduce": ["reproduce", "table-11", "--quick"],
    "bench": [
        *("bench", "keel", "--sets", "glass-*,ecoli-*"),
        *("--methods", "balanced logistic regression,ELM"),
    ],
}
TIMES = {"journal.jsonl", "seconds.parquet"}  # files that no two runs have alike
SHORT = replace(QUICK, most_rows=60, repeats=1)


def live(kind, folder, name):
    """Run the command in this process; the exit code says how it ended."""
    output = Path(folder, name.split()[0] if name != "whole" else "whole")
    with (
        Path(folder, f"{name}.log").open("w") as log,
        contextlib.redirect_stdout(log),
        contextlib.redirect_stderr(log),
    ):
        try:
            mark_start(folder, name)
            code = main([*COMMANDS[kind], "--output", str(output)])
        except KeyboardInterrupt:  # before or after the command proper
            code = 130
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return LOST if code == 130 else code


def fork_runs(kind, folder):
    """Make the smallest runs: short searches, made data."""
    os.environ.pop("ECSELM_DATA", None)
    reproduce_command.QUICK = SHORT
    if kind == "bench":
        from tests.paper.bench.conftest import put_in_place

        put_in_place(pytest.MonkeyPatch())
    fork_each(partial(live, kind, folder))


def results(folder):
    """Return every file of a run but those that hold times."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in TIMES
    }


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes to kill")
@pytest.mark.parametrize("kind", COMMANDS)
def test_runs_interrupted_or_killed_at_random_moments(kind, tmp_path, moments, record_property):
    def check(name, end):
        if end == "lost":  # said, and resumed by the same command
            said = (tmp_path / f"{name}.log").read_text()
            assert "Traceback" not in said
        if name.endswith("resumed"):
            found = results(tmp_path / name.split()[0])
            assert found == results(tmp_path / "whole")

    with Forked(__file__, kind, tmp_path) as forked:
        ends = cut_often(forked, np.random.default_rng(3), moments, check)
    for end, n in sorted(ends.items()):
        record_property(end, n)
    assert ends["resumed"] == moments
    assert ends["lost"] + ends["killed"] > 0 or moments < 20


if __name__ == "__main__":
    fork_runs(*sys.argv[1:])
