"""Our own library as an implementation to be checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from ecselm import (
    CSELMClassifier,
    CSELMRegressor,
    ECSELMClassifier,
    ELMClassifier,
    ELMRegressor,
    KELMRegressor,
    WELMClassifier,
    __version__,
)
from ecselm._typing import AnyArray, FloatArray
from ecselm.metrics import cumulative_score
from ecselm.paper.conformance.implementation import Fitted, Implementation, columns
from ecselm.search import BacktrackingSearch, Box

# The layer of the paper: radial basis units (17), w ~ U(-1, 1), inputs as they come.
LAYER: dict[str, Any] = {"activation": "radbas", "draw": "uniform", "scale": None}


def ecselm_implementation() -> Implementation:
    """Return this library, with the layer of the paper and inputs that are not scaled.

    Examples
    --------
    >>> from ecselm.paper.conformance import check, ecselm_implementation
    >>> {result.outcome for result in check(ecselm_implementation())}
    {'passed'}
    """
    return Implementation(
        "ecselm",
        __version__,
        ridge=_ridge,
        pseudo_inverse=_pseudo_inverse,
        weighted_ridge=_weighted_ridge,
        kernel_ridge=_kernel_ridge,
        weighted_kernel=_weighted_kernel,
        classifier=_classifier,
        class_weights=_class_weights,
        class_cost_vector=_class_cost_vector,
        sample_cost_vector=_sample_cost_vector,
        cost_search=_cost_search,
        search=lambda low, high, size, seed: BacktrackingSearch(
            Box(low, high), size, np.random.default_rng(seed)
        ),
        cumulative_score=lambda y_true, y_pred, tolerance: cumulative_score(
            y_true, y_pred, tolerance=tolerance
        ),
    )


def _layered(model: Any, **more: Any) -> Fitted:
    """Return a fitted estimator with its hidden layer."""
    shown = {"scores": lambda X: columns(model.predict(X)), **more}
    layer = model.layer_
    return Fitted(
        hidden=lambda X: np.asarray(layer(X)),
        weights=layer.weights,
        biases=layer.biases,
        activation="radbas",
        **shown,
    )


def _ridge(X: FloatArray, T: FloatArray, *, n_hidden: int, C: float, seed: int) -> Fitted:
    return _layered(ELMRegressor(n_hidden, C=C, **LAYER, random_state=seed).fit(X, T))


def _pseudo_inverse(X: FloatArray, T: FloatArray, *, n_hidden: int, seed: int) -> Fitted:
    return _layered(ELMRegressor(n_hidden, C=None, **LAYER, random_state=seed).fit(X, T))


def _weighted_ridge(
    X: FloatArray, T: FloatArray, B: FloatArray, *, n_hidden: int, C: float, seed: int
) -> Fitted:
    model = CSELMRegressor(n_hidden, C=C, **LAYER, random_state=seed)
    return _layered(model.fit(X, T, sample_cost=B))


def _kernel_ridge(X: FloatArray, T: FloatArray, *, C: float, gamma: float) -> Fitted:
    model = KELMRegressor(C=C, gamma=gamma).fit(X, T)
    return Fitted(scores=lambda X: columns(model.predict(X)))


def _weighted_kernel(
    X: FloatArray, T: FloatArray, B: FloatArray, *, C: float, gamma: float
) -> Fitted:
    model = CSELMRegressor(C=C, kernel="rbf", gamma=gamma).fit(X, T, sample_cost=B)
    return Fitted(scores=lambda X: columns(model.predict(X)))


def _classifier(X: FloatArray, y: AnyArray, *, n_hidden: int, C: float, seed: int) -> Fitted:
    model = ELMClassifier(n_hidden, C=C, **LAYER, random_state=seed).fit(X, y)
    return _layered(model, scores=model.decision_function, labels=model.predict)


def _rows(y: AnyArray) -> FloatArray:
    """Return rows of no importance: weights and costs depend on labels only."""
    return np.random.default_rng(0).standard_normal((len(y), 2))


def _class_weights(y: AnyArray, scheme: str) -> FloatArray:
    model = WELMClassifier(3, weighting=scheme, random_state=0).fit(_rows(y), y)
    return np.asarray(model.cost_vector_)


def _class_cost_vector(y: AnyArray, cost: FloatArray) -> FloatArray:
    model = CSELMClassifier.paper(n_hidden=3, cost=cost, random_state=0).fit(_rows(y), y)
    return np.asarray(model.cost_vector_)


def _sample_cost_vector(y: AnyArray, M: FloatArray) -> FloatArray:
    model = CSELMClassifier.paper(n_hidden=3, random_state=0).fit(_rows(y), y, sample_cost=M)
    return np.asarray(model.cost_vector_)


def _cost_search(
    X: FloatArray,
    y: AnyArray,
    *,
    n_hidden: int,
    C: float,
    bounds: tuple[float, float],
    seed: int,
) -> Fitted:
    model = ECSELMClassifier.paper(
        n_hidden=n_hidden, C=C, cost_bounds=bounds, scale=None, population_size=20,
        max_epochs=20, random_state=seed,
    ).fit(X, y)  # fmt: skip
    return _layered(
        model,
        scores=model.decision_function,
        labels=model.predict,
        cost_vector=model.cost_vector_,
        loss=1.0 - float(model.best_score_),
    )
