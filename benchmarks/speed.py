"""All that is measured about the speed of searches, and of fits beyond memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks import (
    dask_growth,
    end_to_end,
    generations,
    growth,
    pairs,
    rivals,
    sample_runs,
    streaming,
    surroundings,
)
from benchmarks.fit import Comparison
from benchmarks.generations import Product, SpeedUp
from benchmarks.growth import Growth
from benchmarks.pairs import PairTime
from benchmarks.surroundings import Gain, Share
from benchmarks.timing import blas_threads
from ecselm import _native as compiled


@dataclass(frozen=True, slots=True)
class Speed:
    """What was measured, and by which path searches were run where both are open."""

    path: str
    peak: float  # flops a second of a product, for orientation
    generations: list[SpeedUp]
    whole: list[Comparison]
    shares: list[Share]
    cores: list[Gain]
    growth: list[Growth]
    rivals: list[Comparison]
    pairs: list[PairTime]
    streaming: list[streaming.Measured]
    dask: list[dask_growth.Result]


PARTS: dict[str, Callable[[bool], list[Any]]] = {
    "generations": lambda quick: [
        *generations.compare_generations(generations.QUICK if quick else generations.FULL),
        *sample_runs.compare_runs(sample_runs.QUICK if quick else sample_runs.FULL),
    ],
    "whole": lambda quick: end_to_end.compare_whole(end_to_end.QUICK if quick else end_to_end.FULL),
    "shares": lambda quick: surroundings.measure_shares(
        surroundings.QUICK if quick else surroundings.FULL
    ),
    "cores": lambda quick: surroundings.compare_cores(
        surroundings.QUICK if quick else surroundings.FULL
    ),
    "growth": lambda quick: growth.measure_growth(growth.QUICK if quick else growth.FULL),
    "pairs": lambda quick: pairs.compare_pairs(pairs.QUICK if quick else pairs.FULL),
    "rivals": lambda quick: rivals.compare_rivals(rivals.QUICK if quick else rivals.FULL),
    "streaming": lambda quick: streaming.measure(streaming.QUICK if quick else streaming.FULL),
    "dask": lambda quick: [dask_growth.measure(dask_growth.QUICK if quick else dask_growth.FULL)],
}


def measure_speed(quick: bool, only: str | None = None) -> Speed:
    """Measure everything, or one part alone; on tiny data if ``quick``."""
    wanted = PARTS if only is None else (only,)
    parts = {name: part(quick) if name in wanted else [] for name, part in PARTS.items()}
    return Speed(compiled.path_name(), _peak(), **parts)


def _peak() -> float:
    product = Product(generations.FULL.matrix)
    with blas_threads(1):
        return product.flops / float(np.median([product() for _ in range(9)]))
