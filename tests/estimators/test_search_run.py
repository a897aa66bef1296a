"""Running a search: seeds, progress, limits, Ctrl-C, and going on where it stopped."""

import logging
import os
import signal

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from ecselm import ECSELMRegressor
from ecselm.estimators._checkpoint import Checkpoint
from ecselm.estimators._cost_search import OPTIMIZERS, SearchProgress, SearchRun
from ecselm.estimators._steps import Steps
from ecselm.search import BacktrackingSearch, Box, minimize
from tests.estimators.plain import one_machine, plain_search


@pytest.fixture(autouse=True)
def interruptible():
    """Take Ctrl-C as an interactive Python does; jobs in the background are started deaf."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


SMALL = {"population_size": 6, "max_epochs": 5, "random_state": 0}
BOX = Box.from_bounds([(-5.0, 5.0)] * 3)


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Small fits take no longer beside another process."""
    with threadpool_limits(1):
        yield


@pytest.fixture
def data(rng):
    X = rng.standard_normal((60, 3))
    return X, (X[:, 0] + 0.5 * rng.standard_normal(60) > 0.7).astype(int)


def model(**changes):
    return one_machine(**{"n_hidden": 8, **SMALL, **changes})


def around_estimator(**changes):
    return plain_search(LogisticRegression(), fitness=2, **{**SMALL, **changes})


def bowl(points):
    return ((points - 1.0) ** 2).sum(axis=1)


def assert_same_search(one, other):
    assert_array_equal(one.cost_vector_, other.cost_vector_)
    assert_array_equal(one.class_costs_, other.class_costs_)
    assert one.best_score_ == other.best_score_
    assert one.prior_scores_ == other.prior_scores_
    assert one.history_.equals(other.history_)


class InterruptAt:
    """Ctrl-C after a generation."""

    def __init__(self, generation):
        self.generation = generation

    def __call__(self, progress):
        if progress.generation == self.generation:
            raise KeyboardInterrupt


class InterruptingScorer:
    """Ctrl-C, as a terminal sends it, in the middle of a generation."""

    def __init__(self, call):
        self.call, self.n_calls = call, 0

    def __call__(self, model, X, y):
        self.n_calls += 1
        if self.n_calls == self.call:
            os.kill(os.getpid(), signal.SIGINT)
        return model.score(X, y)

    def __getstate__(self):
        return {}  # when it interrupts makes no other search


# The equations: a run is ask, evaluate and tell, from a population that holds the seeds.


def test_run_without_seeds_is_the_search_itself():
    literal = BacktrackingSearch(BOX, 8, np.random.default_rng(3))
    history = minimize(literal, bowl, max_epochs=10)
    found = SearchRun("bsa", 8, 10).evolve(bowl, BOX, {}, np.random.default_rng(3))
    assert_array_equal(found.point, literal.best[0])
    assert found.score == -literal.best[1]
    assert found.history.generations == history.generations
    assert found.priors == {}


@pytest.mark.parametrize("optimizer", sorted(OPTIMIZERS))
@pytest.mark.parametrize("size", [4, 20])
def test_result_is_never_worse_than_a_seed(optimizer, size, rng):
    """Not even if the population is too small for all of them."""
    seeds = {f"seed {i}": rng.uniform(0.9, 1.1, (4, 3)) for i in range(5)}
    found = SearchRun(optimizer, size, 0).evolve(bowl, BOX, seeds, rng)
    best = {name: -bowl(points).min() for name, points in seeds.items()}
    assert {name: prior.score for name, prior in found.priors.items()} == best
    assert found.score >= max(best.values())
    assert -bowl(found.point[np.newaxis])[0] == found.score


def test_first_population_holds_the_best_of_each_seed_and_leaves_half_to_chance(rng):
    asked = []

    class Recorder(BacktrackingSearch):
        def ask(self):
            asked.append(super().ask())
            return asked[-1]

    seeds = {"far": rng.uniform(3, 4, (6, 3)), "near": rng.uniform(0, 1, (6, 3))}
    SearchRun(Recorder, 12, 0).evolve(bowl, BOX, seeds, rng)
    given = np.vstack(list(seeds.values()))
    held = [point for point in given if (asked[0] == point).all(axis=1).any()]
    near, far = (seeds[name][np.argsort(bowl(seeds[name]))] for name in ("near", "far"))
    assert len(held) == 6
    assert_array_equal(asked[0][:6], np.vstack([far[0], near[0], near[1:5]]))


def test_scores_are_the_negative_of_losses(data):
    fitted = model(scoring="neg_log_loss").fit(*data)
    assert fitted.best_score_ == fitted.history_["best"].iloc[-1]
    assert (fitted.history_["best"] <= 0).all()
    assert fitted.history_["best"].is_monotonic_increasing


def test_search_without_any_finite_candidate_is_refused(data):
    unfitted = model(scoring=lambda *_: np.nan)
    with pytest.raises(ValueError, match=r"a finite fitness, got none in 36 evaluations$"):
        unfitted.fit(*data)
    assert not hasattr(unfitted, "classes_")


# Invariances: jobs and checkpoints do not matter.


@pytest.mark.parametrize("n_jobs", [2, -1])
@pytest.mark.parametrize(
    "settings",
    [{}, {"cost_level": "sample"}, {"kernel": "rbf", "C": "search"}, {"fitness": "loo"}],
    ids=str,
)
def test_result_does_not_depend_on_the_number_of_jobs(data, n_jobs, settings):
    settings = {"population_size": 40, "max_epochs": 2, **settings}
    one, other = (model(n_jobs=n, **settings).fit(*data) for n in (None, n_jobs))
    assert_same_search(one, other)
    assert_array_equal(one.beta_, other.beta_)


@pytest.mark.parametrize("optimizer", sorted(OPTIMIZERS))
def test_result_does_not_depend_on_a_checkpoint(data, tmp_path, optimizer):
    one, other = (
        model(optimizer=optimizer, checkpoint=place).fit(*data) for place in (None, tmp_path / "a")
    )
    assert_same_search(one, other)


@pytest.mark.parametrize("optimizer", sorted(OPTIMIZERS))
@pytest.mark.parametrize("stops", [(0, 2, 7), (5,)], ids=str)
def test_search_goes_on_with_more_epochs_as_if_it_had_never_stopped(
    data, tmp_path, optimizer, stops
):
    settings = {"optimizer": optimizer, "checkpoint": tmp_path / "a", "C": "search"}
    for max_epochs in stops:
        model(**{**settings, "max_epochs": max_epochs}).fit(*data)
    resumed = model(**{**settings, "max_epochs": 8}).fit(*data)
    whole = model(**{**settings, "max_epochs": 8, "checkpoint": None}).fit(*data)
    assert_same_search(resumed, whole)
    assert_array_equal(resumed.beta_, whole.beta_)


@pytest.mark.parametrize("optimizer", ["bsa", "de", "cma"])
def test_regressor_goes_on_as_if_it_had_never_stopped(rng, tmp_path, optimizer):
    X = rng.standard_normal((50, 3))
    y = X[:, 0] ** 2 + 0.1 * rng.standard_normal(50)
    settings = {**SMALL, "n_hidden": 8, "optimizer": optimizer}
    whole = ECSELMRegressor(**settings).fit(X, y)
    stopped = ECSELMRegressor(**settings, checkpoint=tmp_path / "a", callbacks=InterruptAt(2))
    with pytest.warns(ConvergenceWarning, match="interrupted after generation 2 of 5"):
        stopped.fit(X, y)
    resumed = ECSELMRegressor(**settings, checkpoint=tmp_path / "a").fit(X, y)
    assert_array_equal(resumed.cost_vector_, whole.cost_vector_)
    assert_array_equal(resumed.beta_, whole.beta_)
    assert resumed.history_.equals(whole.history_)


@pytest.mark.parametrize(
    "seed",
    [7, np.random.RandomState, np.random.default_rng],
    ids=["number", "RandomState", "Generator"],
)
def test_search_with_any_random_state_goes_on(data, tmp_path, seed):
    def state():
        return seed(7) if callable(seed) else seed

    model(random_state=state(), checkpoint=tmp_path / "a", max_epochs=1).fit(*data)
    resumed = model(random_state=state(), checkpoint=tmp_path / "a").fit(*data)
    assert_same_search(resumed, model(random_state=state()).fit(*data))


@pytest.mark.parametrize(
    ("level", "optimizer"),
    [("class", "bsa"), ("matrix", "de"), ("sample", "bsa"), ("decision", "cma"), ("class", "cma")],
)
def test_search_around_an_estimator_goes_on(data, tmp_path, level, optimizer):
    settings = {"optimizer": optimizer, "cost_level": level}
    whole = around_estimator(**settings).fit(*data)
    settings |= {"checkpoint": tmp_path / "a", "callbacks": InterruptAt(3)}
    stopped = around_estimator(**settings)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        stopped.fit(*data)
    resumed = stopped.set_params(callbacks=None).fit(*data)
    assert_same_search(resumed, whole)
    assert_array_equal(resumed.cost_matrix_, whole.cost_matrix_)
    assert_array_equal(resumed.estimator_.coef_, whole.estimator_.coef_)


# Ctrl-C.


def test_interrupted_search_keeps_the_best_so_far_and_warns(data):
    with pytest.warns(
        ConvergenceWarning,
        match=r"^the search was interrupted after generation 2 of 5: the best so far is kept$",
    ):
        stopped = model(callbacks=InterruptAt(2)).fit(*data)
    assert_same_search(stopped, model(max_epochs=2).fit(*data))
    assert stopped.predict(data[0]).shape == (60,)


def test_signal_in_a_generation_drops_that_generation(data, tmp_path):
    """The fitness of half a generation is worth nothing."""
    n_priors = 3
    scorer = InterruptingScorer(n_priors + 2 * 6 + 4)
    with pytest.warns(ConvergenceWarning, match="interrupted after generation 1 of 5"):
        stopped = model(scoring=scorer, checkpoint=tmp_path / "a").fit(*data)
    assert_same_search(stopped, model(scoring=InterruptingScorer(0), max_epochs=1).fit(*data))
    resumed = model(scoring=InterruptingScorer(0), checkpoint=tmp_path / "a").fit(*data)
    assert_same_search(resumed, model(scoring=InterruptingScorer(0)).fit(*data))


def test_signal_around_an_estimator_keeps_a_model(data):
    search = around_estimator(scoring=InterruptingScorer(3 + 6 + 2))
    with pytest.warns(ConvergenceWarning, match="interrupted after generation 0 of 5"):
        search.fit(*data)
    assert search.n_evaluations_ == 6
    assert search.predict_proba(data[0]).shape == (60, 2)


@pytest.mark.parametrize("call", [2, 3, 4, 9], ids=lambda call: f"call {call}")
@pytest.mark.parametrize("around", ["machine", "estimator"])
def test_interruption_before_the_first_generation_keeps_the_best_prior(data, call, around):
    """Three candidates are priors, six the first generation."""
    made = model() if around == "machine" else around_estimator()
    made.set_params(scoring=InterruptingScorer(call))
    with pytest.warns(ConvergenceWarning, match="interrupted before its first generation"):
        made.fit(*data)
    assert made.n_evaluations_ == 0
    assert len(made.prior_scores_) == min(call - 1, 3)
    assert made.best_score_ == max(made.prior_scores_.values())
    assert set(made.predict(data[0])) <= {0, 1}


@pytest.mark.parametrize("around", ["machine", "estimator"])
def test_interruption_before_the_first_score_leaves_the_estimator_alone(data, around):
    made = model() if around == "machine" else around_estimator()
    made.set_params(scoring=InterruptingScorer(1))
    before = dict(made.__dict__)
    with pytest.raises(KeyboardInterrupt):
        made.fit(*data)
    assert made.__dict__ == before
    made.scoring.n_calls = 100
    fitted = dict(made.fit(*data).__dict__)
    made.scoring.n_calls = 0
    with pytest.raises(KeyboardInterrupt):
        made.fit(*data)
    assert made.__dict__ == fitted


@pytest.mark.parametrize("generation", [0, 1, 4, 5])
def test_interrupted_search_goes_on_with_its_checkpoint(data, tmp_path, generation):
    fitted = model(checkpoint=tmp_path / "a", callbacks=InterruptAt(generation))
    with pytest.warns(ConvergenceWarning, match=f"after generation {generation} of 5"):
        fitted.fit(*data)
    assert len(np.load(tmp_path / "a")["fitness"]) == generation + 1
    assert_same_search(fitted.set_params(callbacks=None).fit(*data), model().fit(*data))


def test_search_interrupted_many_times_ends_the_same(data, tmp_path):
    for generation in range(5):
        with pytest.warns(ConvergenceWarning, match=f"after generation {generation} of 5"):
            model(checkpoint=tmp_path / "a", callbacks=InterruptAt(generation)).fit(*data)
    assert_same_search(model(checkpoint=tmp_path / "a").fit(*data), model().fit(*data))


def test_error_of_a_callback_leaves_the_estimator_alone_and_the_file_complete(data, tmp_path):
    def fail(progress):
        if progress.generation == 3:
            raise ZeroDivisionError

    fitted = model(max_epochs=1).fit(*data)
    before = dict(fitted.__dict__)
    settings = {"max_epochs": 5, "checkpoint": tmp_path / "a", "callbacks": fail}
    with pytest.raises(ZeroDivisionError):
        fitted.set_params(**settings).fit(*data)
    assert fitted.__dict__ == {**before, **settings}
    assert_same_search(model(checkpoint=tmp_path / "a").fit(*data), model().fit(*data))


# Progress.


@pytest.mark.parametrize("around", ["machine", "estimator"])
def test_callbacks_are_told_every_generation(data, around):
    seen = []
    made = model() if around == "machine" else around_estimator()
    fitted = made.set_params(callbacks=seen.append).fit(*data)
    assert all(isinstance(progress, SearchProgress) for progress in seen)
    assert [p.generation for p in seen] == list(range(6))
    assert [p.n_evaluations for p in seen] == list(range(6, 37, 6))
    assert {p.max_epochs for p in seen} == {5}
    told = pd.DataFrame(
        [(p.generation, p.n_evaluations, p.best_score, p.mean_score, p.std) for p in seen],
        columns=fitted.history_.columns,
    )
    assert told.equals(fitted.history_)
    seconds = [p.seconds for p in seen]
    assert seconds == sorted(seconds)
    assert seconds[0] > 0
    assert seen[-1].best_score == fitted.best_score_ >= max(p.mean_score for p in seen)


def test_progress_is_that_of_a_slow_loop():
    rng, seen = np.random.default_rng(1), []
    literal, best, rows = BacktrackingSearch(BOX, 5, np.random.default_rng(1)), np.inf, []
    for generation in range(4):
        losses = bowl(literal.ask())
        literal.tell(losses)
        best = min(best, losses.min())
        rows.append((generation, 5 * (generation + 1), -best, -losses.mean(), losses.std()))
    SearchRun("bsa", 5, 3, callbacks=[seen.append]).evolve(bowl, BOX, {}, rng)
    told = [(p.generation, p.n_evaluations, p.best_score, p.mean_score, p.std) for p in seen]
    assert_allclose(told, rows, rtol=1e-14)


@pytest.mark.parametrize("answer", [True, np.True_], ids=repr)
def test_callback_that_returns_true_stops_the_search(data, answer):
    stopped = model(callbacks=lambda p: answer if p.generation == 2 else None).fit(*data)
    assert_same_search(stopped, model(max_epochs=2).fit(*data))
    assert stopped.n_evaluations_ == 18


@pytest.mark.parametrize("answer", [None, False, 0, "words", [1], np.False_], ids=repr)
def test_any_other_answer_of_a_callback_does_not(data, answer):
    assert model(callbacks=lambda _: answer).fit(*data).n_evaluations_ == 36


def test_all_callbacks_are_told_even_if_one_stops_the_search(data):
    seen = []
    model(callbacks=[lambda _: True, lambda p: seen.append(p.generation)]).fit(*data)
    assert seen == [0]


def test_replayed_generations_are_old_news(data, tmp_path):
    seen = []
    model(checkpoint=tmp_path / "a", max_epochs=2).fit(*data)
    model(checkpoint=tmp_path / "a", callbacks=lambda p: seen.append(p.generation)).fit(*data)
    assert seen == [3, 4, 5]


def test_verbose_one_shows_a_bar_on_stderr_only(data, capfd):
    model(verbose=1).fit(*data)
    shown = capfd.readouterr()
    assert shown.out == ""
    assert "6/6" in shown.err
    assert "best=" in shown.err


@pytest.mark.parametrize("verbose", [0, 2])
def test_other_verbosity_shows_no_bar(data, capfd, verbose):
    model(verbose=verbose).fit(*data)
    assert capfd.readouterr() == ("", "")


def test_verbose_two_logs_every_generation(data, caplog):
    with caplog.at_level(logging.INFO, logger="ecselm"):
        fitted = model(verbose=2).fit(*data)
    lines = [record.getMessage() for record in caplog.records]
    assert lines.pop(0) == f"evaluated by {fitted.engine_}"
    assert len(lines) == 6
    assert {record.name for record in caplog.records} == {"ecselm.estimators._cost_search"}
    assert lines[-1].startswith(f"generation 5 of 5: best {fitted.best_score_:.6g}, mean ")
    caplog.clear()
    with caplog.at_level(logging.INFO, logger="ecselm"):
        model(verbose=1).fit(*data)
    assert not caplog.records


# Limits.


@pytest.mark.parametrize("patience", [1, 3])
def test_patience_counts_generations_without_a_better_fitness(data, patience):
    flat = model(scoring=lambda *_: 0.5, smoothing=0.0, patience=patience, max_epochs=50)
    assert len(flat.fit(*data).history_) == patience + 1


def test_patience_waits_for_as_long_as_there_is_progress(data):
    fitted = model(patience=2, max_epochs=60).fit(*data)
    best = fitted.history_["best"].to_numpy()
    gains = np.flatnonzero(np.diff(best) > 0) + 1
    assert len(best) < 61
    assert len(best) - 1 - gains.max(initial=0) == 2
    assert (np.diff(np.append(0, gains)) <= 2).all()


def test_no_time_leaves_one_generation(data):
    fitted = model(max_time=1e-9).fit(*data)
    assert_same_search(fitted, model(max_epochs=0).fit(*data))


def test_search_stopped_for_time_goes_on(data, tmp_path):
    for _ in range(3):
        stopped = model(max_time=1e-9, checkpoint=tmp_path / "a").fit(*data)
    assert len(stopped.history_) == 1  # the replay takes time as well
    assert_same_search(model(checkpoint=tmp_path / "a").fit(*data), model().fit(*data))


def test_search_stopped_by_patience_is_replayed_to_the_same_end(data, tmp_path):
    settings = {"patience": 2, "max_epochs": 60, "checkpoint": tmp_path / "a"}
    first, seen = model(**settings).fit(*data), []
    again = model(**settings, callbacks=seen.append).fit(*data)
    assert_same_search(again, first)
    assert seen == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_epochs", -1),
        ("population_size", 0),
        ("patience", 0),
        ("max_time", 0.0),
        ("optimizer", "annealing"),
        ("callbacks", 3),
        ("checkpoint", 3),
        ("n_jobs", "all"),
    ],
)
def test_limits_that_mean_nothing_are_refused_by_name(data, name, value):
    with pytest.raises(ValueError, match=f"'{name}' parameter of ECSELMClassifier"):
        model(**{name: value}).fit(*data)


def test_run_tells_its_checkpoint_every_generation_it_evaluates(tmp_path):
    rng = np.random.default_rng
    evaluated = []

    def objective(points):
        evaluated.append(len(points))
        return bowl(points)

    identity = {"search": "this one"}
    for max_epochs, expected in ((2, 3), (6, 4), (6, 0)):
        evaluated.clear()
        steps = Steps(Checkpoint(tmp_path / "a", identity, 0))
        found = SearchRun("de", 8, max_epochs, steps=steps).evolve(objective, BOX, {}, rng(4))
        assert evaluated == [8] * expected
    whole = SearchRun("de", 8, 6).evolve(bowl, BOX, {}, rng(4))
    assert_array_equal(found.point, whole.point)
    assert found.history.generations == whole.history.generations
