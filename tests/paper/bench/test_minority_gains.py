import numpy as np
import pandas as pd
import pytest

from ecselm.paper.bench.minority import TARGETS, gains_of, keeps_prior, tables_of, values_of
from ecselm.paper.jobs import COLUMNS
from ecselm.paper.statistics import bootstrap_interval

GAINS = {"a": 0.1, "b": -0.02, "c": 0.04}


def made_results(gains=GAINS):
    """Return two splits whose mean gain is known."""
    rows = []
    for data, gain in gains.items():
        for split, shift in enumerate((-0.01, 0.01)):
            for size in ("50", "5"):
                for target in TARGETS:
                    learned = 0.5 + gain + shift if size == "5" else 0.5
                    values = {"prior": 0.5, "learned": learned, "default": 0.5}
                    rows += [
                        (data, form, split, target, size, value) for form, value in values.items()
                    ]
                    rows.append((data, "default", split, keeps_prior(target), size, float(split)))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def test_gains_are_means_over_sets_with_the_interval_of_these():
    values = values_of(made_results())
    assert values["target"].tolist() == ["gmean"] * 6 + ["f1_macro"] * 6
    gains = gains_of(values)
    assert gains["size"].tolist() == [5, 50, 5, 50]
    first = gains.iloc[0]
    interval = bootstrap_interval(list(GAINS.values()))
    np.testing.assert_allclose(first["gain"], 0.04, atol=1e-12)
    np.testing.assert_allclose([first["low"], first["high"]], [interval.low, interval.high])
    assert first["kept"] == 0.5
    assert first["n"] == 3
    assert gains.iloc[1][["gain", "low", "high"]].tolist() == [0.0, 0.0, 0.0]


def test_one_set_has_no_interval():
    gains = gains_of(values_of(made_results({"a": 0.1})))
    assert gains[["low", "high"]].isna().all(axis=None)
    table = tables_of(gains)[0]
    assert table.title == "Geometric mean of the recalls: 1 data set"
    assert table.rows[0] == ("5", "0.5000", "0.6000", "0.5000", "+0.1000", "", "50%")


def test_nothing_finished_gives_empty_frames():
    gains = gains_of(values_of(made_results().iloc[:0]))
    assert gains.empty
    assert tables_of(gains) == ()


def test_the_same_gains_give_the_same_picture(tmp_path):
    pytest.importorskip("matplotlib")
    from ecselm.paper.bench.minority import draw_gains

    values = values_of(made_results())
    first, second = (draw_gains(values, gains_of(values), tmp_path / name) for name in "ab")
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()
    assert [file.suffix for file in first] == [".png", ".svg"]
    assert "rows of the minority" in first[1].read_text()
