"""Pairs of Labelled Faces in the Wild from the pictures themselves."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from sklearn.decomposition import PCA

from ecselm._typing import FloatArray, IntArray
from ecselm.datasets.descriptors import DESCRIPTORS, SIZE, imported
from ecselm.datasets.lfw import SOURCE
from ecselm.datasets.pairs import PairSet
from ecselm.datasets.readers import read_text

LARGEST = 2**22  # bytes of a picture; the real ones have about 9000
CHUNK = 256


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

    Needs the extra ``images`` (scikit-image). Components are fitted on the pictures that
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
    imported("skimage.io")  # before any work
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
    lines = [line.split() for line in read_text(path).splitlines()]
    if not lines or len(lines[0]) != 2 or not all(field.isdecimal() for field in lines[0]):
        raise ValueError(f"{path.name}, line 1: must be the numbers of folds and of pairs")
    n_folds, n_each = (int(field) for field in lines[0])
    body = [fields for fields in lines[1:] if fields]
    if len(body) != 2 * n_folds * n_each:
        raise ValueError(f"{path.name} must list {2 * n_folds * n_each} pairs, got {len(body)}")
    same = np.tile(np.repeat([1, 0], n_each), n_folds)
    names = tuple(
        _pair(fields, bool(kind), f"{path.name}, line {i}")
        for i, (fields, kind) in enumerate(zip(body, same, strict=True), 2)
    )
    return PairList(names, same, np.repeat(np.arange(n_folds), 2 * n_each))


def _pair(fields: list[str], same: bool, place: str) -> tuple[str, str]:
    form = "<name> <number> <number>" if same else "<name> <number> <name> <number>"
    numbers = fields[1:] if same else fields[1::2]
    if len(fields) != len(form.split()) or not all(text.isdecimal() for text in numbers):
        raise ValueError(f"{place}: must read {form!r}, got {' '.join(fields)!r}")
    people = [fields[0], fields[0] if same else fields[2]]
    first, second = (f"{who}_{int(n):04d}" for who, n in zip(people, numbers, strict=True))
    return first, second


def _check_pictures(missing: list[str], n_others: int, n_components: int) -> None:
    if missing:
        raise FileNotFoundError(
            f"{len(missing)} pictures of the pairs are missing, the first is {missing[0]}.jpg. "
            f"Get them from http://vis-www.cs.umass.edu/lfw (deep-funneled; terms: {SOURCE.terms})"
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
        rows = [describe(_grey(path)) for path in paths[start : start + CHUNK]]
        yield np.array(rows, dtype=np.float32)


def _grey(path: Path) -> FloatArray:
    """Return a picture (250, 250) with values in [0, 255]."""
    if path.stat().st_size > LARGEST:
        raise ValueError(f"{path.name} must have at most {LARGEST} bytes")
    try:
        picture: Any = imported("skimage.io").imread(path)
    except (OSError, ValueError, SyntaxError) as error:
        raise ValueError(f"{path.name} is damaged or no picture: {error}") from error
    if picture.shape[:2] != SIZE or picture.ndim > 3 or picture.dtype != np.uint8:
        raise ValueError(f"{path.name} must have {SIZE} points, got {picture.shape}")
    if picture.ndim == 3:
        return imported("skimage.color").rgb2gray(picture[:, :, :3]) * 255.0
    return picture.astype(np.float64)
