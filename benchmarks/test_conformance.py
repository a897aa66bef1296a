"""The table of the conformance page says what the kept results say."""

import pytest

from benchmarks.conformance import (
    ADAPTERS,
    PAGE,
    as_markdown,
    cell,
    filled,
    measured,
    merged,
    stored,
)
from ecselm.paper.conformance import CHECKS, Implementation, check, ecselm_implementation


def test_the_page_is_up_to_date():
    page = PAGE.read_text(encoding="utf-8")
    assert filled(page, stored()) == page, "run: python -m benchmarks.conformance --show"


def test_every_library_has_every_check():
    assert [one["name"] for one in stored()] == ["ecselm", "hpelm", "scikit-elm", "gfdl"]
    for one in stored():
        assert list(one["results"]) == list(CHECKS), "run: python -m benchmarks.conformance"


def test_the_kept_results_of_our_library_are_those_of_today():
    kept = stored()[0]["results"]
    found = {result.check.name: result.outcome for result in check(ecselm_implementation())}
    assert {name: one["outcome"] for name, one in kept.items()} == found


@pytest.mark.parametrize("package", [p for p, _ in ADAPTERS], ids=lambda p: p.name)
def test_the_kept_results_of_installed_libraries_are_those_of_today(package):
    if package.missing:
        pytest.skip(f"{package.name}: {package.missing}")
    adapter = {p.name: a for p, a in ADAPTERS}[package.name]
    found = measured(adapter(package.load(), package.version))["results"]
    (kept,) = (one["results"] for one in stored() if one["name"] == package.name)
    outcomes = {name: one["outcome"] for name, one in found.items()}
    assert outcomes == {name: one["outcome"] for name, one in kept.items()}


def test_records_of_libraries_that_did_not_run_stay():
    old = [{"name": "gfdl", "version": "1"}, {"name": "ecselm", "version": "1"}]
    found = merged(old, [{"name": "ecselm", "version": "2"}])
    assert found == [{"name": "ecselm", "version": "2"}, {"name": "gfdl", "version": "1"}]


def test_cells_say_how_far_or_why():
    assert cell({"outcome": "passed", "deviation": "0.0", "note": ""}) == "yes"
    assert cell({"outcome": "not offered", "deviation": None, "note": "ridge"}) == ""
    assert cell({"outcome": "failed", "deviation": "0.25", "note": ""}) == "**no** (0.2)"
    assert cell({"outcome": "failed", "deviation": "inf", "note": ""}) == "**no**"
    assert cell({"outcome": "failed", "deviation": None, "note": "E: x"}) == "**no**: E: x"


def test_what_is_offered_by_nothing_is_counted():
    record = measured(Implementation("empty"))
    last = as_markdown([record]).splitlines()[-1]
    assert last.endswith(f"| 0 / 0 / {len(CHECKS)} |")
