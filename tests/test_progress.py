"""A bar is shown on the error stream, and only if it is wanted."""

from ecselm._progress import PhaseBar, progress_bar


def test_a_bar_goes_to_the_error_stream(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress_bar("search", 3, n_done=1) as advance:
        advance("best 0.5")
        advance("best 0.75")
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "search" in shown.err
    assert "best 0.75" in shown.err


def test_two_bars_may_be_shown_at_a_time(capsys):
    with progress_bar("splits", 1) as outer, progress_bar("search", 1) as inner:
        inner("")
        outer("")


def test_nothing_is_shown_unless_wanted(capsys):
    with progress_bar("search", 1, shown=False) as advance:
        advance("best 0.5")
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", "")


def test_phases_move_one_bar_by_their_work(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    bar = PhaseBar()
    bar.plan({"layers": 90.0, "search": 8.0, "test": 2.0})
    bar.begin("layers", 3, "solving")
    bar.advance()
    assert bar.done == 30.0
    bar.begin("search", 4, "a search")  # layers were skipped
    assert bar.done == 90.0
    bar.advance("best=0.5")
    bar.begin("test", 1)
    assert bar.done == 98.0
    bar.advance()
    bar.close()
    shown = capsys.readouterr()
    assert shown.out == ""
    assert bar.done == 100.0
    assert all(words in shown.err for words in ("a search", "1/4", "best=0.5"))


def test_a_phase_that_was_not_planned_is_added():
    bar = PhaseBar(shown=False)
    bar.plan({"layers": 10.0})
    bar.begin("search", 5)
    bar.advance()
    assert bar.done == 11.0
