"""Which engine for which sizes; whichever it is, scores are those of (15)."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.model_selection import ShuffleSplit

from ecselm.fitness import (
    Candidates,
    CostedRows,
    Split,
    every_row,
    fold_splits,
    holdout,
    layer_engine,
)
from ecselm.fitness.engines import DUAL_FOLDS, DUAL_ROWS, DualEngine, LayerEngine, RowEngine
from ecselm.fitness.systems import BlockTrainer, SystemTrainer
from tests.conftest import targets
from tests.fitness.literal import literal_scores

pytestmark = pytest.mark.usefixtures("either_path")

K = 3
LEVEL = pytest.mark.parametrize("level", ["class", "sample"])
SPLITTER = pytest.mark.parametrize("splitter", ["train", "folds", "holdout", "drawn", "shuffled"])
PLENTY, TINY = 1 << 30, 64  # bytes


def made(rng, N, level, weighted=False, k=K):
    """Return rows with costs by class or by row, and their classes."""
    y = rng.permutation(np.arange(N) % k)
    weight = rng.choice([0.5, 1.0, 2.0], N) if weighted else None
    groups = y if level == "class" else np.arange(N)
    return CostedRows(targets(y), groups, k if level == "class" else N, weight), y


def splits_of(name, rng, N, y):
    X = rng.standard_normal((N, 2))
    if name == "drawn":  # with replacement, as in a bootstrap
        return [Split(rng.integers(0, N, N - 1), rng.permutation(N)[: N // 3]) for _ in range(2)]
    if name == "shuffled":
        pairs = ShuffleSplit(4, test_size=0.3, random_state=0).split(X)
        return [Split(train, test) for train, test in pairs]
    return {
        "train": lambda: every_row(N),
        "folds": lambda: fold_splits(X, y, 3, rng),
        "holdout": lambda: holdout(X, y, 0.3, rng),
    }[name]()


def generation(rng, rows, P=5):
    costs = rng.uniform(0.2, 3.0, (P, rows.n_groups))
    return Candidates(costs, rng.uniform(0.3, 20.0, P))


def kind(engine):
    """Return the class of an engine, or of what trains within it."""
    return type(engine.trainers[0]) if isinstance(engine, LayerEngine) else type(engine)


@pytest.mark.parametrize(
    ("N", "L", "level", "splitter", "expected"),
    [
        (60, 6, "class", "train", BlockTrainer),
        (60, 6, "class", "folds", BlockTrainer),
        (30, 29, "class", "train", BlockTrainer),
        (30, 30, "class", "train", BlockTrainer),
        (30, 31, "class", "train", DualEngine),
        (60, 6, "sample", "train", RowEngine),
        (60, 6, "sample", "folds", RowEngine),
        (60, 6, "sample", "holdout", RowEngine),
        (30, 60, "sample", "train", DualEngine),
    ],
)
def test_engines_follow_the_sizes(rng, N, L, level, splitter, expected):
    rows, y = made(rng, N, level)
    engine = layer_engine(
        rng.standard_normal((N, L)), rows, splits_of(splitter, rng, N, y), memory=PLENTY
    )
    assert kind(engine) is expected


@pytest.mark.parametrize(("ratio", "splitter"), [(DUAL_ROWS, "train"), (DUAL_FOLDS, "folds")])
def test_costs_by_row_are_solved_in_samples_where_these_are_few(rng, ratio, splitter):
    L = 20
    n_train = round(ratio * L)
    for n, expected in ((n_train, DualEngine), (n_train + 1, RowEngine)):
        N = n if splitter == "train" else 2 * n
        rows, _ = made(rng, N, "sample")
        every = np.arange(N)
        splits = every_row(N) if splitter == "train" else [Split(every[:n], every[n:])]
        engine = layer_engine(rng.standard_normal((N, L)), rows, splits, memory=PLENTY)
        assert isinstance(engine, expected)


@LEVEL
@SPLITTER
@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("memory", [PLENTY, TINY], ids=["plenty", "tiny"])
def test_scores_are_those_printed_whatever_the_memory(rng, level, splitter, weighted, memory):
    N, L = 40, 5
    H, (rows, y) = np.tanh(rng.standard_normal((N, L))), made(rng, N, level, weighted)
    splits = splits_of(splitter, rng, N, y)
    engine = layer_engine(H, rows, splits, memory=memory)
    candidates = generation(rng, rows)
    if memory == TINY:
        assert kind(engine) is SystemTrainer
    expected = literal_scores(splits, rows, candidates, H)
    assert_allclose(engine.scores(candidates), expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("memory", [PLENTY, TINY], ids=["plenty", "tiny"])
def test_a_split_with_fewer_rows_than_units_is_solved_beside_larger_ones(rng, memory):
    N, L = 40, 9
    H, (rows, _) = rng.standard_normal((N, L)), made(rng, N, "class")
    every = np.arange(N)
    splits = [Split(every[:30], every[30:]), Split(every[36:], every[:36])]
    engine, candidates = layer_engine(H, rows, splits, memory=memory), generation(rng, rows)
    expected = literal_scores(splits, rows, candidates, H)
    assert_allclose(engine.scores(candidates), expected, rtol=1e-7, atol=1e-9)


def test_a_class_that_a_fold_does_not_have_costs_nothing_there(rng):
    N, H = 30, rng.standard_normal((30, 4))
    y = np.r_[np.zeros(15, int), np.full(13, 1), [2, 2]]
    rows, every = CostedRows(targets(y), y, 3), np.arange(N)
    splits = [Split(every[:28], every[28:]), Split(every[2:], every[:2])]
    engine, candidates = layer_engine(H, rows, splits), generation(rng, rows)
    expected = literal_scores(splits, rows, candidates, H)
    assert_allclose(engine.scores(candidates), expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("level", ["class", "sample"])
def test_units_that_say_the_same_are_merged_and_scores_are_not(rng, level):
    N, L = 60, 12
    H = np.tanh(rng.standard_normal((N, 4))) @ rng.standard_normal((4, L))
    rows, y = made(rng, N, level)
    candidates, splits = generation(rng, rows), splits_of("folds", rng, N, y)
    strength = candidates.costs * candidates.C[:, np.newaxis]
    strengths = float(strength.min()), float(strength.max())
    engine = layer_engine(H, rows, splits, strengths=strengths)
    assert engine.validation[0].H.shape[1] == 4
    expected = literal_scores(splits, rows, candidates, H)
    assert_allclose(engine.scores(candidates), expected, rtol=0, atol=1e-8)


def test_memory_decides_by_what_has_to_be_kept(rng):
    N, L, P = 60, 6, 10
    H, (rows, _) = rng.standard_normal((N, L)), made(rng, N, "sample")
    enough = 8 * N * (L + K) + 16 * P * (L + K) ** 2
    for memory, expected in ((enough, RowEngine), (enough - 1, SystemTrainer)):
        engine = layer_engine(H, rows, every_row(N), memory=memory, n_candidates=P)
        assert kind(engine) is expected
    enough = 24 * N * N
    for memory, expected in ((enough, DualEngine), (enough - 1, SystemTrainer)):
        wide = rng.standard_normal((N, 2 * N))
        assert kind(layer_engine(wide, rows, every_row(N), memory=memory)) is expected
    rows, _ = made(rng, N, "class")
    enough = 16 * K * L * L
    for memory, expected in ((enough, BlockTrainer), (enough - 1, SystemTrainer)):
        assert kind(layer_engine(H, rows, every_row(N), memory=memory)) is expected


@pytest.mark.parametrize("memory", [1 << 30, 1 << 20, 1 << 16, TINY])
def test_the_scores_of_a_batch_fit_into_the_memory(rng, memory):
    N, L = 300, 6
    rows, _ = made(rng, N, "class")
    engine = layer_engine(rng.standard_normal((N, L)), rows, every_row(N), memory=memory)
    batch = engine.batch(100)
    assert batch == 4 or 8 * batch * N * K <= memory
    assert batch % 4 == 0
    assert batch <= 100


def test_every_engine_says_how_it_solves(rng, either_path):
    solver = either_path
    for level, L in (("class", 6), ("sample", 6), ("sample", 60)):
        rows, _ = made(rng, 40, level)
        name = str(layer_engine(rng.standard_normal((40, L)), rows, every_row(40)))
        assert solver in name
        tiny = layer_engine(rng.standard_normal((40, 6)), rows, every_row(40), memory=TINY)
        assert "LAPACK" in str(tiny)


def test_as_many_classes_as_training_rows_are_still_classes(rng):
    H, y = rng.standard_normal((6, 2)), np.array([0, 1, 2, 3, 0, 1])
    rows = CostedRows(rng.standard_normal((6, 1)), y, 4)
    splits = [
        Split(np.setdiff1d(np.arange(6), test), np.array(test)) for test in ([0, 1], [2, 3], [4, 5])
    ]
    candidates = generation(rng, rows)
    expected = literal_scores(splits, rows, candidates, H)
    assert_allclose(layer_engine(H, rows, splits).scores(candidates), expected, rtol=1e-8)


def test_classes_of_one_row_each_keep_their_own_costs(rng):
    H, y = rng.standard_normal((5, 1)), np.array([3, 1, 4, 0, 2])
    rows = CostedRows(rng.standard_normal((5, 1)), y, 5)
    candidates = generation(rng, rows)
    expected = literal_scores(every_row(5), rows, candidates, H)
    assert_allclose(layer_engine(H, rows, every_row(5)).scores(candidates), expected, rtol=1e-8)
