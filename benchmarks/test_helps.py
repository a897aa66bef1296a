"""The page says what the kept results of the variants say."""

import pytest

from benchmarks import helps_page
from ecselm.paper.bench.methods import VARIANTS
from ecselm.paper.jobs import write_rows


def test_the_part_of_the_variants_is_up_to_date():
    page = helps_page.PAGE.read_text(encoding="utf-8")
    assert helps_page.filled(page) == page, "run: python -m benchmarks.helps_page"


def test_every_variant_is_compared_with_another():
    names = {one.name for one in VARIANTS}
    compared = {name for _, *pair in helps_page.PARTS for name in pair}
    assert compared == names


@pytest.fixture
def run_folder(tmp_path, monkeypatch):
    """A tiny run in which each variant gains 0.01 over the one before."""
    monkeypatch.setattr(helps_page, "FOLDER", tmp_path / "kept")
    rows = [
        (data, one.name, split, metric, "", 0.5 + sign * 0.01 * i + extra)
        for i, one in enumerate(VARIANTS)
        for data, extra in (("a", 0.0), ("b", 0.1))
        for metric, sign in (("accuracy", 1), ("log_loss", -1))
        for split in (0, 1)
    ]
    write_rows(tmp_path / "results.parquet", rows)
    facts = "a,confirmation,2,2,9\nb,confirmation,3,2,9\n"
    (tmp_path / "sets.csv").write_text(f"name,half,n_classes,n_splits,n_smallest\n{facts}")
    return tmp_path


def test_gains_are_differences_of_means_and_positive_where_better(run_folder):
    helps_page.keep("uci", run_folder)
    page = helps_page.filled(f"before\n{helps_page.BEGIN}stale\n<!-- end -->\nafter\n")
    assert "### UCI, confirmation half, 2 data sets: means\n" in page
    assert "| one layer, implied costs | 0.5600 | 0.5400 |" in page
    (line,) = (line for line in page.splitlines() if line.startswith("| implied costs, one"))
    assert line.count("+0.0100 (0.0000), p 0.5") == 2  # less loss is a gain, too
    assert "ECSELM, ensemble" in page
    assert "stale" not in page


def test_without_results_the_page_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(helps_page, "FOLDER", tmp_path)
    assert "Not run yet." in helps_page.filled(f"{helps_page.BEGIN}<!-- end -->\n")
