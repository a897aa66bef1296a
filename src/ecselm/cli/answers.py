"""Answers of a model on their way into a file, or onto the screen, block by block."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from ecselm._files import replacing
from ecselm.cli.files import check_writable
from ecselm.study.formats import check_pyarrow

PREDICTION = "prediction"
ENDINGS = (".csv", ".parquet")
Write = Callable[[pd.DataFrame], None]


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
