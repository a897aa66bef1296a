"""The results of all benchmarks: measured, written as JSON and read again."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np

from benchmarks import (
    accuracy,
    dask_growth,
    fit,
    generations,
    growth,
    optimizers,
    pairs,
    searches,
    streaming,
)
from benchmarks.environment import Environment, current_environment
from benchmarks.generations import Product
from benchmarks.timing import Comparison, blas_threads
from ecselm import _native


@dataclass(frozen=True, slots=True)
class Speed:
    """Speed of searches and of fits beyond memory, by part."""

    path: str  # of the searches that are not run on both paths
    peak: float  # flops per second of a product, for orientation
    generations: list[generations.SpeedUp]
    whole: list[Comparison]
    shares: list[searches.Share]
    cores: list[searches.CoreSpeedUp]
    growth: list[growth.Growth]
    evolution: list[Comparison]
    pairs: list[pairs.PairTime]
    streaming: list[streaming.Measurement]
    dask: list[dask_growth.Result]


@dataclass(frozen=True, slots=True)
class Results:
    """The results of all benchmarks."""

    environment: Environment
    sizes: dict[str, int]  # by placeholder in the text of the page
    fits: list[Comparison]
    optimizers: list[optimizers.Overhead]
    accuracies: list[accuracy.Accuracy]
    speed: Speed

    def as_json(self) -> str:
        """Return the results as JSON, with ``met`` for every target."""
        return json.dumps(_plain(self), indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Results:
        """Return the results that :meth:`as_json` wrote."""
        return _record(cls, json.loads(text))


PARTS: dict[str, Callable[[bool], list[Any]]] = {
    "generations": lambda quick: [
        *generations.compare_generations(generations.QUICK if quick else generations.FULL),
        *generations.compare_runs(generations.QUICK_RUNS if quick else generations.FULL_RUNS),
    ],
    "whole": lambda quick: searches.compare_whole(searches.QUICK if quick else searches.FULL),
    "shares": lambda quick: searches.measure_shares(
        searches.QUICK_SHARES if quick else searches.FULL_SHARES
    ),
    "cores": lambda quick: searches.compare_cores(
        searches.QUICK_SHARES if quick else searches.FULL_SHARES
    ),
    "growth": lambda quick: growth.measure_growth(growth.QUICK if quick else growth.FULL),
    "pairs": lambda quick: pairs.compare_pairs(pairs.QUICK if quick else pairs.FULL),
    "evolution": lambda quick: searches.compare_evolution(
        searches.QUICK_EVOLUTION if quick else searches.FULL_EVOLUTION
    ),
    "streaming": lambda quick: streaming.measure(streaming.QUICK if quick else streaming.FULL),
    "dask": lambda quick: [dask_growth.measure(dask_growth.QUICK if quick else dask_growth.FULL)],
}


def measure(quick: bool) -> Results:
    """Run all benchmarks, on tiny data if ``quick``."""
    fit_size = fit.QUICK if quick else fit.FULL
    accuracy_size = accuracy.QUICK if quick else accuracy.FULL
    optimizer_size = optimizers.QUICK if quick else optimizers.FULL
    return Results(
        environment=current_environment(quick, timed=True),
        sizes={
            "rows": fit_size.n_rows,
            "features": fit_size.n_features,
            "classes": fit_size.n_classes,
            "hidden": fit_size.n_hidden,
            "repeats": fit_size.repeats,
            "accuracy_rows": accuracy_size.n_rows,
            "accuracy_hidden": accuracy_size.n_hidden,
            "seeds": accuracy_size.seeds,
            "digits_seeds": accuracy_size.digits_seeds,
            "first_seed": accuracy.FIRST_SEED,
            "population": optimizer_size.population,
            "our_generations": optimizer_size.ours,
            "their_generations": optimizer_size.theirs,
            "search_repeats": optimizer_size.repeats,
        },
        fits=fit.compare_fits(fit_size),
        optimizers=optimizers.compare_optimizers(optimizer_size),
        accuracies=accuracy.compare_accuracy(accuracy_size),
        speed=measure_speed(quick),
    )


def measure_speed(quick: bool, only: str | None = None) -> Speed:
    """Run all parts about speed, or one of them; on tiny data if ``quick``."""
    wanted = PARTS if only is None else (only,)
    parts = {name: part(quick) if name in wanted else [] for name, part in PARTS.items()}
    return Speed(_native.path_name(), _peak(), **parts)


def _peak() -> float:
    product = Product(generations.FULL.matrix)
    with blas_threads(1):
        return product.flops / float(np.median([product() for _ in range(9)]))


def _plain(record: Any) -> Any:
    """Return records as dictionaries, with ``met`` where there is a target."""
    if isinstance(record, list | tuple):
        return [_plain(entry) for entry in record]
    if not is_dataclass(record):
        return record
    content = {
        field.name: _plain(getattr(record, field.name))
        for field in fields(record)
        if getattr(record, field.name) is not None or not field.metadata.get("omitted")
    }
    return content | ({"met": record.met} if hasattr(record, "met") else {})


def _record(kind: Any, content: Any) -> Any:
    """Return what ``_plain`` has made plain as a value of the type ``kind``."""
    if get_origin(kind) is UnionType and content is not None:
        kind = next((one for one in get_args(kind) if is_dataclass(one)), kind)
    if is_dataclass(kind) and content is not None:
        types = get_type_hints(kind)
        stored = [one for one in fields(kind) if one.name in content or not one.metadata]
        return kind(**{one.name: _record(types[one.name], content[one.name]) for one in stored})
    if get_origin(kind) is list:
        return [_record(get_args(kind)[0], entry) for entry in content]
    return tuple(content) if get_origin(kind) is tuple else content
