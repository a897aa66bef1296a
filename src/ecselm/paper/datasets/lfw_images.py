"""Pairs of Labelled Faces in the Wild from the pictures themselves."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from sklearn.decomposition import PCA

from ecselm._typing import FloatArray, IntArray
from ecselm._wording import brief
from ecselm.paper.datasets.dataset import PairSet
from ecselm.paper.datasets.images import DESCRIPTORS, imported, read_grey
from ecselm.paper.datasets.lfw import SOURCE
from ecselm.tables.files import read_text

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
