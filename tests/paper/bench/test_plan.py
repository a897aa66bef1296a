from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from ecselm.paper.bench.cases import COUNTED_TARGETS
from ecselm.paper.bench.methods import BenchMethod, find_bench_methods, linear
from ecselm.paper.bench.plan import BenchJob, Effort, is_applicable, plan_bench, plan_case
from ecselm.paper.bench.tuning import Fitter, label_rows
from tests.paper.bench.made import case, costly, tiny


def job_of(one, method, split=0, most=3):
    found = method if isinstance(method, BenchMethod) else find_bench_methods((method,))[0]
    return BenchJob(one, plan_case(one, 0).info, found, split, 0, most)


def values(finished, metric):
    return {row.at: row.value for row in finished.rows if row.metric == metric}


def test_a_job_gives_a_number_and_a_choice_for_every_target():
    done = job_of(case("glass"), "balanced logistic regression").run()
    assert [row.metric for row in done.rows[::2]] == list(COUNTED_TARGETS)
    assert set(values(done, "candidate")) == set(COUNTED_TARGETS)
    assert [row.at for row in done.seconds] == ["choose", "learn"]


def test_test_rows_never_reach_the_tuning():
    """Other labels and inputs of the test rows change the scores, not the candidate."""
    clean = case("glass")
    poisoned = replace(clean, case=replace(clean.case, load=partial(tiny, "glass", poisoned=True)))
    for method in ("balanced logistic regression", "ELM"):
        first, second = (job_of(one, method, most=9).run() for one in (clean, poisoned))
        assert values(first, "candidate") == values(second, "candidate")
        assert first.rows != second.rows


def test_a_job_run_twice_gives_the_same_rows():
    job = job_of(case("glass"), "ELM")
    assert job.run().rows == job.run().rows


def test_predictions_are_the_most_frequent_class_where_nothing_can_be_fitted():
    hopeless = BenchMethod("balanced logistic regression", lambda shape: [{"C": -1.0}, {"C": -2.0}])
    done = job_of(case("glass"), hopeless).run()
    assert set(values(done, "candidate").values()) == {-1.0}
    assert values(done, "gmean") == {"": 0.0}


def test_a_method_that_tunes_itself_gets_the_target(monkeypatch):
    targets = []
    fit = Fitter.fit

    def spied(self, candidate, rows, target=None):
        targets.append(target)
        return fit(self, {"max_epochs": 1, "population_size": 6}, rows, target)

    monkeypatch.setattr(Fitter, "fit", spied)
    job_of(case("glass"), "ECSELM").run()
    assert targets == list(COUNTED_TARGETS)


@pytest.mark.parametrize("costs", ["matrix", "rows"])
@pytest.mark.parametrize("method", ["CSLogit", "mckNN", "LightGBM with tuned threshold"])
def test_costs_reach_methods_that_take_costs(costs, method):
    rows = label_rows(tiny("costly", costs=costs))
    (bench_method,) = find_bench_methods((method,))
    missed = {}
    for factor in (0.5, 100.0):
        priced = replace(
            rows,
            matrix=None if rows.matrix is None else rows.matrix * [[1.0], [factor]],
            sample_cost=None if rows.sample_cost is None else rows.sample_cost * [factor, 1.0],
        )
        fitter = Fitter(bench_method, True, 0)
        if bench_method.kind == "threshold":
            folds = [(np.arange(0, 60, 2), np.arange(1, 60, 2))]
            few = {"n_estimators": 5, "min_child_samples": 3}
            model = fitter.fit_threshold(few, priced, "mean_cost", folds)
        else:
            model = fitter.fit({}, priced)
        missed[factor] = (model.predict(rows.X)[rows.y == 1] == 0).sum()
    assert missed[100.0] < missed[0.5]


def test_methods_get_costs_only_for_a_cost_target():
    rows = label_rows(tiny("costly", costs="matrix"))
    (machine,) = find_bench_methods(("CSELM",))
    assert Fitter(machine, True, 0).fit({}, rows).cost is not None
    assert Fitter(machine, False, 0).fit({}, rows).cost is None


def test_plan_is_method_by_method_without_inapplicable_methods():
    cases = [plan_case(one, 0) for one in (case("a"), case("b", k=3), costly("c", "matrix"))]
    methods = find_bench_methods(("KELM", "LightGBM with tuned threshold", "CSELM"))
    jobs = plan_bench(cases, methods, 0, Effort(most_splits=1))
    assert [(job.method.name, job.info.label) for job in jobs] == [
        ("KELM", "a"),
        ("KELM", "b"),
        ("KELM", "c"),
        ("LightGBM with tuned threshold", "a"),
        ("LightGBM with tuned threshold", "c"),
        ("CSELM", "c"),
    ]
    assert not is_applicable(methods[2], cases[0])


def test_results_of_earlier_candidates_are_not_reused():
    info = plan_case(case("glass"), 0).info
    keys = {
        BenchJob(case("glass"), info, BenchMethod("ELM", linear, revision=n), 0, 0).key
        for n in range(3)
    }
    assert len(keys) == 3
