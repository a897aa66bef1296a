"""The benchmarks of searches compare like with like and count correctly; no speed is asserted."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks.generations import (
    KINDS,
    QUICK,
    LiteralLoop,
    Parents,
    Runner,
    SpeedUp,
    candidate_bytes,
    check_losses,
    needed_flops,
    speed_ups,
)
from benchmarks.growth import Curve
from benchmarks.problems import (
    COMPILED,
    ERRORS,
    LAPACK,
    SHAPES,
    SQUARES,
    TIES,
    Problem,
    candidate_flops,
    fit_flops,
    make_objective,
    missing_path,
    sample_flops,
)
from benchmarks.report import SECTIONS, TABLES, speed_sections
from benchmarks.results import PARTS, Speed, measure_speed
from benchmarks.searches import (
    FULL,
    INTELELM,
    CoreSpeedUp,
    EvolutionTask,
    GenerationTimes,
    Share,
    Size,
    search_seconds,
    timed_calls,
)
from benchmarks.timing import Ratio, Stopwatch
from ecselm import _native
from ecselm.fitness import CostEncoding


@pytest.fixture(scope="module")
def problems():
    return {name: Problem.of_shape(shape.shrunk()) for name, shape in SHAPES.items()}


@pytest.mark.parametrize("path", [COMPILED, LAPACK])
@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("splits", ["train", "folds"])
@pytest.mark.parametrize("fitness", [ERRORS, SQUARES, TIES])
def test_losses_by_class_are_those_of_the_literal_loop(path, name, splits, fitness, problems):
    _skip_unless_available(path)
    problem = problems[name]
    costs = np.random.default_rng(0).uniform(1e-3, 1.0, (5, problem.shape.n_classes))
    ours = make_objective(problem, "class", splits, fitness, path)(np.log(costs))
    literal = LiteralLoop.of(problem, splits, fitness)(costs[:, problem.y])
    check_losses([ours], [literal], fitness, len(problem.y))
    assert len(np.unique(literal)) > 1


@pytest.mark.parametrize("path", [COMPILED, LAPACK])
@pytest.mark.parametrize("name", ["a", "b", "c", "e"])
def test_losses_by_row_are_those_of_the_literal_loop(path, name, problems):
    _skip_unless_available(path)
    problem = problems[name]
    costs = np.random.default_rng(0).uniform(1e-3, 1.0, (5, len(problem.y)))
    ours = make_objective(problem, "sample", "train", TIES, path)(costs)
    check_losses([ours], [LiteralLoop.of(problem, "train", TIES)(costs)], TIES, len(problem.y))


def _skip_unless_available(path):
    if missing_path(path):
        pytest.skip(f"the {path} path is {missing_path(path)}")


def test_one_more_error_or_a_larger_squared_loss_is_refused():
    rates = np.array([0.25, 0.5])
    check_losses([rates - 1.0], [rates], ERRORS, 4)
    check_losses([rates], [rates[:1]], SQUARES, 4)
    with pytest.raises(AssertionError):
        check_losses([rates - 0.75], [rates], ERRORS, 4)
    with pytest.raises(AssertionError):
        check_losses([rates * (1.0 + 3e-8)], [rates], SQUARES, 4)


def test_without_the_compiled_path_its_lines_say_so(problems):
    with _native.disabled():
        lines = speed_ups(problems["b"], KINDS[0], QUICK)
    assert [line.path for line in lines] == [COMPILED, LAPACK]
    assert lines[0].missing == "not available"
    assert lines[0].met is None
    assert lines[1].ratio.median > 0.0


def test_flop_model_gives_the_bounds_of_the_design():
    by_class = [candidate_flops(SHAPES[name]) / 1e6 for name in "abcef"]
    assert_allclose(by_class, [1.5, 4.2, 11.6, 9.6, 310.0], rtol=0.05)
    by_row = [sample_flops(SHAPES[name]) / 1e6 for name in "abce"]
    assert_allclose(by_row, [55.0, 12.0, 23.0, 67.0], rtol=0.02)
    assert fit_flops(SHAPES["a"], 20) > 5400 * 100**2


def test_a_runner_evaluates_new_generations_and_scales_to_all():
    seen = []

    def evaluate(points):
        seen.append(points[0, 0])
        return points[:, 0]

    generations = np.arange(3.0 * 8 * 2).reshape(3, 8, 2, 1)
    runner = Runner(evaluate, generations, share=0.5)
    seconds = [runner() for _ in range(3)]
    assert runner.loops == 8  # the evaluation takes next to no time
    assert seen == generations[:, :, 0, 0].ravel()[[0, *range(8, 24)]].tolist()
    assert_allclose(runner.losses, generations[:, 0, :, 0])
    assert min(seconds) > 0.0


def test_trials_that_move_in_one_coordinate_are_recognised():
    parents, P = Parents(), np.zeros((2, 3))
    assert parents.moved(P).tolist() == [3, 3]  # nothing is known before
    parents.select(P, np.array([1.0, 1.0]))
    trial = P.copy()
    trial[:, 1] = 5.0
    assert parents.moved(trial).tolist() == [1, 1]
    parents.select(trial, np.array([0.5, 2.0]))  # only the first is selected
    later = trial.copy()
    later[0, 2] = 1.0
    assert parents.moved(later).tolist() == [1, 1]
    assert parents.moved(later + 1.0).tolist() == [3, 3]


def test_the_roofline_counts_rows_of_new_costs_only():
    shape = SHAPES["a"]
    assert needed_flops(shape, 1.0) == sample_flops(shape)
    half = needed_flops(shape, 0.5)
    assert_allclose(sample_flops(shape) - half, 0.5 * 5400 * 100**2)
    assert needed_flops(SHAPES["c"], 1.0) == sample_flops(SHAPES["c"])  # solved in samples
    assert candidate_bytes(SHAPES["f"]) > candidate_bytes(SHAPES["a"])


def test_speed_ups_have_a_roofline_on_every_path(problems):
    lines = speed_ups(problems["b"], KINDS[0], QUICK)
    assert all(line.bound.median > 0.0 for line in lines if not line.missing)
    assert SpeedUp("kind", "a", COMPILED, None, peak=Ratio(0.8, 0.7, 0.9)).over_roofline == 1.25
    assert SpeedUp("kind", "a", COMPILED, None).over_roofline is None


def test_epochs_that_are_not_run_take_as_long_as_those_run(problems):
    times = GenerationTimes()
    times.seconds = [1.0, 3.0, 5.0]
    assert times.generation == 2.0
    rows = problems["a"].X, problems["a"].y
    size = Size(population=4, epochs=3, shrunk=True)
    assert search_seconds(size, *rows, 1, n_hidden=5, fitness="train") > 0.0
    assert FULL.epochs == FULL.population == 100


def test_a_timed_method_is_restored():
    watch, plain = Stopwatch(), CostEncoding.decode
    with timed_calls(CostEncoding, "decode", watch):
        assert CostEncoding.decode is not plain
    assert CostEncoding.decode is plain
    assert not watch.seconds


def test_curves_have_the_exponents_of_times_and_flops():
    growth = Curve("nothing", "N", (10, 20, 40), lambda _: lambda: None, lambda n: n**3).measure(2)
    assert growth.sizes == [10, 20, 40]
    assert len(growth.seconds) == 3
    assert_allclose(growth.model, 3.0)


def test_targets_of_searches_are_met_or_not():
    ratio = Ratio(1.5, 0.9, 1.7)
    assert SpeedUp("kind", "a", COMPILED, ratio, 1.5).met is True
    assert SpeedUp("kind", "a", COMPILED, ratio).met is None
    assert CoreSpeedUp("search", ratio, 1.6).met is False
    assert CoreSpeedUp("search", Ratio(0.9, 0.8, 1.1), 1.0).met is True  # no slower than chance
    assert Share("search", ratio).met is False


def test_intelelm_evaluates_as_many_candidates_as_are_counted():
    if INTELELM.missing:
        pytest.skip(f"intelelm is {INTELELM.missing}")
    rng = np.random.default_rng(0)
    task = EvolutionTask(rng.standard_normal((30, 3)), np.arange(30) % 3, 4, 6, 2)
    module, seen = INTELELM.load(), []

    class Counted(module.MhaElmClassifier):
        def objective_function(self, solution=None):
            seen.append(solution)
            return super().objective_function(solution)

    class Module:
        MhaElmClassifier = Counted

    INTELELM.use(Module, task)
    assert len(seen) == 6 * (2 + 1)


def test_one_part_is_reported_alone():
    assert set(PARTS) == set(SECTIONS) == set(TABLES)
    speed = measure_speed(quick=True, only="growth")
    assert isinstance(speed, Speed)
    page = speed_sections(speed)
    assert page.count("## ") == 1
    assert "| ELMClassifier.fit | N | 50, 80 |" in page
