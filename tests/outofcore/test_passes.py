"""Folds, samples and hashes found block by block are those of all rows at once."""

from dataclasses import replace
from functools import reduce
from importlib import import_module

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ecselm.fitness.folds import FoldAssignment, fitness_splits, row_hashes
from ecselm.outofcore import RowBlock
from ecselm.outofcore.passes import (
    FoldPlan,
    LabelCounts,
    LevelGroups,
    RowListing,
    RowSummary,
    SampleRule,
    TargetRange,
)


def cut(size, X, y, weight=None):
    """Return blocks of rows that know their places."""
    whole = RowBlock(X, y, weight, places=np.arange(len(y)))
    return [whole.taken(np.arange(i, min(i + size, len(y)))) for i in range(0, len(y), size)]


@pytest.mark.parametrize("fitness", ["cv", 3, "holdout", "train"])
@pytest.mark.parametrize("n_listed", [100, 12], ids=["listed", "one class is not listed"])
def test_splits_are_those_of_the_rows(fitness, n_listed, rng, monkeypatch):
    monkeypatch.setattr(import_module("ecselm.fitness.folds"), "N_LISTED", n_listed)
    X = rng.integers(0, 4, (80, 3)).astype(float)  # many of them equal
    y = rng.choice(3, 80, p=[0.8, 0.1, 0.1])
    expected = fitness_splits(fitness, X, y, y, 0.25, np.random.default_rng(5))
    hashes = row_hashes(X)
    listed = {c: np.unique(hashes[y == c])[: n_listed + 1] for c in range(3)}
    assignment = FoldAssignment.drawn(listed, np.random.default_rng(5), n_listed)
    plan = FoldPlan.of_fitness(fitness, assignment, 0.25)
    own = plan.folds(X, y)
    assert len(expected) == len(plan.validation)
    for split, train, fold in zip(expected, plan.train, plan.validation, strict=True):
        assert_array_equal(np.flatnonzero(train[own]), split.train)
        assert_array_equal(np.flatnonzero(own == fold), split.test)


@pytest.mark.parametrize("fitness", ["cv", "holdout"])
def test_too_few_distinct_rows_are_refused(fitness):
    assignment = FoldAssignment.drawn({0: np.array([b"a"])}, np.random.default_rng(0), 9)
    with pytest.raises(ValueError, match="some rows must be left to train on"):
        FoldPlan.of_fitness(fitness, assignment, 0.25)


def test_a_sample_of_known_counts_moves_few_rows_and_is_the_same(rng):
    y = rng.choice(3, 60_000, p=[0.9, 0.099, 0.001])
    X = np.arange(60_000.0)[:, np.newaxis]
    free = SampleRule.drawn(9000, np.random.default_rng(1))
    known = SampleRule.drawn(9000, np.random.default_rng(1), known=LabelCounts.of(y, None))
    by_block = [known.sample(block, block.y) for block in cut(5000, X, y)]
    assert sum(len(one.draws) for one in by_block) < 11_000  # little more than is taken
    few = reduce(lambda a, b: a + b, by_block)
    every = reduce(lambda a, b: a + b, [free.sample(block, block.y) for block in cut(7000, X, y)])
    assert_array_equal(few.rows.places, every.rows.places)
    assert_array_equal(few.counts, np.bincount(y))
    counts = np.bincount(few.rows.y)
    assert counts[2] == (y == 2).sum()
    mean = few.rows.places[few.rows.y == 0].mean() / 60_000
    assert abs(mean - 0.5) < 4 / np.sqrt(12 * counts[0])


@pytest.mark.parametrize("size", [1, 33, 200])
@pytest.mark.parametrize("weighted", [False, True])
def test_summaries_are_those_of_any_cut(rng, size, weighted):
    X, y = rng.integers(0, 5, (200, 2)).astype(float), rng.choice(["a", "b", "c"], 200)
    w = rng.integers(0, 3, 200).astype(float) if weighted else None
    rule = SampleRule.drawn(40, np.random.default_rng(0))
    whole, *_ = (RowSummary.of(block, True, rule) for block in cut(200, X, y, w))
    parts = [RowSummary.of(block, True, rule) for block in cut(size, X, y, w)]
    found = reduce(lambda a, b: a + b, [RowSummary.of(RowBlock(X[:0], y[:0]), True, rule), *parts])
    assert found.n_rows == 200
    assert_allclose(found.scale.variance, whole.scale.variance)
    assert_array_equal(found.labels.classes, whole.labels.classes)
    assert_array_equal(found.labels.masses, whole.labels.masses)
    assert_array_equal(found.listing.sampled().places, whole.listing.sampled().places)
    assert found.listing.fingerprints == whole.listing.fingerprints
    for label, hashes in whole.listing.hashes.items():
        assert_array_equal(found.listing.hashes[label], hashes)


def test_fingerprints_tell_other_rows(rng):
    X, y, w = rng.random((50, 2)), rng.integers(0, 2, 50), np.ones(50)
    rule = SampleRule.drawn(10, rng)
    block = RowBlock(X, y, w, places=np.arange(50))
    known = RowListing.of(block, rule).fingerprints
    order = rng.permutation(50)
    assert RowListing.of(block.taken(order), rule).fingerprints == known
    assert RowListing.of(replace(block, X=X + 1), rule).fingerprints != known
    assert RowListing.of(replace(block, y=1 - y), rule).fingerprints != known
    assert RowListing.of(replace(block, weight=2 * w), rule).fingerprints != known


@pytest.mark.parametrize("n_targets", [1, 2])
def test_samples_of_levels_have_the_ends_of_the_targets(rng, n_targets):
    T = rng.standard_normal((300, n_targets))
    ranges = TargetRange.of(RowBlock(T, T))
    positions = ranges
    levels = LevelGroups.within(ranges, positions, 5)
    if n_targets == 2:
        position = levels._position(RowBlock(T, T))
        levels = replace(levels, span=(position.min(), position.max()))
    rule = SampleRule.drawn(20, rng, levels=levels)
    parts = [RowListing.of(block, rule) for block in cut(70, T, T)]
    sample = reduce(lambda a, b: a + b, parts).sampled()
    assert_array_equal(sample.y.min(axis=0), T.min(axis=0))
    assert_array_equal(sample.y.max(axis=0), T.max(axis=0))
    assert len(sample) <= 20 + 2 * (n_targets + 1)
    assert (np.diff(sample.places) > 0).all()
