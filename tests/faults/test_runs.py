"""Runs of many jobs: full disks, killed parents, and two runs in one folder."""

import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ecselm.cli import main
from ecselm.paper.jobs import Journal, run_jobs
from tests.faults.conftest import check_after, check_sentence
from tests.faults.injector import OPERATIONS, contents, faults, leftovers
from tests.faults.jobs import Quick

FAULTS = [("open", "ENOSPC"), ("write", "ENOSPC"), ("fsync", "EIO"), ("replace", "EACCES")]
FAULTS += [("mkdir", "EROFS")]
COMMAND = ["reproduce", "table-11", "--quick", "--output", "run"]
PATIENCE = 5.0  # seconds in which workers of a killed process end
RUNNING = """
import sys, time
from pathlib import Path
from tests.faults.jobs import Sleeping
from ecselm.paper.jobs import Journal, run_jobs
folder = Path(sys.argv[1])
run_jobs([Sleeping(str(i), folder) for i in range(4)], Journal(folder / "run", {}), n_jobs=2)
"""
RACING = """
import sys, time
from pathlib import Path
from tests.faults.jobs import Sleeping
from ecselm.paper.jobs import Journal, run_jobs
folder = Path(sys.argv[1])
while not (folder / "go").exists():
    time.sleep(0.001)
try:
    run_jobs([Sleeping("one", folder, seconds=3.0)], Journal(folder / "run", {}))
except RuntimeError as error:
    print(error)
else:
    print("done")
"""


def awaited(condition, seconds):
    """Return whether a condition comes true in time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def is_running(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"  # it has ended, and waits for whoever asks for its exit code


def started(code, *arguments):
    return subprocess.Popen(  # noqa: S603  our own code
        [sys.executable, "-c", code, *map(str, arguments)], stdout=subprocess.PIPE, text=True
    )


@pytest.mark.skipif(sys.platform != "linux", reason="reads the states of processes in /proc")
def test_workers_end_with_a_killed_parent(tmp_path):
    parent = started(RUNNING, tmp_path)
    assert awaited(lambda: len(list(tmp_path.glob("worker-*"))) == 2, 120)
    workers = [int(one.name.partition("-")[2]) for one in tmp_path.glob("worker-*")]
    children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split()
    everyone = {*workers, *map(int, children)}
    parent.send_signal(signal.SIGKILL)
    parent.communicate()
    assert awaited(lambda: not any(map(is_running, everyone)), PATIENCE)
    with Journal(tmp_path / "run", {}).lock():  # which is free again
        pass


def test_of_many_runs_at_once_in_one_folder_one_works(tmp_path):
    running = [started(RACING, tmp_path) for _ in range(4)]
    time.sleep(0.5)
    (tmp_path / "go").touch()
    said = sorted(one.communicate(timeout=300)[0] for one in running)
    assert said[0] == "done\n"
    assert all("must be used by one run at a time" in one for one in said[1:])
    assert len(list(tmp_path.glob("worker-*"))) == 1


@pytest.mark.parametrize(("operation", "error"), FAULTS)
def test_a_journal_on_a_failing_disk_goes_on(tmp_path, operation, error):
    jobs = [Quick(str(i)) for i in range(3)]
    for fault in faults(tmp_path, operation, error):
        shutil.rmtree(tmp_path / "run", ignore_errors=True)
        journal, before = Journal(tmp_path / "run", {"seed": 0}), {}
        message = ""
        try:
            with fault:
                run_jobs(jobs, journal)
        except ValueError as failed:
            message = str(failed)
        if message:
            assert fault.fired
            assert message.startswith("output must be a f"), (fault, message)
            assert str(tmp_path / "run") in message
        check_after(tmp_path, before, fault)
        n_kept = len(journal.results())
        assert set(run_jobs(jobs, journal)) == {"0", "1", "2"}
        assert n_kept <= len(journal.results()) == 3
        assert not leftovers(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("operation", "error"), [(one, error) for one, named in OPERATIONS.items() for error in named]
)
def test_every_fault_of_a_reproduction(tmp_path, monkeypatch, capsys, operation, error):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ECSELM_DATA", raising=False)
    every = operation != "memory"
    for fault in faults(tmp_path, operation, error, every=every):
        before = contents(tmp_path)
        with fault:
            code = main(COMMAND)
        complaints = capsys.readouterr().err
        check_after(tmp_path, before, fault)
        if code:
            assert code == 2, complaints
            check_sentence(complaints, fault, mixed=True)  # with a bar
    assert code == 0  # the last run, after all that failed before


def test_a_reproduction_on_a_full_disk_names_folder_and_reason(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    assert main(["reproduce", "table-11", "--quick", "--output", "file/run"]) == 2
    complaints = capsys.readouterr().err
    assert complaints == (
        "ecselm: --output must be a file that can be written to, got 'file/run': Not a directory\n"
    )
