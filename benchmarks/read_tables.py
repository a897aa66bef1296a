"""Reading text tables: times as multiples of those of pandas and pyarrow, within one run.

``python -m benchmarks.read_tables [--quick] [--megabytes N]`` writes a table of numbers and some
words to a temporary folder, with decimal points and with decimal commas, and prints how much
longer ``read_table`` takes than ``pandas.read_csv``, and a pass over ``open_blocks`` than one over
the batches of ``pyarrow.csv.open_csv``. The best of some repeats in turn is compared: the speed of
a machine drifts.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv

from ecselm.streaming import open_blocks
from ecselm.study import read_table

MEGABYTES, QUICK_MEGABYTES = 100.0, 0.2
REPEATS = 3
MOST_WHOLE, MOST_PASS = 2.5, 2.0  # ratios that are aimed at
N_PROBED = 1000  # rows by which the size of a row is found


@dataclass(frozen=True, slots=True)
class Ratio:
    """How much longer we take for a table than a library does."""

    table: str
    what: str
    ours: float  # seconds
    theirs: float
    goal: float | None

    def __str__(self) -> str:
        goal = "" if self.goal is None else f" (goal: at most {self.goal})"
        return (
            f"{self.table}: {self.what}: {self.ours / self.theirs:.2f}{goal}; "
            f"{self.ours:.3f} s to {self.theirs:.3f} s"
        )


def make_frame(n_rows: int, seed: int = 0) -> pd.DataFrame:
    """Return numbers of several kinds, some of them missing, and some words."""
    rng = np.random.default_rng(seed)
    columns: dict[str, Any] = {f"x{j}": rng.standard_normal(n_rows) for j in range(4)}
    columns |= {f"r{j}": rng.standard_normal(n_rows).round(3) for j in range(4)}
    columns |= {f"n{j}": rng.integers(0, 1000, n_rows) for j in range(2)}
    columns["gaps"] = np.where(rng.random(n_rows) < 0.1, np.nan, columns["r0"])
    columns["sex"] = rng.choice(["f", "m"], n_rows)
    columns["site"] = rng.choice(["brain", "skin", "toe", "elbow"], n_rows)
    return pd.DataFrame(columns)


def best_of(works: Sequence[Callable[[], object]], repeats: int = REPEATS) -> list[float]:
    """Return the shortest times of some works that are done in turn, in seconds."""
    times = np.empty((repeats, len(works)))
    for i in range(repeats):
        for j, work in enumerate(works):
            start = time.perf_counter()
            work()
            times[i, j] = time.perf_counter() - start
    return list(times.min(axis=0))


def _arrow_pass(path: Path, delimiter: str, decimal: str) -> None:
    reader = pa.csv.open_csv(
        path,
        parse_options=pa.csv.ParseOptions(delimiter=delimiter),
        convert_options=pa.csv.ConvertOptions(decimal_point=decimal),
    )
    for _ in reader:
        pass


def _our_pass(blocks: Any) -> None:
    for _ in blocks:
        pass


def measure(folder: Path, megabytes: float) -> list[Ratio]:
    """Write tables of about that size, read them, and return how long that takes."""
    row_bytes = len(make_frame(N_PROBED).to_csv(index=False)) / N_PROBED
    frame = make_frame(max(1, round(megabytes * 1e6 / row_bytes)))
    ratios = []
    for table, delimiter, decimal in (("points", ",", "."), ("decimal commas", ";", ",")):
        path = folder / f"{table.replace(' ', '_')}.csv"
        frame.to_csv(path, index=False, sep=delimiter, decimal=decimal)
        blocks = open_blocks(path)
        ours, theirs, first, passed, arrow = best_of(
            [
                lambda path=path: read_table(path),
                lambda path=path, sep=delimiter, decimal=decimal: pd.read_csv(
                    path, sep=sep, decimal=decimal
                ),
                lambda path=path: open_blocks(path),
                lambda blocks=blocks: _our_pass(blocks),
                lambda path=path, sep=delimiter, decimal=decimal: _arrow_pass(path, sep, decimal),
            ]
        )
        ratios += [
            Ratio(table, "read_table / pandas.read_csv", ours, theirs, MOST_WHOLE),
            Ratio(table, "pass over blocks / pass of pyarrow", passed, arrow, MOST_PASS),
            Ratio(table, "scan of types / pass of pyarrow", first, arrow, None),
        ]
    return ratios


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tiny table")
    parser.add_argument("--megabytes", type=float, help=f"size of a table ({MEGABYTES:g})")
    options = parser.parse_args(arguments)
    size = options.megabytes or (QUICK_MEGABYTES if options.quick else MEGABYTES)
    with TemporaryDirectory() as folder:
        for ratio in measure(Path(folder), size):
            print(ratio)


if __name__ == "__main__":
    main()
