"""The page of results says what the kept results of every split say."""

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from benchmarks import results_page
from benchmarks.results_page import (
    CURVES,
    KEPT,
    PAGE,
    RATIOS,
    RECORD,
    _is_kept,
    _standing,
    check_one_run,
    filled,
    keep,
    read_journal,
    run_record,
    spent_seconds,
)
from ecselm.paper.protocols.layout import baseline
from ecselm.paper.protocols.reproduction import code_digest


def test_the_page_of_results_is_up_to_date():
    page = PAGE.read_text(encoding="utf-8")
    assert filled(page) == page, "run: python -m benchmarks.results_page"


@pytest.mark.parametrize(
    ("item", "metric"), [("table-1", "accuracy"), ("table-10", "arr"), ("keel", "gmean")]
)
def test_means_on_the_page_are_those_of_the_splits(item, metric):
    frame = pd.read_parquet(KEPT / item / "results.parquet")
    ours = baseline(frame["method"].unique())
    mine = frame[(frame["metric"] == metric) & (frame["method"] == ours)]
    if item == "keel":
        expected = f"{100 * mine.groupby('data')['value'].mean().mean():.2f}"
    else:
        first = mine[mine["data"] == mine["data"].iloc[0]]["value"]
        expected = f"{100 * first.mean():.2f} ± {100 * first.std(ddof=1):.2f}"
    assert expected in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("item", [item for item in RATIOS if _is_kept(item)])
def test_every_method_was_run_on_the_same_splits(item):
    frame = pd.read_parquet(KEPT / item / "results.parquet")
    for _, part in frame.groupby("data"):
        splits = part.groupby("method")["split"].agg(lambda values: tuple(sorted(set(values))))
        assert splits.nunique() == 1


def test_standing_tells_losses_with_their_sign():
    found = pd.DataFrame({"ECSELM": [0.5, 0.6, 0.5], "KELM": [0.7, 0.7, 0.6], "ELM": [0.4] * 3})
    ours, rank, best, theirs, difference, p = _standing("table-1", found, 0.55)
    assert (ours, rank, best, theirs, difference) == (
        "53.33",
        "2 of 3",
        "KELM",
        "66.67",
        "-13.33",
    )
    assert 0 < float(p) < 0.2


def test_standing_knows_that_a_small_error_is_good():
    found = pd.DataFrame({"ECSELM": [0.5, 0.6], "Ridge": [0.7, 0.7]})
    assert _standing("table-4", found, 1.0)[1:3] == ["1 of 2", "Ridge"]


def test_the_best_other_method_is_no_form_of_ecselm():
    found = pd.DataFrame(
        {"ECSELM as printed": [0.5, 0.6], "ECSELM, ensemble": [0.9, 0.9], "ELM": [0.4, 0.5]}
    )
    assert _standing("table-1", found, 0.55, "ECSELM as printed")[1:3] == ["2 of 3", "ELM"]


@pytest.fixture(scope="module")
def finished_run(tmp_path_factory):
    """A small run of two items on stand-ins."""
    from dataclasses import replace

    from ecselm.paper.protocols import QUICK, reproduce

    folder = tmp_path_factory.mktemp("run")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ECSELM_DATA", raising=False)
        for name in ("table-10", "table-14"):
            reproduce(name, folder, budget=replace(QUICK, most_rows=60, repeats=2))
    return folder


@pytest.fixture
def run(tmp_path, monkeypatch, finished_run):
    """A copy of the run, and an empty place to keep it in."""
    monkeypatch.setattr(results_page, "KEPT", tmp_path / "kept")
    return Path(shutil.copytree(finished_run, tmp_path / "run"))


def test_kept_results_are_those_of_one_run_with_its_record(run, tmp_path):
    kept = tmp_path / "kept"
    (kept / "table-1").mkdir(parents=True)
    (kept / "table-1" / "run.json").write_text("{}")
    (kept / "other.json").write_text("{}")
    with (run / "journal.jsonl").open("a") as file:
        file.write('{"key": "cut o')  # by a kill
    keep(run)
    assert sorted(path.name for path in kept.iterdir()) == [
        "other.json",
        RECORD,
        "table-10",
        "table-14",
    ]
    record = run_record()
    assert list(record["items"]) == ["table-10", "table-14"]
    head = (run / "journal.jsonl").read_text().splitlines()[0]
    assert record["code"] == json.loads(head)["run"]["code"]
    check_one_run()


@pytest.mark.parametrize(("key", "value"), [("version", "0.0.9"), ("seed", 7)])
def test_a_page_is_not_made_of_results_of_another_run(run, tmp_path, key, value):
    keep(run)
    path = tmp_path / "kept" / "table-14" / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), key: value}))
    with pytest.raises(ValueError, match=f"table-14 must have {key} .*, got {value}"):
        check_one_run()


def test_results_beside_those_of_the_record_are_refused(run, tmp_path):
    keep(run)
    record = tmp_path / "kept" / RECORD
    content = json.loads(record.read_text())
    del content["items"]["table-14"]
    record.write_text(json.dumps(content))
    with pytest.raises(ValueError, match="got others of table-14"):
        check_one_run()


def test_the_page_states_version_code_and_time_or_that_they_are_unknown(run, tmp_path):
    keep(run)
    page = "".join(f"<!-- {name} -->\n<!-- end -->\n" for name in parts_of_the_page())
    text = filled(page)
    record = run_record()
    head = f"version {record['version']}, code `{record['code']}`: all tables are of one run of one"
    assert head in text
    assert f"took {record['hours']:.1f} hours of one core for {record['jobs']} fits" in text
    assert text.count(results_page.MISSING) > 5
    (tmp_path / "kept" / RECORD).unlink()
    assert "of states of the code that were not recorded" in filled(page)


def parts_of_the_page():
    names = ("run", "summary", "conclusions", "tests", "unequal")
    return (*RATIOS, *CURVES, "keel", "table-12", "table-14", *names)


def test_a_folder_without_results_is_refused_and_nothing_is_removed(run, tmp_path):
    keep(run)
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "journal.jsonl").write_text('{"run": {}}\n')
    with pytest.raises(ValueError, match="folder must hold results of ecselm reproduce"):
        keep(empty)
    assert list(run_record()["items"]) == ["table-10", "table-14"]


def test_hours_are_those_of_the_journal_with_figures_and_prepared_rows_once(run):
    head, jobs = read_journal(run)
    assert head["code"] == code_digest()
    one = {"prepare": 7.0, "choose": 1.0, "learn": 2.0, "answer": 0.5}

    def job(key, **changed):
        return {
            "key": key,
            "seconds": [["seconds", value, at] for at, value in {**one, **changed}.items()],
        }

    made = [
        job("similarities|LFW|a-b|ELM||0"),
        job("similarities|LFW|a-b|ELM|C=1.0,n_hidden=100|0"),  # of figure 11
        job("similarities|LFW|a-b|ELM||1", prepare=5.0),
        job("verification|LFW|a-b|SILD||0", prepare=0.0),
    ]
    assert spent_seconds(made) == 4 * 3.5 + 7.0 + 5.0
    keep(run)
    assert run_record()["hours"] == round(spent_seconds(jobs) / 3600, 3)
    assert run_record()["jobs"] == len(jobs) > 20


def test_a_journal_of_two_states_of_the_code_is_refused(run):
    path = run / "journal.jsonl"
    head, *lines = path.read_text().splitlines()
    other = json.loads(head)
    other["run"]["code"] = "0123456789ab"
    half = len(lines) // 2
    path.write_text("\n".join([head, *lines[:half], json.dumps(other), *lines[half:], ""]))
    with pytest.raises(
        ValueError, match=r"folder must hold one run, got code \w+ and 0123456789ab"
    ):
        keep(run)
    assert not results_page.KEPT.exists()


def test_an_item_that_is_not_of_the_journal_is_refused(run):
    path = run / "table-10" / "results.parquet"
    frame = pd.read_parquet(path)
    frame.loc[3, "value"] += 1e-9
    frame.to_parquet(path, index=False)
    with pytest.raises(ValueError, match="table-10 must have the results of the journal, got"):
        keep(run)
    assert not results_page.KEPT.exists()


def test_results_that_were_replaced_after_they_were_kept_are_refused(run, tmp_path):
    keep(run)
    path = tmp_path / "kept" / "table-10" / "results.parquet"
    frame = pd.read_parquet(path)
    frame.loc[3, "value"] += 0.1
    frame.to_parquet(path, index=False)
    with pytest.raises(ValueError, match="those of table-10 must be as the record"):
        check_one_run()


def test_a_run_of_access_control_alone_leaves_the_results_of_other_runs(run, tmp_path):
    keep(run)
    record = run_record()
    shutil.rmtree(run / "table-14")
    (run / "table-10").rename(run / "access")  # as if it had been another run
    path = run / "access" / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "seed": 1}))
    journal = run / "journal.jsonl"
    journal.write_text(journal.read_text().replace('"seed": 0', '"seed": 1', 1))
    keep(run)
    kept = json.loads((tmp_path / "kept" / "access" / "run.json").read_text())
    assert kept["seed"] == 1
    assert run_record() == record
    check_one_run()
