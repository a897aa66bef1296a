"""The table of the ELMs that the paper names says what the kept results say."""

import os

import pytest

from benchmarks import outlook_elms
from benchmarks.outlook_elms import METHODS, PAGE, as_markdown, filled, jobs, measured, stored
from ecselm.paper.methods import Shape, get_method


def test_the_page_is_up_to_date():
    page = PAGE.read_text(encoding="utf-8")
    assert filled(page, stored()) == page, "run: python -m benchmarks.outlook_elms --show"


def test_every_method_has_every_set_and_split():
    rows = {(row["data"], row["method"], row["split"]) for row in stored()}
    assert len(stored()) == len(rows)
    sets = (*outlook_elms.KEEL, *outlook_elms.UCI)
    assert rows == {(d, m.name, s) for d in sets for m in METHODS for s in range(2)}


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_candidates_are_few_and_parameters_of_the_method(method):
    candidates = method.grid(Shape(100, 5, 2))
    assert 1 < len(candidates) <= 12
    for candidate in candidates:
        get_method(method.name, "classification", **{**method.params, **candidate})


def test_losses_are_shown_with_the_set_they_are_on():
    rows = [
        {"data": d, "method": m.name, "split": 0, "metric": metric, "value": v, "seconds": 1.0}
        for d, metric, values in (("a", "gmean", (0.5, 0.4)), ("b", "accuracy", (0.5, 0.9)))
        for m in METHODS
        for v in [values[m.name == "KELM"]]
    ]
    (line,) = (line for line in as_markdown(rows).splitlines() if line.startswith("| KELM |"))
    assert line == "| KELM | 0.400 | 0.900 | 5.5 | 1 / 1 | 0.100, a | 1.000 |"


@pytest.mark.skipif("ECSELM_DATA" not in os.environ, reason="needs real data: set ECSELM_DATA")
def test_a_job_runs_on_the_data(monkeypatch):
    monkeypatch.setattr(outlook_elms, "KEEL", ("glass6",))
    monkeypatch.setattr(outlook_elms, "UCI", ("balloons",))
    chosen = [job for job in jobs(METHODS[:1]) if job.split == 0]
    (first,) = measured(chosen[0])
    assert (first["data"], first["method"], first["metric"]) == ("glass6", "ELM", "gmean")
    assert 0 < first["value"] <= 1
