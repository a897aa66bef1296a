"""Verification of faces in pairs: LFW, view 2, ten folds (section V.B).

Learners of metrics get the pairs, classifiers their five similarities. Those of a training
pair come from models learned without its fold, so that they are as good as those of a test
pair and no better.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from sklearn.preprocessing import StandardScaler

from ecselm._typing import AnyArray, FloatArray
from ecselm.paper.datasets import Dataset, PairSet, load_lfw, load_lfw_pairs, make_lfw_like
from ecselm.paper.pairs import PairSimilarities
from ecselm.paper.protocols.budget import Budget
from ecselm.paper.protocols.judges import judge_pairs
from ecselm.paper.protocols.protocol import Case, Protocol, found_case
from ecselm.paper.protocols.splits import given_folds


def cases() -> tuple[Case, ...]:
    """Return LFW by LBP, and by SIFT for those who hold the paper's descriptors."""
    found = (
        found_case(
            "LFW, LBP",
            partial(_pairs, partial(load_lfw, "lbp")),
            partial(_pairs, load_lfw_pairs),
            partial(_pairs, partial(make_lfw_like, random_state=0)),
        ),
        found_case("LFW, SIFT", partial(_pairs, partial(load_lfw, "sift")), None, None),
    )
    return tuple(case for case in found if case is not None)


def _pairs(load: Callable[[], PairSet]) -> Dataset:
    return load().dataset()


def _nothing() -> None:
    """Leave pairs as they are: their learners know what to do with two vectors."""


def five_similarities(
    X: FloatArray, y: AnyArray, X_test: FloatArray, budget: Budget
) -> tuple[FloatArray, FloatArray]:
    """Return the similarities (P, 5) of training pairs out of fold, and of test pairs."""
    learned = PairSimilarities()
    if budget.components is not None:
        learned.set_params(pca_dim=budget.components)
    return learned.fit_transform(X, y), learned.transform(X_test)


def wrongly_the_same(classes: AnyArray) -> AnyArray:  # noqa: ARG001  always both
    """Return costs: two persons taken for one cost twice the reverse; the paper does not say."""
    return np.array([[0.0, 2.0], [1.0, 0.0]])


VERIFICATION = Protocol("verification", "pairs", cases, given_folds, judge_pairs, _nothing, folds=2)
SIMILARITIES = Protocol(
    "similarities",
    "classification",
    cases,
    given_folds,
    judge_pairs,
    StandardScaler,
    five_similarities,
    {"n_hidden": 100},
    scoring="accuracy",
    cost=wrongly_the_same,
)
