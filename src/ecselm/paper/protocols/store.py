"""Results of a run on disk: a journal while it goes, Parquet files when an item is done.

The journal has one line of JSON per finished job. A line is written whole or, where a process
was killed in the middle, not read: the job is run again. The Parquet files are made of the
journal's lines in the order of the plan, so that they depend neither on interruptions nor on
the number of workers. Times differ from run to run and go to a file of their own.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ecselm._files import write_whole

try:
    import fcntl
except ImportError:  # Windows: two runs in one folder are not told apart there
    fcntl = None  # type: ignore[assignment]

COLUMNS = ("data", "method", "split", "metric", "at", "value")
Row = tuple[str, str, int, str, str, float]


@dataclass(frozen=True, slots=True)
class Measured:
    """One number that a job gave."""

    metric: str
    value: float
    at: str = ""  # the place on a curve, or the cell of a table


@dataclass(frozen=True, slots=True)
class Finished:
    """What a job gave, and how long its method took.

    Parameters
    ----------
    key : str
        What the journal knows the job by.
    rows : tuple of Measured
        What the judge said, the same whenever the job is run.
    seconds : tuple of Measured
        To choose parameters, to learn with them, and to answer.
    """

    key: str
    rows: tuple[Measured, ...]
    seconds: tuple[Measured, ...]


class Store:
    """The journal of one run in a folder.

    Parameters
    ----------
    folder : path
        Made where there is none, when the run begins.
    fingerprint : mapping
        What results depend on besides their jobs. A folder with the results of a run that
        had another one is refused, so that they do not get mixed.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> store = Store(Path(mkdtemp()), {"seed": 0})
    >>> store.begin()
    >>> store.add(Finished("gas|ELM|0", (Measured("accuracy", 0.5),), ()))
    >>> list(store.finished())
    ['gas|ELM|0']
    """

    def __init__(self, folder: Path, fingerprint: Mapping[str, Any]) -> None:
        self.folder = folder
        self._journal = folder / "journal.jsonl"
        self._head = json.dumps({"run": dict(fingerprint)}, sort_keys=True)

    def finished(self) -> dict[str, Finished]:
        """Return what has been done so far, by the keys of the jobs."""
        lines = self._lines()
        found = (_parsed(line) for line in lines[1:])
        return {one.key: one for one in found if one is not None}

    def begin(self) -> None:
        """Make the folder and the journal, or cut off a line that was not finished."""
        lines = self._lines()
        self.folder.mkdir(parents=True, exist_ok=True)
        kept = [self._head, *(line for line in lines[1:] if _parsed(line) is not None)]
        if lines != [*kept, ""]:
            write_whole(self._journal, "".join(f"{line}\n" for line in kept).encode())

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep a second run out of the folder; the system lets go when a process ends."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "lock").open("w") as file:
            if fcntl is not None:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    raise RuntimeError(
                        f"the output folder must be used by one run at a time, got {self.folder} "
                        f"with another at work"
                    ) from None
            yield

    def add(self, done: Finished) -> None:
        """Append one job to the journal, safe from a crash that comes after."""
        rows = [[row.metric, row.value, row.at] for row in done.rows]
        seconds = [[row.metric, row.value, row.at] for row in done.seconds]
        line = json.dumps({"key": done.key, "rows": rows, "seconds": seconds})
        with self._journal.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
            file.flush()
            os.fsync(file.fileno())

    def _lines(self) -> list[str]:
        """Return the lines of the journal, none where there is nothing in it."""
        if self.folder.exists() and not self.folder.is_dir():
            raise ValueError(f"the output must be a folder, got the file {self.folder}")
        if not self._journal.exists() or self._journal.stat().st_size == 0:
            return []
        lines = self._journal.read_text(encoding="utf-8", errors="replace").split("\n")
        if lines[0] != self._head:
            raise ValueError(
                f"the output folder must be new or hold results of the same run, got "
                f"{self.folder} with those of another (seed, budget, version); name another one"
            )
        return lines


def _parsed(line: str) -> Finished | None:
    """Return what a line says, or None for one that was cut off."""
    try:
        one = json.loads(line)
        rows, seconds = (
            tuple(Measured(metric, value, at) for metric, value, at in one[part])
            for part in ("rows", "seconds")
        )
        return Finished(one["key"], rows, seconds)
    except (ValueError, KeyError, TypeError):
        return None


def check_parquet() -> None:
    """Refuse to begin what could not be written in the end."""
    try:
        import pyarrow  # noqa: F401, PLC0415
    except ImportError as error:
        raise ImportError(
            'results are kept in Parquet files, which need the extra "reproduce": '
            'pip install "ecselm[reproduce]"'
        ) from error


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write tidy rows as a Parquet file, the same bytes for the same rows.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "results.parquet"
    >>> write_rows(path, [("gas", "ELM", 0, "accuracy", "", 0.5)])
    >>> read_rows(path)["value"].tolist()
    [0.5]
    """
    check_parquet()
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import parquet  # noqa: PLC0415

    text, types = pa.string(), {"split": pa.int64(), "value": pa.float64()}
    schema = pa.schema([(name, types.get(name, text)) for name in COLUMNS])
    columns = list(zip(*rows, strict=True)) or [()] * len(COLUMNS)
    table = pa.table([pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)], schema)
    buffer = pa.BufferOutputStream()
    parquet.write_table(table, buffer, compression="zstd")
    write_whole(path, buffer.getvalue().to_pybytes())


def read_rows(path: Path) -> Any:
    """Return the tidy frame of a Parquet file that :func:`write_rows` wrote."""
    check_parquet()
    import pandas as pd  # noqa: PLC0415  half a second that nobody else should wait

    return pd.read_parquet(path, engine="pyarrow")
