"""Eq. (15) as printed, solved slowly for one candidate and one split at a time."""

import numpy as np


def printed(H, T, B, C):
    """Return beta of (15), in units or in samples."""
    if len(H) < H.shape[1]:
        return H.T @ np.linalg.inv(np.eye(len(H)) / C + np.diag(B) @ H @ H.T) @ np.diag(B) @ T
    HB = H.T @ np.diag(B)
    return np.linalg.inv(np.eye(H.shape[1]) / C + HB @ H) @ HB @ T


def printed_kernel(K, T, B, C):
    """Return alpha of (15) with K in the place of H H'."""
    return np.linalg.inv(np.eye(len(K)) / C + np.diag(B) @ K) @ np.diag(B) @ T


def kernel_matrix(X, gamma):
    return np.exp(-gamma * ((X[:, np.newaxis] - X) ** 2).sum(axis=2))


def vector(rows, costs):
    """Return what each row costs, one by one."""
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    return np.array([costs[g] * w for g, w in zip(rows.groups, weight, strict=True)])


def split_scores(train, test, rows, costs, C, features, gamma=None):
    """Return the scores of the rows ``test`` by a machine of the rows ``train`` alone."""
    B, T = vector(rows, costs)[train], rows.T[train]
    if gamma is None:
        return features[test] @ printed(features[train], T, B, C)
    K = kernel_matrix(features, gamma)
    return K[np.ix_(test, train)] @ printed_kernel(K[np.ix_(train, train)], T, B, C)


def left_out_score(i, rows, costs, C, features, gamma=None):
    """Return the score of row i without it, or with one of it less."""
    B = vector(rows, costs)
    if rows.weight is not None and rows.weight[i] > 1:
        B[i] -= costs[rows.groups[i]]
    else:
        B[i] = 0.0
    if gamma is None:
        return features[i] @ printed(features, rows.T, B, C)
    K = kernel_matrix(features, gamma)
    return K[i] @ printed_kernel(K, rows.T, B, C)


def literal_scores(splits, rows, candidates, features):
    """Return the scores (P, n, m) of a generation, the splits one after the other."""
    return np.stack(
        [
            np.concatenate([split_scores(s.train, s.test, rows, b, C, features) for s in splits])
            for b, C in zip(candidates.costs, candidates.C, strict=True)
        ]
    )
