"""Instructions are counted, kept for every loop, and compared."""

import json

import pytest

from benchmarks import instructions
from benchmarks.instructions import FILE, LOOPS, comparison, count, grown, main, missing


def test_every_loop_has_a_kept_count():
    kept = json.loads(FILE.read_text())
    assert tuple(kept["counts"]) == LOOPS
    assert all(n > 1000 for n in kept["counts"].values())
    assert kept["compiler"]


def test_loops_that_need_more_are_named():
    assert grown({"a": 100, "b": 100}, {"a": 105, "b": 106, "c": 9}) == ["b"]
    assert "| c |  | 9 | new |" in comparison({"a": 100}, {"a": 100, "c": 9})


@pytest.mark.slow
def test_counts_are_the_same_every_time():
    if reason := missing():
        pytest.skip(reason)
    assert count(LOOPS[:2]) == count(LOOPS[:2])


def test_without_valgrind_counting_is_skipped(monkeypatch, capsys):
    monkeypatch.setattr(instructions.shutil, "which", lambda _: None)
    assert main([]) == 0
    assert capsys.readouterr().out == "skipped: gcc is not installed\n"


@pytest.mark.parametrize(("now", "status"), [(100, 0), (120, 1)])
def test_a_comparison_ends_with_its_status(monkeypatch, tmp_path, capsys, now, status):
    file = tmp_path / "instructions.json"
    file.write_text(json.dumps({"compiler": "a compiler", "counts": {"count": 100}}))
    monkeypatch.setattr(instructions, "FILE", file)
    monkeypatch.setattr(instructions, "missing", lambda: None)
    monkeypatch.setattr(instructions, "count", lambda: {"count": now})
    monkeypatch.setattr(instructions, "compiler", lambda: "a compiler")
    assert main(["--compare"]) == status
    monkeypatch.setattr(instructions, "compiler", lambda: "another")
    assert main(["--compare"]) == 0
    assert "not compared" in capsys.readouterr().out
