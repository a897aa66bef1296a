"""Pages from templates; everything that is put into them is escaped."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from ecselm.report.html import amount, count, counted, share, shortened

_LONG_NUMBER = re.compile(r"(?<![\w.])\d{1,3}\.\d{3,}(?![\w.])")


def render(template: str, **values: Any) -> str:
    """Return a page.

    Parameters
    ----------
    template : str
        Name of a file in ``templates``.
    **values
        What it shows.

    Examples
    --------
    >>> "&lt;b&gt;" in render("refused.html", sentence="<b>")
    True
    """
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("ecselm.studio"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "amount": amount,
        "count": count,
        "counted": counted,
        "share": share,
        "named": _named,
        "rounded": rounded,
    }
    return made


def rounded(sentence: str) -> str:
    """Return a sentence whose numbers have three digits.

    Examples
    --------
    >>> rounded("between 1 and 1.7999999999999998 times")
    'between 1 and 1.8 times'
    """
    return _LONG_NUMBER.sub(lambda found: f"{float(found[0]):.3g}", sentence)


def _named(text: Any, longest: int = 60) -> Markup:
    """Return a name from the data: shortened, and isolated in its direction of writing."""
    return Markup("<bdi>{}</bdi>").format(shortened(str(text), longest))
