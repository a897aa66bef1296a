"""Files that verbs write: refused before any work if they cannot be written."""

from __future__ import annotations

import os
from pathlib import Path

from ecselm.study import Card


def check_writable(path: Path, option: str) -> Path:
    """Return the path of a file to be written, or say what is wrong with it.

    Parameters
    ----------
    path : path
    option : str
        What the command line calls it.
    """
    folder = path.parent
    if path.is_dir():
        raise ValueError(f"{option} must name a file, got the folder {path}")
    if not folder.is_dir():
        raise ValueError(f"{option} must be in a folder that is there, got {path}")
    if not os.access(folder, os.W_OK):
        raise ValueError(f"{option} must be in a folder that can be written to, got {path}")
    return path


def card_of(text: str | None, model: Path) -> Card:
    """Return the card that came with a model, or say that there is none."""
    if text is None:
        raise ValueError(f"MODEL must have a card, which 'ecselm fit' writes, got {model}")
    return Card.from_json(text)


def check_apart(paths: dict[str, Path | None]) -> None:
    """Refuse two options that name one file."""
    seen: dict[Path, str] = {}
    for option, path in paths.items():
        if path is None:
            continue
        place = path.resolve()
        if place in seen:
            raise ValueError(f"{option} must not be the same file as {seen[place]}, got {path}")
        seen[place] = option
