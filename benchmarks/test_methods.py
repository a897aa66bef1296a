"""The benchmark of all methods, in small, and the page about them."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import accuracy_score
from sklearn.preprocessing import StandardScaler

from benchmarks import method_defaults
from benchmarks.methods import TRIVIAL, Outcome, Task, as_markdown, jobs, run
from benchmarks.methods_page import PAGE, filled
from ecselm.paper.datasets import Dataset
from ecselm.paper.methods import find_method


def iris(**_):
    return Dataset("iris", *load_iris(return_X_y=True), "scikit-learn's own.")


@pytest.fixture
def task():
    return Task("gases", "classification", iris, StandardScaler, 0.3, {"accuracy": accuracy_score})


def test_methods_beat_the_trivial_answer(task, tmp_path):
    trivial = run(task, None, 0, tmp_path)
    assert trivial.method == TRIVIAL
    assert run(task, find_method("kNN"), 0, tmp_path).scores["accuracy"] > 0.8
    assert trivial.scores["accuracy"] == pytest.approx(1 / 3, abs=0.01)


def test_the_same_split_gives_the_same_result(task, tmp_path):
    first, second = (run(task, find_method("ELM"), 1, tmp_path) for _ in range(2))
    assert first == second


def test_what_is_for_two_classes_runs_on_credits_only():
    asked = {task.name for task, method, _ in jobs(1) if method == "CSLogit"}
    assert asked == {"credits"}


def test_tables_give_means_and_spreads():
    outcomes = [
        Outcome("scores", "Ridge", split, {"error": error})
        for split, error in enumerate([1.0, 2.0, 3.0])
    ]
    assert "| Ridge | 2.000 ± 1.000 |" in as_markdown(outcomes)
    np.testing.assert_equal(as_markdown(outcomes).count("### "), 1)


def test_the_page_is_up_to_date():
    page = PAGE.read_text(encoding="utf-8")
    assert filled(page) == page, "run: python -m benchmarks.methods_page"


def test_defaults_are_confirmed_on_seeds_and_sets_that_did_not_choose_them(tmp_path):
    planned = list(method_defaults.jobs())
    chosen_on = {(source.name, seed) for phase, source, seed in planned if phase == "development"}
    confirmed = {(source.name, seed) for phase, source, seed in planned if phase != "development"}
    assert not chosen_on & confirmed
    assert len({name for name, _ in confirmed} - {name for name, _ in chosen_on}) >= 2
    quick = list(method_defaults.jobs(quick=True))
    assert [phase for phase, _, _ in quick] == list(method_defaults.PHASES)
    outcomes = [one for job in quick[-1:] for one in method_defaults.run(*job, tmp_path)]
    assert [one.method for one in outcomes] == [one.method for one in method_defaults.CHOICES]
    assert all(one.data == "iris" and one.default > 0.8 for one in outcomes)


def test_kept_outcomes_of_defaults_have_every_split_of_every_method():
    found = {(one.phase, one.data, one.seed, one.method) for one in method_defaults.stored()}
    assert found == {
        (phase, source.name, seed, choice.method)
        for phase, source, seed in method_defaults.jobs()
        for choice in method_defaults.CHOICES
    }


def test_a_default_that_lost_is_shown_as_a_loss():
    outcomes = [
        method_defaults.Outcome(phase, "iris", 0, choice.method, 0.8, 0.9, 0.95)
        for phase in ("new splits", "new data")
        for choice in method_defaults.CHOICES
    ]
    text = method_defaults.as_markdown(outcomes)
    assert "| new data | 0.800 | 0.900 | 0 / 1 | 1-NN | 0.950 | 0.150, iris |" in text
    assert "| NS | 0.800 (0.900) |" in text
