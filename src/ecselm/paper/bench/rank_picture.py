"""Critical-difference diagrams in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ecselm.paper.protocols.figures import METADATA, STYLE, SUFFIXES
from ecselm.paper.statistics import critical_difference
from ecselm.paper.statistics.critical_difference import CriticalDifferenceDisplay

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

    difference = critical_difference(len(ranks), n_sets, alpha=ALPHA)
    display = CriticalDifferenceDisplay(ranks.to_dict(), difference)
    files = tuple(path.with_name(path.name + suffix) for suffix in SUFFIXES)
    with matplotlib.style.context(["default", STYLE]):
        figure = matplotlib.figure.Figure(figsize=display.size, layout="constrained")
        ax = figure.subplots()
        ax.set_title(title, fontsize="small")
        display.plot(ax)
        for file in files:
            figure.savefig(file, dpi=150, metadata=METADATA[file.suffix])
    return files
