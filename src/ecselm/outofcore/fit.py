"""Fit estimators of the family to rows that come in blocks."""

from __future__ import annotations

import inspect
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from ecselm._random import as_generator
from ecselm._threads import one_blas_thread
from ecselm._typing import FloatArray, IntArray
from ecselm.estimators._layers import LayerRecipe
from ecselm.estimators._training import SAMPLE_ROWS, CalibrationSample, LayerLearner
from ecselm.fitness.sampling import RowSample, smallest
from ecselm.metrics import get_metric, get_scorer
from ecselm.outofcore.blocks import Blocks, named
from ecselm.outofcore.passes import (
    ClassGroups,
    CostSums,
    Grouping,
    LabelCounts,
    LevelGroups,
    PositionRange,
    RowReader,
    RowSummary,
    SampleRule,
    TargetRange,
    count_targets,
)
from ecselm.outofcore.source import (
    SUMS,
    SampledSource,
    measured_layer,
)

MAX_VALIDATION_ROWS = 100_000
SAMPLE_STREAM = 8  # children of the random state: a search has fewer
SQUARES = "neg_mean_squared_error"
SUMMARY, TARGETS = "looking at the rows", "looking at the targets"


def summarise(blocks: Blocks, rule: SampleRule | None = None) -> RowSummary:
    """Read all rows once, and refuse what cannot be learned from.

    Parameters
    ----------
    blocks : Blocks
    rule : SampleRule or None, default=None
        How to draw a sample; None draws none.
    """
    look = partial(RowSummary.of, has_labels=blocks.has_labels, rule=rule)
    known: RowSummary = blocks.reduce(look, RowSummary.__add__, SUMMARY, placed=rule is not None)
    if not known.scale.weight:
        raise ValueError("sample_weight must be > 0 for some row, got 0 for every row")
    if known.labels is not None:
        known.labels.check()
    return known


def fit_blocks(
    model: Any,
    blocks: Blocks,
    max_sample_rows: int = MAX_VALIDATION_ROWS,
    no_costs: Any = None,
) -> int:
    """Fit an estimator whose costs are known, in two passes; it is overwritten.

    Parameters
    ----------
    model : estimator
        That has ``partial_fit``, not fitted.
    blocks : Blocks
    max_sample_rows : int, default=100000
        Number of rows that a ``hidden_layer`` is fitted to.
    no_costs : array or None, default=None
        Costs by row of no rows, where rows have costs.

    Returns
    -------
    n_sampled : int
        Number of rows that the ``hidden_layer`` was fitted to.
    """
    # The first pass: classes, the scale of the inputs, and rows to fit a transformer to.
    rule = None
    if model.hidden_layer is not None:
        levels = None if blocks.has_labels else LevelGroups.at(np.zeros(0))
        rule = SampleRule.drawn(max_sample_rows, _sample_rng(model), levels=levels, searches=False)
    known = summarise(blocks, rule)
    # Costs that contradict the classes are refused before rows are summed.
    reader = RowReader(model, None if known.labels is None else known.labels.classes)
    costs = None if reader.classes is None else reader.costs(np.zeros(0, np.intp), no_costs)
    # The layer, drawn as fit draws it.
    model._validated(named(known.head.X, blocks.names), reset=True)
    recipe = model._recipe(known.head.X, n_rows=known.n_rows)
    recipe = replace(recipe, made=_made(recipe, known))
    # The second pass: sums, and the rows that probabilities are calibrated by.
    rng = model._sample_rng()
    draws, places = drawn_places(blocks.sizes, rng)
    add_up = partial(
        CostSums.of, reader=reader, layer=recipe.made, places=None if rng is None else places
    )
    sums: CostSums = blocks.reduce(add_up, CostSums.__add__, SUMS, placed=rng is not None)
    if not sums.masses.any():
        raise ValueError("costs must not be 0 for every row of positive weight")
    sample = None
    if rng is not None:
        sample = CalibrationSample(RowSample.of(sums.picked, draws, SAMPLE_ROWS), rng)
    learner = LayerLearner(recipe, recipe.made, True, sums.blocks, sums.counts, sums.masses, sample)
    # (15), solved.
    no_rows = sums.picked.taken(np.arange(0))
    with one_blas_thread():
        if reader.classes is None:
            model._learn(learner, no_rows, known.head.y.ndim)
        else:
            model._learn(learner, no_rows, costs, reader.classes)
    return 0 if known.listing is None else len(known.listing.sample)


def _made(recipe: LayerRecipe, known: RowSummary) -> Any:
    """Return the layer for all rows; a transformer is fitted to the sample."""
    if known.listing is None:
        return measured_layer(recipe, known)
    rows = known.listing.sample.rows
    return recipe.make(rows.X, rows.weight)


def drawn_places(sizes: IntArray, rng: np.random.Generator | None) -> tuple[FloatArray, IntArray]:
    """Return the draws and places of the rows that a :class:`CalibrationSample` keeps.

    Overwrites ``rng``: it ends as that of a sample which has seen all rows.
    """
    draws, places, start = np.zeros(0), np.zeros(0, dtype=np.intp), 0
    if rng is None:
        return draws, places
    for size in sizes.tolist():
        draws = np.concatenate([draws, rng.random(size)])
        places = np.concatenate([places, np.arange(start, start + size)])
        start += size
        if len(draws) > SAMPLE_ROWS:
            kept = smallest(draws, np.zeros(len(draws), dtype=np.intp), np.array([SAMPLE_ROWS]))
            draws, places = draws[kept], places[kept]
    return draws, places


def _sample_rng(model: Any) -> np.random.Generator:
    """Return a stream of random numbers that nothing else uses; the model's is not advanced."""
    return as_generator(deepcopy(model.random_state)).spawn(SAMPLE_STREAM)[-1]


def sampled_source(model: Any, blocks: Blocks, max_validation_rows: int) -> SampledSource:
    """Read all rows and sample those that validate the candidates of a search.

    It takes one pass, and for real targets one or two passes over these before it.
    """
    # Classes, or levels of the range of the targets.
    has_classes = is_classifier(model)
    levels = None if has_classes else _levels(blocks, model.n_levels)
    # Where that reads no inputs, sizes of classes come first: few rows are moved then.
    known = None
    if blocks.reads_targets_alone:
        count = partial(count_targets, levels=levels)
        known = blocks.reduce(count, LabelCounts.__add__, TARGETS, targets_alone=True)
    # The scale of the inputs, the sample and the smallest hashes, in one pass.
    rule = SampleRule.drawn(
        max_validation_rows,
        _sample_rng(model),
        levels=levels,
        known=known,
    )
    found = summarise(blocks, rule)
    if found.listing is None:
        raise TypeError("a summary with a rule must list rows")
    if levels is None:
        counts: LabelCounts = found.labels  # type: ignore[assignment]  # blocks have labels
        grouping: Grouping = ClassGroups(counts.classes)
    else:
        drawn = found.listing.sample
        counts = LabelCounts(drawn.classes, drawn.masses, drawn.counts).at(levels.n_groups)
        grouping = levels
    return SampledSource(blocks, found, grouping, counts.masses, found.listing.sampled())


def _levels(blocks: Blocks, n_levels: int) -> LevelGroups:
    """Return the levels of real targets; of several targets that takes a second pass."""
    targets: TargetRange = blocks.reduce(
        TargetRange.of, TargetRange.__add__, TARGETS, targets_alone=True
    )
    positions = targets
    if len(targets.low) > 1:
        positions = blocks.reduce(
            PositionRange(targets), TargetRange.__add__, TARGETS, targets_alone=True
        )
    if not np.isfinite(targets.low).all():
        raise ValueError("sample_weight must be > 0 for some row, got 0 for every row")
    return LevelGroups.within(targets, positions, n_levels)


def fit_search(model: Any, blocks: Blocks, max_validation_rows: int, previous: Any = None) -> None:
    """Fit an estimator whose costs are searched; it is overwritten.

    Candidates are trained on all rows, through sums by fold and class, and validated on a
    sample, whose weights are those of the rows it stands for.

    Parameters
    ----------
    model : ECSELMClassifier or ECSELMRegressor
        Not fitted.
    blocks : Blocks
    max_validation_rows : int
        Number of rows in the sample, at most.
    previous : estimator or None, default=None
        Fitted before, to begin with the costs it has learned.
    """
    search_sampled(model, sampled_source(model, blocks, max_validation_rows), previous)


def search_sampled(model: Any, source: SampledSource, previous: Any = None) -> None:
    """Search costs on rows that were sampled, see :func:`fit_search`."""
    if not source.is_complete:
        check_weights_count(model.scoring)
    model._fit_source(source, previous=previous)
    del model.cost_vector_  # it would have to be as long as the data
    by_sums = model.scoring == SQUARES
    model.n_validation_rows_ = source.n_rows if by_sums else len(source.sample)


def check_weights_count(scoring: Any) -> None:
    """Refuse a score that would take the sample for the rows it stands for."""
    if scoring is None or get_metric(scoring).from_confusion is not None:
        return
    function = getattr(get_scorer(scoring), "_score_func", None)
    if function is None or "sample_weight" not in inspect.signature(function).parameters:
        raise ValueError(
            "scoring must take sample_weight where a sample stands for all rows, got "
            f"{scoring!r}; a greater max_validation_rows takes all rows as they are"
        )
