"""Check the built documentation: its links, the way to every page, and pages in a browser.

``make check-site`` builds the site and runs all of it. Nothing is fetched.

- Every internal link leads to a file of the site, and to an anchor that is in it.
- Every page is at most two clicks from the start page, by links in the text of pages.
- ``--external`` lists the addresses outside the site, with the pages that name them.
- ``--browser`` opens every page in Chromium on a narrow screen, where nothing may be clipped, and
  looks for serious findings of axe on pages of each kind, light and dark.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[1]
START = "index.html"
CLICKS = 2
# Sphinx's own pages, which the sidebar leads to.
INDEXES = {"genindex.html", "py-modindex.html", "search.html"}
NARROW, WIDE = (390, 844), (1280, 900)
SERIOUS = ("serious", "critical")
# One page of each kind: start, guide, recipe, notebook, API, gallery, tables.
EXAMINED = (
    START,
    "guide.html",
    "howto/costs_known.html",
    "notebooks/costs_known.html",
    "api/ecselm.CostDecisionClassifier.html",
    "gallery/plot_tumour_costs.html",
    "bench.html",
)
# Elements whose content is cut off, or that reach beyond the window with nothing to scroll.
CLIPPED = """() => {
  const scrolls = e => ["auto", "scroll"].includes(getComputedStyle(e).overflowX);
  const within = e => { for (let p = e.parentElement; p && p !== document.body; p = p.parentElement)
    if (scrolls(p)) return true; return false; };
  const found = [];
  const name = e => e.tagName.toLowerCase() + ": " + e.textContent.trim().slice(0, 50);
  if (document.scrollingElement.scrollWidth > innerWidth + 1) found.push("the page scrolls");
  for (const e of document.querySelectorAll(
      ["pre", "table", "img", "math", "code", "h1", "dt"].map(e => "article " + e).join())) {
    const box = e.getBoundingClientRect();
    if (box.width === 0) continue;
    const hides = ["hidden", "clip"].includes(getComputedStyle(e).overflowX);
    if (hides && e.scrollWidth > e.clientWidth + 1) found.push("cut " + name(e));
    const right = scrolls(e) || hides ? box.right : Math.max(box.right, box.left + e.scrollWidth);
    if (right > innerWidth + 1 && !within(e)) found.push("beyond the window " + name(e));
  }
  return found;
}"""


@dataclass
class Page(HTMLParser):
    """Anchors and links of one page."""

    text: str
    anchors: set[str] = field(default_factory=set)
    links: set[str] = field(default_factory=set)
    links_of_text: set[str] = field(default_factory=set)  # not of sidebars and headers

    def __post_init__(self) -> None:
        super().__init__()
        self._articles = 0
        self.feed(self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep ids, addresses, and whether they are in the text."""
        self._articles += tag == "article"
        for name, value in attrs:
            if name == "id" or (tag, name) == ("a", "name"):
                self.anchors.add(value or "")
            elif name in {"href", "src"} and value:
                self.links.add(value)
                if tag == "a" and self._articles:
                    self.links_of_text.add(value)

    def handle_endtag(self, tag: str) -> None:
        """Leave the text."""
        self._articles -= tag == "article"


def read(site: Path) -> dict[str, Page]:
    """Return the pages of a site by their path in it."""
    names = {path.relative_to(site).as_posix(): path for path in sorted(site.rglob("*.html"))}
    pages = {name: path for name, path in names.items() if not name.startswith("_static/")}
    if START not in pages:
        raise ValueError(f"site must have {START}, got {site}")
    return {name: Page(path.read_text()) for name, path in pages.items()}


def is_external(link: str) -> bool:
    """Return whether a link leaves the site."""
    return bool(urlsplit(link).scheme or urlsplit(link).netloc)


def target(site: Path, page: str, link: str) -> tuple[str, str]:
    """Return path in the site and anchor of an internal link."""
    parts = urlsplit(link)
    path = (site / page).parent / unquote(parts.path) if parts.path else site / page
    path = path / START if path.is_dir() else path
    resolved, root = path.resolve(), site.resolve()
    inside = resolved.is_relative_to(root)
    return (resolved.relative_to(root).as_posix() if inside else f"{resolved}"), parts.fragment


def broken(site: Path, pages: dict[str, Page]) -> list[str]:
    """Return a sentence for every internal link that leads nowhere."""
    problems = []
    for name, page in pages.items():
        for link in sorted(one for one in page.links if not is_external(one)):
            file, anchor = target(site, name, link)
            if not (site / file).is_file() or Path(file).is_absolute():
                problems.append(f"{name}: no file for {link}")
            elif anchor and file in pages and unquote(anchor) not in pages[file].anchors:
                problems.append(f"{name}: no anchor for {link}")
    return problems


def clicks(site: Path, pages: dict[str, Page]) -> dict[str, int]:
    """Return how many clicks from the start page each page is, by links in texts."""
    distances, fresh = {START: 0}, [START]
    while fresh:
        reached = {
            target(site, name, link)[0]
            for name in fresh
            for link in pages[name].links_of_text
            if not is_external(link)
        }
        steps = distances[fresh[0]] + 1
        fresh = sorted((reached & pages.keys()) - distances.keys())
        distances |= dict.fromkeys(fresh, steps)
    return distances


def far(site: Path, pages: dict[str, Page]) -> list[str]:
    """Return a sentence for every page that takes more clicks."""
    distances = clicks(site, pages)
    return [
        f"{name}: {distances.get(name, 'no number of')} clicks from {START}, not {CLICKS}"
        for name in pages
        if name not in INDEXES and distances.get(name, CLICKS + 1) > CLICKS
    ]


def external(pages: dict[str, Page]) -> dict[str, list[str]]:
    """Return the addresses outside the site, each with the pages that name it."""
    named: dict[str, list[str]] = {}
    for name, page in pages.items():
        for link in page.links:
            if is_external(link) and urlsplit(link).scheme not in {"data", "javascript"}:
                named.setdefault(link, []).append(name)
    return dict(sorted(named.items()))


def chromium() -> str | None:
    """Return the path of the browser, if there is one."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)


def seen(site: Path, names: Iterable[str], examined: Iterable[str]) -> list[str]:
    """Return what a browser finds: clipped content, and serious barriers of access."""
    from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    problems = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium())
        page = browser.new_page(viewport=dict(zip(("width", "height"), NARROW, strict=True)))
        for name in names:
            page.goto((site.resolve() / name).as_uri())
            problems += [f"{name}: {found}" for found in page.evaluate(CLIPPED)]
        for scheme in ("light", "dark"):
            for width, height in (NARROW, WIDE):
                context: Any = browser.new_context(
                    viewport={"width": width, "height": height}, color_scheme=scheme
                )
                page = context.new_page()
                for name in examined:
                    page.goto((site.resolve() / name).as_uri())
                    for one in Axe().run(page).response["violations"]:
                        if one["impact"] in SERIOUS:
                            where = "; ".join(str(node["target"][0]) for node in one["nodes"][:3])
                            problems.append(
                                f"{name} ({scheme}, {width} px): {one['id']} at "
                                f"{len(one['nodes'])} places: {where}"
                            )
                context.close()
        browser.close()
    return problems


def main(arguments: list[str] | None = None) -> int:
    """Run the checks, print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("site", type=Path, nargs="?", default=ROOT / "docs/_build/html")
    parser.add_argument("--external", action="store_true", help="list addresses outside the site")
    parser.add_argument("--browser", action="store_true", help="look at pages in Chromium, too")
    args = parser.parse_args(arguments)
    try:
        pages = read(args.site)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    if args.external:
        for link, names in external(pages).items():
            print(f"{link}  ({names[0]}{f' and {len(names) - 1} more' if names[1:] else ''})")
        return 0
    problems = broken(args.site, pages) + far(args.site, pages)
    if args.browser:
        problems += seen(args.site, pages, EXAMINED)
    print("\n".join(problems), end="\n" if problems else "", file=sys.stderr)
    links = sum(not is_external(link) for page in pages.values() for link in page.links)
    print(f"{len(pages)} pages, {links} internal links, {len(problems)} problems")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
