"""The cost-sensitive extreme learning machine for real targets (paper, eq. 15)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from ecselm._sklearn import fit_context
from ecselm._typing import FloatArray, Matrix
from ecselm.costs import SampleCosts, check_row_costs
from ecselm.elm.family import KERNEL_OR_LAYER, RIDGE, has_hidden_layer
from ecselm.elm.regression import ELMRegression


class CSELMRegressor(ELMRegression):
    """Cost-sensitive extreme learning machine for real targets: dear errors count more.

    ``beta = (I/C + H'diag(B)H)^-1 H'diag(B)T`` (15). Without classes there is no matrix
    M and no W: B is the cost of each row's squared error.

    Parameters
    ----------
    n_hidden : int, default=100
        Number L of hidden units.
    cost : callable, array of shape (N,) or None, default=None
        The cost of a row's error: a function of ``y`` that returns one cost per row,
        or the costs themselves, better given as ``sample_cost`` to ``fit``.
    C, activation, draw, scale, hidden_layer, kernel, gamma, degree, coef0 :
        As in :class:`CSELMClassifier`.
    max_samples, random_state :
        As in :class:`CSELMClassifier`.

    Attributes
    ----------
    cost_vector_ : array of shape (N,)
        The cost information vector B; from ``fit`` only.
    beta_, layer_, solver_, n_features_in_ :
        As in :class:`ELMRegressor`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from ecselm import CSELMRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = CSELMRegressor(cost=lambda y: 1 + 4 * (y > 200), random_state=0).fit(X, y)
    >>> sorted(set(model.cost_vector_.tolist()))
    [1.0, 5.0]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KERNEL_OR_LAYER,
        **RIDGE,
        "cost": [callable, "array-like", None],
    }

    def __init__(
        self,
        n_hidden: int = 100,
        *,
        cost: Callable[[FloatArray], FloatArray] | Any = None,
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
        self.cost = cost
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

    def _row_costs(self, y: FloatArray, stated: Any) -> SampleCosts:
        if stated is not None and self.cost is not None:
            raise ValueError("costs must be stated once, got cost and sample_cost")
        name = "cost" if stated is None else "sample_cost"
        cost = self.cost if stated is None else stated
        if cost is None:
            return SampleCosts(np.ones(len(y)))
        values = cost(y) if callable(cost) else cost
        if np.shape(values) != (len(y),):
            raise ValueError(
                f"{name} must have the shape ({len(y)},), one cost per row, got {np.shape(values)}"
            )
        return SampleCosts(check_row_costs(values, name))

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, sample_cost: Any = None) -> Self:
        """Weigh the rows by cost and solve for the output weights.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)
        y : array of shape (N,) or (N, m)
        sample_weight : array of shape (N,), default=None
            Multiplies B.
        sample_cost : array of shape (N,), default=None
            The cost of each row's error.

        Returns
        -------
        self
        """
        return self._fit_targets(X, y, sample_weight, sample_cost)

    @available_if(has_hidden_layer)
    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self, X: Any, y: Any, sample_weight: Any = None, sample_cost: Any = None
    ) -> Self:
        """Learn one more chunk of rows, exactly.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)
        y : array of shape (N,) or (N, m)
        sample_weight : array of shape (N,), default=None
        sample_cost : array of shape (N,), default=None

        Returns
        -------
        self
        """
        return self._partial_fit_targets(X, y, sample_weight, sample_cost)
