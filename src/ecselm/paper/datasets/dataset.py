"""A data set: rows, targets, folds, costs, and where the files come from."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ecselm._typing import AnyArray, FloatArray, IntArray

VARIABLE = "ECSELM_DATA"
Folds = tuple[tuple[IntArray, IntArray], ...]


@dataclass(frozen=True, slots=True)
class Source:
    """A data set that is not part of the package."""

    folder: str  # in the folder of all data
    origin: str  # what it is and whom to credit
    address: str  # where to get it
    terms: str

    @property
    def sentence(self) -> str:
        """Origin and terms, for the record."""
        return f"{self.origin}, from {self.address}; terms: {self.terms}."

    def own_sentence(self, file: str) -> str:
        """Return what to record of a file in the layout of these data that holds others."""
        return f"Own data of {self.folder}/{file}, in the layout of {self.origin}, not these data."


def data_root(folder: str | os.PathLike[str] | None) -> Path | None:
    """Return the folder of all data: the argument, the environment variable, or None."""
    named = folder if folder is not None else os.environ.get(VARIABLE)
    if folder is None and named and not Path(named).is_dir():
        raise NotADirectoryError(f"{VARIABLE} must name a folder, got {named}")
    return Path(named) if named else None


def find_file(source: Source, file: str, folder: str | os.PathLike[str] | None = None) -> Path:
    """Return the path of a file of ``source``, or raise FileNotFoundError saying how to get it.

    Examples
    --------
    >>> source = Source("toy", "A toy", "nowhere", "none")
    >>> find_file(source, "toy.csv", "no-such-folder")
    Traceback (most recent call last):
        ...
    FileNotFoundError: toy.csv is missing: it must lie in no-such-folder/toy. Get it from nowhere
    (A toy; terms: none)
    """
    root = data_root(folder)
    if root is None:
        place = (
            f"it must lie in the sub-folder {source.folder} of the folder that the argument "
            f"folder or the environment variable {VARIABLE} names, and neither is given"
        )
    else:
        path = root / source.folder / file
        if path.is_file():
            return path
        place = f"it must lie in {root / source.folder}"
    raise FileNotFoundError(
        f"{file} is missing: {place}. Get it from {source.address} ({source.origin}; "
        f"terms: {source.terms})"
    )


@dataclass(frozen=True, slots=True, eq=False)
class PairSet:
    """Pictures by their descriptors, and pairs of them in folds.

    Parameters
    ----------
    name : str
    descriptors : array of shape (n, d)
        A row per picture.
    eigenvalues : array of shape (d,)
        The variances of the columns where they were fitted, on pictures in no pair.
    pairs : array of shape (P, 2)
        Positions of pictures.
    same : array of shape (P,)
        1 for the same person, 0 for two.
    fold : array of shape (P,)
        From 0.
    source : str
    images : tuple of str
        Names of the pictures; empty where there are none.
    synthetic : bool, default=False
    own : bool, default=False
        Whether the pairs are own data in the layout of the paper's.

    Examples
    --------
    >>> import numpy as np
    >>> pairs = PairSet(
    ...     "tiny", np.eye(3), np.ones(3), np.array([[0, 1], [1, 2]]), np.array([1, 0]),
    ...     np.array([0, 1]), "Made here.",
    ... )
    >>> pairs.dataset().X.shape
    (2, 2, 3)
    """

    name: str
    descriptors: FloatArray
    eigenvalues: FloatArray
    pairs: IntArray
    same: IntArray
    fold: IntArray
    source: str
    images: tuple[str, ...] = ()
    synthetic: bool = False
    own: bool = False

    def __post_init__(self) -> None:
        n = len(self.descriptors)
        if self.pairs.size and not (self.pairs.min() >= 0 and self.pairs.max() < n):
            raise ValueError(
                f"pairs must be positions of the {n} pictures, 0 to {n - 1}, got "
                f"{self.pairs.min()} to {self.pairs.max()}"
            )
        if not np.isin(self.same, (0, 1)).all():
            raise ValueError(f"same must be 0 or 1, got {np.unique(self.same)}")
        if (self.eigenvalues <= 0).any():
            raise ValueError(f"eigenvalues must be > 0, got {self.eigenvalues.min()}")

    def dataset(self, *, whiten: bool = False) -> Dataset:
        """Return the pairs as ``X`` (P, 2, d), for :mod:`ecselm.paper.pairs`, with their folds.

        ``whiten`` divides every column by the root of its eigenvalue.
        """
        rows = self.descriptors / np.sqrt(self.eigenvalues) if whiten else self.descriptors
        data = pair_dataset(
            self.name, rows[self.pairs], self.same, self.fold, self.source, self.synthetic
        )
        return replace(data, own=self.own)

    def summary(self) -> str:
        """Return a paragraph about the pairs and their source."""
        marks = "SYNTHETIC, " if self.synthetic else ""
        return (
            f"{self.name}: {marks}{len(self.pairs)} pairs of {len(self.descriptors)} pictures "
            f"with {self.descriptors.shape[1]} features; {int(self.same.sum())} of the same "
            f"person; {len(np.unique(self.fold))} folds. {self.source}"
        )


def pair_dataset(
    name: str, X: AnyArray, same: IntArray, fold: IntArray, source: str, synthetic: bool = False
) -> Dataset:
    """Return pairs, in whatever form, as a data set of two classes with folds."""
    return Dataset(
        name,
        np.asarray(X, dtype=np.float64),
        np.asarray(same, dtype=np.intp),
        source,
        np.array([0, 1]),
        folds=leave_fold_out(fold),
        class_names=("different", "same"),
        synthetic=synthetic,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """A data set as a loader hands it over.

    Parameters
    ----------
    name : str
    X : array of shape (N, d), or (N, 2, d) for pairs
    y : array of shape (N,)
        Labels of classes, or scores where ``classes`` is None.
    source : str
        One sentence: the origin and the terms of use.
    classes : array of shape (k,) or None
        The labels in ``y``, sorted, as estimators keep them.
    cost : array of shape (k, k) or None
        Rows are the truth and columns the prediction, in the order of ``classes``.
    sample_cost : array of shape (N, k) or None
        The cost of predicting each class for each row.
    folds : tuple of (train, test) or None
        Positions of rows, where the source says how to split.
    feature_names : tuple of str
    class_names : tuple of str
        What the ``classes`` mean; empty where the labels say it themselves.
    synthetic : bool, default=False
        Whether the rows were drawn by this package.
    own : bool, default=False
        Whether the rows are own data in the layout of the paper's.

    Examples
    --------
    >>> import numpy as np
    >>> data = Dataset("tiny", np.eye(3), np.array([0, 0, 1]), "Made here.", np.array([0, 1]))
    >>> print(data.summary())
    tiny: 3 rows of 3 features; classes 0 (2), 1 (1). Made here.
    """

    name: str
    X: FloatArray
    y: AnyArray
    source: str
    classes: AnyArray | None = None
    cost: FloatArray | None = None
    sample_cost: FloatArray | None = None
    folds: Folds | None = None
    feature_names: tuple[str, ...] = ()
    class_names: tuple[str, ...] = ()
    synthetic: bool = False
    own: bool = False

    def __post_init__(self) -> None:
        n, k = len(self.X), 0 if self.classes is None else len(self.classes)
        _must_have("y", self.y, (n,))
        _must_have("cost", self.cost, (k, k))
        _must_have("sample_cost", self.sample_cost, (n, k))
        if self.feature_names and len(self.feature_names) != self.X.shape[-1]:
            raise ValueError(
                f"feature_names must name all {self.X.shape[-1]} columns of X, got "
                f"{len(self.feature_names)} names"
            )
        if self.class_names and len(self.class_names) != k:
            raise ValueError(f"class_names must name {k} classes, got {self.class_names}")

    @property
    def counts(self) -> IntArray:
        """The number of rows (k,) of every class; empty for scores."""
        if self.classes is None:
            return np.zeros(0, dtype=np.intp)
        return (self.y[:, np.newaxis] == self.classes).sum(axis=0)

    def summary(self) -> str:
        """Return a paragraph about the rows and their source."""
        kind = "pairs" if self.X.ndim == 3 else "rows"
        marks = "SYNTHETIC, " if self.synthetic else ""
        parts = [f"{self.name}: {marks}{len(self.X)} {kind} of {self.X.shape[-1]} features"]
        parts.append(self._targets())
        if self.cost is not None:
            parts.append("with a cost matrix")
        if self.sample_cost is not None:
            parts.append("with costs by row")
        if self.folds is not None:
            parts.append(f"{len(self.folds)} split{'s' * (len(self.folds) > 1)}")
        return f"{'; '.join(parts)}. {self.source}"

    def _targets(self) -> str:
        if self.classes is None:
            return f"scores from {self.y.min():g} to {self.y.max():g}"
        names = self.class_names or tuple(str(label) for label in self.classes)
        if len(names) > 12:
            return f"{len(names)} classes of {self.counts.min()} to {self.counts.max()}"
        each = (f"{name} ({n})" for name, n in zip(names, self.counts, strict=True))
        return f"classes {', '.join(each)}"


def _must_have(name: str, values: AnyArray | None, shape: tuple[int, ...]) -> None:
    if values is not None and values.shape != shape:
        raise ValueError(f"{name} must have the shape {shape}, got {values.shape}")


def leave_fold_out(fold: IntArray) -> Folds:
    """Return the split that tests on each of the folds, 0 and up, of rows (N,).

    Examples
    --------
    >>> import numpy as np
    >>> [(train.tolist(), test.tolist()) for train, test in leave_fold_out(np.array([0, 1, 1]))]
    [([1, 2], [0]), ([0], [1, 2])]
    """
    return tuple(
        (np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in np.unique(fold).tolist()
    )


def stratified_fold(y: AnyArray, n_folds: int, rng: np.random.Generator) -> IntArray:
    """Assign the rows of every class to folds at random; return the fold (N,) of each.

    Every class continues where the one before ended, so that small classes do not all lie in
    the first folds.
    """
    order = rng.permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    fold = np.empty(len(y), dtype=np.intp)
    fold[order] = np.arange(len(y)) % n_folds
    return fold
