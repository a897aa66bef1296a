"""Shells complete commands, options, choices and files."""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ecselm.cli import main
from ecselm.cli.completion import SHELLS, all_actions, script, subcommands
from ecselm.cli.main import COMMANDS, build_parser

pytest.importorskip("shtab", reason='needs the extra "completion"')


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    """Return the file of the script of every shell."""
    folder = tmp_path_factory.mktemp("completion")
    for shell in SHELLS:
        (folder / shell).write_text(script(shell))
    return folder


def in_shell(shell, *arguments):
    path = shutil.which(shell)
    if path is None:
        pytest.skip(f"needs {shell}")
    run = subprocess.run([path, *arguments], capture_output=True, text=True, check=True)  # noqa: S603
    assert run.stderr == ""
    return run.stdout


def completed_by_bash(scripts, *words):
    command = (
        f"source {scripts / 'bash'}; COMP_WORDS=(ecselm {' '.join(words)}); "
        f"COMP_CWORD={len(words)}; _shtab_ecselm; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    )
    return in_shell("bash", "--norc", "-c", command).split()


def test_bash_completes_a_command(scripts):
    assert completed_by_bash(scripts, "pre") == ["predict"]
    assert completed_by_bash(scripts, "re") == ["report", "reproduce"]


def test_bash_completes_an_option_of_its_command(scripts):
    assert completed_by_bash(scripts, "fit", "--targ") == ["--target"]
    assert "--target" not in completed_by_bash(scripts, "predict", "--t")


def test_bash_completes_the_choices_of_an_option(scripts):
    assert completed_by_bash(scripts, "fit", "--rule", "mini") == ["minimax_regret"]


def test_bash_completes_files(scripts, tmp_path):
    (tmp_path / "tumours.csv").touch()
    assert completed_by_bash(scripts, "fit", str(tmp_path / "tum")) == [
        str(tmp_path / "tumours.csv")
    ]


def test_fish_completes_commands_and_options(scripts):
    ask = f"source {scripts / 'fish'}; complete -C '{{}}'"
    assert "predict" in in_shell("fish", "--no-config", "-c", ask.format("ecselm pre"))
    assert "--target" in in_shell("fish", "--no-config", "-c", ask.format("ecselm fit --targ"))


def test_zsh_reads_its_script(scripts):
    in_shell("zsh", "--no-rcs", "-n", str(scripts / "zsh"))
    text = (scripts / "zsh").read_text()
    assert text.startswith("#compdef ecselm")
    assert "--target" in text


def test_every_command_is_in_every_script(scripts):
    for shell in SHELLS:
        text = (scripts / shell).read_text()
        assert [name for name in COMMANDS if name not in text] == []


def test_arguments_that_are_paths_complete_to_files(scripts):
    kinds = {action.dest for action in all_actions(build_parser()) if action.type is Path}
    assert {"model", "output"} <= kinds


def test_the_parser_of_a_command_is_whole_where_it_is_asked_for():
    fit, predict = (subcommands(build_parser(["fit"]))[name] for name in ("fit", "predict"))
    assert len(fit._actions) > 10
    assert [action.dest for action in predict._actions] == ["help"]
    assert subcommands(argparse.ArgumentParser()) == {}


def test_a_script_is_printed(capsys):
    assert main(["completion", "bash"]) == 0
    assert "-F _shtab_ecselm ecselm" in capsys.readouterr().out


def test_a_missing_package_is_named(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "zsh"]) == 2
    assert 'install the extra "completion"' in capsys.readouterr().err
