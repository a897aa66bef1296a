"""Tables with captions, and boxes in which wide ones move sideways."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ecselm.report.markup import Markup, element

NUMBER = "number"  # class of cells in the style sheet
_NUMBER_CELL = f'<td class="{NUMBER}"'


def table(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], kind: str | None = None
) -> Markup:
    """Return a table whose first column names the rows.

    Parameters
    ----------
    caption : str
    head : sequence of str
        What the columns hold.
    rows : iterable of sequences of str
        Cells; those that :func:`number` has made are taken as they are.
    kind : str, default=None
        Class of the table in the style sheet.
    """
    body = [(first, *map(_as_cell, others)) for first, *others in rows]
    shapes = [NUMBER if one.startswith(_NUMBER_CELL) else None for one in body[0]]
    header = (
        element("th", name, scope="col", class_=shape)
        for name, shape in zip(head, shapes, strict=True)
    )
    lines = (element("tr", element("th", first, scope="row"), *others) for first, *others in body)
    content = element(
        "table",
        element("caption", caption),
        element("thead", element("tr", *header)),
        element("tbody", *lines),
        class_=kind,
    )
    return scrolled(caption, content)


def scrolled(label: str, content: Markup) -> Markup:
    """Return a box that is moved sideways by hand or keyboard, for what may be too wide."""
    return element("div", content, class_="scrolled", role="region", tabindex="0", aria_label=label)


def number(*children: str | None) -> Markup:
    """Return a cell that holds a number, flush right, as is the head of its column."""
    return element("td", *children, class_=NUMBER)


def scale(*ends: str) -> Markup:
    """Return what stands above bars, from the left to the right end."""
    return element("span", *(element("span", end) for end in ends), class_="scale")


def _as_cell(content: str) -> Markup:
    is_cell = isinstance(content, Markup) and content.startswith("<td")
    return Markup(content) if is_cell else element("td", content)
