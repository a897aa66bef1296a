"""The multicategory hinge as printed, by a convex solver."""

import cvxpy
import numpy as np


def coding(y, k=3):
    """Return V (N, k): 1 for the true class and -1/(k - 1) for the others."""
    return np.where(y[:, None] == np.arange(k), 1.0, -1.0 / (k - 1))


def convex_hinge(K, y, cost, alpha):
    """Return the least objective, and the coefficients C (N, k) and intercepts b (k,) of it.

    Its primal: scores sum to 0 for every x, and every mistake has its own cost.
    """
    N, k = len(y), len(cost)
    values, vectors = np.linalg.eigh(K)
    values, vectors = values[values > 1e-10], vectors[:, values > 1e-10]
    # K = ZZ' and W = Z'C: the solver gives up on kernels that are nearly singular.
    W, b = cvxpy.Variable((len(values), k)), cvxpy.Variable((1, k))
    F = (vectors * np.sqrt(values)) @ W + np.ones((N, 1)) @ b
    hinge = cvxpy.sum(cvxpy.multiply(cost[y], cvxpy.pos(F - coding(y, k)))) / N
    rules = [cvxpy.sum(W, axis=1) == 0, cvxpy.sum(b) == 0]
    objective = cvxpy.Minimize(hinge + alpha / 2 * cvxpy.sum_squares(W))
    problem = cvxpy.Problem(objective, rules)
    problem.solve(solver=cvxpy.CLARABEL)
    return problem.value, (vectors / np.sqrt(values)) @ W.value, b.value[0]
