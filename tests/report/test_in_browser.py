"""The page in a real browser: what it shows, fetches and complains of."""

import json

import pytest

from ecselm.report import write_report
from tests.report.browser import PROGRAM, Browser
from tests.report.pages import looked_up

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="needs chromium or google-chrome")
SHOWN = ("tumours", "digits", "progression", "nasty")
VALUES = """JSON.stringify([...document.querySelectorAll('[data-card]')].map(
  e => [e.dataset.card, e.dataset.value]))"""
# The page itself, and everything that is not inside a box of its own that can be moved.
OVERFLOW = """JSON.stringify([document.documentElement.scrollWidth - innerWidth,
  [...document.querySelectorAll('body *')].filter(e => !e.parentElement.closest('.scrolled')
    && e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 90))])"""
# Boxes whose table is wider than they are; matrices of classes have to be.
CLIPPED = """JSON.stringify([...document.querySelectorAll('.scrolled')].filter(
  e => !e.querySelector('.heat') && e.checkVisibility() && e.scrollWidth > e.clientWidth + 1
  ).map(e => e.getAttribute('aria-label')))"""
# How far left the names of rows stand in their box, before and after it is moved.
MOVED = """(() => { const box = [...document.querySelectorAll('.scrolled:has(.heat)')].at(-1);
  const left = () => Math.round(box.querySelector('tbody th').getBoundingClientRect().left
    - box.getBoundingClientRect().left);
  const before = left(); box.scrollLeft = 50;
  return JSON.stringify([before, left(), box.scrollLeft]); })()"""
# Contrast of each text with what is painted behind it, as WCAG counts it.
CONTRAST = """(() => {
  const parsed = text => { const p = text.match(/[\\d.]+/g).map(Number);
    return p.length < 4 ? [...p, 1] : p; };
  const over = (a, b) => [0, 1, 2].map(i => a[i] * a[3] + b[i] * (1 - a[3]));
  const light = c => [0.2126, 0.7152, 0.0722].reduce((sum, w, i) => { const v = c[i] / 255;
    return sum + w * (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); }, 0);
  const behind = e => { const own = parsed(getComputedStyle(e).backgroundColor);
    return over(own, e.parentElement ? behind(e.parentElement) : [255, 255, 255]); };
  const found = [];
  for (const e of document.querySelectorAll('body, body *')) {
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
    if (e.namespaceURI.endsWith('svg') && e.tagName !== 'text') continue;
    const style = getComputedStyle(e);
    const ink = parsed(e.tagName === 'text' ? style.fill : style.color);
    const back = behind(e);
    const [a, b] = [light(over(ink, back)), light(back)].sort((x, y) => y - x);
    found.push([(a + 0.05) / (b + 0.05), e.outerHTML.slice(0, 90)]);
  }
  return JSON.stringify(found);
})()"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    running = Browser(tmp_path_factory.mktemp("browser"))
    yield running
    running.close()


@pytest.fixture(scope="module")
def pages(made, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    return {name: write_report(made[name], folder / f"{name}.html") for name in SHOWN}


@pytest.mark.parametrize("name", SHOWN)
def test_numbers_are_those_of_the_card_and_nothing_leaves_the_page(browser, pages, made, name):
    browser.open(pages[name])
    assert browser.complaints() == []
    assert browser.requests() == [pages[name].as_uri()]
    stored = json.loads(made[name].to_json())
    values = json.loads(browser.evaluate(VALUES))
    assert values
    for place, value in values:
        assert float(value) == looked_up(stored, place), place


@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("name", SHOWN)
def test_nothing_is_wider_than_the_screen(browser, pages, name, width):
    browser.open(pages[name], width=width)
    unfold = "document.querySelectorAll('details').forEach(e => { e.open = true; })"
    browser.evaluate(unfold)
    assert json.loads(browser.evaluate(OVERFLOW)) == [0, []]


@pytest.mark.parametrize("name", ["tumours", "digits", "progression"])
def test_tables_are_not_clipped_on_a_phone(browser, pages, name):
    browser.open(pages[name], width=390)
    assert json.loads(browser.evaluate(CLIPPED)) == []


@pytest.mark.parametrize("name", ["digits", "nasty"])
def test_names_of_classes_stay_in_sight_when_a_matrix_is_moved(browser, pages, name):
    browser.open(pages[name], width=390)
    before, after, moved = json.loads(browser.evaluate(MOVED))
    assert moved > 1  # or nothing would be shown
    assert abs(before - after) <= 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_stand_out_from_what_is_behind_them(browser, pages, scheme):
    browser.open(pages["tumours"], scheme=scheme)
    back = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (max(map(int, back[4:-1].split(","))) < 64) == (scheme == "dark")
    for name in ("tumours", "nasty"):
        browser.open(pages[name], scheme=scheme)
        found = json.loads(browser.evaluate(CONTRAST))
        assert len(found) > 50
        assert [one for one in found if one[0] < 4.5] == []


def test_paper_is_white_even_where_screens_are_dark(browser, pages):
    browser.open(pages["tumours"], width=700, scheme="dark", media="print")
    colour = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    assert colour == "rgb(255, 255, 255)"
    assert browser.evaluate("getComputedStyle(document.querySelector('nav')).display") == "none"
    assert browser.evaluate("document.documentElement.scrollWidth") == 700


def test_the_page_is_printed(browser, pages):
    browser.open(pages["tumours"])
    printed = browser.printed()
    assert printed.startswith(b"%PDF")
    assert 3 <= printed.count(b"/Type /Page\n") <= 12


def test_keys_reach_links_and_what_is_folded_or_wide(browser, pages):
    browser.open(pages["tumours"])
    wanted = browser.evaluate(
        "document.querySelectorAll('a, summary, .scrolled, pre, input').length"
    )
    folded = browser.evaluate("document.querySelectorAll('details .scrolled').length")
    reached = set()
    for _ in range(wanted + 5):
        for kind in ("rawKeyDown", "keyUp"):
            browser.ask("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab",
                        windowsVirtualKeyCode=9)  # fmt: skip
        place = "[...document.querySelectorAll('*')].indexOf(document.activeElement)"
        reached.add(browser.evaluate(place))
    body = browser.evaluate("[...document.querySelectorAll('*')].indexOf(document.body)")
    assert len(reached - {body}) == wanted - folded


SLIDER = """JSON.stringify({value: +document.querySelector('.slider input').value,
  shown: [...document.querySelectorAll('[data-walk] tbody tr')].findIndex(
    one => one.classList.contains('shown')),
  said: document.querySelector('.slider output').textContent,
  spoken: document.querySelector('.slider input').getAttribute('aria-valuetext'),
  hidden: document.querySelector('.slider').hidden})"""


@pytest.mark.parametrize("width", [1280, 360])
def test_keys_walk_the_operating_points(browser, pages, made, width):
    browser.open(pages["tumours"], width=width)
    walk = made["tumours"].test.operating.walk
    before = json.loads(browser.evaluate(SLIDER))
    assert before["hidden"] is False
    assert before["value"] == before["shown"] == len(walk) // 2
    browser.evaluate("document.querySelector('.slider input').focus()")
    for kind in ("rawKeyDown", "keyUp"):
        browser.ask("Input.dispatchKeyEvent", type=kind, key="ArrowRight", code="ArrowRight",
                    windowsVirtualKeyCode=39)  # fmt: skip
    after = json.loads(browser.evaluate(SLIDER))
    assert after["value"] == after["shown"] == before["value"] + 1
    assert after["said"] == after["spoken"] != before["said"]
    assert f"times: {walk[after['value']].factor:g}" in after["said"]
    assert browser.complaints() == []


def test_without_a_script_the_points_are_a_table(browser, pages, made):
    browser.ask("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(pages["tumours"])
        found = json.loads(browser.evaluate(SLIDER))
        rows = browser.evaluate("document.querySelectorAll('[data-walk] tbody tr').length")
    finally:
        browser.ask("Emulation.setScriptExecutionDisabled", value=False)
    assert found["hidden"] is True
    assert found["said"] == ""
    assert rows == len(made["tumours"].test.operating.walk)
