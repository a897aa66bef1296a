"""The benchmarks run, compare like with like, and count correctly; no speed is asserted."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_classification

from benchmarks.__main__ import main
from benchmarks.accuracy import Accuracy
from benchmarks.conditions import _processor
from benchmarks.fit import Comparison
from benchmarks.opponents import (
    PEERS,
    Lesson,
    Peer,
    fit_ridge,
    gaussian_layer,
    ridge_solution,
)
from benchmarks.rivals import INTELELM
from benchmarks.search import SEARCHES, FreeFitness, run_ours
from benchmarks.timing import Ratio, interleaved
from ecselm import ELMClassifier, WELMClassifier


class FakeClock:
    """A clock that only tasks move."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def task(self, *seconds: float) -> Callable[[], None]:
        """Return a task that takes these times, one after the other; the first is warm-up."""
        left = iter(seconds)

        def run() -> None:
            self.now += next(left)

        return run


@pytest.fixture
def problem():
    X, y = make_classification(
        n_samples=400, n_features=8, n_informative=6, n_classes=4, random_state=0
    )
    return X, y, np.random.default_rng(1).uniform(0.5, 2.0, len(y))


def test_ratios_are_medians_and_quartiles_of_rounds():
    clock = FakeClock()
    ratios = interleaved(
        clock.task(99.0, 1.0, 2.0, 3.0, 8.0, 10.0),
        {
            "steady": clock.task(99.0, 2.0, 2.0, 2.0, 2.0, 2.0),
            "drifting": clock.task(99.0, 2.0, 4.0, 6.0, 16.0, 20.0),
        },
        repeats=5,
        clock=clock,
    )
    assert ratios == {"steady": Ratio(1.5, 1.0, 4.0), "drifting": Ratio(0.5, 0.5, 0.5)}


def test_rounds_run_forwards_and_backwards_after_a_warm_up():
    seen = []
    interleaved(lambda: seen.append("a"), {"b": lambda: seen.append("b")}, 2, clock=FakeTicks())
    assert "".join(seen) == "ab" + "ab" + "ba"


class FakeTicks(FakeClock):
    """A clock that moves by 1 whenever it is read."""

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


def test_opponent_computes_the_same_hidden_layer(problem):
    X, y, w = problem
    layer = ELMClassifier(20, random_state=0).fit(X, y, sample_weight=w).layer_
    assert_allclose(gaussian_layer(X, layer.weights, layer.biases), layer(X), atol=1e-12)


def test_opponent_solves_the_same_problem(problem):
    X, y, w = problem
    model = ELMClassifier(20, random_state=0).fit(X, y, sample_weight=w)
    beta = ridge_solution(
        gaussian_layer(X, model.layer_.weights, model.layer_.biases), y, w, model.C
    )
    assert_allclose(beta, model.beta_, rtol=1e-8, atol=1e-8)
    scores = gaussian_layer(X, model.layer_.weights, model.layer_.biases) @ beta
    assert_allclose(scores, model.decision_function(X), rtol=1e-8, atol=1e-8)


def test_opponent_solves_the_same_problem_as_welm_when_told_its_weights(problem):
    X, y, _ = problem
    model = WELMClassifier(20, weighting="w1", random_state=0).fit(X, y)
    beta = ridge_solution(model.layer_(X), y, 1.0 / np.bincount(y)[y], model.C)
    assert_allclose(beta, model.beta_, rtol=1e-8, atol=1e-8)


def test_opponent_gives_weights_of_every_unit_and_class(problem):
    X, y, w = problem
    assert fit_ridge(X, y, w, n_hidden=20, C=32.0).shape == (20, 4)


def test_a_package_that_is_not_there_is_told_and_no_error():
    peer = Peer("nothing", "no-such-distribution", "no_such_module", lambda: None)
    assert peer.missing == peer.version == "not installed"


def test_a_package_that_is_there_but_cannot_be_imported_is_told():
    peer = Peer("broken", "numpy", "no_such_module", lambda: None)
    assert peer.missing == "not importable: No module named 'no_such_module'"


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("weight", [None, np.ones(4)], ids=["plain", "weighted"])
def test_a_package_learns_what_it_is_given(peer, dtype, weight, problem):
    if peer.missing:
        pytest.skip(f"{peer.name} is {peer.missing}")
    X, y, _ = problem
    X = ((X - X.mean(axis=0)) / X.std(axis=0)).astype(dtype)
    predict = peer.run(Lesson(X, y, n_hidden=20, class_weight=weight))
    assert np.mean(predict(X) == y) > 0.4


class Watched(FreeFitness):
    """Free fitness that keeps all points."""

    def __init__(self, initial: np.ndarray, generations: int) -> None:
        super().__init__(initial, generations)
        self.seen: list[np.ndarray] = []

    def __call__(self, points: np.ndarray) -> np.ndarray:
        self.seen += np.atleast_2d(points).copy().tolist()
        return super().__call__(points)


@pytest.mark.parametrize(
    "search", [None, *SEARCHES], ids=lambda search: getattr(search, "name", "ours")
)
def test_searches_start_alike_and_evaluate_as_many_points_within_the_bounds(search):
    if search is not None and search.missing:
        pytest.skip(f"{search.name} is {search.missing}")
    rng = np.random.default_rng(0)
    fitness = Watched(rng.uniform(-1.0, 1.0, (7, 5)), generations=4)
    if search is None:
        run_ours(fitness, rng)
    else:
        search.run(fitness)
    seen = np.array(fitness.seen)
    assert seen.shape == (7 * 5, 5)
    assert_allclose(np.sort(seen[:7], axis=0), np.sort(fitness.initial, axis=0), atol=1e-12)
    assert (abs(seen) <= 1.0).all()
    assert len(np.unique(seen[7:], axis=0)) > 7
    assert fitness.seconds > 0.0


def test_a_search_that_evaluates_another_number_of_points_has_no_time():
    fitness = FreeFitness(np.zeros((2, 3)), generations=3)
    fitness(fitness.initial)
    with pytest.raises(ValueError, match="8 points must be evaluated, got 2"):
        _ = fitness.seconds


def test_targets_are_met_or_not_or_not_there():
    half = Ratio(0.5, 0.4, 0.6)
    assert Comparison("us", "them", half, 0.5).met is True
    assert Comparison("us", "them", half, 0.4).met is False
    assert Comparison("us", "them", half).met is None
    assert Comparison("us", "them", None, 0.5, "not installed").met is None
    assert Accuracy("data", {"ELMClassifier": 0.9}, 0.8).met is True
    assert Accuracy("data", {"ELMClassifier": 0.9}).met is None


def test_processor_without_linux_is_named_all_the_same(tmp_path):
    name, flags = _processor(tmp_path / "missing")
    assert name
    assert flags == []


def test_processor_is_read_from_cpuinfo(tmp_path):
    path = tmp_path / "cpuinfo"
    path.write_text("model name\t: A chip\nflags\t\t: fpu avx2 avx512f\n\n")
    assert _processor(path) == ("A chip", ["avx2", "avx512f"])


def test_quick_run_writes_results_and_table(tmp_path):
    table = tmp_path / "pages" / "benchmarks.md"
    main(["--quick", "--output", str(tmp_path / "results"), "--table", str(table)])
    results = json.loads((tmp_path / "results" / "results.json").read_text())
    assert results["conditions"]["versions"]["numpy"] == np.__version__
    assert len(results["times"]) == 2 * (1 + len(PEERS)) + 4
    for entry in results["times"]:
        assert entry["missing"] or entry["ratio"]["lower"] <= entry["ratio"]["upper"]
    assert [entry["opponent"] for entry in results["searches"]] == 2 * [s.name for s in SEARCHES]
    for entry in results["searches"]:
        assert entry["missing"] or entry["ratio"]["lower"] <= entry["ratio"]["upper"]
    assert results["accuracies"][0]["data"] == "digits"
    assert {entry["path"] for entry in results["speed"]["generations"]} == {"compiled", "LAPACK"}
    assert all("met" in entry for entry in results["speed"]["whole"])
    page = table.read_text()
    assert "make bench" in page
    assert "its numbers mean nothing" in page
    for peer in (*PEERS, *SEARCHES, INTELELM):
        assert f"- {peer.distribution} {peer.version}" in page
