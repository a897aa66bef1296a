"""The paper's E-NOSE: six gases before six sensors.

The set may not be passed on, and its owners hand it out in forms of their own. So the
loader documents one file that is easily written, checks that it has the paper's sizes,
and says what does not fit.
"""

from __future__ import annotations

import os

import numpy as np

from ecselm._typing import AnyArray, IntArray
from ecselm.paper.datasets.dataset import Dataset, Source, find_file
from ecselm.paper.datasets.text import Column, check_counts, codes, encode, split_rows
from ecselm.tables.files import read_text

SOURCE = Source(
    "enose",
    "E-NOSE, Zhang et al.",
    "its authors; the documentation of load_enose says how to write enose.csv",
    "those of its authors",
)
GASES = ("HCHO", "C6H6", "C7H8", "CO", "NH3", "NO2")
GAS_COUNTS = (188, 72, 66, 58, 60, 38)
SENSORS = tuple(f"s{j}" for j in range(1, 7))


def load_enose(folder: str | os.PathLike[str] | None = None) -> Dataset:
    """Read E-NOSE, 482 samples of six gases (tables X and XI).

    The file is ``enose/enose.csv`` with the header ``gas,s1,s2,s3,s4,s5,s6``; the gas is
    HCHO (188 rows), C6H6 (72), C7H8 (66), CO (58), NH3 (60) or NO2 (38), the others are
    the steady states of six sensors.

    Parameters
    ----------
    folder : path, default=None
        The folder of all data, by default what ``ECSELM_DATA`` names.

    Returns
    -------
    Dataset
        ``y`` is 0 to 5 in the order of the paper, ``class_names`` has the gases.

    Examples
    --------
    >>> load_enose().counts  # doctest: +SKIP
    array([188,  72,  66,  58,  60,  38])
    """
    path = find_file(SOURCE, "enose.csv", folder)
    header, *rows = split_rows(read_text(path), path.name, 7)
    if header.fields != ["gas", *SENSORS]:
        raise ValueError(f"{path.name}, line 1: must be gas,{','.join(SENSORS)}")
    columns = [Column("gas", GASES), *(Column(name) for name in SENSORS)]
    y = codes(rows, 0, columns[0], path.name)
    check_counts(np.array(GASES)[y], GASES, GAS_COUNTS, f"{path.name}, column gas")
    X = encode(rows, columns, path.name)[:, len(GASES) :]
    return enose_dataset("E-NOSE", X, y, SOURCE.sentence)


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
