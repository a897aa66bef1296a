"""The commands of the tutorial run in order, and print the text shown below them."""

import contextlib
import io
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from ecselm.cli import main
from tests.docs.test_pages import agrees

PAGE = Path(__file__).parents[2] / "docs" / "tutorial_command_line.md"
BLOCK = re.compile(r"```sh\n(?P<lines>.*?)```\n\n```text\n(?P<expected>.*?)```", re.DOTALL)


def printed(line):
    """Return the output of a shell line; ecselm commands run in this process."""
    command, _, file = line.partition(" > ") if line.endswith(".json") else (line, "", "")
    if not line.startswith("ecselm "):
        return subprocess.run(  # noqa: S602
            line, shell=True, check=True, capture_output=True, text=True
        ).stdout
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        main(shlex.split(command)[1:])
    if file:
        Path(file).write_text(output.getvalue())
        return ""
    return output.getvalue()


@pytest.mark.skipif(not PAGE.is_file(), reason="needs the documentation, beside the sources")
def test_commands_print_the_expected_text(monkeypatch, tmp_path):
    pytest.importorskip("onnxruntime")
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text()
    blocks = list(BLOCK.finditer(text))
    assert len(blocks) == text.count("```sh")
    for block in blocks:
        output = "".join(printed(line) for line in block["lines"].splitlines())
        assert agrees(output, block["expected"]), output
