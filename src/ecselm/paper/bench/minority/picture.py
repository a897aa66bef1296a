"""What learning costs gains, over the number of minority cases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ecselm.displays._drawing import COLOURS
from ecselm.paper.bench.page import NAMES
from ecselm.paper.protocols.figures import METADATA, PANEL, STYLE, SUFFIXES


def draw_gains(values: Any, gains: Any, path: Path) -> tuple[Path, ...]:
    """Draw the gain of learned over prior costs, and return the files written.

    A panel for every target: a thin line for each data set, and their mean with its interval.
    The same frames give the same bytes, with the same version of matplotlib.

    Parameters
    ----------
    values, gains : DataFrame
        As ``values_of`` and ``gains_of`` of the findings return them.
    path : path
        Without an ending: a PNG and an SVG are written.
    """
    import matplotlib.figure  # noqa: PLC0415
    import matplotlib.style  # noqa: PLC0415

    targets = list(dict.fromkeys(gains["target"]))
    files = tuple(path.with_name(path.name + suffix) for suffix in SUFFIXES)
    with matplotlib.style.context(["default", STYLE]):
        size = (PANEL[0] * len(targets), PANEL[1])
        figure = matplotlib.figure.Figure(figsize=size, layout="constrained")
        panels = figure.subplots(1, len(targets), squeeze=False, sharey=True)[0]
        for ax, target in zip(panels, targets, strict=True):
            ax.set_title(NAMES[target], fontsize="small")
            _draw(ax, values[values["target"] == target], gains[gains["target"] == target])
        panels[0].set_ylabel("gain of learned over prior costs")
        for file in files:
            figure.savefig(file, dpi=150, metadata=METADATA[file.suffix])
    return files


def _draw(ax: Any, values: Any, gains: Any) -> None:
    for _, own in values.groupby("data", sort=False):
        ax.plot(own["size"], own["gain"], color="0.75", linewidth=0.7)
    ax.axhline(0.0, color="black", linewidth=0.7, linestyle=":")
    ax.fill_between(gains["size"], gains["low"], gains["high"], color=COLOURS[0], alpha=0.2)
    ax.plot(gains["size"], gains["gain"], color=COLOURS[0], marker="o", markersize=4)
    ax.set_xscale("log")
    ax.minorticks_off()
    ax.set_xticks(gains["size"], [str(size) for size in gains["size"]])
    ax.set_xlabel("rows of the minority")
    ax.grid(alpha=0.3)
