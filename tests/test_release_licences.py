"""Licences: of what the package installs, of what it bundles, and of what stays outside."""

import importlib.util
import os
import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
COPYLEFT = {"empulse", "intelelm", "mealpy"}

pytestmark = pytest.mark.skipif(
    not (ROOT / "tools/licences.py").exists(), reason="needs the source tree"
)


@pytest.fixture(scope="module")
def licences():
    pytest.importorskip("packaging")
    spec = importlib.util.spec_from_file_location("licences", ROOT / "tools/licences.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rows(section):
    """Return the cells of the table in a section of the page."""
    text = (ROOT / "docs/licences.md").read_text()
    body = text.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    cells = [tuple(c.strip() for c in line.split("|")[1:-1]) for line in body.splitlines()]
    return [row for row in cells if row and set(row[0]) != {"-"}][1:]


@pytest.fixture(scope="module")
def installed(licences):
    """Return licence and origin of what `all` installs here."""
    try:
        return licences.dependencies()
    except ValueError as error:
        pytest.skip(f"needs every extra of `all`: {error}")


def test_all_has_permissive_licences_only(licences, installed):
    assert len(installed) > 50
    refused = {name: row for name, row in installed.items() if not licences.may_be_in_all(row[0])}
    assert refused == {}


def test_the_page_lists_every_dependency(installed):
    if os.environ.get("ECSELM_MATRIX") == "minimum":
        pytest.skip("the page is about the newest versions")
    listed = {name: (licence, origin) for name, licence, origin in rows("Dependencies")}
    assert sorted(set(installed) - set(listed)) == []
    if sys.version_info[:2] == (3, 11):  # for which the page is made
        assert listed == installed


def test_the_page_lists_every_tool(licences):
    listed = {row[0] for row in rows("Development")} | {row[0] for row in rows("Dependencies")}
    own = licences.project()
    for extra in set(licences.DEVELOPMENT) & set(own):
        names = {licences.canonicalize_name(re.match(r"[\w.-]+", one)[0]) for one in own[extra]}
        assert sorted(names - listed - {"ecselm"}) == []


def test_copyleft_packages_are_in_extras_that_say_so(licences):
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    for extra, requirements in extras.items():
        named = {re.match(r"[\w.-]+", one)[0] for one in requirements}
        assert not named & COPYLEFT or extra.endswith("gpl"), extra
    assert not [extra for extra in licences.extras_of_all() if "gpl" in extra]


def test_bundled_files_are_ours(licences):
    assert len(licences.bundled()) > 15
    assert licences.foreign() == []
    page = (ROOT / "docs/licences.md").read_text().partition("## Bundled files")[2]
    assert set(re.findall(r"- `(.*)`", page)) == set(licences._by_folder(licences.bundled()))


def test_a_bundled_file_of_others_is_found(licences, monkeypatch, tmp_path):
    folder = tmp_path / "src/ecselm"
    folder.mkdir(parents=True)
    (folder / "chart.js").write_text("/*! @license MIT */")
    (folder / "font.woff2").write_bytes(b"wOF2\xff\xfe")
    (folder / "own.css").write_text("p {}")
    monkeypatch.setattr(licences, "ROOT", tmp_path)
    assert licences.foreign() == ["src/ecselm/chart.js", "src/ecselm/font.woff2"]


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("MPL-2.0", True),
        ("Apache-2.0 OR GPL-3.0-only", True),
        ("BSD-3-Clause AND 0BSD", True),
        ("MIT AND GPL-3.0-only", False),
        ("AGPL-3.0-only", False),
        ("LicenseRef-Proprietary", False),
    ],
)
def test_copyleft_is_recognised(licences, expression, allowed):
    assert licences.may_be_in_all(expression) is allowed
