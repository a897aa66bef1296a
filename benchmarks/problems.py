"""The shapes at which searches are timed, as problems whose costs are to be searched."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from ecselm import ELMClassifier
from ecselm.estimators._base import class_targets
from ecselm.fitness import Split, TrainingKernel, every_row, fold_splits
from ecselm.layers import KernelMap, resolve_gamma

N_FOLDS = 5
N_FEATURES = 20
NOISE = 3.0  # of rows around the centre of their class: some are always mistaken


@dataclass(frozen=True, slots=True)
class Shape:
    """How large a problem is; without hidden units it is behind a kernel."""

    name: str
    n_rows: int
    n_hidden: int | None
    n_classes: int
    C: float = 32.0
    data: str = "synthetic"
    rounds: int = 7
    literal: int = 20  # candidates that the literal loop evaluates in a round

    @property
    def n_targets(self) -> int:
        """Return m, the columns of T: two classes share one."""
        return 1 if self.n_classes == 2 else self.n_classes

    @property
    def is_kernel(self) -> bool:
        """Tell whether there is a kernel in the place of hidden units."""
        return self.n_hidden is None

    def shrunk(self) -> Shape:
        """Return the shape in small, for tests."""
        L = None if self.n_hidden is None else 8 + self.n_classes
        return replace(
            self, n_rows=60, n_hidden=L, n_classes=min(self.n_classes, 4), rounds=2, literal=3
        )


SHAPES = {
    shape.name: shape
    for shape in (
        Shape("a", 5400, 100, 2),
        Shape("b", 320, 200, 6, C=2.0**20, literal=50),
        Shape("c", 400, 300, 5, literal=30),
        Shape("d", 700, None, 100, rounds=4, literal=6),
        Shape("e", 1437, 200, 10, data="digits"),
        Shape("f", 100_000, 300, 5, rounds=3, literal=2),
    )
}


@dataclass(frozen=True, slots=True)
class Problem:
    """Rows behind a hidden layer or a kernel, with the splits they are judged by."""

    shape: Shape
    X: np.ndarray  # (N, n)
    y: np.ndarray  # (N,) class codes
    T: np.ndarray  # (N, m)
    features: np.ndarray | TrainingKernel  # H (N, L), or the kernel
    splits: dict[str, list[Split]]  # of the rows, by how they are judged

    @classmethod
    def of_shape(cls, shape: Shape, *, with_folds: bool = True) -> Problem:
        """Make the problem, which is the same every time."""
        X, y = rows_of(shape)
        splits = {"train": every_row(len(y))}
        if with_folds:
            splits["folds"] = fold_splits(X, y, N_FOLDS, np.random.default_rng(0))
        return cls(shape, X, y, class_targets(shape.n_classes)[y], _features(shape, X, y), splits)

    def judged(self, splits: str) -> np.ndarray:
        """Return the positions of the judged rows, split after split."""
        return np.concatenate([split.test for split in self.splits[splits]])


def rows_of(shape: Shape) -> tuple[np.ndarray, np.ndarray]:
    """Return X and the class codes: digits to learn from, or rows around random centres."""
    if shape.data == "digits":
        X, y = load_digits(n_class=shape.n_classes, return_X_y=True)
        kept = train_test_split(X, y, train_size=shape.n_rows, stratify=y, random_state=0)
        return kept[0], kept[2]
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(shape.n_rows) % shape.n_classes)
    centres = rng.standard_normal((shape.n_classes, N_FEATURES))
    return centres[y] + NOISE * rng.standard_normal((shape.n_rows, N_FEATURES)), y


def _features(shape: Shape, X: np.ndarray, y: np.ndarray) -> np.ndarray | TrainingKernel:
    if shape.n_hidden is None:
        return TrainingKernel.from_map(KernelMap("rbf", X, gamma=resolve_gamma("scale", X)))
    return ELMClassifier(shape.n_hidden, random_state=0).fit(X, y).layer_(X)
