import sys

import pytest

from ecselm.paper.bench import bench
from ecselm.paper.bench.plan import BenchJob
from ecselm.paper.jobs import COLUMNS
from tests.paper.bench.conftest import put_in_place

METHODS = ["balanced logistic regression", "ELM"]
OPTIONS = {"sets": ["glass-*", "ecoli-*"], "methods": METHODS}
FILES = ("results.parquet", "bench.md")

pytestmark = pytest.mark.usefixtures("made")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run that nothing stopped."""
    with pytest.MonkeyPatch.context() as patch:
        put_in_place(patch)
        return bench(tmp_path_factory.mktemp("whole"), **OPTIONS)


def test_results_do_not_depend_on_jobs_nor_interruptions(whole, tmp_path, monkeypatch):
    ran, begin = [], BenchJob.run

    def stopped(job):
        if len(ran) == 5:
            raise KeyboardInterrupt
        ran.append(job.key)
        return begin(job)

    with monkeypatch.context() as patch:
        patch.setattr(BenchJob, "run", stopped)
        with pytest.raises(KeyboardInterrupt):
            bench(tmp_path, **OPTIONS)
    shown = bench(tmp_path, **OPTIONS, run=False)
    assert shown.results.groupby(["data", "method", "split"]).ngroups == 5
    assert "Accuracy: 2 data sets" in shown.text()
    bench(tmp_path, **OPTIONS, n_jobs=2)
    for name in FILES:
        assert (tmp_path / name).read_bytes() == (whole.folder / name).read_bytes()


def test_frames_and_files_are_there(whole):
    assert tuple(whole.results.columns) == COLUMNS
    assert set(whole.summary["method"]) == set(METHODS)
    assert {"wins", "p_holm", "worst_data"} <= set(whole.comparisons.columns)
    names = {path.name for path in whole.folder.iterdir()}
    assert {"results.parquet", "seconds.parquet", "bench.md", "cd-accuracy.png"} <= names
    assert "Accuracy: 3 data sets" in whole.text()
    assert (whole.results.groupby(["data", "method"])["split"].nunique() == 2).all()


def test_later_methods_and_sets_add_to_a_folder(tmp_path, monkeypatch):
    both = ["glass-a", "ecoli-a"]
    bench(tmp_path, sets=both, methods=METHODS[:1])
    ran, begin = [], BenchJob.run
    monkeypatch.setattr(BenchJob, "run", lambda job: ran.append(job.title) or begin(job))
    bench(tmp_path, sets=["glass-a"], methods=METHODS)
    assert len(ran) == 2
    begun = bench(tmp_path, sets=both, run=False)
    assert begun.unfinished == (METHODS[1],)
    assert f"missing there: {METHODS[1]}" in begun.text()
    done = bench(tmp_path, sets=both, methods=METHODS)
    assert len(ran) == 4
    assert done.unfinished == ()
    assert set(done.summary["method"]) == set(METHODS)
    assert bench(tmp_path, sets=["ecoli-a"], run=False).results["data"].unique() == ["ecoli-a"]


def test_variants_are_compared_apart_and_take_results_of_the_default(tmp_path, monkeypatch):
    bench(tmp_path, sets=["glass-a"], methods=["ECSELM"])
    ran, begin = [], BenchJob.run
    monkeypatch.setattr(BenchJob, "run", lambda job: ran.append(job.title) or begin(job))
    names = ["ECSELM", "one layer, equal costs", "ensemble, implied costs"]
    done = bench(tmp_path, sets=["glass-a"], methods=names, variants=True)
    assert len(ran) == 4  # two variants on two splits
    assert set(done.summary["method"]) == set(names)
    assert "ECSELM, ensemble" in done.text()
    own = bench(tmp_path, sets=["glass-a"], run=False)
    assert set(own.summary["method"]) == {"ECSELM"}


def test_costs_are_compared_data_set_by_data_set(tmp_path):
    done = bench(tmp_path, sets=["german", "bank"], methods=[*METHODS, "CSTree"])
    assert set(done.summary["part"]) == {"german", "bank"}
    assert set(done.results["metric"]) == {"mean_cost", "candidate"}
    assert "Mean cost of a decision: bank, 2 splits" in done.text()


def test_quick_is_small_and_keeps_to_itself(tmp_path, whole):
    done = bench(tmp_path / "quick", quick=True)
    assert set(done.results["data"]) == {"glass-a", "glass-b"}
    assert set(done.results["method"]) == {METHODS[0]}
    with pytest.raises(ValueError, match="the output folder must be new"):
        bench(whole.folder, quick=True)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"sets": ["glas"]}, "sets must match"),
        ({"methods": ["ELMO"]}, "methods must be of the bench, such as .*ELM"),
        ({"half": "third"}, "half must be one of"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"n_jobs": 0}, "n_jobs must be at least 1"),
    ],
)
def test_what_cannot_be_run_is_refused_before_any_work(tmp_path, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        bench(tmp_path / "new", **options)
    assert not list(tmp_path.iterdir())


def test_a_folder_without_results_cannot_be_shown(tmp_path):
    with pytest.raises(FileNotFoundError, match="output must be a folder with results to show"):
        bench(tmp_path / "new", run=False)
    assert not list(tmp_path.iterdir())


def test_missing_extras_are_named_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(ImportError, match="compare"):
        bench(tmp_path / "new")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match="reproduce"):
        bench(tmp_path / "new", methods=["ELM"])
    assert not list(tmp_path.iterdir())


def test_without_data_the_variable_is_named(tmp_path, monkeypatch):
    monkeypatch.undo()
    monkeypatch.delenv("ECSELM_DATA", raising=False)
    monkeypatch.setattr("ecselm.paper.datasets.keel.packaged_names", list)
    with pytest.raises(FileNotFoundError, match="ECSELM_DATA must name a folder"):
        bench(tmp_path / "new", methods=["ELM"])
    assert not list(tmp_path.iterdir())
