"""The command in a terminal, and in a closed pipe."""

import json
import os
import re
import subprocess
import sys

import pytest

from ecselm.cli import main
from ecselm.saving import load_model
from ecselm.study import Card
from tests.cli.conftest import SMALL, ran
from tests.cli.terminal import CTRL_C, Terminal


def test_ctrl_c_keeps_the_best_so_far(tumours, here):
    arguments = ["fit", tumours / "known.csv", "--target", "diagnosis", "--hidden", "10"]
    with Terminal(*arguments, "--epochs", "1000000", folder=here) as terminal:
        terminal.wait_for("generation")
        terminal.wait_for("best fitness")
        terminal.type(CTRL_C)
        assert terminal.end() == 0, terminal.text
        assert "interrupted" in terminal.text
        assert "Traceback" not in terminal.text
    card = Card.from_json(load_model(here / "model.skops").card)
    assert card.search.interrupted


@pytest.mark.slow
def test_an_interrupted_search_goes_on(tumours, here):
    arguments = ["fit", tumours / "known.csv", "--target", "diagnosis", "--hidden", "10"]
    arguments += ["--epochs", "1000000", "--population", "4", "--checkpoint", "search.npz"]
    generations = []
    for _ in range(2):
        with Terminal(*arguments, folder=here) as terminal:
            terminal.wait_for("generation 1")
            terminal.type(CTRL_C)
            assert terminal.end() == 0, terminal.text
            shown = re.findall(r"generation (\d+)", terminal.text)
            generations.append((int(shown[0]), int(shown[-1])))
    assert generations[1][0] >= generations[0][1]


def test_a_search_goes_on_with_its_checkpoint(tumours, capsys, here):
    arguments = ["fit", tumours / "known.csv", "--target", "diagnosis", *SMALL, "--json"]
    arguments += ["--checkpoint", "search.npz"]
    first, second = (json.loads(ran(capsys, *arguments)[1]) for _ in range(2))
    assert (here / "search.npz").exists()
    assert first["learned"] == second["learned"]


def test_closed_pipe_while_a_table_is_printed(monkeypatch):
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        assert main(["methods"]) == 141


def test_closed_pipe_ends_the_command(tumours, here):
    command = [sys.executable, "-m", "ecselm", "predict"]
    command += [tumours / "model.skops", tumours / "new.csv"]
    with subprocess.Popen(  # noqa: S603
        [*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=here
    ) as process:
        process.stdout.close()
        complaint = process.stderr.read()
    assert process.returncode == 141
    assert complaint == b""
