"""The page as a whole."""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path

from ecselm._files import write_whole
from ecselm.report.html import Markup, Section, element, shortened
from ecselm.report.results import (
    compared,
    costs,
    errors,
    mistakes,
    probabilities,
    ranking,
    recalls,
    scores,
    search,
)
from ecselm.report.summary import asked, check_card, data, repeated, verdict, warned
from ecselm.study import Card

# Nothing is fetched and nothing runs, whatever a name in the card may hold.
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
PARTS = (
    warned,
    asked,
    data,
    costs,
    search,
    scores,
    mistakes,
    recalls,
    ranking,
    probabilities,
    errors,
    compared,
    repeated,
)


def write_report(card: Card, path: str | os.PathLike[str]) -> Path:
    """Write the page about a model as one file that needs nothing else.

    Parameters
    ----------
    card : Card
    path : path
        File to be written; one that is there is replaced.

    Returns
    -------
    path : Path

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from ecselm.study import Asked, Card, DataGlance, HeldOut
    >>> asked = Asked("classes", "diagnosis", "gmean", (), 0.25, 0)
    >>> card = Card(asked, DataGlance("a.csv", 3, 1, (), ()), HeldOut({"gmean": 1.0}))
    >>> with TemporaryDirectory() as folder:
    ...     write_report(card, f"{folder}/report.html").name
    'report.html'
    """
    text = report_html(card)
    written = Path(path)
    write_whole(written, text.encode())
    return written


def report_html(card: Card) -> str:
    """Return the page about a model: HTML with its style and charts inside.

    It runs no script and fetches nothing. Numbers of the card carry their place in its JSON
    as ``data-card`` (a JSON pointer) and their exact value as ``data-value``. What the card
    does not hold is left out. Equal cards give equal pages.

    Parameters
    ----------
    card : Card
        A card whose parts contradict each other is refused.

    Returns
    -------
    text : str

    Examples
    --------
    >>> from ecselm.study import Asked, Card, DataGlance, HeldOut
    >>> asked = Asked("classes", "diagnosis", "gmean", (), 0.25, 0)
    >>> card = Card(asked, DataGlance("a.csv", 3, 1, (), ()), HeldOut({"gmean": 1.0}))
    >>> 'data-card="/held_out/scores/gmean" data-value="1.0"' in report_html(card)
    True
    """
    check_card(card)
    sections = [section for part in PARTS if (section := part(card)) is not None]
    body = element(
        "body",
        verdict(card),
        _contents(sections),
        element("main", *(section.render() for section in sections)),
    )
    return f"<!DOCTYPE html>\n{element('html', _head(card), body, lang='en')}\n"


def _head(card: Card) -> Markup:
    style = files("ecselm.report").joinpath("style.css").read_text(encoding="utf-8")
    return element(
        "head",
        element("meta", charset="utf-8"),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", f"A model that predicts {shortened(card.asked.target, 60)}"),
        Markup(f"<style>{style}</style>"),
    )


def _contents(sections: list[Section]) -> Markup:
    links = (
        element("li", element("a", section.title, href=f"#{section.key}")) for section in sections
    )
    return element("nav", element("ul", *links), aria_label="Contents")
