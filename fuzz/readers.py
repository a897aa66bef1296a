"""One harness per reader: bytes in, and nothing but ValueError out.

A harness returns if the bytes were read and raises ValueError if they were refused in one
sentence. Everything else is a finding.
"""

from __future__ import annotations

import io
import json
import tempfile
from functools import cache
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np

import ecselm.elicitation.elicitor
import ecselm.paper.datasets.faces
import ecselm.paper.datasets.keel
import ecselm.saving
import ecselm.study
import ecselm.tables.read
from ecselm.costs.sentences import read_sentence, sentence_classes
from ecselm.estimators import ELMClassifier
from ecselm.estimators._checkpoint import Checkpoint
from ecselm.saving.archive import SCHEMA, packed, unpacked

CLASSES = ["ill", "well", "a>b", "3", "x->y"]
CORPUS = Path(__file__).parent / "corpus"
WHOLE = b"\0"  # first byte of inputs that are a file as it stands; others fill a sound archive


@cache
def _folder() -> Path:
    """Return a folder of this process, in memory where that is possible."""
    shared = Path("/dev/shm")  # noqa: S108  names in it are random
    made = tempfile.TemporaryDirectory(dir=shared if shared.is_dir() else None)
    _folder.kept = made  # type: ignore[attr-defined]  # removed with the process
    return Path(made.name)


def _file(data: bytes, name: str) -> Path:
    file = _folder() / name
    file.write_bytes(data)
    return file


def csv(data: bytes) -> None:
    ecselm.tables.read.read_table(_file(data, "a.csv"))


def arff(data: bytes) -> None:
    ecselm.tables.read.read_table(_file(data, "a.arff"))


def libsvm(data: bytes) -> None:
    ecselm.tables.read.read_table(_file(data, "a.libsvm"))


def keel(data: bytes) -> None:
    ecselm.paper.datasets.keel.parse_keel(data.decode("latin-1"), "a.dat")


def mat(data: bytes) -> None:
    ecselm.paper.datasets.faces.read_mat(_file(data, "a.mat"), "x")


def card(data: bytes) -> None:
    made = ecselm.study.Card.from_json(data.decode("utf-8", "replace"))
    made.to_json()  # what was read can be written


def answers(data: bytes) -> None:
    ecselm.elicitation.elicitor.read_json(_file(data, "a.json"))


def sentences(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    for read in (lambda: read_sentence(text, CLASSES), lambda: sentence_classes(text)):
        try:
            read()
        except ValueError:
            continue


def model(data: bytes) -> None:
    if not data.startswith(WHOLE):
        data = _filled(_without_schema(), SCHEMA, data, ZIP_DEFLATED)
    ecselm.saving.load_model(_file(data.removeprefix(WHOLE), "a.skops"))


def checkpoint(data: bytes) -> None:
    if not data.startswith(WHOLE):
        data = _stored_checkpoint(data)
    Checkpoint(_file(data.removeprefix(WHOLE), "a.npz"), {}, 0)


def _filled(archive: bytes, name: str, content: bytes, compression: int = ZIP_STORED) -> bytes:
    """Return an archive with one more entry: the others are packed once for all cases."""
    buffer = io.BytesIO(archive)
    with ZipFile(buffer, "a") as file:
        file.writestr(name, content, compression)
    return buffer.getvalue()


@cache
def _model_entries() -> dict[str, bytes]:
    return unpacked(_small_model())


@cache
def _without_schema() -> bytes:
    entries = _model_entries()
    return packed({name: entries[name] for name in entries if name != SCHEMA})


@cache
def _small_model() -> bytes:
    rows = np.arange(12.0).reshape(6, 2)
    fitted = ELMClassifier(3, random_state=0).fit(rows, [0, 1, 1, 0, 1, 0])
    file = _folder() / "seed.skops"
    ecselm.saving.save_model(fitted, file, card=json.dumps({"format": 1}))
    return file.read_bytes()


def _stored_checkpoint(header: bytes) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.frombuffer(header, np.uint8))
    return _filled(_without_header(), "header.npy", buffer.getvalue())


@cache
def _without_header() -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, fitness=np.zeros((2, 3)))
    return buffer.getvalue()


def made_seeds(name: str) -> list[bytes]:
    """Return seeds that are too large, or depend too much on the version, to be kept in files."""
    if name == "model":
        return [WHOLE + _small_model(), _model_entries()[SCHEMA]]
    if name == "checkpoint":
        header = json.dumps({"seed": "1", "identity": {}}).encode()
        file = _folder() / "seed.npz"
        file.unlink(missing_ok=True)
        written = Checkpoint(file, {}, 1)
        written.add(np.zeros(3))
        written.save()
        return [header, WHOLE + _stored_checkpoint(header), WHOLE + file.read_bytes()]
    return []


def kept_seeds(name: str) -> dict[str, bytes]:
    """Return the files of the corpus, by name."""
    return {file.name: file.read_bytes() for file in sorted((CORPUS / name).iterdir())}


READERS = {
    one.__name__: one
    for one in (answers, arff, card, checkpoint, csv, keel, libsvm, mat, model, sentences)
}
