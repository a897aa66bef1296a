"""Fits in blocks: rows per second as a share of those of BLAS on one block in memory.

``python -m benchmarks.streaming [--rows N] [--hidden L]``, by default 10 million rows of 50
features and 200 hidden units; ``python -m benchmarks --only streaming`` does the same.
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

`fit_stream` fits an `ELMClassifier` on one BLAS thread, on rows generated in memory and on the
same rows in a Parquet file. Each number is the median, over a pass, of the time of two matrix
products divided by that of the fit: its rows per second as a share of those of BLAS. The products
are those that every fit needs, `X W` and `H'H`, on a block of the same shape that stays in memory.
They are computed between blocks of the fit: the speed of a machine drifts, so only adjacent times
are compared. Times are wall-clock times, so the machine must be idle otherwise: other threads read
and check the next blocks of a file. A block that was read during the products does not count. The
first pass computes the scale of the inputs and finds the classes; `partial_fit` does not need it.

{table}
"""
N_DISTINCT = 4  # blocks that are drawn beforehand and repeated: drawing takes longer than fitting
BLOCKS_PER_PRODUCT = 4  # blocks between products
PAUSE = 0.1  # seconds, for the next block to be read
SHARE_TARGET = 0.6
MAX_MEMORY = 2 << 30  # bytes
GENERATED, STORED = "generated in memory", "a Parquet file"


@dataclass(frozen=True, slots=True)
class Shape:
    """Size of the problem."""

    n_rows: int = 10_000_000
    n_features: int = 50
    n_hidden: int = 200
    block_rows: int = 1 << 16


FULL = Shape()
QUICK = Shape(n_rows=1850, n_features=4, n_hidden=5, block_rows=200)


@dataclass(frozen=True, slots=True)
class Measurement:
    """Throughputs of the passes as shares of that of BLAS, and the peak memory."""

    source: str
    shape: Shape
    first: float  # the pass that computes the scale and finds the classes
    sums: float  # the pass that adds up the sums
    peak: int  # bytes

    @property
    def both(self) -> float:
        """Return the share of both passes together."""
        return 1.0 / (1.0 / self.sums + 1.0 / self.first)

    @property
    def met(self) -> bool:
        """Return whether the pass of sums is fast enough and the peak memory small enough."""
        return self.sums >= SHARE_TARGET and self.peak < MAX_MEMORY


@dataclass(frozen=True, slots=True)
class GeneratedBlocks:
    """Blocks that repeat a few drawn ones."""

    shape: Shape
    distinct: list[tuple[Any, Any]]

    @classmethod
    def of(cls, shape: Shape) -> GeneratedBlocks:
        """Draw the distinct blocks."""
        rng = np.random.default_rng(0)
        return cls(shape, [_draw_block(shape, rng) for _ in range(N_DISTINCT)])

    @property
    def n_rows(self) -> int:
        """Return the number of rows."""
        return self.shape.n_rows

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        for i, start in enumerate(range(0, self.n_rows, self.shape.block_rows)):
            X, y = self.distinct[i % len(self.distinct)]
            rows = slice(0, self.n_rows - start)
            yield X[rows], y[rows]


def _draw_block(shape: Shape, rng: np.random.Generator) -> tuple[Any, Any]:
    X = rng.standard_normal((shape.block_rows, shape.n_features))
    return X, (X[:, 0] * X[:, 1] > 0).astype(np.int64)


class Clock:
    """A progress callback that times whole blocks and, after every few, the products of BLAS."""

    def __init__(self, shape: Shape) -> None:
        rng = np.random.default_rng(1)
        self._X = rng.standard_normal((shape.block_rows, shape.n_features))
        self._W = rng.standard_normal((shape.n_features, shape.n_hidden))
        self._H = self._X @ self._W
        self.shares: dict[int, list[float]] = defaultdict(list)  # by pass
        self._seconds: list[float] = []
        self._begun, self._n_before = 0.0, 0
        self._was_read = False  # whether the next block was read during the products

    def __call__(self, progress: StreamProgress) -> None:
        """Compare the time of the last blocks with that of the products."""
        seconds = time.perf_counter() - self._begun
        if progress.n_rows - self._n_before == len(self._X) and not self._was_read:
            self._seconds.append(seconds)
        self._was_read = False
        if len(self._seconds) == BLOCKS_PER_PRODUCT:
            time.sleep(PAUSE)
            product = duration(self._multiply)
            self.shares[progress.number].append(product / float(np.mean(self._seconds)))
            self._seconds, self._was_read = [], True
        self._n_before = progress.n_rows
        self._begun = time.perf_counter()

    def _multiply(self) -> None:
        np.matmul(self._X, self._W, out=self._H)
        np.matmul(self._H.T, self._H)


def measure(shape: Shape) -> list[Measurement]:
    """Fit from both sources, each in its own process."""
    return [in_own_process(_measure, shape, source) for source in (GENERATED, STORED)]


def _measure(shape: Shape, source: str) -> Measurement:
    blocks = GeneratedBlocks.of(shape)
    with TemporaryDirectory() as folder, blas_threads(1):
        stored = source == STORED
        rows = _write_blocks(blocks, Path(folder) / "rows.parquet") if stored else blocks
        clock = Clock(shape)
        model = ELMClassifier(shape.n_hidden, random_state=0)
        fit_stream(model, rows, target="y" if stored else None, progress=clock)
    first, sums = (float(np.median(clock.shares[number])) for number in (1, 2))
    return Measurement(source, shape, first, sums, peak_memory())


def as_table(results: list[Measurement]) -> str:
    """Return a table with a line for every source."""
    lines = [
        [
            f"{one.source}, {one.shape.n_rows} x {one.shape.n_features}",
            f"{one.sums:.2f}",
            limit_cell(">=", SHARE_TARGET, 1),
            f"{one.first:.2f}",
            f"{one.both:.2f}",
            f"{one.peak / 2**20:.0f}",
            limit_cell("<", MAX_MEMORY / 2**20, 0),
            met_cell(one.met),
        ]
        for one in results
    ]
    shares = ["Pass of sums", "Target", "First pass", "Both"]
    return table(["Rows", *shares, "Peak memory, MiB", "Target", "Met"], lines)


def _write_blocks(blocks: GeneratedBlocks, path: Path) -> Any:
    """Write the rows to a file, block by block, and return its blocks."""
    import pyarrow as pa
    from pyarrow import parquet

    names = [f"x{i}" for i in range(blocks.shape.n_features)]
    schema = pa.schema([*((name, pa.float64()) for name in names), ("y", pa.int64())])
    with parquet.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for X, y in blocks:
            writer.write_table(pa.table([*X.T, y], schema))
    return open_blocks(path, block_rows=blocks.shape.block_rows)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.streaming")
    parser.add_argument("--rows", type=int, default=FULL.n_rows)
    parser.add_argument("--features", type=int, default=FULL.n_features)
    parser.add_argument("--hidden", type=int, default=FULL.n_hidden)
    options = parser.parse_args(arguments)
    print(as_table(measure(Shape(options.rows, options.features, options.hidden))))


if __name__ == "__main__":
    main()
