"""Which library is used, by whom, and what happens without one."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ecselm import _native as compiled
from ecselm._native import calls as library


@pytest.fixture
def not_built(monkeypatch, tmp_path):
    """Pretend that there was no compiler."""
    monkeypatch.setattr(library, "FOLDER", tmp_path)
    monkeypatch.setattr(library, "_loaded", library._loaded.__wrapped__)
    return tmp_path


def test_the_path_says_which_library_it_is(built):
    assert compiled.path_name() == f"compiled, {built}"


def test_both_libraries_give_the_same_up_to_rounding(rng, monkeypatch):
    both = {name: library._open(name) for name in ("plain", "avx2")}
    if None in both.values() or not both["plain"].ecselm_has_avx2():
        pytest.skip("needs both libraries and a processor with AVX2")
    H = rng.standard_normal((2, 40, 30))
    tiles = compiled.tiled(H.swapaxes(1, 2) @ H, rng.standard_normal((2, 3, 30)))
    X, d, Z = rng.random((50, 9)), rng.standard_normal((2, 50)), rng.standard_normal((2, 3, 99))
    y, A = (np.arange(99) % 3).astype(np.int32), rng.standard_normal(999)
    found = {}
    for name, opened in both.items():
        monkeypatch.setattr(library, "_loaded", lambda name=name, opened=opened: (name, opened))
        sums, counts, ridges = np.zeros((2, 9, 6)), np.zeros((2, 3, 3)), A.copy()
        compiled.add_products(X, d, sums)
        compiled.count(Z, y, None, 3, counts)
        compiled.radbas(ridges)
        solved = compiled.solve_groups(tiles, (30, 3), np.ones((5, 2)), np.ones(5))
        found[name] = [*solved, np.tril(sums), counts, ridges, compiled.smooth(Z, y, None, 3)]
    for plain, fast in zip(*found.values(), strict=True):
        assert_allclose(fast, plain, rtol=1e-10, atol=1e-12)


def test_the_fastest_library_that_runs_is_taken():
    loaded, plain = library._loaded.__wrapped__(), library._open("plain")
    if plain is None:
        assert loaded is None
    else:
        fast = plain.ecselm_has_avx2() and library._open("avx2") is not None
        assert loaded[0] == ("avx2" if fast else "plain")


def test_without_a_library_everything_goes_through_lapack(not_built):
    assert library._loaded() is None
    assert not compiled.is_available()
    assert compiled.path_name() == "LAPACK"
    with pytest.raises(RuntimeError, match="must be installed with a C compiler"):
        compiled.radbas(np.zeros(3))


def test_a_file_that_is_no_library_is_as_good_as_none(not_built):
    (not_built / "plain.so").write_bytes(b"for another machine")
    assert library._loaded() is None


def test_disabled_nests_and_ends_where_it_began(built):
    with compiled.disabled():
        with compiled.disabled():
            assert compiled.path_name() == "LAPACK"
        assert not compiled.is_available()
    assert compiled.is_available()


def test_disabled_ends_with_an_exception_too(built):
    with pytest.raises(KeyError), compiled.disabled():
        raise KeyError
    assert compiled.path_name() == f"compiled, {built}"


def test_the_switch_is_read_when_the_package_is_imported():
    command = "from ecselm import _native as n; print(n.is_available(), n.path_name())"
    told = subprocess.run(  # noqa: S603
        [sys.executable, "-c", command],
        env={**os.environ, "ECSELM_COMPILED": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.strip() == "False LAPACK"


def test_four_threads_at_once_get_the_bits_of_one(built, rng):
    tasks = []
    for n in [5, 40, 90, 12] * 6:  # rooms of every size, grown in every order
        H = rng.standard_normal((2, n + 2, n))
        tiles = compiled.tiled(H.swapaxes(1, 2) @ H, rng.standard_normal((2, 3, n)))
        tasks.append((tiles, (n, 3), rng.random((9, 2)), np.ones(9)))

    def solve(task):
        return compiled.solve_groups(*task)

    alone = [solve(task) for task in tasks]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(solve, tasks))
    for one, other in zip(alone, together, strict=True):
        assert_array_equal(one[0], other[0])
        assert_array_equal(one[1], other[1])
