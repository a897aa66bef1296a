"""Pairs of faces, LFW view 2, and what is tried on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ecselm.paper.pairs import (
    CSML,
    ITML,
    KISSME,
    LDML,
    LMLML,
    SILD,
    DMLEig,
    PairSimilarities,
    SubSML,
)
from ecselm.paper.pairs._base import PairLearner, cosines, differences, unit_rows
from ecselm.paper.pairs.subsml import IntraPersonalSpace

FILE = Path("lfw_view2_lbp") / "lfw_lbp_pca300.npz"
BASELINE = "whitened cosine"


@dataclass(frozen=True, slots=True)
class Faces:
    """Whitened descriptors of images, and pairs of them in folds."""

    X: np.ndarray  # (images, d)
    index: np.ndarray  # (P, 2), rows of X
    same: np.ndarray  # (P,)
    fold: np.ndarray  # (P,), 0 to 9

    @classmethod
    def from_folder(cls, folder: Path) -> Faces:
        """Read what was stored; the components were fitted on images that are in no pair."""
        with np.load(folder / FILE) as stored:
            X = stored["X"].astype(float) / np.sqrt(stored["eigenvalues"])
            return cls(X, stored["pairs"], stored["same"], stored["fold"])

    def rows(self, folds: list[int], dims: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the pairs of some folds, of length 1 in their first dimensions."""
        chosen = np.isin(self.fold, folds)
        return unit_rows(self.X[:, :dims])[self.index[chosen]], self.same[chosen]


class Cosine(PairLearner):
    """A threshold on the cosine of the two vectors."""

    def _learn(self, pairs: np.ndarray, same: np.ndarray) -> Any:
        return cosines


class IntraPersonal(TransformerMixin, BaseEstimator):
    """The space of Sub-SML as a first step for learners that have none of their own."""

    def fit(self, pairs: np.ndarray, y: np.ndarray) -> Self:
        self.space_ = IntraPersonalSpace.from_pairs(differences(pairs)[y == np.max(y)], 1e-6)
        return self

    def transform(self, pairs: np.ndarray) -> np.ndarray:
        return self.space_(pairs)


@dataclass(frozen=True, slots=True)
class Setting:
    """How many dimensions, and the parameters of a learner in them."""

    dims: int
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Method:
    """A learner and the settings among which training folds choose."""

    name: str
    settings: list[Setting]
    build: Callable[..., Any]
    build_to_choose: Callable[..., Any] | None = None  # where the whole takes too long


def grid(dims: list[int], name: str, values: list[float], **fixed: Any) -> list[Setting]:
    """Return all settings of dimensions and one parameter.

    Examples
    --------
    >>> [setting.parameters for setting in grid([60], "reg", [0.1, 1.0])]
    [{'reg': 0.1}, {'reg': 1.0}]
    """
    return [Setting(d, {name: value, **fixed}) for d in dims for value in values]


def _sub_sml(gamma: float, **parameters: Any) -> SubSML:
    return SubSML(gamma, gamma, tol=1e-3, **parameters)


def _five(gamma: float) -> Any:
    features = PairSimilarities(None, gamma, gamma, cv=5)
    return make_pipeline(features, StandardScaler(), LogisticRegression())


def _local(decay: float, **parameters: Any) -> Any:
    learner = LMLML(2, global_decay=decay, local_decay=decay, random_state=0, **parameters)
    return make_pipeline(IntraPersonal(), learner)


# The grids, and the space of Sub-SML for LDML and LMLML, were drawn up after a look at learners
# of folds 1 to 6 on folds 7 to 9. Only fold 0 was not used for that.
METHODS = [
    Method(BASELINE, [Setting(300, {})], Cosine),
    Method("SILD", grid([100, 300], "reg", [0.1, 1.0, 10.0], n_components=300), SILD),
    Method("ITML", grid([100, 300], "slack", [0.1, 0.3, 1.0], max_iter=300), ITML),
    Method(
        "LDML",
        grid([60, 100], "max_iter", [1, 2, 4]),
        lambda **parameters: make_pipeline(IntraPersonal(), LDML(**parameters)),
    ),
    Method("CSML", grid([100, 300], "beta", [0.03, 0.1, 0.3], n_components=300), CSML),
    Method("KISSME", grid([100, 300], "reg", [0.01, 1.0, 10.0]), KISSME),
    Method(
        "DML-eig",
        grid([60, 100, 200], "smoothing", [1e-3, 3e-3], reg=1e-2, tol=0.05),
        DMLEig,
    ),
    Method("LMLML", grid([60, 100], "decay", [1.0, 10.0], tol=1e-3, max_iter=100), _local),
    Method("SubSML", grid([100, 300], "gamma", [3.0, 10.0, 30.0]), _sub_sml),
    Method(
        "five similarities",
        grid([100, 300], "gamma", [10.0, 30.0]),
        _five,
        _sub_sml,
    ),
]
