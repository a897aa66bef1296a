"""Searches killed at any moment end with the same bits as one that never was.

This file is also the program that is killed.
"""

import os
import shutil
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression

sys.path.append(str(Path(__file__).parents[2]))  # as a program

from ecselm import CostSearchCV, ECSELMClassifier
from ecselm.estimators import _checkpoint as module
from tests.processes import Forked, fork_each

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes to kill")

PAUSE = 0.02  # after every generation, so that kills find a search at work
N_PRIORS = 3
PLAIN = {"smoothing": 0.5, "shrinkage": 0.0, "keep_prior": False}  # the priors are counted


def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    return X, (X[:, 0] + 0.5 * rng.standard_normal(60) > 0.7).astype(int)


def search(kind, **changes):
    if kind == "estimator":
        settings = {"population_size": 4, "max_epochs": 30, "fitness": 2, "random_state": 0}
        return CostSearchCV(LogisticRegression(), **{**PLAIN, **settings, **changes})
    seed = None if kind == "unseeded" else 0
    settings = {"population_size": 6, "max_epochs": 60, "random_state": seed}
    one_layer = {"activation": "radbas", "C": 32.0}
    return ECSELMClassifier(8, **{**PLAIN, **one_layer, **settings, **changes})


class Diary:
    """What a process that may die at any moment has done."""

    def __init__(self, path):
        self._file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND)

    def write(self, line):
        os.write(self._file, f"{line}\n".encode())

    def told(self, progress):
        self.write(f"generation {progress.generation}")
        time.sleep(PAUSE)


class CountedAccuracy:
    """A scorer that writes every evaluation down; its diary makes no other search."""

    def __init__(self, diary):
        self.diary = diary

    def __call__(self, model, X, y):
        self.diary.write("evaluation")
        return float(np.mean(model.predict(X) == y))

    def __getstate__(self):
        return {}


def live(kind, folder, name):
    """Run a search in this process, and write down how it ends."""
    diary = Diary(Path(folder, f"{name}.diary"))
    checkpoint = None if name == "whole" else Path(folder, "search.npz")
    made = search(kind, checkpoint=checkpoint, callbacks=diary.told)
    if kind != "unseeded":
        made.set_params(scoring=CountedAccuracy(diary))
    made.fit(*data())
    with Path(folder, f"{name}.result").open("wb") as file:
        np.savez(
            file,
            cost_vector=made.cost_vector_,
            class_costs=made.class_costs_,
            cost_matrix=made.cost_matrix_,
            history=made.history_.to_numpy(),
            best_score=made.best_score_,
        )
    return 0


def fork_searches(kind, folder):
    """Every generation is saved, however long that takes on this disk."""
    module.SHARE = np.inf
    search(kind, max_epochs=0).fit(*data())  # some imports wait for their first use
    fork_each(partial(live, kind, folder))


def diary_of(folder, name):
    path = Path(folder, f"{name}.diary")
    return path.read_text().splitlines() if path.exists() else []


def n_stored(folder):
    """Return how many generations the file has; it is there, and complete, or not at all."""
    path = Path(folder, "search.npz")
    return len(np.load(path)["fitness"]) if path.exists() else 0


def assert_equal_results(folder, one, other):
    with np.load(folder / f"{one}.result") as first, np.load(folder / f"{other}.result") as second:
        assert set(first) == set(second)
        for name in first:
            assert_array_equal(first[name], second[name])


def kill_often(searches, folder, n_kills, rng):
    """Kill a search at random moments; return what was in the file before each start."""
    stored = [n_stored(folder)]
    for i in range(n_kills):
        searches.begin(f"killed {i}")
        n_lines = rng.integers(30)
        ended = Path(folder, f"killed {i}.result")
        while not ended.exists() and len(diary_of(folder, f"killed {i}")) < n_lines:
            time.sleep(0.001)
        time.sleep(rng.uniform(0.0, PAUSE))
        if not searches.kill():
            break
        stored.append(n_stored(folder))
    return stored


def assert_nothing_was_done_twice(folder, stored, size):
    """Every process goes on with the first generation that the file did not have."""
    for i, before in enumerate(stored[:-1]):
        diary = diary_of(folder, f"killed {i}")
        told = [int(line.split()[1]) for line in diary if line.startswith("generation")]
        assert told == list(range(before, before + len(told)))
        assert diary.count("evaluation") <= N_PRIORS + size * (len(told) + 1)
        assert stored[i + 1] - before in {len(told), len(told) + 1}  # saved before it is told


@pytest.mark.parametrize(
    ("kind", "size", "n_generations", "n_kills"),
    [
        pytest.param("machine", 6, 61, 10, marks=pytest.mark.slow),
        ("estimator", 4, 31, 2),
    ],
)
def test_search_killed_again_and_again_ends_with_the_same_bits(
    tmp_path, kind, size, n_generations, n_kills
):
    rng = np.random.default_rng(1)
    with Forked(__file__, kind, tmp_path) as unharmed, Forked(__file__, kind, tmp_path) as harmed:
        unharmed.begin("whole")
        stored = kill_often(harmed, tmp_path, n_kills, rng)
        assert unharmed.end() == 0
        unharmed.begin("resumed")  # from another beginning: hashes of words differ, too
        assert unharmed.end() == 0
    assert len(stored) == n_kills + 1  # all of them found it at work
    assert stored == sorted(stored)
    assert len({n for n in stored if 0 < n < n_generations}) >= n_kills // 2
    assert_nothing_was_done_twice(tmp_path, stored, size)
    evaluated = diary_of(tmp_path, "resumed").count("evaluation")
    assert 0 <= evaluated - size * (n_generations - stored[-1]) <= N_PRIORS
    evaluated = diary_of(tmp_path, "whole").count("evaluation")
    assert evaluated == size * n_generations + N_PRIORS
    assert_equal_results(tmp_path, "resumed", "whole")


def test_killed_search_without_a_random_state_goes_on_from_its_own(tmp_path):
    """The seed is in the file: all copies of it lead to one end, in any process."""
    with Forked(__file__, "unseeded", tmp_path) as searches:
        searches.begin("killed")
        while n_stored(tmp_path) < 3:
            time.sleep(0.01)
        assert searches.kill()
    assert n_stored(tmp_path) < 61
    shutil.copy(tmp_path / "search.npz", tmp_path / "copy.npz")
    first, second = (
        search("unseeded", checkpoint=tmp_path / name).fit(*data())
        for name in ("search.npz", "copy.npz")
    )
    assert_array_equal(first.cost_vector_, second.cost_vector_)
    assert_array_equal(first.class_costs_, second.class_costs_)
    assert first.history_.equals(second.history_)
    assert len(first.history_) == 61


if __name__ == "__main__":
    fork_searches(*sys.argv[1:])
