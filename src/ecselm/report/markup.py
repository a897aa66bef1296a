"""HTML and SVG that are escaped unless they were made here."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

# What no browser shows and UTF-8 cannot hold: control characters and halves of surrogate pairs.
_UNFIT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_VOID = frozenset({"meta", "circle", "line", "path", "rect"})  # that hold no children, if any


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


def element(tag: str, *children: str | None, **attributes: str | bool | None) -> Markup:
    """Return an element; children and attributes that are no :class:`Markup` are escaped.

    Parameters
    ----------
    tag : str
    *children : str or None
        None is left out.
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
    """Return a name somebody else gave, cut in the middle if it is long.

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
