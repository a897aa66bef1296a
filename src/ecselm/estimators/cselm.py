"""The cost-sensitive extreme learning machine (paper, eqs. 11-19)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from ecselm._sklearn import StrOptions, fit_context
from ecselm._typing import AnyArray, FloatArray, IntArray, Matrix
from ecselm.costs import Costs, CostTerms, class_weights, parse_cost
from ecselm.costs.parse import check_row_costs, read_costs
from ecselm.costs.policy import RULES
from ecselm.costs.weights import WEIGHTINGS, ClassCosts, SampleCosts
from ecselm.estimators._base import (
    KERNEL_OR_LAYER,
    RIDGE,
    ELMClassifierBase,
    ELMRegressorBase,
    has_hidden_layer,
)
from ecselm.estimators._calibration import LooScores, fit_calibration
from ecselm.estimators._policy import decision_matrix, stated_constraints
from ecselm.estimators.elm import normalized


class CSELMClassifier(ELMClassifierBase):
    """Cost-sensitive extreme learning machine: costly mistakes count more.

    Predicts the class of least expected cost under calibrated probabilities, which uses the
    whole cost matrix. The paper's form, :meth:`paper`, makes weights of costs,
    ``B_i = sum_j (WM)_ij`` (12), in ``beta = (I/C + H'diag(B)H)^-1 H'diag(B)T`` (15), and
    predicts the class of the largest score (19). Its row sum forgets which mistake is costly,
    and multiplies costs by the rarity of classes.

    Parameters
    ----------
    n_hidden : int or "auto", default="auto"
        Number L of hidden units, as in :class:`ELMClassifier`.
    cost : array, DataFrame, dict or None, default=None
        What mistakes cost; rows are the truth, columns the prediction. An array of
        shape (k, k) in the order of ``classes_``; a DataFrame with class labels; a dict
        ``{(true, predicted): cost}``; an array (k,) or dict ``{true: cost}`` if only the
        true class matters; or an array by row, (N,), (N, k) or (N, N), better given as
        ``sample_cost`` to ``fit``. None: every mistake costs 1. Only ratios matter, up
        to C. A non-zero diagonal is subtracted from its row. What is known in part may be a
        :class:`~ecselm.costs.CostConstraints`, sentences such as ``"1->0 = 3..20 * 0->1"``, or
        a dict or DataFrame with pairs (low, high).
    rule : {"expected", "minimax_regret"}, default="expected"
        How costs that are known in part decide: by their mean, each in units of what the best
        constant answer costs; or by the costs whose worst regret, in the same unit, is least in
        expectation on a table of as many rows, by their leave-one-out probabilities.
    decision : {"min_cost", "argmax"}, default="min_cost"
        The least expected cost; one layer is then trained on unweighted rows, the members of
        an ensemble with the mean cost of each class as weight. Costs by row, which are not
        known of rows to come, are weights of the rows in any case, and the largest probability
        among rows so weighted decides. Or the largest score (19) of rows weighted by (12).
    weighting : {"w1", "w2", "balanced"}, dict or None, default="w1"
        The W of (12), as in :class:`WELMClassifier`, for ``decision="argmax"``.
    aggregate : {"samples", "classes"}, default="samples"
        Whether the sum over j in (12) runs over all samples, as printed, so that
        mistakes towards frequent classes count more, or once over every class.
    normalize : bool, default=False
        Scale B to a mean of 1, which makes C comparable between costs.
    C : float or "auto", default="auto"
        As in :class:`ELMClassifier`.
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
    ensemble : "auto", int, list or None, default=None
        As in :class:`ELMClassifier`.

    Attributes
    ----------
    classes_ : array of shape (k,)
    cost_matrix_ : array of shape (k, k) or None
        The cost matrix as read, its diagonal 0, or the mean of costs known in part; None if
        costs came by row.
    constraints_ : CostConstraints or None
        Costs known in part, None where all are known.
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
    >>> model = CSELMClassifier(cost={(0, 1): 10}, random_state=0)
    >>> missed = confusion_matrix(y, model.fit(X, y).predict(X))[0, 1]
    >>> bool(missed <= 2)
    True
    """

    _computes_in_namespaces = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KERNEL_OR_LAYER,
        **RIDGE,
        "cost": "no_validation",
        "rule": [StrOptions(set(RULES))],
        "decision": [StrOptions({"argmax", "min_cost"})],
        "weighting": [StrOptions(set(WEIGHTINGS)), Mapping, None],
        "aggregate": [StrOptions({"samples", "classes"})],
        "normalize": ["boolean"],
    }

    def __init__(
        self,
        n_hidden: int | str = "auto",
        *,
        cost: Any = None,
        rule: str = "expected",
        decision: str = "min_cost",
        weighting: str | Mapping[Any, float] | None = "w1",
        aggregate: str = "samples",
        normalize: bool = False,
        C: float | str = "auto",
        activation: str | Callable[[FloatArray], FloatArray] = "radbas",
        draw: str = "orthogonal",
        scale: str | None = "auto",
        hidden_layer: Any = None,
        kernel: str | Callable[[Matrix, Matrix], FloatArray] | None = None,
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 1,
        max_samples: int | None = 20000,
        ensemble: Any = None,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
    ) -> None:
        self.n_hidden = n_hidden
        self.cost = cost
        self.rule = rule
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
        self.ensemble = ensemble
        self.random_state = random_state

    @classmethod
    def paper(cls, **parameters: Any) -> Self:
        """Return the estimator with the paper's settings: costs as weights (12), one layer.

        Parameters
        ----------
        **parameters
            Parameters that differ, such as ``cost`` or ``C``.

        Examples
        --------
        >>> CSELMClassifier.paper().decision
        'argmax'
        """
        return cls(**{"decision": "argmax", "ensemble": None, **parameters})

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
        decides = self.decision == "min_cost"
        aggregate = "classes" if decides else self.aggregate
        costs = read_costs(self.cost, y, classes, aggregate=aggregate, **stated)
        if decides and isinstance(costs, ClassCosts) and self.ensemble is None:
            return EqualCosts(np.ones(len(y)))
        return costs

    def _coefficients(
        self, costs: Costs, counts: FloatArray, masses: FloatArray, classes: AnyArray
    ) -> FloatArray:
        weighting = None if self.decision == "min_cost" else self.weighting
        W = class_weights(weighting, counts, classes)
        coefficients = costs.coefficients(counts, W)
        if not self.normalize:
            return coefficients
        return normalized(coefficients, masses, counts)

    def _costs_of_decisions(self, costs: Costs, coefficients: FloatArray) -> FloatArray | None:
        by_class = isinstance(costs, ClassCosts | EqualCosts)
        self.cost_matrix_ = parse_cost(self.cost, self.classes_) if by_class else None
        self.constraints_ = stated_constraints(self.cost, self.classes_) if by_class else None
        if self.decision == "argmax":
            return None
        k = len(self.classes_)
        return self.cost_matrix_ if by_class else 1.0 - np.eye(k)

    def _calibrate(self, loo: LooScores) -> None:
        super()._calibrate(loo)
        if self.decision == "min_cost" and self.constraints_ is not None:
            known = loo.usable()
            P = self._probabilities_(known.scores)
            self._decision_costs_ = decision_matrix(
                self.constraints_, self.rule, known.y, known.weight, P
            )
        if self.decision == "min_cost" and self.cost_matrix_ is None:
            # Costs of new rows are not known: those of the rows around them stand in.
            self._weighted_probabilities_ = fit_calibration(loo.weighted(), len(self.classes_))


@dataclass(frozen=True, slots=True)
class EqualCosts(SampleCosts):
    """The same cost of every row, where the cost matrix decides."""

    def terms(self, y: IntArray) -> CostTerms:
        """Assign every row to one group; a stream knows that costs came by class."""
        return replace(SampleCosts.terms(self, y), kind="class")


class CSELMRegressor(ELMRegressorBase):
    """Cost-sensitive extreme learning machine for real targets: costly errors count more.

    ``beta = (I/C + H'diag(B)H)^-1 H'diag(B)T`` (15). Without classes there is no matrix
    M and no W: B is the cost of each row's squared error.

    Parameters
    ----------
    n_hidden : int or "auto", default="auto"
        Number L of hidden units, as in :class:`ELMClassifier`.
    cost : callable, array of shape (N,) or None, default=None
        The cost of a row's error: a function of ``y`` that returns one cost per row,
        or the costs themselves, better given as ``sample_cost`` to ``fit``.
    C, activation, draw, scale, hidden_layer, kernel, gamma, degree, coef0 :
        As in :class:`CSELMClassifier`.
    max_samples, ensemble, random_state :
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

    _computes_in_namespaces = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KERNEL_OR_LAYER,
        **RIDGE,
        "cost": [callable, "array-like", None],
    }

    def __init__(
        self,
        n_hidden: int | str = "auto",
        *,
        cost: Callable[[FloatArray], FloatArray] | Any = None,
        C: float | str = "auto",
        activation: str | Callable[[FloatArray], FloatArray] = "radbas",
        draw: str = "orthogonal",
        scale: str | None = "auto",
        hidden_layer: Any = None,
        kernel: str | Callable[[Matrix, Matrix], FloatArray] | None = None,
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 1,
        max_samples: int | None = 20000,
        ensemble: Any = None,
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
        self.ensemble = ensemble
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
