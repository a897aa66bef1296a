"""Commands on a failing disk: one sentence, whole files, and the next attempt succeeds."""

import io
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ecselm.cli import main
from tests.faults.conftest import SMALL, check_after, check_sentence
from tests.faults.injector import OPERATIONS, Injector, contents, faults, file_size_limit

pytestmark = pytest.mark.filterwarnings("default:checkpoint must be:RuntimeWarning")
FIT = ["fit", "known.csv", "--target", "state", *SMALL, "--report", "report.html"]
COMMANDS = {
    "fit": [*FIT, "--model", "logistic", "-o", "fitted.skops"],
    "fit --checkpoint": [*FIT, "-o", "fitted.skops", "--checkpoint", "search.npz"],
    "report": ["report", "model.skops", "-o", "report.html", "--sheet", "sheet.md"],
    "predict": ["predict", "model.skops", "new.csv", "-o", "out.csv", "--explain", "why.csv"],
    "predict --stream": [
        "predict", "model.skops", "new.csv", "-o", "out.csv", "--stream", "--block-rows", "7",
    ],
    "evaluate": ["evaluate", "model.skops", "new.csv"],
    "export": ["export", "model.skops", "graph.onnx"],
    "ask": ["ask", "model.skops", "--by", "Ann"],
}  # fmt: skip
SLOW = ("evaluate", "fit --checkpoint")  # whose every fault is for make test-slow
WRITING = [name for name in COMMANDS if name not in SLOW]
FAST = [("open", "ENOSPC"), ("write", "ENOSPC"), ("fsync", "EIO"), ("replace", "EACCES")]
EVERY = [
    (operation, error, lasting)
    for operation, errors in OPERATIONS.items()
    for error in errors
    for lasting in (False, True)
    if not (lasting and error == "EINTR")
]


@pytest.fixture
def folder(made, tmp_path, monkeypatch):
    """Return a folder with tables and a model, which is the current one."""
    shutil.copytree(made, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def run(command, monkeypatch, capsys):
    """Return exit code and complaints of a command; questions are answered by the first choice."""
    monkeypatch.setattr("sys.stdin", io.StringIO("1\n1\n"))
    code = main(command)
    return code, capsys.readouterr().err


def prove(name, operation, error, folder, monkeypatch, capsys, *, every, lasting=False):
    """Run a command with each fault in turn; return how many there were.

    Nothing is put back between two faults: the last run, in which nothing fails, shows that the
    command works after all the others.
    """
    n_failed, asked = 0, (folder / "model.skops").read_bytes()
    for fault in faults(folder, operation, error, lasting=lasting, every=every):
        if name == "ask":  # as before the dialogue: an answered model asks no more
            (folder / "model.answers.json").unlink(missing_ok=True)
            (folder / "model.skops").write_bytes(asked)
        before = contents(folder)
        with fault:
            code, complaints = run(COMMANDS[name], monkeypatch, capsys)
        check_after(folder, before, fault)
        if code:
            assert code == 2, (fault, complaints)
            assert fault.fired, complaints
            check_sentence(complaints, fault, mixed=name == "ask")
            n_failed += 1
    assert code == 0
    return n_failed


@pytest.mark.parametrize(("operation", "error"), FAST)
@pytest.mark.parametrize("name", WRITING)
def test_failing_disks_leave_whole_files(name, operation, error, folder, monkeypatch, capsys):
    assert prove(name, operation, error, folder, monkeypatch, capsys, every=False)


@pytest.mark.parametrize("name", WRITING)
def test_a_disk_that_stays_full(name, folder, monkeypatch, capsys):
    for fault in faults(folder, "write", "ENOSPC", lasting=True, every=False):
        before = contents(folder)
        with fault:
            code, complaints = run(COMMANDS[name], monkeypatch, capsys)
        check_after(folder, before, fault)
        if not fault.fired:
            assert code == 0
            return
        assert code == 2
        assert "No space left on device" in complaints
        check_sentence(complaints, fault, mixed=name == "ask")


def test_a_full_disk_during_the_search_keeps_the_model(folder, monkeypatch, capsys):
    command = COMMANDS["fit --checkpoint"]
    assert run(command, monkeypatch, capsys)[0] == 0
    before = contents(folder)
    real = Injector.is_inside

    def is_checkpoint(self, file):
        return real(self, file) and "search.npz" in str(file)

    monkeypatch.setattr(Injector, "is_inside", is_checkpoint)
    with Injector(folder, "replace", 2, "ENOSPC", lasting=True) as fault:
        (folder / "search.npz").unlink()
        code, complaints = run(command, monkeypatch, capsys)
    assert fault.fired
    check_after(folder, {**before, "search.npz": b""}, fault)
    assert code == 0, complaints
    assert "No space left on device" in complaints
    assert "search.npz" in complaints


@pytest.mark.parametrize("name", WRITING)
def test_memory_that_is_used_up(name, folder, monkeypatch, capsys):
    for n in (1, 10, 100):
        before = contents(folder)
        with Injector(folder, "memory", n, "MemoryError") as fault:
            code, complaints = run(COMMANDS[name], monkeypatch, capsys)
        check_after(folder, before, fault)
        if code:
            check_sentence(complaints, fault, mixed=name == "ask")


@pytest.mark.slow
@pytest.mark.parametrize(("operation", "error", "lasting"), EVERY)
@pytest.mark.parametrize("name", COMMANDS)
def test_every_fault(name, operation, error, lasting, folder, monkeypatch, capsys):
    every = operation != "memory"  # of which there are thousands
    prove(name, operation, error, folder, monkeypatch, capsys, every=every, lasting=lasting)


@pytest.mark.parametrize(
    ("command", "option", "file"),
    [
        (COMMANDS["fit"], "--output", "fitted.skops"),
        (COMMANDS["report"], "--output", "report.html"),
        (COMMANDS["predict"], "--output", "out.csv"),
        (COMMANDS["export"], "ONNX", "graph.onnx"),
        (COMMANDS["ask"], "--answers", "model.answers.json"),
        (["predict", "model.skops", "new.csv", "-o", "out.parquet"], "--output", "out.parquet"),
    ],
)
def test_option_file_and_reason_are_named(command, option, file, folder, monkeypatch, capsys):
    # The limit of the system also stops what is not written by Python.
    with file_size_limit(100):
        code, complaints = run(command, monkeypatch, capsys)
    assert code == 2
    assert complaints.splitlines()[-1] == (
        f"ecselm: {option} must be a file that can be written to, got '{file}': File too large"
    )
    assert not (folder / file).exists()
    assert run(command, monkeypatch, capsys)[0] == 0
    assert (folder / file).exists()


def test_output_that_is_full_is_named(folder):
    command = [sys.executable, "-m", "ecselm", "evaluate", "model.skops", "new.csv"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(  # noqa: S603  our own command
            command, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert "No space left on device" in done.stderr
    assert len(done.stderr.splitlines()) == 1
