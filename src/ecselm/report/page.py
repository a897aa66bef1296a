"""The report of a model as one HTML page."""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path

from ecselm._files import write_whole
from ecselm.report.answers import answers
from ecselm.report.benefit import benefit
from ecselm.report.costs import asking, costs, unknown
from ecselm.report.groups import by_group
from ecselm.report.html import Markup, Section, element, shortened
from ecselm.report.importance import importance
from ecselm.report.points import SCRIPT, SCRIPT_HASH, operating
from ecselm.report.promises import promises
from ecselm.report.results import (
    baselines,
    calibration,
    confusion,
    errors,
    members,
    recalls,
    scores,
    search,
    thresholds,
)
from ecselm.report.summary import (
    check_card,
    data,
    headline,
    reproduction,
    request,
    warnings,
)
from ecselm.study import Card

# Nothing is fetched, and no script runs but that of the slider, whatever names the card holds.
POLICY = f"default-src 'none'; style-src 'unsafe-inline'; script-src '{SCRIPT_HASH}'"
PARTS = (
    warnings,
    request,
    data,
    costs,
    answers,
    unknown,
    asking,
    search,
    members,
    scores,
    confusion,
    recalls,
    by_group,
    operating,
    promises,
    benefit,
    importance,
    thresholds,
    calibration,
    errors,
    baselines,
    reproduction,
)


def write_report(card: Card, path: str | os.PathLike[str]) -> Path:
    """Write the report of a model as one self-contained HTML file.

    Parameters
    ----------
    card : Card
    path : path
        Output file; an existing one is replaced.

    Returns
    -------
    path : Path

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from ecselm.study import Card, DataSummary, Evaluation, RequestSummary
    >>> request = RequestSummary("classes", "diagnosis", "gmean", (), 0.25, 0)
    >>> card = Card(request, DataSummary("a.csv", 3, 1, (), ()), Evaluation({"gmean": 1.0}))
    >>> with TemporaryDirectory() as folder:
    ...     write_report(card, f"{folder}/report.html").name
    'report.html'
    """
    text = report_html(card)
    written = Path(path)
    write_whole(written, text.encode())
    return written


def report_html(card: Card) -> str:
    """Return the report of a model: HTML with style and charts inside.

    It fetches nothing, and its only script moves the slider of operating points. Numbers of
    the card carry their place in its JSON as ``data-card`` (a JSON pointer) and their exact
    value as ``data-value``. Sections without content are omitted. Equal cards give equal pages.

    Parameters
    ----------
    card : Card
        Parts that contradict each other raise ValueError.

    Returns
    -------
    text : str

    Examples
    --------
    >>> from ecselm.study import Card, DataSummary, Evaluation, RequestSummary
    >>> request = RequestSummary("classes", "diagnosis", "gmean", (), 0.25, 0)
    >>> card = Card(request, DataSummary("a.csv", 3, 1, (), ()), Evaluation({"gmean": 1.0}))
    >>> 'data-card="/test/scores/gmean" data-value="1.0"' in report_html(card)
    True
    """
    check_card(card)
    sections = [section for part in PARTS if (section := part(card)) is not None]
    has_slider = any(section.key == "operating" for section in sections)
    body = element(
        "body",
        headline(card),
        _contents(sections),
        element("main", *(section.render() for section in sections)),
        Markup(f"<script>{SCRIPT}</script>") if has_slider else None,
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
        element("title", f"A model that predicts {shortened(card.request.target, 60)}"),
        Markup(f"<style>{style}</style>"),
    )


def _contents(sections: list[Section]) -> Markup:
    links = (
        element("li", element("a", section.title, href=f"#{section.key}")) for section in sections
    )
    return element("nav", element("ul", *links), aria_label="Contents")
