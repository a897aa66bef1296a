import sys
from dataclasses import replace

import numpy as np
import pytest

from ecselm.paper.bench import bench, bench_uci, plan, report, run
from ecselm.paper.bench.cases import UCI_QUICK_SETS, UCI_TARGETS, select_cases, uci_cases
from ecselm.paper.bench.methods import (
    UCI_METHODS,
    UCI_QUICK_METHODS,
    BenchMethod,
    check_extras,
    left_out,
)
from ecselm.paper.bench.plan import BenchJob, plan_case
from ecselm.paper.bench.tuning import SCORINGS, Fitter, predict_classes
from ecselm.paper.methods import Shape, find_method, get_method, list_methods
from tests.paper.bench.made import case

SHAPE = Shape(n_samples=500, n_features=8, n_classes=3)
MANY = [one for one in UCI_METHODS if not one.optional]


def uci_case(name, half="development", **options):
    return replace(case(name, half, **options), targets=UCI_TARGETS)


@pytest.fixture
def made(monkeypatch):
    """Run on tiny data with few candidates, and draw nothing."""
    monkeypatch.delenv("ECSELM_DATA", raising=False)
    cases = (uci_case("a"), uci_case("b", k=3), uci_case("c", "confirmation", k=3))
    monkeypatch.setattr(run, "uci_cases", lambda: cases)
    monkeypatch.setattr(run, "FULL_EFFORT", plan.Effort(2, 2))
    monkeypatch.setattr(report, "draw_ranks", lambda *args: None)


@pytest.mark.parametrize("one", MANY, ids=lambda one: one.name)
def test_every_method_can_be_made_with_each_of_its_few_candidates(one):
    candidates = one.grid(SHAPE)
    assert 1 <= len(candidates) <= 36
    assert len({str(candidate) for candidate in candidates}) == len(candidates)
    for candidate in (candidates[0], candidates[-1]):
        get_method(one.name, "classification", **one.params, **candidate)


def test_optional_methods_are_those_of_the_extra_boosting():
    optional = {one.name for one in UCI_METHODS if one.optional}
    assert optional == {method.name for method in list_methods() if method.extra == "boosting"}
    assert {find_method(name).extra for name in optional} == {"boosting"}


@pytest.mark.parametrize("method", ["SVC", "KELM", "HistGradientBoosting", "LightGBM defaults"])
def test_a_job_scores_classes_and_probabilities(method):
    one = uci_case("b", k=3)
    (found,) = (each for each in UCI_METHODS if each.name == method)
    job = BenchJob(one, plan_case(one, 0).info, found, 0, 0, 3)
    values = {row.metric: row.value for row in job.run().rows if not row.at}
    assert tuple(values) == UCI_TARGETS
    assert 0.0 < values["log_loss"] < 1.5
    assert job.run().rows == job.run().rows


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("method", ["XGBoost", "CatBoost"])
def test_optional_methods_are_fitted_where_they_are_installed(method, k):
    pytest.importorskip(method.lower())
    one = uci_case("b", k=k)
    (found,) = (each for each in UCI_METHODS if each.name == method)
    done = BenchJob(one, plan_case(one, 0).info, found, 0, 0).run()
    values = {row.metric: row.value for row in done.rows if not row.at}
    assert values["accuracy"] > 0.5
    assert {row.value for row in done.rows if row.metric == "candidate"} == {0.0}


def test_columns_of_classes_are_read_as_classes():
    class Column:
        def predict(self, X):
            return np.arange(len(X))[:, np.newaxis]

    assert predict_classes(Column(), np.zeros((3, 1))).tolist() == [0, 1, 2]


def test_wrong_parameters_of_a_method_are_refused_before_any_work():
    with pytest.raises(ValueError, match="each parameter of the method 'KELM' must be"):
        check_extras([BenchMethod("KELM", params={"no_such": 1})])


def test_probabilities_are_shares_of_classes_where_nothing_can_be_fitted():
    one = uci_case("a")
    hopeless = BenchMethod("logistic regression", lambda shape: [{"C": -1.0}, {"C": -2.0}])
    done = BenchJob(one, plan_case(one, 0).info, hopeless, 0, 0).run()
    values = {row.metric: row.value for row in done.rows if not row.at}
    assert 0.5 < values["log_loss"] < 0.8
    assert {row.value for row in done.rows if row.metric == "candidate"} == {-1.0}


def test_ecselm_searches_for_each_target(monkeypatch):
    scorings, fit = [], Fitter.fit

    def spied(self, candidate, rows, target=None):
        scorings.append(SCORINGS.get(target, target))
        return fit(self, {"max_epochs": 1, "population_size": 6}, rows, target)

    monkeypatch.setattr(Fitter, "fit", spied)
    one = uci_case("a")
    done = BenchJob(one, plan_case(one, 0).info, UCI_METHODS[0], 0, 0).run()
    assert scorings == ["accuracy", "neg_log_loss", "gmean"]
    assert {row.value for row in done.rows if row.metric == "candidate"} == {0.0}


def test_smaller_log_loss_is_better(made, tmp_path):
    done = bench_uci(tmp_path, methods=["logistic regression", "SVC"])
    own = done.summary[(done.summary["target"] == "log_loss") & (done.summary["part"] == "all")]
    by_set = done.results[done.results["metric"] == "log_loss"]
    best = by_set.groupby(["data", "method"])["value"].mean().unstack().rank(axis=1).mean()
    assert own.set_index("method")["mean_rank"].to_dict() == best.to_dict()
    assert "Log loss of the probabilities: 3 data sets" in done.text()
    shown = bench_uci(tmp_path, run=False)
    assert shown.results.equals(done.results)


def test_folders_of_other_suites_are_refused(made, tmp_path):
    bench_uci(tmp_path, sets=["a"], methods=["logistic regression"])
    with pytest.raises(ValueError, match="the output folder must be new"):
        bench(tmp_path, sets=["gas"], methods=["ELM"], run=False)


def test_methods_without_their_package_are_left_out_unless_named(made, tmp_path, monkeypatch):
    for name in ("xgboost", "catboost"):
        monkeypatch.setitem(sys.modules, name, None)
    assert left_out(UCI_METHODS) == ("XGBoost", "CatBoost")
    monkeypatch.setattr(run, "UCI_METHODS", UCI_METHODS[1:2] + UCI_METHODS[-2:])
    done = bench_uci(tmp_path, sets=["a"])
    assert done.left_out == ("XGBoost", "CatBoost")
    assert "XGBoost, CatBoost, whose packages are missing" in done.text()
    assert "XGBoost, CatBoost, whose packages are missing" in (tmp_path / "bench.md").read_text()
    with pytest.raises(ImportError, match='the extra "boosting"'):
        bench_uci(tmp_path, sets=["a"], methods=["CatBoost"])


def test_quick_methods_are_of_the_suite():
    assert set(UCI_QUICK_METHODS) <= {one.name for one in UCI_METHODS}


def test_real_sets_are_in_halves_with_four_splits(monkeypatch, data_folder):
    monkeypatch.setenv("ECSELM_DATA", str(data_folder))
    cases = uci_cases()
    if not cases:
        pytest.skip("the folder does not hold them")
    assert {one.half for one in cases} == {"development", "confirmation"}
    assert len(select_cases(cases, None, "confirmation")) == 23
    assert plan_case(cases[0], 0).info.n_splits == 4
    quick = select_cases(cases, UCI_QUICK_SETS, "all")
    assert {one.half for one in quick} == {"development"}  # a try shows nothing of the other half
