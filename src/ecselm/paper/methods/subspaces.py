"""A nearest neighbour in a subspace, with and without costs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline

from ecselm.paper.methods.method import Grid, Method, Shape
from ecselm.paper.subspace import CSLDA, CSLPP, CSMFA, CSPCA, LPP, MFA

SUBSPACE = partial(Method, task="classification")
LU_AND_TAN = "after the abstracts of Lu and Tan, CVPR 2010 and IEEE TIFS 8(3), 2013"


def component_counts(shape: Shape) -> list[int]:
    """Return numbers of directions to choose from, all of them among these.

    Examples
    --------
    >>> component_counts(Shape(n_samples=100, n_features=24, n_classes=3))
    [2, 10, 20, 24]
    """
    most = min(shape.n_samples - 1, shape.n_features)
    tried = {shape.n_classes - 1, 10, 20, 50, 100, most}
    return sorted(count for count in tried if 1 <= count <= most)


def components(step: str, shape: Shape) -> Grid:
    """Return numbers of directions of a step to choose from."""
    return {f"{step}__n_components": component_counts(shape)}


def discriminants(step: str, shape: Shape) -> Grid:
    """Return numbers of discriminants, at most one less than classes, to choose from."""
    most = min(shape.n_classes - 1, shape.n_features)
    return {f"{step}__n_components": sorted({max(1, most // 4), max(1, most // 2), most})}


def shrunken_lda() -> LinearDiscriminantAnalysis:
    """Return discriminants that can be had with fewer rows than features."""
    return LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto")


def with_neighbour(kind: Callable[[], Any]) -> Pipeline:
    """Return a nearest neighbour in what a transformer of this kind projects to."""
    return make_pipeline(kind(), KNeighborsClassifier(1))


METHODS = (
    SUBSPACE(
        "PCA-NN",
        tables="II X",
        source="Turk and Pentland, 1991",
        make=partial(with_neighbour, PCA),
        grid=partial(components, "pca"),
        aliases=("PCA",),
    ),
    SUBSPACE(
        "CSPCA-NN",
        tables="II VI VIII X XII XIV",
        source=LU_AND_TAN,
        status="substitute",
        make=partial(with_neighbour, CSPCA),
        grid=partial(components, "cspca"),
        aliases=("CSPCA",),
    ),
    SUBSPACE(
        "LDA-NN",
        tables="II X",
        source="Belhumeur, Hespanha and Kriegman, IEEE TPAMI 19(7), 1997",
        make=partial(with_neighbour, shrunken_lda),
        grid=partial(discriminants, "lineardiscriminantanalysis"),
    ),
    SUBSPACE(
        "CSLDA-NN",
        tables="II VI VIII X XII XIV",
        source=LU_AND_TAN,
        status="substitute",
        make=partial(with_neighbour, CSLDA),
        grid=partial(discriminants, "cslda"),
        aliases=("CSLDA",),
    ),
    SUBSPACE(
        "LPP-NN",
        tables="II X",
        source="He and Niyogi, NIPS 2003",
        status="exact",
        make=partial(with_neighbour, LPP),
        grid=partial(components, "lpp"),
        aliases=("LPP",),
    ),
    SUBSPACE(
        "CSLPP-NN",
        tables="II VI VIII X XII XIV",
        source=LU_AND_TAN,
        status="substitute",
        make=partial(with_neighbour, CSLPP),
        grid=partial(components, "cslpp"),
        aliases=("CSLPP",),
    ),
    SUBSPACE(
        "MFA-NN",
        source="Yan et al., IEEE TPAMI 29(1), 2007",
        status="exact",
        make=partial(with_neighbour, MFA),
        grid=partial(components, "mfa"),
        aliases=("MFA",),
    ),
    SUBSPACE(
        "CSMFA-NN",
        tables="II VI VIII X XII XIV",
        source=LU_AND_TAN,
        status="substitute",
        make=partial(with_neighbour, CSMFA),
        grid=partial(components, "csmfa"),
        aliases=("CSMFA",),
    ),
)
