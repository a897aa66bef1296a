import numpy as np
import pandas as pd
import pytest

from ecselm.paper.jobs import COLUMNS
from ecselm.paper.protocols.items import find_item
from ecselm.paper.protocols.layout import aligned, layout_table, significance_table
from ecselm.paper.protocols.published import PUBLISHED


def frame_of(rows):
    return pd.DataFrame(rows, columns=list(COLUMNS))


def test_std_has_one_degree_of_freedom_less():
    values = [0.5, 0.6, 0.8]
    rows = [("AR", "NN", i, "accuracy", "", value) for i, value in enumerate(values)]
    table = layout_table(find_item("table-7"), frame_of(rows))
    assert table.rows == (
        ("AR", f"{100 * np.mean(values):.2f} ± {100 * np.std(values, ddof=1):.2f}"),
    )


def test_one_split_has_no_std():
    table = layout_table(find_item("table-7"), frame_of([("AR", "NN", 0, "accuracy", "", 0.5)]))
    assert table.rows == (("AR", "50.00"),)


def test_methods_are_rows_where_the_paper_has_them_so():
    rows = [(data, m, 0, "mae", "", 1.5) for data in ("E", "W") for m in ("NN", "Ridge")]
    table = layout_table(find_item("table-4"), frame_of(rows))
    assert table.header == ("method", "E", "W")
    assert [row[0] for row in table.rows] == ["NN", "Ridge"]


def test_rates_of_gases_come_in_the_order_of_the_paper():
    rows = [
        ("E-NOSE", "SVM", 0, metric, at, 0.5)
        for metric, at in (("arr", ""), ("trr", ""), ("recall", "0"), ("confusion", "0,0"))
    ]
    names = [row[0] for row in layout_table(find_item("table-11"), frame_of(rows)).rows]
    assert names == ["E-NOSE, recall 0", "E-NOSE, ARR", "E-NOSE, TRR"]


def test_summary_takes_accuracy_but_arr_for_gases():
    rows = [
        (data, "ELM", 0, metric, "", value)
        for data in ("AR", "E-NOSE: gas batch 1")
        for metric, value in (("accuracy", 0.9), ("arr", 0.8))
    ]
    table = layout_table(find_item("table-12"), frame_of(rows))
    assert [row[1] for row in table.rows] == ["90.00", "80.00"]


def test_seconds_are_those_to_fit_and_to_predict():
    rows = [
        ("LFW", "ELM", 0, "seconds", at, value)
        for at, value in (("choose", 100.0), ("learn", 2.0), ("answer", 0.5))
    ]
    assert layout_table(find_item("table-14"), frame_of(rows)).rows == (("LFW", "2.50"),)


def test_latex_escapes_and_ends_every_row():
    latex = aligned("T", pd.DataFrame({"a_b": ["5 % & C=2^5"], "n": [0.5]}), 2).latex()
    assert r"a\_b & n \\" in latex
    assert r"5 \% \& C=2\^{}5 & 0.50 \\" in latex
    assert latex.count(r"\\") == 2


def test_terminal_columns_are_aligned():
    lines = aligned("T", pd.DataFrame({"a": ["x", "long"], "b": ["1", "2"]})).text().splitlines()
    assert lines == ["T", "a     b", "x     1", "long  2"]


def test_numbers_of_the_paper_give_the_p_values_and_decisions_of_the_paper():
    rows = [
        (data, method, 0, "arr" if data == "E-NOSE" else "accuracy", "", value / 100)
        for data, method, value, _ in PUBLISHED["table-12"].cells()
    ]
    table = significance_table(find_item("table-13"), frame_of(rows))
    found = {row[0]: (float(row[1]), int(row[-2]), int(row[-1])) for row in table.rows}
    assert list(found) == list(PUBLISHED["table-13"].columns)
    assert found == PUBLISHED["table-13"].by_method()


@pytest.mark.parametrize("name", ["table-12", "table-13"])
def test_collecting_and_testing_share_all_jobs(name):
    assert find_item(name).parts is find_item("table-12").parts


def test_many_data_sets_are_summed_up_first():
    rows = [
        (f"KEEL {i}", method, 0, "gmean", "", value)
        for i in range(13)
        for method, value in (("ELM", 0.5), ("ECSELM", 0.7 if i else 0.3))
    ]
    mean, rank, *others = layout_table(find_item("keel"), frame_of(rows)).rows
    assert mean == ("mean of 13", "50.00", f"{100 * (12 * 0.7 + 0.3) / 13:.2f}")
    assert rank == ("mean rank", f"{25 / 13:.2f}", f"{14 / 13:.2f}")
    assert len(others) == 13
