"""Whether what was read from a file can be used: compiled code follows indices unchecked.

Trees and sparse matrices are arrays of indices. scikit-learn and SciPy trust those that they
have made themselves; a forged or damaged file could send them out of bounds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from ecselm._sklearn import Tree
from ecselm._typing import BoolArray, IntArray
from ecselm.saving.plain import parts_of

LEAF = -1


def check_sound(model: Any) -> None:
    """Refuse a model with parts missing, or with indices that lead out of bounds.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])
    >>> check_sound(tree)
    >>> tree.tree_.feature[0] = 7
    >>> check_sound(tree)
    Traceback (most recent call last):
        ...
    ValueError: a tree must use features from 0 to 0, got 7
    """
    if not isinstance(model, BaseEstimator):
        raise TypeError(f"it must hold an estimator, got {type(model).__name__}")
    for value in _everything(model):
        if sparse.issparse(value):
            _check_matrix(value)
        elif isinstance(value, BaseEstimator):
            _check_trees(value)


def _everything(model: Any) -> Iterator[Any]:
    waiting, seen = [model], set()
    while waiting:
        value = waiting.pop()
        if id(value) not in seen:
            seen.add(id(value))
            yield value
            waiting.extend(parts_of(value).values())  # an AttributeError where a field is missing


def _check_matrix(matrix: Any) -> None:
    if matrix.format == "coo":
        for places, size in zip(matrix.coords, matrix.shape, strict=True):
            _check_range(places, size, "a matrix must have places")
    else:
        matrix.check_format()


def _check_trees(estimator: BaseEstimator) -> None:
    """Check the trees that an estimator gives its rows to; only it knows how wide these are."""
    held = vars(estimator)
    members = held.get("estimators_", [])
    members = members.ravel() if isinstance(members, np.ndarray) else members
    for owner in (estimator, *members):
        tree = getattr(owner, "__dict__", {}).get("tree_")
        if tree is not None:
            if not isinstance(tree, Tree):
                raise TypeError(f"a tree must be one of scikit-learn's, got {type(tree).__name__}")
            n_features = min(tree.n_features, estimator.n_features_in_)
            inner = (tree.children_left != LEAF) | (tree.children_right != LEAF)
            _check_nodes(inner, tree.children_left, tree.children_right, tree.feature, n_features)
    for predictor in (one for stage in held.get("_predictors", []) for one in stage):
        nodes = predictor.nodes
        inner = nodes["is_leaf"] == 0
        if nodes["is_categorical"][inner].any():
            raise ValueError("trees of HistGradientBoosting must split by numbers, not categories")
        left, right, feature = (
            nodes[name].astype(np.int64) for name in ("left", "right", "feature_idx")
        )
        _check_nodes(inner, left, right, feature, estimator.n_features_in_)


def _check_nodes(
    inner: BoolArray, left: IntArray, right: IntArray, feature: IntArray, n_features: int
) -> None:
    own = np.flatnonzero(inner)
    for child in (left[inner], right[inner]):
        # A child comes after its parent, so that every way ends at a leaf.
        if not ((child > own) & (child < len(inner))).all():
            raise ValueError("a tree must lead from every node to later ones, up to its leaves")
    _check_range(feature[inner], n_features, "a tree must use features")


def _check_range(values: IntArray, size: int, what: str) -> None:
    outside = values[(values < 0) | (values >= size)]
    if len(outside):
        raise ValueError(f"{what} from 0 to {size - 1}, got {outside[0]}")
