"""Levels in an order: sets to learn scores from."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from ecselm._wording import brief
from ecselm.paper.datasets.dataset import Dataset, Source, find_file
from ecselm.paper.datasets.text import (
    Column,
    check_length,
    encode,
    encoded_names,
    integers,
    split_rows,
)
from ecselm.tables.files import read_text

FOLDER = "ordinal_regression"
_BEN_DAVID = Source(
    FOLDER,
    "ESL and LEV, A. Ben David",
    "https://www.openml.org (ESL 1027, LEV 1029), as CSV with a header",
    "none stated",
)
_WINE = Source(
    FOLDER,
    "Wine Quality, P. Cortez et al. 2009",
    "https://archive.ics.uci.edu/dataset/186, as CSV with commas and no header",
    "public for research, Cortez et al. 2009 to be cited",
)
_ABALONE = Source(
    FOLDER,
    "Abalone, W. Nash et al. 1994",
    "https://archive.ics.uci.edu/dataset/1, as abalone.csv",
    "those of UCI",
)
_WINE_COLUMNS = tuple(
    Column(name)
    for name in (
        "fixed_acidity", "volatile_acidity", "citric_acid", "residual_sugar", "chlorides",
        "free_sulphur_dioxide", "total_sulphur_dioxide", "density", "pH", "sulphates", "alcohol",
    )
)  # fmt: skip
_ABALONE_COLUMNS = (
    Column("sex", ("F", "I", "M")),
    *(Column(name) for name in ("length", "diameter", "height", "whole_weight")),
    *(Column(f"{part}_weight") for part in ("shucked", "viscera", "shell")),
)
_QUESTIONS = tuple(Column(f"in{j}") for j in range(1, 5))


@dataclass(frozen=True, slots=True)
class _File:
    source: Source
    file: str
    columns: tuple[Column, ...]
    levels: range
    n_rows: int
    header: bool = False


_FILES = {
    "ESL": _File(_BEN_DAVID, "ESL.csv", _QUESTIONS, range(1, 10), 488, header=True),
    "LEV": _File(_BEN_DAVID, "LEV.csv", _QUESTIONS, range(5), 1000, header=True),
    "wine-red": _File(_WINE, "winequality-red.csv", _WINE_COLUMNS, range(11), 1599),
    "wine-white": _File(_WINE, "winequality-white.csv", _WINE_COLUMNS, range(11), 4898),
    "abalone": _File(_ABALONE, "abalone.csv", _ABALONE_COLUMNS, range(1, 30), 4177),
}


def load_ordinal(name: str, folder: str | os.PathLike[str] | None = None) -> Dataset:
    """Read a set whose classes are levels in an order.

    Parameters
    ----------
    name : {"ESL", "LEV", "wine-red", "wine-white", "abalone"}
        488 x 4 with nine levels, 1000 x 4 with five, 1599 x 11 (levels 3 to 8), 4898 x 11
        (3 to 9), 4177 x 8 (rings 1 to 29; the sex is one-hot encoded).
    folder : path, default=None
        The folder of all data, by default what ``ECSELM_DATA`` names.

    Returns
    -------
    Dataset
        ``y`` holds the levels as integers, ``classes`` those that occur.

    Examples
    --------
    >>> load_ordinal("LEV").counts  # doctest: +SKIP
    array([ 93, 280, 403, 197,  27])
    """
    if name not in _FILES:
        raise ValueError(f"name must be one of {', '.join(_FILES)}, got {name!r}")
    form = _FILES[name]
    path = find_file(form.source, form.file, folder)
    width = len(form.columns)
    rows = split_rows(read_text(path), path.name, width + 1)
    if form.header:
        _check_header([field.lower() for field in rows[0].fields], form, path.name)
        rows = rows[1:]
    check_length(rows, form.n_rows, path.name)
    X = encode(rows, form.columns, path.name)
    y = integers(rows, width, form.levels, path.name)
    names = encoded_names(form.columns)
    return Dataset(name, X, y, form.source.sentence, np.unique(y), feature_names=names)


def _check_header(fields: list[str], form: _File, file: str) -> None:
    wanted = [*(column.name for column in form.columns), "out1"]
    if fields != wanted:
        raise ValueError(
            f"{file}, line 1: must be {','.join(wanted)}, got {brief(','.join(fields))}"
        )
