"""How curves and cells look, told apart by people who see few colours and in print."""

from __future__ import annotations

from typing import Any

import numpy as np

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
GREY = "0.45"  # of what is there to compare with
LINES = ("-", "--", ":")  # one for each round of colours
MARKS = ("o", "s", "^", "v", "D", "x", "+", "*", "P")
MOST_MARKS = 20  # points above which marks would hide the curve
N_MARKS = 10  # on a curve of more points, at most
# Luminance at which black and white stand out alike: (1.05 / (L + 0.05))^2 = 1.05 / 0.05.
EVEN = 0.179


def look(i: int, n_points: int) -> dict[str, Any]:
    """Return the style of the curve with the number ``i`` from 0.

    All points are marked where they are few. Of many some are, others on every curve, so that
    curves are told apart without colours, and where one lies on another.

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
    """Return "black" or "white", whichever stands out more from a colour.

    By the relative luminance of WCAG 2, which weighs red, green and blue as eyes do.

    Parameters
    ----------
    background : sequence of float
        Red, green and blue between 0 and 1; what follows is passed over.

    Examples
    --------
    >>> text_colour((1.0, 1.0, 0.0)), text_colour((0.0, 0.0, 1.0))
    ('black', 'white')
    """
    s = np.asarray(background, dtype=np.float64)[:3]
    linear = np.where(s <= 0.04045, s / 12.92, ((s + 0.055) / 1.055) ** 2.4)
    return "white" if linear @ (0.2126, 0.7152, 0.0722) < EVEN else "black"
