"""Parquet and Arrow files in blocks: record batches, of which one is in memory at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from ecselm.datasets.readers import unpacking
from ecselm.streaming.passes import Passes
from ecselm.study.tables import column_names

PAGE_BYTES = 1 << 20  # of a column of a Parquet file, read at a time
_NO_NAME = re.compile(r"__index_level_\d+__")  # of an index that pandas has stored


@dataclass(frozen=True, slots=True)
class ArrowTable:
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
            frame = batch.select(chosen).to_pandas(ignore_metadata=True, use_threads=False)
            yield frame.set_axis(list(names), axis=1)


def parquet_table(path: Path, _: Passes) -> ArrowTable:
    """Return what a Parquet file says of itself."""
    _check_begin(path, b"PAR1")
    _pyarrow(path.name)
    with unpacking(path.name), _parquet(path) as file:
        schema, n_rows = file.schema_arrow, file.metadata.num_rows
    return _described(path, schema, n_rows, _parquet_batches)


def arrow_table(path: Path, _: Passes) -> ArrowTable:
    """Return what an Arrow file, which Feather is another name of, says of itself."""
    _check_begin(path, b"ARROW1")
    _pyarrow(path.name)
    with unpacking(path.name), _arrow(path) as file:
        schema = file.schema
        n_rows = sum(file.get_batch(i).num_rows for i in range(file.num_record_batches))
    return _described(path, schema, n_rows, _arrow_batches)


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


def _pyarrow(file: str) -> None:
    try:
        import_module("pyarrow")
    except ImportError as error:
        raise ImportError(f'reading {file} needs pyarrow: pip install "ecselm[parquet]"') from error


def _check_begin(path: Path, mark: bytes) -> None:
    with path.open("rb") as stream:
        head = stream.read(6)
    if not head:
        raise ValueError(f"{path.name} must hold a table, got nothing")
    if head.startswith(b"FEA1"):
        raise ValueError(f"{path.name} must be of Feather's second version to be read in blocks")
    if not head.startswith(mark):
        raise ValueError(f"{path.name} must begin as a file of its ending does, got {head!r}")


def _described(
    path: Path, schema: Any, n_rows: int, batches: Callable[..., Iterator[Any]]
) -> ArrowTable:
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
    return ArrowTable(path, stored, names, n_rows, tuple(notes), batches)
