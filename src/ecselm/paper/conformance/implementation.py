"""What an implementation offers to be checked: functions around fit and predict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Protocol

import numpy as np

from ecselm._typing import AnyArray, FloatArray


class NotOffered(NotImplementedError):
    """Something that a check needs and an implementation does not offer."""


class Search(Protocol):
    """An optimiser on a box that minimises by ask and tell."""

    def ask(self) -> FloatArray:
        """Return the points of a generation, shape (size, D)."""

    def tell(self, fitness: FloatArray, /) -> None:
        """Take the fitness of the points asked for last, shape (size,)."""

    @property
    def best(self) -> tuple[FloatArray, float]:
        """The best point so far and its fitness."""


@dataclass(frozen=True)
class Fitted:
    """A fitted machine, with as much of its inside as the implementation shows.

    Parameters
    ----------
    scores : callable, default=None
        The outputs z (n, m) of rows (n, d), eq. (18); m columns also for one target.
    labels : callable, default=None
        The predicted labels of rows, eq. (19).
    hidden : callable, default=None
        The hidden layer H (n, L) of rows, eq. (16).
    weights : array of shape (d, L), default=None
        The input weights, one column per hidden unit.
    biases : array of shape (L,), default=None
        The biases; None if hidden units have none.
    activation : {"radbas", "sigmoid", "tanh", "identity"}, default=None
    cost_vector : array of shape (N,), default=None
        The B that a search for costs has found, eq. (21).
    loss : float, default=None
        The share of training rows that this B gets wrong, as the search reports it.

    Examples
    --------
    >>> import numpy as np
    >>> Fitted(scores=lambda X: X @ np.ones((2, 1))).scores(np.eye(2)).ravel()
    array([1., 1.])
    """

    scores: Callable[[FloatArray], FloatArray] | None = None
    labels: Callable[[FloatArray], AnyArray] | None = None
    hidden: Callable[[FloatArray], FloatArray] | None = None
    weights: FloatArray | None = None
    biases: FloatArray | None = None
    activation: str | None = None
    cost_vector: FloatArray | None = None
    loss: float | None = None

    def shown(self, name: str) -> Any:
        """Return a part, or raise NotOffered if the implementation does not show it."""
        part = getattr(self, name)
        if part is None:
            raise NotOffered(name)
        return part


@dataclass(frozen=True)
class Implementation:
    """A library and the functions of it that equations speak about; all but the name optional.

    ``X`` (N, d) are rows, ``T`` (N, m) real targets, ``y`` (N,) labels, ``B`` (N,) weights of
    rows, ``C`` is the parameter of (4). Functions of a hidden layer must draw the same layer
    for the same ``n_hidden``, ``seed`` and d, whatever the rows are, and must not scale inputs.
    A function may raise NotImplementedError for what it does not offer.

    Parameters
    ----------
    name : str
    version : str, default=""
    ridge : callable, default=None
        ``ridge(X, T, *, n_hidden, C, seed)`` returns the :class:`Fitted` of (5).
    pseudo_inverse : callable, default=None
        ``pseudo_inverse(X, T, *, n_hidden, seed)``, the Moore-Penrose solution (3).
    weighted_ridge : callable, default=None
        ``weighted_ridge(X, T, B, *, n_hidden, C, seed)``, the solution (15).
    kernel_ridge : callable, default=None
        ``kernel_ridge(X, T, *, C, gamma)``, eq. (7) with ``K(u, v) = exp(-gamma |u - v|^2)``.
    weighted_kernel : callable, default=None
        ``weighted_kernel(X, T, B, *, C, gamma)``, eq. (15) with that kernel for ``H H'``.
    classifier : callable, default=None
        ``classifier(X, y, *, n_hidden, C, seed)``, with ``labels`` and, if it has them,
        ``scores`` with one column per class in sorted order.
    class_weights : callable, default=None
        ``class_weights(y, scheme)`` returns the weight of each row for ``"w1"`` (9) or
        ``"w2"`` (10).
    class_cost_vector : callable, default=None
        ``class_cost_vector(y, cost)`` returns B of (12) with W1, of costs (k, k) by class.
    sample_cost_vector : callable, default=None
        ``sample_cost_vector(y, M)`` returns B of (12) with W1, of the matrix (N, N) of (11).
    cost_search : callable, default=None
        ``cost_search(X, y, *, n_hidden, C, bounds, seed)`` searches one cost per row that
        minimises the training error (21); ``cost_vector`` and ``loss`` are what it found.
    search : callable, default=None
        ``search(low, high, size, seed)`` returns a :class:`Search`, eqs. (23)-(34).
    cumulative_score : callable, default=None
        ``cumulative_score(y_true, y_pred, tolerance)``, the share of (35), not in percent.

    Examples
    --------
    >>> import numpy as np
    >>> def fitted(X, T, *, C, gamma):
    ...     def kernel(U):
    ...         return np.exp(-gamma * ((U[:, None] - X) ** 2).sum(axis=2))
    ...     alpha = np.linalg.solve(np.eye(len(X)) / C + kernel(X), T)
    ...     return Fitted(scores=lambda U: kernel(U) @ alpha)
    >>> Implementation("by hand", kernel_ridge=fitted).offers
    ('kernel_ridge',)
    """

    name: str
    version: str = ""
    ridge: Callable[..., Fitted] | None = None
    pseudo_inverse: Callable[..., Fitted] | None = None
    weighted_ridge: Callable[..., Fitted] | None = None
    kernel_ridge: Callable[..., Fitted] | None = None
    weighted_kernel: Callable[..., Fitted] | None = None
    classifier: Callable[..., Fitted] | None = None
    class_weights: Callable[[AnyArray, str], FloatArray] | None = None
    class_cost_vector: Callable[[AnyArray, FloatArray], FloatArray] | None = None
    sample_cost_vector: Callable[[AnyArray, FloatArray], FloatArray] | None = None
    cost_search: Callable[..., Fitted] | None = None
    search: Callable[[FloatArray, FloatArray, int, int], Search] | None = None
    cumulative_score: Callable[[AnyArray, AnyArray, float], float] | None = None

    @property
    def offers(self) -> tuple[str, ...]:
        """Names of the functions that are there."""
        return tuple(name for name in FUNCTIONS if getattr(self, name) is not None)

    def offered(self, name: str) -> Any:
        """Return a function, or raise NotOffered."""
        function = getattr(self, name)
        if function is None:
            raise NotOffered(name)
        return function


FUNCTIONS = tuple(field.name for field in fields(Implementation)[2:])


def from_estimators(
    name: str,
    regressor: Callable[[int, float, int], Any],
    classifier: Callable[[int, float, int], Any] | None = None,
    *,
    version: str = "",
    sample_weight: bool = False,
) -> Implementation:
    """Return the implementation of estimators with ``fit`` and ``predict``.

    Their hidden layer stays unseen: only the identities that equations imply are checked.

    Parameters
    ----------
    name : str
    regressor : callable
        ``regressor(n_hidden, C, seed)`` returns an estimator that fits targets (N, m).
    classifier : callable, default=None
        ``classifier(n_hidden, C, seed)`` returns an estimator that fits labels, of three
        classes here; its ``decision_function``, if it has one, is the scores.
    version : str, default=""
    sample_weight : bool, default=False
        Whether ``fit`` of the regressor takes ``sample_weight``, the B of (15).

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from ecselm.paper.conformance import check, from_estimators
    >>> linear = from_estimators("Ridge", lambda L, C, seed: Ridge(1 / C, fit_intercept=False))
    >>> found = {one.check.name: one.outcome for one in check(linear)}
    >>> found["ridge at another C"], found["interpolation"], found["kernel ridge"]
    ('passed', 'failed', 'not offered')
    """

    def scores(model: Any) -> Callable[[FloatArray], FloatArray]:
        return lambda X: columns(model.predict(X))

    def ridge(X: FloatArray, T: FloatArray, *, n_hidden: int, C: float, seed: int) -> Fitted:
        return Fitted(scores=scores(regressor(n_hidden, C, seed).fit(X, T)))

    def weighted(
        X: FloatArray, T: FloatArray, B: FloatArray, *, n_hidden: int, C: float, seed: int
    ) -> Fitted:
        model = regressor(n_hidden, C, seed).fit(X, T, sample_weight=B)
        return Fitted(scores=scores(model))

    return Implementation(
        name,
        version,
        ridge=ridge,
        weighted_ridge=weighted if sample_weight else None,
        classifier=None if classifier is None else partial(_labelled, classifier),
    )


def _labelled(
    make: Callable[[int, float, int], Any],
    X: FloatArray,
    y: AnyArray,
    *,
    n_hidden: int,
    C: float,
    seed: int,
) -> Fitted:
    model = make(n_hidden, C, seed).fit(X, y)
    return Fitted(scores=getattr(model, "decision_function", None), labels=model.predict)


def columns(values: Any) -> FloatArray:
    """Return outputs (n, m), also if there is only one target."""
    Z = np.asarray(values, dtype=np.float64)
    return Z.reshape(len(Z), -1)
