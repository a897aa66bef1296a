"""Figures 3 to 6 and 8 to 12 of the paper, drawn from a frame of results."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any

from ecselm.protocols.panels import draw_confusion, draw_curves, draw_roc

COLUMNS = ("data", "method", "split", "metric", "at", "value")
SUFFIXES = (".png", ".svg")
# What says when and by what a file was made would make equal figures different.
METADATA: dict[str, dict[str, Any]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
}
STYLE = {"svg.hashsalt": "ecselm", "svg.fonttype": "none", "font.size": 9.0}
PANEL = (4.2, 3.4)  # inches
WIDEST = 3  # panels in a row
WIDEST_TITLE = 44  # characters


@dataclass(frozen=True, slots=True)
class FigureKind:
    """What a figure shows: a metric over something, in panels of one kind."""

    metric: str
    across: str
    title: str
    panel: Callable[..., None]
    by_method: bool = False  # a panel for every method too
    beside: str | None = None  # a metric told beside it
    log: bool = False


_SCORES = "cumulative score"
FIGURES: dict[str, FigureKind] = {
    "figure-3": FigureKind("cum_score", "tolerance", f"Faces, {_SCORES}", draw_curves),
    "figure-4": FigureKind("cum_score", "tolerance", f"Dressing, {_SCORES}", draw_curves),
    "figure-5": FigureKind("cum_score", "tolerance", f"Voices, {_SCORES}", draw_curves),
    "figure-6": FigureKind("cum_score", "tolerance", f"AR, {_SCORES}", draw_curves),
    "figure-8": FigureKind("tpr", "false positive rate", "Pairs of faces", draw_roc, beside="auc"),
    "figure-9": FigureKind("confusion", "predicted", "Gases", draw_confusion, by_method=True),
    "figure-10": FigureKind("confusion", "predicted", "Beauty", draw_confusion, by_method=True),
    "figure-11": FigureKind("accuracy", "C", "Accuracy over C", draw_curves, log=True),
    "figure-12": FigureKind("accuracy", "L", "Accuracy over hidden units", draw_curves),
}


def draw(item: str, frame: Any, path: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Draw a figure of the paper from results, and return the files written.

    Values are means over the splits. The same frame gives the same bytes, with the same
    version of matplotlib.

    Parameters
    ----------
    item : str
        "figure-3" to "figure-6" or "figure-8" to "figure-12".
    frame : DataFrame
        Columns ``data, method, split, metric, at, value``. Metrics by figure:

        - 3 to 6: "cum_score" at a tolerance;
        - 8: "tpr" at a false positive rate, and "auc", at whatever;
        - 9 and 10: "confusion" at "i,j", the truth before the prediction;
        - 11 and 12: "accuracy" at a value of C or L.

        Rows of other metrics are passed over.
    path : path
        Ending in ``.png`` or ``.svg``; without an ending both are written.

    Returns
    -------
    files : tuple of Path

    Examples
    --------
    >>> import pandas as pd
    >>> from tempfile import TemporaryDirectory
    >>> rows = [("AR", "ELM", 0, "cum_score", at, at / 4) for at in range(5)]
    >>> frame = pd.DataFrame(rows, columns=["data", "method", "split", "metric", "at", "value"])
    >>> with TemporaryDirectory() as folder:
    ...     [file.name for file in draw("figure-6", frame, f"{folder}/six")]
    ['six.png', 'six.svg']
    """
    kind, files = _kind(item), _files(Path(path))
    _check(frame, kind, item)
    matplotlib = _matplotlib()
    with matplotlib.style.context(["default", STYLE]):
        figure = _drawn(kind, frame)
        for file in files:
            figure.savefig(file, dpi=150, metadata=METADATA[file.suffix])
    return files


def _kind(item: str) -> FigureKind:
    if item not in FIGURES:
        raise ValueError(f"item must be one of {', '.join(FIGURES)}, got {item!r}")
    return FIGURES[item]


def _files(path: Path) -> tuple[Path, ...]:
    if not path.suffix:
        return tuple(path.with_suffix(suffix) for suffix in SUFFIXES)
    if path.suffix not in SUFFIXES:
        raise ValueError(f"path must end in .png, .svg or nothing, got {path.name!r}")
    return (path,)


def _check(frame: Any, kind: FigureKind, item: str) -> None:
    missing = [name for name in COLUMNS if name not in frame.columns]
    if missing:
        raise ValueError(f"frame must have the columns {', '.join(COLUMNS)}, got no {missing[0]!r}")
    mine = frame[frame["metric"] == kind.metric]
    if mine.empty:
        raise ValueError(f"frame must have rows of the metric {kind.metric!r} for {item}, got none")
    if mine["value"].isna().any():
        raise ValueError("frame must have a value in every row, got NaN")


def _matplotlib() -> Any:
    try:
        import matplotlib.figure  # noqa: PLC0415
        import matplotlib.style  # noqa: PLC0415
    except ImportError as error:
        raise ImportError(
            "figures need matplotlib, the extra 'plot': pip install 'ecselm[plot]'"
        ) from error
    return matplotlib


def _drawn(kind: FigureKind, frame: Any) -> Any:
    """Return the figure, which belongs to no window: what is saved is drawn by Agg."""
    keys = ["data", "method"] if kind.by_method else ["data"]
    wanted = frame[frame["metric"].isin([kind.metric, kind.beside])]
    panels = list(wanted.groupby(keys, sort=False))
    n_columns = min(WIDEST, len(panels))
    n_rows = -(-len(panels) // n_columns)
    figure = _matplotlib().figure.Figure(
        figsize=(PANEL[0] * n_columns, PANEL[1] * n_rows), layout="constrained"
    )
    grid = figure.subplots(n_rows, n_columns, squeeze=False)
    for ax, (names, part) in zip(grid.flat, panels, strict=False):
        ax.set_title(fill(", ".join(str(name) for name in names), WIDEST_TITLE), fontsize="small")
        kind.panel(ax, part, kind)
    for ax in grid.flat[len(panels) :]:
        ax.remove()
    figure.suptitle(kind.title)
    return figure
