"""The page as text: what it holds, what it escapes, what it refuses."""

import base64
import dataclasses
import hashlib
import json
import re

import pytest

from ecselm.report import report_html, write_report
from ecselm.report.page import POLICY
from ecselm.report.points import SCRIPT
from ecselm.report.summary import MAX_COLUMNS
from ecselm.study import Asking, Baseline, Card, CostColumn, Curve, Difference
from tests.report import cards
from tests.report.pages import Page, looked_up

KEYS = {
    "tumours": "warnings request data costs unknown search members scores confusion recalls "
    "groups operating benefit importance thresholds calibration baselines reproduction",
    "progression": "request data scores errors baselines",
    "bare": "request data scores",
}


def test_every_number_is_that_of_the_card(card):
    values = Page(report_html(card)).values()
    stored = json.loads(card.to_json())
    assert values
    for place, value in values:
        assert float(value) == looked_up(stored, place), place


def test_numbers_that_matter_are_all_there(made):
    card = made["tumours"]
    places = dict(Page(report_html(card)).values())
    wanted = [
        *(f"/test/scores/{name}" for name in card.test.scores),
        *(f"/test/confusion/{i}/{j}" for i in range(2) for j in range(2)),
        *(f"/learned/matrix/{i}/{j}" for i in range(2) for j in range(2)),
        *(f"/test/recalls/{i}/{end}" for i in range(2) for end in ("low", "value", "high", "n")),
        *(f"/data/classes/{i}/{part}" for i in range(2) for part in ("n_train", "n_test")),
        *(f"/baselines/{i}/scores/gmean" for i in range(2)),
        *(f"/baselines/{i}/difference/value" for i in range(2)),
        *(f"/data/columns/{i}/n_values" for i in range(30)),
        *(f"/test/unknown/{part}" for part in ("n_settled", "mean_regret", "largest_regret")),
        *(f"/test/groups/0/recalls/1/{end}" for end in ("low", "value", "high")),
        *(f"/test/groups/0/{part}" for part in ("n", "mean_cost/value", "n_settled")),
        "/test/total_cost",
        "/test/cost_matrix/0/1",
        "/test/roc/0/area",
        "/test/precision_recall/0/area",
        "/test/reliability/area",
        "/search/n_evaluations",
        "/members/0/squared_error",
        "/learned/gain",
        "/request/seed",
    ]
    assert not set(wanted) - set(places)


@pytest.mark.parametrize("name", KEYS)
def test_parts_that_a_card_lacks_are_omitted(made, name):
    page = Page(report_html(made[name]))
    assert [attrs["id"] for attrs, _ in page.all("section")] == KEYS[name].split()
    links = [attrs["href"] for attrs, _ in page.all("a")]
    assert links == [f"#{key}" for key in KEYS[name].split()]


def test_only_the_slider_runs_and_nothing_is_fetched(card):
    text = report_html(card)
    page = Page(text)
    assert not page.tags() & {"img", "link", "iframe", "object", "form", "base"}
    scripts = [(attrs, "".join(inside)) for attrs, inside in page.all("script")]
    assert scripts == ([] if card.test.operating is None else [({}, SCRIPT)])
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in POLICY
    policies = [attrs for attrs, _ in page.all("meta") if "http-equiv" in attrs]
    assert policies == [{"http-equiv": "Content-Security-Policy", "content": POLICY}]
    for tag, attrs, _ in page.elements:
        assert not any(name.startswith("on") or name == "src" for name in attrs), tag
    assert "url(" not in text.split("</style>", 1)[0]


def test_markup_in_names_arrives_as_text(made):
    text = report_html(made["nasty"])
    assert text.count("<script") == 1
    assert text.count("</script") == 1
    assert "<img" not in text
    assert text.count("</style>") == 1
    page = Page(text)
    text = "".join("".join(inside) for _, _, inside in page.elements)
    assert cards.MARKUP in text
    labels = [attrs["aria-label"] for attrs, _ in page.all("svg") if "aria-label" in attrs]
    assert any(cards.MARKUP in label for label in labels)


def test_what_utf_8_cannot_hold_is_replaced(made, tmp_path):
    written = write_report(made["nasty"], tmp_path / "page.html").read_text("utf-8")
    assert "\x00" not in written
    assert "evil\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}" in written


def test_headings_are_in_order_and_pictures_have_names(card):
    page = Page(report_html(card))
    levels = [int(tag[1]) for tag, _, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels == [1] + [2] * (len(levels) - 1)
    ids = [attrs["id"] for _, attrs, _ in page.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert len(page.all("table")) == len(page.all("caption"))
    pictures = [attrs for attrs, _ in page.all("svg") if attrs.get("aria-hidden") != "true"]
    titles = [text for _, text in page.all("title")][1:]
    assert [attrs["aria-label"] for attrs in pictures] == titles
    assert all(attrs["role"] == "img" for attrs in pictures)


def costs_of(card):
    """Return the captions, cells and sentences of the section on costs."""
    page = report_html(card)
    start = page.index('id="costs"')
    return Page("<section " + page[start : page.index("</section>", start)] + "</section>")


def captions(page):
    return [text for _, text in page.all("caption")]


@pytest.mark.parametrize("decides", [False, True])
def test_stated_costs_are_shown_as_stated_beside_weights(made, decides):
    stated = ((0.0, 12.3456789), (1234567.0, 0.0))
    card = changed(made["tumours"], cost_matrix=stated)
    learned = dataclasses.replace(card.learned, decides=decides)
    page = costs_of(dataclasses.replace(card, learned=learned))
    noun = "Cost in decisions" if decides else "Training weight"
    assert [caption.partition(";")[0] for caption in captions(page)] == [
        "Stated cost of each mistake",
        f"{noun} of each mistake",
    ]
    cells = {attrs.get("data-card"): text for attrs, text in page.all("td")}
    assert cells["/test/cost_matrix/0/1"] == "12.3456789"
    assert cells["/test/cost_matrix/1/0"] == "1,234,567"


def test_weights_that_are_the_stated_costs_are_shown_once(made):
    card = made["tumours"]
    learned = dataclasses.replace(card.learned, matrix=card.test.cost_matrix)
    page = costs_of(dataclasses.replace(card, learned=learned))
    assert captions(page) == ["Stated cost of each mistake; darker is more expensive"]


def test_stated_costs_are_shown_where_none_were_learned(made):
    page = costs_of(dataclasses.replace(made["tumours"], learned=None))
    assert captions(page) == ["Stated cost of each mistake; darker is more expensive"]


def test_costs_that_the_user_fixed_are_shown_in_full(made):
    card = changed(made["tumours"], cost_matrix=None)
    matrix = ((0.0, 1.2345), (2.0 / 3.0, 0.0))
    page = costs_of(
        dataclasses.replace(card, learned=dataclasses.replace(card.learned, matrix=matrix))
    )
    cells = {attrs.get("data-card"): text for attrs, text in page.all("td")}
    assert cells["/learned/matrix/0/1"] == "1.2345"
    assert cells["/learned/matrix/1/0"] == "0.667"


def test_costs_by_class_stand_in_for_a_matrix(made):
    card = made["tumours"]
    learned = dataclasses.replace(card.learned, matrix=())
    places = dict(Page(report_html(dataclasses.replace(card, learned=learned))).values())
    assert {"/learned/class_costs/0", "/learned/class_costs/1"} <= set(places)
    assert "/learned/class_costs/0" not in dict(Page(report_html(card)).values())


def test_warnings_come_before_all_other_parts(made):
    page = Page(report_html(made["tumours"]))
    assert page.all("section")[0][0]["class"] == "warnings"


def test_equal_cards_give_equal_pages(card):
    assert report_html(Card.from_json(card.to_json())) == report_html(card)


@pytest.mark.parametrize(("name", "most"), [("tumours", 120_000), ("digits", 200_000)])
def test_pages_are_small(made, name, most):
    assert len(report_html(made[name]).encode()) < most


def test_pages_of_huge_cards_stay_below_two_megabytes():
    card = cards.nasty(n_classes=120, n_columns=3000)
    text = report_html(card)
    assert len(text.encode()) < 2_000_000
    assert f"And {3000 - MAX_COLUMNS:,} more." in text


def test_what_is_there_is_replaced(made, tmp_path):
    path = tmp_path / "page.html"
    path.write_text("older")
    assert write_report(made["bare"], str(path)) == path
    assert path.read_text("utf-8") == report_html(made["bare"])


def changed(card, **parts):
    return dataclasses.replace(card, test=dataclasses.replace(card.test, **parts))


def test_cards_that_contradict_themselves_are_refused_and_nothing_is_written(made, tmp_path):
    card = made["tumours"]
    path = tmp_path / "page.html"
    with pytest.raises(ValueError, match=r"confusion must have a row .* 2 classes, got .*\[3\]"):
        write_report(changed(card, confusion=((1, 2, 3),)), path)
    assert not path.exists()
    with pytest.raises(ValueError, match="cost_matrix must have a row"):
        report_html(changed(card, cost_matrix=()))
    with pytest.raises(ValueError, match="confusion of B must have a row"):
        report_html(dataclasses.replace(card, baselines=(Baseline("B", {}, ((1,),)),)))
    with pytest.raises(ValueError, match="finite"):
        report_html(changed(card, scores={"gmean": float("nan")}))
    with pytest.raises(
        ValueError, match=r"curve c must have columns of equal length, got \[2, 1\]"
    ):
        report_html(changed(card, roc=(Curve("c", (0.0, 1.0), (0.5,)),)))
    learned = dataclasses.replace(card.learned, class_costs=(1.0,))
    with pytest.raises(ValueError, match="class_costs must have a cost for each of 2 classes"):
        report_html(dataclasses.replace(card, learned=learned))


def test_possible_costs_are_ranges_and_asking_has_a_section(made):
    low, high = ((0.0, 1.0), (3.0, 0.0)), ((0.0, 1.0), (20.0, 0.0))
    saved = Difference(0.25, 0.125, 0.5, True)
    card = changed(
        made["tumours"],
        cost_low=low,
        cost_high=high,
        cost_matrix=((0.0, 1.0), (9.0, 0.0)),
        asking=Asking(100, 5, 4, 0.5, 0.75, saved, (2, 3), "5 rows are left to a person."),
    )
    page = Page(report_html(card))
    cells = {attrs.get("data-card"): text for attrs, text in page.all("td") if attrs}
    assert cells["/test/cost_matrix/1/0"] == "3 to 20"
    assert cells["/test/cost_matrix/0/1"] == "1"
    places = dict(page.values())
    assert places["/test/asking/mean_cost_without"] == "0.75"
    assert places["/test/asking/by_class/1"] == "3"
    text = report_html(card)
    assert "5 rows are left to a person." in text
    assert "By the mean of the possible costs, the mistakes cost" in text


def test_costs_by_row_are_not_counted_by_cell(made):
    card = made["tumours"]
    request = dataclasses.replace(card.request, cost_columns=(CostColumn("loss"),))
    text = report_html(dataclasses.replace(card, request=request))
    assert "By the costs of each row, the mistakes cost" in text
    assert "Mean cost of each mistake" in text
    assert "and their cost" not in text


def test_operating_points_are_counts_per_1000_cases(made):
    card = made["tumours"]
    n = card.test.operating.n
    places = Page(report_html(card)).values()
    assert ("/test/operating/walk/4/n_alarms", "16") in places
    shown = {
        attrs["data-card"]: text
        for attrs, text in Page(report_html(card)).all("span")
        if "data-card" in attrs
    }
    assert float(shown["/test/operating/points/2/n_missed"]) == pytest.approx(3000 / n, rel=0.01)
