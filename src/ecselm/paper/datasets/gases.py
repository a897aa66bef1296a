"""Gases measured by sensor arrays: E-NOSE of the paper, UCI's gas drift in public."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Literal

import numpy as np

from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm._wording import brief
from ecselm.paper.datasets._text import (
    Column,
    Row,
    check_counts,
    check_length,
    codes,
    encode,
    number,
    split_rows,
)
from ecselm.paper.datasets.dataset import Dataset, Source, find_file
from ecselm.tables.files import read_gzip, read_text

ENOSE_SOURCE = Source(
    "enose",
    "E-NOSE, Zhang et al.",
    "its authors; the documentation of load_enose says how to write enose.csv",
    "those of its authors",
)
GASES = ("HCHO", "C6H6", "C7H8", "CO", "NH3", "NO2")
GAS_COUNTS = (188, 72, 66, 58, 60, 38)
FEWEST = 3  # rows of a gas, two thirds of which train
SENSORS = tuple(f"s{j}" for j in range(1, 7))


def load_enose(folder: str | os.PathLike[str] | None = None) -> Dataset:
    """Read E-NOSE, 482 samples of six gases (tables X and XI).

    The file is ``enose/enose.csv`` with the header ``gas,s1,s2,s3,s4,s5,s6``; the gas is
    HCHO (188 rows), C6H6 (72), C7H8 (66), CO (58), NH3 (60) or NO2 (38), the others are
    the steady states of six sensors. Own data may have other numbers of rows, three of every
    gas or more, and must end with a line break. A first line ``# rows: 120`` announces how
    many there must be.

    Parameters
    ----------
    folder : path, default=None
        The folder of all data, by default what ``ECSELM_DATA`` names.

    Returns
    -------
    Dataset
        ``y`` is 0 to 5 in the order of the paper, ``class_names`` has the gases. ``own`` is
        set for other numbers of rows.

    Examples
    --------
    >>> load_enose().counts  # doctest: +SKIP
    array([188,  72,  66,  58,  60,  38])
    """
    path = find_file(ENOSE_SOURCE, "enose.csv", folder)
    text = read_text(path)
    announced, body = _announced(text, path.name)
    header, *rows = split_rows(body, path.name, 7, first_line=1 if announced is None else 2)
    if header.fields != ["gas", *SENSORS]:
        raise ValueError(f"{path.name}, line {header.line}: must be gas,{','.join(SENSORS)}")
    if announced is not None:
        check_length(rows, announced, path.name)
    columns = [Column("gas", GASES), *(Column(name) for name in SENSORS)]
    y = codes(rows, 0, columns[0], path.name)
    X = encode(rows, columns, path.name)[:, len(GASES) :]
    if tuple(np.bincount(y, minlength=len(GASES)).tolist()) == GAS_COUNTS:
        return enose_dataset("E-NOSE", X, y, ENOSE_SOURCE.sentence)
    check_counts(np.array(GASES)[y], GASES, (FEWEST,) * len(GASES), f"{path.name}, column gas")
    if not text.endswith(("\n", "\r")):
        # The last number may have lost digits, and no count would tell.
        raise ValueError(
            f"{path.name}, line {rows[-1].line}: must end with a line break, or the file may have "
            f"been cut off there"
        )
    data = enose_dataset("own gases", X, y, ENOSE_SOURCE.own_sentence(path.name))
    return replace(data, own=True)


def _announced(text: str, file: str) -> tuple[int | None, str]:
    """Return the number of rows that the first line announces, if any, and the other lines."""
    first, _, body = text.partition("\n")
    if not first.startswith("#"):
        return None, text
    label, _, count = first[1:].partition(":")
    if label.strip() != "rows" or not count.strip().isdecimal():
        raise ValueError(
            f"{file}, line 1: a comment must read '# rows: <number>', got {brief(repr(first))}"
        )
    return int(count), body


def enose_dataset(
    name: str, X: AnyArray, y: IntArray, source: str, *, synthetic: bool = False
) -> Dataset:
    """Return samples of six gases, real or drawn, as a data set."""
    return Dataset(
        name,
        X,
        y,
        source,
        np.arange(6),
        feature_names=SENSORS,
        class_names=GASES,
        synthetic=synthetic,
    )


DRIFT_SOURCE = Source(
    folder="gas_drift_uci",
    origin="Gas Sensor Array Drift at Different Concentrations, Vergara et al. 2012 and "
    "Rodriguez-Lujan et al. 2014",
    address="https://archive.ics.uci.edu/dataset/270, each batch packed by gzip",
    terms="research only, commercial use excluded, both papers to be cited",
)
DRIFT_GASES = ("ethanol", "ethylene", "ammonia", "acetaldehyde", "acetone", "toluene")
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
    path = find_file(DRIFT_SOURCE, f"batch{batch}.dat.gz", folder)
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
        DRIFT_SOURCE.sentence,
        classes,
        feature_names=tuple(f"sensor{1 + j // 8}_{KINDS[j % 8]}" for j in chosen),
        class_names=tuple(DRIFT_GASES[label - 1] for label in classes),
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
