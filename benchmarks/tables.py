"""Markdown tables and the cells in them."""

from __future__ import annotations

from typing import Any

from benchmarks.timing import Ratio


def table(header: list[str], rows: list[list[str]]) -> str:
    """Return a table with a line for every row.

    Examples
    --------
    >>> print(table(["N", "s"], [["1", "2"]]))
    | N | s |
    | --- | --- |
    | 1 | 2 |
    """
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def ratio_cell(ratio: Ratio | None, missing: str | None = None, digits: int = 2) -> str:
    """Return the median with the quartiles, or why there are none."""
    if ratio is None:
        return missing or ""
    median, lower, upper = (f"{x:.{digits}f}" for x in (ratio.median, ratio.lower, ratio.upper))
    return f"{median} ({lower} to {upper})"


def limit_cell(sign: str, target: float | None, digits: int = 2) -> str:
    """Return a target with its sign, nothing if there is none."""
    return "" if target is None else f"{sign} {target:.{digits}f}"


def met_cell(met: bool | None) -> str:
    """Return whether a target is met, nothing if there is nothing to tell."""
    return "" if met is None else "yes" if met else "no"


def comparison_rows(comparisons: list[Any]) -> list[list[str]]:
    """Return the rows of comparisons: ours, opponent, ratio, target, met."""
    return [
        [
            entry.ours,
            entry.opponent,
            ratio_cell(entry.ratio, entry.missing),
            limit_cell("<=", entry.target),
            met_cell(entry.met),
        ]
        for entry in comparisons
    ]
