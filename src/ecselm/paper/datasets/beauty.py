"""Beauty scores and levels: M2B of the paper, SCUT-FBP5500 in public."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from ecselm._typing import AnyArray, BoolArray, FloatArray, IntArray
from ecselm._wording import brief
from ecselm.paper.datasets._text import check_array, check_counts
from ecselm.paper.datasets.dataset import Dataset, Source, find_file
from ecselm.tables.files import read_npz

THRESHOLDS = (2.0, 4.0, 6.0, 8.0)
LEVELS = ("poor", "fair", "good", "very good", "excellent")


def beauty_levels(scores: Any) -> IntArray:
    """Return the paper's five levels, 1 to 5, of scores (N,) in [1, 10].

    The thresholds of the paper are 2, 4, 6 and 8; a score on a threshold belongs to the lower
    level here, which the paper leaves open.

    Examples
    --------
    >>> beauty_levels([1.0, 2.0, 2.1, 8.0, 10.0])
    array([1, 1, 2, 4, 5])
    """
    return np.digitize(scores, THRESHOLDS, right=True) + 1


def beauty_dataset(
    name: str, X: AnyArray, scores: AnyArray, target: str, source: str, *, synthetic: bool = False
) -> Dataset:
    """Return rows with scores in [1, 10], or with the levels of these that occur."""
    if target == "score":
        return Dataset(name, X, scores.astype(float), source, synthetic=synthetic)
    levels = beauty_levels(scores)
    classes = np.unique(levels)
    names = tuple(LEVELS[level - 1] for level in classes)
    return Dataset(name, X, levels, source, classes, class_names=names, synthetic=synthetic)


M2B_SOURCE = Source(
    "m2b",
    "Multi-modality beauty (M2B), Nguyen et al. 2012",
    "its authors; the documentation of load_m2b says how to write m2b.npz",
    "those of its authors",
)
# Columns and rows of the paper's data; own data may have others.
WIDTHS = {"facial_geometric": None, "facial_appearance": 300, "dressing": 300, "vocal": 50}
N_PEOPLE = 620  # of either culture


def load_m2b(
    features: str = "facial_appearance",
    culture: Literal["E", "W"] = "E",
    target: Literal["level", "score"] = "level",
    folder: str | os.PathLike[str] | None = None,
) -> Dataset:
    """Read M2B, beauty of 620 eastern and 620 western women (tables I to V).

    The file is ``m2b/m2b.npz`` with the arrays

    - ``culture`` (1240,): text, ``"E"`` or ``"W"``;
    - ``facial_geometric`` (1240, any), ``facial_appearance`` (1240, 300), ``dressing``
      (1240, 300), ``vocal`` (1240, 50): features after PCA, of which only the requested
      ones are needed;
    - ``facial_score``, ``dressing_score``, ``vocal_score`` (1240,): in [1, 10].

    Own data may have other numbers of rows and columns, with both cultures.

    Parameters
    ----------
    features : {"facial_geometric", "facial_appearance", "dressing", "vocal"}
    culture : {"E", "W"}, default="E"
    target : {"level", "score"}, default="level"
        One of the five levels of :func:`beauty_levels`, or the score.
    folder : path, default=None
        The folder of all data, by default what ``ECSELM_DATA`` names.

    Returns
    -------
    Dataset
        Of 620 rows; ``own`` is set for a file of other sizes.

    Examples
    --------
    >>> load_m2b("vocal", "W").X.shape  # doctest: +SKIP
    (620, 50)
    """
    check_m2b_choice(features, culture, target)
    path = find_file(M2B_SOURCE, "m2b.npz", folder)
    rated = f"{features.split('_', maxsplit=1)[0]}_score"
    arrays = read_npz(path, ["culture", features, rated])
    people = check_array(arrays, "culture", "U", (None,), path.name)
    n = len(people)
    X = check_array(arrays, features, "f", (n, None), path.name)
    scores = check_array(arrays, rated, "f", (n,), path.name)
    others = people[~np.isin(people, ("E", "W"))].tolist()
    if others:
        raise ValueError(
            f"{path.name}, array culture: must be 'E' or 'W', got {brief(repr(others[0]))}"
        )
    check_counts(people, ("E", "W"), (2, 2), f"{path.name}, array culture")
    if scores.min() < 1 or scores.max() > 10:
        raise ValueError(
            f"{path.name}, array {rated}: scores must lie in [1, 10], got {scores.min():g} to "
            f"{scores.max():g}"
        )
    rows = people == culture
    own = (
        n != 2 * N_PEOPLE
        or rows.sum() != N_PEOPLE
        or WIDTHS[features] not in (None, X.shape[1])  # None: the paper does not say
    )
    data = beauty_dataset(
        f"{'own' if own else 'M2B'} {features} {culture}",
        X[rows].astype(float),
        scores[rows],
        target,
        M2B_SOURCE.own_sentence(path.name) if own else M2B_SOURCE.sentence,
    )
    return replace(data, own=own)


def check_m2b_choice(features: str, culture: str, target: str) -> None:
    """Raise ValueError for a choice that M2B does not have."""
    if features not in WIDTHS:
        raise ValueError(f"features must be one of {', '.join(WIDTHS)}, got {features!r}")
    if culture not in {"E", "W"}:
        raise ValueError(f"culture must be 'E' or 'W', got {culture!r}")
    if target not in {"level", "score"}:
        raise ValueError(f"target must be 'level' or 'score', got {target!r}")


SCUT_SOURCE = Source(
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
    path = find_file(SCUT_SOURCE, "features.npz", folder)
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
    return beauty_dataset(name, X, _stretched(raw[rows]), target, SCUT_SOURCE.sentence)


def _stretched(means: FloatArray) -> FloatArray:
    """Return means of 60 whole numbers from [1, 5] on [1, 10].

    They were stored in single precision. Sums of ratings are whole, so that a score on a
    threshold, such as 7/3 which becomes 4, is found to lie on it.
    """
    total = np.rint(means.astype(np.float64) * N_RATERS)
    return 1.0 + (total - N_RATERS) * 9.0 / (4.0 * N_RATERS)


def _check_scores(raw: FloatArray, file: str) -> None:
    if raw.min() < 1 or raw.max() > 5:
        raise ValueError(
            f"{file}, array score: scores must lie in [1, 5], got {raw.min():g} to {raw.max():g}"
        )


def _of_group(names: AnyArray, group: str, file: str) -> BoolArray:
    """Return the faces of a group; raise ValueError for a name of no group."""
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
