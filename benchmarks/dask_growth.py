"""Machines on Dask: two workers against one, and searches at two sizes.

``python -m benchmarks.dask_growth [--rows N] [--rounds R]``, by default 10 million rows of 50
features behind 200 hidden units; ``python -m benchmarks --only dask`` is the same.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from benchmarks.tables import limit_cell, met_cell, ratio_cell, table
from benchmarks.timing import (
    Ratio,
    blas_threads,
    duration,
    in_own_process,
    peak_memory,
    seconds_by_round,
)
from ecselm.costs import ClassWeights
from ecselm.dask import DaskECSELMClassifier, DaskECSELMRegressor, DaskELMClassifier
from ecselm.estimators._base import class_targets
from ecselm.estimators._training import Rows
from ecselm.fitness.folds import row_hashes
from ecselm.layers import InputScale, RandomLayer, ScaleSum, draw_weights
from ecselm.outofcore import RowBlock
from ecselm.outofcore.passes import LabelCounts, RowListing, SampleRule

SECTION = """## Fits on Dask

Workers are processes of one BLAS thread. They make the rows chunk by chunk; these are never all
in memory. Fits are timed by the clock, for which the machine must have nothing else to do;
searches, which the client runs after the pass over the rows, by its CPU time. Both sizes of a
search have as many validation rows.

{table}
"""
TWO_WORKERS = 1.6  # times as fast as one
MOST_MEMORY = 2 << 30  # bytes of any process
SAME_TIME = 1.2  # of a search at ten times the rows
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


@dataclass(frozen=True, slots=True)
class Size:
    """How many rows of which shape, and how often."""

    n_rows: int = 10_000_000
    n_features: int = 50
    n_hidden: int = 200
    chunk: int = 250_000  # 100 MB; between smaller ones workers wait for the scheduler
    population: int = 100
    epochs: int = 99  # after the first population
    rounds: int = 3
    processes: bool = True  # of the workers, else threads

    @property
    def max_validation_rows(self) -> int:
        """Return a number of rows that is less than a tenth of all."""
        return min(100_000, self.n_rows // 20)


FULL = Size()
QUICK = Size(4000, 5, 10, 1000, population=4, epochs=2, rounds=1, processes=False)
SEARCHES: list[tuple[str, Any, int, dict[str, Any]]] = [
    ("errors, by a sample", DaskECSELMClassifier, 1, {"activation": "radbas", "smoothing": 0}),
    ("squared errors, by sums", DaskECSELMRegressor, 2, {"scoring": "neg_mean_squared_error"}),
]


@dataclass(frozen=True, slots=True)
class Search:
    """CPU seconds of a search after the pass, at a tenth of the rows and at all."""

    what: str
    ratio: float  # all over a tenth
    seconds: tuple[float, float]
    n_evaluations: int


@dataclass(frozen=True, slots=True)
class Result:
    """What was measured."""

    size: Size
    workers: Ratio  # time of one worker over that of two
    memory: dict[str, int]  # bytes by process
    searches: list[Search]
    rates: dict[str, float]  # of one core


def made_rows(size: Size, n_rows: int) -> tuple[da.Array, da.Array, da.Array]:
    """Return inputs, classes and targets that are made lazily."""
    cut = (size.chunk,) * (n_rows // size.chunk)
    cut += (n_rows % size.chunk,) if n_rows % size.chunk else ()
    places = da.arange(n_rows, chunks=(cut,))
    X = places.map_blocks(
        partial(_chunk, n_features=size.n_features),
        new_axis=1,
        chunks=(cut, (size.n_features,)),
        dtype=float,
        meta=np.empty((0, 0)),
    )
    scores = X.map_blocks(_scores, drop_axis=1, dtype=float, meta=np.empty(0))
    return X, scores.map_blocks(_classes, dtype=int, meta=np.empty(0, int)), scores


def _scores(X: np.ndarray) -> np.ndarray:
    return X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * X[:, 3]


def _classes(scores: np.ndarray) -> np.ndarray:
    return (scores > 1.5).astype(int)


def _chunk(places: np.ndarray, n_features: int) -> np.ndarray:
    first = int(places[0]) if len(places) else 0
    return np.random.default_rng(first).standard_normal((len(places), n_features))


@contextmanager
def cluster_of(n_workers: int, processes: bool) -> Iterator[Client]:
    """Start workers of one thread each."""
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
    """Run everything in a process of its own, one cluster beside the other."""
    return in_own_process(_measured, size)


def _measured(size: Size) -> Result:
    os.environ.update(ONE_THREAD)  # workers inherit it
    with cluster_of(1, size.processes) as one, cluster_of(2, size.processes) as two:
        workers = _compared_workers(size, one, two)
        searches = [_growth(size, two, *task) for task in SEARCHES]
        memory = {f"worker {i}": v for i, v in enumerate(two.run(peak_memory).values(), 1)}
        memory["client"] = peak_memory()
    return Result(size, workers, memory, searches, rates(size))


def _compared_workers(size: Size, one: Client, two: Client) -> Ratio:
    X, y, _ = made_rows(size, size.n_rows)

    def fit(client: Client) -> None:
        DaskELMClassifier(size.n_hidden, random_state=0, client=client).fit(X, y)

    few = [rows[: 2 * size.chunk] for rows in (X, y)]
    for client in (one, two):  # workers load the library only once
        DaskELMClassifier(size.n_hidden, random_state=0, client=client).fit(*few)
    timers = [partial(duration, partial(fit, client)) for client in (one, two)]
    seconds = seconds_by_round(timers, size.rounds)
    return Ratio.of(seconds[:, 0] / seconds[:, 1])


def _growth(
    size: Size, client: Client, what: str, machine: Any, target: int, options: Any
) -> Search:
    """Search at a tenth of the rows and at all, and compare what follows the pass."""
    times: list[float] = []
    n = 0
    for n_rows in (size.n_rows // 10, size.n_rows):
        times_of: list[float] = []
        rows = made_rows(size, n_rows)
        model = machine(
            size.n_hidden,
            population_size=size.population,
            max_epochs=size.epochs,
            callbacks=lambda _, times_of=times_of: times_of.append(time.process_time()),
            max_validation_rows=size.max_validation_rows,
            random_state=0,
            client=client,
            **options,
        )
        n = model.fit(rows[0], rows[target]).n_evaluations_
        times.append(times_of[-1] - times_of[0])
    return Search(what, times[1] / times[0], (times[0], times[1]), n)


def rates(size: Size) -> dict[str, float]:
    """Return what one core does in a second of CPU time, for the model of costs."""
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
            "rows made": lambda: _chunk(np.arange(size.chunk), size.n_features),
            "rows measured": lambda: ScaleSum.of(X),
            "rows hashed": lambda: row_hashes(X),
            "rows listed and drawn": lambda: RowListing.of(block, rule),
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
    """Return what was measured as tables."""
    (result,) = results
    size, MiB = result.size, 1 << 20
    searched = [
        _line(
            f"search, {one.what}: all rows over a tenth ({one.n_evaluations} candidates)",
            f"{one.ratio:.2f}",
            limit_cell("<=", SAME_TIME),
            one.ratio <= SAME_TIME,
        )
        for one in result.searches
    ]
    limit = limit_cell("<", MOST_MEMORY / MiB, 0)
    held = [
        _line(f"most memory of {name}, MiB", f"{most / MiB:.0f}", limit, most < MOST_MEMORY)
        for name, most in result.memory.items()
    ]
    workers = _line(
        "a fit by one worker over one by two",
        ratio_cell(result.workers),
        limit_cell(">=", TWO_WORKERS),
        result.workers.median >= TWO_WORKERS,
    )
    told = f"{size.n_rows} rows of {size.n_features} features, {size.n_hidden} hidden units"
    speeds = [[name, f"{value:.3g}"] for name, value in result.rates.items()]
    return "\n\n".join(
        [
            f"{told}, chunks of {size.chunk} rows, on {os.cpu_count()} cores.",
            table(["What", "Measured", "Target", "Met"], [workers, *searched, *held]),
            table(["One core, per second", "Measured"], speeds),
        ]
    )


def _line(what: str, measured: str, limit: str, met: bool) -> list[str]:
    return [what, measured, limit, met_cell(met)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run as the options say, and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.dask_growth")
    parser.add_argument("--rows", type=int, default=FULL.n_rows, help="rows of the larger table")
    parser.add_argument("--rounds", type=int, default=FULL.rounds, help="fits by each cluster")
    options = parser.parse_args(arguments)
    chunk = min(FULL.chunk, max(1, options.rows // 40))  # enough of them to share out evenly
    size = Size(n_rows=options.rows, chunk=chunk, rounds=options.rounds)
    print(as_markdown([measure(size)]))


if __name__ == "__main__":
    main()
