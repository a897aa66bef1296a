"""Weighted ELMs that AdaBoost combines, with weights that stay balanced by class."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from ecselm._random import as_generator
from ecselm._typing import BoolArray, FloatArray, IntArray
from ecselm.layers import RandomLayer
from ecselm.linalg import solve_weighted
from ecselm.paper.baselines._common import Labelled
from ecselm.paper.elms._base import (
    AT_LEAST_ONE,
    LAYER,
    POSITIVE,
    Activation,
    LayerClassifier,
    Seed,
    class_scores,
    target_columns,
)

CHANCE = 0.5  # weighted error from which a round adds nothing


def balanced_by_class(D: FloatArray, y: IntArray, n_classes: int) -> FloatArray:
    """Scale the weights of every class to the sum 1/k, over the k classes that have any.

    Examples
    --------
    >>> import numpy as np
    >>> balanced_by_class(np.array([1.0, 1.0, 3.0]), np.array([0, 0, 1]), 2)
    array([0.25, 0.25, 0.5 ])
    """
    sums = np.bincount(y, D, n_classes)
    present = sums > 0
    return D / np.where(present, sums, 1.0)[y] / present.sum()


def boosted_weights(
    D: FloatArray, wrong: BoolArray, alpha: float, y: IntArray, n_classes: int
) -> FloatArray:
    """Return the weights of the next round: ``exp(alpha)`` where wrong, else ``exp(-alpha)``.

    They are scaled within each class, so that no class loses its share to another.
    """
    return balanced_by_class(D * np.exp(np.where(wrong, alpha, -alpha)), y, n_classes)


class Member(NamedTuple):
    """The machine of one round, its share in the vote and its weighted error."""

    layer: RandomLayer
    beta: FloatArray  # (L, m)
    alpha: float
    error: float


class BoostingWELMClassifier(LayerClassifier):
    """Boosted weighted ELM: AdaBoost whose weights are balanced by class in every round.

    Rows start with the weights ``D_i = 1/(k n_c)`` for a class of n_c rows. A round solves
    (15) with ``B = N D``, measures the weighted error ``e = sum of D over wrong rows``, gets
    the vote ``alpha = ln((1 - e)/e)/2``, multiplies D by ``exp(alpha)`` for wrong rows and by
    ``exp(-alpha)`` for the others, and scales D *within each class* back to the sum 1/k.
    The class with the most votes is predicted.

    Parameters
    ----------
    n_estimators : int, default=10
        Rounds at most.
    n_hidden : int, default=100
        Number L of hidden units of every round.
    C : float, default=32.0
        Penalty of (15); larger fits closer. B has the mean 1.
    redraw : bool, default=True
        Draw a new hidden layer in every round; False keeps the first.
    activation, draw, scale, random_state :
        As in :class:`ecselm.ELMClassifier`.

    Attributes
    ----------
    classes_ : array of shape (k,)
    members_ : list of Member
        Layer, output weights, vote and weighted error of every round.
    errors_ : array of shape (n_rounds,)
    votes_ : array of shape (n_rounds,)
    row_weights_ : array of shape (N,)
        The weights D after the last round, of rows with a positive sample weight; 1/k in every
        class.
    n_features_in_ : int

    Notes
    -----
    After the abstract of Li, Kong, Lu, Wenyin and Yin (Neurocomputing 128, 2014): unequal
    first weights and an update by class are stated there, the constants are UNCERTAIN. The
    weights above are those of W1, (9), over k. Whether rounds share a hidden layer is
    UNCERTAIN, too. Rounds end at an error of 0, which counts as half a row, and at an error of
    1/2; a first round of such an error stays the only one.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ecselm.paper.elms import BoostingWELMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BoostingWELMClassifier(n_hidden=10, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LAYER,
        "n_estimators": AT_LEAST_ONE,
        "C": POSITIVE,
        "redraw": ["boolean"],
    }

    def __init__(
        self,
        n_estimators: int = 10,
        *,
        n_hidden: int = 100,
        C: float = 32.0,
        redraw: bool = True,
        activation: Activation = "radbas",
        draw: str = "orthogonal",
        scale: str | None = "standard",
        random_state: Seed = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.C = C
        self.redraw = redraw
        super().__init__(n_hidden, activation, draw, scale, random_state)

    def _learn_classes(self, given: Labelled) -> None:
        """Solve, reweight and repeat."""
        T, k = target_columns(given), given.n_classes
        w = np.ones(len(T)) if given.weight is None else given.weight
        rngs = as_generator(self.random_state).spawn(self.n_estimators)
        D = balanced_by_class(w, given.y, k)
        members: list[Member] = []
        for round_rng in rngs:
            if self.redraw or not members:
                layer = self._drawn(given.X, given.weight, round_rng)
                H = self._hidden(layer, given.X)
            beta = solve_weighted(H, T, w.sum() * D, self.C).beta  # (15)
            wrong = class_scores(H @ beta).argmax(axis=1) != given.y
            error = float(D[wrong].sum())
            if error >= CHANCE:
                break
            counted = max(error, 0.5 / w.sum())
            alpha = 0.5 * float(np.log((1.0 - counted) / counted))
            members.append(Member(layer, beta, alpha, error))
            D = boosted_weights(D, wrong, alpha, given.y, k)
            if error == 0:
                break
        self.members_ = members or [Member(layer, beta, 1.0, error)]
        self.row_weights_, self.layer_ = D, self.members_[0].layer

    @property
    def errors_(self) -> FloatArray:
        """Return the weighted error of every round."""
        return np.array([member.error for member in self.members_])

    @property
    def votes_(self) -> FloatArray:
        """Return the alpha of every round."""
        return np.array([member.alpha for member in self.members_])

    def _scores(self, X: Any) -> FloatArray:
        """Return each class's share of the votes (N, k)."""
        X = self._rows(X)
        votes = np.zeros((X.shape[0], len(self.classes_)))
        for member in self.members_:
            chosen = class_scores(member.layer(X) @ member.beta).argmax(axis=1)
            votes[np.arange(len(votes)), chosen] += member.alpha
        return votes / self.votes_.sum()
