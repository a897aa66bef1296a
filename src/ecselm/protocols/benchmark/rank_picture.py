"""Mean ranks on a line, and which of them cannot be told apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ecselm.protocols.figures import METADATA, STYLE, SUFFIXES
from ecselm.statistics import critical_difference

WIDTH, LINE = 7.5, 0.22  # inches
ALPHA = 0.05


def draw_ranks(ranks: Any, n_sets: int, title: str, path: Path) -> tuple[Path, ...]:
    """Draw a critical-difference diagram (Demsar 2006), and return the files written.

    Methods joined by a bar do not differ by Nemenyi's test at 5 %. The same ranks give the
    same bytes, with the same version of matplotlib.

    Parameters
    ----------
    ranks : Series
        Mean ranks by method, 1 being the best.
    n_sets : int
        Data sets that they are means over.
    title : str
    path : path
        Without an ending: a PNG and an SVG are written.

    Examples
    --------
    >>> import pandas as pd
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     files = draw_ranks(pd.Series({"a": 1.2, "b": 1.8}), 5, "Two", Path(folder, "cd"))
    ...     [file.name for file in files]
    ['cd.png', 'cd.svg']
    """
    import matplotlib.figure  # noqa: PLC0415
    import matplotlib.style  # noqa: PLC0415

    ordered = ranks.sort_values(kind="stable")
    difference = critical_difference(len(ordered), n_sets, alpha=ALPHA)
    joined = cliques(ordered.tolist(), difference)
    files = tuple(path.with_name(path.name + suffix) for suffix in SUFFIXES)
    with matplotlib.style.context(["default", STYLE]):
        height = LINE * (len(ordered) / 2 + len(joined) + 6)
        figure = matplotlib.figure.Figure(figsize=(WIDTH, height), layout="constrained")
        ax = figure.subplots()
        _draw_axis(ax, len(ordered), difference, title)
        _draw_joined(ax, ordered.tolist(), joined)
        _draw_names(ax, ordered, len(joined))
        for file in files:
            figure.savefig(file, dpi=150, metadata=METADATA[file.suffix])
    return files


def cliques(ranks: list[float], difference: float) -> list[tuple[int, int]]:
    """Return the first and last of every longest run of ranks within the difference.

    Examples
    --------
    >>> cliques([1.0, 1.5, 2.2, 4.0], 1.0)
    [(0, 1), (1, 2)]
    """
    found: list[tuple[int, int]] = []
    for i, first in enumerate(ranks):
        last = max(j for j, rank in enumerate(ranks) if rank - first < difference)
        if last > i and (not found or last > found[-1][1]):
            found.append((i, last))
    return found


def _draw_axis(ax: Any, n_methods: int, difference: float, title: str) -> None:
    ax.set_title(title, fontsize="small")
    ax.set_xlim(0.5, n_methods + 0.5)
    ax.xaxis.tick_top()
    ax.set_xticks(range(1, n_methods + 1))
    ax.set_yticks([])
    for side in ("left", "right", "bottom"):
        ax.spines[side].set_visible(False)
    end = min(1 + difference, n_methods + 0.5)
    ax.plot([1, end], [-0.7, -0.7], color="black", linewidth=1.2)
    told = f"critical difference {difference:.2f} "
    ax.text(0.95, -0.7, told, ha="right", va="center", fontsize="small")


def _draw_joined(ax: Any, ranks: list[float], joined: list[tuple[int, int]]) -> None:
    for i, (first, last) in enumerate(joined):
        ends = [ranks[first] - 0.05, ranks[last] + 0.05]
        ax.plot(ends, [-1.5 - 0.5 * i] * 2, color="black", linewidth=3.0)


def _draw_names(ax: Any, ranks: Any, n_joined: int) -> None:
    """Write the better half on the left and the others on the right, none over another."""
    n = len(ranks)
    top = -2.2 - 0.5 * n_joined
    for i, (method, rank) in enumerate(ranks.items()):
        left = i < (n + 1) // 2
        y = top - (i if left else n - 1 - i)
        edge = 0.5 if left else n + 0.5
        ax.plot([rank, rank, edge], [0.0, y, y], color="0.4", linewidth=0.8)
        where = {"ha": "right" if left else "left", "va": "center"}
        ax.text(edge, y, f" {method} ({rank:.2f}) ", **where)
    ax.set_ylim(top - (n + 1) // 2, 0.0)
