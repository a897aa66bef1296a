"""The manual page has every command and option, and is well-formed."""

import re
import shutil
import subprocess

import pytest

import ecselm
from ecselm.cli import main
from ecselm.cli.completion import all_actions
from ecselm.cli.main import COMMANDS, build_parser
from ecselm.cli.man import page


@pytest.fixture(scope="module")
def text():
    return "\n".join(page())


def test_every_command_and_option_is_on_the_page(text):
    for name in COMMANDS:
        assert f'.SS "ecselm {name}"' in text
    options = {name for action in all_actions(build_parser()) for name in action.option_strings}
    assert len(options) > 40
    shown = text.replace(r"\-", "-")
    assert [name for name in options if rf"\fB{name}\fR" not in shown] == []


def test_the_page_names_the_version(text):
    assert f'"ecselm {ecselm.__version__}"' in text


def test_no_line_is_a_request_by_accident(text):
    known = {"TH", "SH", "SS", "PP", "TP", "B", "I", "nf", "fi"}
    assert set(re.findall(r"^[.'](\w*)", text, re.MULTILINE)) <= known
    assert "%(default" not in text


def test_groff_has_nothing_to_warn_of(text):
    if shutil.which("groff") is None:
        pytest.skip("needs groff")
    command = ["groff", "-man", "-ww", "-z", "-Tutf8"]
    run = subprocess.run(command, input=text, capture_output=True, text=True, check=True)  # noqa: S603
    assert run.stderr == ""


def test_the_page_is_printed(capsys):
    assert main(["man"]) == 0
    assert capsys.readouterr().out.startswith(".TH ECSELM 1")
