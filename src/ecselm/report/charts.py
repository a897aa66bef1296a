"""Charts as SVG, coloured by the style sheet."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from ecselm.report.html import Markup, element, joined, named, scrolled

# Near the width of a phone, so that letters keep their size there.
WIDTH, HEIGHT = 360.0, 270.0
LEFT, RIGHT, TOP, BOTTOM = 54.0, 14.0, 12.0, 46.0
BAR_HEIGHT = 18
N_COLOURS = 6  # in the style sheet, with different dashes
MOST_NAMED = 8  # classes whose names fit above the columns; more are numbered,
SHORTEST = 4  # unless no name has more characters than this
MOST_SHOWN = 40  # classes; a table of more is neither readable nor small


@dataclass(frozen=True, slots=True)
class Axis:
    """A range of numbers with ticks at round ones.

    Examples
    --------
    >>> Axis("share", 0.0, 1.0, (0.0, 0.5, 1.0)).written(0.5)
    '0.5'
    """

    label: str
    low: float
    high: float
    ticks: tuple[float, ...]
    is_log: bool = False

    @classmethod
    def of_factors(cls, label: str, values: Sequence[float]) -> Axis:
        """Return an axis of factors with a logarithmic scale."""
        low, high = min(values), max(values)
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        steps = (m * 10.0**power for power in powers for m in (1, 2, 5))
        ticks = tuple(one for one in steps if low * 0.999 <= one <= high * 1.001)
        return cls(label, low, high, ticks, is_log=True)

    @classmethod
    def of_shares(cls, label: str) -> Axis:
        """Return an axis from 0 to 1."""
        return cls(label, 0.0, 1.0, (0.0, 0.2, 0.4, 0.6, 0.8, 1.0))

    @classmethod
    def around(cls, label: str, values: Iterable[float], *, whole: bool = False) -> Axis:
        """Return an axis that holds all values, of whole numbers or of any."""
        numbers = tuple(values)
        low, high = min(numbers), max(numbers)
        if low == high:
            margin = 1.0 if whole else 0.05 * abs(low) or 0.5
            low, high = (low, high + margin) if whole else (low - margin, high + margin)
        return cls(label, low, high, _ticks(low, high, whole))

    def share(self, value: float) -> float:
        """Return where a value stands between the ends."""
        if self.is_log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def written(self, tick: float) -> str:
        """Return a tick with as many digits as ticks need to differ."""
        if self.is_log:
            return f"{tick:g}"
        step = self.ticks[1] - self.ticks[0] if len(self.ticks) > 1 else 1.0
        if max(abs(self.low), abs(self.high)) >= 1e5 or step < 1e-5:
            return f"{tick:.4g}"
        return f"{tick:.{max(0, -math.floor(math.log10(step) + 1e-9))}f}"


def across(axis: Axis, value: float) -> float:
    """Return how far right a value stands, in units of the chart."""
    return LEFT + axis.share(value) * (WIDTH - LEFT - RIGHT)


def down(axis: Axis, value: float) -> float:
    """Return how far down a value stands, in units of the chart."""
    return HEIGHT - BOTTOM - axis.share(value) * (HEIGHT - TOP - BOTTOM)


def _ticks(low: float, high: float, whole: bool) -> tuple[float, ...]:
    """Return at most six multiples of 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10((high - low) / 5))
    step = next(m * power for m in (1, 2, 5, 10, 20) if (high - low) / (m * power) <= 5)
    step = max(step, 1.0) if whole else step
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return tuple(i * step + 0.0 for i in range(first, last + 1))


def bar(label: str, parts: Sequence[tuple[float, float, str]]) -> Markup:
    """Return a bar of one or more parts.

    Parameters
    ----------
    label : str
        Description for screen readers.
    parts : sequence of (float, float, str)
        Where a part begins and ends, as shares of the width, and its class in the style sheet.
    """
    drawn = (
        element(
            "rect",
            x=percent(min(begin, end)),
            y="3",
            width=percent(abs(end - begin)),
            height=str(BAR_HEIGHT - 6),
            class_=kind,
        )
        for begin, end, kind in parts
    )
    return _strip(label, *drawn)


def whisker(
    label: str, value: float, low: float, high: float, **place: str | bool | None
) -> Markup:
    """Return a dot with the interval around it, on a scale from 0 to 1.

    Parameters
    ----------
    label : str
    value, low, high : float
    **place
        Attributes of the dot.
    """
    middle = str(BAR_HEIGHT // 2)
    ends = {"x1": percent(low), "x2": percent(high), "y1": middle, "y2": middle}
    grid = (
        element("line", x1=at, x2=at, y1="0", y2=str(BAR_HEIGHT), class_="grid")
        for at in ("0%", "50%", "100%")
    )
    return _strip(
        label,
        *grid,
        element("line", **ends, class_="interval"),
        element("circle", cx=percent(value), cy=middle, r="5", class_="dot", **place),
    )


def percent(share: float) -> str:
    """Return a share of the width as CSS writes it.

    Examples
    --------
    >>> percent(0.5)
    '50%'
    """
    return f"{100 * share:.6g}%"


def _strip(label: str, *drawn: Markup) -> Markup:
    return element(
        "svg",
        element("title", label),
        *drawn,
        class_="strip",
        width="100%",
        height=str(BAR_HEIGHT),
        role="img",
        aria_label=label,
    )


@dataclass(frozen=True, slots=True)
class Line:
    """A line through points."""

    name: Markup
    x: Sequence[float]
    y: Sequence[float]
    kind: str  # "line-1" to "line-6", or "chance"
    dots: bool = False


def chart(label: str, x_axis: Axis, y_axis: Axis, lines: Sequence[Line]) -> Markup:
    """Return a chart with its legend.

    Parameters
    ----------
    label : str
        Description for screen readers.
    x_axis, y_axis : Axis
    lines : sequence of Line
        Each has an entry in the legend.
    """
    picture = element(
        "svg",
        element("title", label),
        _grid(x_axis, y_axis),
        *(_drawn(line, x_axis, y_axis) for line in lines),
        class_="chart",
        viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}",
        role="img",
        aria_label=label,
    )
    return element("figure", picture, _legend(lines))


def path_of(line: Line, x_axis: Axis, y_axis: Axis) -> str:
    """Return the line in SVG's words, to a tenth of a unit.

    Examples
    --------
    >>> axis = Axis.of_shares("")
    >>> path_of(Line(Markup("a"), (0, 0, 1), (0, 0, 1), "line-1"), axis, axis)
    'M54 224L346 12'
    """
    points = (
        f"{across(x_axis, x):.1f} {down(y_axis, y):.1f}"
        for x, y in zip(line.x, line.y, strict=True)
    )
    # Points one after the other on one spot are one point.
    return "M" + "L".join(spot.replace(".0", "") for spot, _ in groupby(points))


def _drawn(line: Line, x_axis: Axis, y_axis: Axis) -> Markup:
    stroke = element("path", d=path_of(line, x_axis, y_axis), class_=f"line {line.kind}")
    if not line.dots and len(line.x) > 1:
        return stroke
    return joined((stroke, *_dots(line, x_axis, y_axis)))


def _dots(line: Line, x_axis: Axis, y_axis: Axis) -> Iterable[Markup]:
    for x, y in zip(line.x, line.y, strict=True):
        yield element(
            "circle",
            cx=f"{across(x_axis, x):.1f}",
            cy=f"{down(y_axis, y):.1f}",
            r="3.5",
            class_=f"dot {line.kind}",
            data_x=repr(float(x)),
            data_y=repr(float(y)),
        )


def _grid(x_axis: Axis, y_axis: Axis) -> Markup:
    left, right, top, bottom = f"{LEFT:g}", f"{WIDTH - RIGHT:g}", f"{TOP:g}", f"{HEIGHT - BOTTOM:g}"
    parts = []
    for tick in y_axis.ticks:
        at = f"{down(y_axis, tick):.1f}"
        parts.append(element("line", x1=left, x2=right, y1=at, y2=at, class_="grid"))
        parts.append(_text(y_axis.written(tick), LEFT - 6, float(at) + 4, "end"))
    for tick in x_axis.ticks:
        at = f"{across(x_axis, tick):.1f}"
        parts.append(element("line", x1=at, x2=at, y1=top, y2=bottom, class_="grid"))
        parts.append(_text(x_axis.written(tick), float(at), HEIGHT - BOTTOM + 16, "middle"))
    parts.append(_text(x_axis.label, (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, "middle"))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(
        element(
            "text", y_axis.label, transform=f"translate(13 {middle:g}) rotate(-90)",
            text_anchor="middle",
        )
    )  # fmt: skip
    return joined(parts)


def _text(content: str, x: float, y: float, anchor: str) -> Markup:
    return element("text", content, x=f"{x:g}", y=f"{y:g}", text_anchor=anchor)


def _legend(lines: Sequence[Line]) -> Markup:
    entries = (element("li", _swatch(line.kind), line.name) for line in lines)
    return element("figcaption", element("ul", *entries, class_="legend"))


def _swatch(kind: str) -> Markup:
    stroke = element("path", d="M0 6L26 6", class_=f"line {kind}")
    return element("svg", stroke, width="26", height="12", aria_hidden="true")


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in a cell."""

    content: Markup
    place: dict[str, str | bool | None]  # attributes that say where it stands in the card
    kind: str  # "right" or "wrong"
    level: float  # of its colour, from 0 to 1


def heat_map(caption: str, names: Sequence[str], cells: Sequence[Sequence[Cell]]) -> Markup:
    """Return a table whose rows are the truth and whose columns are predictions.

    Parameters
    ----------
    caption : str
    names : sequence of str
        Of the classes.
    cells : sequence of sequences of Cell
    """
    is_dense = len(names) > MOST_NAMED
    is_numbered = is_dense and max(map(len, names)) > SHORTEST
    corner = element("th", "true ↓ predicted →", scope="col", class_="corner")
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
    """Return costs of mistakes on a log scale from 0, the cheapest, to 1, the most expensive.

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
