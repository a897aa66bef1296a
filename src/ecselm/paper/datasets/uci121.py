"""Classification sets of UCI as prepared for the comparison of 179 classifiers."""

from __future__ import annotations

import csv
import os
import re

import numpy as np

from ecselm._typing import IntArray
from ecselm._wording import brief
from ecselm.paper.datasets._text import Column, Row, encode, integers, split_rows
from ecselm.paper.datasets.dataset import Dataset, Folds, Source, data_root, find_file
from ecselm.tables.files import read_text, read_zip

SOURCE = Source(
    folder="uci121_development",
    origin="UCI Machine Learning Repository as prepared by Fernandez-Delgado et al., JMLR 15, "
    "2014, inputs standardised over all rows, in four splits of the authors",
    address="http://persoal.citius.usc.es/manuel.fernandez.delgado/papers/jmlr, data.tar.gz, the "
    "files of each set in a zip",
    terms="none stated in the files; each set has its own citation at UCI",
)
FOLDS = "conxuntos_kfold.dat"
MANIFEST = "MANIFEST.csv"
ENDING = ".zip"
LABEL = "clase"
N_SPLITS = 4
MAX_CLASSES = 1000
HALVES = ("development", "confirmation")


def list_uci121(folder: str | os.PathLike[str] | None = None) -> list[str]:
    """Return the names that :func:`load_uci121` can load from the folder.

    Examples
    --------
    >>> "iris" in list_uci121()  # doctest: +SKIP
    True
    """
    root = data_root(folder)
    found = root.glob(f"{SOURCE.folder}/*{ENDING}") if root else ()
    return sorted(path.name.removesuffix(ENDING) for path in found)


def halves_of_uci121(folder: str | os.PathLike[str] | None = None) -> dict[str, str]:
    """Return the half that every set of the manifest is in; empty without a manifest.

    Examples
    --------
    >>> halves_of_uci121()["iris"]  # doctest: +SKIP
    'development'
    """
    root = data_root(folder)
    path = root / SOURCE.folder / MANIFEST if root else None
    if path is None or not path.is_file():
        return {}
    rows = list(csv.DictReader(read_text(path).splitlines()))
    if not rows or not {"set", "half"} <= rows[0].keys():
        raise ValueError(f"{MANIFEST} must have the columns set and half, and rows")
    for row in rows:
        if row["half"] not in HALVES:
            raise ValueError(
                f"{MANIFEST}, {brief(str(row['set']))}: half must be one of {', '.join(HALVES)}, "
                f"got {brief(repr(row['half']))}"
            )
    return {row["set"]: row["half"] for row in rows}


def load_uci121(name: str, folder: str | os.PathLike[str] | None = None) -> Dataset:
    """Read one of the 121 classification sets of UCI with its four splits.

    The splits are as published: stratified, three quarters of the rows to train and the
    others to test. They are drawn independently of each other, so that some rows are tested
    several times and others never.

    Parameters
    ----------
    name : str
        As in :func:`list_uci121`: ``"iris"``, ``"contrac"``.
    folder : path, default=None
        The folder of all data, by default what ``ECSELM_DATA`` names.

    Returns
    -------
    Dataset
        Names of nominal inputs were replaced by integers, and all inputs have a mean of 0
        and a variance of 1 over all rows. ``y`` counts the classes from 0.

    Examples
    --------
    >>> load_uci121("iris").counts  # doctest: +SKIP
    array([50, 50, 50])
    """
    if not re.fullmatch(r"\w[\w-]*", name):
        raise ValueError(f"name must be made of letters, digits, - and _, got {name!r}")
    path = find_file(SOURCE, name + ENDING, folder)
    members = [f"{name}_R.dat", FOLDS]
    table, splits = read_zip(path, members)
    file = f"{path.name}, {members[0]}"
    head, _, body = table.partition("\n")
    names = head.split()
    if len(names) < 2 or names[-1] != LABEL:
        raise ValueError(f"{file}, line 1: must name inputs and then {LABEL}, got {brief(head)!r}")
    rows = split_rows(body, file, len(names) + 1, r"\t", first_line=2)
    for i, row in enumerate(rows, 1):
        if row.fields[0] != str(i):
            raise ValueError(
                f"{file}, line {row.line}: must be row {i}, got {brief(repr(row.fields[0]))}"
            )
    inputs = [Column(each) for each in names[:-1]]
    X = encode([Row(row.line, row.fields[1:]) for row in rows], inputs, file)
    classes, y = np.unique(integers(rows, -1, range(MAX_CLASSES), file), return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"{file}: must hold two classes at least, got {classes[0]} only")
    return Dataset(
        f"UCI {name}",
        X,
        y,
        SOURCE.sentence,
        np.arange(len(classes)),
        folds=_parse_splits(splits, len(rows), f"{path.name}, {FOLDS}"),
        feature_names=tuple(names[:-1]),
        class_names=tuple(str(label) for label in classes),
    )


def _parse_splits(text: str, n_rows: int, file: str) -> Folds:
    """Return pairs (train, test) of sorted positions of rows."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) != 2 * N_SPLITS:
        raise ValueError(f"{file} must hold {2 * N_SPLITS} lines of rows, got {len(lines)}")
    parts = [_positions(line, f"{file}, line {i}") for i, line in enumerate(lines, 1)]
    splits = tuple(zip(parts[::2], parts[1::2], strict=True))
    for i, split in enumerate(splits):
        if not np.array_equal(np.sort(np.concatenate(split)), np.arange(n_rows)):
            raise ValueError(
                f"{file}, lines {2 * i + 1} and {2 * i + 2}: must hold each of the rows 0 to "
                f"{n_rows - 1} once"
            )
    return splits


def _positions(line: str, place: str) -> IntArray:
    fields = line.split()
    wrong = next((field for field in fields if not re.fullmatch(r"[0-9]{1,9}", field)), None)
    if wrong is not None:
        raise ValueError(f"{place}: must hold numbers of rows, got {brief(repr(wrong))}")
    return np.sort(np.array(fields, dtype=np.intp))
