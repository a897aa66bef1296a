"""German credit, and what its mistakes cost."""

from __future__ import annotations

import os
from typing import Literal

import numpy as np

from ecselm.datasets.dataset import Dataset
from ecselm.datasets.readers import read_text
from ecselm.datasets.source import Source, find_file
from ecselm.datasets.tables import (
    Column,
    check_length,
    encode,
    encoded_names,
    integers,
    seen_categories,
    split_rows,
)

SOURCE = Source(
    folder="german_credit_cost5to1",
    origin="Statlog German Credit, H. Hofmann",
    address="https://archive.ics.uci.edu/dataset/144",
    terms="none stated in the files; UCI lists CC BY 4.0",
)
NUMBERS = ("duration", "amount", "instalment_rate", "residence", "age", "credits", "dependants")
MIXED = (
    "account", "duration", "history", "purpose", "amount", "savings", "employment",
    "instalment_rate", "status", "debtors", "residence", "property", "age", "plans", "housing",
    "credits", "job", "dependants", "telephone", "foreign",
)  # fmt: skip


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
    check_length(rows, 1000, path.name)
    read = [
        Column(name, () if numeric or name in NUMBERS else seen_categories(rows, j))
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
