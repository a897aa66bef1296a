"""The page of the bench says what the kept results of every split say."""

import pytest

from benchmarks.bench_page import GUARDS, HALF, KEPT, PAGE, filled, sets
from ecselm.paper.bench.cases import COUNTED_TARGETS, half_of
from ecselm.paper.jobs import read_rows


@pytest.fixture(scope="module")
def results():
    return read_rows(KEPT / "bench" / "results.parquet")


def test_the_part_of_the_bench_is_up_to_date():
    page = PAGE.read_text(encoding="utf-8")
    assert filled(page) == page, "run: python -m benchmarks.bench_page"


def test_the_half_is_what_the_package_says_it_is():
    assert {one.name for one in sets() if one.half == HALF} == {
        one.name for one in sets() if half_of(one.name) == HALF
    }


@pytest.mark.parametrize("target", COUNTED_TARGETS)
def test_all_methods_answered_to_the_same_splits(results, target):
    own = results[results["metric"] == target]
    own = own[own["data"].isin([one.name for one in sets() if one.half == HALF])]
    splits = own.groupby("method").apply(
        lambda rows: frozenset(zip(rows["data"], rows["split"], strict=True)),
        include_groups=False,
    )
    two = {one.name for one in sets() if one.n_classes == 2}
    everywhere = splits["ECSELM"]
    for method, found in splits.items():
        missing = {data for data, _ in everywhere - found}
        assert not missing & two, method  # one method knows two classes only
        assert not found - everywhere, method
    assert set(GUARDS) <= set(splits.index)
