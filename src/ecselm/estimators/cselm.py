"""The cost-sensitive extreme learning machine (paper, eqs. 11-19)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from ecselm._random import as_generator
from ecselm._sklearn import StrOptions, fit_context
from ecselm._typing import AnyArray, FloatArray, IntArray, Matrix
from ecselm.costs import (
    WEIGHTINGS,
    ClassCosts,
    Costs,
    SampleCosts,
    check_row_costs,
    class_weights,
    parse_cost,
    read_costs,
    refuse_row_costs,
)
from ecselm.estimators._base import (
    KERNEL_OR_LAYER,
    RIDGE,
    CostDecisionBase,
    ELMRegressorBase,
    has_hidden_layer,
)
from ecselm.estimators._calibration import LogisticCalibration, loo_rows
from ecselm.estimators._training import KernelLearner, LayerLearner, Rows
from ecselm.estimators.elm import normalized
from ecselm.linalg import Solution


class CSELMClassifier(CostDecisionBase):
    """Cost-sensitive extreme learning machine: costly mistakes count more.

    With ``decision="argmax"``, the paper's form, costs become weights of the rows,
    ``B_i = sum_j (WM)_ij`` (12), and ``beta = (I/C + H'diag(B)H)^-1 H'diag(B)T`` (15).
    The row sum forgets which mistake is costly; with ``decision="min_cost"`` the machine
    is trained on unweighted rows and predicts the class of least expected cost under
    calibrated probabilities, which uses the whole matrix.

    Parameters
    ----------
    n_hidden : int, default=100
        Number L of hidden units.
    cost : array, DataFrame, dict or None, default=None
        What mistakes cost; rows are the truth, columns the prediction. An array of
        shape (k, k) in the order of ``classes_``; a DataFrame with class labels; a dict
        ``{(true, predicted): cost}``; an array (k,) or dict ``{true: cost}`` if only the
        true class matters; or an array by row, (N,), (N, k) or (N, N), better given as
        ``sample_cost`` to ``fit``. None: every mistake costs 1. Only ratios matter, up
        to C. A non-zero diagonal is subtracted from its row.
    decision : {"argmax", "min_cost"}, default="argmax"
        The largest score (19), or the least expected cost.
    weighting : {"w1", "w2", "balanced"}, dict or None, default="w1"
        The W of (12), as in :class:`WELMClassifier`; has no effect on ``"min_cost"``.
    aggregate : {"samples", "classes"}, default="samples"
        Whether the sum over j in (12) runs over all samples, as printed, so that
        mistakes towards frequent classes count more, or once over every class.
    normalize : bool, default=False
        Scale B to a mean of 1, which makes C comparable between costs.
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
    cost_matrix_ : array of shape (k, k) or None
        The cost matrix as read, its diagonal 0; None if costs came by row.
    cost_vector_ : array of shape (N,)
        The cost information vector B; from ``fit`` only.
    beta_, layer_, solver_, n_features_in_ :
        As in :class:`ELMClassifier`.

    Notes
    -----
    The paper does not say how costs were set for its CSELM columns; the default is
    0/1 costs with W1. A vector of costs by row is B itself, without W.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.metrics import confusion_matrix
    >>> from ecselm import CSELMClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)  # 0 is malignant
    >>> model = CSELMClassifier(cost={(0, 1): 10}, decision="min_cost", random_state=0)
    >>> missed = confusion_matrix(y, model.fit(X, y).predict(X))[0, 1]
    >>> bool(missed <= 2)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KERNEL_OR_LAYER,
        **RIDGE,
        "cost": "no_validation",
        "decision": [StrOptions({"argmax", "min_cost"})],
        "weighting": [StrOptions(set(WEIGHTINGS)), Mapping, None],
        "aggregate": [StrOptions({"samples", "classes"})],
        "normalize": ["boolean"],
    }

    def __init__(
        self,
        n_hidden: int = 100,
        *,
        cost: Any = None,
        decision: str = "argmax",
        weighting: str | Mapping[Any, float] | None = "w1",
        aggregate: str = "samples",
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
        self.cost = cost
        self.decision = decision
        self.weighting = weighting
        self.aggregate = aggregate
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

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        sample_cost: Any = None,
        *,
        tp_cost: Any = None,
        tn_cost: Any = None,
        fp_cost: Any = None,
        fn_cost: Any = None,
    ) -> Self:
        """Turn costs into weights and solve for the output weights.

        Costs by row go through metadata routing:
        ``model.set_fit_request(sample_cost=True)``.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)
        y : array of shape (N,)
        sample_weight : array of shape (N,), default=None
            Multiplies B; class counts are sums of it.
        sample_cost : array of shape (N,), (N, k) or (N, N), default=None
            B itself; or the cost of predicting each class for each row; or the
            paper's matrix (11) from sample to sample.
        tp_cost, tn_cost, fp_cost, fn_cost : float or array of shape (N,), default=None
            Costs by row of two classes, stated by outcome; ``classes_[1]`` is positive.
            Mistakes that are not stated cost 1, correct predictions 0.

        Returns
        -------
        self
        """
        return self._fit_labels(
            X,
            y,
            sample_weight,
            sample_cost=sample_cost,
            tp_cost=tp_cost,
            tn_cost=tn_cost,
            fp_cost=fp_cost,
            fn_cost=fn_cost,
        )

    @available_if(has_hidden_layer)
    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        sample_weight: Any = None,
        sample_cost: Any = None,
        *,
        tp_cost: Any = None,
        tn_cost: Any = None,
        fp_cost: Any = None,
        fn_cost: Any = None,
    ) -> Self:
        """Learn one more chunk of rows, exactly: B depends on the counts of all rows so far.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)
        y : array of shape (N,)
        classes : array of shape (k,), default=None
            All classes there will ever be; needed in the first call.
        sample_weight : array of shape (N,), default=None
        sample_cost : array of shape (N,) or (N, k), default=None
        tp_cost, tn_cost, fp_cost, fn_cost : float or array of shape (N,), default=None

        Returns
        -------
        self
        """
        return self._partial_fit_labels(
            X,
            y,
            classes,
            sample_weight,
            sample_cost=sample_cost,
            tp_cost=tp_cost,
            tn_cost=tn_cost,
            fp_cost=fp_cost,
            fn_cost=fn_cost,
        )

    def _read_costs(self, y: IntArray, classes: AnyArray, **stated: Any) -> Costs:
        if self.decision == "argmax":
            return read_costs(self.cost, y, classes, aggregate=self.aggregate, **stated)
        refuse_row_costs(**stated)
        parse_cost(self.cost, classes)  # a bad matrix is refused before any work
        return SampleCosts(np.ones(len(y)))

    def _sample_rng(self) -> np.random.Generator | None:
        if self.decision == "argmax":
            return None
        return as_generator(self.random_state).spawn(1)[0]

    def _coefficients(
        self, costs: Costs, learner: KernelLearner | LayerLearner, classes: AnyArray
    ) -> FloatArray:
        weighting = None if self.decision == "min_cost" else self.weighting
        W = class_weights(weighting, learner.counts, classes)
        coefficients = costs.coefficients(learner.counts, W)
        if not self.normalize:
            return coefficients
        return normalized(coefficients, learner.masses, learner.counts)

    def _learn(
        self,
        learner: KernelLearner | LayerLearner,
        rows: Rows,
        costs: Costs,
        classes: AnyArray,
    ) -> None:
        super()._learn(learner, rows, costs, classes)
        by_class = isinstance(costs, ClassCosts) or self.decision == "min_cost"
        self.cost_matrix_ = parse_cost(self.cost, classes) if by_class else None

    def _calibrate(self, learner: KernelLearner | LayerLearner, solution: Solution) -> None:
        super()._calibrate(learner, solution)
        if self.decision == "argmax":
            self._probabilities_ = None
            return
        left_out = loo_rows(learner, solution)
        self._probabilities_ = LogisticCalibration.from_loo(left_out, len(self.classes_))


class CSELMRegressor(ELMRegressorBase):
    """Cost-sensitive extreme learning machine for real targets: costly errors count more.

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
