"""The code of the pages runs in order, and prints the text shown below it."""

import contextlib
import io
import re
from pathlib import Path

import numpy as np
import pytest

DOCS = Path(__file__).parents[2] / "docs"
TESTED = (
    "tutorial.md",
    "guide.md",
    "cheat_sheet.md",
    "ensembles.md",
    "coming_from.md",
    "deciding.md",
    "tradeoff.md",
    "eliciting.md",
    "howto/*.md",
    "extend/*.md",
    "streaming.md",
    "reproduce.md",
)
PAGES = sorted(page for pattern in TESTED for page in DOCS.glob(pattern) if page.stem != "index")
PAGES += [DOCS.parent / "README.md"] if PAGES else []
SNIPPET = re.compile(
    r"(?P<skip><!-- not run:.*?-->\n)?```python\n(?P<code>.*?)```"
    r"(\n\n```text\n(?P<expected>.*?)```)?",
    re.DOTALL,
)
CELL = re.compile(r"^\|.*\| `([^|]*)` \|$", re.MULTILINE)  # of the last column
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def printed(code, names):
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(code, names)  # noqa: S102
    return output.getvalue()


def agrees(output, expected):
    """Compare words exactly, and numbers up to rounding on another computer."""
    words = [NUMBER.sub("#", text).split() for text in (output, expected)]
    numbers = [np.array(NUMBER.findall(text), dtype=float) for text in (output, expected)]
    return words[0] == words[1] and np.allclose(*numbers, rtol=0.1, atol=0.02)


@pytest.mark.skipif(not PAGES, reason="needs the documentation, beside the sources")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_snippets_of_a_page_print_the_expected_text(page, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "page"}
    snippets = list(SNIPPET.finditer(page.read_text()))
    assert snippets
    for snippet in snippets:
        if not snippet["skip"]:
            output = printed(snippet["code"], names)
            assert agrees(output, snippet["expected"] or ""), output


@pytest.mark.skipif(not PAGES, reason="needs the documentation, beside the sources")
def test_counterparts_of_other_packages_run():
    page = (DOCS / "coming_from.md").read_text()
    names = {"__name__": "page"}
    exec(SNIPPET.search(page)["code"], names)  # noqa: S102
    cells = CELL.findall(page)
    n_tables = page.count("\n|---|---|\n")
    assert len(cells) == sum(line.startswith("| ") for line in page.splitlines()) - n_tables
    for cell in cells:
        exec(cell, names)  # noqa: S102


def test_another_number_or_word_does_not_agree():
    assert agrees("missed 10 of 53", "missed  10 of\n53")
    assert not agrees("missed 10 of 53", "missed 12 of 53")
    assert not agrees("missed 10 of 53", "found 10 of 53")
    assert not agrees("missed 10", "")
