"""Backtracking search against its published form, draw by draw."""

import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import Bounds

from ecselm.search import BacktrackingSearch, Box, minimize, minimize_bsa
from ecselm.search.variation import crossover_mask


def sphere(P):
    return (P**2).sum(axis=-1)


def rastrigin(P):
    return (P**2 - 10 * np.cos(2 * np.pi * P) + 10).sum(axis=-1)


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
        Q = Q[rng.permutation(size)]
        amplitude = 3 * rng.standard_normal()
        chosen = np.zeros((size, D))
        if rng.random() < rng.random():
            counts = [max(1, int(np.ceil(mixrate * u * D))) for u in rng.random(size)]
            keys = rng.random((size, D))
            for i in range(size):
                chosen[i, np.argsort(keys[i])[: counts[i]]] = 1
        else:
            for i, j in enumerate(rng.integers(D, size=size)):
                chosen[i, j] = 1
        V = P + amplitude * chosen * (Q - P)
        outside = [
            (i, j) for i in range(size) for j in range(D) if not low[j] <= V[i, j] <= high[j]
        ]
        if outside:
            first, second = rng.random(len(outside)), rng.random(len(outside))
            fresh = rng.random(len(outside))
            for (i, j), a, b, u in zip(outside, first, second, fresh, strict=True):
                bound = low[j] if V[i, j] < low[j] else high[j]
                V[i, j] = bound if a < b else low[j] + u * (high[j] - low[j])
        for i in range(size):
            value = objective(V[i])
            if value < fitness[i]:
                P[i], fitness[i] = V[i], value
        populations.append(P.copy())
    return populations


@pytest.mark.parametrize("mixrate", [1.0, 0.4])
@pytest.mark.parametrize("seed", range(3))
def test_equals_the_published_algorithm_draw_by_draw(seed, mixrate):
    low, high = np.array([-1.0, 0.0, -5.0, 1.0]), np.array([1.0, 3.0, 5.0, 1.0])
    expected = literal_bsa(
        rastrigin, low, high, 7, 60, np.random.default_rng(seed), mixrate=mixrate
    )
    rng = np.random.default_rng(seed)
    search = BacktrackingSearch(Box(low, high), 7, rng, mixrate=mixrate)
    for population in expected:
        search.tell(rastrigin(search.ask()))
        assert_allclose(search._P, population, rtol=1e-12)


def test_both_crossover_strategies_come_about_half_of_the_time():
    rng = np.random.default_rng(0)
    taken = [crossover_mask((20, 50), rng).sum(axis=1) for _ in range(2000)]
    single = [bool((counts == 1).all()) for counts in taken]
    assert 0.46 < np.mean(single) < 0.54
    many = np.concatenate([counts for counts, one in zip(taken, single, strict=True) if not one])
    assert many.min() >= 1
    assert many.max() == 50
    assert_allclose(many.mean(), 25.5, rtol=0.03)


def test_mixrate_limits_the_coordinates_taken(rng):
    taken = [crossover_mask((20, 50), rng, mixrate=0.2).sum(axis=1).max() for _ in range(200)]
    assert max(taken) == 10


def test_memory_is_a_permutation_of_itself_when_the_coin_fails(rng):
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
