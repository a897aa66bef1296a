"""The benchmark of start-up measures what it says; no speed is asserted."""

from __future__ import annotations

import os
import sys

import pandas as pd
import pytest

from benchmarks.startup import (
    BASELINE,
    N_NEW,
    SMALL,
    StartUp,
    as_installed,
    make_frame,
    measure,
    prepare,
    processor_time,
)
from benchmarks.timing import Ratio


def test_commands_are_compared_with_the_first():
    codes = {"works": "sum(range(10**6))", "ecselm --help": "pass"}
    commands = {name: (sys.executable, "-c", code) for name, code in codes.items()}
    first, second = measure(commands, dict(os.environ), 1)
    assert (first.command, first.ratio) == ("works", Ratio(1.0, 1.0, 1.0))
    assert second.ratio.median == second.seconds / first.seconds


@pytest.mark.slow
def test_help_and_predictions_of_a_fitted_model_are_measured(tmp_path):
    commands = prepare(tmp_path, dict(os.environ), SMALL)
    found = measure(commands, dict(os.environ), 1)
    assert [one.command for one in found] == [BASELINE, "ecselm --help", "ecselm predict"]
    assert len(pd.read_csv(tmp_path / "predictions.csv")) == N_NEW


def test_work_and_not_waiting_is_counted():
    waits, works = "import time; time.sleep(1)", "sum(range(3 * 10**7))"
    waited, worked = (
        processor_time([sys.executable, "-c", code], dict(os.environ)) for code in (waits, works)
    )
    assert waited < worked


def test_modules_are_compiled_once_to_the_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    processor_time([sys.executable, "-c", "import ecselm.cli"], as_installed(tmp_path))
    assert any(tmp_path.rglob("ecselm/cli/main.*.pyc"))


def test_both_classes_are_in_the_rows():
    assert set(make_frame(100, 0)["y"]) == {"yes", "no"}


def test_a_line_has_time_ratio_and_goal():
    line = str(StartUp("ecselm --help", 0.03, Ratio(0.025, 0.02, 0.03)))
    assert line.split() == ["ecselm", "--help", "0.030", "s", "0.03", "(0.02-0.03)", "0.1", "s"]
