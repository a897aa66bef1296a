"""The page of access control says what the kept results of every gallery say."""

import pandas as pd
import pytest

from benchmarks.access_page import CLOSED, KEPT, N_MEMBERS, N_TEST, PAGE, filled
from ecselm.paper.protocols.access import TRUE_COSTS


def test_the_page_of_access_control_is_up_to_date():
    page = PAGE.read_text(encoding="utf-8")
    assert filled(page) == page, "run: python -m benchmarks.access_page"


@pytest.mark.parametrize("truth", TRUE_COSTS, ids=str)
def test_a_closed_door_costs_what_nothing_is_saved_of(truth):
    """savings = 1 - cost / cost of a closed door."""
    frame = pd.read_parquet(KEPT / "access" / "results.parquet")
    one = frame[(frame["method"] == "ELM") & (frame["split"] == 0) & (frame["at"] == str(truth))]
    value = one.set_index("metric")["value"]
    closed = truth.rejected * N_MEMBERS / N_TEST
    assert value["mean_cost"] / (1 - value["savings"]) == pytest.approx(closed)
    assert CLOSED in PAGE.read_text(encoding="utf-8")


def test_every_method_was_run_on_the_same_galleries():
    frame = pd.read_parquet(KEPT / "access" / "results.parquet")
    splits = frame.groupby("method")["split"].agg(lambda values: tuple(sorted(set(values))))
    assert splits.nunique() == 1
