import sys

import pytest

from ecselm.paper.jobs import JobResult, Journal, Measurement, read_rows, write_rows

ONE = JobResult("a", (Measurement("accuracy", 0.1 + 0.2), Measurement("recall", 1.0, "CO")), ())
TWO = JobResult("b", (Measurement("accuracy", 1 / 3),), (Measurement("seconds", 1.5, "learn"),))


@pytest.fixture
def journal(tmp_path):
    journal = Journal(tmp_path / "run", {"seed": 0})
    journal.open()
    journal.add(ONE)
    return journal


def test_what_was_added_comes_back_to_the_last_bit(journal):
    journal.add(TWO)
    assert journal.results() == {"a": ONE, "b": TWO}


def test_no_folder_is_made_by_asking_what_is_done(tmp_path):
    assert Journal(tmp_path / "run", {}).results() == {}
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("cut", [1, 10, 40])
def test_half_a_line_is_not_read_and_is_gone_when_the_run_goes_on(journal, cut):
    file = journal.folder / "journal.jsonl"
    whole = file.read_bytes()
    journal.add(TWO)
    file.write_bytes(file.read_bytes()[:-cut])
    assert set(journal.results()) <= {"a", "b"}
    journal.open()
    journal.add(TWO)
    assert journal.results() == {"a": ONE, "b": TWO}
    assert file.read_bytes().startswith(whole)
    assert file.read_text().count("\n") == len(file.read_text().splitlines())


def test_bytes_that_are_no_text_at_the_end_are_cut_off(journal):
    file = journal.folder / "journal.jsonl"
    before = file.read_bytes()
    file.write_bytes(before + b'{"key": "\xff\xfe')
    journal.open()
    assert file.read_bytes() == before


def test_folder_of_another_run_is_refused_and_left_as_it_was(journal):
    before = (journal.folder / "journal.jsonl").read_bytes()
    other = Journal(journal.folder, {"seed": 1})
    for attempt in (other.results, other.open):
        with pytest.raises(ValueError, match="must be new or hold results of the same run"):
            attempt()
    assert (journal.folder / "journal.jsonl").read_bytes() == before


def test_journal_killed_in_its_first_line_is_begun_again(tmp_path):
    journal = Journal(tmp_path, {"seed": 0})
    (tmp_path / "journal.jsonl").write_bytes(b"")
    journal.open()
    assert journal.results() == {}


def test_equal_rows_give_equal_bytes(tmp_path):
    rows = [("gas", "ELM", 0, "recall", "CO", 1 / 3)]
    for name in ("one", "two"):
        write_rows(tmp_path / name, rows)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert read_rows(tmp_path / "one").to_numpy().tolist() == [list(rows[0])]


def test_no_rows_give_an_empty_frame(tmp_path):
    write_rows(tmp_path / "none", [])
    assert len(read_rows(tmp_path / "none")) == 0


def test_missing_pyarrow_names_the_extra(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match='the extra "reproduce"'):
        write_rows(tmp_path / "one", [])
    assert not list(tmp_path.iterdir())
