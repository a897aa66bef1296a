"""Gases before an array of drifting sensors, batch by batch."""

from __future__ import annotations

import os
from typing import Literal

import numpy as np

from ecselm._typing import FloatArray
from ecselm._wording import brief
from ecselm.paper.datasets.dataset import Dataset, Source, find_file
from ecselm.paper.datasets.text import Row, check_length, number, split_rows
from ecselm.tables.files import read_gzip

SOURCE = Source(
    folder="gas_drift_uci",
    origin="Gas Sensor Array Drift at Different Concentrations, Vergara et al. 2012 and "
    "Rodriguez-Lujan et al. 2014",
    address="https://archive.ics.uci.edu/dataset/270, each batch packed by gzip",
    terms="research only, commercial use excluded, both papers to be cited",
)
GASES = ("ethanol", "ethylene", "ammonia", "acetaldehyde", "acetone", "toluene")
N_ROWS = (445, 1244, 1586, 161, 197, 2300, 3613, 294, 470, 3600)  # by batch, as UCI says
N_FEATURES = 128  # 16 sensors of 8 features, the first of which is the steady state
STEADY = tuple(range(0, 96, 16))  # of sensors 1, 3, ..., 11, as many as the paper has
KINDS = ("steady", "steady_normalised", *(f"{way}_{a}" for way in ("up", "down") for a in "123"))


def load_gas(
    batch: int = 1,
    columns: Literal["steady", "all"] = "steady",
    folder: str | os.PathLike[str] | None = None,
) -> Dataset:
    """Read one batch of UCI's gas sensor array, the nearest public data to E-NOSE.

    Batches were taken months apart and sensors drift between them: mixing batches is
    another task.

    Parameters
    ----------
    batch : int, default=1
        1 to 10; 1 (445 rows) and 8 (294) are of the size of the paper's data.
    columns : {"steady", "all"}, default="steady"
        The steady state of six sensors, or all 128 features.
    folder : path, default=None
        The folder of all data, by default what ``ECSELM_DATA`` names.

    Returns
    -------
    Dataset
        ``y`` is 1 to 6; not every batch has every gas.

    Examples
    --------
    >>> load_gas().X.shape  # doctest: +SKIP
    (445, 6)
    """
    if batch not in range(1, 11):
        raise ValueError(f"batch must be 1 to 10, got {batch!r}")
    if columns not in {"steady", "all"}:
        raise ValueError(f"columns must be 'steady' or 'all', got {columns!r}")
    path = find_file(SOURCE, f"batch{batch}.dat.gz", folder)
    rows = split_rows(read_gzip(path), path.name, 1 + N_FEATURES, r"\s+")
    check_length(rows, N_ROWS[batch - 1], path.name)
    y = np.array([_gas(row, path.name) for row in rows])
    X = np.array([_features(row, path.name) for row in rows])
    chosen = list(STEADY) if columns == "steady" else list(range(N_FEATURES))
    classes = np.unique(y)
    return Dataset(
        f"gas batch {batch}",
        X[:, chosen],
        y,
        SOURCE.sentence,
        classes,
        feature_names=tuple(f"sensor{1 + j // 8}_{KINDS[j % 8]}" for j in chosen),
        class_names=tuple(GASES[label - 1] for label in classes),
    )


def _gas(row: Row, file: str) -> int:
    label, given, ppm = row.fields[0].partition(";")
    if label not in {"1", "2", "3", "4", "5", "6"}:
        raise ValueError(
            f"{file}, line {row.line}: the gas must be 1 to 6, got {brief(repr(label))}"
        )
    if given:  # UCI's first release of the data has no concentrations
        number(ppm, f"{file}, line {row.line}, concentration")
    return int(label)


def _features(row: Row, file: str) -> FloatArray:
    values = np.empty(N_FEATURES)
    for j, field in enumerate(row.fields[1:]):
        index, _, value = field.partition(":")
        if index != str(j + 1):
            raise ValueError(
                f"{file}, line {row.line}: feature {j + 1} must read '{j + 1}:<value>', "
                f"got {brief(repr(field))}"
            )
        values[j] = number(value, f"{file}, line {row.line}, feature {j + 1}")
    return values
