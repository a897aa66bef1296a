"""Random input weights and biases of the hidden layer (paper, Algorithm 1, step 1).

The paper draws ``w ~ U(-1, 1)`` and ``b ~ U(0, 1)``. The projection ``w'x`` of n
standardised inputs then has a standard deviation of ``sqrt(n/3)`` and radbas is
zero nearly everywhere once n passes a dozen. The other draws have normal marginals
with ``w'x ~ N(0, 1/(2n))``: a gentle response in many dimensions, where there are
enough directions, and a winding one in few. Their biases, ``b ~ N(0, 1/4)``, reach
to both sides of ``|a| = 1/sqrt(2)``, where radbas is steepest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm, qmc

from ecselm._typing import FloatArray


@dataclass(frozen=True, slots=True)
class Weights:
    """Input weights (n, L) and biases (L,), one column per hidden unit."""

    weights: FloatArray
    biases: FloatArray


def _uniform(n: int, L: int, rng: np.random.Generator) -> Weights:
    return Weights(rng.uniform(-1.0, 1.0, (n, L)), rng.uniform(0.0, 1.0, L))


def _scaled(directions: FloatArray, biases: FloatArray) -> Weights:
    """Give standard normal ``directions`` and ``biases`` their scales."""
    n = len(directions)
    return Weights(directions * (np.sqrt(0.5) / n), biases / 2.0)


def _normal(n: int, L: int, rng: np.random.Generator) -> Weights:
    return _scaled(rng.standard_normal((n, L)), rng.standard_normal(L))


def _orthogonal(n: int, L: int, rng: np.random.Generator) -> Weights:
    """Draw blocks of n orthogonal directions, each as long as a normal one."""
    blocks = []
    for start in range(0, L, n):
        size = min(n, L - start)
        Q, R = np.linalg.qr(rng.standard_normal((n, size)))
        lengths = np.sqrt(rng.chisquare(n, size))
        # The signs of R's diagonal make Q uniform over the orthogonal group.
        blocks.append(Q * (np.sign(np.diag(R)) * lengths))
    return _scaled(np.hstack(blocks), rng.standard_normal(L))


def _sequence(engine: type[qmc.QMCEngine]) -> Callable[..., Weights]:
    def draw(n: int, L: int, rng: np.random.Generator) -> Weights:
        points = engine(d=n + 1, scramble=True, rng=rng)
        # A Sobol sequence is balanced only in whole powers of two.
        unit = points.random(1 << (L - 1).bit_length())[:L]
        gauss = norm.ppf(np.clip(unit, 1e-12, 1.0 - 1e-12))
        return _scaled(np.ascontiguousarray(gauss[:, :n].T), gauss[:, n])

    return draw


DRAWS: dict[str, Callable[[int, int, np.random.Generator], Weights]] = {
    "orthogonal": _orthogonal,
    "normal": _normal,
    "uniform": _uniform,
    "sobol": _sequence(qmc.Sobol),
    "halton": _sequence(qmc.Halton),
}


def draw_weights(draw: str, n_features: int, n_hidden: int, rng: np.random.Generator) -> Weights:
    """Draw input weights and biases for ``n_hidden`` units.

    Parameters
    ----------
    draw : {"orthogonal", "normal", "uniform", "sobol", "halton"}
        The paper's draw is ``"uniform"``; ``"sobol"`` and ``"halton"`` are the
        low-discrepancy sequences it names as future work (its reference [75]),
        with normal marginals.
    n_features, n_hidden : int
    rng : numpy.random.Generator

    Examples
    --------
    >>> import numpy as np
    >>> drawn = draw_weights("sobol", 3, 5, np.random.default_rng(0))
    >>> drawn.weights.shape, drawn.biases.shape
    ((3, 5), (5,))
    """
    if draw == "sobol" and n_features >= qmc.Sobol.MAXDIM:
        raise ValueError(
            f"draw='sobol' must have fewer than {qmc.Sobol.MAXDIM} features, "
            f"got {n_features}; use draw='halton'"
        )
    return DRAWS[draw](n_features, n_hidden, rng)
