"""Classifiers that decide by the largest score or by the least expected cost."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ecselm._typing import AnyArray, FloatArray
from ecselm.costs import expected_costs, min_cost_decision
from ecselm.elm.classification import ELMClassification


class CostDeciding(ELMClassification):
    """Decide as the fitted model was told: by score, or by probabilities and costs."""

    cost_matrix_: Any
    _probabilities_: Any  # LogisticCalibration, or None to decide by score

    def _decides_by_score(self) -> bool:
        """Tell how the fitted model decides, whatever the parameter says now."""
        check_is_fitted(self)
        return self._probabilities_ is None

    def decision_function(self, X: Any) -> FloatArray:
        """Return what speaks for each class; the largest is always the predicted class.

        With ``decision="argmax"`` the scores z = H(x) beta (18); with ``"min_cost"``
        the negative of what predicting the class is expected to cost.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)

        Returns
        -------
        scores : array of shape (N,) for two classes, else (N, k)
            For two classes, positive speaks for ``classes_[1]``.
        """
        if self._decides_by_score():
            return super().decision_function(X)
        costs = expected_costs(self.predict_proba(X), self.cost_matrix_)
        return costs[:, 0] - costs[:, 1] if len(self.classes_) == 2 else -costs

    def predict(self, X: Any) -> AnyArray:
        """Return the class of the largest score (19), or of the least expected cost.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)

        Returns
        -------
        labels : array of shape (N,)
        """
        if self._decides_by_score():
            return super().predict(X)
        winners = min_cost_decision(self.predict_proba(X), self.cost_matrix_)
        return self.classes_[winners]

    def predict_proba(self, X: Any) -> FloatArray:
        """Return class probabilities.

        With ``decision="argmax"`` their largest is always the predicted class; with
        ``"min_cost"`` they are calibrated, by a logistic law fitted to the scores of
        training rows left out in closed form (at most 4096 of them in
        :class:`CSELMClassifier`), and the prediction is the class they expect to cost
        least.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)

        Returns
        -------
        probabilities : array of shape (N, k)
        """
        if self._decides_by_score():
            return super().predict_proba(X)
        scores = self._scores(X)
        columns = scores[:, 1:] if len(self.classes_) == 2 else scores
        return self._probabilities_(columns.astype(np.float64))
