"""Rows, what is to be predicted of them, and where they come from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ecselm._typing import AnyArray, FloatArray, IntArray

Folds = tuple[tuple[IntArray, IntArray], ...]


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
        """Return a paragraph that says what the rows are and where they come from."""
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
    """Deal the rows of every class out to folds at random; return the fold (N,) of each.

    Where one class stops the next goes on, so that small classes do not all lie in the
    first folds.
    """
    order = rng.permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    fold = np.empty(len(y), dtype=np.intp)
    fold[order] = np.arange(len(y)) % n_folds
    return fold
