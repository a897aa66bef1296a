"""Files that verbs read and write: refused before any work if they cannot be."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ecselm.saving import SavedModel, load_model, save_model
from ecselm.study import Card
from ecselm.study.tables import check_there


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
    if path.exists() and not path.is_file():  # a file would take the place of the device
        raise ValueError(f"{option} must name a file, got the device {path}")
    if not folder.is_dir():
        raise ValueError(f"{option} must be in a folder that is there, got {path}")
    if not os.access(folder, os.W_OK):
        raise ValueError(f"{option} must be in a folder that can be written to, got {path}")
    return path


def saved_model(path: Path, *, pickle: bool) -> SavedModel:
    """Return what is in the file of a model."""
    check_there(path)
    try:
        return load_model(path, pickle=pickle)
    except ValueError as error:
        raise ValueError(_as_options(error, "MODEL")) from error


def keep_model(model: Any, path: Path, card: Card, *, pickle: bool) -> None:
    """Write a model and its card."""
    try:
        save_model(model, path, card=card.to_json(), pickle=pickle)
    except ValueError as error:
        raise ValueError(_as_options(error, "--output")) from error


def card_of(text: str | None, model: Path) -> Card:
    """Return the card that came with a model, or say that there is none."""
    if text is None:
        raise ValueError(f"MODEL must have a card, which 'ecselm fit' writes, got {model}")
    return Card.from_json(text)


def check_apart(paths: dict[str, Path | None]) -> None:
    """Refuse two options that name one file; the later one is at fault."""
    seen: dict[Path, str] = {}
    for option, path in paths.items():
        if path is None:
            continue
        place = path.resolve()
        if place in seen:
            raise ValueError(f"{option} must not be the same file as {seen[place]}, got {path}")
        seen[place] = option


def _as_options(error: ValueError, option: str) -> str:
    """Return a sentence about parameters of Python with the names of the command line."""
    said = str(error).replace("path must", f"{option} must", 1)
    return said.replace("pickle=True", "--pickle").replace("save_model", "'ecselm fit'")
