"""The weighted extreme learning machine for unequal classes (paper, eqs. 8-10)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from ecselm._sklearn import StrOptions
from ecselm._typing import AnyArray, FloatArray, IntArray, Matrix
from ecselm.costs import WEIGHTINGS, ClassWeights, Costs, class_weights
from ecselm.estimators._base import KERNEL_OR_LAYER, RIDGE, ELMClassification
from ecselm.estimators._training import KernelLearner, LayerLearner


class WELMClassifier(ELMClassification):
    """Weighted extreme learning machine: rare classes count more.

    ``beta = (I/C + H'WH)^-1 H'WT`` with a weight for every class, from how often it
    occurs. Equation (8) multiplies a matrix by a scalar sum; it is read as a weight
    inside the sum, as in the article it cites.

    Parameters
    ----------
    n_hidden : int, default=100
        Number L of hidden units.
    weighting : {"w1", "w2", "balanced"}, dict or None, default="w1"
        ``"w1"`` is (9), ``1/n_c``; ``"w2"`` is (10), which also takes ``0.618/n_c`` for
        classes above the average; ``"balanced"`` is ``N/(k n_c)``; a dict gives weights
        by class label.
    normalize : bool, default=False
        Scale the weights to a mean of 1. As printed, W1 has the mean ``k/N``, so that
        the same C regularises N/k times as strongly as in :class:`ELMClassifier`.
    C : float, default=32.0
        Trade-off between small errors and small output weights; larger fits closer.
    activation, draw, hidden_layer, random_state :
        As in :class:`ELMClassifier`.
    scale : {"auto", "standard", "minmax"} or None, default="auto"
        Scale of the inputs, measured on the training rows; ``"auto"`` is ``"standard"``
        for a hidden layer and None for a kernel.
    kernel : str, callable or None, default=None
        If given, the machine is a kernel machine as :class:`KELMClassifier`, with no
        hidden layer and no ``partial_fit``.
    gamma, degree, coef0 :
        As in :class:`KELMClassifier`.
    max_samples : int or None, default=20000
        More training rows are refused when there is a kernel; None lifts the limit.

    Attributes
    ----------
    classes_ : array of shape (k,)
    class_weights_ : array of shape (k,)
        The weight of every class.
    cost_vector_ : array of shape (N,)
        The weight of every training row, the B of (15); from ``fit`` only.
    beta_, layer_, solver_, n_features_in_ :
        As in :class:`ELMClassifier`.

    Notes
    -----
    ``partial_fit`` needs the sums of every class apart, k L (L + k) numbers. ``fit`` keeps
    them for it only up to 8 MiB; beyond that a stream begins with ``partial_fit``.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.metrics import recall_score
    >>> from ecselm import ELMClassifier, WELMClassifier
    >>> X, y = make_classification(1000, weights=[0.95], flip_y=0.1, random_state=0)
    >>> plain = ELMClassifier(random_state=0).fit(X, y)
    >>> weighted = WELMClassifier(random_state=0).fit(X, y)
    >>> bool(recall_score(y, weighted.predict(X)) > recall_score(y, plain.predict(X)))
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KERNEL_OR_LAYER,
        **RIDGE,
        "weighting": [StrOptions(set(WEIGHTINGS)), Mapping, None],
        "normalize": ["boolean"],
    }

    def __init__(
        self,
        n_hidden: int = 100,
        *,
        weighting: str | Mapping[Any, float] | None = "w1",
        normalize: bool = False,
        C: float = 32.0,
        activation: str | Callable[[FloatArray], FloatArray] = "radbas",
        draw: str = "orthogonal",
        scale: str | None = "auto",
        hidden_layer: Any = None,
        kernel: str | Callable[[Matrix, Matrix], FloatArray] | None = None,
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 1,
        max_samples: int | None = 20000,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
    ) -> None:
        self.n_hidden = n_hidden
        self.weighting = weighting
        self.normalize = normalize
        self.C = C
        self.activation = activation
        self.draw = draw
        self.scale = scale
        self.hidden_layer = hidden_layer
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.max_samples = max_samples
        self.random_state = random_state

    def _read_costs(self, y: IntArray, classes: AnyArray, **stated: Any) -> Costs:
        return ClassWeights(len(classes))

    def _coefficients(
        self, costs: Costs, learner: KernelLearner | LayerLearner, classes: AnyArray
    ) -> FloatArray:
        W = class_weights(self.weighting, learner.counts, classes)
        return normalized(W, learner.masses, learner.counts) if self.normalize else W

    @property
    def class_weights_(self) -> FloatArray:
        """Return the weight of every class."""
        return self._group_costs_


def normalized(coefficients: FloatArray, masses: FloatArray, counts: FloatArray) -> FloatArray:
    """Scale the coefficients of the cost groups so that B has the mean 1."""
    total = float(coefficients @ masses)
    return coefficients * (counts.sum() / total) if total > 0 else coefficients
