import pytest

from ecselm.paper.bench import minority
from ecselm.paper.bench.minority import MinorityJob, bench_minority
from ecselm.paper.jobs import COLUMNS
from tests.paper.bench.minority_data import QuickFitter, cases

FILES = ("results.parquet", "minority.md")


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Run a quick model on small data, and draw nothing."""
    monkeypatch.delenv("ECSELM_DATA", raising=False)
    monkeypatch.setattr(minority, "keel_cases", cases)
    monkeypatch.setattr(minority, "QUICK_SETS", ("yeast-a",))
    monkeypatch.setattr(minority, "Fitter", QuickFitter)
    monkeypatch.setattr(minority, "draw_gains", lambda *args: None)


def test_a_run_that_was_stopped_goes_on_to_the_same_files(tmp_path, monkeypatch):
    whole = bench_minority(tmp_path / "whole")
    ran, begin = [], MinorityJob.run

    def stopped(one):
        if len(ran) == 18:
            raise KeyboardInterrupt
        ran.append(one.key)
        return begin(one)

    with monkeypatch.context() as patch:
        patch.setattr(MinorityJob, "run", stopped)
        with pytest.raises(KeyboardInterrupt):
            bench_minority(tmp_path / "stopped")
    shown = bench_minority(tmp_path / "stopped", run=False)
    assert shown.unfinished == ("yeast-b",)
    assert "1 data set\n" in shown.text()
    assert "not finished, and missing: yeast-b" in shown.text()
    bench_minority(tmp_path / "stopped")
    for name in FILES:
        content = (tmp_path / "stopped" / name).read_bytes()
        assert content == (whole.folder / name).read_bytes()


def test_frames_say_at_how_many_rows_and_how_often_the_prior_was_kept(tmp_path):
    done = bench_minority(tmp_path)
    assert tuple(done.results.columns) == COLUMNS
    assert done.results["at"].unique().tolist() == ["5", "10", "17", "30", "50"]
    assert set(done.results["method"]) == {"prior", "learned", "default"}
    assert done.gains["kept"].tolist() == [1.0, 1.0, 0.0, 0.0, 0.0] * 2
    by_size = done.values.set_index("size")
    assert (by_size.loc[5, "default"] == by_size.loc[5, "prior"]).all()
    assert (by_size.loc[50, "default"] == by_size.loc[50, "learned"]).all()
    assert "Macro-averaged F1: 2 data sets" in done.text()
    assert "learned - prior" in (tmp_path / "minority.md").read_text()


def test_later_sets_add_to_a_folder(tmp_path, monkeypatch):
    bench_minority(tmp_path, sets=["yeast-a"])
    ran, begin = [], MinorityJob.run
    monkeypatch.setattr(MinorityJob, "run", lambda one: ran.append(one.label) or begin(one))
    done = bench_minority(tmp_path, sets=["yeast-*"])
    assert set(ran) == {"yeast-b"}
    assert set(done.values["data"]) == {"yeast-a", "yeast-b"}


def test_quick_is_small_and_keeps_to_itself(tmp_path):
    done = bench_minority(tmp_path, quick=True)
    assert done.results[["data", "split"]].drop_duplicates().to_numpy().tolist() == [
        ["yeast-a", 0],
        ["yeast-a", 1],
    ]
    with pytest.raises(ValueError, match="the output folder must be new"):
        bench_minority(tmp_path)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"sets": ["yeast-c"]}, "sets must match data there are"),
        ({"sets": ["ecoli-few"]}, "sets must have two classes and at least 60 rows"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"n_jobs": 0}, "n_jobs must be at least 1"),
    ],
)
def test_what_cannot_be_run_is_refused_before_any_work(tmp_path, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        bench_minority(tmp_path / "new", **options)
    assert not list(tmp_path.iterdir())


def test_without_results_or_data_that_is_said(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match="output must be a folder with results to show"):
        bench_minority(tmp_path / "new", run=False)
    monkeypatch.setattr(minority, "keel_cases", tuple)
    with pytest.raises(FileNotFoundError, match="ECSELM_DATA must name a folder"):
        bench_minority(tmp_path / "new")
    assert not list(tmp_path.iterdir())
