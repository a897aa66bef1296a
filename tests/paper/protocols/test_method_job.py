from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.preprocessing import StandardScaler

from ecselm.estimators import NoFiniteFitnessError
from ecselm.paper.datasets import Dataset
from ecselm.paper.jobs import Measurement
from ecselm.paper.methods import Method, registry
from ecselm.paper.protocols import Budget, Item
from ecselm.paper.protocols.faces import SIMILARITIES
from ecselm.paper.protocols.items import Part, Setting, plain, varied
from ecselm.paper.protocols.protocol import Case, Protocol, random_splits
from ecselm.paper.protocols.reproduction import plan_item


def numbered():
    """Return rows that say which they are."""
    X = np.column_stack([np.arange(90.0), np.ones(90)])
    return Dataset("numbered", X, np.arange(90) % 3, "Made here.", np.arange(3))


class Spy(ClassifierMixin, BaseEstimator):
    """Remembers what it was shown, in which order."""

    seen: ClassVar[list] = []

    def __init__(self, depth=1, random_state=None):
        self.depth = depth
        self.random_state = random_state

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.seen.append(("fit", self.depth, set(X[:, 0])))
        return self

    def predict(self, X):
        self.seen.append(("predict", self.depth, set(X[:, 0])))
        return np.full(len(X), self.classes_[0])


class SpyBefore(TransformerMixin, BaseEstimator):
    """Remembers the rows it was fitted on."""

    fitted: ClassVar[list] = []

    def fit(self, X, y=None):
        self.fitted.append(set(X[:, 0]))
        return self

    def transform(self, X):
        return X


def evaluate_rows(model, X, y, data):
    model.predict(X)
    return (Measurement("rows", float((X[:, 0] ** 2).sum())),)


PROTOCOL = Protocol(
    "spied",
    "classification",
    lambda: (Case("numbered", "synthetic", numbered),),
    random_splits(60, 30),
    evaluate_rows,
    SpyBefore,
)


@pytest.fixture
def spy(monkeypatch):
    Spy.seen.clear()
    SpyBefore.fitted.clear()
    method = Method("Spy", "classification", make=Spy, grid={"depth": [1, 2, 3]})
    monkeypatch.setattr(registry, "_ALL", (*registry._ALL, method))
    return Spy.seen


def jobs_of(*names, budget):
    return plan_item(Item("toy", "A toy", (Part(PROTOCOL, plain(names)),)), budget, 0)


@pytest.mark.parametrize("tuned", [True, False])
def test_test_rows_never_reach_tuning_nor_transformers(spy, tuned):
    job = jobs_of("Spy", budget=Budget(repeats=1, tuned=tuned))[0]
    train, test = (
        set(rows.astype(float)) for rows in PROTOCOL.splits(numbered(), job.budget, 0)[0]
    )
    job.run()
    *chosen, last = spy
    assert last[0] == "predict"
    assert last[2] == test
    assert all(rows <= train for _, _, rows in chosen)
    assert all(rows <= train for rows in SpyBefore.fitted)
    assert {depth for _, depth, _ in chosen} == ({1, 2, 3} if tuned else {1})


class GroupSpy(Spy):
    """Remembers the groups it was given."""

    given: ClassVar[list] = []

    def fit(self, X, y, groups=None):
        self.given.append((set(X[:, 0]), groups))
        return super().fit(X, y)


@pytest.mark.parametrize("tuned", [True, False])
def test_folds_keep_groups_whole_and_methods_get_the_groups(spy, monkeypatch, tuned):
    GroupSpy.given.clear()
    method = Method("Spy", "classification", make=GroupSpy, grid={"depth": [1, 2]})
    monkeypatch.setattr(registry, "_ALL", (method,))
    protocol = replace(PROTOCOL, groups=lambda data, seed, split: data.X[:, 0] // 5)
    item = Item("toy", "A toy", (Part(protocol, plain(["Spy"])),))
    job = plan_item(item, Budget(repeats=1, tuned=tuned), 0)[0]
    job.run()
    train = set(PROTOCOL.splits(numbered(), job.budget, 0)[0][0].astype(float))
    assert len(GroupSpy.given) == (7 if tuned else 1)
    for rows, groups in GroupSpy.given:
        assert groups.tolist() == [row // 5 for row in sorted(rows)]
        assert not {row // 5 for row in rows} & {row // 5 for row in train - rows}


def test_methods_without_groups_are_fitted_without_them(spy):
    protocol = replace(PROTOCOL, groups=lambda data, seed, split: data.X[:, 0] // 5)
    item = Item("toy", "A toy", (Part(protocol, plain(["Spy"])),))
    job = plan_item(item, Budget(repeats=1), 0)[0]
    job.run()
    fits = [rows for what, _, rows in spy if what == "fit"]
    whole = fits.pop()
    assert len(fits) == 9
    for rows in fits:
        assert not {row // 5 for row in rows} & {row // 5 for row in whole - rows}


def test_the_chosen_method_learns_from_all_training_rows(spy):
    job = jobs_of("Spy", budget=Budget(repeats=1))[0]
    job.run()
    train = PROTOCOL.splits(numbered(), job.budget, 0)[0][0]
    assert [rows for what, _, rows in spy if what == "fit"][-1] == set(train.astype(float))


def test_all_methods_are_tested_on_the_same_rows(spy):
    jobs = jobs_of("Spy", "NN", "ELM", "SVM", budget=Budget(repeats=3, tuned=False))
    values = {}
    for job in jobs:
        values.setdefault(job.split, set()).add(job.run().rows[0].value)
    assert [len(one) for one in values.values()] == [1, 1, 1]
    assert len(set.union(*values.values())) == 3


def test_a_job_run_twice_gives_the_same_rows(item, budget):
    for job in plan_item(item, budget, 0)[::2]:
        assert job.run().rows == job.run().rows


def test_searches_are_as_small_as_the_budget_says(item, budget):
    job = next(job for job in plan_item(item, budget, 5) if job.setting.method == "ECSELM")
    model = job._model(np.zeros((9, 6)), np.arange(9) % 3, job.case.load())[-1]
    assert (model.population_size, model.max_epochs, model.random_state) == (6, 6, 5)


def test_times_of_tuning_fitting_and_predicting_are_separate(item, budget):
    tuned = replace(budget, tuned=True, population=None)
    job = next(job for job in plan_item(item, tuned, 0) if job.setting.method == "ELM")
    spent = {row.at: row.value for row in job.run().seconds}
    assert list(spent) == ["prepare", "choose", "learn", "answer"]
    assert spent["prepare"] == 0
    assert spent["choose"] > spent["learn"] > 0


@pytest.fixture
def two_of_pairs(budget, tmp_path):
    """One job that keeps its similarities in a folder, and one that does not."""
    item = Item("toy", "A toy", (Part(SIMILARITIES, varied((5,), (10,), "L")[:1]),))
    return [plan_item(item, budget, 0, cache)[0] for cache in (tmp_path, None)]


def test_similarities_that_were_kept_change_nothing(two_of_pairs, tmp_path):
    keeping, alone = two_of_pairs
    expected = alone.run().rows
    assert keeping.run().rows == expected
    (kept,) = tmp_path.iterdir()
    changed = kept.stat().st_mtime_ns
    assert keeping.run().rows == expected
    assert kept.stat().st_mtime_ns == changed


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no zip", None], ids=["empty", "torn", "cut"])
def test_similarities_that_cannot_be_read_are_learned_anew(two_of_pairs, tmp_path, content):
    keeping, _ = two_of_pairs
    expected = keeping.run().rows
    (kept,) = tmp_path.iterdir()
    kept.write_bytes(kept.read_bytes()[:-100] if content is None else content)
    assert keeping.run().rows == expected


def test_costs_of_the_data_reach_what_takes_costs(rng):
    cost = np.array([[0.0, 1.0], [5.0, 0.0]])
    data = Dataset(
        "costly", rng.normal(size=(60, 2)), np.arange(60) % 2, "Made.", np.arange(2), cost
    )
    case = Case("costly", "synthetic", lambda: data)
    costly = replace(PROTOCOL, cases=lambda: (case,), before=StandardScaler, scoring="mean_cost")
    item = Item("toy", "A toy", (Part(costly, plain(["kernel ECSELM", "CSELM", "ELM"])),))
    for job in plan_item(item, Budget(repeats=1), 0):
        search = job._model(data.X, data.y, data)
        method = search.estimator[-1]
        assert "mean_cost" in str(search.scoring)
        if job.setting.method != "ELM":
            assert method.cost is cost
        if job.setting.method == "kernel ECSELM":
            assert method.scoring == "mean_cost"


class Unsolvable(Spy):
    """A search all of whose systems are singular."""

    def fit(self, X, y):
        raise NoFiniteFitnessError("got none")


def test_a_value_of_a_figure_without_a_solvable_system_has_no_result(spy, monkeypatch):
    method = Method("Spy", "classification", make=Unsolvable)
    monkeypatch.setattr(registry, "_ALL", (method,))
    settings = (Setting("Spy", (("depth", 2),), "C=2"), Setting("Spy", (("depth", 2),)))
    item = Item("toy", "A toy", (Part(PROTOCOL, settings),))
    varied_job, job = plan_item(item, Budget(repeats=1, tuned=False), 0)
    done = varied_job.run()
    assert (done.key, done.rows) == (varied_job.key, ())
    assert {one.at for one in done.seconds} == {"prepare", "choose", "learn", "answer"}
    with pytest.raises(NoFiniteFitnessError):
        job.run()
