"""Parquet, Arrow and Feather files, read by pyarrow in batches of rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from ecselm.tables.files import unpacking
from ecselm.tables.text import column_names

PAGE_BYTES = 1 << 20  # of a column of a Parquet file, read at a time
_MARKS = {".parquet": b"PAR1", ".arrow": b"ARROW1", ".feather": b"ARROW1"}
_FIRST_FEATHER = b"FEA1"
_NO_NAME = re.compile(r"__index_level_\d+__")  # of an index that pandas has stored


def check_pyarrow(doing: str) -> None:
    """Raise ImportError naming the extra, unless pyarrow is installed."""
    try:
        import_module("pyarrow")
    except ImportError as error:
        raise ImportError(f'{doing} needs pyarrow: pip install "ecselm[parquet]"') from error


@dataclass(frozen=True, slots=True)
class ArrowFile:
    """A file of record batches, of which all is known but the rows."""

    path: Path
    stored: tuple[str, ...]  # names of the columns in the file
    names: list[str]
    n_rows: int
    notes: tuple[str, ...]
    batches: Callable[[Path, list[str], int], Iterator[Any]]

    def frames(self, names: Sequence[str], block_rows: int) -> Generator[Any, None, None]:
        """Yield the columns of these names, at most ``block_rows`` rows at a time."""
        places = dict(zip(self.names, self.stored, strict=True))
        chosen = [places[name] for name in names]
        for batch in self.batches(self.path, chosen, block_rows):
            yield _frame(batch.select(chosen), names)


def open_arrow(path: Path, ending: str) -> ArrowFile:
    """Return what a Parquet, Arrow or Feather file says of itself.

    Parameters
    ----------
    path : Path
    ending : {".parquet", ".arrow", ".feather"}
    """
    if _begin(path, ending).startswith(_FIRST_FEATHER):
        raise ValueError(f"{path.name} must be of Feather's second version to be read in blocks")
    if ending == ".parquet":
        with unpacking(path.name), _parquet(path) as file:
            schema, n_rows = file.schema_arrow, file.metadata.num_rows
        return _described(path, schema, n_rows, _parquet_batches)
    with unpacking(path.name), _arrow(path) as file:
        schema = file.schema
        n_rows = sum(file.get_batch(i).num_rows for i in range(file.num_record_batches))
    return _described(path, schema, n_rows, _arrow_batches)


def read_arrow(path: Path, ending: str) -> tuple[Any, tuple[str, ...]]:
    """Return a Parquet, Arrow or Feather file as a frame, and notes on the names of columns."""
    begin = _begin(path, ending)
    with unpacking(path.name):
        if ending == ".parquet":
            with _parquet(path) as file:
                table = file.read()
        elif begin.startswith(_FIRST_FEATHER):
            table = import_module("pyarrow.feather").read_table(path)
        else:
            with _arrow(path) as file:
                table = file.read_all()
    described = _described(path, table.schema, table.num_rows, _parquet_batches)
    with unpacking(path.name):
        frame = _frame(table.select(list(described.stored)), described.names)
    return frame, described.notes


def _frame(rows: Any, names: Sequence[str]) -> Any:
    frame = rows.to_pandas(ignore_metadata=True, use_threads=False)
    return frame.set_axis(list(names), axis=1)


def _parquet_batches(path: Path, names: list[str], block_rows: int) -> Iterator[Any]:
    with unpacking(path.name), _parquet(path) as file:
        # Blocks are read ahead by one thread, which leaves the others to the products.
        yield from file.iter_batches(batch_size=block_rows, columns=names, use_threads=False)


def _arrow_batches(path: Path, names: list[str], block_rows: int) -> Iterator[Any]:
    with unpacking(path.name), _arrow(path) as file:
        for i in range(file.num_record_batches):
            batch = file.get_batch(i).select(names)
            for start in range(0, batch.num_rows, block_rows):
                yield batch.slice(start, block_rows)


def _parquet(path: Path) -> AbstractContextManager[Any]:
    parquet = import_module("pyarrow.parquet")
    # Without these a whole group of rows, which may be the whole file, would be read at once.
    file: AbstractContextManager[Any] = parquet.ParquetFile(
        path, buffer_size=PAGE_BYTES, pre_buffer=False
    )
    return file


def _arrow(path: Path) -> AbstractContextManager[Any]:
    pyarrow = import_module("pyarrow")
    file: AbstractContextManager[Any] = pyarrow.ipc.open_file(pyarrow.memory_map(str(path)))
    return file


def _begin(path: Path, ending: str) -> bytes:
    """Return the first bytes of a file, and refuse one that begins in another way."""
    check_pyarrow(f"reading {path.name}")
    with path.open("rb") as stream:
        head = stream.read(6)
    if not head:
        raise ValueError(f"{path.name} must hold a table, got nothing")
    marks = (_MARKS[ending],) if ending == ".parquet" else (_MARKS[ending], _FIRST_FEATHER)
    if not head.startswith(marks):
        raise ValueError(f"{path.name} must begin as a file of its ending does, got {head!r}")
    return head


def _described(
    path: Path, schema: Any, n_rows: int, batches: Callable[..., Iterator[Any]]
) -> ArrowFile:
    # What pandas has for an index is a column if it has a name, and the first one.
    index = [
        one
        for one in (schema.pandas_metadata or {}).get("index_columns", ())
        if one in schema.names
    ]
    others = [name for name in schema.names if name not in index]
    stored = (*(name for name in index if not _NO_NAME.fullmatch(name)), *others)
    if not stored or not n_rows:
        raise ValueError(
            f"{path.name} must hold columns and rows, got {len(stored)} columns and {n_rows} rows"
        )
    names, notes = column_names(stored, path.name)
    return ArrowFile(path, stored, names, n_rows, tuple(notes), batches)
