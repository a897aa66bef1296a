"""A search on disk: its fitness so far, and which search it is.

A search is deterministic in its random stream and the fitness it takes. So a checkpoint
holds no state of an optimiser but the fitness of every generation: the search is begun
again with the same fitness, and stands where it stood, bit for bit. Nothing in the file is ever
executed.
"""

from __future__ import annotations

import io
import json
import os
import time
import zipfile
import zlib
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import joblib
import numpy as np

from ecselm._files import check_array, parsed_size, read_whole
from ecselm._typing import AnyArray, FloatArray

SHARE = 0.05  # of the time may be spent on writing
GENERATIONS = 1_000_000  # of a file; each takes some memory however few its candidates
HEADER_MEMORY = 50_000_000  # bytes; a header has a hash for each of some thirty names
DAMAGES = (  # what reading a file of any content may raise; zipfile has RuntimeErrors, too
    *(OSError, EOFError, ValueError, TypeError, LookupError, AttributeError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error, MemoryError),
)


class Checkpoint:
    """The file of one search.

    Parameters
    ----------
    path : str or path
    identity : dict of str to str
        What the search depends on, by name, as hashes: a file of another search is
        refused with the names of what differs, and never overwritten.
    seed : int
        Where the random stream came from, if the user has set none.
    """

    def __init__(self, path: str | os.PathLike[str], identity: dict[str, str], seed: int) -> None:
        self.path = Path(path)
        self._identity, self._seed = identity, seed
        self._fitness: list[FloatArray] = self._read() if self.path.exists() else []
        self._written, self._took = -np.inf, 0.0
        try:
            self.save()  # a path that cannot be written to is refused before any work
        except OSError as error:
            raise ValueError(
                f"checkpoint must be a path that can be written to, got {str(self.path)!r}: "
                f"{error.strerror}"
            ) from error

    @property
    def fitness(self) -> list[FloatArray]:
        """Return the fitness of every generation so far."""
        return list(self._fitness)

    def add(self, fitness: FloatArray) -> None:
        """Add a generation, and save unless that would take too much of the time."""
        self._fitness.append(np.array(fitness, dtype=np.float64))
        if time.monotonic() - self._written >= self._took / SHARE:
            self.save()

    def save(self) -> None:
        """Replace the file as a whole: there is always a complete one."""
        start = time.monotonic()
        header = json.dumps({"seed": str(self._seed), "identity": self._identity})
        fitness = np.stack(self._fitness) if self._fitness else np.empty((0, 0))
        file = NamedTemporaryFile(  # noqa: SIM115  closed before it is renamed
            dir=self.path.parent, prefix=f".{self.path.name}.", delete=False
        )
        try:
            with file:
                np.savez(file, header=np.frombuffer(header.encode(), np.uint8), fitness=fitness)
                file.flush()
                os.fsync(file.fileno())
            Path(file.name).replace(self.path)  # closed, or Windows would refuse
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise
        self._written = time.monotonic()
        self._took = self._written - start

    def _read(self) -> list[FloatArray]:
        header, fitness = _contents(self.path)
        theirs, ours = header["identity"], self._identity
        different = sorted(name for name in {*theirs, *ours} if theirs.get(name) != ours.get(name))
        if different:
            raise ValueError(
                f"checkpoint must belong to this search, got {str(self.path)!r} of one with "
                f"another {', '.join(different)}; delete it or name another file"
            )
        return list(fitness)


def stored_seed(path: str | os.PathLike[str] | None) -> int | None:
    """Return the seed of the search in the file, None if there is none."""
    if path is None or not Path(path).exists():
        return None
    return int(_contents(Path(path))[0]["seed"])


def _contents(path: Path) -> tuple[dict[str, Any], FloatArray]:
    try:
        arrays = _arrays(read_whole(path))
        header = json.loads(arrays["header"].tobytes().decode())
        fitness = arrays["fitness"]
        if fitness.dtype != np.float64 or fitness.ndim != 2 or len(fitness) > GENERATIONS:
            raise ValueError(
                f"fitness must be numbers of at most {GENERATIONS} generations, "
                f"got shape {fitness.shape} of {fitness.dtype}"
            )
        int(header["seed"]), dict(header["identity"])
    except DAMAGES as error:
        reason = " ".join(str(error).split())[:200]
        raise ValueError(
            f"checkpoint must be a file that a search has written, got {str(path)!r}, which is "
            f"not one or is damaged{reason and ': '}{reason}"
        ) from error
    return header, fitness


def _arrays(content: bytes) -> dict[str, AnyArray]:
    """Return the arrays of a checkpoint, whose memory is bounded by its size.

    ``np.load`` would also unpack compressed arrays, a thousand times the size of the file.
    """
    arrays: dict[str, AnyArray] = {}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        infos = {info.filename: info for info in archive.infolist()}
        for name in ("header", "fitness"):
            info = infos[f"{name}.npy"]
            if info.compress_type != zipfile.ZIP_STORED:
                raise ValueError(f"{name} must not be compressed")
            if info.file_size > len(content):
                raise ValueError(f"{name} must have at most {len(content)} bytes")
            stored = archive.read(info)
            check_array(stored, name)
            if name == "header" and (needed := parsed_size(stored)) > HEADER_MEMORY:
                raise ValueError(f"header must take at most {HEADER_MEMORY} bytes, got {needed}")
            arrays[name] = np.load(io.BytesIO(stored), allow_pickle=False)
    return arrays


def identity_of(values: dict[str, Any]) -> dict[str, str]:
    """Return a hash of every value, by name; functions count by their name.

    What cannot be pickled, such as a lambda, counts by the name of it or of its type, and
    an estimator that holds one by the rest of its parameters, too.
    """
    return {name: _hash(value) for name, value in values.items()}


def _hash(value: Any) -> str:
    try:
        return str(joblib.hash(value))
    except Exception:
        name = getattr(value, "__qualname__", type(value).__qualname__)
        inside = value.get_params() if hasattr(value, "get_params") else {}
        return str(joblib.hash((name, identity_of(inside))))
