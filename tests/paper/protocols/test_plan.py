import pytest

from ecselm.paper.jobs import Journal, run_jobs
from ecselm.paper.protocols import reproduction
from ecselm.paper.protocols.reproduction import plan_item, result_rows


@pytest.fixture
def jobs(item, budget):
    return plan_item(item, budget, 0)


def journal_in(folder):
    return Journal(folder, {"seed": 0})


def results(jobs, journal):
    return result_rows(jobs, journal.results())


def test_results_do_not_depend_on_the_number_of_processes(jobs, tmp_path):
    found = []
    for n_jobs in (1, 2):
        journal = journal_in(tmp_path / str(n_jobs))
        run_jobs(jobs, journal, n_jobs=n_jobs)
        found.append(results(jobs, journal))
    assert found[0] == found[1]


def test_a_run_goes_on_where_it_was_stopped(jobs, tmp_path, monkeypatch):
    whole, parts = journal_in(tmp_path / "whole"), journal_in(tmp_path / "parts")
    run_jobs(jobs, whole)
    run_jobs(jobs[3:4], parts)
    ran = []
    run = reproduction.MethodJob.run
    monkeypatch.setattr(reproduction.MethodJob, "run", lambda job: ran.append(job.key) or run(job))
    run_jobs(jobs, parts)
    assert ran == [job.key for job in jobs if job.key != jobs[3].key]
    assert results(jobs, parts) == results(jobs, whole)


def test_a_job_that_fails_is_named_and_those_before_it_are_kept(jobs, tmp_path, monkeypatch):
    run = reproduction.MethodJob.run

    def failing(job):
        if job.setting.method == "ELM":
            raise ValueError("no")
        return run(job)

    monkeypatch.setattr(reproduction.MethodJob, "run", failing)
    journal = journal_in(tmp_path)
    with pytest.raises(RuntimeError, match=r"ELM on E-NOSE: E-NOSE-like .*, split 0: no"):
        run_jobs(jobs, journal)
    assert len(journal.results()) == 2


def test_other_data_under_the_same_name_are_other_jobs(jobs, item, budget, monkeypatch):
    from ecselm.paper.datasets import make_enose_like

    other = [make_enose_like(random_state=1)]
    monkeypatch.setattr(
        "ecselm.paper.protocols.imbalance.make_enose_like", lambda random_state: other[0]
    )
    assert not {job.key for job in jobs} & {job.key for job in plan_item(item, budget, 0)}


def test_keys_of_all_jobs_differ(jobs):
    assert len({job.key for job in jobs}) == len(jobs) == 6


def test_nothing_to_do_is_done_at_once(jobs, tmp_path, monkeypatch):
    journal = journal_in(tmp_path)
    run_jobs(jobs, journal)
    before = (tmp_path / "journal.jsonl").read_bytes()
    run_jobs(jobs, journal, n_jobs=2)
    assert (tmp_path / "journal.jsonl").read_bytes() == before
