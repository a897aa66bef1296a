"""How much a class matters when its mistakes cost more than those of others."""

from __future__ import annotations

import numpy as np

from ecselm._typing import FloatArray

LEAST = 1e-12  # a class whose mistakes cost nothing would vanish from every sum


IMPORTANCES = ("sum", "mean", "max")


def class_importance(kind: str, cost: FloatArray, counts: FloatArray) -> FloatArray:
    """Return f (k,), the importance of every class, with a mean of 1 over all rows.

    Parameters
    ----------
    kind : {"sum", "mean", "max"}
        Over a row of ``cost``: its sum; its mean where wrong answers come as often as the
        classes do (a plain mean would be the sum again, once it is divided by the mean of
        all); its largest entry, which does not grow with the number of classes.
    cost : array of shape (k, k)
    counts : array of shape (k,)
        Rows of each class.

    Examples
    --------
    >>> import numpy as np
    >>> class_importance("sum", np.array([[0.0, 1.0], [3.0, 0.0]]), np.array([5.0, 5.0]))
    array([0.5, 1.5])
    """
    if kind == "mean":
        f = cost @ counts / (counts.sum() - counts)
    else:
        f = cost.sum(axis=1) if kind == "sum" else cost.max(axis=1)
    return np.maximum(f * counts.sum() / (counts @ f), LEAST)


def relative_cost(cost: FloatArray) -> FloatArray:
    """Return what a mistake costs either way round, with a mean of 1 over all pairs.

    Scatters and graphs are symmetric, so that only ``(cost + cost')/2`` can enter.
    """
    k = len(cost)
    return (cost + cost.T) * (k * (k - 1) / 2.0 / cost.sum())


def gallery_impostor_cost(
    n_gallery: int, c_gi: float = 2.0, c_ig: float = 20.0, c_gg: float = 1.0
) -> FloatArray:
    """Return the costs at a door: some persons are known, all others are one class, the last.

    Parameters
    ----------
    n_gallery : int
        Number of known persons.
    c_gi : float, default=2.0
        A known person is taken for an impostor.
    c_ig : float, default=20.0
        An impostor is taken for a known person.
    c_gg : float, default=1.0
        A known person is taken for another.

    Returns
    -------
    cost : array of shape (n_gallery + 1, n_gallery + 1)
        Rows are the truth, columns the prediction.

    Examples
    --------
    >>> gallery_impostor_cost(2)
    array([[ 0.,  1.,  2.],
           [ 1.,  0.,  2.],
           [20., 20.,  0.]])
    """
    if n_gallery < 1:
        raise ValueError(f"n_gallery must be at least 1, got {n_gallery}")
    stated = {"c_gi": c_gi, "c_ig": c_ig, "c_gg": c_gg}
    for name, value in stated.items():
        if not 0 <= value < np.inf:
            raise ValueError(f"{name} must be finite and >= 0, got {value}")
    cost = np.full((n_gallery + 1, n_gallery + 1), float(c_gg))
    cost[:, -1] = c_gi
    cost[-1] = c_ig
    np.fill_diagonal(cost, 0.0)
    return cost
