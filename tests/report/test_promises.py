"""Promises in the report and on the sheet."""

import json
from dataclasses import replace

import pytest

from ecselm.report import report_html
from ecselm.report.sheet import sheet_text
from ecselm.study import (
    Card,
    ClassCount,
    DataSummary,
    Estimate,
    Evaluation,
    GroupPromise,
    GroupResult,
    PromiseResult,
    RequestSummary,
)
from tests.report.pages import Page

SEEN = Estimate("recall of <ill>", 0.95, 0.9, 0.98, 100)
PROMISE = PromiseResult(
    "<ill>",
    None,
    0.9,
    0.8,
    True,
    77,
    1,
    0.9504,
    threshold=0.25,
    interval=(0.2, 0.4),
    observed=SEEN,
    status="shown",
    sentence="Promised: a recall.",
)


@pytest.fixture
def card():
    recall = Estimate("<ill>", 0.95, 0.9, 0.98, 100)
    groups = (
        GroupResult("north", 60, (recall,), None, None, (GroupPromise(SEEN, 5, "shown"),)),
        GroupResult("south", 40, (recall,), None, None, ()),
    )
    rate = replace(PROMISE, predicted="well", threshold=None, factor=3.5, observed=None)
    test = Evaluation({"gmean": 0.9}, promises=(PROMISE, rate), by="site", groups=groups)
    classes = (ClassCount("<ill>", 300, 100), ClassCount("well", 300, 100))
    request = RequestSummary("classes", "state", "gmean", (), 0.25, 0)
    return Card(request, DataSummary("a.csv", 600, 200, (), classes), test)


def value_at(stored, pointer):
    for key in pointer.split("/")[1:]:
        stored = stored[int(key)] if isinstance(stored, list) else stored[key]
    return stored


def test_figures_are_those_of_the_card(card):
    text = report_html(card)
    page, stored = Page(text), json.loads(card.to_json())
    shown = [
        attrs for attrs, _ in page.all("span") if "/promises/" in (attrs.get("data-card") or "")
    ]
    places = {one["data-card"] for one in shown}
    for key in ("asked", "n_cases", "n_failures", "bound", "threshold", "interval/1"):
        assert f"/test/promises/0/{key}" in places
    assert "/test/promises/1/factor" in places
    assert "/test/groups/0/promises/0/observed/low" in places
    for one in shown:
        assert float(one["data-value"]) == value_at(stored, one["data-card"])
    assert "<ill>" not in text


def test_the_page_says_where_nothing_is_promised(card):
    failed = replace(card.test, promises=(replace(PROMISE, kept=False),), groups=(), by=None)
    text = report_html(replace(card, test=failed))
    assert "nothing is promised" in text
    assert "nothing is promised" not in report_html(card)
    assert 'id="promises"' not in report_html(replace(card, test=Evaluation({"gmean": 0.9})))


def test_the_sheet_has_promises_and_their_limits(card):
    sheet = sheet_text(card)
    assert "Promised: a recall." in sheet
    assert "Promises hold with confidence 0.8" in sheet
    assert "holds (95.0%, exact interval 90.0% to 98.0%)" in sheet
