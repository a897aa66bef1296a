"""The command line, model cards and report pages stay as they are, byte for byte.

Every scenario runs command lines on small tables, and all that comes of them must equal what
``transcripts/`` holds. Searches amplify the last bits of a product of matrices, and these depend
on the processor and on NumPy's and SciPy's BLAS. So bytes are compared on a machine like the one
in ``transcripts/machine.json``; on any other, words are, with every number masked, and one test
skips and says what differs. ``tests/golden/rewrite_transcripts.py`` writes them again.
"""

import json
import platform

import pytest

from tests.golden.rewrite_transcripts import MACHINE, STORED, files_of, stored_files
from tests.golden.scenarios import OF_ARGPARSE, SCENARIOS
from tests.golden.transcribe import fingerprint, masked

RECORDED = json.loads(MACHINE.read_text())
pytest.importorskip("onnx")
pytest.importorskip("pyarrow")


def differing():
    """Return what of this machine is not as it was where the transcripts were written."""
    here = fingerprint()
    return [f"{one}: {here[one]}, not {RECORDED.get(one)}" for one in here
            if here[one] != RECORDED.get(one)]  # fmt: skip


def first_difference(now, stored):
    """Return where two texts part, with some of what is around it."""
    pairs = enumerate(zip(now, stored, strict=False))
    at = next((i for i, (a, b) in pairs if a != b), min(len(now), len(stored)))
    line = stored.count("\n", 0, at) + 1
    around = slice(max(at - 150, 0), at + 150)
    return f"line {line}\n--- stored\n{stored[around]}\n--- now\n{now[around]}"


def test_machine_is_the_one_of_the_transcripts():
    if different := differing():
        pytest.skip(f"transcripts are compared without their numbers: {'; '.join(different)}")


@pytest.mark.parametrize("name", SCENARIOS)
def test_transcript_stays_as_it_is(name):
    other_python = RECORDED["python"] != ".".join(platform.python_version_tuple()[:2])
    if name in OF_ARGPARSE and other_python:
        pytest.skip(f"Python {RECORDED['python']} words help and usage in its own way")
    now, stored = files_of(name), stored_files(name)
    assert sorted(now) == sorted(stored)
    shown = masked if differing() else str
    for file in stored:
        a, b = shown(now[file]), shown(stored[file])
        if a != b:
            pytest.fail(f"{file} is another from {first_difference(a, b)}", pytrace=False)


def test_every_transcript_has_its_scenario():
    assert {path.stem for path in STORED.glob("*")} == {*SCENARIOS, MACHINE.stem}


def test_masks_leave_words_and_no_numbers():
    assert masked("a  1.50 (0.3-1e-05) b") == masked("a 12 (0.25-0.75) b")
    assert masked('"x": [0.0, 1.0]') == masked('"x": [0.5]')
    assert masked("taken for ill") != masked("taken for well")
