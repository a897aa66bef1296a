"""Labelled Faces in the Wild, view 2: 6000 pairs in ten folds."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from sklearn.decomposition import PCA

from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm._wording import brief
from ecselm.paper.datasets._descriptors import DESCRIPTORS, imported, read_grey
from ecselm.paper.datasets._text import check_array
from ecselm.paper.datasets.dataset import Dataset, PairSet, Source, find_file
from ecselm.tables.files import list_npz, read_npz, read_text

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


def read_pairs(path: Path, name: str, source: str, *, own: bool = False) -> PairSet:
    """Return the pairs of view 2 out of a ``.npz`` file; ``own`` ones may have other folds.

    Its arrays are X (n, d), eigenvalues (d,), pairs (6000, 2), same (6000,), fold (6000,)
    and, if wanted, image (n,) with names.
    """
    named = ["image"] if "image" in list_npz(path) else []
    arrays = read_npz(path, ["X", "eigenvalues", "pairs", "same", "fold", *named])
    X = check_array(arrays, "X", "f", (None, None), path.name)
    values = check_array(arrays, "eigenvalues", "f", (X.shape[1],), path.name)
    (check_own_folds if own else check_folds)(arrays, path.name)
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
            own=own,
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


def check_own_folds(arrays: Mapping[str, AnyArray], file: str) -> None:
    """Refuse anything but two folds or more, from 0, each with pairs of either kind."""
    same = check_array(arrays, "same", "i", (None,), file)
    fold = check_array(arrays, "fold", "i", (len(same),), file)
    folds = np.unique(fold).tolist()
    if len(folds) < 2 or folds != list(range(len(folds))):
        raise ValueError(
            f"{file}, array fold: must be 0, 1, ... with two folds or more, got {brief(str(folds))}"
        )
    for f in folds:
        counts = [int(((fold == f) & (same == kind)).sum()) for kind in (1, 0)]
        if not all(counts):
            raise ValueError(
                f"{file}, arrays same and fold: fold {f} must have pairs of one person and of "
                f"two, got {counts[0]} and {counts[1]}"
            )


CHUNK = 256
ADDRESS = "http://vis-www.cs.umass.edu/lfw"
ORIGIN = "Labeled Faces in the Wild, Huang et al. 2007"


@dataclass(frozen=True, slots=True)
class PairList:
    """Names of pictures (two to a pair), same (P,) and fold (P,)."""

    names: tuple[tuple[str, str], ...]
    same: IntArray
    fold: IntArray


def lfw_pairs_from_images(
    folder_of_images: str | os.PathLike[str],
    pairs_file: str | os.PathLike[str],
    descriptor: Literal["lbp", "sift"] = "lbp",
    n_components: int = 300,
) -> PairSet:
    """Describe pictures of LFW and keep the principal components, as the paper does.

    Needs the extra ``images`` (scikit-image, Pillow). Components are fitted on the pictures that
    occur in no pair of the file, so that nothing is learned from pairs to be tested.

    Parameters
    ----------
    folder_of_images : path
        As LFW comes, deep-funneled: ``Name/Name_0001.jpg`` of 250 x 250 points.
    pairs_file : path
        LFW's ``pairs.txt``.
    descriptor : {"lbp", "sift"}, default="lbp"
        Local binary patterns in blocks (7080 numbers), or gradients about nine points of a
        face (3456).
    n_components : int, default=300

    Returns
    -------
    PairSet

    Examples
    --------
    >>> lfw_pairs_from_images("lfw-deepfunneled", "pairs.txt")  # doctest: +SKIP
    """
    if descriptor not in DESCRIPTORS:
        raise ValueError(f"descriptor must be 'lbp' or 'sift', got {descriptor!r}")
    for package in ("skimage", "PIL"):  # before any work
        imported(package)
    listed = read_pair_list(Path(pairs_file))
    pictures = {path.stem: path for path in sorted(Path(folder_of_images).glob("*/*.jpg"))}
    paired = sorted({name for pair in listed.names for name in pair})
    others = [path for name, path in pictures.items() if name not in set(paired)]
    _check_pictures([name for name in paired if name not in pictures], len(others), n_components)
    components = PCA(n_components, random_state=0)
    components.fit(np.concatenate(list(_described(others, descriptor))))
    paths = [pictures[name] for name in paired]
    places = {name: i for i, name in enumerate(paired)}
    return PairSet(
        f"LFW, {descriptor.upper()}",
        np.concatenate([components.transform(rows) for rows in _described(paths, descriptor)]),
        components.explained_variance_,
        np.array([[places[name] for name in pair] for pair in listed.names]),
        listed.same,
        listed.fold,
        SOURCE.sentence,
        tuple(paired),
    )


def read_pair_list(path: Path) -> PairList:
    """Read LFW's ``pairs.txt``: folds and pairs of either kind in one, then the pairs."""
    _check_is_there(path)
    lines = [line.split() for line in read_text(path).splitlines()]
    if not lines or len(lines[0]) != 2 or not all(map(_counts, lines[0])):
        raise ValueError(f"{path.name}, line 1: must be the numbers of folds and of pairs")
    n_folds, n_each = (int(field) for field in lines[0])
    body = [(i, fields) for i, fields in enumerate(lines[1:], 2) if fields]
    if len(body) != 2 * n_folds * n_each:
        raise ValueError(f"{path.name} must list {2 * n_folds * n_each} pairs, got {len(body)}")
    same = np.tile(np.repeat([1, 0], n_each), n_folds)
    names = tuple(
        _pair(fields, bool(kind), f"{path.name}, line {i}")
        for (i, fields), kind in zip(body, same, strict=True)
    )
    return PairList(names, same, np.repeat(np.arange(n_folds), 2 * n_each))


def _check_is_there(path: Path) -> None:
    if not path.is_file():
        raise FileNotFoundError(
            f"{path.name} is missing: pairs_file must be LFW's list of pairs. Get it from "
            f"{ADDRESS} ({ORIGIN}; terms: {SOURCE.terms})"
        )


def _counts(text: str) -> bool:
    """Return whether a text is a whole number from 1 that a list of pictures may have."""
    return text.isascii() and text.isdecimal() and len(text) <= 6 and int(text) > 0


def _pair(fields: list[str], same: bool, place: str) -> tuple[str, str]:
    form = "<name> <number> <number>" if same else "<name> <number> <name> <number>"
    numbers = fields[1:] if same else fields[1::2]
    if len(fields) != len(form.split()) or not all(map(_counts, numbers)):
        raise ValueError(f"{place}: must read {form!r}, got {brief(repr(' '.join(fields)))}")
    people = [fields[0], fields[0] if same else fields[2]]
    first, second = (f"{who}_{int(n):04d}" for who, n in zip(people, numbers, strict=True))
    return first, second


def _check_pictures(missing: list[str], n_others: int, n_components: int) -> None:
    if missing:
        raise FileNotFoundError(
            f"{len(missing)} pictures of the pairs are missing, the first is {missing[0]}.jpg. "
            f"Get them from {ADDRESS}, deep-funneled ({ORIGIN}; terms: {SOURCE.terms})"
        )
    if n_others < n_components:
        raise ValueError(
            f"n_components must be at most the number of pictures in no pair, {n_others}, "
            f"got {n_components}"
        )


def _described(paths: Iterable[Path], descriptor: str) -> Iterator[FloatArray]:
    """Yield descriptors of pictures, some hundred at a time, in single precision."""
    describe = DESCRIPTORS[descriptor]
    paths = list(paths)
    for start in range(0, len(paths), CHUNK):
        rows = [describe(read_grey(path)) for path in paths[start : start + CHUNK]]
        yield np.array(rows, dtype=np.float32)


PAPER_SOURCE = Source(
    "lfw",
    "Labeled Faces in the Wild, Huang et al. 2007, view 2, with the descriptors of Sub-SML, "
    "Cao et al. 2013",
    "the authors of Sub-SML; the documentation of load_lfw says how to write the file",
    "research on face recognition",
)


def load_lfw(
    descriptor: Literal["lbp", "sift"] = "lbp", folder: str | os.PathLike[str] | None = None
) -> PairSet:
    """Read LFW view 2 with the paper's descriptors (tables VIII and IX).

    The files are ``lfw/lfw_lbp.npz`` and ``lfw/lfw_sift.npz`` with the arrays ``X``
    (n, 300), a row per picture; ``eigenvalues`` (300,), the variances of its columns, or
    ones; ``pairs`` (6000, 2), positions of rows; ``same`` (6000,), 1 or 0; ``fold`` (6000,),
    0 to 9, each with 300 pairs of either kind; and if wanted ``image`` (n,), names. Own data
    may have other numbers of columns, pairs and folds, with pairs of either kind in each.

    Parameters
    ----------
    descriptor : {"lbp", "sift"}, default="lbp"
    folder : path, default=None
        The folder of all data, by default what ``ECSELM_DATA`` names.

    Returns
    -------
    PairSet
        ``own`` is set for other sizes.

    Examples
    --------
    >>> load_lfw("sift").dataset().X.shape  # doctest: +SKIP
    (6000, 2, 300)
    """
    if descriptor not in {"lbp", "sift"}:
        raise ValueError(f"descriptor must be 'lbp' or 'sift', got {descriptor!r}")
    path = find_file(PAPER_SOURCE, f"lfw_{descriptor}.npz", folder)
    own = f"own pairs, {descriptor.upper()}"
    pairs = read_pairs(path, own, PAPER_SOURCE.own_sentence(path.name), own=True)
    if not _is_view_two(pairs):
        return pairs
    name = f"LFW, {descriptor.upper()}"
    return replace(pairs, name=name, source=PAPER_SOURCE.sentence, own=False)


def _is_view_two(pairs: PairSet) -> bool:
    """Tell whether pairs have the sizes of view 2 with the paper's descriptors."""
    if pairs.descriptors.shape[1] != 300 or len(pairs.fold) != N_FOLDS * 2 * N_EACH:
        return False
    counts = np.bincount(2 * pairs.fold + pairs.same)
    return counts.tolist() == [N_EACH] * (2 * N_FOLDS)
