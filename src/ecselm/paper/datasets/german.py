"""German credit, and what its mistakes cost."""

from __future__ import annotations

import os
from typing import Literal

import numpy as np

from ecselm.paper.datasets.dataset import Dataset, Source, find_file
from ecselm.paper.datasets.text import (
    Column,
    Row,
    check_length,
    codes,
    encode,
    encoded_names,
    integers,
    seen_categories,
    split_rows,
)
from ecselm.tables.files import read_text

SOURCE = Source(
    folder="german_credit_cost5to1",
    origin="Statlog German Credit, H. Hofmann",
    address="https://archive.ics.uci.edu/dataset/144",
    terms="none stated in the files; UCI lists CC BY 4.0",
)
N_ROWS = 1000
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
    path = find_file(SOURCE, "german.data-numeric" if numeric else "german.data", folder)
    # UCI's numeric file has spaces between numbers, copies of it have commas.
    rows = split_rows(read_text(path), path.name, len(names) + 1, r"[,\s]+")
    check_length(rows, N_ROWS, path.name)
    read = [
        Column(name) if numeric or name in NUMBERS else _coded(rows, j, path.name)
        for j, name in enumerate(names)
    ]
    return Dataset(
        f"German credit, {columns}",
        encode(rows, read, path.name),
        integers(rows, len(names), range(1, 3), path.name),
        SOURCE.sentence,
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
