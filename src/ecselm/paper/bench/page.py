"""The findings of a bench as a page of Markdown, and in short for a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from ecselm.paper.bench.findings import ALL, BASELINE
from ecselm.paper.protocols.layout import Table

NAMES = {
    "gmean": "Geometric mean of the recalls",
    "f1_macro": "Macro-averaged F1",
    "matthews_corrcoef": "Matthews correlation",
    "accuracy": "Accuracy",
    "mean_cost": "Mean cost of a decision",
}
HEADER = ("method", "mean", "mean rank", "wins/ties/losses", "difference", "p", "worst loss")
INTRODUCTION = f"""# Methods that are all tuned alike

Every method is tuned for the target of its table, on the training rows of every split alone and in
the same folds. The value of a data set is the mean over its splits; ranks are means over data
sets, 1 being the best. Wins, ties, losses, the mean difference and the worst loss are those of
{BASELINE} against the method of the line; values within 1e-9 tie. p is Wilcoxon's signed rank
test over data sets, corrected after Holm for the number of opponents in the table. Methods for
two classes only are in tables of the data sets of two classes. Where costs count, splits of one
data set are compared, which are not independent and are not tested.
"""


def tables_of(summary: Any, comparisons: Any) -> list[Table]:
    """Return a table for every target, part of the data and group of classes.

    Parameters
    ----------
    summary, comparisons : DataFrame
        As ``summary_of`` and ``comparisons_of`` of the findings return them.
    """
    against = {
        (row.target, row.part, row.classes, row.method): row
        for row in comparisons.itertuples(index=False)
    }
    tables = []
    for (target, part, classes), own in summary.groupby(["target", "part", "classes"], sort=False):
        ordered = own.sort_values("mean_rank", kind="stable")
        rows = tuple(
            _line(one, against.get((target, part, classes, one.method)))
            for one in ordered.itertuples(index=False)
        )
        title = _title(target, part, classes, int(own["n"].iloc[0]))
        tables.append(Table(title, HEADER, rows, own))
    return tables


def page_of(tables: Sequence[Table], left_out: Sequence[str], pictures: Iterable[str]) -> str:
    """Return a page of Markdown.

    Parameters
    ----------
    tables : sequence of Table
    left_out : sequence of str
        Methods that are missing from some tables.
    pictures : iterable of str
        Names of files.
    """
    parts = [INTRODUCTION, *(markdown(table) for table in tables)]
    parts += [f"![{name}]({name})\n" for name in pictures]
    if left_out:
        parts.append(f"Not finished everywhere, and left out there: {', '.join(left_out)}.\n")
    return "\n".join(parts)


def markdown(table: Table) -> str:
    """Return a table under its title, as Markdown."""
    lines = [f"| {' | '.join(row)} |" for row in (table.header, *table.rows)]
    lines.insert(1, "|" + "---|" * len(table.header))
    return "\n".join([f"## {table.title}\n", *lines, ""])


def _title(target: str, part: str, classes: str, n: int) -> str:
    if target == "mean_cost":
        return f"{NAMES[target]}: {part}, {n} splits"
    of = "" if part == ALL else f"{part} half, "
    kind = "" if classes == ALL else f" of {classes}"
    return f"{NAMES[target]}: {of}{n} data set{'s' * (n > 1)}{kind}"


def _line(one: Any, against: Any) -> tuple[str, ...]:
    own = (one.method, f"{one.mean:.4f}", f"{one.mean_rank:.2f}")
    if against is None:
        return (*own, "", "", "", "")
    return (
        *own,
        f"{against.wins}/{against.ties}/{against.losses}",
        f"{against.difference:+.4f}",
        "" if math.isnan(against.p_holm) else f"{against.p_holm:.2g}",
        f"{against.worst:.4f} on {against.worst_data}" if against.worst_data else "none",
    )
