"""Where the time of ``ecselm fit`` on a large table goes: ``python -m benchmarks.reading``.

A table of numbers, words and gaps is written as CSV and as Parquet, and fitted end to end under a
profile, whose functions are divided into reading (bytes to columns), typing (what columns are),
encoding (columns to X) and learning. Times are CPU times on one core, and shares of their sum.
``--megabytes`` is the size of the CSV file. Figures go to ``benchmarks/results/reading.json``.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import tempfile
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.points import ROOT
from benchmarks.tables import table

FILE = ROOT / "benchmarks" / "results" / "reading.json"
BYTES_PER_ROW = 175  # of the CSV file, about
STEPS = ("reading", "typing", "encoding", "learning", "other")


def made_table(n_rows: int) -> pd.DataFrame:
    """Return 16 numbers with gaps, 4 columns of words and a class."""
    rng = np.random.default_rng(0)
    X = np.round(rng.standard_normal((n_rows, 16)), 5)
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(16)])
    for column in ("x0", "x1"):
        frame.loc[rng.random(n_rows) < 0.05, column] = np.nan
    words = np.array([f"kind {i}" for i in range(12)])
    for i in range(4):
        frame[f"w{i}"] = words[rng.integers(0, 12, n_rows)]
    score = X[:, 2] * X[:, 3] + X[:, 4] + (frame["w0"] == "kind 3")
    frame["y"] = np.where(score + rng.logistic(size=n_rows) > 0.5, "yes", "no")
    return frame


BEGINNINGS = {
    "reading": {("tables/read.py", "read_table")},
    "typing": {
        ("tables/schema.py", "plan_columns"),
        ("tables/schema.py", "target_of"),
        ("tables/schema.py", "target_rows"),
    },
    "encoding": {
        ("sklearn/compose/_column_transformer.py", "fit_transform"),
        ("sklearn/compose/_column_transformer.py", "transform"),
    },
    "learning": {("estimators/_base.py", "fit"), ("estimators/ecselm.py", "fit")},
}  # of the steps: functions whose time, with all that they call, is that of a step


def step_of(file: str, function: str) -> str | None:
    """Return the step that a function begins, None for other functions.

    Examples
    --------
    >>> step_of("/src/ecselm/tables/read.py", "read_table"), step_of("/src/x.py", "fit")
    ('reading', None)
    """
    for step, beginnings in BEGINNINGS.items():
        if any(file.endswith(end) and function == name for end, name in beginnings):
            return step
    return None


def shares(profile: cProfile.Profile) -> dict[str, float]:
    """Return the seconds of every step of a profile, by the cumulative time of where it begins."""
    stats: Any = pstats.Stats(profile)
    found = dict.fromkeys(STEPS, 0.0)
    for (file, _, function), (_, _, _, cumulative, _) in stats.stats.items():
        step = step_of(file, function)
        if step is not None:
            found[step] += cumulative
    found["other"] = max(0.0, stats.total_tt - sum(found.values()))
    return found


def measure(n_rows: int, folder: Path) -> dict[str, dict[str, float]]:
    """Fit the table from both kinds of files and return the seconds of every step."""
    from ecselm.cli.main import main as command

    frame = made_table(n_rows)
    frame.to_csv(folder / "big.csv", index=False)
    frame.to_parquet(folder / "big.parquet")
    frame.iloc[:300].to_csv(folder / "small.csv", index=False)
    del frame
    command(["fit", str(folder / "small.csv"), "--target", "y", "-o", str(folder / "m.skops")])
    found = {}
    for name in ("big.csv", "big.parquet"):
        profile = cProfile.Profile(time.process_time)
        profile.enable()
        command(["fit", str(folder / name), "--target", "y", "-o", str(folder / "m.skops")])
        profile.disable()
        size = (folder / name).stat().st_size / 2**20
        found[name] = {"megabytes": size, **shares(profile)}
    return found


def as_table(found: dict[str, dict[str, float]]) -> str:
    """Return a table of shares of the time."""
    lines = []
    for name, one in found.items():
        total = sum(one[step] for step in STEPS)
        within = one["typing"] + one["encoding"] <= one["reading"]
        cells = [f"{one[step] / total:.2f}" for step in STEPS]
        lines.append([name, f"{one['megabytes']:.0f}", *cells, "yes" if within else "no"])
    return table(["file", "MB", *STEPS, "typing and encoding <= reading"], lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the files, fit them, print the shares and keep the figures."""
    parser = argparse.ArgumentParser(description="Divide the time of fits from large files.")
    parser.add_argument("--megabytes", type=float, default=1000.0, help="of the CSV file")
    parser.add_argument("--file", type=Path, default=FILE)
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        n_rows = int(options.megabytes * 2**20 / BYTES_PER_ROW)
        found = measure(n_rows, Path(folder))
    options.file.parent.mkdir(parents=True, exist_ok=True)
    options.file.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(as_table(found))


if __name__ == "__main__":
    main()
