"""The extreme learning machine, with a ridge (paper, eqs. 4-5) or without one (3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ecselm._sklearn import StrOptions
from ecselm._typing import AnyArray, FloatArray, IntArray, Matrix
from ecselm.costs import Costs, class_weights
from ecselm.costs.weights import WEIGHTINGS, ClassWeights
from ecselm.estimators._base import (
    KERNEL,
    KERNEL_OR_LAYER,
    LAYER,
    RIDGE,
    ELMBase,
    ELMClassifierBase,
    ELMRegressorBase,
)
from ecselm.estimators._ensemble import Ensemble, EnsembleRows
from ecselm.estimators._layers import LayerRecipe, finite
from ecselm.estimators._training import Rows
from ecselm.layers import HiddenLayer
from ecselm.linalg import Solution
from ecselm.linalg.ridge import minimum_norm_solution


@dataclass(frozen=True, slots=True)
class MinimumNormLearner:
    """Rows behind a hidden layer that are solved for without a ridge.

    Sums over rows would square the condition of H, which nothing added to them makes good:
    the rows are kept.
    """

    recipe: LayerRecipe
    layer: HiddenLayer
    known: Rows
    counts: FloatArray  # (k,) weighted class counts
    masses: FloatArray  # (g,) weighted factors of the cost groups

    def solve(self, coefficients: FloatArray, C: None) -> Solution:
        """Return beta of (3)."""
        H = finite(self.layer(self.known.X), *self.recipe.source)
        return minimum_norm_solution(H, self.known.T, self.known.weights(coefficients))


class RidgeOrNone(ELMBase):
    """The solution (5), or with ``C=None`` the Moore-Penrose solution (3)."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LAYER,
        **RIDGE,
        "C": [*RIDGE["C"], None],
    }

    C: Any  # a float, "auto", or None for no ridge

    def _learner(self, rows: Rows, n_classes: int) -> Any:
        if self.C is not None:
            return super()._learner(rows, n_classes)
        recipe = self._recipe(rows.X)
        layer = recipe.make(rows.X, rows.weight)
        return MinimumNormLearner(recipe, layer, rows, rows.counts(n_classes), rows.masses())

    def _extended_learner(self, rows: Rows, n_classes: int) -> Any:
        if self.C is None:
            raise ValueError(
                "C must be a number or 'auto' in partial_fit, got None: without a ridge all "
                "rows are needed at once"
            )
        return super()._extended_learner(rows, n_classes)

    def _fitted_ensemble(self, rows: EnsembleRows, memory: int | None = None) -> Ensemble:
        if self.C is None:
            raise ValueError("C must be a number or 'auto' with an ensemble, got None")
        return super()._fitted_ensemble(rows, memory)


class ELMClassifier(RidgeOrNone, ELMClassifierBase):
    """Extreme learning machine: a random hidden layer and a ridge solution on it.

    ``beta = (I/C + H'diag(w)H)^-1 H'diag(w)T`` (5), with targets +1 and -1 and the
    sample weights w, if there are any.

    Parameters
    ----------
    n_hidden : int or "auto", default="auto"
        Number L of hidden units, of every layer of an ensemble. ``"auto"`` grows with the
        rows: 100, or twice their root, for one layer; in an ensemble all rows up to 500, then
        400, or 3.2 times their root, at most 2000, and up to twice as many for many classes.
    C : float, "auto" or None, default="auto"
        Trade-off between small errors and small output weights; larger fits closer.
        ``"auto"`` is 32 for one layer; members of an ensemble choose from 4^-3 to 4^8.
        None is the Moore-Penrose solution ``beta = pinv(H) T`` (3) of the first articles on
        ELM, without a ridge; it has no ensemble and no ``partial_fit``.
    activation : str or callable, default="radbas"
        ``"radbas"`` (17), ``"sigmoid"``, ``"tanh"``, ``"sine"``, ``"relu"``,
        ``"hardlim"``, ``"tribas"``, ``"laplacian"``, ``"polynomial"``, or a function
        of an array of projections that returns an array of the same shape.
    draw : str, default="orthogonal"
        How input weights are drawn: ``"orthogonal"``, ``"normal"``, ``"sobol"`` and
        ``"halton"`` keep the projections of standardised inputs in the range where
        activations respond; ``"uniform"`` is the paper's U(-1, 1), with biases from U(0, 1).
        ``"sobol_box"`` and ``"halton_box"`` are the first points of low-discrepancy sequences
        in the box of these two, without randomness (reference [75]).
    scale : {"standard", "minmax"} or None, default="standard"
        Scale of the inputs, measured on the training rows and folded into the weights.
    hidden_layer : transformer, default=None
        Takes the place of the random layer: ``Nystroem()``, ``RBFSampler()``, a
        ``Pipeline``. It is cloned and fitted on X alone; ``n_hidden``, ``activation``,
        ``draw`` and ``scale`` then have no effect, so put a scaler in front of it.
    ensemble : "auto", int, list or None, default=None
        None: one layer. Otherwise the mean of the best kernel machines of several kinds and
        widths, chosen by their squared leave-one-out error: ``"auto"`` of 20, an int of as
        many, a list of those behind the stated layers, each ``(kernel, inputs, width)`` as in
        ``("rbf", "standard", 1.0)``. Then ``activation`` and ``draw`` have no effect, and
        decisions are made on calibrated probabilities.
    random_state : int, RandomState, Generator or None, default=None
        Source of the input weights, and of every random state that ``hidden_layer``
        leaves open.

    Attributes
    ----------
    classes_ : array of shape (k,)
    beta_ : array of shape (L, k)
        Output weights.
    layer_ : HiddenLayer
        The map from x to a row of H.
    cost_vector_ : array of shape (N,)
        The B of (15), here 1 for every row; from ``fit`` only.
    members_ : DataFrame
        The members of an ensemble: kernel, inputs, width, C and squared error.
    solver_ : str
        The path the solution took: ``"primal-cholesky"``, ``"dual-cholesky"``, or
        ``"...-spectral"`` where the system is singular to working precision, as for a
        huge C, or where there is no ridge.
    n_features_in_ : int
    feature_names_in_ : array of shape (n,), if X has names

    Notes
    -----
    ``partial_fit`` gives the solution of all rows so far, however they are divided into
    chunks. The scale of the inputs is taken from the first 2048 rows and stays; up to
    there, or with ``scale=None``, the result equals that of ``fit`` on all rows. After
    ``fit`` it goes on with the scale that ``fit`` measured.

    ELM as its authors first ran it, with sigmoid units, weights from U(-1, 1) and the
    pseudo-inverse, is ``ELMClassifier(20, C=None, activation="sigmoid", draw="uniform",
    scale="minmax")``. Directions of H below ``eps^(3/4)`` of its largest singular value are
    rounding errors and omitted. The worst number of units is that of the rows: of wine's 89
    even rows 100 units know .79 of the odd ones, 20 or 300 units .94 and more.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import train_test_split
    >>> from ecselm import ELMClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> X, X_test, y, y_test = train_test_split(X, y, random_state=0)
    >>> model = ELMClassifier(n_hidden=200, random_state=0).fit(X, y)
    >>> bool(model.score(X_test, y_test) > 0.95)
    True
    """

    _computes_in_namespaces = True

    def __init__(
        self,
        n_hidden: int | str = "auto",
        *,
        C: float | str | None = "auto",
        activation: str | Callable[[FloatArray], FloatArray] = "radbas",
        draw: str = "orthogonal",
        scale: str | None = "standard",
        hidden_layer: Any = None,
        ensemble: Any = None,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
    ) -> None:
        self.n_hidden = n_hidden
        self.C = C
        self.activation = activation
        self.draw = draw
        self.scale = scale
        self.hidden_layer = hidden_layer
        self.ensemble = ensemble
        self.random_state = random_state


class ELMRegressor(RidgeOrNone, ELMRegressorBase):
    """Extreme learning machine for one or many real targets.

    ``beta = (I/C + H'diag(w)H)^-1 H'diag(w)T`` (5); there is no intercept, as in the
    paper: the hidden layer carries the mean.

    Parameters
    ----------
    n_hidden, C, activation, draw, scale, hidden_layer, ensemble, random_state :
        As in :class:`ELMClassifier`.

    Attributes
    ----------
    beta_ : array of shape (L, m)
    layer_ : HiddenLayer
    solver_ : str
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from ecselm import ELMRegressor
    >>> X = np.linspace(-3, 3, 200)[:, np.newaxis]
    >>> model = ELMRegressor(n_hidden=50, C=1e4, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> bool(model.score(X, np.sin(X[:, 0])) > 0.99)
    True
    """

    _computes_in_namespaces = True

    def __init__(
        self,
        n_hidden: int | str = "auto",
        *,
        C: float | str | None = "auto",
        activation: str | Callable[[FloatArray], FloatArray] = "radbas",
        draw: str = "orthogonal",
        scale: str | None = "standard",
        hidden_layer: Any = None,
        ensemble: Any = None,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
    ) -> None:
        self.n_hidden = n_hidden
        self.C = C
        self.activation = activation
        self.draw = draw
        self.scale = scale
        self.hidden_layer = hidden_layer
        self.ensemble = ensemble
        self.random_state = random_state


class WELMClassifier(ELMClassifierBase):
    """Weighted extreme learning machine: rare classes count more.

    ``beta = (I/C + H'WH)^-1 H'WT`` with a weight for every class, from how often it
    occurs. Equation (8) multiplies a matrix by a scalar sum; it is read as a weight
    inside the sum, as in the article it cites.

    Parameters
    ----------
    n_hidden : int or "auto", default="auto"
        Number L of hidden units, as in :class:`ELMClassifier`.
    weighting : {"w1", "w2", "balanced"}, dict or None, default="w1"
        ``"w1"`` is (9), ``1/n_c``; ``"w2"`` is (10), which also takes ``0.618/n_c`` for
        classes above the average; ``"balanced"`` is ``N/(k n_c)``; a dict gives weights
        by class label.
    normalize : bool, default=False
        Scale the weights to a mean of 1. As printed, W1 has the mean ``k/N``, so that
        the same C regularises N/k times as strongly as in :class:`ELMClassifier`.
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
        As in :class:`ELMClassifier`; members have the same class weights.

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
    ``partial_fit`` needs separate sums of every class, k L (L + k) numbers. ``fit`` keeps
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

    _computes_in_namespaces = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KERNEL_OR_LAYER,
        **RIDGE,
        "weighting": [StrOptions(set(WEIGHTINGS)), Mapping, None],
        "normalize": ["boolean"],
    }

    def __init__(
        self,
        n_hidden: int | str = "auto",
        *,
        weighting: str | Mapping[Any, float] | None = "w1",
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
        self.ensemble = ensemble
        self.random_state = random_state

    def _read_costs(self, y: IntArray, classes: AnyArray, **stated: Any) -> Costs:
        return ClassWeights(len(classes))

    def _coefficients(
        self, costs: Costs, counts: FloatArray, masses: FloatArray, classes: AnyArray
    ) -> FloatArray:
        W = class_weights(self.weighting, counts, classes)
        return normalized(W, masses, counts) if self.normalize else W

    @property
    def class_weights_(self) -> FloatArray:
        """Return the weight of every class."""
        return self._group_costs_


def normalized(coefficients: FloatArray, masses: FloatArray, counts: FloatArray) -> FloatArray:
    """Scale the coefficients of the cost groups so that B has the mean 1."""
    total = float(coefficients @ masses)
    return coefficients * (counts.sum() / total) if total > 0 else coefficients


class KELMClassifier(ELMClassifierBase):
    """Kernel extreme learning machine: a kernel in the place of H H'.

    ``z(x) = [K(x, x_1), ..., K(x, x_N)] (I/C + Omega)^-1 T`` (7). It has no hidden
    units and no randomness; memory grows with N^2 and time with N^3.

    Parameters
    ----------
    C : float or "auto", default="auto"
        As in :class:`ELMClassifier`.
    kernel : str or callable, default="rbf"
        ``"rbf"``, ``"linear"``, ``"polynomial"``, ``"laplacian"``, ``"cosine"``,
        ``"precomputed"`` (X is then the kernel matrix), or a function of two blocks of
        rows that returns the matrix of their kernel values.
    gamma : {"scale", "auto"} or float, default="scale"
        Width of rbf, polynomial and laplacian, as in :class:`sklearn.svm.SVC`. The
        paper does not state its kernel or width: choose both by cross-validation.
    degree : float, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=1
        Constant of the polynomial kernel.
    scale : {"standard", "minmax"} or None, default=None
        Scale of the inputs, measured on the training rows; sparse rows are not centred.
    max_samples : int or None, default=20000
        More training rows are refused; None lifts the limit.
    ensemble : "auto", int, list or None, default=None
        As in :class:`ELMClassifier`, with all training rows as units; ``kernel`` and its
        parameters then have no effect.

    Attributes
    ----------
    classes_ : array of shape (k,)
    beta_ : array of shape (N, k)
        ``(I/C + Omega)^-1 T``, the weights of the training rows.
    layer_ : KernelMap
        The map from x to its kernel values with the training rows.
    cost_vector_ : array of shape (N,)
        The B of (15), here 1 for every row.
    solver_ : str
        The path the solution took.
    n_features_in_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ecselm import KELMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(KELMClassifier().fit(X, y).score(X, y) > 0.95)
    True
    """

    _computes_in_namespaces = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {**KERNEL, **RIDGE}

    def __init__(
        self,
        C: float | str = "auto",
        *,
        kernel: str | Callable[[Matrix, Matrix], FloatArray] = "rbf",
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 1,
        scale: str | None = None,
        max_samples: int | None = 20000,
        ensemble: Any = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.scale = scale
        self.max_samples = max_samples
        self.ensemble = ensemble


class KELMRegressor(ELMRegressorBase):
    """Kernel extreme learning machine for one or many real targets (7).

    Parameters
    ----------
    C, kernel, gamma, degree, coef0, scale, max_samples, ensemble :
        As in :class:`KELMClassifier`.

    Attributes
    ----------
    beta_ : array of shape (N, m)
    layer_ : KernelMap
    solver_ : str
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from ecselm import KELMRegressor
    >>> X = np.linspace(-3, 3, 50)[:, np.newaxis]
    >>> model = KELMRegressor(C=1e4).fit(X, np.sin(X[:, 0]))
    >>> bool(model.score(X, np.sin(X[:, 0])) > 0.99)
    True
    """

    _computes_in_namespaces = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {**KERNEL, **RIDGE}

    def __init__(
        self,
        C: float | str = "auto",
        *,
        kernel: str | Callable[[Matrix, Matrix], FloatArray] = "rbf",
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 1,
        scale: str | None = None,
        max_samples: int | None = 20000,
        ensemble: Any = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.scale = scale
        self.max_samples = max_samples
        self.ensemble = ensemble
