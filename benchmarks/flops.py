"""The flop model: what a fit or a candidate takes in multiplications and additions.

It counts what no exact method known to us does without; exponentials, comparisons and
the way to memory do not count.
"""

from __future__ import annotations

import numpy as np

from benchmarks.problems import N_FOLDS, Shape


def candidate_flops(shape: Shape, splits: str = "train", judge: str = "errors") -> float:
    """Return the flops of a candidate that has one cost per class.

    A solve adds up one Gram matrix per class, factors the sum and solves for m columns:
    ``k L^2 + L^3/3 + 2 L^2 m``. Scores of n rows take ``2 n L m``; the squared loss needs
    none, only ``2 L^2 m`` more. Behind a kernel a solve is ``N^3/3 + 2 N^2 m``, and only
    rows that were left out have to be scored.

    Examples
    --------
    >>> candidate_flops(Shape("a", 5400, 100, 2)) / 1e6  # doctest: +ELLIPSIS
    1.45...
    """
    N, m, k = shape.n_rows, shape.n_targets, shape.n_classes
    n_solves = N_FOLDS if splits == "folds" else 1
    if shape.n_hidden is None:
        n = N if n_solves == 1 else N * (1 - 1 / N_FOLDS)
        scores = 0.0 if n_solves == 1 else 2.0 * N * n * m
        return n_solves * _solve(n, m) + scores
    L = shape.n_hidden
    scores = 2.0 * L * L * m if judge == "squares" else 2.0 * N * L * m
    return n_solves * (k * L * L + _solve(L, m)) + scores


def sample_flops(shape: Shape) -> float:
    """Return the flops of a candidate whose rows have all got new costs.

    ``N L^2 + L^3/3 + 2 L^2 m`` and the scores, or, in samples, ``N^3/3 + 2 N^2 m``.
    """
    N, L, m = shape.n_rows, shape.n_hidden or shape.n_rows, shape.n_targets
    return min(N * L * L + _solve(L, m) + 2.0 * N * L * m, _solve(N, m))


def fit_flops(shape: Shape, n_features: int) -> float:
    """Return the flops of a fit: H, its Gram matrix, ``H'T`` and the solution."""
    N, L, m = shape.n_rows, shape.n_hidden or shape.n_rows, shape.n_targets
    return N * L * (2.0 * n_features + L + 2.0 * m) + _solve(L, m)


def exponent(sizes: np.ndarray, values: np.ndarray) -> float:
    """Return the slope of the logarithms: p where values grow as ``size**p``.

    Examples
    --------
    >>> round(exponent(np.array([1.0, 2.0, 4.0]), np.array([3.0, 12.0, 48.0])), 6)
    2.0
    """
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def _solve(n: float, m: int) -> float:
    return n**3 / 3.0 + 2.0 * n * n * m
