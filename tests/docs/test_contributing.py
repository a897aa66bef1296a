"""The map of the code in CONTRIBUTING names files and packages that exist."""

import re
from pathlib import Path

import pytest

import ecselm

PAGE = Path(__file__).parents[2] / "CONTRIBUTING.md"
PACKAGE = Path(ecselm.__file__).parent
NAMED = re.compile(r"`([\w/]+/|[\w/]*\w\.py)`")  # a package or a module


@pytest.mark.skipif(not PAGE.is_file(), reason="needs the documentation, beside the sources")
def test_named_files_exist():
    tree = PAGE.read_text().partition("## The tree")[2].partition("\n## ")[0]
    named = set(NAMED.findall(tree)) - {"src/ecselm/"}
    assert len(named) > 30
    beside = {"elms/", "subspace/", "pairs/"}  # of the folder named before them
    assert [name for name in sorted(named - beside) if not (PACKAGE / name).exists()] == []


@pytest.mark.skipif(not PAGE.is_file(), reason="needs the documentation, beside the sources")
def test_every_package_is_named():
    tree = PAGE.read_text().partition("## The tree")[2].partition("### ")[0]
    packages = {path.parent.name + "/" for path in PACKAGE.glob("*/__init__.py")}
    assert packages <= set(NAMED.findall(tree))
