"""The page of the bench on UCI says what the kept results say."""

import pandas as pd
import pytest

from benchmarks import sizes, uci_page
from ecselm.paper.jobs import write_rows


def test_both_parts_are_up_to_date():
    page = uci_page.PAGE.read_text(encoding="utf-8")
    assert uci_page.filled(page) == page, "run: python -m benchmarks.uci_page"
    assert sizes.filled(page) == page, "run: python -m benchmarks.sizes --show"


@pytest.fixture
def run_folder(tmp_path, monkeypatch):
    """A tiny run, published figures, and a folder to keep both in."""
    monkeypatch.setattr(uci_page, "FOLDER", tmp_path / "kept")
    monkeypatch.setenv("ECSELM_DATA", str(tmp_path))
    (tmp_path / "uci121_development").mkdir()
    columns = ",".join(uci_page.COLUMNS)
    text = f"set,{columns},lda_R\na,90.0,91.0,92.0,\nb,80.0,70.0,60.0,50.0\nother,1,2,3,4\n"
    (tmp_path / "uci121_development" / "PUBLISHED.csv").write_text(text)
    rows = [
        (data, method, split, metric, "", value)
        for data in ("a", "b")
        for method, value in (("ECSELM", 0.25), ("KELM", 0.5))
        for metric in ("accuracy", "log_loss")
        for split in (0, 1)
    ]
    write_rows(tmp_path / "results.parquet", rows)
    facts = "name,half,n_classes,n_splits,n_smallest\na,confirmation,2,2,9\nb,development,3,2,9\n"
    (tmp_path / "sets.csv").write_text(facts)
    return tmp_path


def test_each_half_has_a_table_for_each_target(run_folder):
    uci_page.keep(run_folder)
    page = uci_page.filled(f"before\n{uci_page.BEGIN}old\n<!-- end -->\nafter\n")
    assert "### Confirmation half: Accuracy: 1 data set\n" in page
    assert "### Development half: Log loss of the probabilities: 1 data set\n" in page
    assert "| KELM | 0.5000 | 2.00 | 1/0/0 | +0.2500 |" in page  # less loss wins
    assert "NOT rerun" in page
    assert "| b | development | 80.0 | 70.0 | 60.0 |" in page
    assert "other" not in pd.read_csv(uci_page.FOLDER / uci_page.PUBLISHED)["set"].tolist()
    assert "old" not in page


def test_a_fit_apart_has_figures():
    one = sizes.fit_apart("interactions", 1000, "logistic regression", 120.0)
    assert not one.missing
    assert 0.5 < one.accuracy < 1.0
    assert one.peak_megabytes > 10


def test_fits_that_take_too_long_or_fail_are_named():
    slow = sizes.fit_apart("interactions", 1000, "logistic regression", 0.01)
    assert slow.missing == "longer than 0.01 s"
    wrong = sizes.fit_apart("interactions", 10**7, "logistic regression", 120.0)
    assert wrong.missing.startswith("failed: ValueError: n_rows must be at most 200000")


def test_times_are_ratios_to_the_baseline():
    fits = [
        sizes.Fit("bank marketing", 1000, "LightGBM", 0.9, 0.2, 2.0, 100.0),
        sizes.Fit("bank marketing", 1000, sizes.OURS, 0.9, 0.2, 3.0, 100.0),
        sizes.Fit("bank marketing", 5000, sizes.OURS, missing="longer than 1 s"),
    ]
    made = sizes.as_table(fits)
    assert "| bank marketing | 1000 | ECSELM, ensemble | 0.9000 | 0.2000 | 1.50 | 100 |" in made
    assert "| bank marketing | 5000 | ECSELM, ensemble | longer than 1 s |  |  |  |" in made
