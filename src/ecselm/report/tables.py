"""Tables with captions, and boxes in which wide ones move sideways."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ecselm.report.markup import Markup, element, joined


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
        Cells; those that :func:`cell` has made are taken as they are.
    kind : str, default=None
        Class of the table in the style sheet.
    """
    header = element("tr", *(element("th", name, scope="col") for name in head))
    body = joined(_row(row) for row in rows)
    return scrolled(
        caption,
        element(
            "table",
            element("caption", caption),
            element("thead", header),
            element("tbody", body),
            class_=kind,
        ),
    )


def scrolled(label: str, content: Markup) -> Markup:
    """Return a box that is moved sideways by hand or keyboard, for what may be too wide."""
    return element("div", content, class_="scrolled", role="region", tabindex="0", aria_label=label)


def cell(*children: str, **attributes: str | bool | None) -> Markup:
    """Return a cell of a table with attributes."""
    return element("td", *children, **attributes)


def number(child: str) -> Markup:
    """Return a cell that holds a number, flush right."""
    return cell(child, class_="number")


def _row(cells: Sequence[str]) -> Markup:
    first, *others = cells
    return element("tr", element("th", first, scope="row"), *map(_as_cell, others))


def _as_cell(content: str) -> Markup:
    if isinstance(content, Markup) and content.startswith("<td"):
        return content
    return cell(content)
