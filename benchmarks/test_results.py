"""The page of results says what the kept results of every split say."""

import pandas as pd
import pytest

from benchmarks.results_page import KEPT, PAGE, RATIOS, _standing, filled


def test_the_page_of_results_is_up_to_date():
    page = PAGE.read_text(encoding="utf-8")
    assert filled(page) == page, "run: python -m benchmarks.results_page"


@pytest.mark.parametrize(
    ("item", "metric"), [("table-1", "accuracy"), ("table-10", "arr"), ("keel", "gmean")]
)
def test_means_on_the_page_are_those_of_the_splits(item, metric):
    frame = pd.read_parquet(KEPT / item / "results.parquet")
    mine = frame[(frame["metric"] == metric) & (frame["method"] == "ECSELM")]
    if item == "keel":
        expected = f"{100 * mine.groupby('data')['value'].mean().mean():.2f}"
    else:
        first = mine[mine["data"] == mine["data"].iloc[0]]["value"]
        expected = f"{100 * first.mean():.2f} ± {100 * first.std(ddof=1):.2f}"
    assert expected in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("item", RATIOS)
def test_every_method_was_run_on_the_same_splits(item):
    frame = pd.read_parquet(KEPT / item / "results.parquet")
    for _, part in frame.groupby("data"):
        splits = part.groupby("method")["split"].agg(lambda values: tuple(sorted(set(values))))
        assert splits.nunique() == 1


def test_standing_tells_losses_with_their_sign():
    found = pd.DataFrame({"ECSELM": [0.5, 0.6, 0.5], "KELM": [0.7, 0.7, 0.6], "ELM": [0.4] * 3})
    ours, rank, best, theirs, difference, p = _standing("table-1", found, 0.55)
    assert (ours, rank, best, theirs, difference) == (
        "53.33",
        "2 of 3",
        "KELM",
        "66.67",
        "-13.33",
    )
    assert 0 < float(p) < 0.2


def test_standing_knows_that_a_small_error_is_good():
    found = pd.DataFrame({"ECSELM": [0.5, 0.6], "Ridge": [0.7, 0.7]})
    assert _standing("table-4", found, 1.0)[1:3] == ["1 of 2", "Ridge"]
