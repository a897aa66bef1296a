"""Scores of beauty, and the five levels the paper makes of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ecselm._typing import AnyArray, IntArray
from ecselm.paper.datasets.dataset import Dataset

CUTS = (2.0, 4.0, 6.0, 8.0)
LEVELS = ("poor", "fair", "good", "very good", "excellent")


def beauty_levels(scores: Any) -> IntArray:
    """Return the paper's five levels, 1 to 5, of scores (N,) in [1, 10].

    The paper cuts at 2, 4, 6 and 8 without saying where a score on a cut belongs; here it
    belongs to the lower level.

    Examples
    --------
    >>> beauty_levels([1.0, 2.0, 2.1, 8.0, 10.0])
    array([1, 1, 2, 4, 5])
    """
    return np.digitize(scores, CUTS, right=True) + 1


def beauty_dataset(
    name: str, X: AnyArray, scores: AnyArray, target: str, source: str, *, synthetic: bool = False
) -> Dataset:
    """Return rows with scores in [1, 10], or with the levels of these that occur."""
    if target == "score":
        return Dataset(name, X, scores.astype(float), source, synthetic=synthetic)
    levels = beauty_levels(scores)
    classes = np.unique(levels)
    names = tuple(LEVELS[level - 1] for level in classes)
    return Dataset(name, X, levels, source, classes, class_names=names, synthetic=synthetic)
