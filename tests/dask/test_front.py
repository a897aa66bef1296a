"""Fronts on Dask, and copies at their points: as in memory."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError

from ecselm import ECSELMClassifier
from ecselm.dask import DaskECSELMClassifier
from tests.dask.conftest import CUTS, collections

SMALL = {"population_size": 5, "max_epochs": 1, "random_state": 0}


@pytest.fixture(scope="module", params=[2, None], ids=["ensemble", "one layer"])
def pair(request, client, rows):
    """Return an ordinary model of two classes and one on Dask."""
    X, y, _, w = rows
    y, options = (y > 0).astype(int), {"ensemble": request.param, **SMALL}
    dX, dy, dw = collections(CUTS[1], X, y, w)
    return (
        ECSELMClassifier(20, **options).fit(X, y, w),
        DaskECSELMClassifier(20, **options, client=client).fit(dX, dy, dw),
    )


def test_front_equals_that_in_memory(pair):
    in_memory, on_dask = pair
    assert list(on_dask.front_.columns) == list(in_memory.front_.columns)
    assert_allclose(on_dask.front_, in_memory.front_, atol=1e-6)


@pytest.mark.parametrize(
    "point", [{"costs": {1: 20.0}}, {"recall": {1: 0.9}}, {"alarms": 0.05}], ids=lambda one: [*one]
)
def test_copies_at_other_points_decide_as_in_memory(pair, rows, point):
    in_memory, on_dask = pair
    X = rows[0]
    (dX,) = collections(CUTS[2], X)
    before = on_dask.predict(X)
    moved = on_dask.at(**point)
    assert isinstance(moved, DaskECSELMClassifier)
    assert moved.client is on_dask.client
    expected = in_memory.at(**point)
    assert_allclose(moved.cost_matrix_, expected.cost_matrix_, atol=1e-6)
    assert_array_equal(moved.predict(dX).compute(), expected.predict(X))
    assert_array_equal(moved.to_local().predict(X), expected.predict(X))
    assert_array_equal(on_dask.predict(X), before)
    assert (moved.predict(X) != before).any()


def test_a_sample_has_a_front_too(client, rows):
    X, y, _, _ = rows
    dX, dy = collections(CUTS[1], X, y)
    model = DaskECSELMClassifier(
        20, ensemble=2, max_validation_rows=200, client=client, **SMALL
    ).fit(dX, dy)
    least = float(model.front_["recall of 2"].max())
    recall = np.mean(model.at(recall={2: least}).predict(X)[y == 2] == 2)
    assert recall >= np.mean(model.predict(X)[y == 2] == 2)


def test_points_need_a_fit_and_one_argument(pair):
    with pytest.raises(NotFittedError):
        DaskECSELMClassifier(20).at(alarms=0.1)
    with pytest.raises(ValueError, match="exactly one of costs, recall and alarms"):
        pair[1].at()
