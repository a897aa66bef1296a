"""The page of the documentation about benchmarks, in Markdown."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any

from benchmarks import dask_growth, generations, pairs, searches, streaming
from benchmarks.accuracy import Accuracy
from benchmarks.environment import Environment
from benchmarks.fit import REASONS as FIT_REASONS
from benchmarks.generations import PEAK_TARGET, SpeedUp
from benchmarks.growth import BASE, POPULATION, ROW_BASE, Growth
from benchmarks.optimizers import Overhead
from benchmarks.problems import COMPILED, LAPACK, SHAPES, Shape
from benchmarks.results import Results, Speed
from benchmarks.searches import CoreSpeedUp, Share
from benchmarks.tables import comparison_rows, limit_cell, met_cell, ratio_cell, table
from benchmarks.timing import Comparison

PAGE = """# Benchmarks

This page is written by `make bench`; do not edit it.
{warning}
## Environment

{environment}

## Time of a weighted fit

Each number is the median, over {repeats} rounds, of our time divided by the baseline's,
with the quartiles in brackets; below 1 we are faster. All fits of a comparison run in
turn in one process, each on one BLAS thread unless a row says otherwise. The data are
`make_classification` with {rows} rows, {features} features and {classes} classes; every
model has {hidden} hidden units, and the rows have random weights between 0.5 and 2.

- **H with NumPy + Ridge** standardises X, draws the weights, computes
  `H = exp(-(XW + b)^2)` and solves with scikit-learn's
  `Ridge(solver="cholesky", fit_intercept=False)`, always in float64. It solves the same
  problem as ours; the weights of WELM are passed to it.
- **hpelm** has sigmoid units and weights per class, not per row: its class weights are the
  mean weights of the rows of each class. It runs in the precision of the row.
- **scikit-elm** has its default tanh units and does not support weights. Its X is in the
  precision of the row.
- **gfdl** has tanh units, drawn as `glorot_normal`, without direct links, with a ridge of 1/C
  and without weights. It needs Python 3.12 or later, and runs beside ours in an environment
  of its own where this Python is older.

The X of the packages is standardised beforehand; this is not timed.

{fits}

## Overhead of the optimiser

Each number is the median, over {search_repeats} rounds, of the time of a generation of
`BacktrackingSearch` divided by the baseline's, with the quartiles in brackets; below 1 we
are faster. The searches run in turn in one process on one BLAS thread. Fitness is the first
coordinate, so that only the optimiser takes time; all start with the same population of
{population}. Generations in a round: {our_generations} of ours, {their_generations} of each
baseline. Time before the evaluation of the first population does not count.

- **SciPy, differential_evolution** runs with `vectorized=True`, `updating="deferred"` and
  `polish=False`.
- **mealpy, OriginalDE** and **pymoo, DE** have their default settings. mealpy evaluates one
  point at a time.

The milliseconds are those of this machine, for orientation only.

{optimizers}

{speed}
## Accuracy without tuning

Mean accuracy of default settings on test rows, {accuracy_hidden} hidden units each. Digits:
stratified splits of 80 to 20, {digits_seeds} seeds. The others: `make_classification` with
{accuracy_rows} rows, 50 features and 10 classes, split 75 to 25, {seeds} seeds, each used for
the generator, the split and the model. hpelm has sigmoid units, scikit-elm its default, gfdl
tanh units; the X of all three is standardised.

The default draw of the weights was chosen on digits, on real gas sensor data and on data of
these generators with the seeds 0 to 4. The seeds here begin at {first_seed}: the generated rows
took no part in the choice, the digits did.

{accuracies}
"""
QUICK_WARNING = """
**This was a quick run on tiny data, to check that everything runs: its numbers mean nothing.**
"""

SECTIONS = {
    "generations": """## Time of a generation of candidates

Each number is the median, over the rounds, of the literal loop's time divided by ours, with
the quartiles in brackets: how many times faster a generation of {population} candidates is
evaluated. The literal loop solves (15) by `scipy.linalg.solve` for one candidate after the
other. It is timed on a few candidates of each generation and scaled to all; the rows of every
fold are gathered beforehand. All run in turn in one process on one BLAS thread. In every round
the candidates are new, with costs drawn from [0.001, 1], and their losses are compared: the
report is only written if error counts are equal, and squared losses equal to 1e-8.

{shapes}

At sample level one `BacktrackingSearch` of {run_generations} generations drives all, and its
own time is added on both sides; fitness is the error plus a thousandth of the mean squared
residual. Its generations are also listed separately: in some, trials move in many coordinates,
in others in one.

The share of peak is the flops per second of a flop model over those of a matrix product,
{peak:.0f} GF/s here, timed in the same round; the target is {peak_target} on the compiled path.
The model counts, for a candidate, k L^2 + L^3/3 + 2 L^2 m for every solve and 2 N L m for
scores, where m is 1 for two classes and k for more; 2 L^2 m instead of scores for the squared
loss; N^3/3 + 2 N^2 m with a kernel; N L^2 instead of k L^2 with one cost per row. The share
can exceed 1 where fewer flops suffice: when only some of the costs have changed, or when scores
are first computed in float32. The compiled path here: {path}.

The last number is our time over that of a roofline: the flops that are needed at the speed of
the product or the bytes at that of a copy of as many bytes as H has, both timed in the same
round, whatever takes longer. Bytes are those of sums by class, read once for four candidates, of
H, read once for sixteen, and of scores. At sample level only flops count, and only rows whose
costs are new.

{table}
""",
    "whole": """## Time of whole searches

Each number is the median of our time divided by the baseline's, on one core. The searches
are `ECSELMClassifier` with a population of {whole_population} over {epochs} epochs; where fewer
epochs are run, the others are added, each as long as the mean of those run. `counts only` is
`smoothing=0`; by default half of the fitness is smoothed.

{table}
""",
    "shares": """## Time of a search outside of its solves

The share of a search that is spent neither in its engine nor in its fitness: the optimiser,
decoding, bookkeeping, a callback and a progress bar. Fitness counts errors (`smoothing=0`).

{table}
""",
    "cores": """## Two cores

The time of a generation on one core divided by that on two: `n_jobs=1` and one BLAS thread
over `n_jobs=2` and two. Fitness counts errors (`smoothing=0`). A target of 1 is met if the
upper quartile reaches it, because equal times vary around a ratio of 1.

{table}
""",
    "growth": """## Growth of time with size

Exponents p of time as size^p, fitted to the medians by least squares of logarithms, beside
those of the flop model over the same sizes. The other sizes are fixed: {fit_base}
for a fit and for a generation of {growth_population} candidates, and
{row_base} for a generation at sample level, where every cost is new.
Times at small sizes are mostly those of calls, so exponents below the model's are expected;
the model counts neither exponentials nor memory traffic.

{table}
""",
    "evolution": """## Other evolutionary packages

Each number is the median of our time for a candidate divided by intelelm's, on the standardised
rows of (e), with {evolution_hidden} hidden units and a population of {evolution_population}. Whole
fits are timed and divided by the number of candidates. `MhaElmClassifier` evolves the weights of
sigmoid units by mealpy's `OriginalDE`, and computes H and a pseudo-inverse for each candidate, as
our `EELMClassifier` does; `ECSELMClassifier` searches costs.

{table}
""",
    "pairs": pairs.SECTION,
    "streaming": streaming.SECTION,
    "dask": dask_growth.SECTION,
}


MOST_SPREAD = 0.25  # of the ratios of fits, the median of all
WITHIN = 1.3  # of the roofline: what remains is not worth a target
# Why targets may be missed, by the first words of a row; the first that fits is shown.
REASONS = {
    "class level": "solves alone run at the share of peak of the squared loss, which has no scores",
    "sample level": "a fifth of the time of new sums goes into packing rows of new costs",
    "(e), class level, 5 folds, counts": "50,000 solves of (15) against 180 of the grid",
    "(e), class level, 5 folds, 100": "50,000 solves against 180; smoothing: see counts only",
    "(a), class level, training error, 100": "smoothing: see the row of counts only",
    "(a), class level, training error, counts": "10,000 candidates with scores of all rows",
    "(e), class level": "cause not isolated",
    "(f), class level": "cause not isolated",
    "(tiny)": "cause not isolated",
}


def page_of(results: Results) -> str:
    """Return the page of all results.

    Raises ValueError if a target is missed without a reason, or if ratios vary too much: then
    the machine was busy.
    """
    if not results.environment.quick:
        _check_spread(results.fits)
    return PAGE.format(
        warning=QUICK_WARNING if results.environment.quick else "",
        environment=_environment(results.environment),
        fits=_comparisons("Our fit", results.fits),
        optimizers=_optimizers(results.optimizers),
        speed=speed_sections(results.speed),
        accuracies=_accuracies(results.accuracies),
        **results.sizes,
    )


def speed_sections(speed: Speed) -> str:
    """Return the sections of the parts about speed that were measured."""
    values = {
        "population": generations.FULL.population,
        "shapes": "\n".join(f"- ({shape.name}) {_shape(shape)}." for shape in SHAPES.values()),
        "run_generations": generations.FULL_RUNS.generations,
        "peak": speed.peak / 1e9,
        "peak_target": PEAK_TARGET,
        "path": speed.path,
        "whole_population": searches.FULL.population,
        "epochs": searches.FULL.epochs,
        "fit_base": _shape(BASE),
        "row_base": _shape(ROW_BASE),
        "growth_population": POPULATION,
        "evolution_hidden": SHAPES["e"].n_hidden,
        "evolution_population": searches.FULL_EVOLUTION.population,
    }
    measured = {name: getattr(speed, name) for name in SECTIONS if getattr(speed, name)}
    return "\n".join(
        SECTIONS[name].format(table=TABLES[name](records), **values)
        for name, records in measured.items()
    )


def _environment(environment: Environment) -> str:
    flags = ", ".join(environment.flags) or "unknown"
    lines = [
        f"Date: {environment.date}",
        f"Processor: {environment.cpu}, {environment.cores} cores, instruction sets {flags}",
        *([] if environment.busy is None else [f"Cores that others kept busy: {environment.busy}"]),
        f"Python {environment.python}",
        *(f"{name} {version}" for name, version in environment.versions.items()),
    ]
    return "\n".join(f"- {line}" for line in lines)


def _check_spread(comparisons: list[Comparison]) -> None:
    spreads = [entry.ratio.spread for entry in comparisons if entry.ratio is not None]
    if spreads and median(spreads) > MOST_SPREAD:
        raise ValueError(
            f"quartiles of ratios must be within {MOST_SPREAD} of their medians, got "
            f"{median(spreads):.2f}: the machine was busy"
        )


def why_missed(row: str, met: bool | None, given: str | None = None) -> str:
    """Return why a target is missed, empty where it is not.

    Examples
    --------
    >>> why_missed("(a), class level, training error, 100 epochs run", met=False)
    'smoothing: see the row of counts only'
    """
    if met is not False:
        return ""
    found = given or next((why for name, why in REASONS.items() if row.startswith(name)), None)
    if found is None:
        raise ValueError(f"a missed target must have a reason in REASONS, got none for {row!r}")
    return found


def _comparisons(ours: str, comparisons: list[Comparison]) -> str:
    rows = [
        [*cells, why_missed(entry.ours, entry.met, entry.reason or FIT_REASONS.get(entry.baseline))]
        for entry, cells in zip(comparisons, comparison_rows(comparisons), strict=True)
    ]
    return table([ours, "Baseline", "Ratio", "Target", "Met", "Why not"], rows)


def _optimizers(overheads: list[Overhead]) -> str:
    rows = [
        [
            str(overhead.dimension),
            overhead.baseline,
            ratio_cell(overhead.ratio, overhead.missing, digits=3),
            f"{overhead.ours_ms:.2f}",
            "" if overhead.theirs_ms is None else f"{overhead.theirs_ms:.2f}",
        ]
        for overhead in overheads
    ]
    return table(["Coordinates", "Baseline", "Ratio", "ms, ours", "ms, baseline"], rows)


def _accuracies(accuracies: list[Accuracy]) -> str:
    models = list(dict.fromkeys(name for entry in accuracies for name in entry.scores))
    rows = [
        [
            entry.data,
            *(_score(entry.scores.get(name, "")) for name in models),
            limit_cell(">=", entry.target, digits=3),
            met_cell(entry.met),
        ]
        for entry in accuracies
    ]
    return table(["Data", *models, "Target", "Met"], rows)


def _score(score: float | str) -> str:
    return score if isinstance(score, str) else f"{score:.4f}"


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
        [kind, shape, *_cells(found.get(COMPILED)), *_cells(found.get(LAPACK)), _why(found)]
        for wanted in order
        for (kind, shape), found in paths.items()
        if kind == wanted
    ]
    columns = ["Target", "Met", "Share of peak", "Over roofline"]
    header = ["Fitness", "Shape", "Compiled", *columns, "LAPACK", *columns, "Why not"]
    return table(header, rows)


def _why(found: dict[str, SpeedUp]) -> str:
    """Return why the targets of a row are missed: those of the compiled path count first."""
    for path, line in sorted(found.items(), key=lambda item: item[0] != COMPILED):
        if line.met is not False:
            continue
        over = line.over_roofline
        if path == COMPILED and over is not None and over <= WITHIN:
            return f"within {WITHIN} of the roofline"
        alone = "LAPACK solves one candidate at a time" if path == LAPACK else None
        return why_missed(line.kind, line.met, alone)
    return ""


def _cells(line: SpeedUp | None) -> list[str]:
    if line is None:
        return [""] * 5
    return [
        ratio_cell(line.ratio, line.missing, digits=1),
        "" if line.target is None else f">= {line.target:g}",
        met_cell(line.met),
        "" if line.peak is None else f"{line.peak.median:.2f}",
        "" if line.over_roofline is None else f"{line.over_roofline:.2f}",
    ]


def _shares(shares: list[Share]) -> str:
    rows = [
        [
            entry.search,
            ratio_cell(entry.share),
            limit_cell("<=", entry.target),
            met_cell(entry.met),
            why_missed(entry.search, entry.met),
        ]
        for entry in shares
    ]
    return table(["Search", "Share", "Target", "Met", "Why not"], rows)


def _cores(speed_ups: list[CoreSpeedUp]) -> str:
    rows = [
        [
            entry.search,
            ratio_cell(entry.ratio, entry.missing),
            limit_cell(">=", entry.target, digits=1),
            met_cell(entry.met),
            why_missed(entry.search, entry.met),
        ]
        for entry in speed_ups
    ]
    return table(["Search", "One core over two", "Target", "Met", "Why not"], rows)


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


def _searches(comparisons: list[Comparison]) -> str:
    return _comparisons("Our search", comparisons)


TABLES: dict[str, Callable[[list[Any]], str]] = {
    "generations": _generations,
    "whole": _searches,
    "shares": _shares,
    "cores": _cores,
    "growth": _growth,
    "evolution": _searches,
    "pairs": pairs.as_table,
    "streaming": streaming.as_table,
    "dask": dask_growth.as_markdown,
}
