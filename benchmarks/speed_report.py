"""What was measured about searches, in Markdown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks import (
    dask_growth,
    end_to_end,
    generations,
    pairs,
    rivals,
    sample_runs,
    streaming,
)
from benchmarks.engines import COMPILED, LAPACK
from benchmarks.fit import Comparison
from benchmarks.generations import PEAK_TARGET, SpeedUp
from benchmarks.growth import BASE, POPULATION, ROW_BASE, Growth
from benchmarks.problems import SHAPES, Shape
from benchmarks.speed import Speed
from benchmarks.surroundings import Gain, Share
from benchmarks.tables import comparison_rows, limit_cell, met_cell, ratio_cell, table

SECTIONS = {
    "generations": """## Time of a generation of candidates

Each number is the median, over the rounds, of the literal loop's time divided by ours, with
the quartiles in brackets: how many times faster a generation of {population} candidates is
evaluated. The literal loop solves (15) by `scipy.linalg.solve` for one candidate after the
other. It is timed on a few candidates of each generation and scaled to all; it is given the
rows of every fold beforehand. All run in turn in one process on one BLAS thread. In every round
the candidates are new, with costs drawn from [0.001, 1], and their losses are compared: errors
must be equal in number, squared losses to 1e-8, or there is no report.

{shapes}

At sample level one `BacktrackingSearch` of {run_generations} generations drives all, and the
time it takes itself is added on both sides; fitness is the error plus a thousandth of the mean
squared residual. Its generations are also told apart: in some, trials move in many coordinates,
in others in one.

The share of peak is that of the flops of a model in the speed of a matrix product, {peak:.0f}
GF/s here, timed in the same round; the target is {peak_target} on the compiled path. The model
counts, for a candidate, k L^2 + L^3/3 + 2 L^2 m for every solve and 2 N L m for scores, where m
is 1 for two classes and k for more; 2 L^2 m instead of scores for the squared loss; N^3/3 +
2 N^2 m behind a kernel; N L^2 instead of k L^2 where every row has a cost. What does with less
can exceed it: when only a part of the costs has changed, or when scores are first taken in
float32. The compiled path here: {path}.

{table}
""",
    "whole": """## Time of whole searches

Each number is the median of our time divided by the opponent's, on one core. The searches
are `ECSELMClassifier` with a population of {whole_population} over {epochs} epochs; where fewer
are said to be run, the rest is added, each epoch as long as the mean of those that were.
`counts only` is `smoothing=0`; by default half of the fitness is smoothed.

{table}
""",
    "shares": """## What a search takes beside its solves

The share of a search that is spent neither in engine nor in judge: the optimiser, decoding,
bookkeeping, a callback and a progress bar. Fitness counts errors (`smoothing=0`).

{table}
""",
    "cores": """## Two cores

The time of a generation on one core divided by that on two: `n_jobs=1` and one BLAS thread
against `n_jobs=2` and two. Fitness counts errors (`smoothing=0`). A target of 1 is met if the
upper quartile reaches it, because equal times fall on both sides.

{table}
""",
    "growth": """## How time grows

Exponents p of time as size^p, fitted to the medians by least squares of logarithms, beside
those of the flop model over the same sizes. What is not varied is {fit_base} for a fit and for
a generation of {growth_population} candidates, and {row_base} for one at sample level, where
every cost is new. Times at small sizes are mostly those of calls, so exponents below the
model's are no surprise; the model counts neither exponentials nor the way to memory.

{table}
""",
    "rivals": """## Other evolutionary machines

Each number is the median of our time for a candidate divided by intelelm's, on the rows of
(e), standardised, with {rival_hidden} hidden units and a population of {rival_population}. Whole
fits are timed and divided by their candidates. `MhaElmClassifier` evolves the weights of sigmoid
units by mealpy's `OriginalDE`, and computes H and a pseudo-inverse for each candidate, as our
`EELMClassifier` does; `ECSELMClassifier` searches costs.

{table}
""",
    "pairs": pairs.SECTION,
    "streaming": streaming.SECTION,
    "dask": dask_growth.SECTION,
}


def as_markdown(speed: Speed) -> str:
    """Return the sections of what was measured."""
    words = {
        "population": generations.FULL.population,
        "shapes": "\n".join(f"- ({shape.name}) {_shape(shape)}." for shape in SHAPES.values()),
        "run_generations": sample_runs.FULL.generations,
        "peak": speed.peak / 1e9,
        "peak_target": PEAK_TARGET,
        "path": speed.path,
        "whole_population": end_to_end.FULL.population,
        "epochs": end_to_end.FULL.epochs,
        "fit_base": _shape(BASE),
        "row_base": _shape(ROW_BASE),
        "growth_population": POPULATION,
        "rival_hidden": SHAPES["e"].n_hidden,
        "rival_population": rivals.FULL.population,
    }
    measured = {name: getattr(speed, name) for name in SECTIONS if getattr(speed, name)}
    return "\n".join(
        SECTIONS[name].format(table=TABLES[name](records), **words)
        for name, records in measured.items()
    )


def _shape(shape: Shape) -> str:
    units = "a kernel" if shape.is_kernel else f"L = {shape.n_hidden}"
    strength = f"2^{int(shape.C).bit_length() - 1}"
    source = "digits" if shape.data == "digits" else "synthetic rows"
    return f"N = {shape.n_rows}, {units}, k = {shape.n_classes}, C = {strength}, {source}"


def _generations(lines: list[SpeedUp]) -> str:
    """Return one row for every kind and shape, with both paths side by side."""
    paths: dict[tuple[str, str], dict[str, SpeedUp]] = {}
    for line in lines:
        paths.setdefault((line.kind, line.shape), {})[line.path] = line
    order = dict.fromkeys(kind for kind, _ in paths)
    rows = [
        [kind, shape, *_cells(found.get(COMPILED)), *_cells(found.get(LAPACK))]
        for wanted in order
        for (kind, shape), found in paths.items()
        if kind == wanted
    ]
    columns = ["Target", "Met", "Share of peak"]
    return table(["Fitness", "Shape", "Compiled", *columns, "LAPACK", *columns], rows)


def _cells(line: SpeedUp | None) -> list[str]:
    if line is None:
        return [""] * 4
    return [
        ratio_cell(line.ratio, line.missing, digits=1),
        "" if line.target is None else f">= {line.target:g}",
        met_cell(line.met),
        "" if line.peak is None else f"{line.peak.median:.2f}",
    ]


def _comparisons(comparisons: list[Comparison]) -> str:
    header = ["Our search", "Against", "Ratio", "Target", "Met"]
    return table(header, comparison_rows(comparisons))


def _shares(shares: list[Share]) -> str:
    rows = [
        [entry.search, ratio_cell(entry.share), limit_cell("<=", entry.target), met_cell(entry.met)]
        for entry in shares
    ]
    return table(["Search", "Share", "Target", "Met"], rows)


def _cores(gains: list[Gain]) -> str:
    rows = [
        [
            entry.search,
            ratio_cell(entry.ratio, entry.missing),
            limit_cell(">=", entry.target, digits=1),
            met_cell(entry.met),
        ]
        for entry in gains
    ]
    return table(["Search", "One core over two", "Target", "Met"], rows)


def _growth(curves: list[Growth]) -> str:
    rows = [
        [
            curve.what,
            curve.over,
            ", ".join(map(str, curve.sizes)),
            ", ".join(f"{1e3 * seconds:.3g}" for seconds in curve.seconds),
            f"{curve.exponent:.2f}",
            f"{curve.model:.2f}",
        ]
        for curve in curves
    ]
    return table(["Time of", "Over", "Sizes", "ms here", "Exponent", "Flop model"], rows)


TABLES: dict[str, Callable[[list[Any]], str]] = {
    "generations": _generations,
    "whole": _comparisons,
    "shares": _shares,
    "cores": _cores,
    "growth": _growth,
    "rivals": _comparisons,
    "pairs": pairs.as_table,
    "streaming": streaming.as_table,
    "dask": dask_growth.as_markdown,
}
