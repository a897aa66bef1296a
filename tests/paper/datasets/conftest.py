"""Tiny files in the forms of the real ones."""

import gzip
import zipfile

import numpy as np
import pytest


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of data that nothing but the test fills, and that the environment names."""
    monkeypatch.setenv("ECSELM_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture
def write(folder):
    """Write text, packed by gzip if the name says so, into a sub-folder."""

    def put(sub, file, text):
        path = folder / sub / file
        path.parent.mkdir(exist_ok=True)
        data = text if isinstance(text, bytes) else text.encode()
        path.write_bytes(gzip.compress(data) if file.endswith(".gz") else data)
        return path

    return put


@pytest.fixture
def write_zip(folder):
    """Write a zip of text files into a sub-folder."""

    def put(sub, file, members):
        path = folder / sub / file
        path.parent.mkdir(exist_ok=True)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in members.items():
                archive.writestr(name, text)
        return path

    return put


@pytest.fixture
def write_npz(folder):
    """Write arrays into a sub-folder."""

    def put(sub, file, **arrays):
        path = folder / sub / file
        path.parent.mkdir(exist_ok=True)
        np.savez_compressed(path, **arrays)
        return path

    return put


def truncate(path, share=0.6):
    """Cut the end of a file off."""
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])


def view_two(rng, d=4, n=40):
    """Return arrays with the sizes of view 2 and few pictures."""
    return {
        "X": rng.standard_normal((n, d)).astype(np.float16),
        "eigenvalues": np.linspace(2, 1, d),
        "pairs": rng.integers(0, n, (6000, 2), dtype=np.int16),
        "same": np.tile(np.repeat(np.array([1, 0], dtype=np.int8), 300), 10),
        "fold": np.repeat(np.arange(10, dtype=np.int8), 600),
    }
