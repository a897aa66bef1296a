from dataclasses import replace

import numpy as np
import pytest

from ecselm import ECSELMClassifier
from ecselm.paper.jobs import read_rows
from ecselm.paper.protocols import ITEMS, QUICK, reproduce
from ecselm.paper.protocols.access import (
    ACCESS,
    ACCESS_BY_GUESS,
    ACCESS_BY_ORDER,
    GUESS,
    STRANGER,
    TRUE_COSTS,
    known_order,
    mean_ordered_costs,
    relabel,
)
from ecselm.paper.protocols.items import find_item
from ecselm.paper.protocols.reproduction import plan_item

SHORT = replace(QUICK, repeats=1)
FAST = {"KELM", "CSLDA-NN"}


def with_fast_methods(item):
    """Return the item with methods that take no time."""
    parts = (
        replace(part, settings=tuple(one for one in part.settings if one.method in FAST))
        for part in item.parts
    )
    return replace(item, parts=tuple(parts))


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ECSELM_DATA", raising=False)
        patch.setitem(ITEMS, "access", with_fast_methods(ITEMS["access"]))
        return reproduce("access", tmp_path_factory.mktemp("access"), budget=SHORT)


@pytest.fixture(scope="module")
def jobs():
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ECSELM_DATA", raising=False)
        return plan_item(find_item("access"), SHORT, 0)


def made(jobs, name, budget=SHORT):
    """Return the estimator of a column, and what it is within."""
    job = replace(next(job for job in jobs if job.setting.name == name), budget=budget)
    data = job.case.load()
    train, _ = job.protocol.splits(data, budget, 0)[0]
    groups = job.protocol.groups(data, 0, 0)[train]
    data = job.protocol.relabel(data, 0, 0)
    model = job._model(data.X[train], data.y[train], data, groups)
    return model, getattr(model, "estimator", model)[-1]


def test_every_row_of_the_table_has_every_column_or_says_why_not(done):
    table = {row[0].partition(", ")[2]: row[1:] for row in done.table.rows}
    assert [name for name in table if name.startswith("mean cost")] == [
        f"mean cost {truth}" for truth in TRUE_COSTS
    ]
    assert done.table.header[1:] == (
        "KELM",
        "CSLDA-NN, order",
        "CSLDA-NN, guess",
        "CSLDA-NN, truth",
    )
    assert not any("-" in table[f"mean cost {truth}"] for truth in TRUE_COSTS)
    for name in ("let in unseen strangers", "let in known strangers", "rejected", "confused"):
        assert table[name][-1] == "-"
        assert "-" not in table[name][:-1]


def test_files_have_the_error_rates_of_methods_that_know_the_costs(done):
    frame = read_rows(done.folder / "results.parquet")
    mine = frame[(frame["method"] == "CSLDA-NN, truth") & (frame["metric"] == "rejected")]
    assert mine["at"].tolist() == [f"known costs {cost}" for cost in TRUE_COSTS]


def test_costs_are_the_sum_of_the_errors(done):
    frame = read_rows(done.folder / "results.parquet")
    mine = frame[frame["method"] == "KELM"].set_index(["metric", "at"])["value"]
    let_in = 150 * mine["let_in", "unseen strangers"] + 75 * mine["let_in", "known strangers"]
    for truth in TRUE_COSTS:
        members = 50 * (truth.rejected * mine["rejected", ""] + mine["confused", ""])
        total = (truth.let_in * let_in + members) / 275
        assert mine["mean_cost", str(truth)] == pytest.approx(total)


def test_methods_without_costs_are_fitted_once_for_all_costs(jobs):
    assert len([job for job in jobs if job.setting.name == "ELM"]) == 1
    assert len([job for job in jobs if job.setting.name == "mcKLR, truth"]) == len(TRUE_COSTS)


def test_ecselm_gets_the_order_alone(jobs):
    _, model = made(jobs, "ECSELM, order")
    assert model.cost_order == known_order()
    assert model.cost == mean_ordered_costs()
    assert (model.cost_level, model.activation, model.scoring) == ("class", "auto", "mean_cost")
    assert (model.n_hidden, model.scale) == (ECSELMClassifier().n_hidden, None)


def test_methods_with_true_costs_are_evaluated_by_these(jobs):
    for job in jobs:
        if job.setting.name.endswith("truth"):
            assert job.protocol.evaluate.true_costs == (job.protocol.cost,)
    _, model = made(jobs, "ECSELM, truth")
    assert model.cost == TRUE_COSTS[0]
    _, by_order = made(jobs, "ECSELM, order")
    assert model.set_params(cost=by_order.cost).get_params() == by_order.get_params()


def test_parameters_are_tuned_for_the_given_costs(jobs):
    search, model = made(jobs, "CSLDA-NN, guess", replace(SHORT, tuned=True))
    assert GUESS in model.get_params().values()
    assert search.scoring._kwargs == {"cost": GUESS}


@pytest.mark.parametrize("name", ["KELM", "mcKLR, order", "CSLDA-NN, guess", "mcKLR, truth"])
def test_no_stranger_is_on_both_sides_of_a_tuning_split(jobs, name):
    search, _ = made(jobs, name, replace(SHORT, tuned=True))
    data = jobs[0].case.load()
    who, y = data.y[jobs[0].protocol.splits(data, SHORT, 0)[0][0]], relabel(data, 0, 0).y
    strange = {person for person in set(who) if set(y[data.y == person]) == {STRANGER}}
    for train, test in search.cv:
        assert not set(who[train]) & set(who[test]) & strange
        assert set(who[train]) & set(who[test])  # pictures of members are split


def test_methods_without_costs_are_tuned_for_accuracy():
    assert ACCESS.scoring == "accuracy"
    assert ACCESS.cost is None
    assert ACCESS_BY_GUESS.cost == GUESS
    assert ACCESS_BY_ORDER.cost == mean_ordered_costs()


def test_training_rows_have_no_unseen_strangers(jobs):
    seen = []

    class Spy:
        def fit(self, X, y):
            seen.append(np.unique(y))
            return self

        def predict(self, X):
            return np.full(len(X), "stranger")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ecselm.paper.protocols.reproduction.MethodJob._model", lambda *_: Spy())
        jobs[0].run()
    assert len(seen[0]) == 11
    assert "unseen stranger" not in seen[0]
