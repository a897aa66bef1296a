"""Benchmarks of scale measure small sizes, keep their points and fill their pages."""

from __future__ import annotations

import json

import numpy as np
import pytest

from benchmarks import classes, points, prediction, reading, rows

POINT = {
    "model": "ECSELM",
    "n_rows": 1000,
    "cpu_seconds": 2.0,
    "data_megabytes": 100.0,
    "peak_megabytes": 130.0,
    "accuracy": 0.9,
    "log_loss": 0.3,
}


def test_rows_are_reproducible_and_of_both_classes():
    X, y = rows.rows(500, 0)
    np.testing.assert_array_equal(X, rows.rows(500, 0)[0])
    assert X.shape == (500, 20)
    assert 0.2 < y.mean() < 0.8


def test_a_fit_is_a_point():
    point = rows.fit_point("ECSELM", 300)
    assert point["n_rows"] == 300
    assert point["cpu_seconds"] > 0
    assert 0.5 < point["accuracy"] < 1


def test_times_are_ratios_and_growth_is_an_exponent():
    text = rows.as_table(
        [
            POINT,
            {**POINT, "model": "LightGBM", "cpu_seconds": 1.0},
            {**POINT, "n_rows": 10_000, "cpu_seconds": 20.0},
            {"point": ["ECSELM", "100000"], "missing": "longer than 5 s"},
        ]
    )
    assert "| 1000 | ECSELM | 2.00 |  | 30 | 0.9000 | 0.3000 |" in text
    assert "| 10000 | ECSELM |  | 1.00 |" in text
    assert "longer than 5 s" in text


def test_a_point_that_is_kept_is_not_measured_again(tmp_path, monkeypatch):
    calls = []

    def measured(module, arguments, *, seconds, gibibytes):
        assert seconds == gibibytes == 1.0
        calls.append((module, *arguments))
        return {"value": len(calls)}

    monkeypatch.setattr(points, "measured_apart", measured)
    limits = {"seconds": 1.0, "gibibytes": 1.0}
    for _ in range(2):
        found = points.kept_points("m", tmp_path, [("a", "1"), ("a", "2")], **limits)
        assert [one["value"] for one in found] == [1, 2]
    assert calls == [("m", "a", "1"), ("m", "a", "2")]
    points.kept_points("m", tmp_path, [("a", "1")], **limits, again=True)
    assert json.loads((tmp_path / "a-1.json").read_text())["value"] == 3


def test_a_point_that_fails_says_why():
    found = points.measured_apart("benchmarks.rows", ["no model"], seconds=60.0, gibibytes=8.0)
    assert "--point" in found["missing"]


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_every_class_has_rows(kind):
    X, y = classes.rows(kind, 150)
    assert X.shape[0] == len(y)
    assert np.bincount(y).min() >= 2


def test_predictions_are_compared_with_products_and_a_linear_model():
    found = prediction.measure(n_train=150, n_features=4, n_batch=300, calls=3)
    for name in prediction.MODELS:
        assert found[name]["single"] > 0
        assert found[name]["batch"] > 0
    assert "ELMClassifier()" in prediction.as_table(found)


@pytest.mark.slow
def test_the_time_of_a_fit_from_a_file_is_divided(tmp_path):
    pytest.importorskip("pyarrow")
    found = reading.measure(400, tmp_path)
    for one in found.values():
        assert all(one[step] > 0 for step in reading.STEPS)
    assert "typing and encoding" in reading.as_table(found)


def test_the_estimate_follows_the_rates():
    dask_growth = pytest.importorskip("benchmarks.dask_growth", reason="needs the extra dask")
    rates = dict.fromkeys(
        ("rows scaled", "rows hashed", "rows grouped and sampled", "rows summed"), 1e6
    )
    text = dask_growth.reckoning({**rates, "flops of a product": 1e11})
    assert "| statistics | 1e+07 rows | 10 s |" in text
    assert "| **a fit, costs known** | without reading | 20 s |" in text
    slower = dask_growth.reckoning({**rates, "rows summed": 5e5, "flops of a product": 1e11})
    assert "| **a fit, costs known** | without reading | 30 s |" in slower
