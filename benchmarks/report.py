"""The results as JSON and as a Markdown page."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from benchmarks.accuracy import Accuracy
from benchmarks.conditions import Conditions
from benchmarks.fit import Comparison
from benchmarks.search import Overhead
from benchmarks.speed import Speed
from benchmarks.speed_report import as_markdown
from benchmarks.tables import comparison_rows, limit_cell, met_cell, ratio_cell, table

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
- **gfdl** has tanh units, drawn as `glorot_normal`, without direct links, a ridge of 1/C and
  no weights. It needs Python 3.12 or later.

The packages are given X standardised, which is not timed.

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

{speed}
## Accuracy without tuning

Mean accuracy of default settings on test rows, {accuracy_hidden} hidden units each. Digits:
stratified splits of 80 to 20, number of seeds {digits_seeds}. The others:
`make_classification` with {accuracy_rows} rows, 50 features and 10 classes, split 75 to 25,
number of seeds {seeds}, each for the generator, the split and the model. hpelm has
sigmoid units, scikit-elm its default, gfdl tanh units; all are given X standardised.

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
    speed: Speed

    def as_json(self) -> str:
        """Return the results as JSON, with what is met told for every target."""
        return json.dumps(_plain(self), indent=2) + "\n"

    def as_markdown(self) -> str:
        """Return the page of the documentation."""
        return PAGE.format(
            warning=QUICK_WARNING if self.conditions.quick else "",
            conditions=_conditions(self.conditions),
            times=_times(self.times),
            searches=_searches(self.searches),
            speed=as_markdown(self.speed),
            accuracies=_accuracies(self.accuracies),
            **self.sizes,
        )


def _plain(record: Any) -> Any:
    """Return records as dictionaries, with whether the target is met where there is one."""
    if isinstance(record, list | tuple):
        return [_plain(entry) for entry in record]
    if not is_dataclass(record):
        return record
    content = {field.name: _plain(getattr(record, field.name)) for field in fields(record)}
    return content | ({"met": record.met} if hasattr(record, "met") else {})


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
    header = ["Our fit", "Against", "Ratio", "Target", "Met"]
    return table(header, comparison_rows(comparisons))


def _searches(overheads: list[Overhead]) -> str:
    rows = [
        [
            str(overhead.dimension),
            overhead.opponent,
            ratio_cell(overhead.ratio, overhead.missing, digits=3),
            f"{overhead.ours_ms:.2f}",
            "" if overhead.theirs_ms is None else f"{overhead.theirs_ms:.2f}",
        ]
        for overhead in overheads
    ]
    return table(["Coordinates", "Against", "Ratio", "ms, ours", "ms, theirs"], rows)


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
