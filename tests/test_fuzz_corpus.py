"""The kept corpus of the fuzzers: every file is read, or refused in one sentence."""

import subprocess
import sys

import pytest
from fuzz.readers import CORPUS, READERS, kept_seeds, made_seeds

KEPT = [(name, file) for name in READERS for file in kept_seeds(name)]


def outcome(name, data):
    """Return the sentence that refuses the data, None if they were read."""
    try:
        READERS[name](data)
    except ValueError as error:
        return str(error)
    return None


def test_every_reader_has_a_corpus():
    assert {folder.name for folder in CORPUS.iterdir()} == set(READERS)
    assert all(kept_seeds(name) for name in READERS)


@pytest.mark.parametrize(("name", "file"), KEPT, ids=[f"{name}-{file}" for name, file in KEPT])
def test_kept_files_are_read_or_refused_in_a_sentence(name, file):
    said = outcome(name, kept_seeds(name)[file])
    assert said is None or (said.strip() and len(said) < 5000)


@pytest.mark.parametrize("name", ["checkpoint", "model"])
def test_sound_seeds_are_read(name):
    """Fuzzing that began with refused files would not reach what reads them."""
    assert None in [outcome(name, data) for data in made_seeds(name)]


@pytest.mark.parametrize("name", ["arff", "csv", "keel", "libsvm", "mat"])
def test_sound_files_are_among_the_kept(name):
    assert None in [outcome(name, data) for data in kept_seeds(name).values()]


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory as on Linux")
def test_the_own_loop_runs(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "fuzz", "sentences", "--own", "--cases", "50"],
        cwd=CORPUS.parents[1],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "sentences: 50 cases in" in done.stdout
