"""Tables of the truth against the answers, with cells coloured by their weight."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ecselm.report.markup import Markup, element, named
from ecselm.report.tables import scrolled

MOST_NAMED = 8  # classes whose names fit above the columns; more are numbered,
SHORTEST = 4  # unless no name has more characters than this
MOST_SHOWN = 40  # classes; a table of more is neither readable nor small


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in a cell."""

    content: Markup
    place: dict[str, str | bool | None]  # attributes that say where it stands in the card
    kind: str  # "right" or "wrong"
    level: float  # of its colour, from 0 to 1


def heat_map(caption: str, names: Sequence[str], cells: Sequence[Sequence[Cell]]) -> Markup:
    """Return a table whose rows are the truth and whose columns are the answers.

    Parameters
    ----------
    caption : str
    names : sequence of str
        Of the classes.
    cells : sequence of sequences of Cell
    """
    is_dense = len(names) > MOST_NAMED
    is_numbered = is_dense and max(map(len, names)) > SHORTEST
    corner = element("th", "truth ↓ answer →", scope="col", class_="corner")
    header = element("tr", corner, *(_column(i, name, is_numbered) for i, name in enumerate(names)))
    body = (
        element("tr", _row(i, name, is_numbered), *map(_cell, row))
        for i, (name, row) in enumerate(zip(names, cells, strict=True))
    )
    kind = "heat dense" if is_dense else "heat"
    content = element(
        "table",
        element("caption", caption),
        element("thead", header),
        element("tbody", *body),
        class_=kind,
    )
    return scrolled(caption, content)


def levels(matrix: Sequence[Sequence[float]]) -> list[list[float]]:
    """Return how dear mistakes are between the cheapest and the dearest, on a log scale.

    Where costs are not all positive the scale is linear; where all are equal it is 0.5.

    Examples
    --------
    >>> levels([[0.0, 100.0, 10.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]])[0]
    [0.0, 1.0, 0.5]
    """
    mistakes = [cost for i, row in enumerate(matrix) for j, cost in enumerate(row) if i != j]
    if not mistakes:
        return [[0.0] * len(row) for row in matrix]
    scale = math.log if min(mistakes) > 0.0 else float
    low, high = scale(min(mistakes)), scale(max(mistakes))
    return [
        [0.0 if i == j else _level(scale(cost), low, high) for j, cost in enumerate(row)]
        for i, row in enumerate(matrix)
    ]


def _level(value: float, low: float, high: float) -> float:
    return 0.5 if low == high else (value - low) / (high - low)


def _column(i: int, name: str, is_numbered: bool) -> Markup:
    if is_numbered:
        return element("th", str(i + 1), scope="col", title=name)
    return element("th", named(name, 18), scope="col")


def _row(i: int, name: str, is_numbered: bool) -> Markup:
    number = f"{i + 1} " if is_numbered else None
    return element("th", number, named(name, 18), scope="row")


def _cell(one: Cell) -> Markup:
    style = f"--level:{one.level:.2f}" if one.level > 0.0 else None
    kind = one.kind if one.level > 0.0 else None
    return element("td", one.content, class_=kind, style=style, **one.place)
