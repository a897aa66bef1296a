"""Algorithms 1 and 2 of the paper as printed: slow, and what the fast machines must equal."""

from dataclasses import dataclass

import numpy as np

from tests.search.test_backtracking import literal_bsa


def scaled_inputs(X):
    """Return X with the range of every feature mapped to [-1, 1]."""
    low, high = X.min(axis=0), X.max(axis=0)
    return 2 * (X - low) / (high - low) - 1


def drawn_layer(X, L, rng):
    """Return H of step 1: w ~ U(-1, 1), b ~ U(0, 1), radial basis units (16)-(17)."""
    W, b = rng.uniform(-1, 1, (X.shape[1], L)), rng.uniform(0, 1, L)
    return np.exp(-((scaled_inputs(X) @ W + b) ** 2))


def printed_beta(H, T, B, C):
    """Return beta of (15), the unsymmetric forms as printed."""
    N, L = H.shape
    if N < L:
        return H.T @ np.linalg.solve(np.eye(N) / C + np.diag(B) @ H @ H.T, np.diag(B) @ T)
    return np.linalg.solve(np.eye(L) / C + H.T @ np.diag(B) @ H, H.T @ np.diag(B) @ T)


def printed_alpha(K, T, B, C):
    """Return alpha of (15) with the kernel in the place of H H'."""
    return np.linalg.solve(np.eye(len(K)) / C + np.diag(B) @ K, np.diag(B) @ T)


def out_of_fold(H, T, B, C, splits, solve=printed_beta):
    """Return the scores of all judged rows, split after split, and their positions."""
    scores, places = [], []
    for train, test in splits:
        if solve is printed_beta:
            beta, features = solve(H[train], T[train], B[train], C), H[test]
        else:
            beta = solve(H[np.ix_(train, train)], T[train], B[train], C)
            features = H[np.ix_(test, train)]
        scores.append(features @ beta)
        places.append(test)
    return np.vstack(scores), np.concatenate(places)


class Splitter:
    """A splitter of scikit-learn's kind that makes the splits ``make(X, y)`` returns."""

    def __init__(self, make):
        self.make = make

    def split(self, X, y=None, groups=None):
        yield from self.make(X, y)

    def get_n_splits(self, X=None, y=None, groups=None):
        return len(self.make(X, y))


@dataclass
class LiteralSearch:
    """The best point (D,), and best, mean and std of the loss by generation."""

    point: np.ndarray
    best: np.ndarray
    mean: np.ndarray
    std: np.ndarray


def literal_search(loss, low, high, size, epochs, rng):
    """Search the box by Algorithm 2, one candidate after the other."""
    points, losses = [], []

    def told(point):
        points.append(point.copy())
        losses.append(loss(point))
        return losses[-1]

    literal_bsa(told, low, high, size, epochs, rng)
    by_generation = np.reshape(losses, (epochs + 1, size))
    return LiteralSearch(
        points[int(np.argmin(losses))],
        np.minimum.accumulate(by_generation.min(axis=1)),
        by_generation.mean(axis=1),
        by_generation.std(axis=1),
    )
