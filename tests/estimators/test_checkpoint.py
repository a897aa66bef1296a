"""The file of a search: complete at every moment, of one search only, and never executed."""

import json
import os
import pickle
import zipfile
from copy import copy
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import fbeta_score, make_scorer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from threadpoolctl import threadpool_limits

from ecselm.estimators import _checkpoint as module
from ecselm.estimators._checkpoint import Checkpoint, identity_of, stored_seed
from ecselm.search import BacktrackingSearch
from tests.estimators.plain import one_machine, plain_search

IDENTITY = {"C": "one", "X": "two"}
BUDGET = {"population_size": 6, "max_epochs": 3, "random_state": 0}


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Small fits take no longer beside another process."""
    with threadpool_limits(1):
        yield


@pytest.fixture
def data(rng):
    X = rng.standard_normal((60, 3))
    return X, (X[:, 0] + 0.5 * rng.standard_normal(60) > 0.7).astype(int)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "search.npz"


def model(path, **changes):
    return one_machine(**{"n_hidden": 8, **BUDGET, "checkpoint": path, **changes})


class Forbidden:
    """A scorer that no candidate may reach."""

    def __call__(self, *_):
        raise AssertionError("a candidate was evaluated")


class Untouched(LogisticRegression):
    """A classifier that may not be fitted."""

    def fit(self, X, y, sample_weight=None):
        raise AssertionError("an estimator was fitted")


def counting(calls):
    def scorer(model, X, y):
        calls.append(1)
        return model.score(X, y)

    return scorer


def assert_same_search(one, other):
    assert_array_equal(one.cost_vector_, other.cost_vector_)
    assert_array_equal(one.class_costs_, other.class_costs_)
    assert one.best_score_ == other.best_score_
    assert one.history_.equals(other.history_)


def test_fitness_comes_back_bit_for_bit(path, rng):
    first = Checkpoint(path, IDENTITY, seed=2**127 + 1)
    told = [rng.standard_normal(5) * 10.0 ** rng.integers(-300, 300) for _ in range(4)]
    told[2][:2] = np.inf, np.nan
    for fitness in told:
        first.add(fitness)
    first.save()
    again = Checkpoint(path, IDENTITY, seed=0).fitness
    assert [fitness.tobytes() for fitness in again] == [fitness.tobytes() for fitness in told]


def test_seed_of_any_size_comes_back(path):
    Checkpoint(path, IDENTITY, seed=2**127 + 1)
    assert stored_seed(path) == 2**127 + 1
    assert stored_seed(path.with_name("no such file")) is None
    assert stored_seed(None) is None


def test_fitness_added_is_a_copy(path):
    known, fitness = Checkpoint(path, IDENTITY, 0), np.ones(3)
    known.add(fitness)
    fitness[:] = 7.0
    known.fitness.append("nothing of its own")
    assert_array_equal(known.fitness, [np.ones(3)])


def test_a_generation_is_saved_unless_writing_would_take_too_long(path):
    known = Checkpoint(path, IDENTITY, 0)
    known._took = 0.0
    known.add(np.ones(2))
    assert len(Checkpoint(path, IDENTITY, 0).fitness) == 1
    known._took = 1e9  # the next file may wait
    known.add(np.ones(2))
    assert len(Checkpoint(path, IDENTITY, 0).fitness) == 1
    known.save()
    assert len(Checkpoint(path, IDENTITY, 0).fitness) == 2


@pytest.mark.parametrize("error", [OSError(28, "no space left"), KeyboardInterrupt()], ids=repr)
@pytest.mark.parametrize("place", ["fsync", "replace", "write_bytes"])
def test_save_that_fails_leaves_the_old_file_and_no_other(path, monkeypatch, place, error):
    """A disk that fails is warned of once; an interrupt goes through."""
    known = Checkpoint(path, IDENTITY, 5)
    known.add(np.ones(2))
    known.save()
    before = path.read_bytes()

    def fail(*_, **__):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(os if place == "fsync" else Path, place, fail)
        known._took = 0.0
        if isinstance(error, OSError):
            with pytest.warns(
                RuntimeWarning, match=r"^checkpoint must .*: .*space left.*; the fit"
            ):
                known.add(np.zeros(2))
            known.save()
        else:
            with pytest.raises(KeyboardInterrupt):
                known.add(np.zeros(2))
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]  # noqa: PTH208
    known.save()
    assert_array_equal(Checkpoint(path, IDENTITY, 5).fitness, [[1, 1], [0, 0]])


def test_file_is_replaced_only_when_it_is_on_disk(path, monkeypatch):
    """There is no moment at which the name belongs to half a file."""
    steps, sync, replace = [], os.fsync, Path.replace

    def synced(descriptor):
        steps.append("sync")
        return sync(descriptor)

    def replaced(source, target):
        complete = dict(np.load(source))
        steps.append(f"replace by {sorted(complete)}")
        return replace(source, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", replaced)
    Checkpoint(path, IDENTITY, 0)
    assert steps[:2] == ["sync", "replace by ['fitness', 'header']"]


def damaged_files():
    text = json.dumps({"seed": "1"}).encode()
    return {
        "empty": b"",
        "words": b"what is this?",
        "pickle": pickle.dumps({"seed": 1, "fitness": [1.0]}),
        "picture": b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
        "archive of nothing": b"PK\x05\x06" + bytes(18),
        "numbers": np.ones(3).tobytes(),
        "json": text,
    }


@pytest.mark.parametrize("kind", sorted(damaged_files()))
@pytest.mark.parametrize("seed", [0, None])
def test_file_that_is_no_checkpoint_is_refused_and_kept(path, data, kind, seed):
    path.write_bytes(damaged_files()[kind])
    with pytest.raises(ValueError, match=r"^checkpoint must be a file that a search has writ"):
        model(path, scoring=Forbidden(), random_state=seed).fit(*data)
    assert path.read_bytes() == damaged_files()[kind]
    assert os.listdir(path.parent) == [path.name]  # noqa: PTH208


@pytest.mark.parametrize(
    "arrays",
    [
        {"header": np.frombuffer(b"[1, 2]", np.uint8), "fitness": np.ones((1, 6))},
        {"header": np.frombuffer(b"7", np.uint8), "fitness": np.ones((1, 6))},
        {"header": np.frombuffer(b"{}", np.uint8), "fitness": np.ones((1, 6))},
        {"header": np.frombuffer(b"\xff\xfe", np.uint8), "fitness": np.ones((1, 6))},
        {"header": np.array("words"), "fitness": np.ones((1, 6))},
        {"fitness": np.ones((1, 6))},
        {"header": np.frombuffer(b'{"seed": "x", "identity": {}}', np.uint8)},
        {"header": np.frombuffer(b'{"seed": "1", "identity": 3}', np.uint8), "fitness": 1.0},
        {"header": np.frombuffer(b'{"seed": "1", "identity": {}}', np.uint8), "fitness": "a"},
    ],
    ids=lambda arrays: str(sorted(arrays)),
)
def test_archive_of_other_things_is_refused(path, arrays):
    with path.open("wb") as file:
        np.savez(file, **arrays)
    with pytest.raises(ValueError, match="checkpoint must be a file that a search has written"):
        Checkpoint(path, IDENTITY, 0)


def test_single_array_and_folder_are_refused(path):
    with path.open("wb") as file:
        np.save(file, np.ones(3))
    for place in (path, path.parent):
        with pytest.raises(ValueError, match="checkpoint must be a file that a search has written"):
            Checkpoint(place, IDENTITY, 0)


def test_file_cut_anywhere_is_refused(path):
    known = Checkpoint(path, IDENTITY, 5)
    known.add(np.arange(4.0))
    known.save()
    whole = path.read_bytes()
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match="is not one or is damaged"):
            Checkpoint(path, IDENTITY, 5)
        assert path.stat().st_size == length


def test_file_with_any_byte_changed_is_refused_or_says_the_same(path):
    """Checksums cover the contents; some bytes, such as those of dates, mean nothing."""
    known = Checkpoint(path, IDENTITY, 5)
    known.add(np.arange(4.0))
    known.save()
    whole, n_refused = path.read_bytes(), 0
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        try:
            assert stored_seed(path) == 5
            assert_array_equal(Checkpoint(path, IDENTITY, 5).fitness, [np.arange(4.0)])
        except ValueError as error:
            assert "checkpoint must" in str(error)  # noqa: PT017
            n_refused += 1
    assert n_refused > 0.5 * len(whole)


class Bomb:
    """Creates a file when it is unpickled."""

    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return Path.touch, (Path(self.marker),)


@pytest.mark.parametrize("place", ["whole file", "header", "fitness"])
@pytest.mark.parametrize("seed", [0, None])
def test_nothing_in_the_file_is_executed(tmp_path, data, place, seed):
    path, marker = tmp_path / "search.npz", tmp_path / "marker"
    bomb = np.array([Bomb(marker)], dtype=object)
    header = np.frombuffer(b'{"seed": "1", "identity": {}}', np.uint8)
    with path.open("wb") as file:
        if place == "whole file":
            pickle.dump(Bomb(marker), file)
        elif place == "header":
            np.savez(file, header=bomb, fitness=np.ones((1, 6)))
        else:
            np.savez(file, header=header, fitness=bomb)
    with pytest.raises(ValueError, match="checkpoint must be a file that a search has written"):
        model(path, random_state=seed).fit(*data)
    assert not marker.exists()
    if place == "whole file":
        pickle.loads(path.read_bytes())
        assert marker.exists()  # the bomb was no dud


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({"C": 1.0}, "another C;"),
        ({"n_hidden": 9}, "another n_hidden;"),
        ({"population_size": 7}, "another population_size;"),
        ({"optimizer": "de"}, "another optimizer;"),
        ({"scoring": "gmean"}, "another scoring;"),
        ({"smoothing": 0.0}, "another smoothing;"),
        ({"random_state": 1}, "another random_state, splits;"),
        ({"cost": {(1, 0): 5.0}}, "another cost, costs, first population;"),
        ({"priors": ("w1",), "normalize": False}, "another first population, normalize, priors;"),
    ],
    ids=str,
)
def test_file_of_other_settings_is_refused_by_name(path, data, changes, names):
    model(path).fit(*data)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=names) as refusal:
        model(path, **changes).fit(*data)
    sentence = str(refusal.value)
    assert sentence.startswith("checkpoint must belong to this search, got ")
    assert repr(str(path)) in sentence
    assert "\n" not in sentence
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]  # noqa: PTH208


@pytest.mark.parametrize("name", ["X", "y", "sample_weight", "costs"])
def test_file_of_other_data_is_refused_by_name(path, data, name):
    X, y = data
    fitted = model(path).fit(X, y)
    before, state = path.read_bytes(), dict(fitted.__dict__)
    given = {"X": X.copy(), "y": y.copy()}
    if name in given:
        given[name][7] = 1 - given[name][7]
    else:
        key = {"costs": "sample_cost"}.get(name, name)
        given[key] = np.linspace(1, 2, len(y))
    with pytest.raises(ValueError, match=rf"of one with another .*\b{name}\b"):
        fitted.fit(**given)
    assert path.read_bytes() == before
    assert fitted.__dict__ == state


@pytest.mark.parametrize("field", ["scoring", "optimizer", "fitness"])
def test_file_of_another_object_with_the_same_type_is_refused(path, data, field):
    """An object counts by what it holds, not by its type alone."""
    one, other = {
        "scoring": [make_scorer(fbeta_score, beta=beta) for beta in (0.5, 2.0)],
        "optimizer": [partial(BacktrackingSearch, mixrate=rate) for rate in (0.5, 1.0)],
        "fitness": [StratifiedKFold(3, shuffle=True, random_state=seed) for seed in (0, 1)],
    }[field]
    first = model(path, **{field: one}).fit(*data)
    assert_same_search(model(path, **{field: one}).fit(*data), first)
    with pytest.raises(ValueError, match=f"another {field}"):
        model(path, **{field: other}).fit(*data)


@pytest.mark.parametrize(
    "changes",
    [
        {"max_epochs": 5},
        {"max_epochs": 1},
        {"n_jobs": 2},
        {"max_samples": None},
        {"patience": 100},
        {"max_time": 1000.0},
        {"callbacks": print},
        {"callbacks": [lambda _: None]},
        {"warm_start": True},
        {"verbose": 2},
        {"checkpoint": "as text"},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_what_only_runs_the_search_may_differ(path, data, changes, capsys):
    model(path).fit(*data)
    if "checkpoint" in changes:
        changes = {"checkpoint": str(path)}
    resumed = model(path, **changes).fit(*data)
    assert_same_search(resumed, model(None, max_epochs=resumed.max_epochs).fit(*data))


def test_a_shorter_run_keeps_what_the_file_has(path, data):
    model(path, max_epochs=6).fit(*data)
    before = path.read_bytes()
    model(path, max_epochs=2).fit(*data)
    assert len(np.load(path)["fitness"]) == 7
    assert np.load(path)["header"].tobytes() in before


@pytest.mark.parametrize("cost_level", ["class", "sample", "matrix"])
def test_finished_search_is_replayed_without_an_evaluation(path, data, cost_level):
    calls = []
    settings = {"scoring": counting(calls), "cost_level": cost_level, "cost_bounds": (0.1, 10)}
    first = model(path, priors=(), **settings).fit(*data)
    assert len(calls) == first.n_evaluations_ == 24
    replayed = model(path, priors=(), **settings).fit(*data)
    assert len(calls) == 24
    assert replayed.n_evaluations_ == 24
    assert_same_search(replayed, first)
    assert_array_equal(replayed.beta_, first.beta_)


def test_replay_evaluates_nothing_but_priors(path, data):
    calls = []
    first = model(path, scoring=counting(calls)).fit(*data)
    n_first = len(calls)
    replayed = model(path, scoring=counting(calls)).fit(*data)
    assert len(calls) - n_first <= len(first.prior_scores_) == 3
    assert replayed.prior_scores_ == first.prior_scores_
    assert_same_search(replayed, first)


@pytest.mark.parametrize(
    ("level", "n_first", "n_again"), [("class", 2 * 24 + 1, 1), ("decision", 3, 1)]
)
def test_finished_search_around_an_estimator_fits_candidates_no_more(
    path, data, level, n_first, n_again
):
    """The last fit, on all rows, is made again."""
    fits = []

    class Counted(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            fits.append(1)
            return super().fit(X, y, sample_weight)

    search = plain_search(
        Counted(), cost_level=level, priors=(), fitness=2, checkpoint=path, **BUDGET
    )
    costs = search.fit(*data).cost_matrix_
    assert len(fits) == n_first
    assert_array_equal(search.fit(*data).cost_matrix_, costs)
    assert len(fits) == n_first + n_again


@pytest.mark.parametrize("level", ["class", "decision"])
def test_path_that_cannot_be_written_to_is_refused_before_any_fit(tmp_path, data, level):
    (tmp_path / "file").write_text("not a folder")
    for place in (tmp_path / "missing" / "search.npz", tmp_path / "file" / "search.npz"):
        search = plain_search(Untouched(), cost_level=level, checkpoint=place, **BUDGET)
        with pytest.raises(ValueError, match=r"^checkpoint must be a path that can be written"):
            search.fit(*data)
        assert not hasattr(search, "classes_")
    assert os.listdir(tmp_path) == ["file"]  # noqa: PTH208


@pytest.mark.parametrize("level", ["class", "decision"])
def test_file_of_another_search_is_refused_before_any_fit(path, data, level):
    Checkpoint(path, IDENTITY, 0)
    search = plain_search(Untouched(), cost_level=level, checkpoint=path, **BUDGET)
    with pytest.raises(ValueError, match="checkpoint must belong to this search"):
        search.fit(*data)


def test_missing_folder_is_refused_before_a_candidate(tmp_path, data):
    with pytest.raises(ValueError, match="No such file or directory"):
        model(tmp_path / "missing" / "search.npz", scoring=Forbidden()).fit(*data)
    assert not os.listdir(tmp_path)  # noqa: PTH208


@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied"), OSError(30, "Read")])
def test_folder_that_may_not_be_written_to_is_refused(path, data, monkeypatch, error):
    def refuse(*_, **__):
        raise error

    monkeypatch.setattr(Path, "write_bytes", refuse)
    with pytest.raises(ValueError, match=r"^checkpoint must be a path that can be .*Read|Perm"):
        model(path, scoring=Forbidden()).fit(*data)


@pytest.mark.parametrize("is_freed", [False, True])
def test_disk_that_fills_up_is_warned_of_once_and_the_fit_goes_on(
    path, data, monkeypatch, is_freed
):
    calls, write = [], Path.write_bytes

    def full(*arguments):
        calls.append(1)
        if len(calls) == 4 or (len(calls) > 4 and not is_freed):
            raise OSError(28, "No space left on device")
        return write(*arguments)

    monkeypatch.setattr(module, "SHARE", 1e9)  # every step is saved
    expected = model(None).fit(*data)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.warns(RuntimeWarning, match="No space left on device; the fit goes") as warned:
            fitted = model(path).fit(*data)
    (message,) = [str(one.message) for one in warned]
    assert message.startswith(
        f"checkpoint must be a path that can be written to, got {str(path)!r}"
    )
    assert_same_search(fitted, expected)
    # The first file, the priors, a generation.
    assert len(np.load(path)["fitness"]) == (4 if is_freed else 1)
    assert os.listdir(path.parent) == [path.name]  # noqa: PTH208
    assert_same_search(model(path).fit(*data), expected)


def test_arrays_of_steps_come_back_bit_for_bit(path, rng):
    first = Checkpoint(path, IDENTITY, 0)
    step = {"a": rng.standard_normal((2, 3)), "b": np.float32(rng.random(4)), "n": np.array(3)}
    first.put("one step", step)
    first.put("another", {"a": np.ones(1)})
    first.put("another", {"a": np.zeros(1)})
    first.add(np.ones(2), "of a fold")
    first.save()
    again = Checkpoint(path, IDENTITY, 0)
    found = again.step("one step")
    assert set(found) == set(step)
    assert all(found[name].tobytes() == step[name].tobytes() for name in step)
    assert all(found[name].dtype == step[name].dtype for name in step)
    assert_array_equal(again.step("another")["a"], [0.0])
    assert again.step("a third") is None
    assert_array_equal(again.generations("of a fold"), [[1.0, 1.0]])
    assert again.fitness == []


def test_file_of_an_earlier_format_is_refused_in_one_sentence(path):
    header = json.dumps({"seed": "1", "identity": IDENTITY}).encode()
    with path.open("wb") as file:
        np.savez(file, header=np.frombuffer(header, np.uint8), fitness=np.ones((1, 6)))
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"^checkpoint must be of format 2, got .* of format 1; d"):
        Checkpoint(path, IDENTITY, 0)
    assert path.read_bytes() == before


def test_arrays_that_name_the_same_bytes_are_refused(path):
    """Their memory would not be bounded by the size of the file."""
    known = Checkpoint(path, IDENTITY, 0)
    known.put("step", {"a": np.zeros(1000)})
    known.save()
    with zipfile.ZipFile(path, "a") as archive:
        info = archive.getinfo("step/a.npy")
        for i in range(5):
            archive.filelist.append(copy(info))
            archive.filelist[-1].filename = f"step/{i}.npy"
        archive._didModify = True
    with pytest.raises(ValueError, match="at most 10000 arrays in"):
        Checkpoint(path, IDENTITY, 0)


def test_random_stream_of_our_own_is_kept_in_the_file(path, data):
    """Without a random state there is still one search per file."""
    first = model(path, random_state=None, max_epochs=2).fit(*data)
    path.with_name("copy").write_bytes(path.read_bytes())
    longer = [
        model(place, random_state=None).fit(*data) for place in (path, path.with_name("copy"))
    ]
    assert_same_search(*longer)
    assert longer[0].history_[:3].equals(first.history_)
    # Two searches may well learn the same costs: what must differ is the stream.
    model(path.with_name("other"), random_state=None).fit(*data)
    assert stored_seed(path) != stored_seed(path.with_name("other"))


def test_frame_put_together_otherwise_is_the_same_data(path, data):
    """What counts is what a frame holds, not how pandas keeps it."""
    import pandas as pd

    X, y = data
    piecewise = pd.DataFrame({"a": X[:, 0].copy()})
    for i, name in enumerate("bc", start=1):
        piecewise[name] = X[:, i]
    search = plain_search(LogisticRegression(), checkpoint=path, **BUDGET)
    first = search.fit(piecewise, y).cost_matrix_
    again = search.fit(pd.DataFrame(X, columns=list("abc")), y)
    assert_array_equal(again.cost_matrix_, first)


def test_pipeline_with_a_lambda_counts_by_the_rest_of_its_parameters():
    def piped(C):
        return make_pipeline(FunctionTransformer(lambda X: X), LogisticRegression(C=C))

    assert identity_of({"estimator": piped(1.0)}) == identity_of({"estimator": piped(1.0)})
    assert identity_of({"estimator": piped(1.0)}) != identity_of({"estimator": piped(2.0)})


def test_identity_tells_values_apart_and_equal_ones_not():
    def named(): ...

    values = {"a": np.arange(3), "b": {"x": 1, "y": 2}, "c": named, "d": None, "e": lambda: 0}
    again = {"a": np.arange(3), "b": {"y": 2, "x": 1}, "c": named, "d": None, "e": lambda: 1}
    assert identity_of(values) == identity_of(again)
    other = {"a": np.arange(3.0), "b": {"x": 2, "y": 1}, "c": print, "d": 0, "e": "words"}
    ours, theirs = identity_of(values), identity_of(other)
    assert all(ours[name] != theirs[name] for name in values)
