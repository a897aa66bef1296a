import numpy as np
import pandas as pd
import pytest

from ecselm.paper.bench.report import (
    DataFacts,
    comparisons_of,
    page_of,
    parts_of,
    summary_of,
    tables_of,
)
from ecselm.paper.statistics import holm, wilcoxon_test

N = 8
SETS = [
    DataFacts(f"set-{i}", "development" if i < 4 else "confirmation", 2, 2, 9) for i in range(N - 1)
]
SETS.append(DataFacts("many", "confirmation", 3, 2, 9))


def frame(values, metric="gmean"):
    """Return tidy rows of values by method and data set, each the mean of two splits."""
    rows = [
        (data, method, split, metric, "", value + (0.01 if split else -0.01))
        for method, by_set in values.items()
        for data, value in by_set.items()
        for split in (0, 1)
    ]
    return pd.DataFrame(rows, columns=["data", "method", "split", "metric", "at", "value"])


@pytest.fixture
def values(rng):
    names = [one.name for one in SETS]
    methods = ("ECSELM", "ELM", "LightGBM")
    drawn = {method: dict(zip(names, rng.random(N), strict=True)) for method in methods}
    drawn["ELM"]["set-0"] = drawn["ECSELM"]["set-0"] + 1e-11
    del drawn["LightGBM"]["many"]  # two classes only
    return drawn


def row_of(found, **keys):
    for name, value in keys.items():
        found = found[found[name] == value]
    (row,) = found.itertuples(index=False)
    return row


def check_comparison(row, values, names):
    """Compare a row with the definitions, and return the p value."""
    a, b = (np.array([values[m][name] for name in names]) for m in ("ECSELM", row.method))
    tied = np.abs(a - b) < 1e-9
    assert (row.wins, row.ties) == (((a > b) & ~tied).sum(), tied.sum())
    assert row.n == row.wins + row.ties + row.losses == len(names)
    assert row.difference == pytest.approx((a - b).mean(), abs=1e-8)
    assert row.worst == pytest.approx((b - a).max(), abs=1e-8)
    assert row.worst_data == names[(b - a).argmax()]
    return wilcoxon_test(a.round(9), b.round(9)).p


@pytest.mark.parametrize(
    ("classes", "methods", "n"), [("all", ["ELM"], N), ("two classes", ["ELM", "LightGBM"], N - 1)]
)
def test_comparisons_are_those_of_the_definitions(values, classes, methods, n):
    found = comparisons_of(parts_of(frame(values), SETS))
    found = found[(found["part"] == "all") & (found["classes"] == classes)]
    assert found["method"].tolist() == methods
    names = [one.name for one in SETS][:n]
    p = [check_comparison(row, values, names) for row in found.itertuples(index=False)]
    np.testing.assert_allclose(found["p"], p)
    np.testing.assert_allclose(found["p_holm"], holm(p))
    assert found["ties"].iloc[0] == 1


def test_methods_of_two_classes_are_ranked_on_these(values):
    found = summary_of(parts_of(frame(values), SETS))
    all_sets = found[(found["part"] == "all") & (found["classes"] == "all")]
    two = found[(found["part"] == "all") & (found["classes"] == "two classes")]
    assert sorted(all_sets["method"]) == ["ECSELM", "ELM"]
    assert sorted(two["method"]) == ["ECSELM", "ELM", "LightGBM"]
    assert (all_sets["n"].unique(), two["n"].unique()) == (N, N - 1)
    assert all_sets["mean_rank"].sum() == pytest.approx(3.0)
    assert set(found["part"]) == {"all", "development", "confirmation"}


def test_unfinished_methods_are_missing(values):
    results = frame(values)
    started = results[(results["method"] != "ELM") | (results["data"] != "set-3")]
    torn = results.drop(results.index[(results["method"] == "ELM")][0])
    for left in (started, torn):
        found = summary_of(parts_of(left, SETS))
        assert "ELM" not in set(found[found["part"] == "all"]["method"])


def test_less_cost_is_better_and_splits_are_not_tested():
    costs = {"ECSELM": {"bank": 1.0}, "ELM": {"bank": 2.0}}
    parts = parts_of(frame(costs, "mean_cost"), [DataFacts("bank", "neither", 2, 2, 9)])
    row = row_of(comparisons_of(parts), part="bank", method="ELM")
    assert (row.wins, row.losses, row.difference) == (2, 0, 1.0)
    assert np.isnan(row.p)
    assert row_of(summary_of(parts), method="ECSELM").mean_rank == 1.0


def test_without_ecselm_there_are_ranks_only(values):
    del values["ECSELM"]
    parts = parts_of(frame(values), SETS)
    assert comparisons_of(parts).empty
    assert not summary_of(parts).empty


def test_page_has_a_table_for_every_part(values):
    parts = parts_of(frame(values), SETS)
    tables = tables_of(summary_of(parts), comparisons_of(parts))
    page = page_of(tables, ["KELM"], ["cd-gmean.svg"])
    assert page.count("\n## ") == len(tables) == 5
    assert "## Geometric mean of the recalls: development half, 4 data sets" in page
    assert "![cd-gmean.svg](cd-gmean.svg)" in page
    assert "Not finished everywhere, and missing there: KELM." in page
