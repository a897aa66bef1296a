"""Bars and whiskers that stand in the rows of tables.

Places are per cents of the width, so that they fit any column while text beside them keeps
its size.
"""

from __future__ import annotations

from collections.abc import Sequence

from ecselm.report.markup import Markup, element

HEIGHT = 18


def bar(label: str, parts: Sequence[tuple[float, float, str]]) -> Markup:
    """Return a bar of one or more parts.

    Parameters
    ----------
    label : str
        What the bar says, for those who cannot see it.
    parts : sequence of (float, float, str)
        Where a part begins and ends, as shares of the width, and its class in the style sheet.
    """
    drawn = (
        element(
            "rect",
            x=percent(min(begin, end)),
            y="3",
            width=percent(abs(end - begin)),
            height=str(HEIGHT - 6),
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
    middle = str(HEIGHT // 2)
    ends = {"x1": percent(low), "x2": percent(high), "y1": middle, "y2": middle}
    grid = (
        element("line", x1=at, x2=at, y1="0", y2=str(HEIGHT), class_="grid")
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
        height=str(HEIGHT),
        role="img",
        aria_label=label,
    )
