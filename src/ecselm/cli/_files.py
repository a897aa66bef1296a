"""Files and options that commands share, validated before any work."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ecselm._files import replacing
from ecselm.estimators._policy import Decisions
from ecselm.saving import SavedModel, load_model, save_model
from ecselm.study import Card
from ecselm.study.decisions import last_step
from ecselm.tables.arrow import check_pyarrow
from ecselm.tables.read import check_there

PREDICTION = "prediction"
ENDINGS = (".csv", ".parquet")
Write = Callable[[pd.DataFrame], None]


def add_run_options(parser: argparse.ArgumentParser, output: str) -> None:
    """Add processes, seed and output folder of a run; ``output`` is the help of the folder."""
    parser.add_argument(
        "--jobs", type=int, default=1, metavar="N", help="number of processes (default: 1)"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="random seed (default: 0)")
    parser.add_argument("--output", metavar="DIR", help=output)


def check_writable(path: Path, option: str) -> Path:
    """Return the path of an output file, or raise ValueError.

    Parameters
    ----------
    path : path
    option : str
        Name on the command line.
    """
    if "\0" in str(path):
        raise ValueError(f"{option} must not hold the character NUL, got {str(path)!r}")
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
    """Load a saved model."""
    check_there(path)
    try:
        return load_model(path, pickle=pickle)
    except ValueError as error:
        raise ValueError(as_options(error, "MODEL")) from error


def store_model(model: Any, path: Path, card: Card, *, pickle: bool) -> None:
    """Write a model and its card."""
    try:
        save_model(model, path, card=card.to_json(), pickle=pickle)
    except ValueError as error:
        raise ValueError(as_options(error, "--output")) from error


def card_of(text: str | None, model: Path) -> Card:
    """Return the card of a saved model, or raise ValueError if it has none."""
    if text is None:
        raise ValueError(f"MODEL must have a card, which 'ecselm fit' writes, got {model}")
    return Card.from_json(text)


def check_distinct(paths: dict[str, Path | None]) -> None:
    """Raise ValueError if two options name the same file."""
    seen: dict[Path, str] = {}
    for option, path in paths.items():
        if path is None:
            continue
        if "\0" in str(path):
            raise ValueError(f"{option} must not hold the character NUL, got {str(path)!r}")
        place = path.resolve()
        if place in seen:
            raise ValueError(f"{option} must not be the same file as {seen[place]}, got {path}")
        seen[place] = option


def as_options(error: ValueError, option: str) -> str:
    """Return a message about Python parameters with the names of the command line."""
    message = str(error).replace("path must", f"{option} must")
    return message.replace("pickle=True", "--pickle").replace("save_model", "'ecselm fit'")


def predictions_of(model: Any, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the prediction of every row and, for classifiers, the probabilities."""
    predictions = pd.DataFrame({PREDICTION: model.predict(rows)})
    if hasattr(model, "predict_proba"):
        P = model.predict_proba(rows)
        for name, column in zip(model.classes_, P.T, strict=True):
            predictions[f"probability of {name}"] = column
    return predictions


def decided(model: Any, decisions: Decisions) -> pd.DataFrame:
    """Return the answer to every row, and the probabilities of the classes."""
    classes = np.asarray(model.classes_)
    labels = np.empty(len(classes) + 1, dtype=object)
    is_text = isinstance(classes.tolist()[0], str)
    own = getattr(last_step(model), "reject_label_", "reject" if is_text else None)
    labels[:-1], labels[-1] = classes.tolist(), own
    asked = decisions.asked.any()
    answers = labels[decisions.answers] if asked else classes[decisions.answers]
    found = pd.DataFrame({PREDICTION: answers})
    for name, column in zip(classes, decisions.probabilities.T, strict=True):
        found[f"probability of {name}"] = column
    return found


def check_predictions_file(path: Path, option: str) -> None:
    """Raise ValueError if predictions cannot be written to the file."""
    check_writable(path, option)
    if path.suffix not in ENDINGS:
        raise ValueError(f"{option} must end in {' or '.join(ENDINGS)}, got {path}")
    if path.suffix == ".parquet":
        check_pyarrow(f"writing {path.name}")


FORMULA = re.compile(r"[=+\-@\t\r]")  # how a cell begins that a spreadsheet calculates
NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)(e[+-]?\d+)?", re.IGNORECASE)


class FormulaGuard:
    """Put ' before texts that a spreadsheet would take for formulas.

    Numbers are left as they are, also those that are texts.

    Parameters
    ----------
    is_raw : bool, default=False
        Whether to leave all texts as they are.

    Examples
    --------
    >>> guard = FormulaGuard()
    >>> guard.guarded(pd.DataFrame({"id": ["=1+2", "-5", "a"]}))["id"].tolist()
    ["'=1+2", '-5', 'a']
    >>> guard.lines("answers.csv")
    ["1 cell begins with ' in answers.csv, as a spreadsheet would calculate it; --raw keeps cells"]
    """

    def __init__(self, *, is_raw: bool = False) -> None:
        self._is_raw, self._n = is_raw, 0

    def guarded(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return rows whose texts and names of columns are no formulas."""
        if self._is_raw:
            return frame
        texts = {
            place: column.map(self._guarded, na_action="ignore")
            for place, (_, column) in enumerate(frame.items())
            if not (pd.api.types.is_numeric_dtype(column) or column.dtype.kind in "mMb")
        }
        columns = [texts.get(i, frame.iloc[:, i]) for i in range(frame.shape[1])]
        names = [_guarded_text(name) for name in frame.columns]
        return pd.concat(columns, axis=1).set_axis(names, axis=1)

    def _guarded(self, cell: Any) -> Any:
        found = _guarded_text(cell) if isinstance(cell, str) else cell
        self._n += found is not cell
        return found

    def lines(self, place: Any) -> list[str]:
        """Return what was done, a line if anything was."""
        if not self._n:
            return []
        cells, them = ("cell begins", "it") if self._n == 1 else ("cells begin", "them")
        why = f"as a spreadsheet would calculate {them}"
        return [f"{self._n} {cells} with ' in {place}, {why}; --raw keeps cells"]


def _guarded_text(text: str) -> str:
    return f"'{text}" if FORMULA.match(text) and not NUMBER.fullmatch(text) else text


@contextmanager
def predictions_file(path: Path | None, option: str = "--output") -> Iterator[Write]:
    """Yield a writer of predictions, to a file that is replaced when complete or to stdout."""
    if path is None:
        yield _csv_writer(sys.stdout)
        return
    with replacing(path, name=option) as part, ExitStack() as held:
        if path.suffix == ".parquet":
            yield _parquet_writer(part, held)
        else:
            stream = held.enter_context(part.open("w", encoding="utf-8", newline=""))
            yield _csv_writer(stream)


def _csv_writer(stream: Any) -> Write:
    has_header = False

    def write(predictions: pd.DataFrame) -> None:
        nonlocal has_header
        predictions.to_csv(stream, index=False, header=not has_header, lineterminator="\n")
        has_header = True

    return write


def _parquet_writer(path: Path, held: ExitStack) -> Write:
    import pyarrow as pa  # noqa: PLC0415  an extra
    from pyarrow import parquet  # noqa: PLC0415

    writer = None

    def write(predictions: pd.DataFrame) -> None:
        nonlocal writer
        table = pa.Table.from_pandas(predictions, preserve_index=False)
        if writer is None:
            writer = held.enter_context(parquet.ParquetWriter(path, table.schema))
        writer.write_table(table)

    return write
