"""A fit interrupted or killed at any moment: kept, or resumed with the same bits.

This file is also the program whose fits are interrupted and killed.
"""

import os
import signal
import sys
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.naive_bayes import GaussianNB

sys.path.append(str(Path(__file__).parents[2]))  # as a program

import ecselm
from ecselm import (
    CostDecisionClassifier,
    CostSearchCV,
    CSELMClassifier,
    ECSELMClassifier,
    ECSELMRegressor,
    EELMClassifier,
    EELMRegressor,
    ELMClassifier,
    ELMRegressor,
)
from ecselm.estimators import _checkpoint as module
from ecselm.estimators._promise import HeldOut
from tests.processes import KEPT, LOST, Forked, cut_often, fork_each, mark_start

PACKAGE = str(Path(ecselm.__file__).parent)
FIRST_SCORES = {"screening layers 0", "priors of fitness"}  # steps, or a generation
FITTED = (
    *("beta_", "cost_matrix_", "class_costs_", "cost_vector_", "best_score_", "gain_"),
    *("gain_std_error_", "keeps_prior_", "prior_scores_", "members_", "C_"),
)
MODELS = {
    "default": ECSELMClassifier(),
    "cma": ECSELMClassifier(optimizer="cma"),
    "one layer": ECSELMClassifier(20, activation="radbas"),
    "paper": ECSELMClassifier.paper(n_hidden=20, population_size=20, max_epochs=15),
    "literal": ECSELMClassifier.paper(literal=True, n_hidden=20, population_size=20, max_epochs=15),
    "regressor": ECSELMRegressor(20, max_epochs=15),
    "decision": CostSearchCV(GaussianNB()),
    **{
        level: CostSearchCV(
            GaussianNB(), cost_level=level, fitness=2, population_size=4, max_epochs=3
        )
        for level in ("class", "matrix", "sample")
    },
    "E-ELM": EELMClassifier(5, population_size=12, max_epochs=15),
    "E-ELM regressor": EELMRegressor(5, population_size=12, max_epochs=15),
}


@pytest.fixture(autouse=True)
def default_handler():
    """Take Ctrl-C as an interactive Python does; jobs in the background are started deaf."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


def data(n_rows=60):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, 4))
    X[:, 1] *= 5.0
    score = X[:, 0] + 0.1 * X[:, 1] + 0.7 * rng.standard_normal(n_rows)
    return X, np.digitize(score, [-0.5, 1.0])


def made(kind, **changes):
    return ecselm_clone(MODELS[kind]).set_params(**{"random_state": 0, **changes})


def ecselm_clone(model):
    return type(model)(**model.get_params(deep=False))


def state(model, X):
    """Return the numbers of a fitted model, by name."""
    found = {name: getattr(model, name, None) for name in FITTED}
    found["history"] = model.history_.to_numpy()
    found["predictions"] = model.predict(X)
    if hasattr(model, "predict_proba"):
        found["probabilities"] = model.predict_proba(X)
    return found


def assert_same(one, other):
    assert set(one) == set(other)
    for name, value in one.items():
        if isinstance(value, np.ndarray):
            assert_array_equal(other[name], value, err_msg=name)
        else:
            assert repr(other[name]) == repr(value), name


class Pressed:
    """Press Ctrl-C at the n-th call of a function of the package, or count the calls."""

    def __init__(self, n=None):
        self.n, self.n_calls = n, 0

    def __enter__(self):
        sys.setprofile(self._see)
        return self

    def __exit__(self, *_):
        sys.setprofile(None)

    def _see(self, frame, event, _):
        if event != "call" or not frame.f_code.co_filename.startswith(PACKAGE):
            return
        self.n_calls += 1
        if self.n_calls == self.n:
            signal.raise_signal(signal.SIGINT)


def fit_pressed(model, X, y, n):
    """Return how a fit ended that is interrupted at a call: kept, whole or lost."""
    before = dict(model.__dict__)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with Pressed(n):
                model.fit(X, y)
        except KeyboardInterrupt:
            assert model.__dict__ == before
            return "lost"
    said = [str(one.message) for one in caught if "interrupted" in str(one.message)]
    assert len(said) == 1, said
    return "whole" if "nothing is missing" in said[0] else "kept"


def is_scored(path):
    """Tell whether the file has a score; a fit that has none is lost when interrupted."""
    with np.load(path) as file:
        steps = {name.split("/")[0] for name in file.files}
        return bool(steps & FIRST_SCORES) or len(file["fitness"]) > 0


@pytest.mark.parametrize("kind", MODELS)
def test_fits_interrupted_anywhere_are_kept_once_scored_and_resume(kind, tmp_path, monkeypatch):
    """Moments are calls of functions of the package, evenly over all of a fit."""
    monkeypatch.setattr(module, "SHARE", 1e-9)  # written at the end, however it comes
    monkeypatch.setattr(os, "fsync", lambda _: None)  # which takes most of the time
    X, y = data()
    whole = made(kind).fit(X, y)  # some imports wait for their first use
    expected = state(whole, X)
    with Pressed() as counted:
        made(kind, checkpoint=tmp_path / "counted.npz").fit(X, y)
    n_moments, ends = 8 if kind == "default" else 3, []
    for i in range(n_moments):
        path = tmp_path / f"{i}.npz"
        n = int((i + 0.5) / n_moments * counted.n_calls)
        model = made(kind, checkpoint=path)
        ends.append(fit_pressed(model, X, y, n))
        if ends[-1] == "lost":
            assert not path.exists() or not is_scored(path)
        else:
            assert np.isfinite(np.asarray(model.predict(X), dtype=np.float64)).all()
        if ends[-1] == "whole":
            assert_same(state(model, X), expected)
        assert_same(state(made(kind, checkpoint=path).fit(X, y), X), expected)
    # Once anything is scored, nothing is lost any more.
    assert "lost" not in ends[ends.count("lost") :]
    assert {"kept", "whole"} & set(ends)


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("screening layers 2", "at 4 of 36 of screening layers"),
        ("solving layers", "at 2 of 6 of solving layers"),
    ],
)
def test_an_ensemble_interrupted_while_it_is_chosen_has_fewer_members(
    monkeypatch, tmp_path, place, words
):
    X, y = data()
    whole = made("default").fit(X, y)
    put = module.Checkpoint.put

    def pressing(self, name, arrays):
        put(self, name, arrays)
        if name == place:
            signal.raise_signal(signal.SIGINT)

    path = tmp_path / "a.npz"
    with monkeypatch.context() as patch:
        patch.setattr(module.Checkpoint, "put", pressing)
        model = made("default", checkpoint=path)
        with pytest.warns(ConvergenceWarning, match=f"^the search was interrupted {words}: the b"):
            model.fit(X, y)
    assert len({member[:3] for member in model._members_}) == 1
    assert len({member[:3] for member in whole._members_}) > 1
    assert model.keeps_prior_
    assert model.n_evaluations_ == 0
    assert model._history_.reason == "interrupted"
    assert model.score(X, y) > 0.5
    assert_same(state(made("default", checkpoint=path).fit(X, y), X), state(whole, X))


def test_costs_of_a_finished_search_stay_if_their_test_is_interrupted(monkeypatch, tmp_path):
    X, y = data()
    add = module.Checkpoint.add

    def pressing(self, fitness, search="fitness"):
        add(self, fitness, search)
        if search == "fitness of fold 1":
            signal.raise_signal(signal.SIGINT)

    path = tmp_path / "a.npz"
    with monkeypatch.context() as patch:
        patch.setattr(module.Checkpoint, "add", pressing)
        model = made("default", checkpoint=path)
        with pytest.warns(ConvergenceWarning, match="interrupted in the prior test"):
            model.fit(X, y)
    assert np.isnan(model.gain_)
    assert not model.keeps_prior_
    assert model.n_evaluations_ == 330
    assert_same(
        state(made("default", checkpoint=path).fit(X, y), X), state(made("default").fit(X, y), X)
    )


@pytest.mark.parametrize(
    ("kind", "place", "name"),
    [
        ("default", ecselm.estimators.ecselm, "keep_front"),
        ("one layer", ECSELMClassifier, "_store_model"),
        ("decision", ecselm.estimators.cost_search, "fitted"),
        ("E-ELM", EELMClassifier, "_keep"),
    ],
)
def test_pressed_again_it_ends_the_fit_and_leaves_the_estimator_alone(
    kind, place, name, monkeypatch
):
    X, y = data()
    with Pressed() as counted:
        made(kind).fit(X, y)
    moment, last = int(0.6 * counted.n_calls), getattr(place, name)
    assert fit_pressed(made(kind), X, y, moment) == "kept"

    def pressing(*arguments, **options):
        signal.raise_signal(signal.SIGINT)
        return last(*arguments, **options)

    monkeypatch.setattr(place, name, pressing)
    assert fit_pressed(made(kind), X, y, moment) == "lost"


def test_what_is_recorded_is_not_computed_again(monkeypatch, tmp_path):
    X, y = data()
    path = tmp_path / "a.npz"
    whole = state(made("default", checkpoint=path).fit(X, y), X)
    for name in ("of_kernel", "of_sums"):

        def fail(*_, **__):
            raise AssertionError("a layer was solved again")

        monkeypatch.setattr(ecselm.linalg.RidgePath, name, fail)
    monkeypatch.setattr(ecselm.estimators._decision.DecisionEngine, "batch", fail)
    assert_same(state(made("default", checkpoint=path).fit(X, y), X), whole)


def test_members_of_another_memory_limit_are_refused(tmp_path):
    X, y = data(700)
    path = tmp_path / "a.npz"
    settings = {"checkpoint": path, "ensemble": 3, "max_epochs": 1}
    made("default", **settings).fit(X, y)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"with another shape of '.* as with another memory_limit"):
        made("default", memory_limit="4 MiB", **settings).fit(X, y)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "model",
    [
        ELMClassifier(ensemble="auto", random_state=0),
        CSELMClassifier(ensemble="auto", random_state=0),
        ELMRegressor(ensemble="auto", random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_ensembles_without_a_search_keep_the_members_judged_so_far(model):
    X, y = data()
    whole = ecselm_clone(model).fit(X, y)
    with Pressed() as counted:
        ecselm_clone(model).fit(X, y)
    ends = []
    for share in (0.02, 0.5, 0.99):
        fitted = ecselm_clone(model)
        ends.append(fit_pressed(fitted, X, y, int(share * counted.n_calls)))
        if ends[-1] == "whole":
            assert_array_equal(fitted.predict(X), whole.predict(X))
        elif ends[-1] == "kept":
            assert len({member[:3] for member in fitted._members_}) < 6
            assert np.isfinite(np.asarray(fitted.predict(X), dtype=np.float64)).all()
    assert ends[:2] == ["lost", "kept"]
    assert ends[2] != "lost"


def test_one_layer_without_a_search_lets_interrupts_through():
    X, y = data()
    with Pressed() as counted:
        ELMClassifier(random_state=0).fit(X, y)
    assert fit_pressed(ELMClassifier(random_state=0), X, y, counted.n_calls // 2) == "lost"


@pytest.mark.parametrize("kind", ["estimator", "around"])
def test_promises_are_tested_to_the_end(kind, monkeypatch):
    """The model is there: an interrupt waits, and takes neither it nor its promise."""
    X, y = data(400)
    y = (y > 0).astype(int)
    promise = {1: 0.6}
    if kind == "estimator":
        model = ECSELMClassifier(10, promise=promise, max_epochs=1, random_state=0)
    else:
        model = CostDecisionClassifier(GaussianNB(), promise=promise, random_state=0)
    whole, chosen = ecselm_clone(model).fit(X, y), HeldOut.chosen

    def pressing(*arguments):
        signal.raise_signal(signal.SIGINT)
        return chosen(*arguments)

    monkeypatch.setattr(HeldOut, "chosen", pressing)
    with pytest.warns(UserWarning, match="nothing is missing"):
        model.fit(X, y)
    assert_array_equal(model.predict(X), whole.predict(X))
    assert model.promise_ == whole.promise_


def press(_):
    signal.raise_signal(signal.SIGINT)


def test_parts_that_calibrate_are_never_cut_short():
    X, y = data()
    inner = ECSELMClassifier(
        8, activation="radbas", population_size=6, max_epochs=3, callbacks=press
    )
    model = CostDecisionClassifier(inner, calibration="cross", cv=2, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert not hasattr(model, "estimator_")


def test_a_fit_around_another_is_kept_as_a_whole(tmp_path):
    """The inner search is never cut short within a fit that seems whole."""
    X, y = data()
    inner = ECSELMClassifier(
        8, activation="radbas", population_size=6, max_epochs=3, random_state=0
    )
    around = CostSearchCV(inner, fitness=2, random_state=0)
    with Pressed() as counted:
        expected = state(around.fit(X, y), X)
    for share in (0.3, 0.7, 0.97):
        model = CostSearchCV(inner, fitness=2, random_state=0, checkpoint=tmp_path / f"{share}")
        end = fit_pressed(model, X, y, int(share * counted.n_calls))
        if end != "lost":
            assert model.estimator_._history_.reason == "max_epochs"
        assert_same(state(model.fit(X, y), X), expected)


def test_the_bar_moves_through_all_phases(capsys):
    X, y = data()
    seen = []
    model = made("default", verbose=1)
    original = ecselm._progress.PhaseBar.begin

    def begin(self, phase, n_steps, title=None):
        seen.append((phase, self.done))
        original(self, phase, n_steps, title)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ecselm._progress.PhaseBar, "begin", begin)
        model.fit(X, y)
    phases = ["screening layers", "solving layers", "calibrating", "search", "prior test"]
    assert [phase for phase, _ in seen] == [*phases, "finishing"]
    done = [done for _, done in seen]
    assert done == sorted(done)
    assert "11/11" in capsys.readouterr().err


# Processes that are interrupted and killed.


def live(kind, folder, name):
    """Fit in this process; the exit code says how it ended."""
    X, y = data(300)
    checkpoint = None if name == "whole" else Path(folder, f"{name.split()[0]}.npz")
    model = made(kind, checkpoint=checkpoint)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            mark_start(folder, name)
            model.fit(X, y)
        except KeyboardInterrupt:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            return LOST
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    said = [str(one.message) for one in caught if "interrupted" in str(one.message)]
    arrays = {key: np.asarray(repr(v)) for key, v in state(model, X).items() if v is not None}
    arrays |= {k: v for k, v in state(model, X).items() if isinstance(v, np.ndarray)}
    np.savez(Path(folder, f"{name}.result.npz"), **arrays)
    return KEPT if said and "nothing is missing" not in said[0] else 0


def fork_fits(kind, folder):
    module.SHARE = np.inf  # every step is saved
    made(kind).fit(*data(100))  # some imports wait for their first use
    fork_each(partial(live, kind, folder))


def assert_same_files(folder, one, other):
    with np.load(folder / f"{one}.result.npz") as a, np.load(folder / f"{other}.result.npz") as b:
        assert set(a) == set(b)
        for name in a:
            assert_array_equal(a[name], b[name], err_msg=name)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes to kill")
@pytest.mark.parametrize("kind", MODELS)
def test_fits_interrupted_or_killed_at_random_moments(kind, tmp_path, moments, record_property):
    def check(name, end):
        path = tmp_path / f"{name.split()[0]}.npz"
        if end == "lost":
            assert not path.exists() or not is_scored(path)
        if end == "whole":
            assert_same_files(tmp_path, name, "whole")
        if name.endswith("resumed"):
            for file in tmp_path.glob(f"{name.split()[0]}[ .]*"):
                file.unlink()

    with Forked(__file__, kind, tmp_path) as forked:
        n = 10 * moments if kind == "default" else moments
        ends = cut_often(forked, np.random.default_rng(1), n, check)
    assert not list(tmp_path.glob(".*.part"))  # what a killed process left is removed
    for end, n in sorted(ends.items()):
        record_property(end, n)
    assert ends["kept"] > 0 or moments < 20


if __name__ == "__main__":
    fork_fits(*sys.argv[1:])
