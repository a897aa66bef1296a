"""Faces: recognition of persons (section V.A) and verification of pairs (section V.B).

Metric learners get the pairs, classifiers their five similarities. Those of a training pair
come from models learned without its fold, so that they are as good as those of a test pair
and no better.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from ecselm._typing import AnyArray, FloatArray
from ecselm.paper.datasets import (
    Dataset,
    PairSet,
    load_ar,
    load_lfw,
    load_lfw_pairs,
    load_olivetti,
    make_ar_like,
    make_lfw_like,
)
from ecselm.paper.datasets.dataset import Folds
from ecselm.paper.pairs import PairSimilarities
from ecselm.paper.protocols.evaluation import evaluate_pairs, evaluate_persons
from ecselm.paper.protocols.protocol import (
    Budget,
    Case,
    Protocol,
    first_available,
    given_folds,
    shares_of_classes,
)


def face_cases() -> tuple[Case, ...]:
    """Return AR, Olivetti or the stand-in."""
    stand_in = partial(make_ar_like, random_state=0)
    found = first_available("AR", load_ar, load_olivetti, stand_in)
    return () if found is None else (found,)


def face_splits(data: Dataset, budget: Budget, seed: int) -> Folds:
    """Return the two sessions, or half of the pictures of each person at random without sessions.

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
    """Return principal components of the training pictures, on a common scale.

    The paper takes 300, which AR's 700 training pictures have and Olivetti's 200 do not.
    Their variances are not made equal: with nearly as many components as pictures that
    leaves all training pictures equally far from each other, and tuning on them would be
    random.
    """
    return make_pipeline(PCA(0.999, svd_solver="full"), CommonScale())


FACES = Protocol(
    "faces",
    "classification",
    face_cases,
    face_splits,
    evaluate_persons,
    eigenfaces,
    params={"n_hidden": 300, "scale": None},
)


def pair_cases() -> tuple[Case, ...]:
    """Return LFW by LBP, and by SIFT where the paper's descriptors are available."""
    found = (
        first_available(
            "LFW, LBP",
            partial(_pairs, partial(load_lfw, "lbp")),
            partial(_pairs, load_lfw_pairs),
            partial(_pairs, partial(make_lfw_like, random_state=0)),
        ),
        first_available(
            "LFW, SIFT",
            partial(_pairs, partial(load_lfw, "sift")),
            None,
            None,
        ),
    )
    return tuple(case for case in found if case is not None)


def _pairs(load: Callable[[], PairSet]) -> Dataset:
    return load().dataset()


def no_transformer() -> None:
    """Return None: metric learners take pairs as they are."""


def five_similarities(
    X: FloatArray, y: AnyArray, X_test: FloatArray, budget: Budget
) -> tuple[FloatArray, FloatArray]:
    """Return the similarities (P, 5) of training pairs out of fold, and of test pairs."""
    similarities = PairSimilarities()
    if budget.components is not None:
        similarities.set_params(pca_dim=budget.components)
    return similarities.fit_transform(X, y), similarities.transform(X_test)


def fewer_components(
    X: FloatArray,
    y: AnyArray,  # noqa: ARG001  the signature of Prepare
    X_test: FloatArray,
    budget: Budget,
) -> tuple[FloatArray, FloatArray]:
    """Return pairs as they are, or by as many principal components as the budget has.

    Components are those of all pictures of the training pairs.

    Examples
    --------
    >>> pairs = np.random.default_rng(0).normal(size=(20, 2, 9))
    >>> train, test = fewer_components(pairs[:15], None, pairs[15:], Budget(components=4))
    >>> train.shape, test.shape
    ((15, 2, 4), (5, 2, 4))
    """
    n = budget.components
    if n is None or X.shape[-1] <= n:
        return X, X_test
    pictures = X.reshape(-1, X.shape[-1])
    fitted = PCA(min(n, len(pictures)), svd_solver="full").fit(pictures)
    train, test = (
        fitted.transform(rows.reshape(-1, rows.shape[-1])).reshape(*rows.shape[:2], -1)
        for rows in (X, X_test)
    )
    return train, test


def false_match_costs(classes: AnyArray) -> AnyArray:  # noqa: ARG001  always both
    """Return costs: a false match costs twice a false non-match; the paper gives none."""
    return np.array([[0.0, 2.0], [1.0, 0.0]])


VERIFICATION = Protocol(
    "verification",
    "pairs",
    pair_cases,
    given_folds,
    evaluate_pairs,
    no_transformer,
    fewer_components,
    folds=2,
)
SIMILARITIES = Protocol(
    "similarities",
    "classification",
    pair_cases,
    given_folds,
    evaluate_pairs,
    StandardScaler,
    five_similarities,
    {"n_hidden": 100},
    scoring="accuracy",
    cost=false_match_costs,
)
