"""Escaped HTML: elements, numbers, tables and sections of a page."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ecselm._wording import all_digits

# What no browser shows and UTF-8 cannot hold: control characters and halves of surrogate pairs.
_UNFIT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_VOID = frozenset(
    {"meta", "input", "circle", "line", "path", "rect"}
)  # that hold no children, if any
_TAGS = re.compile("<[^>]*>")
MOST_ON_A_PAGE = 16  # rows of a table that is not divided in print
NUMBER = "number"  # class of cells in the style sheet
_NUMBER_CELL = f'<td class="{NUMBER}"'


class Markup(str):
    """Text that is HTML already, and is not escaped again."""

    __slots__ = ()


def escaped(text: str) -> Markup:
    """Return text as HTML shows it, in contents and in quoted attributes.

    Examples
    --------
    >>> escaped("a < b")
    'a &lt; b'
    >>> escaped(escaped("a < b"))
    'a &lt; b'
    """
    if isinstance(text, Markup):
        return text
    return Markup(html.escape(_UNFIT.sub("\N{REPLACEMENT CHARACTER}", text), quote=True))


def without_tags(text: str) -> Markup:
    """Return the text of HTML, for attributes.

    Examples
    --------
    >>> without_tags(element("b", "a < b")), without_tags("<b>")
    ('a &lt; b', '&lt;b&gt;')
    """
    return Markup(_TAGS.sub("", escaped(text)))


def element(tag: str, *children: str | None, **attributes: str | bool | None) -> Markup:
    """Return an element; children and attributes that are no :class:`Markup` are escaped.

    Parameters
    ----------
    tag : str
    *children : str or None
        None is omitted.
    **attributes : str, bool or None
        ``class_`` is ``class`` and ``data_value`` is ``data-value``. None and False are left
        out, True is an attribute without a value.

    Examples
    --------
    >>> element("b", "<script>", class_="name", title='"')
    '<b class="name" title="&quot;">&lt;script&gt;</b>'
    """
    listed = "".join(
        _attribute(name.rstrip("_").replace("_", "-"), value)
        for name, value in attributes.items()
        if value is not None and value is not False
    )
    if not children and tag in _VOID:
        return Markup(f"<{tag}{listed}>" if tag == "meta" else f"<{tag}{listed}/>")
    return Markup(f"<{tag}{listed}>{joined(children)}</{tag}>")


def joined(parts: Iterable[str | None]) -> Markup:
    """Return parts one after the other, escaped where they have to be."""
    return Markup("".join(escaped(part) for part in parts if part is not None))


def named(text: str, longest: int = 60) -> Markup:
    """Return a name from the data, shortened in the middle if it is long.

    It is isolated, so that its direction of writing does not turn what stands beside it.

    Examples
    --------
    >>> named("benign")
    '<bdi>benign</bdi>'
    >>> named("a long name 1", 8)
    '<bdi title="a long name 1">a lo…e 1</bdi>'
    """
    short = shortened(text, longest)
    return element("bdi", short, title=None if short == text else text)


def shortened(text: str, longest: int) -> str:
    """Return a text of at most so many characters; names often differ at their ends."""
    if not text.strip():
        return "(empty)"
    if len(text) <= longest:
        return text
    tail = (longest - 1) // 2
    return f"{text[: longest - 1 - tail]}…{text[-tail:]}"


def _attribute(name: str, value: str | bool) -> str:
    return f" {name}" if value is True else f' {name}="{escaped(str(value))}"'


def marks(value: float, *place: str | int) -> dict[str, str | bool | None]:
    """Return the attributes that say where in the card a number stands.

    Examples
    --------
    >>> marks(0.5, "test", "scores", "f1/2")
    {'data_card': '/test/scores/f1~12', 'data_value': '0.5'}
    """
    pointer = "".join(f"/{str(key).replace('~', '~0').replace('/', '~1')}" for key in place)
    # NumPy's floats are floats, but are not written as such.
    exact = repr(float(value)) if isinstance(value, float) else repr(value)
    return {"data_card": pointer, "data_value": exact}


def figure(text: str, value: float, *place: str | int) -> Markup:
    """Return a number in the words of a page, with its place and its exact value.

    Examples
    --------
    >>> figure("3", 3, "data", "n_train")
    '<span data-card="/data/n_train" data-value="3">3</span>'
    """
    return element("span", text, **marks(value, *place))


def score(value: float) -> str:
    """Return a score to three digits; what is not perfect does not look perfect.

    Examples
    --------
    >>> score(0.97345), score(0.99996), score(-12345.678)
    ('0.973', '0.99996', '-12,300')
    """
    text = f"{value:.3f}"
    if abs(value) >= 10:
        return amount(value)
    return f"{value:.6g}" if float(text) in {0.0, 1.0} and float(text) != value else text


def share(value: float) -> str:
    """Return a share as per cent; what is not all or nothing does not look so.

    Examples
    --------
    >>> share(0.25), share(1.0), share(0.9999), share(0.0001)
    ('25.0 %', '100 %', '> 99.9 %', '< 0.1 %')
    """
    if value in {0.0, 1.0}:
        return f"{100 * value:.0f} %"
    if 0.9995 <= value < 1.0:
        return "> 99.9 %"
    return "< 0.1 %" if 0.0 < value < 0.0005 else f"{100 * value:.1f} %"


def count(value: int) -> str:
    """Return a count.

    Examples
    --------
    >>> count(1234567)
    '1,234,567'
    """
    return f"{value:,}"


def amount(value: float, digits: int = 3) -> str:
    """Return a cost or an error to so many digits; whole numbers have all of theirs.

    Examples
    --------
    >>> amount(6.3123), amount(1234.5), amount(0.00001234), amount(10), amount(6.3123, 2)
    ('6.31', '1,230', '1.23e-05', '10', '6.3')
    """
    if value == int(value) and abs(value) < 1e6:
        return f"{int(value):,}"
    rounded = float(f"{value:.{digits}g}")
    return f"{int(rounded):,}" if 1000 <= abs(rounded) < 1e9 else f"{rounded:g}"


def full_amount(value: float) -> str:
    """Return a stated cost, with all its digits.

    Examples
    --------
    >>> full_amount(10.0), full_amount(1234567.0), full_amount(1234.5678)
    ('10', '1,234,567', '1234.5678')
    """
    is_whole = value == int(value) and abs(value) < 1e15
    return f"{int(value):,}" if is_whole else all_digits(value)


def counted(n: int, noun: str) -> str:
    """Return a count with its noun.

    Examples
    --------
    >>> counted(1, "row"), counted(2, "class"), counted(3, "column")
    ('1 row', '2 classes', '3 columns')
    """
    plural = "" if n == 1 else ("es" if noun.endswith("s") else "s")
    return f"{count(n)} {noun}{plural}"


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page, and the name by which links find it."""

    key: str
    title: str
    body: Markup
    kind: str | None = None  # class in the style sheet

    def render(self) -> Markup:
        """Return the part as HTML.

        Examples
        --------
        >>> Section("data", "The data", Markup("<p>None.</p>")).render()
        '<section id="data" aria-labelledby="data-title"><h2 id="data-title">The data</h2><p>None.</p></section>'
        """  # noqa: E501
        heading = element("h2", self.title, id=f"{self.key}-title")
        return element(
            "section",
            heading,
            self.body,
            id=self.key,
            class_=self.kind,
            aria_labelledby=f"{self.key}-title",
        )


def paragraph(*parts: str, kind: str | None = None) -> Markup:
    """Return parts as a paragraph."""
    return element("p", *parts, class_=kind)


def listed(items: Iterable[str], kind: str | None = None) -> Markup:
    """Return sentences as a list."""
    return element("ul", *(element("li", item) for item in items), class_=kind)


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
        Class of the table in the style sheet. The rows of one that is ``"stacked"`` stand below
        each other on a phone, every cell with the name of its column.
    """
    body = [(first, *map(_as_cell, others)) for first, *others in rows]
    shapes = [NUMBER if one.startswith(_NUMBER_CELL) else None for one in body[0]]
    if kind is not None and "stacked" in kind.split():
        labels = [without_tags(name) for name in head[1:]]
        body = [(first, *map(_labelled, others, labels)) for first, *others in body]
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
    return scrolled(caption, content, is_long=len(body) > MOST_ON_A_PAGE)


def scrolled(label: str, content: Markup, *, is_long: bool = False) -> Markup:
    """Return a box that is moved sideways by hand or keyboard, for what may be too wide.

    Long ones may be divided between pages in print.
    """
    return element(
        "div",
        content,
        class_="scrolled long" if is_long else "scrolled",
        role="region",
        tabindex="0",
        aria_label=without_tags(label),
    )


def number(*children: str | None) -> Markup:
    """Return a cell that holds a number, flush right, as is the head of its column."""
    return element("td", *children, class_=NUMBER)


def scale(*ends: str) -> Markup:
    """Return what stands above bars, from the left to the right end."""
    return element("span", *(element("span", end) for end in ends), class_="scale")


def _labelled(cell: str, label: str) -> Markup:
    return Markup(cell.replace("<td", f'<td data-label="{label}"', 1))


def _as_cell(content: str) -> Markup:
    is_cell = isinstance(content, Markup) and content.startswith("<td")
    return Markup(content) if is_cell else element("td", content)
