"""Backtracking search against its published form, draw by draw."""

import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import Bounds

from ecselm.search import BacktrackingSearch, Box, minimize, minimize_bsa
from ecselm.search import space as variation
from ecselm.search.space import crossover_mask, random_subsets


def sphere(P):
    return (P**2).sum(axis=-1)


def rastrigin(P):
    return (P**2 - 10 * np.cos(2 * np.pi * P) + 10).sum(axis=-1)


def literal_keys(size, D, rng):
    """Return random keys, the lower before the upper half of each 64-bit number."""
    numbers = rng.integers(2**64, size=(size, (D + 1) // 2), dtype=np.uint64)
    halves = [[(int(n) & 0xFFFFFFFF, int(n) >> 32) for n in row] for row in numbers]
    return np.array(halves).reshape(size, -1)[:, :D]


def literal_bsa(objective, low, high, size, epochs, rng, mixrate=1.0):
    """Return the populations of BSA, written with loops as it was published."""
    D = len(low)

    def uniform():
        return low + rng.random((size, D)) * (high - low)

    P, Q = uniform(), uniform()
    fitness = np.array([objective(p) for p in P])
    populations = [P.copy()]
    for _ in range(epochs):
        if rng.random() < rng.random():
            Q = P.copy()
        shuffled = Q[rng.permutation(size)]
        amplitude = 3 * rng.standard_normal()
        chosen = np.zeros((size, D))
        if rng.random() < rng.random():
            counts = [int(np.ceil(mixrate * (1 - u) * D)) for u in rng.random(size)]
            keys = literal_keys(size, D, rng)
            for i in range(size):
                chosen[i, np.argsort(keys[i])[: counts[i]]] = 1
        else:
            for i, j in enumerate(rng.integers(D, size=size)):
                chosen[i, j] = 1
        V = P + amplitude * chosen * (shuffled - P)
        outside = [
            (i, j) for i in range(size) for j in range(D) if not low[j] <= V[i, j] <= high[j]
        ]
        for (i, j), u in zip(outside, rng.random(len(outside)), strict=True):
            bound = low[j] if V[i, j] < low[j] else high[j]
            V[i, j] = bound if u < 0.5 else low[j] + (2 * u - 1) * (high[j] - low[j])
        for i in range(size):
            value = objective(V[i])
            if value < fitness[i]:
                P[i], fitness[i] = V[i], value
        populations.append(P.copy())
    return populations


@pytest.mark.parametrize("wide", [0, 1000], ids=["selecting", "sorting"])
@pytest.mark.parametrize("mixrate", [1.0, 0.4])
@pytest.mark.parametrize("seed", range(3))
def test_equals_the_published_algorithm_draw_by_draw(seed, mixrate, wide, monkeypatch):
    monkeypatch.setattr(variation, "WIDE", wide)
    low, high = np.array([-1.0, 0.0, -5.0, 1.0, 2.0]), np.array([1.0, 3.0, 5.0, 1.0, 9.0])
    expected = literal_bsa(
        rastrigin, low, high, 7, 60, np.random.default_rng(seed), mixrate=mixrate
    )
    rng = np.random.default_rng(seed)
    search = BacktrackingSearch(Box(low, high), 7, rng, mixrate=mixrate)
    for population in expected:
        search.tell(rastrigin(search.ask()))
        assert_allclose(search._P, population, rtol=1e-12)


def test_both_crossover_strategies_come_about_half_of_the_time(rng):
    search = BacktrackingSearch(Box.from_bounds([(-1, 1)] * 50), 20, rng)
    search.ask()
    search.tell(np.zeros(20))
    taken = []
    for _ in range(2000):
        taken.append((search.ask() != search._P).sum(axis=1))
        search.tell(np.ones(20))
    single = [bool((counts <= 1).all()) for counts in taken]
    assert 0.46 < np.mean(single) < 0.54


def test_rows_take_uniform_numbers_of_coordinates(rng):
    taken = crossover_mask((20000, 50), rng).sum(axis=1)
    assert_allclose(np.bincount(taken, minlength=51)[1:] / 20000, 0.02, atol=0.005)
    assert taken.min() == 1
    assert taken.max() == 50


def test_mixrate_limits_the_coordinates_taken(rng):
    taken = crossover_mask((4000, 50), rng, mixrate=0.2).sum(axis=1)
    assert (taken.min(), taken.max()) == (1, 10)


@pytest.mark.parametrize("wide", [0, 1000], ids=["selecting", "sorting"])
def test_all_subsets_of_a_size_are_equally_likely(wide, rng, monkeypatch):
    monkeypatch.setattr(variation, "WIDE", wide)
    mask = random_subsets(np.full(20000, 2), 5, rng)
    assert (mask.sum(axis=1) == 2).all()
    codes, seen = np.unique(mask @ 2 ** np.arange(5), return_counts=True)
    assert len(codes) == 10
    assert_allclose(seen / 20000, 0.1, atol=0.01)


class TyingGenerator:
    """Draws keys of which most are tied."""

    def __init__(self, rng):
        self.rng = rng

    def integers(self, high, size, dtype):
        low, upper = self.rng.integers(4, size=(2, *size), dtype=dtype)
        return low + (upper << np.uint64(32))


@pytest.mark.parametrize("wide", [0, 1000], ids=["selecting", "sorting"])
def test_ties_change_neither_the_size_of_subsets_nor_their_chances(wide, rng, monkeypatch):
    monkeypatch.setattr(variation, "WIDE", wide)
    mask = random_subsets(np.full(20000, 2), 5, TyingGenerator(rng))
    assert (mask.sum(axis=1) == 2).all()
    _, seen = np.unique(mask @ 2 ** np.arange(5), return_counts=True)
    assert_allclose(seen / 20000, 0.1, atol=0.01)


def test_rows_are_drawn_independently(rng):
    mask = random_subsets(np.full(2000, 32), 64, rng).astype(float)
    correlations = np.corrcoef(mask)[np.triu_indices(2000, 1)]
    assert_allclose(correlations.std(), 1 / np.sqrt(63), rtol=0.01)


def test_what_the_caller_does_to_a_population_changes_nothing():
    space = Box.from_bounds([(-5, 5)] * 3)
    kept, spoilt = (BacktrackingSearch(space, 8, np.random.default_rng(2)) for _ in range(2))
    for _ in range(40):
        P, same = kept.ask(), spoilt.ask()
        assert_array_equal(P, same)
        same[:] = np.nan
        kept.tell(sphere(P))
        spoilt.tell(sphere(P))
    assert_array_equal(kept.best[0], spoilt.best[0])


def test_memory_stays_itself_when_the_coin_fails(rng):
    search = BacktrackingSearch(Box.from_bounds([(-5, 5)] * 3), 10, rng)
    kept = renewed = 0
    for _ in range(300):
        before, population = search._Q.copy(), search._P.copy()
        search.tell(sphere(search.ask()))
        if search.generation == 1:
            continue
        same = _rows(search._Q) == _rows(before)
        assert same or _rows(search._Q) == _rows(population)
        kept, renewed = kept + same, renewed + (not same)
    assert min(kept, renewed) > 100


def _rows(Q):
    return sorted(map(tuple, Q))


def test_redrawn_memory_forgets(rng):
    search = BacktrackingSearch(Box.from_bounds([(-5, 5)] * 3), 10, rng, redraw_memory=True)
    search.tell(sphere(search.ask()))
    fresh = 0
    for _ in range(100):
        before, population = search._Q.copy(), search._P.copy()
        search.tell(sphere(search.ask()))
        fresh += _rows(search._Q) not in (_rows(before), _rows(population))
    assert 30 < fresh < 70


def test_bounds_hold_over_1000_generations_and_the_best_never_worsens(rng):
    space = Box.from_bounds([(-100, 100)] * 5)
    search = BacktrackingSearch(space, 10, rng)

    def objective(P):
        assert space.contains(P)
        return rastrigin(P)

    history = minimize(search, objective, max_epochs=1000)
    bests = [generation.best for generation in history.generations]
    assert len(bests) == 1001
    assert (np.diff(bests) <= 0).all()


@pytest.mark.parametrize("seed", range(7))
def test_sphere_in_ten_dimensions_is_solved(seed):
    result = minimize_bsa(sphere, [(-100, 100)] * 10, vectorized=True, random_state=seed)
    assert result.fun < 1e-6
    assert result.nfev == 30 * 1001
    assert result.nit == 1000
    assert result.success
    assert (np.diff(result.history) <= 0).all()
    assert_allclose(sphere(result.x), result.fun)


def test_printed_form_of_30_is_a_random_search():
    """The notes' comparison: as printed, boundary control undoes every step."""
    best = {}
    for literal in (False, True):
        search = BacktrackingSearch(
            Box.from_bounds([(-100, 100)] * 10),
            30,
            np.random.default_rng(0),
            literal_bounds=literal,
        )
        minimize(search, sphere, max_epochs=100)
        best[literal] = search.best[1]
    assert best[True] > 10 * best[False]


def test_vectorized_or_not_the_search_is_the_same():
    bounds = Bounds([-3, -3], [3, 3])
    options = {"max_epochs": 30, "population_size": 9, "random_state": 4}
    one = minimize_bsa(lambda x: float(sphere(x)), bounds, **options)
    many = minimize_bsa(sphere, bounds, vectorized=True, **options)
    assert_array_equal(one.x, many.x)


def test_result_is_never_worse_than_the_points_given():
    x0 = np.array([[1e-9, 0.0], [2.0, 2.0]])
    result = minimize_bsa(sphere, [(-3, 3)] * 2, x0=x0, max_epochs=0, vectorized=True)
    assert result.fun <= sphere(x0[0])


def test_callback_sees_every_generation_and_can_stop():
    seen = []

    def stop_at_third(result):
        seen.append(result.fun)
        if len(seen) == 3:
            raise StopIteration

    result = minimize_bsa(sphere, [(-3, 3)], callback=stop_at_third, vectorized=True)
    assert (result.nit, len(seen), result.message) == (2, 3, "stopped by the callback")


def test_one_generation_of_one_candidate_works():
    result = minimize_bsa(sphere, [(-3, 3)], population_size=1, max_epochs=0, vectorized=True)
    assert (result.nfev, result.nit) == (1, 0)


def test_a_function_that_is_never_finite_does_not_succeed():
    result = minimize_bsa(lambda x: np.nan, [(-3, 3)], max_epochs=2)
    assert not result.success
    assert result.fun == np.inf


def test_negative_epochs_are_refused():
    with pytest.raises(ValueError, match="max_epochs must be >= 0, got -1"):
        minimize_bsa(sphere, [(-3, 3)], max_epochs=-1)


def test_patience_time_and_copies(rng):
    search = BacktrackingSearch(Box.from_bounds([(-1, 1)]), 5, rng)
    twin = copy.deepcopy(search)
    flat = minimize(search, lambda P: np.zeros(len(P)), max_epochs=50, patience=4)
    assert (flat.reason, len(flat.generations)) == ("patience", 5)
    quick = minimize(twin, sphere, max_epochs=50, max_time=0.0)
    assert (quick.reason, quick.evaluations) == ("max_time", 5)


BOX = Box.from_bounds([(-1, 1), (0, 8), (3, 3)])


@pytest.mark.parametrize("size", [1, 7, 16])
def test_a_latin_hypercube_has_a_point_in_each_interval_of_every_coordinate(rng, size):
    P = BacktrackingSearch(BOX, size, rng, init="latinhypercube").ask()
    places = np.floor(size * (P[:, :2] - BOX.low[:2]) / (BOX.high - BOX.low)[:2])
    assert_array_equal(np.sort(places, axis=0), np.tile(np.arange(float(size))[:, None], 2))
    assert (P[:, 2] == 3).all()


def test_a_sobol_population_of_a_power_of_two_has_a_point_in_each_interval(rng):
    P = BacktrackingSearch(BOX, 16, rng, init="sobol").ask()
    places = np.floor(16 * (P[:, :2] - BOX.low[:2]) / (BOX.high - BOX.low)[:2])
    assert_array_equal(np.sort(places, axis=0), np.tile(np.arange(16.0)[:, None], 2))


def test_opposition_keeps_the_best_of_all_points_and_their_reflections(rng):
    centre = np.array([0.4, 1.0, 3.0])
    search = BacktrackingSearch(BOX, 9, rng, init="opposition")
    P = search.ask()
    search.tell(sphere(P - centre))
    O = search.ask()  # noqa: E741
    assert_allclose(O, BOX.low + BOX.high - P, rtol=1e-12)
    search.tell(sphere(O - centre))
    both = np.vstack([P, O])
    best = both[np.argsort(sphere(both - centre), kind="stable")[:9]]
    assert_array_equal(search._P, best)
    assert_array_equal(search._F, sphere(best - centre))


def test_opposition_goes_on_as_the_published_algorithm_from_the_points_it_kept():
    literal, opposed = (
        BacktrackingSearch(BOX, 6, np.random.default_rng(2), init=init)
        for init in ("uniform", "opposition")
    )
    opposed.tell(sphere(opposed.ask()))
    opposed.tell(sphere(opposed.ask()))
    literal.tell(sphere(literal.ask()))
    literal._P, literal._F = opposed._P.copy(), opposed._F.copy()
    for _ in range(20):
        P, expected = opposed.ask(), literal.ask()
        assert_array_equal(P, expected)
        opposed.tell(sphere(P))
        literal.tell(sphere(expected))


def test_uniform_is_the_default_and_the_memory_does_not_depend_on_it():
    default, stated = (
        BacktrackingSearch(BOX, 5, np.random.default_rng(0), **given)
        for given in ({}, {"init": "uniform"})
    )
    assert_array_equal(default.ask(), stated.ask())
    assert_array_equal(default._Q, stated._Q)


@pytest.mark.parametrize("init", ["uniform", "opposition", "latinhypercube", "sobol"])
def test_every_first_population_leads_to_the_minimum(init):
    given = {"max_epochs": 200, "init": init, "random_state": 0}
    assert minimize_bsa(sphere, [(-5, 5)] * 3, **given).fun < 1e-3


def test_unknown_first_populations_and_too_many_coordinates_are_refused(rng):
    with pytest.raises(ValueError, match=r"init must be one of .*'opposition'.* got 'grid'"):
        BacktrackingSearch(BOX, 5, rng, init="grid")
    wide = Box(np.zeros(21202), np.ones(21202))
    with pytest.raises(ValueError, match=r"init='sobol' must have at most 21201 .* got 21202"):
        BacktrackingSearch(wide, 2, rng, init="sobol")
