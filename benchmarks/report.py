"""The results as JSON and as a Markdown page."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.accuracy import Accuracy
from benchmarks.conditions import Conditions
from benchmarks.fit import Comparison
from benchmarks.search import Overhead

PAGE = """# Benchmarks

This page is written by `make bench`; do not edit it.
{warning}
## Conditions

{conditions}

## Time of a weighted fit

Each number is the median, over {repeats} rounds, of our time divided by the opponent's,
with the quartiles in brackets; below 1 we are faster. All fits of a comparison run in
turn in one process, each on one BLAS thread unless a row says otherwise. The data are
`make_classification` with {rows} rows, {features} features and {classes} classes; every
model has {hidden} hidden units, and the rows have random weights between 0.5 and 2.

- **H with NumPy + Ridge** standardises X, draws the weights, computes
  `H = exp(-(XW + b)^2)` and solves with scikit-learn's
  `Ridge(solver="cholesky", fit_intercept=False)`, always in float64. It solves the same
  problem as ours; the weights of WELM are stated to it.
- **hpelm** has sigmoid units and weighs classes, not rows: it is given the mean weight
  of every class. It runs in the precision of the row.
- **scikit-elm** has its default tanh units and no weights at all. It is given X in the
  precision of the row.

Both packages are given X standardised, which is not timed.

{times}

## Overhead of the search itself

Each number is the median, over {search_repeats} rounds, of the time of a generation of
`BacktrackingSearch` divided by the opponent's, with the quartiles in brackets; below 1 we
are faster. The searches run in turn in one process on one BLAS thread. Fitness is the first
coordinate, so that nothing but the search takes time; all start with the same population of
{population}. Generations in a round: {our_generations} of ours, {their_generations} of each
opponent. What is done before the first population has been evaluated does not count.

- **SciPy, differential_evolution** is given `vectorized=True`, `updating="deferred"` and
  `polish=False`.
- **mealpy, OriginalDE** and **pymoo, DE** have their default settings. mealpy evaluates one
  point at a time.

The milliseconds are those of this machine, for orientation only.

{searches}

## Accuracy without tuning

Mean accuracy of default settings on test rows, {accuracy_hidden} hidden units each. Digits:
stratified splits of 80 to 20, number of seeds {digits_seeds}. The others:
`make_classification` with {accuracy_rows} rows, 50 features and 10 classes, split 75 to 25,
number of seeds {seeds}, each for the generator, the split and the model. hpelm has
sigmoid units, scikit-elm its default; both are given X standardised.

The default draw of the weights was chosen on digits, on real gas sensor data and on data of
these generators with the seeds 0 to 4. The seeds here begin at {first_seed}: the generated rows
took no part in the choice, the digits did.

{accuracies}
"""
QUICK_WARNING = """
**This was a quick run on tiny data, to see that it runs: its numbers mean nothing.**
"""


@dataclass(frozen=True, slots=True)
class Results:
    """Everything that was measured."""

    conditions: Conditions
    sizes: dict[str, int]  # what the page says about the data, by its place there
    times: list[Comparison]
    searches: list[Overhead]
    accuracies: list[Accuracy]

    def as_json(self) -> str:
        """Return the results as JSON, with what is met told for every target."""
        content: dict[str, Any] = asdict(self)
        for kind in ("times", "accuracies"):
            for entry, record in zip(content[kind], getattr(self, kind), strict=True):
                entry["met"] = record.met
        return json.dumps(content, indent=2) + "\n"

    def as_markdown(self) -> str:
        """Return the page of the documentation."""
        return PAGE.format(
            warning=QUICK_WARNING if self.conditions.quick else "",
            conditions=_conditions(self.conditions),
            times=_times(self.times),
            searches=_searches(self.searches),
            accuracies=_accuracies(self.accuracies),
            **self.sizes,
        )


def _conditions(conditions: Conditions) -> str:
    flags = ", ".join(conditions.flags) or "unknown"
    lines = [
        f"Date: {conditions.date}",
        f"Processor: {conditions.cpu}, {conditions.cores} cores, instruction sets {flags}",
        f"Python {conditions.python}",
        *(f"{name} {version}" for name, version in conditions.versions.items()),
    ]
    return "\n".join(f"- {line}" for line in lines)


def _times(comparisons: list[Comparison]) -> str:
    rows = [
        [
            comparison.ours,
            comparison.opponent,
            _ratio(comparison),
            "" if comparison.target is None else f"<= {comparison.target:.2f}",
            _met(comparison.met),
        ]
        for comparison in comparisons
    ]
    return _table(["Our fit", "Against", "Ratio", "Target", "Met"], rows)


def _searches(overheads: list[Overhead]) -> str:
    rows = [
        [
            str(overhead.dimension),
            overhead.opponent,
            _ratio(overhead, digits=3),
            f"{overhead.ours_ms:.2f}",
            "" if overhead.theirs_ms is None else f"{overhead.theirs_ms:.2f}",
        ]
        for overhead in overheads
    ]
    return _table(["Coordinates", "Against", "Ratio", "ms, ours", "ms, theirs"], rows)


def _ratio(comparison: Comparison | Overhead, digits: int = 2) -> str:
    ratio = comparison.ratio
    if ratio is None:
        return str(comparison.missing)
    median, lower, upper = (f"{x:.{digits}f}" for x in (ratio.median, ratio.lower, ratio.upper))
    return f"{median} ({lower} to {upper})"


def _accuracies(accuracies: list[Accuracy]) -> str:
    models = list(dict.fromkeys(name for entry in accuracies for name in entry.scores))
    rows = [
        [
            entry.data,
            *(_score(entry.scores.get(name, "")) for name in models),
            "" if entry.target is None else f">= {entry.target:.3f}",
            _met(entry.met),
        ]
        for entry in accuracies
    ]
    return _table(["Data", *models, "Target", "Met"], rows)


def _score(score: float | str) -> str:
    return score if isinstance(score, str) else f"{score:.4f}"


def _met(met: bool | None) -> str:
    return "" if met is None else "yes" if met else "no"


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
