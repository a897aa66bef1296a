"""The page of the bench says of few minority cases what the kept results of every split say."""

import pandas as pd
import pytest

from benchmarks.minority_page import KEPT, PAGE, filled
from ecselm.paper.bench.minority import FORMS, TARGETS, keeps_prior


def results():
    return pd.read_parquet(KEPT / "minority" / "results.parquet")


def test_the_part_of_the_minority_is_up_to_date():
    page = PAGE.read_text(encoding="utf-8")
    assert filled(page) == page, "run: python -m benchmarks.minority_page"


def test_every_form_was_run_on_the_same_splits_and_sizes():
    mine = results()
    mine = mine[mine["metric"].isin(TARGETS)]
    counts = mine.groupby(["data", "split", "at", "metric"])["method"].agg(tuple)
    assert (counts == FORMS).all()


@pytest.mark.parametrize("target", TARGETS)
def test_a_default_that_kept_the_prior_is_worth_what_the_prior_is(target):
    frame = results()
    keys = ["data", "split", "at"]
    values = frame[frame["metric"] == target].pivot_table(
        index=keys, columns="method", values="value"
    )
    keeps = frame[frame["metric"] == keeps_prior(target)].set_index(keys)["value"] == 1.0
    own = values[keeps.reindex(values.index)]
    assert len(own) > 0
    assert (own["default"] == own["prior"]).all()
