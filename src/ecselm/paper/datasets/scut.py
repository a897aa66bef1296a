"""Faces and how beautiful sixty people found them."""

from __future__ import annotations

import os
from typing import Literal

import numpy as np

from ecselm._typing import AnyArray, BoolArray, FloatArray
from ecselm._wording import brief
from ecselm.paper.datasets.beauty import beauty_dataset
from ecselm.paper.datasets.dataset import Dataset, Source, find_file
from ecselm.paper.datasets.text import check_array
from ecselm.tables.files import read_npz

SOURCE = Source(
    folder="scut_fbp_asian",
    origin="SCUT-FBP5500, Asian faces, Liang et al. 2018, features computed from its pictures",
    address="https://github.com/HCIILAB/SCUT-FBP5500-Database-Release, from whose pictures and "
    "landmarks features.npz has to be made",
    terms="non-commercial research only, Liang et al. 2018 to be cited",
)
N_RATERS = 60
GROUPS = ("AF", "AM", "CF", "CM")  # Asian and Caucasian women and men


def load_scut(
    group: Literal["AF", "AM"] = "AF",
    features: Literal["appearance", "geometric"] = "appearance",
    target: Literal["level", "score"] = "level",
    folder: str | os.PathLike[str] | None = None,
) -> Dataset:
    """Read faces with beauty scores, the nearest public data to the eastern part of M2B.

    Parameters
    ----------
    group : {"AF", "AM"}, default="AF"
        2000 women or 2000 men.
    features : {"appearance", "geometric"}, default="appearance"
        300 principal components of texture and colour, fitted on men only, or 86 landmarks
        without position and size.
    target : {"level", "score"}, default="level"
        One of five levels, see :func:`beauty_levels`, or the mean of 60 raters stretched
        from [1, 5] to [1, 10].
    folder : path, default=None
        The folder of all data, by default what ``ECSELM_DATA`` names.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> load_scut().counts  # doctest: +SKIP
    array([ 22, 310, 869, 664, 135])
    """
    _check_choices(group, features, target)
    path = find_file(SOURCE, "features.npz", folder)
    wanted = "appearance300" if features == "appearance" else "landmarks"
    arrays = read_npz(path, ["name", wanted, "score"])
    n = len(check_array(arrays, "name", "U", (None,), path.name))
    shape = (n, 300) if features == "appearance" else (n, 86, 2)
    values = check_array(arrays, wanted, "f", shape, path.name)
    raw = check_array(arrays, "score", "f", (n,), path.name)
    _check_scores(raw, path.name)
    rows = _of_group(arrays["name"], group, path.name)
    X: FloatArray = values[rows].astype(np.float64)
    if features == "geometric":
        X = _without_place_and_size(X, path.name)
    name = f"SCUT {group}, {features}"
    return beauty_dataset(name, X, _stretched(raw[rows]), target, SOURCE.sentence)


def _stretched(means: FloatArray) -> FloatArray:
    """Return means of 60 whole numbers from [1, 5] on [1, 10].

    They were stored in single precision. Sums of ratings are whole, so that a score on a
    cut, such as 7/3 which becomes 4, is found to lie on it.
    """
    total = np.rint(means.astype(np.float64) * N_RATERS)
    return 1.0 + (total - N_RATERS) * 9.0 / (4.0 * N_RATERS)


def _check_scores(raw: FloatArray, file: str) -> None:
    if raw.min() < 1 or raw.max() > 5:
        raise ValueError(
            f"{file}, array score: scores must lie in [1, 5], got {raw.min():g} to {raw.max():g}"
        )


def _of_group(names: AnyArray, group: str, file: str) -> BoolArray:
    """Return which faces are of a group; a name of none would get lost unnoticed."""
    groups = np.array([name[:2] for name in names.tolist()])
    for name in names[~np.isin(groups, GROUPS)].tolist():
        raise ValueError(
            f"{file}, array name: names must begin with {', '.join(GROUPS)}, got "
            f"{brief(repr(name))}"
        )
    if group not in groups:
        raise ValueError(f"{file}, array name: must hold faces of {group}, got none")
    return groups == group


def _without_place_and_size(landmarks: FloatArray, file: str) -> FloatArray:
    shape = landmarks - landmarks.mean(axis=1, keepdims=True)
    radius = np.sqrt((shape**2).sum(axis=2).mean(axis=1))
    if not ((radius > 0) & np.isfinite(radius)).all():
        raise ValueError(f"{file}, array landmarks: must not lie in one point or beyond all bounds")
    return (shape / radius[:, np.newaxis, np.newaxis]).reshape(len(shape), -1)


def _check_choices(group: str, features: str, target: str) -> None:
    for name, value, allowed in (
        ("group", group, ("AF", "AM")),
        ("features", features, ("appearance", "geometric")),
        ("target", target, ("level", "score")),
    ):
        if value not in allowed:
            raise ValueError(f"{name} must be {' or '.join(map(repr, allowed))}, got {value!r}")
