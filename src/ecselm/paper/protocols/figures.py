"""Figures 3 to 6 and 8 to 12 of the paper, drawn from a frame of results."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from string import ascii_lowercase
from textwrap import fill
from typing import Any, Protocol

import numpy as np

from ecselm._files import replacing
from ecselm._typing import FloatArray
from ecselm.displays._drawing import MOST_WRITTEN, look, name_classes, write_cells

MAX_TICKS = 6  # points up to which each gets a tick
COLUMNS = ("data", "method", "split", "metric", "at", "value")
SUFFIXES = (".png", ".svg")
# Date and software in the metadata would make equal figures differ.
METADATA: dict[str, dict[str, Any]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
}
STYLE = {"svg.hashsalt": "ecselm", "svg.fonttype": "none", "font.size": 9.0}
PANEL = (4.2, 3.4)  # inches
WIDE_PANEL = (6.2, 4.0)  # with a legend of many or of long names beside it
# A square has room for its labels in a higher panel, and for names and areas at its lower right.
ROC_PANEL = (4.8, 5.15)
WIDEST = 3  # panels in a row
OUR_METHOD = "ECSELM"  # how all its forms begin; they are in the panels of both families
SUBSPACE_ENDING = "-NN"  # of the names of subspace methods
WIDEST_TITLE = 44  # characters


class Axis(Protocol):
    """The axis of a figure, as its panels need it."""

    @property
    def metric(self) -> str:
        """Return the metric."""

    @property
    def across(self) -> str:
        """Return the label of the horizontal axis."""

    @property
    def log(self) -> bool:
        """Return whether that axis is logarithmic."""

    @property
    def legend_inside(self) -> bool:
        """Return whether the legend stands inside the axes."""

    @property
    def to_last(self) -> bool:
        """Return whether that axis ends at the last point of the data."""


def draw_curves(ax: Any, part: Any, axis: Axis) -> None:
    """Draw the mean of the metric over the splits, a curve for every method."""
    for method, (at, value), style in _curves(part, axis.metric):
        ax.plot(at, value, label=method, **style)
    if axis.log:
        ax.set_xscale("log", base=2)
    points = np.unique(places(part["at"]))
    if len(points) <= MAX_TICKS:
        ax.set_xticks(points)
    elif not axis.log:
        ax.locator_params(axis="x", integer=True)
    if axis.to_last and len(points) > 1:
        ax.set_xlim(points[0], points[-1])
    ax.set_xlabel(axis.across)
    ax.set_ylabel(axis.metric.replace("cum_score", "cumulative score"))
    ax.grid(alpha=0.3)
    if axis.legend_inside:  # cumulative scores rise to 1: the lower right has no curve
        ax.set_ylim(0.0, 1.02)
        ax.legend(fontsize="x-small", loc="lower right")
    else:
        _legend(ax)


def draw_roc(ax: Any, part: Any, axis: Axis) -> None:
    """Draw true over false positive rates, with the area under the curve in the legend."""
    areas = part[part["metric"] == "auc"].groupby("method", sort=False)["value"].mean()
    for method, (at, value), style in _curves(part, axis.metric):
        label = f"{method}, AUC {areas[method]:.3f}" if method in areas else method
        ax.plot(at, value, label=label, **style)
    ax.plot([0.0, 1.0], [0.0, 1.0], color="0.7", linewidth=0.8, linestyle=":")
    ax.set_xlabel(axis.across)
    ax.set_ylabel("true positive rate")
    ax.set_xlim(0.0, 1.0)
    ax.set_ylim(0.0, 1.02)
    ax.set_box_aspect(1.0)
    # Inside: below the diagonal there are no curves of methods that have learned anything.
    ax.legend(fontsize="x-small", loc="lower right")


def _legend(ax: Any) -> None:
    """Name the curves beside the panel, where no curve can be."""
    ax.legend(fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))


def draw_confusion(ax: Any, part: Any, axis: Axis) -> None:
    """Draw a matrix whose rows are true classes and sum to 1, and write its entries."""
    names, M = confusion(part)
    im = ax.imshow(M, cmap="Blues", vmin=0.0, vmax=1.0)
    ax.set_xlabel(axis.across)
    ax.set_ylabel("true")
    if len(names) <= MOST_WRITTEN:
        name_classes(ax, names)
        write_cells(ax, im, M, ".2f", fontsize="small")


def confusion(part: Any) -> tuple[list[str], FloatArray]:
    """Return the classes, and the matrix (k, k) of shares of each true class.

    Values are counts or shares; missing ones are 0. Splits are added up.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = [("0,0", 3.0), ("0,1", 1.0), ("1,1", 2.0)]
    >>> confusion(pd.DataFrame(rows, columns=["at", "value"]).assign(split=0))
    (['0', '1'], array([[0.75, 0.25], [0.  , 1.  ]]))
    """
    places = part["at"].astype(str).str.split(",", expand=True)
    if places.shape[1] != 2 or places.isna().any(axis=None):
        raise ValueError(f"at must be 'i,j' for a confusion, got {part['at'].iloc[0]!r}")
    names = _in_order(places.to_numpy().ravel().tolist())
    M = np.zeros((len(names), len(names)))
    for true, predicted, value in zip(places[0], places[1], part["value"], strict=True):
        M[names.index(true.strip()), names.index(predicted.strip())] += value
    totals = M.sum(axis=1, keepdims=True)
    return names, np.divide(M, totals, out=np.zeros_like(M), where=totals > 0)


def places(at: Any) -> FloatArray:
    """Return positions on an axis: 32 for "C=32", 0.25 for "0.25".

    Examples
    --------
    >>> import pandas as pd
    >>> places(pd.Series(["C=1", "C=32"])).tolist()
    [1.0, 32.0]
    """
    return np.array([float(str(one).rpartition("=")[2]) for one in at])


def _in_order(names: list[str]) -> list[str]:
    """Return the classes once each: numbers by size, words in their order."""
    distinct = list(dict.fromkeys(name.strip() for name in names))
    is_numeric = all(name.lstrip("-").isdigit() for name in distinct)
    return sorted(distinct, key=int) if is_numeric else distinct


def _curves(
    part: Any, metric: str
) -> Iterator[tuple[str, tuple[FloatArray, FloatArray], dict[str, Any]]]:
    """Yield method, curve and style, methods in the order of their rows."""
    mine = part[part["metric"] == metric]
    mine = mine.assign(at=places(mine["at"]), value=mine["value"].astype(float))
    for method, rows in mine.groupby("method", sort=False):
        means = rows.groupby("at")["value"].mean()
        style = look(int(rows["style"].iloc[0]), len(means))
        yield str(method), (means.index.to_numpy(), means.to_numpy()), style


@dataclass(frozen=True, slots=True)
class FigureKind:
    """A kind of figure: a metric over an axis, in panels."""

    metric: str
    across: str
    title: str
    panel: Callable[..., None]
    by_method: bool = False  # a panel for every method, too
    beside: str | None = None  # a metric in the legend
    log: bool = False
    size: tuple[float, float] = PANEL
    by_family: bool = False  # a row of panels for ELMs and one for subspaces
    to_last: bool = False  # the horizontal axis ends at the last point

    @property
    def legend_inside(self) -> bool:
        """Return whether the legend stands inside the axes."""
        return self.by_family


_SCORES = "cumulative score"
FIGURES: dict[str, FigureKind] = {
    "figure-3": FigureKind(
        "cum_score", "tolerance", f"Faces, {_SCORES}", draw_curves, by_family=True
    ),
    "figure-4": FigureKind(
        "cum_score", "tolerance", f"Dressing, {_SCORES}", draw_curves, by_family=True
    ),
    "figure-5": FigureKind(
        "cum_score", "tolerance", f"Voices, {_SCORES}", draw_curves, by_family=True
    ),
    "figure-6": FigureKind(
        "cum_score", "tolerance", f"Persons, {_SCORES}", draw_curves, size=WIDE_PANEL, to_last=True
    ),
    "figure-8": FigureKind(
        "tpr", "false positive rate", "Pairs of faces", draw_roc, beside="auc", size=ROC_PANEL
    ),
    "figure-9": FigureKind("confusion", "predicted", "Gases", draw_confusion, by_method=True),
    "figure-10": FigureKind("confusion", "predicted", "Beauty", draw_confusion, by_method=True),
    "figure-11": FigureKind(
        "accuracy", "C", "Accuracy over C", draw_curves, log=True, size=WIDE_PANEL
    ),
    "figure-12": FigureKind(
        "accuracy", "L", "Accuracy over hidden units", draw_curves, size=WIDE_PANEL
    ),
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
        - 8: "tpr" at a false positive rate, and "auc";
        - 9 and 10: "confusion" at "i,j", the true class first;
        - 11 and 12: "accuracy" at a value of C or L.

        Rows of other metrics are ignored.
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
        figure = _make_figure(kind, frame)
        save_figure(figure, files)
    return files


def save_figure(figure: Any, files: Iterable[Path]) -> None:
    """Write a figure in the formats of the files, each whole or not at all."""
    for file in files:
        with replacing(file, name="output") as part:
            figure.savefig(part, format=file.suffix[1:], dpi=150, metadata=METADATA[file.suffix])


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
        raise ImportError('figures need matplotlib: install the extra "plot"') from error
    return matplotlib


def _make_figure(kind: FigureKind, frame: Any) -> Any:
    """Return a figure without a window."""
    wanted = frame[frame["metric"].isin([kind.metric, kind.beside])]
    methods = wanted["method"].drop_duplicates().tolist()  # a method looks alike in all panels
    wanted = wanted.assign(style=wanted["method"].map(methods.index))
    panels = _panels(kind, wanted)
    n_columns = wanted["data"].nunique() if kind.by_family else min(WIDEST, len(panels))
    n_rows = -(-len(panels) // n_columns)
    figure = _matplotlib().figure.Figure(
        figsize=(kind.size[0] * n_columns, kind.size[1] * n_rows), layout="constrained"
    )
    grid = figure.subplots(n_rows, n_columns, squeeze=False)
    for ax, (title, part) in zip(grid.flat, panels, strict=False):
        ax.set_title(fill(title, WIDEST_TITLE), fontsize="small")
        kind.panel(ax, part, kind)
    for ax in grid.flat[len(panels) :]:
        ax.remove()
    figure.suptitle(kind.title)
    return figure


def _panels(kind: FigureKind, wanted: Any) -> list[tuple[str, Any]]:
    """Return the titles of the panels and their rows of the frame.

    Panels by family are lettered as in the paper: ELMs from (a), then subspaces.
    """
    if not kind.by_family:
        keys = ["data", "method"] if kind.by_method else ["data"]
        groups = wanted.groupby(keys, sort=False)
        return [(", ".join(str(name) for name in names), part) for names, part in groups]
    methods = wanted["method"].astype(str)
    ours, subspace = methods.str.startswith(OUR_METHOD), methods.str.endswith(SUBSPACE_ENDING)
    parts = [
        (str(data), family, part)
        for family, own in (("ELMs", ~ours & ~subspace), ("subspaces", subspace))
        if own.any()
        for data, part in wanted[ours | own].groupby("data", sort=False)
    ]
    return [
        (f"({letter}) {data}, {family}", part)
        for letter, (data, family, part) in zip(ascii_lowercase, parts, strict=False)
    ]
