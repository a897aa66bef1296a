"""Markdown tables and the cells in them."""

from __future__ import annotations

from benchmarks.timing import Comparison, Ratio


def table(header: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table.

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
    """Return the median with the quartiles, or why they are missing."""
    if ratio is None:
        return missing or ""
    median, lower, upper = (f"{x:.{digits}f}" for x in (ratio.median, ratio.lower, ratio.upper))
    return f"{median} ({lower} to {upper})"


def limit_cell(sign: str, target: float | None, digits: int = 2) -> str:
    """Return a target with its sign, empty without a target."""
    return "" if target is None else f"{sign} {target:.{digits}f}"


def met_cell(met: bool | None) -> str:
    """Return yes or no, empty without a target."""
    return "" if met is None else "yes" if met else "no"


def comparison_rows(comparisons: list[Comparison]) -> list[list[str]]:
    """Return the cells of comparisons: ours, baseline, ratio, target, met."""
    return [
        [
            entry.ours,
            entry.baseline,
            ratio_cell(entry.ratio, entry.missing),
            limit_cell("<=", entry.target),
            met_cell(entry.met),
        ]
        for entry in comparisons
    ]
