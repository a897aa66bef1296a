"""Costs by row over many generations: every one of them is (15), solved slowly."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ecselm.fitness import Candidates, CostedRows, Split, every_row, fold_splits, holdout
from ecselm.fitness.engines import RowEngine, relation
from ecselm.fitness.folds import Cells
from tests.fitness.literal import literal_scores

pytestmark = pytest.mark.usefixtures("either_path")

N, L, P = 32, 4, 6
WEIGHTED = pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
SPLITS = ["train", "folds", "holdout", "drawn"]
SIGNS = pytest.mark.parametrize("signed", [False, True], ids=["positive", "signed"])


def made(rng, splitter, weighted=False, m=2):
    """Return an engine with all it was made of."""
    H, T = rng.standard_normal((N, L)), rng.standard_normal((N, m))
    weight = rng.choice([0.5, 1.0, 3.0], N) if weighted else None
    rows, X, y = CostedRows(T, np.arange(N), N, weight), H, np.arange(N) % 2
    splits = {
        "train": lambda: every_row(N),
        "folds": lambda: fold_splits(X, y, 3, rng),
        "holdout": lambda: holdout(X, y, 0.3, rng),
        "drawn": lambda: [Split(rng.integers(0, N, N), np.arange(N)) for _ in range(2)],
        "drawn once": lambda: [Split(rng.integers(0, N, N - 5), np.arange(N))],
    }[splitter]()
    cells = Cells.of_splits(splits, N)
    return RowEngine.from_rows(H, rows, splits, cells, True), (splits, rows, H)


def drawn_costs(rng, signed, size=P):
    return rng.uniform(-1.0 if signed else 1e-3, 1.0, (size, N))


class Breeding:
    """Parents and trials as in a backtracking search, with a C of their own."""

    def __init__(self, rng, signed):
        self.rng, self.signed = rng, signed
        self.parents = drawn_costs(rng, signed)

    def trials(self, kind):
        new = drawn_costs(self.rng, self.signed)
        if kind == "one":
            mask = np.arange(N) == self.rng.integers(0, N, (P, 1))
        elif kind == "one or none":
            mask = (np.arange(N) == self.rng.integers(0, N, (P, 1))) & (np.arange(P) % 2 == 0)[
                :, np.newaxis
            ]
        elif kind == "none":
            mask = np.zeros((P, N), dtype=bool)
        else:
            mask = self.rng.random((P, N)) < self.rng.random((P, 1))
        return np.where(mask, new, self.parents)

    def select(self, trials):
        won = self.rng.random(P) < 0.5
        self.parents = np.where(won[:, np.newaxis], trials, self.parents)

    def numbers(self):
        # With small C the system of signed costs is far from singular.
        return self.rng.uniform(0.005, 0.02, P) if self.signed else self.rng.uniform(0.1, 50.0, P)


def kinds(rng, n_generations):
    """Return what changes in every generation: first everything, and then by turns."""
    turns = ["many", "one", "one", "one or none", "many", "none", "one"]
    return ["many", *rng.choice(turns, n_generations - 1)]


@pytest.mark.parametrize("splitter", [*SPLITS, "drawn once"])
@WEIGHTED
@SIGNS
def test_every_generation_is_solved_as_printed(rng, splitter, weighted, signed):
    engine, made_of = made(rng, splitter, weighted)
    breeding = Breeding(rng, signed)
    for generation, kind in enumerate(kinds(rng, 25)):
        trials = breeding.parents if generation == 0 else breeding.trials(kind)
        candidates = Candidates(trials, breeding.numbers())
        expected = literal_scores(*made_of[:2], candidates, made_of[2])
        assert_allclose(engine.scores(candidates), expected, rtol=1e-8, atol=1e-8)
        breeding.select(trials)


@pytest.mark.parametrize("splitter", [*SPLITS, "drawn once"])
def test_candidates_that_are_no_relations_are_solved_too(rng, splitter):
    engine, made_of = made(rng, splitter)
    for _ in range(5):
        candidates = Candidates(drawn_costs(rng, False), rng.uniform(0.1, 50.0, P))
        expected = literal_scores(*made_of[:2], candidates, made_of[2])
        assert_allclose(engine.scores(candidates), expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("kind", ["many", "one"])
def test_batches_remember_by_their_place(rng, kind):
    engine, made_of = made(rng, "train")
    breeding = Breeding(rng, False)
    batches = [slice(0, 4), slice(4, P)]
    for generation in range(6):
        trials = breeding.parents if generation == 0 else breeding.trials(kind)
        candidates = Candidates(trials, breeding.numbers())
        parts = [engine.scores(candidates.part(batch)) for batch in reversed(batches)]
        expected = literal_scores(*made_of[:2], candidates, made_of[2])
        assert_allclose(np.concatenate(parts[::-1]), expected, rtol=1e-8, atol=1e-8)
        breeding.select(trials)
    assert sorted(engine.memory) == [0, 4]


def test_a_generation_of_another_size_begins_anew(rng):
    engine, made_of = made(rng, "train")
    for size in (P, 3, 9, P):
        candidates = Candidates(drawn_costs(rng, False, size), np.full(size, 2.0))
        expected = literal_scores(*made_of[:2], candidates, made_of[2])
        assert_allclose(engine.scores(candidates), expected, rtol=1e-8, atol=1e-8)


def test_what_is_forgotten_leaves_no_trace_in_the_last_digits(rng):
    seed = 5
    engine, _ = made(np.random.default_rng(seed), "folds")
    fresh, _ = made(np.random.default_rng(seed), "folds")
    breeding = Breeding(rng, False)
    for _ in range(6):
        trials = breeding.trials("many")
        engine.scores(Candidates(trials, np.full(P, 2.0)))
        breeding.select(trials)
    engine.forget()
    assert not engine.memory
    last = Candidates(breeding.parents, np.full(P, 2.0))
    assert_array_equal(engine.scores(last), fresh.scores(last))


def test_fifty_generations_do_not_wear_the_sums_out(rng):
    engine, made_of = made(rng, "train")
    breeding = Breeding(rng, False)
    for generation in range(50):
        trials = breeding.trials(["many", "one"][generation % 2])
        engine.scores(Candidates(trials, np.full(P, 50.0)))
        breeding.select(trials)
    last = Candidates(breeding.trials("one"), np.full(P, 50.0))
    expected = literal_scores(*made_of[:2], last, made_of[2])
    assert_allclose(engine.scores(last), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("kind", ["many", "one"])
def test_costs_that_fall_to_zero_and_rise_again(rng, kind):
    engine, made_of = made(rng, "train")
    costs = drawn_costs(rng, False)
    for level in (1.0, 0.0, 1.0, 0.0):
        if kind == "one":
            costs = costs.copy()
            costs[:, 3] = level
        else:
            costs = np.full((P, N), level)
        candidates = Candidates(costs, np.full(P, 2.0))
        expected = literal_scores(*made_of[:2], candidates, made_of[2])
        assert_allclose(engine.scores(candidates), expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("kind", ["many", "one"])
def test_a_singular_candidate_is_nan_and_harms_no_later_one(rng, kind):
    H, T = np.eye(N)[:, :L].copy(), rng.standard_normal((N, 1))
    rows = CostedRows(T, np.arange(N), N)
    cells = Cells.of_splits(every_row(N), N)
    engine, C = RowEngine.from_rows(H, rows, every_row(N), cells, True), np.full(P, 2.0)
    costs = drawn_costs(rng, False)
    engine.scores(Candidates(costs, C))
    bad = costs.copy() if kind == "one" else drawn_costs(rng, False)
    bad[1, 0] = -0.5  # where 1/C + B is 0
    Z = engine.scores(Candidates(bad, C))
    assert_array_equal(np.isnan(Z).all(axis=(1, 2)), np.arange(P) == 1)
    again = Candidates(costs, C)
    expected = literal_scores(every_row(N), rows, again, H)
    assert_allclose(engine.scores(again), expected, rtol=1e-8, atol=1e-10)


def test_the_costs_that_were_given_are_not_written_to(rng):
    engine, _ = made(rng, "folds", weighted=True)
    costs = drawn_costs(rng, False)
    kept = costs.copy()
    for _ in range(3):
        engine.scores(Candidates(costs, np.ones(P)))
    assert_array_equal(costs, kept)


def test_costs_changed_in_place_between_generations_are_seen(rng):
    engine, made_of = made(rng, "train")
    costs = drawn_costs(rng, False)
    engine.scores(Candidates(costs, np.ones(P)))
    costs[:, 5] = 0.25
    candidates = Candidates(costs, np.ones(P))
    expected = literal_scores(*made_of[:2], candidates, made_of[2])
    assert_allclose(engine.scores(candidates), expected, rtol=1e-8, atol=1e-10)


def test_a_candidate_descends_from_what_it_has_more_in_common_with(rng):
    kept = rng.random((4, 20))
    tried = np.where(np.arange(20) < 8, rng.random((4, 20)), kept)
    costs = np.stack([kept[0], tried[1], np.where(np.arange(20) < 4, kept, tried)[2], tried[3]])
    costs[3, 19] = 2.0
    nearer, n_new, rows = relation(costs, kept, tried)
    assert_array_equal(nearer, [False, True, False, True])  # of equals, what is kept
    assert_array_equal(n_new, [0, 0, 4, 1])
    assert_array_equal(rows[2:], [4, 19])
