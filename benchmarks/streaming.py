"""Fits in blocks: rows per second as a share of what BLAS does on one block in memory.

``python -m benchmarks.streaming`` fits a machine of 200 units on 10 million rows of 50 inputs
that are made as they are asked for; ``--file`` writes them to a Parquet file first and reads
that. The reference is the two products that no fit can do without, ``X W`` and ``H'H``, on one
block of the same shape that stays in memory, done after every block of the fit: the speed of
a machine drifts, so only times next to each other are compared. All are of the processor.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.timing import blas_threads, duration
from ecselm import ELMClassifier
from ecselm.streaming import StreamProgress, fit_stream, open_blocks

N_DISTINCT = 4  # blocks that are made beforehand and given in turn: to draw them takes longer
BLOCK_ROWS = 1 << 16
N_ROWS = 10_000_000
GOAL = 0.6


@dataclass(frozen=True, slots=True)
class Shape:
    """How large the problem is."""

    n_rows: int = N_ROWS
    n_features: int = 50
    n_hidden: int = 200
    block_rows: int = BLOCK_ROWS


@dataclass(frozen=True, slots=True)
class Measured:
    """Throughputs as shares of that of BLAS, in rows per second, and the most memory."""

    products: float  # rows per second
    look: float
    sums: float
    peak: int  # bytes

    @property
    def both(self) -> float:
        """Return the share of both passes together."""
        return 1.0 / (1.0 / self.sums + 1.0 / self.look)

    def __str__(self) -> str:
        return "\n".join(
            [
                f"products of one block in memory: {self.products:,.0f} rows per second",
                f"pass of the sums: {self.sums:.2f} of that (goal {GOAL})",
                f"both passes: {self.both:.2f} of that",
                f"most memory: {self.peak / 2**20:,.0f} MiB",
            ]
        )


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
    """Times every whole block, and the products of BLAS after it."""

    def __init__(self, shape: Shape) -> None:
        rng = np.random.default_rng(1)
        self._X = rng.standard_normal((shape.block_rows, shape.n_features))
        self._W = rng.standard_normal((shape.n_features, shape.n_hidden))
        self._H = self._X @ self._W
        self.products: list[float] = []
        self.shares: dict[int, list[float]] = defaultdict(list)  # by pass
        self._begun, self._n_before = 0.0, 0

    def __call__(self, told: StreamProgress) -> None:
        """Compare the time since the last call with that of the products."""
        seconds = time.process_time() - self._begun
        if told.n_rows - self._n_before == len(self._X):
            self.products.append(duration(self._multiply, time.process_time))
            self.shares[told.number].append(self.products[-1] / seconds)
        self._n_before = told.n_rows
        self._begun = time.process_time()

    def _multiply(self) -> None:
        np.matmul(self._X, self._W, out=self._H)
        np.matmul(self._H.T, self._H)


def measure(shape: Shape, file: bool = False) -> Measured:
    """Fit in blocks on one BLAS thread, and return how fast that went."""
    made = Made.of(shape)
    with TemporaryDirectory() as folder, blas_threads(1):
        source = _written(made, Path(folder) / "rows.parquet") if file else made
        clock = Clock(shape)
        model = ELMClassifier(shape.n_hidden, random_state=0)
        fit_stream(model, source, target="y" if file else None, progress=clock)
    return Measured(
        products=shape.block_rows / float(np.median(clock.products)),
        look=float(np.median(clock.shares[1])),
        sums=float(np.median(clock.shares[2])),
        peak=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    )


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=N_ROWS)
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--hidden", type=int, default=200)
    parser.add_argument("--block-rows", type=int, default=BLOCK_ROWS)
    parser.add_argument("--file", action="store_true", help="read the rows from a Parquet file")
    args = parser.parse_args()
    shape = Shape(args.rows, args.features, args.hidden, args.block_rows)
    print(measure(shape, args.file))


if __name__ == "__main__":
    main()
