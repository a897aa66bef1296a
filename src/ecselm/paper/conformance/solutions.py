"""Checks of the hidden layer, the solutions and the decisions, eqs. (1)-(19) and (35)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ecselm._typing import AnyArray, FloatArray
from ecselm.paper.conformance import oracles
from ecselm.paper.conformance.implementation import Fitted, Implementation, NotOffered
from ecselm.paper.conformance.result import Check

# Few rows of moderate size: the explicit inverses of the oracles lose no digit that counts.
_RNG = np.random.default_rng(17)
N, D, TALL, WIDE, C, GAMMA = 24, 4, 9, 40, 4.0, 0.3
X = _RNG.standard_normal((N, D))
X_NEW = _RNG.standard_normal((7, D))
T = _RNG.standard_normal((N, 3))
B = _RNG.uniform(0.2, 3.0, N)
Y = np.array(["b"] * 13 + ["a"] * 7 + ["c"] * 4)[_RNG.permutation(N)]
COST = np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 0.5], [7.0, 3.0, 0.0]])
SHIFT = (
    X + (Y[:, np.newaxis] == "b") - (Y[:, np.newaxis] == "c")
)  # rows whose labels can be learned


def deviation(found: Any, expected: Any) -> float:
    """Return the largest difference, in units of the largest number expected if that is above 1."""
    found, expected = np.asarray(found, np.float64), np.asarray(expected, np.float64)
    if found.shape != expected.shape:
        raise ValueError(f"outputs must have the shape {expected.shape}, got {found.shape}")
    return float(np.abs(found - expected).max() / max(1.0, np.abs(expected).max()))


def both(fitted: Fitted) -> FloatArray:
    """Return the scores of the training rows and of others, one below the other."""
    scores = fitted.shown("scores")
    return np.vstack([scores(X), scores(X_NEW)])


def ridge(
    one: Implementation,
    targets: FloatArray = T,
    rows: FloatArray = X,
    *,
    n_hidden: int = WIDE,
    C: float = C,
    seed: int = 0,
) -> Fitted:
    """Fit (5)."""
    fitted: Fitted = one.offered("ridge")(rows, targets, n_hidden=n_hidden, C=C, seed=seed)
    return fitted


def weighted(
    one: Implementation,
    weights: FloatArray,
    targets: FloatArray = T,
    *,
    n_hidden: int = WIDE,
    C: float = C,
) -> Fitted:
    """Fit (15)."""
    fitted: Fitted = one.offered("weighted_ridge")(
        X, targets, weights, n_hidden=n_hidden, C=C, seed=0
    )
    return fitted


# The hidden layer


def _random_layer(one: Implementation) -> float:
    first, again = ridge(one), ridge(one, rows=3.0 * X[::-1] + 1.0)
    other = ridge(one, seed=1)
    W, b = first.shown("weights"), first.biases
    depends = deviation(again.shown("weights"), W)
    if (
        b is None
        or np.ptp(b) == 0.0
        or np.ptp(W) == 0.0
        or np.array_equal(W, other.shown("weights"))
    ):
        return np.inf
    return max(depends, deviation(again.shown("biases"), b))


def _layer(one: Implementation, activation: str | None) -> float:
    fitted = ridge(one)
    name = fitted.shown("activation")
    if activation not in (None, name):
        raise NotOffered(f"activation {activation}")
    W = fitted.shown("weights")
    b = np.zeros(W.shape[1]) if fitted.biases is None else fitted.biases
    return deviation(fitted.shown("hidden")(X_NEW), oracles.hidden_layer(X_NEW, W, b, name))


def _repeated(one: Implementation) -> float:
    return deviation(both(ridge(one)), both(ridge(one)))


# Solutions by the formula, where the hidden layer can be seen


def _pseudo_inverse(one: Implementation, n_hidden: int) -> float:
    fitted = one.offered("pseudo_inverse")(X, T, n_hidden=n_hidden, seed=0)
    hidden = fitted.shown("hidden")
    beta = oracles.pseudo_inverse_beta(hidden(X), T)
    return deviation(both(fitted), np.vstack([hidden(X), hidden(X_NEW)]) @ beta)


def _ridge(one: Implementation, n_hidden: int) -> float:
    fitted = ridge(one, n_hidden=n_hidden)
    hidden = fitted.shown("hidden")
    beta = oracles.ridge_beta(hidden(X), T, C)
    return deviation(both(fitted), np.vstack([hidden(X), hidden(X_NEW)]) @ beta)


def _weighted(one: Implementation, n_hidden: int) -> float:
    fitted = weighted(one, B, n_hidden=n_hidden)
    hidden = fitted.shown("hidden")
    beta = oracles.weighted_beta(hidden(X), T, B, C)
    return deviation(both(fitted), np.vstack([hidden(X), hidden(X_NEW)]) @ beta)


def _stationary(one: Implementation) -> float:
    fitted = weighted(one, B)
    hidden, scores = fitted.shown("hidden"), fitted.shown("scores")
    alpha = C * np.diag(B) @ (T - scores(X))
    beta = hidden(X).T @ alpha
    return deviation(scores(X_NEW), hidden(X_NEW) @ beta)


def _kernel(one: Implementation, weights: FloatArray | None) -> float:
    if weights is None:
        fitted = one.offered("kernel_ridge")(X, T, C=C, gamma=GAMMA)
    else:
        fitted = one.offered("weighted_kernel")(X, T, weights, C=C, gamma=GAMMA)
    K = oracles.gaussian_kernel(X, X, GAMMA)
    alpha = oracles.kernel_alpha(K, T, np.ones(N) if weights is None else weights, C)
    K_new = oracles.gaussian_kernel(X_NEW, X, GAMMA)
    return deviation(both(fitted), np.vstack([K, K_new]) @ alpha)


# Solutions by what predictions show: the targets I make of (5) the matrix that maps targets to
# scores, S = K (I/C + K)^-1 with K = H H' (6), from which K and all other solutions follow.


def _omega(one: Implementation, n_hidden: int, C: float) -> tuple[FloatArray, FloatArray]:
    """Return K (N, N) of the training rows and (n, N) of other rows, from predictions alone."""
    Z = both(ridge(one, np.eye(N), n_hidden=n_hidden, C=C))
    S, S_new = Z[:N], Z[N:]
    K = S @ np.linalg.inv(np.eye(N) - S) / C
    return K, S_new @ (np.eye(N) / C + K)


def _other_C(one: Implementation) -> float:
    found = []
    for n_hidden in (TALL, WIDE):
        K, K_new = _omega(one, n_hidden, 0.5)
        alpha = np.linalg.inv(np.eye(N) / C + K) @ T
        scores = both(ridge(one, n_hidden=n_hidden))
        found.append(deviation(scores, np.vstack([K, K_new]) @ alpha))
    return max(found)


def _other_weights(one: Implementation) -> float:
    found = []
    for n_hidden in (TALL, WIDE):
        K, K_new = _omega(one, n_hidden, 0.5)
        alpha = oracles.kernel_alpha(K, T, B, C)
        scores = both(weighted(one, B, n_hidden=n_hidden))
        found.append(deviation(scores, np.vstack([K, K_new]) @ alpha))
    return max(found)


def _symmetric(one: Implementation) -> float:
    found = []
    for n_hidden in (TALL, WIDE):
        K, _ = _omega(one, n_hidden, C)
        values = np.linalg.eigvalsh((K + K.T) / 2.0)[::-1]  # at most L of them are not 0
        found += [deviation(K, K.T), -values.min(), *np.abs(values[n_hidden:])]
    return float(max(found) / max(1.0, np.abs(K).max()))


def _projection(one: Implementation) -> float:
    found = []
    for n_hidden in (TALL, WIDE):
        fitted = one.offered("pseudo_inverse")(X, np.eye(N), n_hidden=n_hidden, seed=0)
        S = fitted.shown("scores")(X)
        rank = min(N, n_hidden)
        found += [deviation(S, S.T), deviation(S @ S, S), abs(np.trace(S) - rank) / rank]
    return max(found)


def _pseudo_inverse_limit(one: Implementation) -> float:
    exact = one.offered("pseudo_inverse")(X, T, n_hidden=TALL, seed=0)
    return deviation(both(ridge(one, n_hidden=TALL, C=1e10)), both(exact))


def _linear(one: Implementation) -> float:
    other = T[::-1] ** 2
    mixed = both(ridge(one, 2.0 * T - 0.5 * other))
    return deviation(mixed, 2.0 * both(ridge(one)) - 0.5 * both(ridge(one, other)))


def _row_order(one: Implementation) -> float:
    return deviation(both(ridge(one, T[::-1], X[::-1])), both(ridge(one)))


def _rows_twice(one: Implementation) -> float:
    twice = ridge(one, np.vstack([T, T]), np.vstack([X, X]))
    return deviation(both(twice), both(ridge(one, C=2.0 * C)))


def _small_C(one: Implementation) -> float:
    small, smaller = (both(ridge(one, C=C)) / C for C in (1e-10, 1e-11))
    return deviation(small, smaller)


def _interpolation(one: Implementation) -> float:
    return deviation(ridge(one, n_hidden=4 * N, C=1e9).shown("scores")(X), T)


def _training_error(one: Implementation) -> float:
    errors = [
        float(((ridge(one, C=C).shown("scores")(X) - T) ** 2).sum()) for C in (0.01, 0.1, 1, 10)
    ]
    return float(np.diff(errors).max())


def _weight_two(one: Implementation) -> float:
    double = np.arange(N) % 3 == 0
    repeated = ridge(one, np.vstack([T, T[double]]), np.vstack([X, X[double]]))
    return deviation(both(weighted(one, 1.0 + double)), both(repeated))


def _weight_zero(one: Implementation) -> float:
    kept = np.arange(N) % 3 != 0
    return deviation(both(weighted(one, kept.astype(float))), both(ridge(one, T[kept], X[kept])))


def _weight_scale(one: Implementation) -> float:
    return deviation(both(weighted(one, 8.0 * B, C=C / 8.0)), both(weighted(one, B)))


def _weight_one(one: Implementation) -> float:
    return deviation(both(weighted(one, np.ones(N))), both(ridge(one)))


# Weights, costs and decisions


def _class_weights(one: Implementation, scheme: str, *, ratios: bool) -> float:
    found = np.asarray(one.offered("class_weights")(Y, scheme), np.float64)
    expected = oracles.row_weights(Y, scheme)
    if ratios:
        return deviation(found / found.sum(), expected / expected.sum())
    return deviation(found / expected, np.ones(N))


def _cost_vector(one: Implementation, *, by_class: bool) -> float:
    codes = np.unique(Y, return_inverse=True)[1]
    M = COST[codes][:, codes]  # (11), of costs between classes
    if by_class:
        return deviation(one.offered("class_cost_vector")(Y, COST), oracles.cost_vector(Y, M))
    M = np.abs(np.sin(np.arange(1.0, N * N + 1).reshape(N, N))) * (1.0 - np.eye(N))
    return deviation(one.offered("sample_cost_vector")(Y, M), oracles.cost_vector(Y, M))


def _classifier(one: Implementation, y: AnyArray, rows: FloatArray = SHIFT) -> Fitted:
    fitted: Fitted = one.offered("classifier")(rows, y, n_hidden=WIDE, C=C, seed=0)
    return fitted


def _targets(one: Implementation) -> float:
    fitted = _classifier(one, Y)
    hidden = fitted.shown("hidden")
    beta = oracles.ridge_beta(hidden(SHIFT), oracles.signed_targets(Y), C)
    return deviation(fitted.shown("scores")(X_NEW), hidden(X_NEW) @ beta)


def _argmax(one: Implementation) -> float:
    fitted = _classifier(one, Y)
    largest = np.unique(Y)[np.asarray(fitted.shown("scores")(X_NEW)).argmax(axis=1)]
    return float(np.mean(np.asarray(fitted.shown("labels")(X_NEW)) != largest))


def _renamed(one: Implementation) -> float:
    names = {"a": "z", "b": "m", "c": "k"}  # which reverses their order
    labels = _classifier(one, Y).shown("labels")(X_NEW)
    renamed = _classifier(one, np.array([names[c] for c in Y])).shown("labels")(X_NEW)
    return float(np.mean([names[str(c)] != str(d) for c, d in zip(labels, renamed, strict=True)]))


def _cumulative(one: Implementation) -> float:
    y_true, y_pred = np.arange(40) % 5, (np.arange(40) ** 2 // 3) % 5
    function = one.offered("cumulative_score")
    found = [function(y_true, y_pred, t) for t in range(5)]
    return deviation(found, [oracles.share_within(y_true, y_pred, t) for t in range(5)])


Measure = Callable[[Implementation], float]


def _named(
    name: str,
    equations: str,
    formula: str,
    needs: str,
    tolerance: float,
    measure: Measure,
    *,
    black_box: bool = False,
) -> Check:
    return Check(name, equations, formula, tuple(needs.split()), tolerance, measure, black_box)


_unseen = partial(_named, black_box=True)

SOLUTION_CHECKS = (
    _unseen(
        "same seed, same scores", "(1)", "the draws of w and b are those of the seed",
        "ridge", 1e-12, _repeated,
    ),
    _named(
        "random layer", "(1)", "w and b are random and do not depend on the training rows",
        "ridge", 1e-12, _random_layer,
    ),
    _named(
        "hidden layer", "(16)", "H_ij = g(w_j x_i + b_j)", "ridge", 1e-12,
        partial(_layer, activation=None),
    ),
    _named(
        "radial basis units", "(17)", "g(a) = exp(-a^2)", "ridge", 1e-12,
        partial(_layer, activation="radbas"),
    ),
    _named(
        "Moore-Penrose, N >= L", "(3)", "beta = H^+ T", "pseudo_inverse", 1e-8,
        partial(_pseudo_inverse, n_hidden=TALL),
    ),
    _named(
        "Moore-Penrose, N < L", "(3)", "beta = H^+ T, of least norm", "pseudo_inverse", 1e-8,
        partial(_pseudo_inverse, n_hidden=WIDE),
    ),
    _unseen(
        "Moore-Penrose is a projection", "(3)", "S = H H^+ : S = S' = S S, rank min(N, L)",
        "pseudo_inverse", 1e-8, _projection,
    ),
    _unseen(
        "Moore-Penrose is the limit", "(3), (5)", "(5) becomes (3) as C grows",
        "ridge pseudo_inverse", 1e-4, _pseudo_inverse_limit,
    ),
    _named(
        "ridge, N >= L", "(5)", "beta = (I/C + H'H)^-1 H'T", "ridge", 1e-9,
        partial(_ridge, n_hidden=TALL),
    ),
    _named(
        "ridge, N < L", "(5)", "beta = H'(I/C + HH')^-1 T", "ridge", 1e-9,
        partial(_ridge, n_hidden=WIDE),
    ),
    _unseen(
        "ridge at another C", "(5), (6)", "HH' of the scores at one C gives those at another",
        "ridge", 1e-8, _other_C,
    ),
    _unseen(
        "kernel of the layer", "(6)", "HH' is symmetric, semidefinite, of rank L at most",
        "ridge", 1e-8, _symmetric,
    ),
    _unseen(
        "linear in targets", "(5)", "scores of a T1 + b T2 are a z1 + b z2",
        "ridge", 1e-9, _linear,
    ),
    _unseen(
        "order of rows", "(4)", "the sum over rows has no order", "ridge", 1e-9, _row_order
    ),
    _unseen(
        "every row twice", "(4)", "all rows twice at C are all rows once at 2C",
        "ridge", 1e-9, _rows_twice,
    ),
    _unseen(
        "small C", "(5)", "z is proportional to C as C vanishes", "ridge", 1e-4, _small_C
    ),
    _unseen(
        "interpolation", "(2), (5)", "L > N and a large C meet all targets",
        "ridge", 0.01, _interpolation,
    ),
    _unseen(
        "training error", "(4)", "a larger C fits the training rows closer",
        "ridge", 0.0, _training_error,
    ),
    _named(
        "kernel ridge", "(7)", "z = k(x)'(I/C + K)^-1 T", "kernel_ridge", 1e-9,
        partial(_kernel, weights=None),
    ),
    _named(
        "ratios of W1", "(9)", "weights of rows are as 1 / n_c", "class_weights", 1e-12,
        partial(_class_weights, scheme="w1", ratios=True),
    ),
    _named(
        "weights W1", "(9)", "W_cc = 1 / n_c", "class_weights", 1e-12,
        partial(_class_weights, scheme="w1", ratios=False),
    ),
    _named(
        "weights W2", "(10)", "W_cc = 0.618 / n_c above the mean count, else 1 / n_c",
        "class_weights", 1e-12, partial(_class_weights, scheme="w2", ratios=False),
    ),
    _named(
        "costs between samples", "(11), (12)", "B_i = sum_j (W M)_ij", "sample_cost_vector", 1e-12,
        partial(_cost_vector, by_class=False),
    ),
    _named(
        "costs between classes", "(11), (12)", "the same B, with M_ij = cost of y_i for y_j",
        "class_cost_vector", 1e-12, partial(_cost_vector, by_class=True),
    ),
    _named(
        "weighted, N >= L", "(15), (18)", "beta = (I/C + H'diag(B)H)^-1 H'diag(B)T",
        "weighted_ridge", 1e-9, partial(_weighted, n_hidden=TALL),
    ),
    _named(
        "weighted, N < L", "(15), (18)", "beta = H'(I/C + diag(B)HH')^-1 diag(B)T",
        "weighted_ridge", 1e-9, partial(_weighted, n_hidden=WIDE),
    ),
    _named(
        "multipliers", "(13), (14)", "beta = H'alpha with alpha = C diag(B)(T - z)",
        "weighted_ridge", 1e-9, _stationary,
    ),
    _named(
        "weighted kernel", "(15), (18)", "z = k(x)'(I/C + diag(B)K)^-1 diag(B)T",
        "weighted_kernel", 1e-9, partial(_kernel, weights=B),
    ),
    _unseen(
        "weights from plain scores", "(6), (15)", "HH' of unweighted scores gives weighted ones",
        "ridge weighted_ridge", 1e-8, _other_weights,
    ),
    _unseen(
        "weight 1", "(8), (12)", "ones are no weights", "ridge weighted_ridge", 1e-9, _weight_one
    ),
    _unseen(
        "weight 2", "(8), (12)", "a weight of 2 is a row repeated twice",
        "ridge weighted_ridge", 1e-9, _weight_two,
    ),
    _unseen(
        "weight 0", "(8), (12)", "a weight of 0 is a row omitted",
        "ridge weighted_ridge", 1e-9, _weight_zero,
    ),
    _unseen(
        "scale of weights", "(12)", "s B with C/s is B with C", "weighted_ridge", 1e-9,
        _weight_scale,
    ),
    _named(
        "targets of classes", "(12)", "T is 1 for the class of a row and -1 for others",
        "classifier", 1e-9, _targets,
    ),
    _named("largest score", "(19)", "the class is argmax_c z_c", "classifier", 0.0, _argmax),
    _unseen(
        "names of classes", "(19)", "renamed labels rename predictions", "classifier", 0.0,
        _renamed,
    ),
    _named(
        "cumulative score", "(35)", "share of rows whose error is at most the tolerance",
        "cumulative_score", 1e-12, _cumulative,
    ),
)  # fmt: skip
