"""Matrices of classes as heat maps: rows are the truth, columns the prediction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ecselm._typing import AnyArray, FloatArray
from ecselm.displays.looks import text_colour

LARGEST_TOLD = 12  # classes up to which the numbers of a matrix can be read
LARGEST_NAMED = 20  # classes up to which their names can
SHORT_NAME = 4  # characters up to which names fit side by side
MOST_SLANTED = 8  # longer names that fit if they are slanted, and not upright
SIZES = {5: "medium", 8: "small"}  # of numbers, by the most classes for which they fit


def name_classes(ax: Any, names: Sequence[str]) -> None:
    """Write the names of the classes along both axes, unless there are too many."""
    if len(names) > LARGEST_NAMED:
        return
    small: dict[str, Any] = {} if len(names) <= LARGEST_TOLD else {"fontsize": "small"}
    turned: dict[str, Any] = {}
    if max(map(len, names)) > SHORT_NAME:
        slanted = {"rotation": 30, "ha": "right"}
        turned = slanted if len(names) <= MOST_SLANTED else {"rotation": 90}
    ax.set_xticks(range(len(names)), names, **turned, **small)
    ax.set_yticks(range(len(names)), names, **small)


def write_cells(ax: Any, im: Any, M: FloatArray, told: str, **text_kw: Any) -> AnyArray:
    """Write the entries of ``M`` into the cells of its image, and return the texts (k, k).

    What the image leaves blank has no text, None in its place.
    """
    texts = np.full(M.shape, None, dtype=object)
    colours = im.cmap(im.norm(np.ma.masked_invalid(M)))
    size = next((size for k, size in SIZES.items() if len(M) <= k), "x-small")
    for i, j in np.argwhere(np.isfinite(M)):
        style = {"color": text_colour(colours[i, j]), "fontsize": size, **text_kw}
        place = {"ha": "center", "va": "center"}
        texts[i, j] = ax.text(j, i, format(M[i, j], told), **{**place, **style})
    return texts
