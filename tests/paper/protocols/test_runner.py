import pytest

from ecselm.paper.jobs import Journal
from ecselm.paper.protocols import reproduction as jobs_module
from ecselm.paper.protocols.reproduction import collect, plan, run_jobs


@pytest.fixture
def jobs(item, budget):
    return plan(item, budget, 0)


def store_in(folder):
    return Journal(folder, {"seed": 0})


def results(jobs, store):
    return collect(jobs, store).results


def test_results_do_not_depend_on_the_number_of_processes(jobs, tmp_path):
    found = []
    for n_jobs in (1, 2):
        store = store_in(tmp_path / str(n_jobs))
        run_jobs(jobs, store, n_jobs=n_jobs)
        found.append(results(jobs, store))
    assert found[0] == found[1]


def test_a_run_goes_on_where_it_was_stopped(jobs, tmp_path, monkeypatch):
    whole, parts = store_in(tmp_path / "whole"), store_in(tmp_path / "parts")
    run_jobs(jobs, whole)
    run_jobs(jobs[3:4], parts)
    ran = []
    run = jobs_module.Job.run
    monkeypatch.setattr(jobs_module.Job, "run", lambda job: ran.append(job.key) or run(job))
    run_jobs(jobs, parts)
    assert ran == [job.key for job in jobs if job.key != jobs[3].key]
    assert results(jobs, parts) == results(jobs, whole)


def test_a_job_that_fails_is_named_and_those_before_it_are_kept(jobs, tmp_path, monkeypatch):
    run = jobs_module.Job.run

    def failing(job):
        if job.setting.method == "ELM":
            raise ValueError("no")
        return run(job)

    monkeypatch.setattr(jobs_module.Job, "run", failing)
    store = store_in(tmp_path)
    with pytest.raises(RuntimeError, match=r"ELM on E-NOSE: E-NOSE-like .*, split 0: no"):
        run_jobs(jobs, store)
    assert len(store.finished()) == 2


def test_other_data_under_the_same_name_are_other_jobs(jobs, item, budget, monkeypatch):
    from ecselm.paper.datasets import make_enose_like

    other = [make_enose_like(random_state=1)]
    monkeypatch.setattr(
        "ecselm.paper.protocols.imbalance.make_enose_like", lambda random_state: other[0]
    )
    assert not {job.key for job in jobs} & {job.key for job in plan(item, budget, 0)}


def test_keys_of_all_jobs_differ(jobs):
    assert len({job.key for job in jobs}) == len(jobs) == 6


def test_nothing_to_do_is_done_at_once(jobs, tmp_path, monkeypatch):
    store = store_in(tmp_path)
    run_jobs(jobs, store)
    before = (tmp_path / "journal.jsonl").read_bytes()
    run_jobs(jobs, store, n_jobs=2)
    assert (tmp_path / "journal.jsonl").read_bytes() == before
