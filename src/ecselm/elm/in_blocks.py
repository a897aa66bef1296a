"""Machines whose rows come in blocks, behind a layer that is made beforehand.

The normal equations are sums over rows: they are added up, and solved once, at the end.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ecselm._sklearn import check_weights
from ecselm._threads import one_blas_thread
from ecselm._typing import AnyArray, FloatArray, Matrix
from ecselm.costs import Costs
from ecselm.elm.classification import labelled_rows, stream_codes
from ecselm.elm.family import ELMFamily
from ecselm.elm.layers import LayerRecipe
from ecselm.elm.learners import LayerLearner
from ecselm.elm.rows import Rows

Block = tuple[Any, Any, Any]  # X, y and weights or None
NO_ROW_COSTS = dict.fromkeys(("sample_cost", "tp_cost", "tn_cost", "fp_cost", "fn_cost"))


def fit_blocks(
    estimator: Any, recipe: LayerRecipe, blocks: Iterable[Block], classes: AnyArray | None
) -> None:
    """Fit an estimator that has ``partial_fit`` on blocks of rows; it is overwritten.

    Parameters
    ----------
    estimator : ELMFamily
        Not fitted.
    recipe : LayerRecipe
        With the layer made.
    blocks : iterable of (X, y, weights)
        At least one, each with at least a row.
    classes : array of shape (k,) or None
        All classes in sorted order; None for a regressor.
    """
    learner, rows, costs, ndim = None, None, None, 1
    with one_blas_thread():
        for X, y, weight in blocks:
            ndim = np.ndim(y)
            rows, costs = _read(estimator, X, y, weight, classes, reset=learner is None)
            learner = (
                _begun(estimator, recipe, rows, classes)
                if learner is None
                else (learner.extended(rows))
            )
        if learner is None or rows is None or not learner.masses.any():
            raise ValueError("costs must not be 0 for every row of positive weight")
        if classes is None:
            estimator._learn(learner, rows, ndim)
        else:
            estimator._learn(learner, rows, costs, classes)


def _begun(
    estimator: ELMFamily, recipe: LayerRecipe, rows: Rows, classes: AnyArray | None
) -> LayerLearner:
    n_classes = 1 if classes is None else len(classes)
    return LayerLearner.from_first_chunk(recipe, rows, n_classes, estimator._sample_rng())


def _read(
    estimator: Any, X: Any, y: Any, weight: Any, classes: AnyArray | None, *, reset: bool
) -> tuple[Rows, Costs | None]:
    """Return the rows of a block with their targets and costs."""
    if classes is None:
        X, y = estimator._validated(X, reset=reset, y=y, multi_output=True, y_numeric=True)
        return estimator._target_rows(X, y, block_weights(weight, X), None), None
    X, y = estimator._validated(X, reset=reset, y=y)
    codes = stream_codes(y, classes)
    costs = estimator._read_costs(codes, classes, **NO_ROW_COSTS)
    return labelled_rows(X, codes, costs, block_weights(weight, X), len(classes)), costs


def block_weights(weight: Any, X: Matrix) -> FloatArray | None:
    """Return the weights of a block, which may all be 0."""
    return check_weights(weight, X, may_be_zero=True)
