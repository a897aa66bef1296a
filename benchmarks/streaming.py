"""Fits in blocks: rows per second as a share of what BLAS does on one block in memory.

``python -m benchmarks.streaming [--rows N] [--hidden L]``, by default 10 million rows of 50
inputs and 200 hidden units; ``python -m benchmarks --only streaming`` is the same.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.tables import limit_cell, met_cell, table
from benchmarks.timing import blas_threads, duration, in_own_process, peak_memory
from ecselm import ELMClassifier
from ecselm.streaming import StreamProgress, fit_stream, open_blocks

SECTION = """## Fits in blocks of rows

`fit_stream` fits an `ELMClassifier` on one BLAS thread, on rows that are there when they are
asked for, and on the same rows in a Parquet file. Each number is the median, over a pass, of
the time of two matrix products divided by that of the fit: its rows per second as a share of
those of BLAS. The products are those that no fit can do without, `X W` and `H'H`, on a block of
the same shape that stays in memory. They are done between blocks of the fit: the speed of a
machine drifts, so only times next to each other are compared. Times are by the clock, for which
the machine must have nothing else to do: other threads read and check the blocks of a file that
come next. A block that was read while products were done does not count. The first pass measures
the scale of the inputs and finds the classes; `partial_fit` does without it.

{table}
"""
N_DISTINCT = 4  # blocks that are made beforehand and given in turn: to draw them takes longer
AT_A_TIME = 4  # blocks between products
PAUSE = 0.1  # seconds, for the next block to be read
GOAL = 0.6
MOST_MEMORY = 2 << 30  # bytes
MADE, STORED = "in memory as asked for", "a Parquet file"


@dataclass(frozen=True, slots=True)
class Shape:
    """How large the problem is."""

    n_rows: int = 10_000_000
    n_features: int = 50
    n_hidden: int = 200
    block_rows: int = 1 << 16


FULL = Shape()
QUICK = Shape(n_rows=1850, n_features=4, n_hidden=5, block_rows=200)


@dataclass(frozen=True, slots=True)
class Measured:
    """Throughputs of the passes as shares of that of BLAS, and the most memory."""

    source: str
    shape: Shape
    look: float
    sums: float
    peak: int  # bytes

    @property
    def both(self) -> float:
        """Return the share of both passes together."""
        return 1.0 / (1.0 / self.sums + 1.0 / self.look)

    @property
    def met(self) -> bool:
        """Tell whether the pass of sums is fast enough, and memory small enough."""
        return self.sums >= GOAL and self.peak < MOST_MEMORY


@dataclass(frozen=True, slots=True)
class Made:
    """Blocks that are made as they are asked for."""

    shape: Shape
    distinct: list[tuple[Any, Any]]

    @classmethod
    def of(cls, shape: Shape) -> Made:
        """Draw the blocks that are given in turn."""
        rng = np.random.default_rng(0)
        return cls(shape, [_drawn(shape, rng) for _ in range(N_DISTINCT)])

    @property
    def n_rows(self) -> int:
        """Return the number of rows."""
        return self.shape.n_rows

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        for i, start in enumerate(range(0, self.n_rows, self.shape.block_rows)):
            X, y = self.distinct[i % len(self.distinct)]
            rows = slice(0, self.n_rows - start)
            yield X[rows], y[rows]


def _drawn(shape: Shape, rng: np.random.Generator) -> tuple[Any, Any]:
    X = rng.standard_normal((shape.block_rows, shape.n_features))
    return X, (X[:, 0] * X[:, 1] > 0).astype(np.int64)


class Clock:
    """Times whole blocks, and after every few of them the products of BLAS."""

    def __init__(self, shape: Shape) -> None:
        rng = np.random.default_rng(1)
        self._X = rng.standard_normal((shape.block_rows, shape.n_features))
        self._W = rng.standard_normal((shape.n_features, shape.n_hidden))
        self._H = self._X @ self._W
        self.shares: dict[int, list[float]] = defaultdict(list)  # by pass
        self._seconds: list[float] = []
        self._begun, self._n_before = 0.0, 0
        self._was_read = False  # the coming block, while products were done

    def __call__(self, told: StreamProgress) -> None:
        """Compare the time of the last blocks with that of the products."""
        seconds = time.perf_counter() - self._begun
        if told.n_rows - self._n_before == len(self._X) and not self._was_read:
            self._seconds.append(seconds)
        self._was_read = False
        if len(self._seconds) == AT_A_TIME:
            time.sleep(PAUSE)
            product = duration(self._multiply)
            self.shares[told.number].append(product / float(np.mean(self._seconds)))
            self._seconds, self._was_read = [], True
        self._n_before = told.n_rows
        self._begun = time.perf_counter()

    def _multiply(self) -> None:
        np.matmul(self._X, self._W, out=self._H)
        np.matmul(self._H.T, self._H)


def measure(shape: Shape) -> list[Measured]:
    """Fit from both sources, each in a process of its own."""
    return [in_own_process(_measured, shape, source) for source in (MADE, STORED)]


def _measured(shape: Shape, source: str) -> Measured:
    made = Made.of(shape)
    with TemporaryDirectory() as folder, blas_threads(1):
        stored = source == STORED
        rows = _written(made, Path(folder) / "rows.parquet") if stored else made
        clock = Clock(shape)
        model = ELMClassifier(shape.n_hidden, random_state=0)
        fit_stream(model, rows, target="y" if stored else None, progress=clock)
    look, sums = (float(np.median(clock.shares[number])) for number in (1, 2))
    return Measured(source, shape, look, sums, peak_memory())


def as_table(results: list[Measured]) -> str:
    """Return a line for every source."""
    lines = [
        [
            f"{one.source}, {one.shape.n_rows} x {one.shape.n_features}",
            f"{one.sums:.2f}",
            limit_cell(">=", GOAL, 1),
            f"{one.look:.2f}",
            f"{one.both:.2f}",
            f"{one.peak / 2**20:.0f}",
            limit_cell("<", MOST_MEMORY / 2**20, 0),
            met_cell(one.met),
        ]
        for one in results
    ]
    shares = ["Pass of sums", "Target", "First pass", "Both"]
    return table(["Rows", *shares, "Most memory, MiB", "Target", "Met"], lines)


def _written(made: Made, path: Path) -> Any:
    """Return the rows in a file, written block by block."""
    import pyarrow as pa
    from pyarrow import parquet

    names = [f"x{i}" for i in range(made.shape.n_features)]
    schema = pa.schema([*((name, pa.float64()) for name in names), ("y", pa.int64())])
    with parquet.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for X, y in made:
            writer.write_table(pa.table([*X.T, y], schema))
    return open_blocks(path, block_rows=made.shape.block_rows)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run as the options say, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.streaming")
    parser.add_argument("--rows", type=int, default=FULL.n_rows)
    parser.add_argument("--features", type=int, default=FULL.n_features)
    parser.add_argument("--hidden", type=int, default=FULL.n_hidden)
    options = parser.parse_args(arguments)
    print(as_table(measure(Shape(options.rows, options.features, options.hidden))))


if __name__ == "__main__":
    main()
