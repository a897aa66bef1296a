"""Solve a searched model again on other rows, with the costs it has learned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from ecselm._threads import one_blas_thread
from ecselm._typing import FloatArray
from ecselm.estimators._ensemble import Member
from ecselm.estimators._layers import finite
from ecselm.layers import HiddenLayer, KernelMap
from ecselm.linalg import GramBlocks, LooRows, RidgePath
from ecselm.linalg.ridge import primal_solution
from ecselm.outofcore.blocks import Blocks, RowBlock, named
from ecselm.outofcore.passes import ClassGroups, Grouping, LayerSums, LevelGroups
from ecselm.outofcore.source import SUMS


def refit_blocks(model: Any, blocks: Blocks) -> Any:
    """Return a copy of a fitted model, solved on all rows in one pass.

    Layers, costs, penalties and members of an ensemble stay as they are; so do the
    calibration of probabilities and what mistakes cost in decisions.

    Parameters
    ----------
    model : ECSELMClassifier or ECSELMRegressor
        Fitted, with a hidden layer and without costs by row.
    blocks : Blocks
    """
    check_refittable(model)
    several = _is_ensemble(model)
    add_up = partial(
        RefitSums.of,
        layers=model.layer_.parts if several else (model.layer_,),
        groups=_groups(model),
        costs=model._training_costs_ if several else None,
        n_features=model.n_features_in_,
    )
    sums: RefitSums = blocks.reduce(add_up, RefitSums.__add__, SUMS)
    model._validated(named(sums.head.X, blocks.names), reset=False)
    for total in sums.layers.behind:
        finite(total.grams, "activation", model.activation)
    with one_blas_thread():
        return _solved(model, sums.layers.behind)


def check_refittable(model: Any) -> None:
    """Refuse a model whose output weights are no sums over rows by class."""
    check_is_fitted(model)
    if model.kernel is not None:
        raise ValueError(f"kernel must be None to solve on blocks of rows, got {model.kernel!r}")
    if model.cost_level == "sample":
        raise ValueError("cost_level must not be 'sample' to solve on blocks of rows")
    if getattr(model, "_weighted_probabilities_", None) is not None:
        raise ValueError("model must be fitted without costs by row to solve on blocks of rows")
    if not is_classifier(model) and not hasattr(model, "level_edges_"):
        raise ValueError(
            f"model must have one target to solve on blocks of rows, got {model.beta_.shape[1]}"
        )


def _is_ensemble(model: Any) -> bool:
    return getattr(model, "_members_", None) is not None


def _groups(model: Any) -> Grouping:
    """Return the classes or levels whose costs a model has learned."""
    return (
        ClassGroups(model.classes_) if is_classifier(model) else LevelGroups.at(model.level_edges_)
    )


@dataclass(frozen=True, slots=True)
class RefitSums:
    """Normal equations behind every layer, by class or level or weighted by their costs."""

    layers: LayerSums
    head: RowBlock  # the first row

    @classmethod
    def of(
        cls,
        block: RowBlock,
        layers: Sequence[HiddenLayer],
        groups: Grouping,
        costs: FloatArray | None,
        n_features: int,
    ) -> RefitSums:
        """Sum over one block, by group where there are no ``costs`` (g,) of these."""
        if block.X.shape[1] != n_features:
            raise ValueError(f"X must have {n_features} columns as in fit, got {block.X.shape[1]}")
        if costs is None:
            sums = LayerSums.of(block, layers, groups)
        else:
            sums = LayerSums.weighted(block, layers, groups, costs)
        return cls(sums, block.head(1))

    def __add__(self, other: RefitSums) -> RefitSums:
        """Return the sums over the rows of both."""
        head = self.head if len(self.head) else other.head
        return RefitSums(self.layers + other.layers, head)


def _solved(model: Any, sums: list[GramBlocks]) -> Any:
    fitted = copy(model)
    if _is_ensemble(model):
        beta = np.vstack(list(_member_betas(model, sums)))
    else:
        costs = _group_costs(model)
        signed = bool((costs < 0).any())
        solution = primal_solution(sums[0].weighted(costs), model.C_, signed=signed)
        beta, fitted.solver_ = solution.beta, solution.path
    beta = beta.astype(model.beta_.dtype)
    fitted.beta_ = np.hstack([-beta, beta]) if _shares_a_column(model) else beta
    fitted.__dict__.pop("cost_vector_", None)  # of the rows it was searched on
    return fitted


def _shares_a_column(model: Any) -> bool:
    return is_classifier(model) and len(model.classes_) == 2


def _member_betas(model: Any, sums: list[GramBlocks]) -> Iterator[FloatArray]:
    """Yield the output weights behind every layer, of the mean over all members."""
    members: tuple[Member, ...] = model._members_
    # Layers are in the order of their best members.
    kinds = dict.fromkeys(one[:3] for one in members)
    for layer, total, kind in zip(model.layer_.parts, sums, kinds, strict=True):
        path = _path(layer, total)
        betas = [path.beta(one.C) for one in members if one[:3] == kind]
        yield np.sum(betas, axis=0) / len(members)


def _path(layer: KernelMap, total: GramBlocks) -> RidgePath:
    """Return the solutions for every C, with no rows to be left out."""
    K = replace(layer, scale=None)(layer.rows)  # the centres are on their scale already
    (gram,), (moments,) = total.grams, total.moments
    nothing = LooRows(moments[:0], np.zeros(0))
    return RidgePath.of_sums(K, gram, moments, K[:0], nothing)


def _group_costs(model: Any) -> FloatArray:
    """Return the B of every class or level; where costs decide, rows have none."""
    decides = getattr(model, "_decision_costs_", None) is not None
    return np.ones(len(model.class_costs_)) if decides else model.class_costs_
