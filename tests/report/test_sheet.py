"""The sheet of a model: what it states, what it leaves to people, what it escapes."""

import dataclasses
import re

import pytest

from ecselm.report import sheet_text, write_sheet
from ecselm.report.sheet import UNKNOWN, plain
from ecselm.study import Estimate, GroupResult
from tests.report import cards

SECTIONS = [
    "Intended use",
    "Data",
    "Metric and costs, and why",
    "Performance on test rows",
    "Limits",
    "Human oversight",
    "Reproduction",
]


def test_sections_are_those_that_guidelines_ask_for(card):
    text = sheet_text(card)
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == SECTIONS
    assert text.count(UNKNOWN) >= 4


def test_figures_are_those_of_the_card(made):
    card = made["tumours"]
    text = sheet_text(card)
    for name, value in card.test.scores.items():
        assert f"| {value:.4g} |" in text, name
    for one in card.test.recalls:
        assert f"Recall of {one.name}: {one.value:.1%}" in text
    assert f"{card.data.n_train} training rows, {card.data.n_test} test rows" in text
    for warning in card.warnings:
        assert plain(warning) in text


def test_what_is_intended_is_stated_by_people(made):
    text = sheet_text(made["bare"], "Triage of biopsies")
    assert "affected people: Triage of biopsies" in text
    assert f"affected people: {UNKNOWN}" in sheet_text(made["bare"])


def test_groups_are_listed(made):
    card = made["tumours"]
    groups = (GroupResult("north", 7, (Estimate("ill", 0.5, 0.25, 0.75, 7),), None, None),)
    test = dataclasses.replace(card.test, by="hospital", groups=groups)
    text = sheet_text(dataclasses.replace(card, test=test))
    assert "- By hospital:\n  - north, 7 rows, recall: ill 50% (25% to 75%)." in text


def test_names_are_text_and_stay_on_their_line(made, tmp_path):
    card = made["nasty"]
    text = sheet_text(card)
    assert cards.MARKUP not in text
    assert plain(cards.MARKUP) in text
    assert "\x00" not in text
    lines = text.splitlines()
    assert sum(line.startswith("#") for line in lines) == 1 + len(SECTIONS)
    written = write_sheet(card, tmp_path / "sheet.md")
    assert written.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("name", ["a\nb", "# a", "a | b", "[x](http://y)", "`a`", "<b>", "*a*"])
def test_markup_is_escaped(name):
    shown = plain(name)
    assert "\n" not in shown
    for sign in "#|[]`<>*":
        assert shown.count(sign) == shown.count(f"\\{sign}")
