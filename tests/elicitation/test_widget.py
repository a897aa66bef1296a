"""Elicitors in notebooks: HTML without a script, and buttons through anywidget."""

import base64
import builtins
import json
import re
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

from ecselm.costs import CostConstraints
from ecselm.elicitation import CostElicitor
from ecselm.elicitation.questions import cost_groups, order_question, ratio_question
from tests.report.browser import PROGRAM, Browser

NASTY = "<img src=x onerror=window.hit=1>&\"'"
HALVES = np.column_stack([np.linspace(0.01, 0.99, 99), 1 - np.linspace(0.01, 0.99, 99)])


def elicitor(classes=("ill", "well"), low=0.01, **options):
    """Ask first how many false alarms a miss is worth: fewer than 5, up to 20, or more."""
    known = CostConstraints(list(classes), intervals={classes[0]: (low, 100)})
    made = CostElicitor(known, HALVES, random_state=0, **{"tolerance": 0.0, **options})
    asks(made, ratio_question(*cost_groups(known), 5, 20, known.classes))
    return made


def asks(made, question):
    """Let an elicitor ask a question of the test in the place of its own."""
    made._question, made._is_current = question, True


def click(widget, **request):
    """Change the trait as a browser does: by a message of the widget protocol."""
    request = {"id": widget.state["served"] + 1, "number": widget.state["number"], **request}
    data = {"method": "update", "state": {"request": request}, "buffer_paths": []}
    widget._handle_msg({"content": {"data": data}, "buffers": []})


class Page(HTMLParser):
    """The elements of a fragment, and the text of list items."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.items = [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.open.append(tag)
        if tag == "li":
            self.items.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "li" in self.open:
            self.items[-1] += data


# HTML


def test_html_shows_progress_question_and_choices():
    asked = elicitor()
    text = asked._repr_html_()
    question = asked.ask()
    page = Page(text)
    assert question.text in text
    assert len(page.items) == len(question.choices)
    for item, choice in zip(page.items, question.choices, strict=True):
        assert item.startswith(f"{choice.text} ({choice.key}): ")
        assert f"{choice.settles:.0%}".replace("%", " %") in item or "<" in item or ">" in item
    assert f'value="{asked.settled:.4f}"' in text
    assert "script" not in page.tags


def test_html_lists_the_answers():
    asked = elicitor()
    asked.tell("more", by="Ada")
    asked.tell(asked.ask().choices[0])
    page = Page(asked._repr_html_())
    sentences = [one["sentence"] for one in asked.transcript()]
    assert page.items[-2:] == sentences
    assert "(Ada, " in page.items[-2]
    assert "2 answers: " in asked._repr_html_()


def test_html_says_when_nothing_is_left():
    asked = elicitor(tolerance=0.99, low=50)
    asks(asked, None)
    assert asked.ask() is None
    assert "Nothing is left to ask." in asked._repr_html_()


def test_html_shows_contradictions_where_answers_may_be_wrong():
    asked = elicitor(error_rate=0.1)
    question = asked.ask()
    asked.tell("fewer", question=question)
    assert "cannot all be right" not in asked._repr_html_()
    asked.tell("more", question=question)
    assert "These answers cannot all be right: " in asked._repr_html_()


def test_html_is_escaped():
    asked = elicitor((NASTY, "well\x00\ud800"))
    asked.tell(asked.ask().choices[0], by="<script>alert(1)</script>")
    text = asked._repr_html_()
    text.encode()
    assert not {"img", "script"} & set(Page(text).tags)
    assert "&lt;img src=x" in text
    assert "\x00" not in text


# Widget, the side of Python


@pytest.fixture
def widget():
    pytest.importorskip("anywidget")
    return elicitor().widget(by="Ada")


def test_the_widget_shows_the_question(widget):
    question = widget.elicitor.ask()
    assert widget.state["question"] == question.text
    assert [one["key"] for one in widget.state["choices"]] == [c.key for c in question.choices]
    assert widget.state["number"] == 0
    assert widget.state["error"] == ""
    json.dumps(widget.state, allow_nan=False)


def test_a_click_answers_and_the_next_question_is_sent(widget, monkeypatch):
    sent = []
    monkeypatch.setattr(widget, "_send", lambda message, buffers=None: sent.append(message))
    before = widget.state["choices"]
    click(widget, action="answer", choice="more")
    (answer,) = widget.elicitor.history
    assert (answer.choice.key, answer.by) == ("more", "Ada")
    assert widget.state["question"] == widget.elicitor.ask().text
    assert widget.state["choices"] != before
    assert widget.state["answers"] == [widget.elicitor.transcript()[0]["sentence"]]
    assert widget.state["settled"] == widget.elicitor.settled > 0
    states = [one["state"]["state"] for one in sent if "state" in one.get("state", {})]
    assert states[-1] == widget.state


def test_undo_takes_the_answer_back(widget):
    widget.elicitor._is_current = False  # its own question, which undoing leads back to
    widget.refresh()
    before = widget.state
    click(widget, action="answer", choice=before["choices"][0]["key"])
    assert widget.state["number"] == 1
    click(widget, action="undo")
    assert widget.elicitor.history == ()
    assert widget.state == {**before, "served": 2}
    click(widget, action="undo")
    assert "undo must follow an answer" in widget.state["error"]


def test_a_contradiction_is_shown_and_the_question_stays(widget):
    asked = widget.elicitor
    click(widget, action="answer", choice="more")  # than 20 false alarms for a miss
    asks(asked, order_question(*cost_groups(asked.prior), asked.classes))
    widget.refresh()
    click(widget, action="answer", choice="second")
    assert widget.state["error"].startswith("answer must not contradict earlier answers")
    assert widget.state["question"].startswith("Which is worse")
    assert len(asked.history) == 1
    click(widget, action="answer", choice="dont_know")
    assert widget.state["error"] == ""
    assert len(asked.history) == 2


def test_contradictions_that_are_accepted_are_shown():
    pytest.importorskip("anywidget")
    asked = elicitor(error_rate=0.1)
    question = asked.ask()
    widget = asked.widget()
    click(widget, action="answer", choice="fewer")
    asked.tell("more", question=question)
    widget.refresh()
    assert widget.state["error"].startswith("These answers cannot all be right: ")


def test_a_click_on_an_old_question_is_refused_and_the_present_one_shown(widget):
    widget.elicitor.tell("more")
    click(widget, action="answer", choice="fewer")
    assert len(widget.elicitor.history) == 1
    assert "answered elsewhere" in widget.state["error"]
    assert widget.state["question"] == widget.elicitor.ask().text
    assert widget.state["number"] == 1


@pytest.mark.parametrize(
    "request_",
    [
        {"action": "answer", "choice": "nonsense"},
        {"action": "answer", "choice": ["more"]},
        {"action": "answer"},
        {"action": "delete"},
        {"action": ["answer"]},
        {"action": "answer", "choice": "more", "number": "0"},
        {"action": "answer", "choice": "more", "id": "one"},
        {},
    ],
)
def test_requests_of_other_kinds_change_nothing(widget, request_):
    if request_.get("id") == "one":  # only counts requests
        click(widget, **request_)
        assert len(widget.elicitor.history) == 1
        assert widget.state["served"] == 0
        return
    click(widget, **request_)
    assert widget.elicitor.history == ()
    assert widget.state["error"]
    assert widget.state["served"] == 1


def test_without_anywidget_the_extra_is_named(monkeypatch):
    real = builtins.__import__

    def refusing(name, *args, **kwargs):
        if name == "anywidget":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.delitem(sys.modules, "ecselm.elicitation.widget", raising=False)
    monkeypatch.setattr(builtins, "__import__", refusing)
    with pytest.raises(ImportError, match=re.escape("pip install 'ecselm[notebook]'")):
        elicitor().widget()


# Widget, the side of the browser

PAGE = """<!doctype html><meta charset="utf-8"><title>Widget</title><style>%s</style>
<div id="root"></div><script type="module">
import widget from "data:text/javascript;base64,%s";
const values = { state: %s, request: {} }, listeners = new Set();
window.saved = [];
const model = {
  get: name => values[name],
  set: (name, value) => { values[name] = value; },
  save_changes: () => saved.push(values.request),
  on: (name, call) => { if (name === "change:state") listeners.add(call); },
  off: (name, call) => { if (name === "change:state") listeners.delete(call); },
};
window.served = state => { values.state = state; listeners.forEach(call => call()); };
window.end = widget.render({ model, el: document.getElementById("root") });
window.listeners = listeners;
</script>"""
browsing = pytest.mark.skipif(PROGRAM is None, reason="needs chromium or google-chrome")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    running = Browser(tmp_path_factory.mktemp("browser"))
    yield running
    running.close()


def shown(browser, widget, folder, **look):
    script = base64.b64encode(widget._esm.encode()).decode()
    state = json.dumps(widget.state).replace("<", "\\u003c")
    page = folder / "widget.html"
    page.write_text(PAGE % (widget._css, script, state), encoding="utf-8")
    browser.open(page, **look)
    assert browser.evaluate("document.querySelector('.ecselm-question') !== null")


def saved(browser):
    return json.loads(browser.evaluate("JSON.stringify(saved)"))


def serve(browser, widget):
    """Bring the last request to Python, and the new state back."""
    data = {"method": "update", "state": {"request": saved(browser)[-1]}, "buffer_paths": []}
    widget._handle_msg({"content": {"data": data}, "buffers": []})
    browser.evaluate(f"served({json.dumps(widget.state)})")


def press(browser, key, code, text=""):
    for kind in ("keyDown", "keyUp"):
        browser.ask(
            "Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code,
            **({"text": text} if kind == "keyDown" and text else {}),
        )  # fmt: skip


def texts(browser, selector):
    found = f"[...document.querySelectorAll({selector!r})].map(one => one.textContent)"
    return json.loads(browser.evaluate(f"JSON.stringify({found})"))


@browsing
def test_clicks_go_to_python_and_back(browser, widget, tmp_path):
    shown(browser, widget, tmp_path)
    first = "document.querySelector('.choices button')"
    browser.evaluate(f"{first}.click(); {first}.click()")
    assert saved(browser) == [{"action": "answer", "choice": "fewer", "id": 1, "number": 0}]
    serve(browser, widget)
    assert len(widget.elicitor.history) == 1
    assert texts(browser, ".asked") == [widget.elicitor.ask().text]
    assert texts(browser, "ol li") == [widget.elicitor.transcript()[0]["sentence"]]
    assert texts(browser, "[role=status]") == [widget.state["summary"]]
    assert browser.evaluate("document.querySelector('progress').value") == pytest.approx(
        widget.elicitor.settled
    )
    browser.evaluate("document.querySelector('.undo').click()")
    assert saved(browser)[-1] == {"action": "undo", "id": 2, "number": 1}
    serve(browser, widget)
    assert widget.elicitor.history == ()
    assert browser.evaluate("document.querySelector('.undo').hidden")
    assert browser.complaints() == []
    assert [one for one in browser.requests() if one.startswith("http")] == []


@browsing
def test_the_keyboard_is_enough(browser, widget, tmp_path):
    shown(browser, widget, tmp_path)
    for _ in range(2):
        press(browser, "Tab", 9)
    assert browser.evaluate("document.activeElement.textContent").startswith("between")
    press(browser, "Enter", 13, "\r")
    assert saved(browser)[-1]["choice"] == "about"
    serve(browser, widget)
    # The focus is on the new question, and goes on to its choices.
    assert browser.evaluate("document.activeElement.className") == "asked"
    press(browser, "Tab", 9)
    assert browser.evaluate("document.activeElement.parentElement.className") == "choices"
    press(browser, " ", 32, " ")
    assert saved(browser)[-1] == {
        "action": "answer", "choice": widget.state["choices"][0]["key"], "id": 2, "number": 1,
    }  # fmt: skip


@browsing
def test_a_refusal_is_announced_and_buttons_work_again(browser, widget, tmp_path):
    shown(browser, widget, tmp_path)
    assert browser.evaluate("document.querySelector('[role=alert]').hidden")
    widget.elicitor.tell("more")  # elsewhere
    for expected in (1, 2):
        browser.evaluate("document.querySelector('.choices button').click()")
        assert len(saved(browser)) == expected
        if expected == 1:
            serve(browser, widget)
            assert "answered elsewhere" in texts(browser, "[role=alert]")[0]
            assert not browser.evaluate("document.querySelector('[role=alert]').hidden")
            assert browser.evaluate("document.querySelector('[aria-disabled]')") is None


@browsing
def test_names_of_classes_are_text(browser, tmp_path):
    pytest.importorskip("anywidget")
    asked = elicitor((NASTY, "<script>window.hit = 2</script>"))
    asked.tell(asked.ask().choices[0], by="<b>Ada</b>")
    shown(browser, asked.widget(), tmp_path)
    assert texts(browser, ".asked") == [asked.ask().text]
    assert "<b>Ada</b>" in texts(browser, "ol li")[0]
    assert browser.evaluate("document.querySelectorAll('#root :is(img, script, b)').length") == 0
    assert browser.evaluate("window.hit") is None


@browsing
def test_every_control_has_a_name(browser, widget, tmp_path):
    shown(browser, widget, tmp_path)
    tree = browser.ask("Accessibility.getFullAXTree")["nodes"]
    named = {
        (one["role"]["value"], one["name"]["value"])
        for one in tree
        if not one["ignored"] and "role" in one and "name" in one
    }
    assert ("progressbar", "Share of rows settled") in named
    assert ("group", "Answers") in named
    assert ("region", "Questions about costs") in named
    buttons = [name for role, name in named if role == "button"]
    assert len(buttons) == len(widget.state["choices"])
    assert all(buttons)


@browsing
def test_a_closed_view_listens_no_more(browser, widget, tmp_path):
    shown(browser, widget, tmp_path)
    assert browser.evaluate("listeners.size") == 1
    browser.evaluate("end()")
    assert browser.evaluate("listeners.size") == 0
