"""The hidden layer, the fits, the targets and the decisions that these machines share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ecselm._random import as_generator
from ecselm._sklearn import Interval, check_weights, fit_context
from ecselm._threads import row_blocks
from ecselm._typing import AnyArray, FloatArray, Matrix
from ecselm.estimators._base import LAYER as ELM_LAYER
from ecselm.estimators._base import all_or_nothing, check_targets, class_targets
from ecselm.estimators._layers import LayerRecipe, finite
from ecselm.layers import RandomLayer, draw_weights
from ecselm.paper.baselines._common import Labelled, margins, read_labels, read_rows

LAYER: dict[str, list[Any]] = {
    **{name: ELM_LAYER[name] for name in ("activation", "draw", "scale", "random_state")},
    "n_hidden": [Interval(Integral, 1, None, closed="left")],
}
Activation = str | Callable[[FloatArray], FloatArray]
Seed = int | np.random.RandomState | np.random.Generator | None
POSITIVE = [Interval(Real, 0, None, closed="neither")]
NOT_NEGATIVE = [Interval(Real, 0, None, closed="left")]
AT_LEAST_ONE = [Interval(Integral, 1, None, closed="left")]


def labelled_rows(model: Any, X: Any, y: Any, weight: Any, *, sparse: bool = True) -> Labelled:
    """Return checked rows in double precision, without those of weight 0."""
    given = read_labels(model, X, y, weight, sparse=sparse)
    w = None if given.weight is None else given.weight.astype(np.float64)
    used = slice(None) if w is None else np.flatnonzero(w > 0)
    return Labelled(
        given.X[used].astype(np.float64, copy=False),
        given.y[used],
        given.classes,
        None if w is None else w[used],
    )


@dataclass(frozen=True, slots=True)
class Measured:
    """N rows with one real target each, and their weights, if any."""

    X: Matrix  # (N, n)
    t: FloatArray  # (N,)
    weight: FloatArray | None  # (N,), > 0


def measured_rows(model: Any, X: Any, y: Any, sample_weight: Any) -> Measured:
    """Return checked rows and targets in double precision, without those of weight 0."""
    check_targets(y)
    X, y = validate_data(
        model,
        X,
        y,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        order="C",
        y_numeric=True,
    )
    w = check_weights(sample_weight, X)
    X, t = X.astype(np.float64, copy=False), y.astype(np.float64)
    if w is None:
        return Measured(X, t, None)
    used = np.flatnonzero(w > 0)
    return Measured(X[used], t[used], w[used].astype(np.float64))


def target_columns(given: Labelled) -> FloatArray:
    """Return T: (N, k) of 1 and -1, or one column for two classes."""
    return class_targets(given.n_classes)[given.y]


def class_scores(Z: FloatArray) -> FloatArray:
    """Return one score per class (N, k) for the columns of :func:`target_columns`.

    Two classes have half of their score each, so that their difference is that of (18).
    """
    return np.hstack([-Z, Z]) / 2 if Z.shape[1] == 1 else Z


class LayerMachine(BaseEstimator):
    """Base of the machines behind one random layer ``H = g(XW + b)``."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {}

    layer_: RandomLayer
    beta_: FloatArray  # (L, m), or (L,) for one target

    def __init__(
        self,
        n_hidden: int,
        activation: Activation,
        draw: str,
        scale: str | None,
        random_state: Seed,
    ) -> None:
        self.n_hidden = n_hidden
        self.activation = activation
        self.draw = draw
        self.scale = scale
        self.random_state = random_state

    def _learn(self, X: Matrix, T: FloatArray, weight: FloatArray | None) -> None:
        """Draw a layer and learn the output weights for targets T (N, m)."""
        raise NotImplementedError

    def _layer_and_rows(self, X: Matrix, weight: FloatArray | None) -> tuple[Any, FloatArray]:
        """Draw the layer and return it with H of the training rows."""
        layer = self._drawn(X, weight, as_generator(self.random_state))
        return layer, self._hidden(layer, X)

    def _centre(self, X: Any) -> FloatArray:
        """Return the outputs (N, m) that are predictions or scores."""
        return self._outputs(X)

    def _drawn(self, X: Matrix, weight: FloatArray | None, rng: np.random.Generator) -> Any:
        """Draw a layer for inputs like the rows of X."""
        drawn = draw_weights(self.draw, X.shape[1], self.n_hidden, rng)
        recipe = LayerRecipe(drawn, self.activation, self.scale, None, np.dtype(np.float64))
        return recipe.make(X, weight)

    def _hidden(self, layer: Any, X: Matrix) -> FloatArray:
        """Return H of training rows, refused where it is not finite."""
        return finite(layer(X), "activation", self.activation)

    def _rows(self, X: Any) -> Matrix:
        check_is_fitted(self)
        return read_rows(self, X).astype(np.float64, copy=False)

    def _outputs(self, X: Any) -> FloatArray:
        """Return ``H(x) beta`` (18), block by block."""
        X = self._rows(X)
        blocks = row_blocks(X.shape[0], self.layer_.n_hidden)
        return np.concatenate([self.layer_(X[rows]) @ self.beta_ for rows in blocks])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class ScoreClassifier(ClassifierMixin, BaseEstimator):
    """Base of the classifiers: the largest score decides (19)."""

    classes_: AnyArray

    def _scores(self, X: Any) -> FloatArray:
        """Return one score per class (N, k)."""
        raise NotImplementedError

    def decision_function(self, X: Any) -> FloatArray:
        """Return the score of each class; the largest is the predicted class.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)

        Returns
        -------
        scores : array of shape (N,) for two classes, else (N, k)
            For two classes, positive speaks for ``classes_[1]``.
        """
        return margins(self._scores(X))

    def predict(self, X: Any) -> AnyArray:
        """Return the class with the largest score.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)

        Returns
        -------
        labels : array of shape (N,)
        """
        winners = self._scores(X).argmax(axis=1)
        return self.classes_[winners]


class LayerClassifier(ScoreClassifier, LayerMachine):
    """Base of the classifiers behind one layer, by targets 1 and -1 unless they say otherwise."""

    @fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Draw the hidden layer and learn its output weights.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)
        y : array of shape (N,)
        sample_weight : array of shape (N,), default=None
            Multiplies the loss of a row, like the B of (15); a row of weight 2 counts as two
            rows.

        Returns
        -------
        self
        """
        given = labelled_rows(self, X, y, sample_weight)
        self._learn_classes(given)
        self.classes_ = given.classes
        return self

    def _learn_classes(self, given: Labelled) -> None:
        self._learn(given.X, target_columns(given), given.weight)

    def _scores(self, X: Any) -> FloatArray:
        return class_scores(self._centre(X))


class LayerRegressor(RegressorMixin, LayerMachine):
    """Base of the regressors behind one layer, which learn targets of mean 0."""

    intercept_: float

    @fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Draw the hidden layer and learn its output weights for targets of mean 0.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)
        y : array of shape (N,)
        sample_weight : array of shape (N,), default=None
            Multiplies the loss of a row; a row of weight 2 counts as two rows.

        Returns
        -------
        self
        """
        given = measured_rows(self, X, y, sample_weight)
        self.intercept_ = float(np.average(given.t, weights=given.weight))
        self._learn(given.X, given.t[:, np.newaxis] - self.intercept_, given.weight)
        return self

    def predict(self, X: Any) -> FloatArray:
        """Return the outputs plus the mean of the training targets.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)

        Returns
        -------
        targets : array of shape (N,)
        """
        return self._centre(X).ravel() + self.intercept_
