"""Line charts as SVG, coloured by the style sheet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from ecselm.report.axes import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Axis, across, down
from ecselm.report.markup import Markup, element, joined

N_COLOURS = 6  # that the style sheet tells apart, by dashes too


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
        What the chart shows, for those who cannot see it.
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
