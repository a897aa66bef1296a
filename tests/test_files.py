"""Whole files, locks, and processes that end with their parent."""

import errno
import os
import pickle
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ecselm._files import (
    PART,
    STALE_AFTER,
    FileWriteError,
    InUseError,
    append_whole,
    locked,
    make_folder,
    replacing,
    temporary,
    write_whole,
)
from tests.faults.injector import OPERATIONS, Injector, contents, faults

WRITING = [
    (operation, error)
    for operation in ("open", "write", "fsync", "replace")
    for error in OPERATIONS[operation]
]
KILLED = """
import signal, sys, time
from pathlib import Path
from ecselm._files import replacing
with replacing(Path(sys.argv[1])) as part:
    part.write_bytes(b"half")
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
    print("writing", flush=True)
    time.sleep(600)
"""
LOCKING = """
import sys, time
from pathlib import Path
from ecselm._files import InUseError, locked
folder = Path(sys.argv[1])
while not (folder / "go").exists():
    time.sleep(0.001)
try:
    with locked(folder / "lock", "in use"):
        print("won", flush=True)
        sys.stdin.read()  # until the test has heard of all
except InUseError:
    print("refused", flush=True)
"""


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "old.txt"
    path.write_bytes(b"old")
    return path


def started(code, *arguments, **options):
    return subprocess.Popen(  # noqa: S603  our own code
        [sys.executable, "-c", code, *map(str, arguments)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options,
    )  # fmt: skip


def attempt(write, fault):
    """Return the message of a failed write, None where it succeeded."""
    try:
        with fault:
            write()
    except FileWriteError as error:
        return str(error)
    return None


def refusal(path, error):
    reason = os.strerror(getattr(errno, error))
    return f"--output must be a file that can be written to, got {str(path)!r}: {reason}"


@pytest.mark.parametrize("lasting", [False, True])
@pytest.mark.parametrize(("operation", "error"), WRITING)
def test_a_failing_step_leaves_the_old_file(old, operation, error, lasting):
    lasting &= error != "EINTR"
    seen = set()
    for fault in faults(old.parent, operation, error, lasting=lasting):
        old.write_bytes(b"old")
        message = attempt(lambda: write_whole(old, b"new" * 10_000, name="--output"), fault)
        # What is done for power failures only may fail, and interrupted writes are repeated.
        left = b"new" * 10_000 if message is None else b"old"
        assert contents(old.parent) == {"old.txt": left}, fault
        seen.add(message)
    refused = set() if (operation, error) == ("write", "EINTR") else {refusal(old, error)}
    assert seen == {None, *refused}


@pytest.mark.parametrize(("operation", "error"), [one for one in WRITING if one[0] != "replace"])
def test_a_failing_step_appends_nothing(old, operation, error):
    seen = set()
    for fault in faults(old.parent, operation, error):
        old.write_bytes(b"old\n")
        message = attempt(lambda: append_whole(old, b"line\n", name="--output"), fault)
        left = b"old\nline\n" if message is None else b"old\n"
        assert contents(old.parent) == {"old.txt": left}, fault
        seen.add(message)
    assert seen == {None, refusal(old, error)}


def test_memory_that_is_used_up_leaves_the_old_file(old):
    with pytest.raises(MemoryError), Injector(old.parent, "write", 1, "MemoryError"):
        write_whole(old, b"new")
    assert contents(old.parent) == {"old.txt": b"old"}


def test_a_closed_pipe_is_no_fault_of_the_file(old):
    with pytest.raises(BrokenPipeError), replacing(old):
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")
    assert contents(old.parent) == {"old.txt": b"old"}


def test_permissions_of_the_old_file_stay(old):
    old.chmod(0o600)
    write_whole(old, b"new")
    assert old.stat().st_mode & 0o777 == 0o600


def test_names_of_the_greatest_length_can_be_written(tmp_path):
    for name in ("n" * 255, "ü" * 127):
        write_whole(tmp_path / name, b"new")
    assert len(contents(tmp_path)) == 2


def test_errors_reach_another_process_whole():
    error = FileWriteError(Path("a.txt"), "No space left on device", "output")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert again.path == error.path


def test_a_folder_that_cannot_be_made_is_named(old):
    with pytest.raises(FileWriteError, match=r"^--output must .*old.txt/new': Not a directory"):
        make_folder(old / "new", name="--output")


def test_what_a_killed_process_left_is_removed_by_the_next_write(old):
    process = started(KILLED, old)
    assert process.stdout.readline() == "writing\n"
    write_whole(old.parent / "other.txt", b"new")
    assert sum(bool(PART.fullmatch(name)) for name in contents(old.parent)) == 1  # it is in use
    process.kill()
    process.communicate()
    write_whole(old.parent / "other.txt", b"new")
    assert contents(old.parent) == {"old.txt": b"old", "other.txt": b"new"}


def test_other_files_with_similar_names_stay(old):
    kept = [".old.txt.part", f".old.txt.{'0' * 32}.part", f"old.ecselm-{'0' * 32}.part"]
    for name in kept:
        (old.parent / name).touch()
    (old.parent / f".folder.ecselm-{'0' * 32}.part").mkdir()
    write_whole(old, b"new")
    assert set(kept) < set(contents(old.parent))
    assert (old.parent / f".folder.ecselm-{'0' * 32}.part").is_dir()


def test_without_locks_age_tells_what_is_stale(old, monkeypatch):
    monkeypatch.setattr("ecselm._files.fcntl", None)
    fresh, stale = (old.with_name(f".old.txt.ecselm-{i:032x}.part") for i in range(2))
    for part, age in ((fresh, STALE_AFTER - 60), (stale, STALE_AFTER + 60)):
        part.touch()
        os.utime(part, (time.time() - age,) * 2)
    write_whole(old, b"new")
    assert fresh.exists()
    assert not stale.exists()


def test_a_temporary_file_ends_with_its_block(tmp_path):
    with temporary(tmp_path / "upload") as part:
        part.write_bytes(b"some")
        assert part.parent == tmp_path
    assert not list(tmp_path.iterdir())


def test_a_lock_is_held_once_and_leaves_no_file(tmp_path):
    place = tmp_path / "lock"
    sentence = rf"^folder in use \(process {os.getpid()}\)$"
    with locked(place, "folder in use"), pytest.raises(InUseError, match=sentence):
        locked(place, "folder in use").__enter__()
    assert not place.exists()
    with locked(place, "folder in use"):
        pass


def test_a_lock_of_a_killed_process_is_taken_over(tmp_path):
    (tmp_path / "go").touch()
    process = started(LOCKING, tmp_path)
    assert process.stdout.readline() == "won\n"
    process.kill()
    process.communicate()
    assert (tmp_path / "lock").exists()
    with locked(tmp_path / "lock", "in use"):
        pass


def test_of_many_processes_at_once_one_gets_the_lock(tmp_path):
    running = [started(LOCKING, tmp_path) for _ in range(8)]
    (tmp_path / "go").touch()
    heard = [one.stdout.readline() for one in running]
    for one in running:
        one.communicate(timeout=60)
    assert sorted(heard) == ["refused\n"] * 7 + ["won\n"]


def test_threads_take_turns_however_often_the_file_is_removed(tmp_path):
    # Who opens the file just before its holder removes it must not believe to hold the lock.
    holders, most = [0], [0]

    def hold(_):
        try:
            with locked(tmp_path / "lock", "in use"):
                holders[0] += 1
                most[0] = max(most[0], holders[0])
                time.sleep(0)
                holders[0] -= 1
        except InUseError:
            return 0
        return 1

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(hold, range(2000))) > 0
    assert most == [1]


def test_a_lock_on_a_full_disk_is_named(tmp_path):
    with Injector(tmp_path, "open", 1, "ENOSPC"), pytest.raises(FileWriteError, match="No space"):
        locked(tmp_path / "lock", "in use", name="--output").__enter__()


def test_interrupted_writers_leave_nothing(old):
    process = started(KILLED, old)
    assert process.stdout.readline() == "writing\n"
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert contents(old.parent) == {"old.txt": b"old"}
