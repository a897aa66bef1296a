"""The audit as a whole."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ecselm.paper.audit import Effort, audit, render, report
from ecselm.paper.audit.searches import Arm, SearchJob
from ecselm.paper.audit.tables import printed_gains
from ecselm.paper.datasets import make_m2b_like
from ecselm.paper.protocols.published import PUBLISHED

SHORT = Effort(2, 6, 1)
PAGE = Path(__file__).parents[3] / "docs" / "audit.md"


@pytest.fixture(scope="module")
def found():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report, "Effort", lambda *args, **kwargs: SHORT)
        yield audit(quick=True)


def test_the_report_names_its_task_and_marks_it_synthetic(found):
    assert "SYNTHETIC" in found.task
    assert found.task in render(found)


def test_the_text_labels_the_oracle(found):
    text = render(found)
    assert text.count("ORACLE: test rows") == 4
    assert "No estimator offers it." in text


def test_the_text_has_its_four_parts_in_order(found):
    text = render(found)
    places = [text.index(mark) for mark in ("(a)", "(b)", "(c)", "(d)")]
    assert places == sorted(places)
    assert max(len(line) for line in text.splitlines() if line != found.task) <= 120


def test_one_seed_gives_one_report(monkeypatch, found):
    monkeypatch.setattr(report, "Effort", lambda *args, **kwargs: SHORT)
    again = audit(quick=True)
    assert render(again) == render(found)
    assert render(audit(quick=True, random_state=1)) != render(found)


def test_other_data_may_be_audited(monkeypatch):
    monkeypatch.setattr(report, "Effort", lambda *args, **kwargs: SHORT)
    data = make_m2b_like("vocal", "W", random_state=3)
    assert audit(quick=True, data=data).task == data.summary()


def test_random_labels_are_clean_only_if_all_but_the_oracle_stay_at_chance(found):
    run = found.random_labels
    at_chance = [replace(arm, accuracy=(0.2, 0.2)) for arm in run.arms]
    leaking = [replace(arm, accuracy=(0.5, 0.5)) if arm.is_oracle else arm for arm in at_chance]
    assert replace(run, arms=tuple(leaking)).is_clean
    lucky = Arm("training rows", (-1.0, 1.0), (0.5, 0.5), (0.5, 0.5), (0.2, 0.2))
    dirty = replace(run, arms=(*leaking, lucky))
    assert not dirty.is_clean
    assert "NOT all" in render(replace(found, random_labels=dirty))


def test_chance_has_the_binomial_interval(found):
    assert found.random_labels.chance == 0.2
    assert found.random_labels.low < 0.2 < found.random_labels.high
    assert found.random_labels.high - found.random_labels.low < 0.11


def test_an_audit_that_was_stopped_goes_on_to_the_same_report(monkeypatch, tmp_path, found):
    monkeypatch.setattr(report, "Effort", lambda *args, **kwargs: SHORT)
    ran, run = [], SearchJob.run

    def stopped(job):
        if len(ran) == 3:
            raise KeyboardInterrupt
        ran.append(job.key)
        return run(job)

    with monkeypatch.context() as patch:
        patch.setattr(SearchJob, "run", stopped)
        with pytest.raises(KeyboardInterrupt):
            audit(quick=True, output=tmp_path)
    monkeypatch.setattr(SearchJob, "run", lambda job: ran.append(job.key) or run(job))
    assert render(audit(quick=True, output=tmp_path)) == render(found)
    assert len(ran) == len(set(ran)) == 4


def test_a_folder_of_another_audit_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(report, "Effort", lambda *args, **kwargs: SHORT)
    audit(quick=True, output=tmp_path)
    with pytest.raises(ValueError, match="the output folder must be new"):
        audit(quick=True, random_state=1, output=tmp_path)
    with pytest.raises(ValueError, match="random_state must be an integer with output, got None"):
        audit(quick=True, random_state=None, output=tmp_path)


def test_gains_are_compared_with_those_of_the_same_methods_in_the_same_table(found):
    text = render(found)
    plain, oracle = found.arms[0].mean, next(arm for arm in found.arms if arm.is_oracle)
    assert f"{100 * (oracle.mean - plain):+.1f}" in text
    assert "ECSELM over ELM, ten splits 400/220: +17.0 in the line Facial (A), E" in text
    assert "+12.1 to +18.4 in all 8." in text


def test_the_page_has_the_contrasts_as_they_are_computed():
    if not PAGE.is_file():
        pytest.skip("needs the documentation, which lies beside the sources")
    page = PAGE.read_text(encoding="utf-8")
    for line in report._printed(printed_gains()):
        assert line in page
    elms = PUBLISHED["table-1"].by_method()
    best = [max(elms[name][i] for name in elms if name != "ECSELM") for i in range(8)]
    assert [one.best for one in printed_gains()] == best


def test_the_table_of_splits_has_equal_costs_on_the_rows_of_every_fitness(found):
    table = report.split_table(found)
    searched = table[table["low"].notna()]
    assert searched["equal"].between(0, 1).all()
    oracle = searched[searched["fitness_on"].str.startswith("ORACLE")]
    plain = table[table["fitness_on"] == "plain ELM, no search"].set_index(["labels", "split"])
    for _, row in oracle.iterrows():
        assert row["equal"] == plain.loc[(row["labels"], row["split"]), "accuracy"]
