"""Labelled Faces in the Wild, view 2: 6000 pairs in ten folds."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ecselm._typing import AnyArray
from ecselm.paper.datasets.dataset import Dataset, PairSet, Source, find_file
from ecselm.paper.datasets.text import check_array
from ecselm.tables.files import list_npz, read_npz

SOURCE = Source(
    folder="lfw_view2_lbp",
    origin="Labeled Faces in the Wild, Huang et al. 2007, view 2, features computed from the "
    "deep-funneled pictures",
    address="http://vis-www.cs.umass.edu/lfw, from whose pictures and pairs.txt "
    "lfw_pairs_from_images makes them",
    terms="research on face recognition, Huang et al. 2007 to be cited",
)
N_FOLDS, N_EACH = 10, 300  # pairs of either kind in a fold
METRICS = ("correlation", "euclidean", "cosine", "mahalanobis", "bilinear")


def load_lfw_pairs(folder: str | os.PathLike[str] | None = None) -> PairSet:
    """Read LBP descriptors of the 7701 pictures of view 2, and its pairs.

    Parameters
    ----------
    folder : path, default=None
        The folder of all data, by default what ``ECSELM_DATA`` names.

    Returns
    -------
    PairSet
        300 principal components, fitted on pictures in no pair.

    Examples
    --------
    >>> load_lfw_pairs().dataset().X.shape  # doctest: +SKIP
    (6000, 2, 300)
    """
    path = find_file(SOURCE, "lfw_lbp_pca300.npz", folder)
    return read_pairs(path, "LFW, LBP", SOURCE.sentence)


def load_lfw_metrics(fold: int = 0, folder: str | os.PathLike[str] | None = None) -> Dataset:
    """Read five similarities of every pair of view 2, learned without one fold.

    Two of the five are learned from the other nine folds, so that they flatter the pairs
    of these a little; :class:`ecselm.paper.pairs.PairSimilarities` on :func:`load_lfw_pairs` does
    not.

    Parameters
    ----------
    fold : int, default=0
        0 to 9: the fold to test on.
    folder : path, default=None
        The folder of all data, by default what ``ECSELM_DATA`` names.

    Returns
    -------
    Dataset
        ``X`` (6000, 5), with one split: the nine folds, and the one.

    Examples
    --------
    >>> load_lfw_metrics(3).feature_names[0]  # doctest: +SKIP
    'correlation'
    """
    if fold not in range(N_FOLDS):
        raise ValueError(f"fold must be 0 to {N_FOLDS - 1}, got {fold!r}")
    path = find_file(SOURCE, "lfw_lbp_pairmetrics5.npz", folder)
    arrays = read_npz(path, ["X", "same", "fold"])
    n = N_FOLDS * 2 * N_EACH
    X = check_array(arrays, "X", "f", (N_FOLDS, n, len(METRICS)), path.name)
    check_folds(arrays, path.name)
    tested = arrays["fold"] == fold
    return Dataset(
        f"LFW, five similarities, fold {fold}",
        X[fold].astype(np.float64),
        arrays["same"].astype(np.intp),
        SOURCE.sentence,
        np.array([0, 1]),
        folds=((np.flatnonzero(~tested), np.flatnonzero(tested)),),
        feature_names=METRICS,
        class_names=("different", "same"),
    )


def read_pairs(path: Path, name: str, source: str) -> PairSet:
    """Return the pairs of view 2 out of a ``.npz`` file.

    Its arrays are X (n, d), eigenvalues (d,), pairs (6000, 2), same (6000,), fold (6000,)
    and, if wanted, image (n,) with names.
    """
    named = ["image"] if "image" in list_npz(path) else []
    arrays = read_npz(path, ["X", "eigenvalues", "pairs", "same", "fold", *named])
    X = check_array(arrays, "X", "f", (None, None), path.name)
    values = check_array(arrays, "eigenvalues", "f", (X.shape[1],), path.name)
    check_folds(arrays, path.name)
    check_array(arrays, "pairs", "i", (len(arrays["same"]), 2), path.name)
    images = check_array(arrays, "image", "U", (len(X),), path.name).tolist() if named else ()
    try:
        return PairSet(
            name,
            X.astype(np.float64),
            values.astype(np.float64),
            arrays["pairs"].astype(np.intp),
            arrays["same"].astype(np.intp),
            arrays["fold"].astype(np.intp),
            source,
            tuple(images),
        )
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from error


def check_folds(arrays: Mapping[str, AnyArray], file: str) -> None:
    """Refuse anything but ten folds of 300 pairs of one person and 300 of two."""
    n = N_FOLDS * 2 * N_EACH
    same = check_array(arrays, "same", "i", (n,), file)
    fold = check_array(arrays, "fold", "i", (n,), file)
    for f in range(N_FOLDS):
        counts = [int(((fold == f) & (same == kind)).sum()) for kind in (1, 0)]
        if counts != [N_EACH, N_EACH]:
            raise ValueError(
                f"{file}, arrays same and fold: fold {f} must have {N_EACH} pairs of one person "
                f"and {N_EACH} of two, got {counts[0]} and {counts[1]}"
            )
