"""The benchmarks run, compare like with like, and count correctly; no speed is asserted."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_classification

from benchmarks import fit
from benchmarks.__main__ import HERE, main
from benchmarks.accuracy import Accuracy
from benchmarks.baselines import (
    ELM_PACKAGES,
    FitTask,
    Package,
    fit_ridge,
    gaussian_layer,
    ridge_solution,
)
from benchmarks.environment import _processor, check_idle
from benchmarks.optimizers import OPTIMIZERS, FreeFitness, run_ours
from benchmarks.report import MOST_SPREAD, _check_spread, page_of, why_missed
from benchmarks.results import Results
from benchmarks.searches import INTELELM
from benchmarks.timing import Comparison, Ratio, interleaved
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


def test_ridge_computes_the_same_hidden_layer(problem):
    X, y, w = problem
    layer = ELMClassifier(20, random_state=0).fit(X, y, sample_weight=w).layer_
    assert_allclose(gaussian_layer(X, layer.weights, layer.biases), layer(X), atol=1e-12)


def test_ridge_solves_the_same_problem(problem):
    X, y, w = problem
    model = ELMClassifier(20, C=32.0, random_state=0).fit(X, y, sample_weight=w)
    beta = ridge_solution(
        gaussian_layer(X, model.layer_.weights, model.layer_.biases), y, w, model.C
    )
    assert_allclose(beta, model.beta_, rtol=1e-8, atol=1e-8)
    scores = gaussian_layer(X, model.layer_.weights, model.layer_.biases) @ beta
    assert_allclose(scores, model.decision_function(X), rtol=1e-8, atol=1e-8)


def test_ridge_solves_the_same_problem_as_welm_with_its_weights(problem):
    X, y, _ = problem
    model = WELMClassifier(20, weighting="w1", C=32.0, random_state=0).fit(X, y)
    beta = ridge_solution(model.layer_(X), y, 1.0 / np.bincount(y)[y], model.C)
    assert_allclose(beta, model.beta_, rtol=1e-8, atol=1e-8)


def test_ridge_gives_weights_of_every_unit_and_class(problem):
    X, y, w = problem
    assert fit_ridge(X, y, w, n_hidden=20, C=32.0).shape == (20, 4)


def test_a_package_that_is_not_installed_is_reported():
    package = Package("nothing", "no-such-distribution", "no_such_module", lambda: None)
    assert package.missing == package.version == "not installed"


def test_a_package_that_cannot_be_imported_is_reported():
    package = Package("broken", "numpy", "no_such_module", lambda: None)
    assert package.missing == "not importable: No module named 'no_such_module'"


@pytest.mark.parametrize("package", ELM_PACKAGES, ids=lambda package: package.name)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("weight", [None, np.ones(4)], ids=["plain", "weighted"])
def test_a_package_learns_its_task(package, dtype, weight, problem):
    if package.missing:
        pytest.skip(f"{package.name} is {package.missing}")
    X, y, _ = problem
    X = ((X - X.mean(axis=0)) / X.std(axis=0)).astype(dtype)
    predict = package.run(FitTask(X, y, n_hidden=20, class_weight=weight))
    assert np.mean(predict(X) == y) > 0.4


class RecordingFitness(FreeFitness):
    """Free fitness that records all points."""

    def __init__(self, initial: np.ndarray, generations: int) -> None:
        super().__init__(initial, generations)
        self.seen: list[np.ndarray] = []

    def __call__(self, points: np.ndarray) -> np.ndarray:
        self.seen += np.atleast_2d(points).copy().tolist()
        return super().__call__(points)


@pytest.mark.parametrize(
    "package", [None, *OPTIMIZERS], ids=lambda package: getattr(package, "name", "ours")
)
def test_searches_start_alike_and_evaluate_as_many_points_within_the_bounds(package):
    if package is not None and package.missing:
        pytest.skip(f"{package.name} is {package.missing}")
    rng = np.random.default_rng(0)
    fitness = RecordingFitness(rng.uniform(-1.0, 1.0, (7, 5)), generations=4)
    if package is None:
        run_ours(fitness, rng)
    else:
        package.run(fitness)
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


def test_targets_are_met_or_missed_or_absent():
    half = Ratio(0.5, 0.4, 0.6)
    assert Comparison("us", "them", half, 0.5).met is True
    assert Comparison("us", "them", half, 0.4).met is False
    assert Comparison("us", "them", half).met is None
    assert Comparison("us", "them", None, 0.5, "not installed").met is None
    assert Accuracy("data", {"ELMClassifier": 0.9}, 0.8).met is True
    assert Accuracy("data", {"ELMClassifier": 0.9}).met is None


def test_processor_without_linux_has_a_name(tmp_path):
    name, flags = _processor(tmp_path / "missing")
    assert name
    assert flags == []


def test_processor_is_read_from_cpuinfo(tmp_path):
    path = tmp_path / "cpuinfo"
    path.write_text("model name\t: A chip\nflags\t\t: fpu avx2 avx512f\n\n")
    assert _processor(path) == ("A chip", ["avx2", "avx512f"])


def test_a_busy_machine_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "stat"
    ticks = iter([1000, 1000, 2000, 4000])

    def read(*_, **__):
        return f"cpu  {next(ticks)} 0 0 77 0 0 0 0 0 0\n"

    path.touch()
    monkeypatch.setattr(type(path), "read_text", read)
    assert check_idle(path, look=0.01) == 0.0
    with pytest.raises(RuntimeError, match=r"must be idle .* at most 0.25 cores busy, got"):
        check_idle(path, look=0.01)


def test_a_system_that_does_not_tell_its_load_is_accepted(tmp_path):
    assert check_idle(tmp_path / "missing") is None


def test_ratios_that_vary_too_much_give_no_page():
    calm = [Comparison("us", "them", Ratio(1.0, 0.99, 1.01))]
    _check_spread(calm)
    _check_spread([*calm, *calm, Comparison("us", "them", Ratio(1.0, 0.5, 1.5))])
    with pytest.raises(ValueError, match=f"within {MOST_SPREAD} of their medians, got 1.00"):
        _check_spread([Comparison("us", "them", Ratio(1.0, 0.5, 1.5))])


def test_every_missed_target_has_a_reason():
    assert why_missed("anything", met=True) == why_missed("anything", met=None) == ""
    assert why_missed("anything", met=False, given="because") == "because"
    with pytest.raises(ValueError, match="must have a reason in REASONS, got none for 'anything'"):
        why_missed("anything", met=False)


@pytest.fixture
def no_environment(monkeypatch):
    """Forget the environment of gfdl that an earlier test has made."""
    monkeypatch.setattr(fit, "gfdl_python", fit.gfdl_python.__wrapped__)


@pytest.mark.usefixtures("no_environment")
def test_gfdl_without_another_python_is_reported(monkeypatch):
    monkeypatch.setattr(fit, "newer_python", lambda: None)
    assert fit.gfdl_elsewhere("float64").startswith("not installed: needs Python 3.12")


@pytest.mark.usefixtures("no_environment")
def test_an_environment_for_gfdl_that_cannot_be_made_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(fit, "newer_python", lambda: Path(sys.executable))
    monkeypatch.setattr(fit, "ELSEWHERE", tmp_path / "env")
    script = tmp_path / "env" / "bin" / "python"
    script.parent.mkdir(parents=True)
    script.write_text("#!/bin/sh\necho no network >&2; exit 1\n")
    script.chmod(0o755)
    assert fit.gfdl_elsewhere("float64") == "not installed: no network"
    assert not (tmp_path / "env").exists()  # the next run tries again


@pytest.mark.usefixtures("no_environment")
def test_times_beside_gfdl_are_taken_from_the_other_process(tmp_path, monkeypatch):
    monkeypatch.setattr(fit, "newer_python", lambda: Path(sys.executable))
    monkeypatch.setattr(fit, "ELSEWHERE", tmp_path / "env")
    script = tmp_path / "env" / "bin" / "python"
    script.parent.mkdir(parents=True)
    script.write_text('#!/bin/sh\necho \'{"median": 0.5, "lower": 0.4, "upper": 0.6}\'\n')
    script.chmod(0o755)
    assert fit.gfdl_elsewhere("float64") == Ratio(0.5, 0.4, 0.6)


@pytest.mark.slow
def test_quick_run_writes_results_and_page(tmp_path):
    path, folder = tmp_path / "pages" / "benchmarks.md", tmp_path / "results"
    main(["--quick", "--output", str(folder), "--page", str(path)])
    results = json.loads((folder / "results.json").read_text())
    assert results["environment"]["versions"]["numpy"] == np.__version__
    assert len(results["fits"]) == 2 * (1 + len(ELM_PACKAGES)) + 4
    for entry in results["fits"]:
        assert entry["missing"] or entry["ratio"]["lower"] <= entry["ratio"]["upper"]
    names = [package.name for package in OPTIMIZERS]
    assert [entry["baseline"] for entry in results["optimizers"]] == 2 * names
    for entry in results["optimizers"]:
        assert entry["missing"] or entry["ratio"]["lower"] <= entry["ratio"]["upper"]
    assert results["accuracies"][0]["data"] == "digits"
    assert {entry["path"] for entry in results["speed"]["generations"]} == {"compiled", "LAPACK"}
    assert all("met" in entry for entry in results["speed"]["whole"])
    page = path.read_text()
    assert "make bench" in page
    assert "its numbers mean nothing" in page
    for package in (*ELM_PACKAGES, *OPTIMIZERS, INTELELM):
        assert f"- {package.distribution} {package.version}" in page
    path.unlink()
    main(["--report-only", "--output", str(folder), "--page", str(path)])
    assert path.read_text() == page


def test_stored_results_give_the_page_of_the_documentation():
    text = (HERE / "results.json").read_text()
    results = Results.from_json(text)
    assert results.as_json() == text
    assert page_of(results) == (HERE.parent / "docs" / "benchmarks.md").read_text()
