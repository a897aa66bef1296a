"""Machines that a search has settled on, solved again on more rows than it has seen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from ecselm._threads import one_blas_thread
from ecselm._typing import FloatArray
from ecselm.costs import ClassWeights
from ecselm.estimators._base import (
    Block,
    ELMClassifierBase,
    block_weights,
    labelled_rows,
    stream_codes,
)
from ecselm.estimators._calibration import score_slope
from ecselm.estimators._layers import finite
from ecselm.estimators._training import Rows
from ecselm.layers import LayerUnion
from ecselm.linalg import GramBlocks, Solution
from ecselm.linalg.ridge import primal_solution


def refit_blocks(model: Any, blocks: Iterable[Block]) -> Any:
    """Return a copy of a fitted machine of the ECSELM kind, solved on the rows of all blocks.

    Layers, costs, penalties, cuts and how loud the members of a committee are stay what they
    were; so do the probabilities of a committee, and of ``decision="min_cost"``.

    Parameters
    ----------
    model : ECSELMClassifier or ECSELMRegressor
        Fitted, with a hidden layer and without costs by row.
    blocks : iterable of (X, y, weights)
    """
    check_refittable(model)
    layers = model.layer_.parts if _is_committee(model) else (model.layer_,)
    sums: list[GramBlocks | None] = [None] * len(layers)
    counts = np.zeros(len(model.class_costs_))
    with one_blas_thread():
        for rows in _targeted(model, blocks):
            counts += rows.counts(len(counts))
            for i, layer in enumerate(layers):
                more, known = rows.blocks(layer), sums[i]
                sums[i] = more if known is None else known + more
        known_sums = [_finite_sums(total, model) for total in sums]
        return _resolved(model, known_sums, counts)


def check_refittable(model: Any) -> None:
    """Refuse a model whose output weights are no sums over rows by class."""
    check_is_fitted(model)
    if model.kernel is not None:
        raise ValueError(f"kernel must be None to solve on blocks of rows, got {model.kernel!r}")
    if model.cost_level == "sample":
        raise ValueError("cost_level must not be 'sample' to solve on blocks of rows")
    if _is_committee(model) and getattr(model, "_member_weights_", None) is None:
        raise ValueError("model must know how its members are averaged: fit it again")


def _finite_sums(total: GramBlocks | None, model: Any) -> GramBlocks:
    """Return sums over at least a row that did not overflow."""
    if total is None:
        raise ValueError("blocks must hold at least one row, got none")
    finite(total.grams, "activation", model.activation)
    return total


def _is_committee(model: Any) -> bool:
    return isinstance(model.layer_, LayerUnion)


def _targeted(model: Any, blocks: Iterable[Block]) -> Iterator[Rows]:
    """Yield rows by class, or by level of a number, with targets in double precision."""
    read = _labelled if is_classifier(model) else _levelled
    for block in blocks:
        rows = read(model, *block)
        # A search solves in double precision whatever the rows are in.
        yield replace(rows, T=rows.T.astype(np.float64))


def _labelled(model: Any, X: Any, y: Any, weight: Any) -> Rows:
    X, y = model._validated(X, reset=False, y=y)
    codes, k = stream_codes(y, model.classes_), len(model.classes_)
    return labelled_rows(X, codes, ClassWeights(k), block_weights(weight, X), k)


def _levelled(model: Any, X: Any, y: Any, weight: Any) -> Rows:
    X, y = model._validated(X, reset=False, y=y, y_numeric=True)
    codes = np.digitize(y, model.level_edges_, right=True)
    terms = ClassWeights(len(model.class_costs_)).terms(codes)
    return Rows(X, y[:, np.newaxis], codes, terms, block_weights(weight, X))


def _resolved(model: Any, sums: list[GramBlocks], counts: FloatArray) -> Any:
    fitted = copy(model)
    if _is_committee(model):
        last = model.beta_[-1:, _columns(model) - 1 :]
        beta = np.vstack([*_member_betas(model, sums), last])
    else:
        solution = _solution(sums[0], _group_costs(model), model.C_)
        beta, fitted.solver_ = solution.beta, solution.path
        _calibrate(fitted, solution, counts)
    beta = beta.astype(model.beta_.dtype)
    fitted.beta_ = np.hstack([-beta, beta]) if _columns(model) == 2 else beta
    fitted.__dict__.pop("cost_vector_", None)  # that of the rows it was searched on
    return fitted


def _columns(model: Any) -> int:
    """Return how many columns of ``beta_`` stand for one target: two classes share one."""
    return 2 if is_classifier(model) and len(model.classes_) == 2 else 1


def _member_betas(model: Any, sums: list[GramBlocks]) -> Iterator[FloatArray]:
    """Yield the weighed sum of the members' output weights behind every layer."""
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
