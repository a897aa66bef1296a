"""Axes, colours, heat maps and fitted attributes, shared by all displays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ecselm._typing import AnyArray, FloatArray

WIDE = (8.0, 4.5)  # inches, of a figure with a legend beside its axes
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
GREY = "0.45"  # of reference lines
LINES = ("-", "--", ":")  # one for each cycle of colours
MARKS = ("o", "s", "^", "v", "D", "x", "+", "*", "P")
MOST_MARKS = 20  # points up to which every point is marked
N_MARKS = 10  # at most, on a curve of more points
# Luminance at which black and white have equal contrast: (1.05 / (L + 0.05))^2 = 1.05 / 0.05.
EVEN = 0.179
MOST_WRITTEN = 12  # classes up to which the numbers of a matrix are legible
MOST_NAMED = 20  # classes up to which their names are legible
SHORT_NAME = 4  # characters up to which names fit side by side
MOST_SLANTED = 8  # number of longer names that fit if they are slanted
SIZES = {5: "medium", 8: "small"}  # of numbers, by the largest number of classes


def pyplot() -> Any:
    """Return ``matplotlib.pyplot``, or raise ImportError naming the missing extra."""
    try:
        import matplotlib.pyplot as plt  # noqa: PLC0415
    except ImportError as error:
        raise ImportError('displays need matplotlib: install the extra "plot"') from error
    return plt


def axes_or_new(ax: Any, size: tuple[float, float] | None = None) -> Any:
    """Return ``ax``, or the axes of a new figure of this size in inches.

    The layout of a new figure leaves room for a legend beside its axes.
    """
    plt = pyplot()
    if ax is not None:
        return ax
    _, made = plt.subplots(figsize=size, layout="constrained")
    return made


def whole_numbers(ax: Any) -> None:
    """Restrict the ticks of the x axis to integers."""
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415

    ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def draw_legend(ax: Any, *, beside: bool) -> None:
    """Draw the legend beside the axes, where it hides no curve, or within them."""
    place = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)} if beside else {"loc": "best"}
    ax.legend(fontsize="small", **place)


def having(estimator: Any, attribute: str) -> Any:
    """Return the estimator with an attribute: this one, or the last step of its pipeline.

    The ``best_estimator_`` of a search such as ``GridSearchCV`` is looked into as well.
    """
    check_is_fitted(estimator)
    inner = estimator
    while not hasattr(inner, attribute):
        if hasattr(inner, "best_estimator_"):
            inner = inner.best_estimator_
        elif hasattr(inner, "steps"):
            inner = inner.steps[-1][1]
        else:
            raise ValueError(
                f"estimator must have {attribute}, got {type(estimator).__name__}, which has none"
            )
    return inner


def look(i: int, n_points: int) -> dict[str, Any]:
    """Return the style of the curve with the number ``i``, counted from 0.

    All points are marked where they are few. Of many points every curve marks different ones,
    so that curves can be distinguished without colours and where they overlap.

    Examples
    --------
    >>> look(1, 5)["marker"], look(1, 5)["markevery"], look(1, 101)["markevery"]
    ('s', None, (3, 11))
    """
    step = -(-n_points // N_MARKS)
    return {
        "color": COLOURS[i % len(COLOURS)],
        "linestyle": LINES[i // len(COLOURS) % len(LINES)],
        "linewidth": 1.2,
        "marker": MARKS[i % len(MARKS)],
        "markersize": 4,
        "markevery": None if n_points <= MOST_MARKS else (3 * i % step, step),
    }


def text_colour(background: Any) -> str:
    """Return "black" or "white", whichever has more contrast with a colour.

    Contrast is that of WCAG 2, by relative luminance.

    Parameters
    ----------
    background : sequence of float
        Red, green and blue between 0 and 1; further entries are ignored.

    Examples
    --------
    >>> text_colour((1.0, 1.0, 0.0)), text_colour((0.0, 0.0, 1.0))
    ('black', 'white')
    """
    s = np.asarray(background, dtype=np.float64)[:3]
    linear = np.where(s <= 0.04045, s / 12.92, ((s + 0.055) / 1.055) ** 2.4)
    return "white" if linear @ (0.2126, 0.7152, 0.0722) < EVEN else "black"


def name_classes(ax: Any, names: Sequence[str]) -> None:
    """Label both axes with the names of the classes, unless there are too many."""
    if len(names) > MOST_NAMED:
        return
    small: dict[str, Any] = {} if len(names) <= MOST_WRITTEN else {"fontsize": "small"}
    turned: dict[str, Any] = {}
    if max(map(len, names)) > SHORT_NAME:
        slanted = {"rotation": 30, "ha": "right"}
        turned = slanted if len(names) <= MOST_SLANTED else {"rotation": 90}
    ax.set_xticks(range(len(names)), names, **turned, **small)
    ax.set_yticks(range(len(names)), names, **small)


def write_cells(ax: Any, im: Any, M: FloatArray, number_format: str, **text_kw: Any) -> AnyArray:
    """Write the entries of ``M`` into the cells of its image, and return the texts (k, k).

    Cells that are blank in the image are None.
    """
    texts = np.full(M.shape, None, dtype=object)
    colours = im.cmap(im.norm(np.ma.masked_invalid(M)))
    size = next((size for k, size in SIZES.items() if len(M) <= k), "x-small")
    for i, j in np.argwhere(np.isfinite(M)):
        style = {"color": text_colour(colours[i, j]), "fontsize": size, **text_kw}
        place = {"ha": "center", "va": "center"}
        texts[i, j] = ax.text(j, i, format(M[i, j], number_format), **{**place, **style})
    return texts
