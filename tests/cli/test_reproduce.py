"""``ecselm reproduce --beside``."""

import pytest

from ecselm.cli import main


@pytest.fixture(autouse=True)
def nowhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ECSELM_DATA", raising=False)


def test_numbers_of_the_paper_are_printed_beside_ours_on_request(capsys):
    command = ["reproduce", "table-6", "--quick"]
    assert main(command) == 0
    assert "81.90" not in capsys.readouterr().out
    assert main([*command, "--beside"]) == 0
    out = capsys.readouterr().out
    (line,) = [one for one in out.splitlines() if one.split()[-3:-2] == ["ELM"]]
    assert line.split()[-1] == "81.90"
    assert "SYNTHETIC stand-in" in out


@pytest.mark.slow
def test_figures_say_that_the_paper_prints_none(capsys):
    assert main(["reproduce", "figure-9", "--quick", "--beside"]) == 0
    assert "the paper prints no numbers of figure-9" in capsys.readouterr().out
