"""A bar is shown on the error stream, and only if it is wanted."""

from ecselm._progress import progress_bar


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
