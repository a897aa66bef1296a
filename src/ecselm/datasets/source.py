"""Where the files of a data set lie, come from, and under what terms."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

VARIABLE = "ECSELM_DATA"


@dataclass(frozen=True, slots=True)
class Source:
    """A data set that is not part of the package."""

    folder: str  # in the folder of all data
    origin: str  # what it is and whom to credit
    address: str  # where to get it
    terms: str

    @property
    def sentence(self) -> str:
        """Origin and terms, for the record."""
        return f"{self.origin}, from {self.address}; terms: {self.terms}."


def data_root(folder: str | os.PathLike[str] | None) -> Path | None:
    """Return the folder of all data: the argument, or what the environment names, or None."""
    named = folder if folder is not None else os.environ.get(VARIABLE)
    if folder is None and named and not Path(named).is_dir():
        raise NotADirectoryError(f"{VARIABLE} must name a folder, got {named}")
    return Path(named) if named else None


def find_file(source: Source, file: str, folder: str | os.PathLike[str] | None = None) -> Path:
    """Return the path of a file of ``source``, or say how to get it.

    Examples
    --------
    >>> source = Source("toy", "A toy by nobody", "nowhere", "none")
    >>> find_file(source, "toy.csv", "no-such-folder")
    Traceback (most recent call last):
        ...
    FileNotFoundError: toy.csv is missing: it must lie in no-such-folder/toy. Get it from nowhere
    (A toy by nobody; terms: none)
    """
    root = data_root(folder)
    if root is None:
        place = (
            f"it must lie in the sub-folder {source.folder} of the folder that the argument "
            f"folder or the environment variable {VARIABLE} names, and neither is given"
        )
    else:
        path = root / source.folder / file
        if path.is_file():
            return path
        place = f"it must lie in {root / source.folder}"
    raise FileNotFoundError(
        f"{file} is missing: {place}. Get it from {source.address} ({source.origin}; "
        f"terms: {source.terms})"
    )
