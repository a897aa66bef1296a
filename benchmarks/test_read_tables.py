"""The benchmark of reading tables measures what it says; no speed is asserted."""

from __future__ import annotations

import pandas as pd

from benchmarks.read_tables import Ratio, main, make_frame, measure
from ecselm.study import read_table


def test_all_ratios_are_printed(capsys):
    main(["--quick"])
    printed = capsys.readouterr().out
    assert printed.count("read_table / pandas.read_csv") == 2
    assert printed.count("pass over blocks / pass of pyarrow") == 2


def test_tables_are_of_the_size_asked_for_and_equal(tmp_path):
    assert all(ratio.ours > 0 and ratio.theirs > 0 for ratio in measure(tmp_path, 0.05))
    points, commas = (read_table(tmp_path / f"{name}.csv") for name in ("points", "decimal_commas"))
    assert abs((tmp_path / "points.csv").stat().st_size / 0.05e6 - 1) < 0.1
    pd.testing.assert_frame_equal(points.frame, commas.frame)
    pd.testing.assert_frame_equal(points.frame, make_frame(len(points.frame)), check_dtype=False)


def test_a_ratio_is_shown_beside_its_goal():
    assert str(Ratio("points", "a / b", 3.0, 2.0, 2.5)).startswith(
        "points: a / b: 1.50 (goal: at most 2.5)"
    )
