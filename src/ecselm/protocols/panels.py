"""Single panels of figures: curves, ROC curves, confusion matrices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from ecselm._typing import FloatArray
from ecselm.displays.heatmap import LARGEST_TOLD, name_classes, write_cells
from ecselm.displays.looks import look

MOST_TICKS = 6  # points up to which each gets a tick


class Axis(Protocol):
    """What a panel must know of its figure."""

    @property
    def metric(self) -> str:
        """The metric drawn."""

    @property
    def across(self) -> str:
        """What it is drawn over."""

    @property
    def log(self) -> bool:
        """Whether over the logarithm of that."""


def draw_curves(ax: Any, part: Any, axis: Axis) -> None:
    """Draw the mean of the metric over the splits, a curve for every method."""
    for method, (at, value), style in _curves(part, axis.metric):
        ax.plot(at, value, label=method, **style)
    if axis.log:
        ax.set_xscale("log", base=2)
    points = np.unique(places(part["at"]))
    if len(points) <= MOST_TICKS:
        ax.set_xticks(points)
    ax.set_xlabel(axis.across)
    ax.set_ylabel(axis.metric.replace("cum_score", "cumulative score"))
    ax.grid(alpha=0.3)
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
    ax.set_aspect("equal")
    _legend(ax)


def _legend(ax: Any) -> None:
    """Name the curves beside the panel, where no curve can be."""
    ax.legend(fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))


def draw_confusion(ax: Any, part: Any, axis: Axis) -> None:
    """Draw a matrix whose rows are the truth and sum to 1, and write its entries."""
    names, M = confusion(part)
    im = ax.imshow(M, cmap="Blues", vmin=0.0, vmax=1.0)
    ax.set_xlabel(axis.across)
    ax.set_ylabel("true")
    if len(names) <= LARGEST_TOLD:
        name_classes(ax, names)
        write_cells(ax, im, M, ".2f", fontsize="small")


def confusion(part: Any) -> tuple[list[str], FloatArray]:
    """Return the classes, and the matrix (k, k) of shares of each true class.

    Counts and shares may be given; what is not given is 0. Splits are added up.

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
    for true, told, value in zip(places[0], places[1], part["value"], strict=True):
        M[names.index(true.strip()), names.index(told.strip())] += value
    totals = M.sum(axis=1, keepdims=True)
    return names, np.divide(M, totals, out=np.zeros_like(M), where=totals > 0)


def places(at: Any) -> FloatArray:
    """Return where on an axis values are: 32 for "C=32", 0.25 for "0.25".

    Examples
    --------
    >>> import pandas as pd
    >>> places(pd.Series(["C=1", "C=32"])).tolist()
    [1.0, 32.0]
    """
    return np.array([float(str(one).rpartition("=")[2]) for one in at])


def _in_order(names: list[str]) -> list[str]:
    """Return the classes once each: numbers by size, words as they come."""
    distinct = list(dict.fromkeys(name.strip() for name in names))
    is_numeric = all(name.lstrip("-").isdigit() for name in distinct)
    return sorted(distinct, key=int) if is_numeric else distinct


def _curves(
    part: Any, metric: str
) -> Iterator[tuple[str, tuple[FloatArray, FloatArray], dict[str, Any]]]:
    """Give method, curve and style, methods in the order of their rows."""
    mine = part[part["metric"] == metric]
    mine = mine.assign(at=places(mine["at"]), value=mine["value"].astype(float))
    for i, (method, rows) in enumerate(mine.groupby("method", sort=False)):
        means = rows.groupby("at")["value"].mean()
        yield str(method), (means.index.to_numpy(), means.to_numpy()), look(i, len(means))
