"""Files and options that commands share, refused before any work if they cannot be used."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from ecselm._files import replacing
from ecselm.saving import SavedModel, load_model, save_model
from ecselm.study import Card
from ecselm.tables.arrow import check_pyarrow
from ecselm.tables.read import check_there

PREDICTION = "prediction"
ENDINGS = (".csv", ".parquet")
Write = Callable[[pd.DataFrame], None]


def add_run_options(parser: argparse.ArgumentParser, output: str) -> None:
    """Add processes, seed and folder of a run; ``output`` says what the folder is for."""
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes (1)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of what is drawn (0)")
    parser.add_argument("--output", metavar="DIR", help=output)


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


def answers_of(model: Any, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the prediction of every row and, of classes, their probabilities."""
    answers = pd.DataFrame({PREDICTION: model.predict(rows)})
    if hasattr(model, "predict_proba"):
        P = model.predict_proba(rows)
        for name, column in zip(model.classes_, P.T, strict=True):
            answers[f"probability of {name}"] = column
    return answers


def check_answers(path: Path, option: str) -> None:
    """Refuse a file that answers cannot be written to."""
    check_writable(path, option)
    if path.suffix not in ENDINGS:
        raise ValueError(f"{option} must end in {' or '.join(ENDINGS)}, got {path}")
    if path.suffix == ".parquet":
        check_pyarrow(f"writing {path.name}")


@contextmanager
def answer_file(path: Path | None) -> Iterator[Write]:
    """Yield what writes answers to a file by its ending, whole or not at all; or prints them."""
    if path is None:
        yield _csv_writer(sys.stdout)
        return
    with replacing(path) as part, ExitStack() as held:
        if path.suffix == ".parquet":
            yield _parquet_writer(part, held)
        else:
            stream = held.enter_context(part.open("w", encoding="utf-8", newline=""))
            yield _csv_writer(stream)


def _csv_writer(stream: Any) -> Write:
    begun = False

    def write(answers: pd.DataFrame) -> None:
        nonlocal begun
        answers.to_csv(stream, index=False, header=not begun, lineterminator="\n")
        begun = True

    return write


def _parquet_writer(path: Path, held: ExitStack) -> Write:
    import pyarrow as pa  # noqa: PLC0415  an extra
    from pyarrow import parquet  # noqa: PLC0415

    writer = None

    def write(answers: pd.DataFrame) -> None:
        nonlocal writer
        table = pa.Table.from_pandas(answers, preserve_index=False)
        if writer is None:
            writer = held.enter_context(parquet.ParquetWriter(path, table.schema))
        writer.write_table(table)

    return write
