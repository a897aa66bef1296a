"""The budget of table IX reaches the metric learners."""

from dataclasses import replace

import numpy as np
import pytest

from ecselm.paper.protocols import FULL, QUICK
from ecselm.paper.protocols.faces import VERIFICATION, fewer_components
from ecselm.paper.protocols.items import find_item
from ecselm.paper.protocols.reproduction import plan_item


def learners(budget):
    jobs = plan_item(find_item("table-9"), budget, 0)
    return {job.setting.method: job for job in jobs if job.protocol is VERIFICATION}


def test_components_of_the_budget_are_what_metric_learners_see(monkeypatch):
    seen = []
    monkeypatch.setattr(
        "ecselm.paper.pairs.KISSME.fit", lambda self, X, y: seen.append(X.shape) or 1 / 0
    )
    job = learners(replace(QUICK, components=12))["KISSME"]
    with pytest.raises(ZeroDivisionError):
        job.run()
    assert seen[0][1:] == (2, 12)


def test_a_full_budget_leaves_pairs_as_they_are_and_keeps_no_copy(tmp_path):
    pairs = np.random.default_rng(0).normal(size=(8, 2, 5))
    assert fewer_components(pairs, None, pairs, FULL)[0] is pairs
    job = replace(learners(QUICK)["SILD"], budget=FULL, cache=tmp_path)
    rows = job._prepared(pairs, None, pairs)
    assert rows.train is pairs
    assert not list(tmp_path.iterdir())


def test_components_keep_the_distances_of_the_training_pictures():
    rng = np.random.default_rng(0)
    pairs = rng.normal(size=(30, 2, 4)) @ rng.normal(size=(4, 9))
    train, test = fewer_components(pairs[:20], None, pairs[20:], replace(FULL, components=4))
    for reduced, given in ((train, pairs[:20]), (test, pairs[20:])):
        before, after = (np.linalg.norm(one[:, 0] - one[:, 1], axis=1) for one in (given, reduced))
        np.testing.assert_allclose(after, before, rtol=1e-10)


def test_iterations_of_the_budget_reach_all_learners_that_have_any():
    data = None
    for method, job in learners(replace(QUICK, iterations=7)).items():
        data = job.case.load() if data is None else data
        model = job._model(data.X[:9], data.y[:9], data)
        if "max_iter" in model.get_params():
            assert model.max_iter == 7, method
    full = learners(replace(QUICK, iterations=None))["ITML"]
    assert full._model(data.X[:9], data.y[:9], data).max_iter > 7


def test_iterations_are_those_of_metric_learners_alone():
    item = find_item("table-4")
    job = next(one for one in plan_item(item, QUICK, 0) if one.setting.method == "Neural Network")
    data = job.case.load()
    assert job._model(data.X, data.y, data)[-1].max_iter == 1000
