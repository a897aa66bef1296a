"""Parsed costs and the cost information vector B (paper, equations 9 to 12)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Protocol

import numpy as np

from ecselm._typing import AnyArray, FloatArray, IntArray

GOLDEN = 0.618  # as printed in (10)


def label_codes(labels: Sequence[Any], classes: AnyArray, name: str) -> IntArray:
    """Return the position of each label in ``classes``; ``name`` is for error messages."""
    positions = {label: code for code, label in enumerate(classes.tolist())}
    unknown = [label for label in labels if _plain(label) not in positions]
    if unknown:
        raise ValueError(
            f"{name} must name classes of y, {list(positions)}, got {unknown[0]!r}"
            + _suggestion(unknown[0], list(positions))
        )
    return np.array([positions[_plain(label)] for label in labels], dtype=np.intp)


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def _suggestion(label: Any, known: list[Any]) -> str:
    by_text = {str(name): name for name in known}
    close = get_close_matches(str(label), list(by_text), n=1)
    return f"; did you mean {by_text[close[0]]!r}?" if close else ""


def _balanced(n: FloatArray) -> FloatArray:
    return n.sum() / (len(n) * n)


def _w1(n: FloatArray) -> FloatArray:
    return 1.0 / n  # (9)


def _w2(n: FloatArray) -> FloatArray:
    return np.where(n > n.mean(), GOLDEN, 1.0) / n  # (10)


_FORMULAS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "balanced": _balanced,
    "w1": _w1,
    "w2": _w2,
}
WEIGHTINGS = tuple(_FORMULAS)


def class_weights(weighting: str | Mapping[Any, float] | None, n: Any, classes: Any) -> FloatArray:
    """Return W_cc (k,), one weight per class.

    Parameters
    ----------
    weighting : {"w1", "w2", "balanced"}, dict or None
        ``"w1"`` is (9), ``1/n_c``; ``"w2"`` is (10), ``0.618/n_c`` for classes larger
        than the average; ``"balanced"`` is scikit-learn's ``N/(k n_c)``; a dict gives
        the weights by class label, 1 for classes that are not listed; None is 1 for all.
    n : array of shape (k,)
        Class counts, or sums of sample weights. A class that never occurs gets the
        weight 0 from a formula.
    classes : array of shape (k,)

    Examples
    --------
    >>> class_weights("w2", [6, 2], ["many", "few"])
    array([0.103, 0.5  ])
    """
    counts = np.asarray(n, dtype=np.float64)
    if weighting is None:
        return np.ones(len(counts))
    if isinstance(weighting, Mapping):
        return _from_labels(weighting, np.asarray(classes))
    seen = counts > 0
    weights = np.zeros(len(counts))
    weights[seen] = _FORMULAS[weighting](counts[seen])
    return weights


def _from_labels(weighting: Mapping[Any, float], classes: AnyArray) -> FloatArray:
    weights = np.ones(len(classes))
    codes = label_codes(list(weighting), classes, "weighting")
    try:
        weights[codes] = [float(value) for value in weighting.values()]
    except (TypeError, ValueError) as error:
        raise ValueError(f"weighting must hold numbers only, got {dict(weighting)}") from error
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError(f"weighting must hold finite weights >= 0, got {dict(weighting)}")
    if not weights.any():
        raise ValueError(f"weighting must not be 0 for every class, got {dict(weighting)}")
    return weights


@dataclass(frozen=True, slots=True)
class CostTerms:
    """Cost groups and factors of N rows with r terms each.

    ``B_i = sum_t coefficients[groups[i, t]] factors[i, t]``. ``kind`` names the form of the
    costs.
    """

    groups: IntArray  # (N, r), in 0..n_groups-1
    factors: FloatArray  # (N, r)
    n_groups: int
    kind: str

    def vector(self, coefficients: FloatArray) -> FloatArray:
        """Return B (N,) for the ``coefficients`` (n_groups,) of the groups."""
        return (coefficients[self.groups] * self.factors).sum(axis=1)


class Costs(Protocol):
    """Parsed costs of any form."""

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
        """Assign each row to the group of its class."""
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
    """The cost information vector itself, given by the user; W does not apply."""

    vector: FloatArray  # (N,)

    def terms(self, y: IntArray) -> CostTerms:
        """Assign every row to one group."""
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
        """Assign each row to the group of its class, which carries the class weight."""
        return CostTerms(y[:, np.newaxis], self.totals[:, np.newaxis], self.n_classes, "pair")

    def coefficients(self, n: FloatArray, W: FloatArray) -> FloatArray:
        """Return ``W_c``."""
        return W.copy()


@dataclass(frozen=True, slots=True)
class ClassWeights:
    """Class weights alone (8), without costs."""

    n_classes: int

    def terms(self, y: IntArray) -> CostTerms:
        """Assign each row to the group of its class."""
        return CostTerms(y[:, np.newaxis], np.ones((len(y), 1)), self.n_classes, "weight")

    def coefficients(self, n: FloatArray, W: FloatArray) -> FloatArray:
        """Return ``W_c``."""
        return W.copy()
