"""Costs that have been read, and the vector B they give (paper, eqs. 11-12).

``B_i = sum_j (W M)_ij = W_ii sum_j M_ij`` needs the class counts n_c twice: in W,
and in the sum over all samples j. A stream knows them only at its end. So costs are
kept as terms: row i belongs to groups whose coefficients depend on the counts, with
factors that do not, and ``B_i = sum_r coefficient[group_ir] * factor_ir``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ecselm._typing import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class CostTerms:
    """Groups and factors of N rows with r terms each, and the kind of cost they come from."""

    groups: IntArray  # (N, r), in 0..n_groups-1
    factors: FloatArray  # (N, r)
    n_groups: int
    kind: str

    def vector(self, coefficients: FloatArray) -> FloatArray:
        """Return B (N,) for the ``coefficients`` (n_groups,) of the groups."""
        return (coefficients[self.groups] * self.factors).sum(axis=1)


class Costs(Protocol):
    """Costs of any form, once read."""

    def terms(self, y: IntArray) -> CostTerms:
        """Return the terms of rows of the classes ``y`` (N,)."""

    def coefficients(self, n: FloatArray, W: FloatArray) -> FloatArray:
        """Return the coefficients of the groups for class counts and weights (k,)."""


@dataclass(frozen=True, slots=True)
class ClassCosts:
    """Costs by class: ``matrix[i, j]`` is the cost of predicting j where i is true.

    Examples
    --------
    >>> import numpy as np
    >>> costs = ClassCosts(np.array([[0.0, 1.0], [5.0, 0.0]]))
    >>> y = np.array([0, 0, 0, 1])
    >>> n, W = np.array([3.0, 1.0]), np.ones(2)
    >>> costs.terms(y).vector(costs.coefficients(n, W))
    array([ 1.,  1.,  1., 15.])
    """

    matrix: FloatArray  # (k, k)
    aggregate: str = "samples"

    def terms(self, y: IntArray) -> CostTerms:
        """Put each row into the group of its class."""
        return CostTerms(y[:, np.newaxis], np.ones((len(y), 1)), len(self.matrix), "class")

    def coefficients(self, n: FloatArray, W: FloatArray) -> FloatArray:
        """Return ``W_c sum_j n_j cost[c, j]``, or without the n_j over classes."""
        repeats = n if self.aggregate == "samples" else np.ones(len(n))
        return W * (self.matrix @ repeats)


@dataclass(frozen=True, slots=True)
class ExampleCosts:
    """Costs by example: ``matrix[i, j]`` is the cost of predicting class j for row i."""

    matrix: FloatArray  # (N, k), 0 where j is the true class
    aggregate: str = "samples"

    def terms(self, y: IntArray) -> CostTerms:
        """Group by true class, and by predicted class where its count matters."""
        k = self.matrix.shape[1]
        if self.aggregate == "classes":
            return CostTerms(y[:, np.newaxis], self.matrix.sum(axis=1, keepdims=True), k, "example")
        others = (y[:, np.newaxis] + np.arange(1, k)) % k
        return CostTerms(
            y[:, np.newaxis] * k + others,
            np.take_along_axis(self.matrix, others, axis=1),
            k * k,
            "example",
        )

    def coefficients(self, n: FloatArray, W: FloatArray) -> FloatArray:
        """Return ``W_c`` by class, or ``W_c n_j`` by pair of classes."""
        return W.copy() if self.aggregate == "classes" else np.outer(W, n).ravel()


@dataclass(frozen=True, slots=True)
class SampleCosts:
    """The cost information vector itself, given from outside; W has no part in it."""

    vector: FloatArray  # (N,)

    def terms(self, y: IntArray) -> CostTerms:
        """Put every row into one group."""
        groups = np.zeros((len(y), 1), dtype=np.intp)
        return CostTerms(groups, self.vector[:, np.newaxis], 1, "sample")

    def coefficients(self, n: FloatArray, W: FloatArray) -> FloatArray:
        """Return 1 for the only group."""
        return np.ones(1)


@dataclass(frozen=True, slots=True)
class PairCosts:
    """Row sums of the paper's matrix (11) from sample to sample."""

    totals: FloatArray  # (N,)
    n_classes: int

    def terms(self, y: IntArray) -> CostTerms:
        """Group by class, whose weight is still to come."""
        return CostTerms(y[:, np.newaxis], self.totals[:, np.newaxis], self.n_classes, "pair")

    def coefficients(self, n: FloatArray, W: FloatArray) -> FloatArray:
        """Return ``W_c``."""
        return W.copy()


@dataclass(frozen=True, slots=True)
class ClassWeights:
    """No costs but the weights of the classes (8)."""

    n_classes: int

    def terms(self, y: IntArray) -> CostTerms:
        """Put each row into the group of its class."""
        return CostTerms(y[:, np.newaxis], np.ones((len(y), 1)), self.n_classes, "weight")

    def coefficients(self, n: FloatArray, W: FloatArray) -> FloatArray:
        """Return ``W_c``."""
        return W.copy()
