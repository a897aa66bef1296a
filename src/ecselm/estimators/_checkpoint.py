"""A fit on disk: what its steps have computed so far, and which fit it is.

A search is deterministic in its random stream and the fitness it takes. So a checkpoint
holds no state of an optimiser but the fitness of every generation: the search is begun
again with the same fitness, and stands where it stood, bit for bit. Of the steps before and
after the search it holds arrays of numbers. Nothing in the file is ever executed.
"""

from __future__ import annotations

import io
import json
import os
import time
import warnings
import zipfile
import zlib
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from ecselm._files import FileWriteError, check_array, parsed_size, read_whole, write_whole
from ecselm._json import parsed_json
from ecselm._typing import AnyArray, FloatArray

FORMAT = 2  # of the file
MAIN = "fitness"  # generations of the main search
SHARE = 0.05  # of the time may be spent on writing
GENERATIONS = 1_000_000  # of a file; each takes some memory however few its candidates
ENTRIES = 10_000  # arrays of a file
HEADER_MEMORY = 50_000_000  # bytes; a header has a hash for each of some thirty names
DAMAGES = (  # what reading a file of any content may raise; zipfile has RuntimeErrors, too
    *(OSError, EOFError, ValueError, TypeError, LookupError, AttributeError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error, MemoryError),
)


class Checkpoint:
    """The file of one fit: the fitness of generations, and what other steps have computed.

    Parameters
    ----------
    path : str or path
    identity : dict of str to str
        What the fit depends on, by name, as hashes: a file of another one is refused with
        the names of what differs, and never overwritten.
    seed : int
        Where the random stream came from, if the user has set none.
    """

    def __init__(self, path: str | os.PathLike[str], identity: dict[str, str], seed: int) -> None:
        self.path = Path(path)
        self._identity, self._seed = identity, seed
        self._searches: dict[str, list[FloatArray]] = {MAIN: []}
        self._steps: dict[str, dict[str, AnyArray]] = {}
        if self.path.exists():
            self._read()
        self._written, self._took = -np.inf, 0.0
        self._changed = self._warned = False
        try:
            self._write()  # a path that cannot be written to is refused before any work
        except FileWriteError as error:
            raise ValueError(
                f"checkpoint must be a path that can be written to, got {str(self.path)!r}: "
                f"{error.reason}"
            ) from error

    @property
    def fitness(self) -> list[FloatArray]:
        """Return the fitness of every generation of the main search so far."""
        return self.generations(MAIN)

    def generations(self, search: str) -> list[FloatArray]:
        """Return the fitness of every generation of a search so far."""
        return list(self._searches.get(search, ()))

    def add(self, fitness: FloatArray, search: str = "fitness") -> None:
        """Add a generation, and save unless that would take too much of the time."""
        known = self._searches.setdefault(search, [])
        known.append(np.array(fitness, dtype=np.float64))
        self._save_if_due()

    def step(self, name: str) -> dict[str, AnyArray] | None:
        """Return the arrays of a step by name, None if it is not recorded."""
        return self._steps.get(name)

    def put(self, name: str, arrays: dict[str, AnyArray]) -> None:
        """Record the arrays of a step, in the place of earlier ones; they must not change."""
        self._steps[name] = dict(arrays)
        self._save_if_due()

    def _save_if_due(self) -> None:
        self._changed = True
        if time.monotonic() - self._written >= self._took / SHARE:
            self.save()

    def save(self) -> None:
        """Replace the file as a whole, or warn and keep the last one: the fit goes on."""
        if not self._changed:
            return
        try:
            self._write()
        except FileWriteError as error:
            # A disk that is full now may not be at the next step: it is tried again.
            self._written = time.monotonic()
            if not self._warned:
                self._warned = True
                warnings.warn(
                    f"checkpoint must be a path that can be written to, got {str(self.path)!r}: "
                    f"{error.reason}; the fit goes on, and the last complete file is kept",
                    RuntimeWarning,
                    stacklevel=2,
                )

    def _write(self) -> None:
        start = time.monotonic()
        header = {"format": FORMAT, "seed": str(self._seed), "identity": self._identity}
        arrays: dict[str, AnyArray] = {
            "header": np.frombuffer(json.dumps(header).encode(), np.uint8)
        }
        for search, generations in self._searches.items():
            arrays[search] = np.stack(generations) if generations else np.empty((0, 0))
        for name, step in self._steps.items():
            arrays |= {f"{name}/{part}": values for part, values in step.items()}
        content = io.BytesIO()
        np.savez(content, **arrays)  # type: ignore[arg-type]
        write_whole(self.path, content.getvalue())
        self._changed = False
        self._written = time.monotonic()
        self._took = self._written - start

    def _read(self) -> None:
        header, arrays = _contents(self.path)
        if header.get("format") != FORMAT:
            raise ValueError(
                f"checkpoint must be of format {FORMAT}, got {str(self.path)!r} of format "
                f"{str(header.get('format', 1))[:20]}; delete it or name another file"
            )
        theirs, ours = header["identity"], self._identity
        different = sorted(name for name in {*theirs, *ours} if theirs.get(name) != ours.get(name))
        if different:
            raise ValueError(
                f"checkpoint must belong to this search, got {str(self.path)!r} of one with "
                f"another {', '.join(different)}; delete it or name another file"
            )
        for name, values in arrays.items():
            if "/" in name:
                step, part = name.split("/", 1)
                self._steps.setdefault(step, {})[part] = values
            else:
                self._searches[name] = list(values)


def stored_seed(path: str | os.PathLike[str] | None) -> int | None:
    """Return the seed of the search in the file, None if there is none."""
    if path is None or not Path(path).exists():
        return None
    return int(_contents(Path(path))[0]["seed"])


def _contents(path: Path) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Return the header, and the other arrays by name."""
    try:
        arrays = _arrays(read_whole(path))
        header = parsed_json(arrays.pop("header").tobytes())
        if MAIN not in arrays:
            raise ValueError(f"it has no {MAIN}")
        for name, values in arrays.items():
            numeric = values.dtype.kind in "biuf"
            if "/" not in name and (
                values.dtype != np.float64 or values.ndim != 2 or len(values) > GENERATIONS
            ):
                raise ValueError(
                    f"fitness must be numbers of at most {GENERATIONS} generations, "
                    f"got shape {values.shape} of {values.dtype}"
                )
            if not numeric:
                raise ValueError(f"{name[:50]} must be numbers, got {values.dtype}")
        int(header["seed"]), dict(header["identity"])
    except DAMAGES as error:
        reason = " ".join(str(error).split())[:200]
        raise ValueError(
            f"checkpoint must be a file that a search has written, got {str(path)!r}, which is "
            f"not one or is damaged{reason and ': '}{reason}"
        ) from error
    return header, arrays


def _arrays(content: bytes) -> dict[str, AnyArray]:
    """Return the arrays of a checkpoint, whose memory is bounded by its size.

    ``np.load`` would also unpack compressed arrays, a thousand times the size of the file.
    """
    arrays: dict[str, AnyArray] = {}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        infos = archive.infolist()
        for info in infos:
            if info.compress_type != zipfile.ZIP_STORED:
                raise ValueError(f"{info.filename[:50]} must not be compressed")
        # Entries may name the same bytes more than once.
        if len(infos) > ENTRIES or sum(info.file_size for info in infos) > len(content):
            raise ValueError(
                f"it must have at most {ENTRIES} arrays in {len(content)} bytes, got {len(infos)}"
            )
        for info in sorted(infos, key=lambda info: info.filename != "header.npy"):
            name = info.filename.removesuffix(".npy")
            stored = archive.read(info)
            check_array(stored, name[:50])
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
