"""The front of a model: counts, plots, and HTML for notebooks."""

import json
import re
from html.parser import HTMLParser

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ecselm import CostDecisionClassifier, CostSearchCV, ECSELMClassifier
from ecselm.displays import FrontDisplay
from tests.report.browser import PROGRAM, Browser

NASTY = "<img src=x onerror=window.hit=1>&\"'"


def front(recalls, classes, **columns):
    """Return a frame as ``front_`` is one."""
    r = np.asarray(recalls, dtype=float)
    return pd.DataFrame(
        columns
        | {f"recall of {c}": r[:, i] for i, c in enumerate(classes)}
        | {f"std error of {c}": np.full(len(r), 0.01 * (i + 1)) for i, c in enumerate(classes)}
    )


def two(classes=("ill", "well"), **options):
    frame = front([[0.5, 0.9], [0.8, 0.7], [1.0, 0.2]], classes, threshold=[0.2, 0.5, 0.7])
    return FrontDisplay(frame, classes, [0.1, 0.9], **options)


def three(classes=("a", "b", "c")):
    frame = front([[0.5, 0.9, 1.0], [0.8, 0.7, np.nan]], classes)
    return FrontDisplay(frame, classes, [1, 2, 1])


class Page(HTMLParser):
    """The elements and the cells of a fragment."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.rows, self.styles = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.styles.append(dict(attrs))
        if tag == "tr":
            self.rows.append([])

    def handle_data(self, data):
        if self.tags[-1] in {"th", "td"}:
            self.rows[-1].append(data)


# Counts


def test_counts_of_two_classes_are_shares_times_recalls():
    counts = two(pos_label="ill").counts()
    assert_allclose(counts["caught"], [50, 80, 100])
    assert_allclose(counts["missed"], [50, 20, 0])
    assert_allclose(counts["false alarms"], [90, 270, 720])
    assert_allclose(counts["all mistakes"], [140, 290, 720])
    assert_allclose(counts["std error of missed"], 1.0)
    assert_allclose(counts["std error of false alarms"], 18.0)


def test_the_second_class_is_caught_unless_another_is_named():
    counts = two().counts()
    assert_allclose(counts["missed"], [90, 270, 720])
    assert_allclose(counts["false alarms"], [50, 20, 0])


def test_counts_of_more_classes_are_what_is_missed_of_each():
    counts = three().counts()
    assert_allclose(counts["missed of a"], [125, 50])
    assert_allclose(counts["missed of b"], [50, 150])
    assert_allclose(counts["missed of c"], [0, np.nan])
    assert_allclose(counts["all mistakes"], [175, np.nan])


def test_a_class_without_cases_makes_no_mistakes():
    display = FrontDisplay(three().front, ["a", "b", "c"], [1, 1, 0])
    assert_allclose(display.counts()["all mistakes"], [300, 250])


def test_the_best_point_is_that_of_least_mean_cost_or_highest_mean_recall():
    assert two().best == 1
    frame = two().front.assign(**{"mean cost": [3.0, 2.0, 1.0]})
    assert FrontDisplay(frame, ["ill", "well"], [0.1, 0.9]).best == 2


# Models


@pytest.fixture(scope="module")
def tumours():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:, :3], np.where(y == 0, "malignant", "benign")


MODELS = {
    "decision": lambda: CostDecisionClassifier(
        LogisticRegression(max_iter=5000), cost={("malignant", "benign"): 5},
        calibration="cross", cv=3,
    ),
    "ecselm": lambda: ECSELMClassifier(cost={("malignant", "benign"): 5}, random_state=0),
    "search": lambda: CostSearchCV(
        LogisticRegression(max_iter=5000), cost_level="decision", random_state=0
    ),
}  # fmt: skip
WITHIN = {
    "alone": lambda model: model,
    "pipeline": lambda model: make_pipeline(StandardScaler(), model),
}


@pytest.mark.parametrize("within", WITHIN)
@pytest.mark.parametrize("name", MODELS)
def test_models_with_a_front_have_a_display(name, within, tumours):
    model = WITHIN[within](MODELS[name]()).fit(*tumours)
    display = FrontDisplay.from_estimator(model)
    inner = model if within == "alone" else model[-1]
    pd.testing.assert_frame_equal(display.front, inner.front_)
    y = tumours[1]
    assert_allclose(display.shares, [(y == "benign").mean(), (y == "malignant").mean()])
    assert display.pos_label == "malignant"
    assert len(display.counts()) == len(inner.front_)
    assert f"<caption>{len(inner.front_)} point" in display._repr_html_()
    assert not plt.get_fignums()  # a notebook shows the display itself


def test_a_search_around_a_model_is_looked_into(tumours):
    X, y = tumours
    searched = GridSearchCV(MODELS["decision"](), {"cv": [2, 3]}, cv=2).fit(X, y)
    display = FrontDisplay.from_estimator(searched)
    pd.testing.assert_frame_equal(display.front, searched.best_estimator_.front_)


def test_classes_that_are_numbers_are_named(ax):
    X, y = load_wine(return_X_y=True)
    model = CostDecisionClassifier(
        make_pipeline(StandardScaler(), LogisticRegression()), calibration="cross", cv=3
    ).fit(X[:, :2], y)
    display = FrontDisplay.from_estimator(model).plot(ax)
    assert [one.get_text() for one in ax.get_xticklabels()] == ["0", "1", "2"]
    assert_allclose(display.shares, np.bincount(y) / len(y))


def test_estimators_keep_the_html_of_scikit_learn(tumours):
    model = MODELS["decision"]().fit(*tumours)
    assert "sk-top-container" in model._repr_html_()
    assert "<table" in model.front_._repr_html_()


def test_models_without_a_front_are_refused_with_the_reason(tumours):
    with pytest.raises(ValueError, match="must have front_, got Pipeline, which has none"):
        FrontDisplay.from_estimator(
            make_pipeline(StandardScaler(), LogisticRegression()).fit(*tumours)
        )
    level = CostSearchCV(LogisticRegression(), cost_level="class", max_epochs=1, random_state=0)
    with pytest.raises(ValueError, match="must have front_: front_ is there only with cost_level"):
        FrontDisplay.from_estimator(make_pipeline(StandardScaler(), level).fit(*tumours))
    with pytest.raises(NotFittedError):
        FrontDisplay.from_estimator(MODELS["decision"]())


def test_what_is_no_front_is_refused():
    frame = two().front
    with pytest.raises(ValueError, match="got no column 'recall of x'"):
        FrontDisplay(frame, ["x", "well"], [0.5, 0.5])
    with pytest.raises(ValueError, match="got no points"):
        FrontDisplay(frame[:0], ["ill", "well"], [0.5, 0.5])
    for shares in ([1.0], [-1.0, 2.0], [np.nan, 1.0], [0.0, 0.0]):
        with pytest.raises(ValueError, match="shares must be numbers >= 0 for 2 classes"):
            FrontDisplay(frame, ["ill", "well"], shares)
    with pytest.raises(ValueError, match="pos_label must be one of two classes, got 'x'"):
        two(pos_label="x")
    with pytest.raises(ValueError, match="pos_label must be one of two classes, got 'a'"):
        FrontDisplay(three().front, ["a", "b", "c"], [1, 1, 1], pos_label="a")


# Plots


def test_misses_are_drawn_against_false_alarms(ax):
    display = two(pos_label="ill").plot(ax)
    (line,) = display.lines_
    assert_allclose(line.get_xdata(), [0.1, 0.3, 0.8])
    assert_allclose(line.get_ydata(), [0.5, 0.2, 0.0])
    bars = [one.get_segments() for one in display.bars_.lines[2]]
    assert_allclose([np.ptp(one[:, 0]) for one in bars[0]], 0.04)  # of well, both sides
    assert_allclose([np.ptp(one[:, 1]) for one in bars[1]], 0.02)
    assert ax.get_xlabel() == "false alarms, share of well"
    assert ax.get_ylabel() == "misses, share of ill"


def test_recalls_of_more_classes_are_lines(ax):
    display = three().plot(ax)
    assert len(display.lines_) == 2
    assert_allclose(display.lines_[1].get_ydata(), [0.8, 0.7, np.nan])
    assert_allclose(display.bars_.lines[0].get_ydata(), [0.5, 0.9, 1.0])
    labels = [one.get_text() for one in ax.get_legend().get_texts()]
    assert labels == ["2 points", "highest mean recall"]


@pytest.mark.parametrize("classes", [("$x_1$", "$\\bad"), ("$a", "b" * 100, "\n")])
def test_names_of_classes_are_no_formulas(classes, ax):
    frame = front([[0.5, 0.9, 1.0][: len(classes)]], classes)
    display = FrontDisplay(frame, classes, np.ones(len(classes))).plot(ax)
    display.figure_.canvas.draw()
    if len(classes) == 2:
        assert ax.get_ylabel() == "misses, share of $\\bad"
    else:
        assert [one.get_text() for one in ax.get_xticklabels()] == ["$a", "b" * 37 + "...", ""]


# HTML


def test_the_table_has_a_row_per_point_with_counts():
    page = Page(two(pos_label="ill")._repr_html_())
    head, *rows = page.rows
    assert head == ["threshold of well", "ill caught", "ill missed", "false alarms", "all mistakes"]
    assert rows == [
        ["0.2", "50 ± 1.0", "50 ± 1.0", "90 ± 18", "140"],
        ["0.5", "80 ± 1.0", "20 ± 1.0", "270 ± 18", "290"],
        ["0.7", "100 ± 1.0", "0.0 ± 1.0", "720 ± 18", "720"],
    ]


def test_what_is_not_known_is_said():
    head, _, row = Page(three()._repr_html_()).rows
    assert head == ["point", "missed of a", "missed of b", "missed of c", "all mistakes"]
    assert row == ["2", "50 ± 2.5", "150 ± 10", "not known", "not known"]


def test_costs_of_cases_are_in_the_table():
    frame = two().front.assign(**{"mean cost": [0.5, 0.25, 1.5]})
    page = Page(FrontDisplay(frame, ["ill", "well"], [0.1, 0.9])._repr_html_())
    assert [row[-1] for row in page.rows] == ["cost of 1000 cases", "500", "250", "1,500"]
    assert 'value="1"' in FrontDisplay(frame, ["ill", "well"], [0.1, 0.9])._repr_html_()


def test_html_is_the_same_for_the_same_points_and_scoped_by_them():
    assert two()._repr_html_() == two()._repr_html_()
    key = re.compile("ecselm-front-[0-9a-f]{16}")
    keys = [set(key.findall(one._repr_html_())) for one in (two(), two(pos_label="ill"), three())]
    assert [len(one) for one in keys] == [1, 1, 1]
    assert len(set.union(*keys)) == 3
    assert "KEY" not in two()._repr_html_()


@pytest.mark.parametrize("make", [two, three])
def test_html_is_escaped(make):
    names = (NASTY, "</script><b>\x01.", "c")[: 2 if make is two else 3]
    text = make(names)._repr_html_()
    assert "\x01" not in text
    tags = Page(text).tags
    assert "img" not in tags
    assert "b" not in tags
    assert tags.count("script") == 1


def test_many_points_and_classes_are_thinned_out_and_the_best_is_kept():
    classes = [f"class {i}" for i in range(50)]
    recalls = np.full((300, 50), 0.5)
    recalls[201] = 0.9
    display = FrontDisplay(front(recalls, classes), classes, np.ones(50))
    text = display._repr_html_()
    _, *rows = Page(text).rows
    assert 100 < len(rows) <= 120
    assert f"<caption>{len(rows)} points of the front, of 300: " in text
    start = int(re.search(r'max="\d+" value="(\d+)"', text)[1])
    assert rows[start][0] == "202"
    assert rows[0][0] == "1"
    assert rows[-1][0] == "300"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    running = Browser(tmp_path_factory.mktemp("browser"))
    yield running
    running.close()


def press(browser, key, code):
    for kind in ("keyDown", "keyUp"):
        browser.ask(
            "Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code
        )


@pytest.mark.skipif(PROGRAM is None, reason="needs chromium or google-chrome")
def test_the_slider_walks_the_table_also_if_shown_twice(browser, tmp_path):
    text = two((NASTY, "well"), pos_label=NASTY)._repr_html_()
    page = tmp_path / "front.html"
    page.write_text(f"<!doctype html><meta charset=utf-8><title>Front</title>{text}{text}{text}")
    browser.open(page)
    state = """JSON.stringify([...document.querySelectorAll("[class^=ecselm-front]")].map(one => [
      one.querySelector("output").textContent, one.querySelector(".shown").rowIndex,
      one.querySelector(".walk").hidden, one.querySelector("details").open]))"""
    said = (
        f"threshold of well: 0.5; {NASTY} caught: 80 ± 1.0; {NASTY} missed: 20 ± 1.0; "
        "false alarms: 270 ± 18; all mistakes: 290"
    )
    assert json.loads(browser.evaluate(state)) == [[said, 2, False, False]] * 3
    browser.evaluate("document.querySelectorAll('input')[1].focus()")
    press(browser, "ArrowRight", 39)
    first, second, third = json.loads(browser.evaluate(state))
    assert first == third == [said, 2, False, False]
    assert second[0].startswith("threshold of well: 0.7; ")
    assert second[1] == 3
    spoken = "document.querySelectorAll('input')[1].getAttribute('aria-valuetext')"
    assert browser.evaluate(spoken) == second[0]
    assert browser.evaluate("window.hit") is None
    assert browser.complaints() == []
    assert browser.requests() == [page.as_uri()]


@pytest.mark.skipif(PROGRAM is None, reason="needs chromium or google-chrome")
def test_without_a_script_the_table_is_open(browser, tmp_path):
    page = tmp_path / "front.html"
    page.write_text(f"<!doctype html><meta charset=utf-8>{two()._repr_html_()}")
    browser.ask("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(page)
        visible = "one => one.checkVisibility()"
        assert browser.evaluate(f"[document.querySelector('table')].every({visible})")
        assert not browser.evaluate(f"[document.querySelector('input')].some({visible})")
    finally:
        browser.ask("Emulation.setScriptExecutionDisabled", value=False)
