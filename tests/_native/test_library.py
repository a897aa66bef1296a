"""Loading of the library, switching it off, and the behaviour without it."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ecselm import _native
from ecselm._native import calls as library


@pytest.fixture
def not_built(monkeypatch, tmp_path):
    """Hide the libraries, as after a build without a compiler."""
    monkeypatch.setattr(library, "FOLDER", tmp_path)
    monkeypatch.setattr(library, "_loaded", library._loaded.__wrapped__)
    return tmp_path


def test_the_path_names_the_library(built):
    assert _native.path_name() == f"compiled, {built}"


def test_all_libraries_give_the_same_up_to_rounding(rng, monkeypatch):
    every = {name: library._open(name) for name in library.VARIANTS if library.runs(name)}
    if len(every) < 2 or None in every.values():
        pytest.skip("needs two libraries that this processor can run")
    H = rng.standard_normal((2, 40, 30))
    tiles = _native.tiled(H.swapaxes(1, 2) @ H, rng.standard_normal((2, 3, 30)))
    X, d, Z = rng.random((50, 9)), rng.standard_normal((2, 50)), rng.standard_normal((2, 3, 99))
    y, A = (np.arange(99) % 3).astype(np.int32), rng.standard_normal(999)
    weights = (rng.standard_normal((9, 31)), rng.standard_normal(31))
    found = {}
    for name, opened in every.items():
        monkeypatch.setattr(library, "_loaded", lambda name=name, opened=opened: (name, opened))
        sums, counts, ridges = np.zeros((2, 9, 6)), np.zeros((2, 3, 3)), A.copy()
        gram, squares, layer = np.zeros((9, 6)), np.zeros(3), np.empty((50, 31))
        _native.add_products(X, d, sums)
        _native.count(Z, y, None, 3, counts)
        _native.activate(ridges, "radbas")
        _native.project(X, weights, None, "sigmoid", layer)
        rows = np.ascontiguousarray(X[:, :6]), np.ascontiguousarray(X[:, 6:])
        _native.add_gram(rows, np.abs(d[0]), gram, squares)
        solved = _native.solve_groups(tiles, (30, 3), np.ones((5, 2)), np.ones(5))
        smoothed = _native.smooth(Z, y, None, 3)
        found[name] = [*solved, np.tril(sums), np.tril(gram), squares]
        found[name] += [counts, ridges, layer, smoothed]
    plain, *others = found.values()
    for other in others:
        for expected, value in zip(plain, other, strict=True):
            assert_allclose(value, expected, rtol=1e-10, atol=1e-12)


def test_the_widest_library_that_runs_is_used(monkeypatch):
    monkeypatch.setattr(library, "_setting", "1")
    loaded = library._loaded.__wrapped__()
    able = [name for name in library.VARIANTS if library.runs(name) and library._open(name)]
    assert loaded is None if not able else loaded[0] == able[-1]


@pytest.mark.parametrize("name", library.VARIANTS)
def test_the_switch_names_the_widest_library_allowed(monkeypatch, name):
    monkeypatch.setattr(library, "_setting", name)
    loaded, allowed = library._loaded.__wrapped__(), library.VARIANTS
    if loaded is None:
        assert library._open("plain") is None
    else:
        assert allowed.index(loaded[0]) <= allowed.index(name)


def test_an_unknown_setting_of_the_switch_is_refused():
    done = subprocess.run(
        [sys.executable, "-c", "import ecselm._native"],
        env={**os.environ, "ECSELM_COMPILED": "sse9"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode
    assert "ECSELM_COMPILED must be 0, 1 or one of plain, avx2, avx512, got 'sse9'" in done.stderr


def test_a_library_built_from_other_sources_is_not_used(monkeypatch, tmp_path):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("needs a C compiler")
    source = tmp_path / "old.c"
    source.write_text("int ecselm_has_avx2(void) { return 0; }")
    command = [compiler, "-shared", "-fPIC", str(source), "-o", str(tmp_path / "plain.so")]
    subprocess.run(command, check=True)  # noqa: S603
    monkeypatch.setattr(library, "FOLDER", tmp_path)
    assert library._loaded.__wrapped__() is None


def test_without_a_library_everything_goes_through_lapack(not_built):
    assert library._loaded() is None
    assert not _native.is_available()
    assert _native.path_name() == "LAPACK"
    with pytest.raises(RuntimeError, match="must be installed with a C compiler"):
        _native.activate(np.zeros(3), "radbas")


def test_a_file_that_is_no_library_is_ignored(not_built):
    (not_built / "plain.so").write_bytes(b"for another machine")
    assert library._loaded() is None


def test_disabled_nests_and_restores_the_state(built):
    with _native.disabled():
        with _native.disabled():
            assert _native.path_name() == "LAPACK"
        assert not _native.is_available()
    assert _native.is_available()


def test_disabled_ends_with_an_exception_too(built):
    with pytest.raises(KeyError), _native.disabled():
        raise KeyError
    assert _native.path_name() == f"compiled, {built}"


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
    for n in [5, 40, 90, 12] * 6:  # buffers of every size, grown in every order
        H = rng.standard_normal((2, n + 2, n))
        tiles = _native.tiled(H.swapaxes(1, 2) @ H, rng.standard_normal((2, 3, n)))
        tasks.append((tiles, (n, 3), rng.random((9, 2)), np.ones(9)))

    def solve(task):
        return _native.solve_groups(*task)

    alone = [solve(task) for task in tasks]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(solve, tasks))
    for one, other in zip(alone, together, strict=True):
        assert_array_equal(one[0], other[0])
        assert_array_equal(one[1], other[1])
