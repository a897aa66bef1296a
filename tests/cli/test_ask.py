"""``ecselm ask``: questions in a terminal, from a file, from a pipe."""

import io
import json
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

from ecselm.cli import main
from ecselm.saving import load_model
from ecselm.study import Card
from tests.cli.conftest import ran
from tests.cli.terminal import CTRL_C, Terminal

LONG = ("--tolerance", "0.0001")  # several questions


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ask")
    X, y = make_classification(500, 5, weights=[0.7], flip_y=0.1, random_state=1)
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(5)])
    frame["state"] = np.where(y == 1, "ill", "well")
    frame.to_csv(folder / "rows.csv", index=False)
    fitted = ["--cost", "ill->well=1..100", "--model", "logistic"]
    arguments = ["--target", "state", *fitted, "-o", folder / "model.skops"]
    assert main([str(one) for one in ("fit", folder / "rows.csv", *arguments)]) == 0
    return folder


@pytest.fixture
def folder(made, tmp_path, monkeypatch):
    for name in ("rows.csv", "model.skops"):
        shutil.copy(made / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(capsys, monkeypatch):
    """Return a function that runs a command with lines from a pipe."""

    def run_command(*arguments, typed="", code=0):
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        found, out, err = ran(capsys, *arguments)
        assert found == code, err
        return out, err

    return run_command


def test_a_person_answers_in_a_terminal(folder):
    before = (folder / "model.skops").read_bytes()
    with Terminal("ask", "model.skops", "--by", "Ann", *LONG, folder=folder) as screen:
        screen.wait_for("question 1")
        screen.wait_for("s to stop")
        screen.type(b"nonsense\n")
        screen.wait_for("answer must be a number from 1 to")
        screen.type(b"2\n")
        screen.wait_for("question 2")
        screen.shown = b""
        screen.type(b"u\n")
        screen.wait_for("question 1")
        screen.type(b"2\n")
        screen.wait_for("question 2")
        screen.type(b"s\n")
        assert screen.end() == 0
        assert "ill" in screen.text
        assert "model: model.skops" in screen.text
    assert (folder / "model.skops").read_bytes() != before
    card = Card.from_json(load_model(folder / "model.skops").card)
    assert [one.by for one in card.answers] == ["Ann"]


def test_ctrl_c_keeps_what_was_answered(folder):
    with Terminal("ask", "model.skops", *LONG, folder=folder) as screen:
        screen.wait_for("s to stop")
        screen.type(b"2\n")
        screen.wait_for("question 2")
        screen.type(CTRL_C)
        screen.end()
    stored = json.loads((folder / "model.answers.json").read_text())
    assert len(stored["answers"]) == 1


def test_answers_come_from_a_pipe_and_are_repeated_from_their_file(folder, run):
    first, _ = run("ask", "model.skops", "rows.csv", "-o", "new.skops", typed="1\n")
    assert "model: new.skops" in first
    shutil.move(folder / "model.answers.json", folder / "kept.json")
    again, _ = run("ask", "model.skops", "rows.csv", "-o", "again.skops", "--answers", "kept.json")
    assert first.splitlines()[0] == again.splitlines()[0]
    for name in ("evaluate", "predict"):
        out = [run(name, f"{one}.skops", "rows.csv")[0] for one in ("new", "again")]
        assert out[0] == out[1]
    assert run("predict", "model.skops", "rows.csv")[0] != out[0]


def test_json_has_costs_and_answers(folder, run):
    found = json.loads(run("ask", "model.skops", "--json", typed="1\n1\n")[0])
    assert found["answers"][0]["question"]
    assert found["costs"]
    assert 0 <= found["settled"] <= 1


def test_without_an_answer_nothing_is_written(folder, run):
    before = (folder / "model.skops").read_bytes()
    assert "stays as it is" in run("ask", "model.skops")[1]
    assert (folder / "model.skops").read_bytes() == before
    assert not (folder / "model.answers.json").exists()


@pytest.mark.parametrize(
    ("arguments", "typed", "message"),
    [
        (("--answers", "none.json"), "", "--answers must be a file that is there"),
        (("--error-rate", "0.7"), "", "error_rate must be"),
        ((), "9\n", "answer must be a number from 1 to"),
        (("rows.csv", "--answers", "rows.csv"), "", "must not be the same file"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(folder, run, arguments, typed, message):
    assert message in run("ask", "model.skops", *arguments, typed=typed, code=2)[1]


def test_answers_about_other_classes_are_refused(folder, run):
    run("ask", "model.skops", typed="1\n")
    file = folder / "model.answers.json"
    file.write_text(file.read_text().replace("well", "fine"))
    sentence = "--answers must be about the classes of the model, ill, well"
    assert sentence in run("ask", "model.skops", code=2)[1]


@pytest.mark.parametrize(
    ("content", "reason"),
    [("bad", "--answers must be a JSON file, got 'bad.json'"), ("{}", "--answers must be a file")],
)
def test_answers_that_are_none_are_refused_by_the_option(folder, run, content, reason):
    (folder / "bad.json").write_text(content)
    _, complaint = run("ask", "model.skops", "--answers", "bad.json", code=2)
    assert complaint.startswith(f"ecselm: {reason}")
    assert len(complaint.splitlines()) == 1


def test_the_tightest_of_sentences_about_a_cost_is_kept(folder, run):
    printed, _ = run("ask", "model.skops", *LONG, typed="2\n2\n")
    about = [line for line in printed.splitlines() if line.startswith("an ill case taken")]
    assert len(about) == 1
    card = Card.from_json(load_model(folder / "model.skops").card)
    assert [one for one in card.request.cost_constraints if one in about] == about


def test_one_dialogue_at_a_time(folder, run):
    command = [sys.executable, "-m", "ecselm", "ask", "model.skops", *LONG]
    with subprocess.Popen(  # noqa: S603  our own command
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as first:
        shown = ""
        while "question 1" not in shown:
            shown += first.stderr.readline()
        _, complaint = run("ask", "model.skops", typed="1\n", code=2)
        assert complaint == (
            "ecselm: --output must be used by one 'ecselm ask' at a time, got model.skops in use "
            f"(process {first.pid})\n"
        )
        first.kill()
    run("ask", "model.skops", *LONG, typed="2\n")
    assert not list(folder.glob(".*"))
