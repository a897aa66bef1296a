"""The extreme learning machine with a regularised solution (paper, eqs. 4-5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ecselm._typing import FloatArray
from ecselm.estimators._base import LAYER, RIDGE, ELMClassification, ELMRegression


class ELMClassifier(ELMClassification):
    """Extreme learning machine: a random hidden layer and a ridge solution on it.

    ``beta = (I/C + H'diag(w)H)^-1 H'diag(w)T`` (5), with targets +1 and -1 and the
    sample weights w, if there are any.

    Parameters
    ----------
    n_hidden : int, default=100
        Number L of hidden units.
    C : float, default=32.0
        Trade-off between small errors and small output weights; larger fits closer.
    activation : str or callable, default="radbas"
        ``"radbas"`` (17), ``"sigmoid"``, ``"tanh"``, ``"sine"``, ``"relu"``,
        ``"hardlim"``, ``"tribas"``, ``"laplacian"``, ``"polynomial"``, or a function
        of an array of projections that returns an array of the same shape.
    draw : str, default="orthogonal"
        How input weights are drawn: ``"orthogonal"``, ``"normal"``, ``"sobol"`` and
        ``"halton"`` keep the projections of standardised inputs in the range where
        activations respond; ``"uniform"`` is the paper's U(-1, 1).
    scale : {"standard", "minmax"} or None, default="standard"
        Scale of the inputs, measured on the training rows and folded into the weights.
    hidden_layer : transformer, default=None
        Takes the place of the random layer: ``Nystroem()``, ``RBFSampler()``, a
        ``Pipeline``. It is cloned and fitted on X alone; ``n_hidden``, ``activation``,
        ``draw`` and ``scale`` then have no effect, so put a scaler in front of it.
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
    solver_ : str
        The path the solution took: ``"primal-cholesky"``, ``"dual-cholesky"``, or
        ``"...-spectral"`` where the system is singular to working precision, as for a
        huge C.
    n_features_in_ : int
    feature_names_in_ : array of shape (n,), if X has names

    Notes
    -----
    ``partial_fit`` gives the solution of all rows so far, however they are cut into
    chunks. The scale of the inputs is taken from the first 2048 rows and stays; up to
    there, or with ``scale=None``, the result equals that of ``fit`` on all rows. After
    ``fit`` it goes on with the scale that ``fit`` measured.

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

    _parameter_constraints: ClassVar[dict[str, Any]] = {**LAYER, **RIDGE}

    def __init__(
        self,
        n_hidden: int = 100,
        *,
        C: float = 32.0,
        activation: str | Callable[[FloatArray], FloatArray] = "radbas",
        draw: str = "orthogonal",
        scale: str | None = "standard",
        hidden_layer: Any = None,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
    ) -> None:
        self.n_hidden = n_hidden
        self.C = C
        self.activation = activation
        self.draw = draw
        self.scale = scale
        self.hidden_layer = hidden_layer
        self.random_state = random_state


class ELMRegressor(ELMRegression):
    """Extreme learning machine for one or many real targets.

    ``beta = (I/C + H'diag(w)H)^-1 H'diag(w)T`` (5); there is no intercept, as in the
    paper: the hidden layer carries the mean.

    Parameters
    ----------
    n_hidden, C, activation, draw, scale, hidden_layer, random_state :
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

    _parameter_constraints: ClassVar[dict[str, Any]] = {**LAYER, **RIDGE}

    def __init__(
        self,
        n_hidden: int = 100,
        *,
        C: float = 32.0,
        activation: str | Callable[[FloatArray], FloatArray] = "radbas",
        draw: str = "orthogonal",
        scale: str | None = "standard",
        hidden_layer: Any = None,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
    ) -> None:
        self.n_hidden = n_hidden
        self.C = C
        self.activation = activation
        self.draw = draw
        self.scale = scale
        self.hidden_layer = hidden_layer
        self.random_state = random_state
