"""One call for all tests, against the single ones and the notes on table XII."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from ecselm.paper.protocols.published import frame
from ecselm.paper.statistics import (
    bootstrap_interval,
    compare_methods,
    corrected_t_test,
    friedman_test,
    holm,
    kruskal_test,
    nemenyi_test,
    paired_t_test,
    wilcoxon_test,
)
from ecselm.paper.statistics.comparison import TESTS
from ecselm.paper.statistics.tests import differences

TABLE = frame("table-12")
COLUMNS = [
    "test",
    "method",
    "baseline",
    "statistic",
    "p",
    "p_holm",
    "effect",
    "low",
    "high",
    "wins",
    "ties",
    "losses",
]
KRUSKAL = {  # of pairs, by SciPy
    "CSPCA": 0.2623,
    "CSLDA": 0.0782,
    "CSLPP": 0.2002,
    "CSMFA": 0.1495,
    "ELM": 0.2002,
    "KELM": 0.2623,
    "WELM": 0.2623,
    "E-ELM": 0.2290,
}


def of(frame, test):
    """Return the rows of one test against the baseline, by method."""
    return frame[(frame["test"] == test) & frame["method"].notna()].set_index("method")


def test_the_t_test_gives_all_eight_published_p_values():
    found = of(compare_methods(TABLE, baseline="ECSELM"), "ttest_rel")
    published = frame("table-13").loc["p"]
    assert list(found.index) == list(published.index)
    assert_allclose(found["p"], published, rtol=0, atol=5e-5)


def test_the_other_tests_say_what_the_notes_say():
    found = compare_methods(TABLE, baseline="ECSELM")
    assert (of(found, "wilcoxon")["p"] == 2 / 2**6).all()
    assert_allclose(of(found, "kruskal")["p"], list(KRUSKAL.values()), rtol=0, atol=5e-5)
    whole = found[found["method"].isna()].set_index("test")
    assert_allclose(whole["statistic"][["friedman", "kruskal"]], [26.76, 5.27], atol=0.005)
    assert (of(found, "wilcoxon")["p_holm"] > 0.05).all()


def test_a_row_holds_what_the_single_functions_give():
    tests = [*TESTS]
    found = compare_methods(TABLE, "ECSELM", tests=tests, test_train_ratio=0.5, rng=4)
    others = TABLE.drop(columns="ECSELM")
    ours = TABLE["ECSELM"]
    single = {
        "ttest_rel": paired_t_test,
        "wilcoxon": wilcoxon_test,
        "corrected_ttest": lambda a, b: corrected_t_test(a, b, test_train_ratio=0.5),
        "kruskal": lambda a, b: kruskal_test({"a": a, "b": b}),
    }
    for name, test in single.items():
        expected = [test(others[method], ours) for method in others]
        rows = of(found, name)
        assert_allclose(rows["statistic"], [one.statistic for one in expected], rtol=1e-12)
        assert_allclose(rows["p"], [one.p for one in expected], rtol=1e-12)
    nemenyi = nemenyi_test(TABLE).loc["ECSELM", others.columns]
    assert_allclose(of(found, "nemenyi")["p"], nemenyi, rtol=1e-12)
    whole = found[found["method"].isna()].set_index("test")
    assert list(whole.index) == ["friedman", "kruskal"]
    assert whole.loc["friedman", "p"] == friedman_test(TABLE).p
    assert whole.loc["kruskal", "p"] == kruskal_test(TABLE).p


def test_differences_are_of_the_method_from_the_baseline():
    found = of(
        compare_methods(TABLE, "E-ELM", tests="ttest_rel", rng=4, confidence=0.8), "ttest_rel"
    )
    for method, row in found.iterrows():
        d = differences(TABLE[method].to_numpy(), TABLE["E-ELM"].to_numpy())
        interval = bootstrap_interval(d, rng=4, confidence=0.8)
        assert row["effect"] == pytest.approx(d.mean(), rel=1e-12)
        assert_allclose([row["low"], row["high"]], [interval.low, interval.high], rtol=1e-12)
        assert row["wins"] == (d > 0).sum()
        assert row["losses"] == (d < 0).sum()
        assert np.sign(row["statistic"]) == np.sign(d.mean())
    assert found.loc["ECSELM", "wins"] == 6


def test_every_test_is_corrected_for_its_methods_but_those_that_are_already():
    found = compare_methods(TABLE, "ECSELM", tests=TESTS, test_train_ratio=0.5)
    for test in TESTS:
        rows = of(found, test)
        expected = rows["p"] if test == "nemenyi" else holm(rows["p"])
        assert_allclose(rows["p_holm"], expected, rtol=1e-14)
    whole = found[found["method"].isna()]
    assert_allclose(whole["p_holm"], whole["p"], rtol=0)


def test_statistics_of_all_methods_have_no_effect_of_one():
    whole = compare_methods(TABLE, "ECSELM", tests=["friedman"]).iloc[0]
    assert whole[["method", "baseline", *COLUMNS[6:]]].isna().all()


def test_the_frame_is_tidy():
    found = compare_methods(TABLE, "ECSELM")
    assert list(found.columns) == COLUMNS
    assert list(found["test"].unique()) == ["ttest_rel", "wilcoxon", "friedman", "kruskal"]
    assert len(found) == 4 * 8 + 2
    assert not found.duplicated(["test", "method"]).any()
    assert (found[["wins", "ties", "losses"]].dtypes == "Int64").all()


def test_the_order_of_methods_and_of_rows_does_not_matter(rng):
    shuffled = TABLE.iloc[rng.permutation(6), rng.permutation(9)]
    one, other = (
        compare_methods(table, "ECSELM").sort_values(["test", "method"], ignore_index=True)
        for table in (TABLE, shuffled)
    )
    drawn = ["low", "high"]  # resamples are of rows by their places
    pd.testing.assert_frame_equal(one.drop(columns=drawn), other.drop(columns=drawn))


def test_smaller_may_be_better_and_turns_wins_only():
    greater = compare_methods(TABLE, "ECSELM")
    smaller = compare_methods(TABLE, "ECSELM", greater_is_better=False)
    swapped = smaller.rename(columns={"wins": "losses", "losses": "wins"})[COLUMNS]
    pd.testing.assert_frame_equal(swapped, greater)


def test_the_same_seed_gives_the_same_frame():
    one, other = (compare_methods(TABLE, "ECSELM", rng=5) for _ in range(2))
    pd.testing.assert_frame_equal(one, other)


def test_equal_methods_are_ties_everywhere():
    table = pd.DataFrame({name: [0.5, 0.7, 0.7] for name in ("a", "b", "c")})
    found = compare_methods(table, "a", tests=TESTS, test_train_ratio=0.5)
    assert (found["p"] == 1.0).all()
    rows = found.dropna(subset="method")
    assert (rows[["effect", "low", "high", "wins", "losses"]] == 0).all(axis=None)
    assert (rows["ties"] == 3).all()


def test_a_twin_of_the_baseline_changes_no_other_method():
    table = TABLE.assign(twin=TABLE["ECSELM"])
    found = of(compare_methods(table, "ECSELM"), "ttest_rel")
    expected = of(compare_methods(TABLE, "ECSELM"), "ttest_rel")
    assert found.loc["twin", "p"] == 1.0
    assert_allclose(found["p"].drop("twin"), expected["p"], rtol=1e-12)
    assert_allclose(found["low"].drop("twin"), expected["low"], rtol=1e-12)


def test_two_methods_and_two_rows_are_enough():
    found = compare_methods({"a": [1.0, 2.0], "b": [2.0, 4.0]}, "a")
    assert found["p"].between(0, 1).all()
    assert found["p"].notna().all()


def test_methods_may_have_any_names():
    found = compare_methods(pd.DataFrame(np.eye(3)), 1, tests="wilcoxon")
    assert found["method"].tolist() == [0, 2]
    assert set(found["baseline"]) == {1}


@pytest.mark.parametrize(
    ("table", "baseline", "options", "message"),
    [
        (TABLE, "ECSEML", {}, r"baseline must be a column .* did you mean 'ECSELM'\?"),
        (TABLE.iloc[:1], "ECSELM", {}, "table must have at least two rows .* got 1 and 9"),
        (
            TABLE.where(TABLE > 22),
            "ECSELM",
            {},
            "got nan in row 'Facial .A., E', .*'WELM'",
        ),
        (TABLE, "ECSELM", {"tests": ["t"]}, r"tests must be some of .*, got \['t'\]"),
        (TABLE, "ECSELM", {"tests": []}, r"tests must be some of .*, got \[\]"),
        (TABLE, "ECSELM", {"tests": ["corrected_ttest"]}, "test_train_ratio must be given"),
        (TABLE, "ECSELM", {"confidence": 2}, "confidence must lie between 0 and 1, got 2"),
        (
            TABLE,
            "ECSELM",
            {"tests": ["corrected_ttest"], "test_train_ratio": -1},
            "test_train_ratio must be > 0, got -1",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused_by_name(table, baseline, options, message):
    with pytest.raises(ValueError, match=message):
        compare_methods(table, baseline, **options)
