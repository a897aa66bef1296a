"""Fits on Dask: two workers over one, and searches at two sizes.

``python -m benchmarks.dask_growth [--rows N] [--rounds R]``, by default 10 million rows of 50
features behind 200 hidden units; ``python -m benchmarks --only dask`` does the same.
``--partitions 40,100,400`` compares two workers with one for partitions of these megabytes
alone, and keeps a file for each in ``benchmarks/results/dask``. ``--reckon`` fills the estimate
for a billion rows of ``docs/growing.md`` from the rates that ``make bench`` has stored.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from benchmarks.points import ROOT, filled
from benchmarks.tables import limit_cell, met_cell, ratio_cell, table
from benchmarks.timing import (
    Ratio,
    blas_threads,
    duration,
    in_own_process,
    peak_memory,
    seconds_by_round,
)
from ecselm.costs.weights import ClassWeights
from ecselm.dask import DaskECSELMClassifier, DaskECSELMRegressor, DaskELMClassifier
from ecselm.estimators._base import class_targets
from ecselm.estimators._training import Rows
from ecselm.fitness.folds import row_hashes
from ecselm.layers import InputScale, RandomLayer, ScaleSum, draw_weights
from ecselm.outofcore import RowBlock
from ecselm.outofcore.passes import LabelCounts, RowListing, SampleRule

SECTION = """## Fits on Dask

Workers are processes with one BLAS thread. They generate the rows chunk by chunk; the rows are
never all in memory. Fits are timed by wall-clock time, so the machine must be idle otherwise;
searches, which the client runs after the pass over the rows, by its CPU time. The sample of
validation rows has the same size at both sizes of a search.

{table}
"""
TWO_WORKERS = 1.6  # times as fast as one
PARTITIONS = (40, 100, 400)  # MB
TWO_WORKERS_OF_ANY = 1.7  # for each of these
FOLDER, PAGE = ROOT / "benchmarks" / "results" / "dask", ROOT / "docs" / "growing.md"
STORED = ROOT / "benchmarks" / "results.json"
MAX_MEMORY = 2 << 30  # bytes per process
MAX_GROWTH = 1.2  # of the time of a search at ten times the rows
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


@dataclass(frozen=True, slots=True)
class Size:
    """Size of the problem and number of rounds."""

    n_rows: int = 10_000_000
    n_features: int = 50
    n_hidden: int = 200
    chunk: int = 250_000  # 100 MB; with smaller chunks workers wait for the scheduler
    population: int = 100
    epochs: int = 99  # after the first population
    rounds: int = 3
    processes: bool = True  # as workers, else threads

    @property
    def max_validation_rows(self) -> int:
        """Return a size of the sample that a tenth of all rows exceeds."""
        return min(100_000, self.n_rows // 20)


FULL = Size()
QUICK = Size(4000, 5, 10, 1000, population=4, epochs=2, rounds=1, processes=False)
SEARCHES: list[tuple[str, Any, int, dict[str, Any]]] = [
    ("errors, by a sample", DaskECSELMClassifier, 1, {"activation": "radbas", "smoothing": 0}),
    ("squared errors, by sums", DaskECSELMRegressor, 2, {"scoring": "neg_mean_squared_error"}),
]


@dataclass(frozen=True, slots=True)
class Search:
    """CPU seconds of a search after the pass, at a tenth of the rows and at all rows."""

    what: str
    ratio: float  # all over a tenth
    seconds: tuple[float, float]
    n_evaluations: int


@dataclass(frozen=True, slots=True)
class Result:
    """The measurements of all fits and searches on Dask."""

    size: Size
    cores: int
    workers: Ratio  # time of one worker over that of two
    memory: dict[str, int]  # peak in bytes, by process
    searches: list[Search]
    rates: dict[str, float]  # per second on one core


def generated_rows(size: Size, n_rows: int) -> tuple[da.Array, da.Array, da.Array]:
    """Return X, classes and real targets as lazy arrays."""
    chunks = (size.chunk,) * (n_rows // size.chunk)
    chunks += (n_rows % size.chunk,) if n_rows % size.chunk else ()
    positions = da.arange(n_rows, chunks=(chunks,))
    X = positions.map_blocks(
        partial(_chunk, n_features=size.n_features),
        new_axis=1,
        chunks=(chunks, (size.n_features,)),
        dtype=float,
        meta=np.empty((0, 0)),
    )
    scores = X.map_blocks(_scores, drop_axis=1, dtype=float, meta=np.empty(0))
    return X, scores.map_blocks(_classes, dtype=int, meta=np.empty(0, int)), scores


def _scores(X: np.ndarray) -> np.ndarray:
    return X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * X[:, 3]


def _classes(scores: np.ndarray) -> np.ndarray:
    return (scores > 1.5).astype(int)


def _chunk(positions: np.ndarray, n_features: int) -> np.ndarray:
    first = int(positions[0]) if len(positions) else 0
    return np.random.default_rng(first).standard_normal((len(positions), n_features))


@contextmanager
def cluster_of(n_workers: int, processes: bool) -> Iterator[Client]:
    """Start workers with one thread each."""
    with (
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=processes,
            dashboard_address=":0",
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def measure(size: Size) -> Result:
    """Run all measurements in a new process, with both clusters side by side."""
    return in_own_process(_measure, size)


def _measure(size: Size) -> Result:
    os.environ.update(ONE_THREAD)  # workers inherit it
    with cluster_of(1, size.processes) as one, cluster_of(2, size.processes) as two:
        workers = _compare_workers(size, one, two)
        searches = [_growth(size, two, *task) for task in SEARCHES]
        memory = {f"worker {i}": v for i, v in enumerate(two.run(peak_memory).values(), 1)}
        memory["client"] = peak_memory()
    return Result(size, os.cpu_count() or 1, workers, memory, searches, rates(size))


def _compare_workers(size: Size, one: Client, two: Client) -> Ratio:
    X, y, _ = generated_rows(size, size.n_rows)

    def fit(client: Client) -> None:
        DaskELMClassifier(size.n_hidden, random_state=0, client=client).fit(X, y)

    few = [rows[: 2 * size.chunk] for rows in (X, y)]
    for client in (one, two):  # a warm-up: workers import the library once
        DaskELMClassifier(size.n_hidden, random_state=0, client=client).fit(*few)
    timers = [partial(duration, partial(fit, client)) for client in (one, two)]
    seconds = seconds_by_round(timers, size.rounds)
    return Ratio.of(seconds[:, 0] / seconds[:, 1])


def _growth(
    size: Size, client: Client, what: str, estimator: Any, target: int, options: Any
) -> Search:
    """Search at a tenth of the rows and at all, and compare the times after the pass."""
    times: list[float] = []
    n = 0
    for n_rows in (size.n_rows // 10, size.n_rows):
        clock: list[float] = []
        rows = generated_rows(size, n_rows)
        model = estimator(
            size.n_hidden,
            population_size=size.population,
            max_epochs=size.epochs,
            callbacks=lambda _, clock=clock: clock.append(time.process_time()),
            max_validation_rows=size.max_validation_rows,
            random_state=0,
            client=client,
            **options,
        )
        n = model.fit(rows[0], rows[target]).n_evaluations_
        times.append(clock[-1] - clock[0])
    return Search(what, times[1] / times[0], (times[0], times[1]), n)


def rates(size: Size) -> dict[str, float]:
    """Return the rates of one core per second of CPU time, for the model of run times."""
    X = _chunk(np.arange(size.chunk), size.n_features)
    y = (X[:, 0] > 0).astype(int)
    rng = np.random.default_rng(0)
    drawn = draw_weights("orthogonal", size.n_features, size.n_hidden, rng)
    scale = InputScale.identity(size.n_features)
    layer = RandomLayer.from_draw(drawn, "radbas", scale, X.dtype)
    rows = Rows(X, class_targets(2)[y], y, ClassWeights(2).terms(y), None)
    A = rng.standard_normal((size.chunk, size.n_hidden))
    counts = 10 * np.bincount(y)  # as if this were a tenth of the rows
    known = LabelCounts(np.arange(2), counts.astype(float), counts)
    rule = SampleRule.drawn(size.max_validation_rows, rng, known=known)
    block = RowBlock(X, y, places=np.arange(len(y)))
    with blas_threads(1):
        tasks = {
            "rows generated": lambda: _chunk(np.arange(size.chunk), size.n_features),
            "rows scaled": lambda: ScaleSum.of(X),
            "rows hashed": lambda: row_hashes(X),
            "rows grouped and sampled": lambda: RowListing.of(block, rule),
            "rows summed": lambda: rows.blocks(layer),
            "flops of a product": lambda: A.T @ A,
        }
        per_chunk = {
            name: min(duration(task, time.process_time) for _ in range(3))
            for name, task in tasks.items()
        }
    found = {name: size.chunk / seconds for name, seconds in per_chunk.items()}
    found["flops of a product"] *= size.n_hidden**2  # symmetric: half of a general one
    return found


def as_markdown(results: list[Result]) -> str:
    """Return the measurements as tables."""
    (result,) = results
    size, MiB = result.size, 1 << 20
    searches = [
        _line(
            f"search, {one.what}: all rows over a tenth ({one.n_evaluations} candidates)",
            f"{one.ratio:.2f}",
            limit_cell("<=", MAX_GROWTH),
            one.ratio <= MAX_GROWTH,
        )
        for one in result.searches
    ]
    limit = limit_cell("<", MAX_MEMORY / MiB, 0)
    memory = [
        _line(f"peak memory of {name}, MiB", f"{peak / MiB:.0f}", limit, peak < MAX_MEMORY)
        for name, peak in result.memory.items()
    ]
    workers = _line(
        "a fit by one worker over a fit by two",
        ratio_cell(result.workers),
        limit_cell(">=", TWO_WORKERS),
        result.workers.median >= TWO_WORKERS,
    )
    problem = f"{size.n_rows} rows of {size.n_features} features, {size.n_hidden} hidden units"
    speeds = [[name, f"{value:.3g}"] for name, value in result.rates.items()]
    return "\n\n".join(
        [
            f"{problem}, chunks of {size.chunk} rows, on {result.cores} cores.",
            table(["Measurement", "Value", "Target", "Met"], [workers, *searches, *memory]),
            table(["Per second, one core", "Value"], speeds),
        ]
    )


def _line(what: str, measured: str, limit: str, met: bool) -> list[str]:
    return [what, measured, limit, met_cell(met)]


# Partitions of several sizes


def partition_ratio(size: Size, megabytes: float) -> Ratio:
    """Return the time of one worker over that of two, for partitions of this size."""
    chunk = max(1, round(megabytes * 1e6 / (8 * size.n_features)))
    return in_own_process(_partition_ratio, replace(size, chunk=chunk))


def _partition_ratio(size: Size) -> Ratio:
    os.environ.update(ONE_THREAD)  # workers inherit it
    with cluster_of(1, size.processes) as one, cluster_of(2, size.processes) as two:
        return _compare_workers(size, one, two)


def partition_table(found: Mapping[str, Ratio]) -> str:
    """Return a table of the ratios by size of the partitions."""
    rows = [
        _line(
            f"partitions of {megabytes} MB",
            ratio_cell(ratio),
            limit_cell(">=", TWO_WORKERS_OF_ANY),
            ratio.median >= TWO_WORKERS_OF_ANY,
        )
        for megabytes, ratio in found.items()
    ]
    return table(["One worker over two", "Value", "Target", "Met"], rows)


# The estimate for a billion rows


def reckoning(
    rates: Mapping[str, float], n_rows: float = 1e9, n_workers: int = 100, size: Size = FULL
) -> str:
    """Return the steps of a fit of very many rows as a table, at the measured rates of one core."""
    n, L, folds, classes = size.n_features, size.n_hidden, 5, 2
    per_worker = n_rows / n_workers
    partitions = n_rows / size.chunk
    scaled = per_worker / rates["rows scaled"]
    sampled = per_worker / rates["rows grouped and sampled"]
    summed = per_worker / rates["rows summed"]
    hashed = per_worker / rates["rows hashed"]
    candidate = folds * (classes * L**2 + L**3 / 3 + 2 * L**2) + 2 * size.max_validation_rows * L
    searched = 10_000 * candidate / rates["flops of a product"]
    sums = 8 * L * (L + 1) / 1e6  # MB of one group
    groups = classes * folds
    worst = groups * sums * partitions / 1e3  # GB
    rows = [
        ["statistics", f"{per_worker:.0e} rows", f"{scaled:.0f} s"],
        ["sample, for a search", f"{per_worker:.0e} hashes", f"{sampled:.0f} s"],
        [
            "sums, costs known",
            f"{sums:.2f} MB per partition, {sums * partitions / 1e3:.1f} GB at worst",
            f"{summed:.0f} s",
        ],
        [
            f"sums, for a search ({groups} groups)",
            f"{groups * sums:.1f} MB per partition, {worst:.0f} GB at worst",
            f"{summed + hashed:.0f} s",
        ],
        ["10,000 candidates", "on the client, no bytes", f"{searched:.0f} s"],
        ["**a fit, costs known**", "without reading", f"{scaled + summed:.0f} s"],
        [
            "**a search**",
            "without reading",
            f"{scaled + sampled + summed + hashed + searched:.0f} s",
        ],
    ]
    head = (
        f"{n_rows:.0e} rows of {n} features, {L} units, {n_workers} workers of one core, "
        f"{partitions:.0f} partitions of {8 * n * size.chunk / 1e6:.0f} MB:"
    )
    return f"{head}\n\n{table(['step', 'size', 'time'], rows)}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.dask_growth")
    parser.add_argument("--rows", type=int, default=FULL.n_rows, help="rows of the larger table")
    parser.add_argument("--rounds", type=int, default=FULL.rounds, help="fits by each cluster")
    parser.add_argument(
        "--partitions",
        type=lambda s: [float(one) for one in s.split(",")],
        metavar="MB,...",
        help="compare the workers for these partitions alone, as "
        + ",".join(str(one) for one in PARTITIONS),
    )
    parser.add_argument("--folder", type=Path, default=FOLDER, help="of files by partition")
    parser.add_argument("--reckon", action="store_true", help=f"fill the estimate of {PAGE.name}")
    options = parser.parse_args(arguments)
    if options.reckon:
        stored = json.loads(STORED.read_text(encoding="utf-8"))
        text = reckoning(stored["speed"]["dask"][0]["rates"])
        PAGE.write_text(
            filled(PAGE.read_text(encoding="utf-8"), "reckoning", text), encoding="utf-8"
        )
        print(text)
        return
    chunk = min(FULL.chunk, max(1, options.rows // 40))  # enough chunks for an even share
    size = Size(n_rows=options.rows, chunk=chunk, rounds=options.rounds)
    if options.partitions is None:
        print(as_markdown([measure(size)]))
        return
    options.folder.mkdir(parents=True, exist_ok=True)
    found = {}
    for megabytes in options.partitions:
        found[f"{megabytes:g}"] = ratio = partition_ratio(size, megabytes)
        kept = {"megabytes": megabytes, "rows": size.n_rows, **asdict(ratio)}
        file = options.folder / f"partitions-{megabytes:g}.json"
        file.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    print(partition_table(found))


if __name__ == "__main__":
    main()
