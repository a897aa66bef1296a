"""Machines on Dask whose costs are known equal those in memory."""

import pickle

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from ecselm import CSELMClassifier, ELMClassifier, ELMRegressor, WELMClassifier
from ecselm.dask import DaskCSELMClassifier, DaskELMClassifier, DaskELMRegressor, DaskWELMClassifier
from ecselm.layers import SaturationWarning
from tests.dask.conftest import CUTS, collections

COSTS = {(0, 1): 5, (2, 0): 3}
KINDS = [
    (ELMClassifier, DaskELMClassifier, {}),
    (ELMClassifier, DaskELMClassifier, {"scale": "minmax", "activation": "tanh"}),
    (WELMClassifier, DaskWELMClassifier, {"weighting": "w2", "normalize": True}),
    (CSELMClassifier, DaskCSELMClassifier, {"cost": COSTS}),
    (CSELMClassifier, DaskCSELMClassifier, {"cost": COSTS, "decision": "min_cost"}),
]


@pytest.mark.parametrize(("local", "on_dask", "options"), KINDS)
@pytest.mark.parametrize(("cut", "weighted"), [(cut, cut != CUTS[0]) for cut in CUTS])
def test_any_partitions_give_the_model_in_memory(
    client, rows, local, on_dask, options, cut, weighted
):
    X, y, _, w = rows
    w = w if weighted else None
    dX, dy, dw = collections(cut, X, y, w)
    expected = local(20, random_state=1, **options).fit(X, y, w)
    model = on_dask(20, random_state=1, client=client, **options).fit(dX, dy, dw)
    size = np.abs(expected.beta_).max()
    assert_allclose(model.beta_, expected.beta_, rtol=1e-8, atol=1e-8 * size)
    assert_allclose(model.to_local().predict_proba(X), expected.predict_proba(X), atol=1e-8)


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("n_targets", [1, 2])
def test_any_partitions_give_the_regressor_in_memory(client, rows, cut, n_targets):
    X, _, T, w = rows
    T = T[:, 0] if n_targets == 1 else T
    dX, dT, dw = collections(cut, X, T, w)
    expected = ELMRegressor(20, random_state=1).fit(X, T, w)
    model = DaskELMRegressor(20, random_state=1, client=client).fit(dX, dT, dw)
    size = np.abs(expected.beta_).max()
    assert_allclose(model.beta_, expected.beta_, rtol=1e-8, atol=1e-8 * size)
    assert_allclose(model.predict(dX).compute(), expected.predict(X), atol=1e-8)
    assert model.score(dX, dT) == pytest.approx(expected.score(X, T))


@pytest.mark.parametrize("shape", ["vector", "by class"])
def test_costs_by_row_equal_those_in_memory(client, rows, shape):
    X, y, _, _ = rows
    rng = np.random.default_rng(3)
    costs = rng.uniform(1, 9, 600 if shape == "vector" else (600, 3))
    if shape == "by class":
        costs[np.arange(600), y] = 0.0
    dX, dy, dc = collections((350, 250), X, y, costs)
    expected = CSELMClassifier(20, random_state=1).fit(X, y, sample_cost=costs)
    model = DaskCSELMClassifier(20, random_state=1, client=client).fit(dX, dy, sample_cost=dc)
    size = np.abs(expected.beta_).max()
    assert_allclose(model.beta_, expected.beta_, rtol=1e-8, atol=1e-8 * size)


def test_calibration_uses_the_sample_that_memory_would(client, monkeypatch, rows):
    # Fewer rows than there are: the sample of both must be the same rows.
    monkeypatch.setattr("ecselm.estimators._training.SAMPLE_ROWS", 50)
    monkeypatch.setattr("ecselm.outofcore.fit.SAMPLE_ROWS", 50)
    X, y, _, _ = rows
    dX, dy = collections((250, 350), X, y)
    options = {"decision": "min_cost", "random_state": 1}
    expected = CSELMClassifier(20, **options).fit(X, y)
    model = DaskCSELMClassifier(20, client=client, **options).fit(dX, dy)
    assert len(model.to_local()._learner_.sample.rows) == 50
    assert_allclose(model.to_local().predict_proba(X), expected.predict_proba(X), atol=1e-8)


def test_frames_of_unknown_sizes_and_empty_partitions(client, rows, tmp_path):
    X, y, _, _ = rows
    names = list("abcde")
    labels = np.array(["low", "mid", "high"])[y]
    frame = pd.DataFrame(X, columns=names).assign(target=labels)
    table = dd.from_pandas(frame, npartitions=4)
    table = table[table["a"] > -0.5]  # sizes are not known any more
    part = frame[frame["a"] > -0.5]
    target = table["target"].astype("category")
    expected = ELMClassifier(20, random_state=1).fit(part[names], part["target"])
    model = DaskELMClassifier(20, random_state=1, client=client).fit(table[names], target)
    assert model.feature_names_in_.tolist() == names
    assert_array_equal(model.classes_, expected.classes_)
    y_pred = model.predict(table[names]).compute()
    assert_array_equal(y_pred.index, part.index)
    assert_array_equal(y_pred.to_numpy(), expected.predict(part[names]))
    model.predict(table[names]).to_frame("y_pred").to_parquet(tmp_path)
    written = pd.read_parquet(tmp_path)["y_pred"]
    assert_array_equal(written.to_numpy(), y_pred.to_numpy())
    proba = model.predict_proba(table[names]).compute()
    assert proba.columns.tolist() == ["high", "low", "mid"]
    assert_allclose(proba.to_numpy(), expected.predict_proba(part[names]), atol=1e-8)
    none = table[table["a"] > 1e9][names]
    assert len(model.predict(none).compute()) == 0


def test_columns_of_one_file_keep_their_rows_together(client, rows, tmp_path):
    X, y, _, w = rows
    names = list("abcde")
    frame = pd.DataFrame(X, columns=names).assign(target=y, weight=w)
    for i in range(6):  # so narrow a part of these would be read in fewer partitions
        frame[100 * i : 100 * (i + 1)].to_parquet(tmp_path / f"{i}.parquet")
    table = dd.read_parquet(tmp_path)
    assert len(table["target"].to_delayed()) < len(table.to_delayed())
    expected = WELMClassifier(20, random_state=1).fit(frame[names], y, w)
    model = DaskWELMClassifier(20, random_state=1, client=client)
    model.fit(table[names], table["target"], table["weight"])
    assert_allclose(model.beta_, expected.beta_, atol=1e-8 * np.abs(expected.beta_).max())
    y_pred = model.predict(table[names]).compute()
    assert_array_equal(y_pred.to_numpy(), expected.predict(frame[names]))


def test_predictions_are_lazy_and_of_the_kind_of_their_inputs(client, rows):
    X, y, _, _ = rows
    dX, dy = collections((400, 200), X, y)
    model = DaskELMClassifier(20, random_state=1, client=client).fit(dX, dy)
    local = model.to_local()
    for name in ("predict", "predict_proba", "decision_function"):
        lazy, expected = getattr(model, name)(dX), getattr(local, name)(X)
        assert isinstance(lazy, da.Array)
        assert lazy.shape == expected.shape
        assert lazy.dtype == expected.dtype
        assert_allclose(lazy.compute(), expected)
        assert_array_equal(getattr(model, name)(X), expected)
    two = DaskELMClassifier(20, random_state=1, client=client).fit(dX, dy > 0)
    assert two.decision_function(dX).compute().shape == (600,)
    assert model.score(dX, dy) == pytest.approx(local.score(X, y))


def test_float32_stays_float32(client, rows):
    X, y, _, _ = rows
    dX, dy = collections((400, 200), X.astype(np.float32), y)
    model = DaskELMClassifier(20, random_state=1, client=client).fit(dX, dy)
    expected = ELMClassifier(20, random_state=1).fit(X.astype(np.float32), y)
    assert model.beta_.dtype == np.float32
    assert_allclose(model.predict_proba(X), expected.predict_proba(X), atol=1e-3)


def test_a_constant_column_far_from_zero_changes_nothing(client, rows):
    X, y, _, _ = rows
    X = np.column_stack([X, np.full(600, 1e6 + 0.1)])
    dX, dy = collections((250, 350), X, y)
    expected = ELMClassifier(20, random_state=1).fit(X, y)
    model = DaskELMClassifier(20, random_state=1, client=client).fit(dX, dy)
    assert_allclose(model.layer_.weights, expected.layer_.weights, rtol=1e-12)


def test_local_model_goes_on_learning(client, rows):
    X, y, _, _ = rows
    dX, dy = collections((200, 100), X[:300], y[:300])
    model = DaskWELMClassifier(20, scale=None, random_state=1, client=client).fit(dX, dy)
    local = model.to_local().partial_fit(X[300:], y[300:])
    expected = WELMClassifier(20, scale=None, random_state=1).fit(X, y)
    assert_allclose(local.beta_, expected.beta_, atol=1e-8 * np.abs(expected.beta_).max())
    assert not np.allclose(model.beta_, local.beta_, rtol=1e-3)  # a copy was given away


def test_saturated_layers_warn(client, rows):
    X, y, _, _ = rows
    dX, dy = collections((300, 300), 1e4 * X, y)
    with pytest.warns(SaturationWarning, match="saturated"):
        DaskELMClassifier(20, scale=None, client=client).fit(dX, dy)


def test_estimator_is_one_of_scikit_learns_kind(client, rows):
    model = DaskELMClassifier(30, C=2.0, client=client)
    copy = clone(model.set_params(C=3.0))
    assert copy.get_params() == {**ELMClassifier(30, C=3.0).get_params(), "client": client}
    assert pickle.loads(pickle.dumps(copy)).client is None
    with pytest.raises(NotFittedError):
        copy.predict(rows[0])
    with pytest.raises(AttributeError, match="beta_"):
        copy.beta_  # noqa: B018
    with pytest.raises(TypeError, match="unknown"):
        DaskELMClassifier(unknown=1)
