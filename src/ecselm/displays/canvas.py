"""The door to matplotlib, which is loaded when something is drawn."""

from __future__ import annotations

from typing import Any

WIDE = (8.0, 4.5)  # inches, of a figure with a legend beside its axes


def pyplot() -> Any:
    """Return ``matplotlib.pyplot``, or say which extra it comes with."""
    try:
        import matplotlib.pyplot as plt  # noqa: PLC0415
    except ImportError as error:
        raise ImportError(
            "displays need matplotlib, the extra 'plot': pip install 'ecselm[plot]'"
        ) from error
    return plt


def axes_or_new(ax: Any, size: tuple[float, float] | None = None) -> Any:
    """Return the axes given, or those of a new figure of this size in inches.

    A new figure makes room for whatever stands beside its axes.
    """
    plt = pyplot()
    if ax is not None:
        return ax
    _, made = plt.subplots(figsize=size, layout="constrained")
    return made


def whole_numbers(ax: Any) -> None:
    """Let ticks below ``ax`` be whole numbers only."""
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415

    ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def draw_legend(ax: Any, *, beside: bool) -> None:
    """Name what is drawn, beside the axes, where no curve can be, or within."""
    place = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)} if beside else {"loc": "best"}
    ax.legend(fontsize="small", **place)
