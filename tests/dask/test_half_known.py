"""Half-known costs on Dask decide as they do in memory."""

import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from ecselm import CSELMClassifier, ECSELMClassifier
from ecselm.costs import CostConstraints
from ecselm.dask import DaskCSELMClassifier, DaskECSELMClassifier
from tests.dask.conftest import CUTS, collections

KNOWN = CostConstraints([0, 1, 2], intervals={2: (3, 20)}, ratios={(1, 0): (1, 5), (2, 1): 1})
SMALL = {"population_size": 5, "max_epochs": 1}
KINDS = {
    "known": (CSELMClassifier, DaskCSELMClassifier, {}),
    "largest score": (CSELMClassifier, DaskCSELMClassifier, {"decision": "argmax"}),
    "ensemble": (ECSELMClassifier, DaskECSELMClassifier, {"ensemble": 2, **SMALL}),
    "learned": (ECSELMClassifier, DaskECSELMClassifier, {"scoring": "gmean", **SMALL}),
    "learned behind one layer": (
        ECSELMClassifier,
        DaskECSELMClassifier,
        {"scoring": "gmean", "ensemble": None, **SMALL},
    ),
}


@pytest.mark.parametrize("rule", ["expected", "minimax_regret"])
@pytest.mark.parametrize("kind", KINDS)
def test_half_known_costs_decide_as_in_memory(client, rows, kind, rule):
    X, y, _, w = rows
    dX, dy, dw = collections(CUTS[1], X, y, w)
    in_memory, on_dask, options = KINDS[kind]
    given = {"cost": KNOWN, "rule": rule, "random_state": 0, **options}
    expected = in_memory(20, **given).fit(X, y, w)
    model = clone(on_dask(20, **given, client=client)).fit(dX, dy, dw)
    assert model.constraints_ == KNOWN
    assert_array_equal(model.predict(dX).compute(), expected.predict(X))
    local = model.to_local()
    assert local.constraints_ == KNOWN
    assert_allclose(local.cost_matrix_, expected.cost_matrix_, rtol=1e-6)
    assert_array_equal(local.settled(X), expected.settled(X))
    assert_array_equal(local.predict_set(X), expected.predict_set(X))
    assert_allclose(local.regret(X), expected.regret(X), atol=1e-6)
    assert "learned" not in kind or KNOWN.contains(local.cost_matrix_)


def test_a_sample_of_the_rows_learns_costs_that_obey(client, rows):
    X, y, _, _ = rows
    dX, dy = collections(CUTS[1], X, y)
    model = DaskECSELMClassifier(
        20,
        cost=["2->0 >= 3 * 0->2", "0->2 = 2..4"],
        scoring="gmean",
        keep_prior=False,
        ensemble=2,
        max_validation_rows=100,
        random_state=0,
        client=client,
        **SMALL,
    ).fit(dX, dy)
    assert model.n_validation_rows_ <= 100
    assert model.constraints_.contains(model.cost_matrix_)


def test_what_cannot_be_expressed_is_refused(client, rows):
    X, y, _, _ = rows
    dX, dy = collections(CUTS[0], X, y)
    model = DaskECSELMClassifier(20, cost=KNOWN, cost_order=[(2, 0)], client=client)
    with pytest.raises(ValueError, match="cost_order must be None where cost is known in part"):
        model.fit(dX, dy)
