"""What every search by ask and tell must do."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from ecselm.search import Box

SIZE = 12


def sphere(P):
    return ((P - 0.3) ** 2).sum(axis=1)


class SearchContract:
    """Subclass with a method ``make(space, size, rng, **options)``."""

    @pytest.fixture
    def space(self):
        return Box.from_bounds([(-1, 1), (0, 5), (-3, -1), (2, 2)])

    @pytest.fixture
    def search(self, space, rng):
        return self.make(space, SIZE, rng)

    def test_asks_for_a_population_within_the_bounds(self, search, space):
        for _ in range(200):
            P = search.ask()
            assert P.shape == (SIZE, 4)
            assert space.contains(P)
            search.tell(sphere(P))

    def test_best_is_the_least_fitness_told_and_its_point(self, search):
        seen = np.inf
        for _ in range(30):
            P = search.ask()
            fitness = sphere(P)
            search.tell(fitness)
            seen = min(seen, fitness.min())
            x, value = search.best
            assert value == seen
            assert sphere(x[np.newaxis])[0] == pytest.approx(seen)

    def test_refuses_to_be_asked_twice_and_told_unasked(self, search):
        with pytest.raises(RuntimeError, match="no best point before the first tell"):
            _ = search.best
        with pytest.raises(RuntimeError, match="tell\\(\\) called before ask"):
            search.tell(np.zeros(SIZE))
        search.ask()
        with pytest.raises(RuntimeError, match="ask\\(\\) called twice"):
            search.ask()
        search.tell(np.zeros(SIZE))
        with pytest.raises(RuntimeError, match="tell\\(\\) called before ask"):
            search.tell(np.zeros(SIZE))

    def test_refuses_fitness_of_another_shape_and_can_still_be_told(self, search):
        P = search.ask()
        with pytest.raises(ValueError, match=r"fitness must have the shape \(12,\), got \(11,\)"):
            search.tell(sphere(P)[1:])
        search.tell(sphere(P))
        assert search.generation == 1

    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
    def test_what_is_not_finite_never_wins(self, search, bad):
        for _ in range(40):
            P = search.ask()
            fitness = sphere(P)
            fitness[P[:, 1] > 1.0] = bad
            search.tell(fitness)
        x, value = search.best
        assert np.isfinite(value)
        assert x[1] <= 1.0

    def test_populations_and_fitness_of_the_caller_are_its_own(self, search):
        P = search.ask()
        fitness = sphere(P)
        kept = fitness.copy()
        expected = P[fitness.argmin()].copy()
        P[:] = 99.0
        search.tell(fitness)
        assert_array_equal(fitness, kept)
        assert_array_equal(search.best[0], expected)
        search.best[0][:] = 99.0
        assert_array_equal(search.best[0], expected)

    def test_same_seed_same_search(self, space):
        runs = [self.run(self.make(space, SIZE, np.random.default_rng(5))) for _ in range(2)]
        assert_array_equal(*runs)

    @pytest.mark.parametrize("asked", [False, True])
    def test_a_pickle_goes_on_as_the_original(self, search, asked):
        self.run(search)
        if asked:
            P = search.ask()
        copy = pickle.loads(pickle.dumps(search))
        if asked:
            search.tell(sphere(P))
            copy.tell(sphere(P))
        assert_array_equal(self.run(copy), self.run(search))

    def test_given_points_are_in_the_first_population(self, space, rng):
        given = np.array([[0.0, 0.1, -2.0, 2.0], [0.3, 4.0, -1.0, 2.0]])
        search = self.make(space, SIZE, rng, initial=given)
        assert_array_equal(search.ask()[:2], given)

    def test_given_points_must_fit_the_box(self, space, rng):
        with pytest.raises(ValueError, match="x0 must lie within the bounds"):
            self.make(space, SIZE, rng, initial=np.array([[9.0, 0.1, -2.0, 2.0]]))
        with pytest.raises(ValueError, match="x0 must have 4 columns"):
            self.make(space, SIZE, rng, initial=np.zeros((2, 3)))

    @staticmethod
    def run(search, generations=8):
        asked = []
        for _ in range(generations):
            asked.append(search.ask())
            search.tell(sphere(asked[-1]))
        return np.array(asked)
