import numpy as np
import pytest

from ecselm.estimators._prior_test import PriorTest
from ecselm.paper.bench.contestants import find_contestants
from ecselm.paper.bench.fitting import Fitter
from ecselm.paper.bench.judging import labelled
from ecselm.paper.bench.minority import job as module
from ecselm.paper.bench.minority.job import FORMS, MinorityJob, kept, plan_minority
from ecselm.paper.bench.minority.thinning import suited_cases, thinned_minority
from tests.paper.bench.minority.made import QuickFitter, cases, enough


@pytest.mark.filterwarnings("ignore::ecselm.estimators._prior_test.FewCasesWarning")
def test_a_default_that_keeps_the_prior_is_the_form_that_always_does(monkeypatch):
    """What saves a job a fit."""
    monkeypatch.setattr(PriorTest, "passed", property(lambda test: False))
    data = enough("yeast-a", shift=0.7)
    train, test = data.folds[0]
    every = labelled(data)
    rows = every.part(thinned_minority(train, data.y, 5, np.random.default_rng(0)))
    fitter = Fitter(find_contestants(("ECSELM",))[0], costly=False, seed=0)
    default, same = (
        fitter.fit(candidate, rows, "gmean") for candidate in ({}, {"keep_prior": "always"})
    )
    assert default.keeps_prior_
    X = every.part(test).X
    np.testing.assert_array_equal(default.decision_function(X), same.decision_function(X))


def test_a_job_gives_the_same_whenever_it_is_run(monkeypatch):
    monkeypatch.setattr(module, "TARGETS", ("gmean",))
    job = MinorityJob(suited_cases(cases(), 0)[0], 5, 1, 0)
    first, second = job.run(), job.run()
    assert first.rows == second.rows
    told = [(one.metric, one.at) for one in first.rows]
    assert told == [*(("gmean", form) for form in FORMS), (kept("gmean"), "default")]
    assert all(0.0 <= one.value <= 1.0 for one in first.rows)


def test_forms_are_trained_on_few_rows_and_judged_on_the_whole_test(monkeypatch):
    seen = []

    class Watched(QuickFitter):
        def fit(self, candidate, rows, target):
            seen.append((candidate.get("keep_prior"), np.bincount(rows.y).tolist(), target))
            return super().fit(candidate, rows, target)

    judged = []
    scores = module.scores
    monkeypatch.setattr(module, "Fitter", Watched)
    monkeypatch.setattr(
        module, "scores", lambda *args: judged.append(len(args[2].y)) or scores(*args)
    )
    one = suited_cases(cases(), 0)[0]
    MinorityJob(one, 5, 0, 0).run()
    n_test = len(enough("yeast-a").folds[0][1])
    assert seen[:3] == [
        (None, [80, 5], "gmean"),
        (False, [80, 5], "gmean"),
        (None, [80, 5], "f1_macro"),
    ]
    assert judged == [n_test, n_test]
    seen.clear()
    MinorityJob(one, 30, 0, 0).run()
    assert [form for form, _, _ in seen] == [None, False, "always"] * 2
    assert all(counts == [80, 30] for _, counts, _ in seen)


def test_jobs_go_set_by_set_and_have_keys_of_their_own():
    jobs = plan_minority(suited_cases(cases(), 0), 0)
    assert [job.label for job in jobs] == ["yeast-a"] * 15 + ["yeast-b"] * 15
    assert len({job.key for job in jobs}) == 30
    assert len(plan_minority(suited_cases(cases(), 0), 0, most_splits=2)) == 20
