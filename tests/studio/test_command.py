"""The command: what it opens, and what it refuses."""

import argparse
import socket
import subprocess
import sys

import pytest

from ecselm.cli import studio
from ecselm.studio import Workspace, serve


def arguments(*given):
    parser = argparse.ArgumentParser()
    studio.add_parser(parser.add_subparsers(), "")
    return parser.parse_args(["studio", *map(str, given)])


@pytest.fixture
def served(monkeypatch):
    """Record what would be served instead of serving it."""
    calls = []

    def record(workspace, *, port, project, opened):
        calls.append((workspace, port, project))
        opened("http://127.0.0.1:1/?token=x")

    monkeypatch.setattr("ecselm.studio.serve", record)
    monkeypatch.setattr("webbrowser.open", calls.append)
    return calls


def test_projects_are_beside_the_table(served, tables, tmp_path, capsys):
    file = tmp_path / "a.csv"
    file.write_bytes(tables[2].read_bytes())
    studio.run(arguments(file))
    workspace, port, project = served[0]
    assert workspace.folder == tmp_path / "studio"
    assert port == 0
    assert project.file == str(file)
    assert served[1].startswith("http://127.0.0.1:")
    assert served[1] in capsys.readouterr().out
    studio.run(arguments(file, "--no-browser", "--port", 5))
    assert served[2][2] == project  # it is found again
    assert len(served) == 3


def test_without_a_table_the_list_is_opened(served, tmp_path):
    studio.run(arguments("--folder", tmp_path / "mine", "--no-browser"))
    assert served[0][0].folder == tmp_path / "mine"
    assert served[0][2] is None


def test_a_table_that_is_not_there_is_refused_before_a_folder_is_made(served, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.csv is not there"):
        studio.run(arguments(tmp_path / "none.csv"))
    assert list(tmp_path.iterdir()) == []
    assert served == []


def test_a_port_must_be_free(workspace):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ValueError, match=f"port must be a free one, got {port}"):
            serve(workspace, port=port)


@pytest.mark.parametrize("port", [-1, 65536])
def test_a_port_must_be_one(workspace, port):
    with pytest.raises(ValueError, match="port must be from 0 to 65535"):
        serve(workspace, port=port)


def test_a_folder_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="folder must be one that can be made"):
        Workspace(tmp_path / "file")


@pytest.mark.parametrize("missing", ["starlette", "uvicorn", "jinja2", "python_multipart"])
def test_a_missing_extra_is_named(missing):
    code = f"import sys; sys.modules[{missing!r}] = None; import ecselm.studio"
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.rstrip().endswith("pip install 'ecselm[studio]'")
