"""``ecselm fit`` interrupted or killed at any moment: a model, or a checkpoint that resumes.

This file is also the program whose commands are interrupted and killed.
"""

import contextlib
import os
import signal
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

sys.path.append(str(Path(__file__).parents[2]))  # as a program

import ecselm.cli.fit
import ecselm.streaming.study
import ecselm.study.run
from ecselm.cli import main
from ecselm.estimators import _checkpoint
from ecselm.saving import load_model
from ecselm.search.interrupts import Interrupts
from ecselm.study import Card, predicted_rows
from ecselm.tables.read import read_table
from tests.processes import KEPT, LOST, Forked, cut_often, fork_each, mark_start

SMALL = ["--hidden", "8", "--epochs", "2", "--population", "4"]
AFTER_ALL = "the search was interrupted after its end"
pytestmark = pytest.mark.filterwarnings(f"default:{AFTER_ALL}")
COMMANDS = {
    "default": SMALL,
    "promise": [*SMALL, "--promise", "ill=0.6"],
    "auto": [*SMALL, "--model", "auto"],
    "stream": [*SMALL, "--stream", "--block-rows", "60", "--sample", "120"],
}


def write_table(path, n_rows=240):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 3)).round(3)
    ill = X.sum(axis=1) + 0.7 * rng.normal(size=n_rows) > 0.3
    frame = pd.DataFrame(X, columns=["size", "age", "pulse"])
    frame.assign(state=np.where(ill, "ill", "well")).to_csv(path, index=False)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Return the current folder, which holds a table; Ctrl-C is as in an interactive Python."""
    monkeypatch.chdir(tmp_path)
    write_table(tmp_path / "known.csv")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield tmp_path
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


def command(kind, output="m.skops", checkpoint=None):
    found = ["fit", "known.csv", "--target", "state", *COMMANDS[kind], "-o", output]
    return found if checkpoint is None else [*found, "--checkpoint", checkpoint]


def loaded(path, rows="known.csv"):
    """Return the card of a whole model, and what it predicts."""
    saved = load_model(path)
    card = Card.from_json(saved.card)
    return card, saved.model.predict_proba(predicted_rows(card, read_table(rows)))


def pressed_in(monkeypatch, place, name, n=1):
    """Press Ctrl-C at the n-th call of a function."""
    function, calls = getattr(place, name), []

    def pressing(*arguments, **options):
        calls.append(name)
        if len(calls) == n:
            signal.raise_signal(signal.SIGINT)
        return function(*arguments, **options)

    monkeypatch.setattr(place, name, pressing)


RUN, FIT = ecselm.study.run, ecselm.cli.fit


@pytest.mark.parametrize(
    ("kind", "place", "name", "n", "notes"),
    [
        ("default", RUN, "fit_baselines", 1, ["baselines, decision curves and importances were"]),
        ("default", RUN, "importances", 1, ["importances and baselines were left out"]),
        ("default", RUN, "promises_of", 1, ["The fit on all rows was interrupted"]),
        ("default", RUN, "_fit", 2, ["The fit on all rows was interrupted, so the model is the"]),
        ("auto", RUN, "_fit", 4, ["boosting could not be fitted: the comparison was interrupted"]),
        ("stream", ecselm.streaming.study, "_on_all_rows", 1, ["output weights are from these"]),
        ("stream", ecselm.streaming.study, "_on_all_rows", 2, ["The pass over all rows was int"]),
        ("default", FIT, "store_model", 1, []),
        ("default", FIT, "print_card", 1, []),
    ],
)
def test_a_model_is_written_wherever_ctrl_c_is_pressed_after_the_fit(
    kind, place, name, n, notes, here, monkeypatch, capsys
):
    pressed_in(monkeypatch, place, name, n)
    assert main(command(kind)) == 0
    card, P = loaded(here / "m.skops")
    assert np.isfinite(P).all()
    for note in notes:
        assert any(note in one for one in card.data.notes), card.data.notes
    assert "model: m.skops" in capsys.readouterr().out
    assert sorted(path.name for path in here.iterdir()) == ["known.csv", "m.skops"]


def test_pressed_again_the_command_ends_and_says_what_is_left(here, monkeypatch, capsys):
    def pressing(*_, **__):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(RUN, "evaluate", pressing)
        assert main(command("default")) == 130
        assert capsys.readouterr().err == "ecselm: interrupted; no model was written\n"
        assert main(command("default", checkpoint="s.npz")) == 130
    said = capsys.readouterr().err
    resumes = "the same command resumes from s.npz"
    assert said == f"ecselm: interrupted; no model was written, {resumes}\n"
    assert main(command("default", checkpoint="s.npz")) == 0
    monkeypatch.setattr(FIT, "print_card", pressing)
    assert main(command("default")) == 130
    assert capsys.readouterr().err.endswith("ecselm: interrupted; the model is in m.skops\n")
    assert np.isfinite(loaded(here / "m.skops")[1]).all()


def test_ctrl_c_before_the_first_score_writes_nothing(here, monkeypatch, capsys):
    pressed_in(monkeypatch, FIT, "read_table")
    assert main(command("default")) == 130
    assert capsys.readouterr().err == "ecselm: interrupted; no model was written\n"
    assert [path.name for path in here.iterdir()] == ["known.csv"]


# Commands that are interrupted and killed.


def live(kind, folder, name):
    """Run the command in this process; the exit code says how it ended."""
    receive, scored = Interrupts.receive, Path(folder, f"{name}.scored")

    def noting(self, *signal_and_frame):
        if self.scored:
            scored.touch()
        receive(self, *signal_and_frame)

    Interrupts.receive = noting
    os.chdir(folder)
    output = f"{name}.skops"
    checkpoint = None if name == "whole" else f"{name.split()[0]}.npz"
    out, err = (Path(folder, f"{name}.{one}") for one in ("out", "err"))
    with (
        out.open("w") as stdout,
        err.open("w") as stderr,
        contextlib.redirect_stdout(stdout),
        contextlib.redirect_stderr(stderr),
    ):
        try:
            mark_start(folder, name)
            code = main(command(kind, output, checkpoint))
        except KeyboardInterrupt:  # before or after the command proper
            code = 130
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if code == 130:
        return LOST
    text = " ".join([out.read_text(), err.read_text()])
    return code or (KEPT if "interrupted" in text.replace(AFTER_ALL, "") else 0)


def fork_commands(kind, folder):
    _checkpoint.SHARE = np.inf  # every step is saved
    write_table(Path(folder, "known.csv"))
    assert live(kind, folder, "warm") == 0  # some imports wait for their first use
    fork_each(partial(live, kind, folder))


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes to kill")
@pytest.mark.parametrize("kind", COMMANDS)
def test_commands_interrupted_or_killed_at_random_moments(kind, tmp_path, moments, record_property):
    def check(name, end):
        number, output = name.split()[0], tmp_path / f"{name}.skops"
        if end == "lost":
            said = (tmp_path / f"{name}.err").read_text()
            assert not (tmp_path / f"{name}.scored").exists(), said
            assert "no model was written" in said or not said or said.endswith("interrupted\n")
        if end in {"kept", "whole"}:
            assert np.isfinite(loaded(output, tmp_path / "known.csv")[1]).all()
        if end == "whole" and name != "whole":
            expected = loaded(tmp_path / "whole.skops", tmp_path / "known.csv")
            card, P = loaded(output, tmp_path / "known.csv")
            assert (expected[1] == P).all()
            assert card.test == expected[0].test
            assert card.learned == expected[0].learned
        if name.endswith("resumed"):
            for file in tmp_path.glob(f"{number}[ .]*"):
                file.unlink()

    with Forked(__file__, kind, tmp_path) as forked:
        ends = cut_often(forked, np.random.default_rng(2), moments, check)
    assert not list(tmp_path.glob(".*.part"))
    for end, n in sorted(ends.items()):
        record_property(end, n)
    assert ends["resumed"] == moments


if __name__ == "__main__":
    fork_commands(*sys.argv[1:])
