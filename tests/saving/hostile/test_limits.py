"""Files that ask for much get a sentence, little memory, and nothing done for them."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.saving.hostile.files import corpus
from tests.saving.hostile.reader import START

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc and limits memory")
CORPUS = corpus()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    for name, (make, _) in CORPUS.items():
        (folder / name).write_bytes(make())
    return folder


def command(files, *options):
    paths = [str(files / name) for name in CORPUS]
    return [sys.executable, "-m", "tests.saving.hostile.reader", *options, *paths]


def run(arguments):
    read = subprocess.run(  # noqa: S603  our own interpreter
        arguments,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert read.returncode == 0, read.stderr[-2000:]
    return dict(zip(CORPUS, map(json.loads, read.stdout.splitlines()), strict=True))


def test_every_file_is_refused_within_its_memory_and_time(files):
    for name, found in run(command(files)).items():
        assert found["said"] is not None, name
        assert CORPUS[name][1] in found["said"], (name, found["said"])
        assert "\n" not in found["said"], name
        assert found["said"].isprintable(), name
        assert found["peak"] <= 20 * found["bytes"] + 200_000_000, (name, found)


def test_reading_starts_no_process_opens_no_socket_and_writes_nothing(files):
    for name, found in run(command(files, "--audit")).items():
        assert found["seen"] == [], name
    assert sorted(one.name for one in files.iterdir()) == sorted(CORPUS)


def test_the_audit_sees_what_is_forbidden(tmp_path):
    """A hook that saw nothing would prove nothing."""
    script = (
        "import os, socket, subprocess, sys\n"
        "from tests.saving.hostile import reader\n"
        "from pathlib import Path\n"
        "def read(path):\n"
        "    Path(path).write_text('x'); socket.socket(); subprocess.run(['true'])\n"
        "reader.READERS['.bad'] = read\n"
        f"reader.main([Path({str(tmp_path / 'a.bad')!r})], True)\n"
    )
    (tmp_path / "a.bad").write_text("")
    read = subprocess.run(  # noqa: S603  our own interpreter
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120
    )
    seen = " ".join(json.loads(read.stdout)["seen"])
    assert all(event in seen for event in ("open ", "socket.", "subprocess.Popen"))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_the_system_is_asked_for_no_process_socket_or_write(files, tmp_path):
    log = tmp_path / "calls"
    watched = "trace=%process,%network,openat,open,creat,unlink,unlinkat,rename,mkdir,access,stat"
    traced = ["strace", "-f", "-o", str(log), "-e", f"{watched},newfstatat,faccessat2"]
    run([*traced, *command(files, "--audit")])
    text = log.read_text(errors="replace")
    assert START in text
    calls = text.partition(START)[2].splitlines()[1:]
    assert len(calls) >= len(CORPUS)
    forbidden = re.compile(
        r" (execve|fork|vfork|socket|connect|bind|creat|unlink|unlinkat|rename|mkdir)\(|"
        r" clone3?\((?!.*CLONE_THREAD)|O_(WRONLY|RDWR|CREAT|TRUNC|APPEND)"
    )
    assert [line for line in calls if forbidden.search(line)] == []
