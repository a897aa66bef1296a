"""Solve a searched model again on other rows, with the costs it has learned."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from ecselm._threads import one_blas_thread
from ecselm._typing import FloatArray
from ecselm.estimators._base import ELMClassifierBase
from ecselm.estimators._calibration import score_slope
from ecselm.estimators._layers import finite
from ecselm.layers import HiddenLayer, LayerUnion
from ecselm.linalg import GramBlocks, Solution
from ecselm.linalg.ridge import primal_solution
from ecselm.outofcore.blocks import Blocks, RowBlock, named
from ecselm.outofcore.passes import ClassGroups, Grouping, LayerSums, LevelGroups
from ecselm.outofcore.source import SUMS


def refit_blocks(model: Any, blocks: Blocks) -> Any:
    """Return a copy of a fitted model, solved on all rows in one pass.

    Layers, costs, penalties, thresholds and the weights of the members of an ensemble stay as
    they are; so do the probabilities of an ensemble, and of ``decision="min_cost"``.

    Parameters
    ----------
    model : ECSELMClassifier or ECSELMRegressor
        Fitted, with a hidden layer and without costs by row.
    blocks : Blocks
    """
    check_refittable(model)
    layers = list(model.layer_.parts) if _is_ensemble(model) else [model.layer_]
    add_up = partial(
        RefitSums.of, layers=layers, groups=_groups(model), n_features=model.n_features_in_
    )
    sums: RefitSums = blocks.reduce(add_up, RefitSums.__add__, SUMS)
    model._validated(named(sums.head.X, blocks.names), reset=False)
    for total in sums.layers.behind:
        finite(total.grams, "activation", model.activation)
    with one_blas_thread():
        return _solved(model, sums.layers.behind, sums.counts)


def check_refittable(model: Any) -> None:
    """Refuse a model whose output weights are no sums over rows by class."""
    check_is_fitted(model)
    if model.kernel is not None:
        raise ValueError(f"kernel must be None to solve on blocks of rows, got {model.kernel!r}")
    if model.cost_level == "sample":
        raise ValueError("cost_level must not be 'sample' to solve on blocks of rows")
    if not is_classifier(model) and not hasattr(model, "level_edges_"):
        raise ValueError(
            f"model must have one target to solve on blocks of rows, got {model.beta_.shape[1]}"
        )
    if _is_ensemble(model) and getattr(model, "_member_weights_", None) is None:
        raise ValueError("model must know how its members are averaged: fit it again")


def _is_ensemble(model: Any) -> bool:
    return isinstance(model.layer_, LayerUnion)


def _groups(model: Any) -> Grouping:
    """Return the classes or levels whose costs a model has learned."""
    return (
        ClassGroups(model.classes_) if is_classifier(model) else LevelGroups.at(model.level_edges_)
    )


@dataclass(frozen=True, slots=True)
class RefitSums:
    """Normal equations by class or level behind every layer, and weighted counts."""

    layers: LayerSums
    counts: FloatArray  # (g,) weighted
    head: RowBlock  # the first row

    @classmethod
    def of(
        cls, block: RowBlock, layers: list[HiddenLayer], groups: Grouping, n_features: int
    ) -> RefitSums:
        """Sum over one block."""
        if block.X.shape[1] != n_features:
            raise ValueError(f"X must have {n_features} columns as in fit, got {block.X.shape[1]}")
        counts = np.bincount(groups.codes(block), block.weight, groups.n_groups)
        return cls(LayerSums.of(block, layers, groups), counts.astype(np.float64), block.head(1))

    def __add__(self, other: RefitSums) -> RefitSums:
        """Return the sums over the rows of both."""
        head = self.head if len(self.head) else other.head
        return RefitSums(self.layers + other.layers, self.counts + other.counts, head)


def _solved(model: Any, sums: list[GramBlocks], counts: FloatArray) -> Any:
    fitted = copy(model)
    if _is_ensemble(model):
        last = model.beta_[-1:, _columns(model) - 1 :]
        beta = np.vstack([*_member_betas(model, sums), last])
    else:
        solution = _solution(sums[0], _group_costs(model), model.C_)
        beta, fitted.solver_ = solution.beta, solution.path
        _calibrate(fitted, solution, counts)
    beta = beta.astype(model.beta_.dtype)
    fitted.beta_ = np.hstack([-beta, beta]) if _columns(model) == 2 else beta
    fitted.__dict__.pop("cost_vector_", None)  # of the rows it was searched on
    return fitted


def _columns(model: Any) -> int:
    """Return the number of columns of ``beta_`` for one target: two classes share one."""
    return 2 if is_classifier(model) and len(model.classes_) == 2 else 1


def _member_betas(model: Any, sums: list[GramBlocks]) -> Iterator[FloatArray]:
    """Yield the weighted sum of the members' output weights behind every layer."""
    members = zip(model._members_, model._member_weights_, strict=True)
    behind = groupby(members, key=lambda one: one[0][:2])  # by kind and width of their layer
    for total, (_, some) in zip(sums, behind, strict=True):
        yield sum(
            weight * _solution(total, np.array(costs), C).beta for (_, _, C, *costs), weight in some
        )


def _group_costs(model: Any) -> FloatArray:
    """Return the B of every class or level; where costs decide, rows have none."""
    decides = getattr(model, "_probabilities_", None) is not None
    return np.ones(len(model.class_costs_)) if decides else model.class_costs_


def _solution(total: GramBlocks, costs: FloatArray, C: float) -> Solution:
    return primal_solution(total.weighted(costs), C, signed=bool((costs < 0).any()))


def _calibrate(fitted: Any, solution: Solution, counts: FloatArray) -> None:
    costs = _group_costs(fitted)
    if isinstance(fitted, ELMClassifierBase) and not (costs < 0).any():
        total, k = float(costs @ counts), len(fitted.classes_)
        fitted._slope_ = score_slope(solution, float(counts.sum()), total, k)
