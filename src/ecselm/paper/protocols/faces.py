"""Recognition of faces: one session to learn from, the other to test (section V.A)."""

from __future__ import annotations

from functools import partial
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.pipeline import Pipeline, make_pipeline

from ecselm._typing import AnyArray, FloatArray
from ecselm.paper.datasets import Dataset, load_ar, load_olivetti, make_ar_like
from ecselm.paper.datasets.dataset import Folds
from ecselm.paper.protocols.budget import Budget
from ecselm.paper.protocols.judges import judge_persons
from ecselm.paper.protocols.protocol import Case, Protocol, found_case
from ecselm.paper.protocols.splits import shares_of_classes


def cases() -> tuple[Case, ...]:
    """Return AR, Olivetti or the stand-in."""
    found = found_case("AR", load_ar, load_olivetti, partial(make_ar_like, random_state=0))
    return () if found is None else (found,)


def splits(data: Dataset, budget: Budget, seed: int) -> Folds:
    """Return the two sessions, or half of everyone's pictures at random where there are none.

    A short budget takes fewer persons, not fewer pictures of each.
    """
    whole = data.folds or shares_of_classes(1, 2)(data, _all_rows(budget), seed)
    if budget.most_rows is None:
        return whole
    n_persons = max(5, budget.most_rows * len(np.unique(data.y)) // len(data.y))
    chosen = np.isin(data.y, np.unique(data.y)[:n_persons])
    return tuple((train[chosen[train]], test[chosen[test]]) for train, test in whole)


def _all_rows(budget: Budget) -> Budget:
    return Budget(repeats=budget.repeats)


class CommonScale(TransformerMixin, BaseEstimator):
    """Divide all features by one number, so that their mean variance is 1.

    Examples
    --------
    >>> X = np.array([[0.0, 4.0], [0.0, 0.0]])
    >>> CommonScale().fit_transform(X).var(axis=0).round(9).tolist()
    [0.0, 2.0]
    """

    scale_: float

    def fit(self, X: FloatArray, y: AnyArray | None = None) -> Self:
        """Learn the number from training rows (N, d)."""
        self.scale_ = float(np.sqrt(X.var(axis=0).mean())) or 1.0
        return self

    def transform(self, X: FloatArray) -> FloatArray:
        """Return the rows divided by it."""
        return X / self.scale_


def eigenfaces() -> Pipeline:
    """Return principal components of what the training pictures span, on a common scale.

    The paper takes 300, which AR's 700 training pictures have and Olivetti's 200 do not.
    Their variances are not made equal: with nearly as many components as pictures that
    leaves all training pictures equally far from each other, and whatever is chosen out of
    fold among them is chosen by chance.
    """
    return make_pipeline(PCA(0.999, svd_solver="full"), CommonScale())


FACES = Protocol(
    "faces",
    "classification",
    cases,
    splits,
    judge_persons,
    eigenfaces,
    params={"n_hidden": 300, "scale": None},
)
