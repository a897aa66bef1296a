"""The check of the built site finds what is broken, on a site of a few pages."""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PATH = ROOT / "tools/website.py"

pytestmark = pytest.mark.skipif(not PATH.exists(), reason="needs the source tree")


@pytest.fixture(scope="module")
def website():
    spec = importlib.util.spec_from_file_location("tools_website", PATH)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def site(tmp_path):
    """Return a site without faults: every page is two clicks from the start."""
    pages = {
        "index.html": '<nav><a href="a/two.html"></a></nav><article><a href="a/one.html#x"></a>'
        '<a href="https://example.org/y">out</a><img src="_static/p%20q.png"></article>',
        "a/one.html": '<article><h1 id="x"></h1><a href="two.html"></a><a href="#x"></a></article>',
        "a/two.html": '<article><a href="../index.html"></a><a href="mailto:a@b.c"></a></article>',
        "search.html": "<p>Only the sidebar leads here.</p>",
    }
    for name, text in pages.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "_static").mkdir()
    (tmp_path / "_static/p q.png").write_bytes(b"")
    return tmp_path


def test_a_site_without_faults_passes(website, site, capsys):
    assert website.main([str(site)]) == 0
    assert capsys.readouterr().out.startswith("4 pages, 6 internal links, 0 problems")


@pytest.mark.parametrize(
    ("link", "problem"),
    [
        ("gone.html", "a/two.html: no file for gone.html"),
        ("one.html#y", "a/two.html: no anchor for one.html#y"),
        ("#here", "a/two.html: no anchor for #here"),
        ("../../index.html", "a/two.html: no file for ../../index.html"),
    ],
)
def test_a_link_that_leads_nowhere_is_named(website, site, capsys, link, problem):
    with (site / "a/two.html").open("a") as page:
        page.write(f'<a href="{link}"></a>')
    assert website.main([str(site)]) == 1
    assert problem in capsys.readouterr().err.splitlines()


def test_a_page_three_clicks_away_is_named(website, site):
    (site / "a/two.html").write_text('<article><a href="../deep.html"></a></article>')
    (site / "deep.html").write_text("<article></article>")
    (site / "lost.html").write_text("<article></article>")
    assert website.far(site, website.read(site)) == [
        "deep.html: 3 clicks from index.html, not 2",
        "lost.html: no number of clicks from index.html, not 2",
    ]


def test_links_of_the_sidebar_do_not_count(website, site):
    (site / "a/one.html").write_text('<article><h1 id="x"></h1></article>')
    assert website.far(site, website.read(site)) == [
        "a/two.html: no number of clicks from index.html, not 2"
    ]


def test_addresses_outside_are_listed_with_their_pages(website, site, capsys):
    assert website.main([str(site), "--external"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "https://example.org/y  (index.html)",
        "mailto:a@b.c  (a/two.html)",
    ]


def test_a_folder_that_is_no_site_is_refused(website, tmp_path, capsys):
    assert website.main([str(tmp_path)]) == 1
    assert "site must have index.html" in capsys.readouterr().err


def test_a_browser_finds_what_is_clipped_and_what_has_no_name(website, site):
    pytest.importorskip("axe_playwright_python")
    if not website.chromium():
        pytest.skip("needs Chromium")
    head = '<!doctype html><html lang="en"><head><title>T</title><meta name="viewport" '
    head += 'content="width=device-width"></head><body><main><h1>T</h1><article>'
    wide = "<pre>" + "x" * 400 + "</pre>"
    texts = {
        "good.html": '<div style="overflow-x:auto" tabindex="0">' + wide + "</div>",
        "wide.html": wide,
        "cut.html": wide.replace("<pre>", '<pre style="overflow:hidden">'),
        "nameless.html": "<button></button>",
    }
    for name, text in texts.items():
        (site / name).write_text(f"{head}{text}</article></main></body></html>")
    found = website.seen(site, texts, ["good.html", "nameless.html"])
    assert [one.partition(": xx")[0] for one in found if "px" not in one] == [
        "wide.html: the page scrolls",
        "wide.html: beyond the window pre",
        "cut.html: cut pre",
    ]
    barriers = [one for one in found if "px" in one]
    assert len(barriers) == 4  # two schemes, two widths
    assert all("nameless.html" in one and "button-name" in one for one in barriers)
