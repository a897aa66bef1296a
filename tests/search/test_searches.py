"""Every search keeps the contract; each does what its name says."""

import builtins

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from ecselm.search import (
    BacktrackingSearch,
    Box,
    CovarianceAdaptation,
    DifferentialEvolution,
    RandomSearch,
    SobolSearch,
)
from tests.contracts.search_contract import SearchContract


class TestBacktracking(SearchContract):
    make = staticmethod(BacktrackingSearch)


class TestBacktrackingWithRedrawnMemory(SearchContract):
    @staticmethod
    def make(*arguments, **options):
        return BacktrackingSearch(*arguments, redraw_memory=True, **options)


class TestBacktrackingWithPrintedBounds(SearchContract):
    @staticmethod
    def make(*arguments, **options):
        return BacktrackingSearch(*arguments, literal_bounds=True, **options)


class TestBacktrackingFromOppositePoints(SearchContract):
    @staticmethod
    def make(*arguments, **options):
        return BacktrackingSearch(*arguments, init="opposition", **options)


class TestBacktrackingFromALatinHypercube(SearchContract):
    @staticmethod
    def make(*arguments, **options):
        return BacktrackingSearch(*arguments, init="latinhypercube", **options)


class TestBacktrackingFromASobolSequence(SearchContract):
    @staticmethod
    def make(*arguments, **options):
        return BacktrackingSearch(*arguments, init="sobol", **options)


class TestDifferentialEvolution(SearchContract):
    make = staticmethod(DifferentialEvolution)


class TestRandomSearch(SearchContract):
    make = staticmethod(RandomSearch)


class TestSobolSearch(SearchContract):
    make = staticmethod(SobolSearch)


class TestCovarianceAdaptation(SearchContract):
    @pytest.fixture(autouse=True)
    def needs_the_extra(self):
        pytest.importorskip("cmaes")

    make = staticmethod(CovarianceAdaptation)


@pytest.mark.parametrize("kind", [BacktrackingSearch, DifferentialEvolution, CovarianceAdaptation])
def test_searches_that_learn_beat_random_points(kind):
    if kind is CovarianceAdaptation:
        pytest.importorskip("cmaes")
    space = Box.from_bounds([(-5, 5)] * 6)
    best = {}
    for search in (kind, RandomSearch):
        optimizer = search(space, 20, np.random.default_rng(1))
        for _ in range(100):
            optimizer.tell((optimizer.ask() ** 2).sum(axis=1))
        best[search] = optimizer.best[1]
    assert best[kind] < 0.1 * best[RandomSearch]


def test_sobol_points_fill_the_box_evenly():
    search = SobolSearch(Box.from_bounds([(0, 1)] * 2), 64, np.random.default_rng(0))
    cells = np.floor(search.ask() * 8).astype(int)
    assert len({tuple(cell) for cell in cells}) == 64


def test_differential_evolution_takes_three_others(rng):
    search = DifferentialEvolution(Box.from_bounds([(0, 1)]), 7, rng)
    for _ in range(50):
        others = search._others()
        together = np.vstack([others, np.arange(7)])
        assert all(len(set(column)) == 4 for column in together.T)


def test_a_fixed_coordinate_stays_fixed(rng):
    search = DifferentialEvolution(Box.from_bounds([(0, 1), (3, 3)]), 5, rng)
    for _ in range(10):
        P = search.ask()
        assert_array_equal(P[:, 1], 3.0)
        search.tell(P[:, 0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda box, rng: BacktrackingSearch(box, 0, rng), "population_size must be at least 1"),
        (lambda box, rng: BacktrackingSearch(box, 5, rng, mixrate=0.0), "mixrate must lie in"),
        (lambda box, rng: DifferentialEvolution(box, 3, rng), "population_size must be at least 4"),
        (lambda box, rng: DifferentialEvolution(box, 5, rng, crossover=2), "crossover must lie in"),
        (lambda box, rng: CovarianceAdaptation(box, 9, rng), "at least 2 free coordinates"),
    ],
)
def test_bad_settings_are_refused(make, message, rng):
    if "coordinates" in message:
        pytest.importorskip("cmaes")
    with pytest.raises(ValueError, match=message):
        make(Box.from_bounds([(0, 1)]), rng)


def test_a_missing_package_is_named_with_its_extra(monkeypatch, rng):
    real = builtins.__import__

    def without(name, *rest):
        if name == "cmaes":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match='install the extra "cma"'):
        CovarianceAdaptation(Box.from_bounds([(0, 1)] * 2), 5, rng)
