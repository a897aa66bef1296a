"""Faults on a cluster: bad partitions, dead workers, and Ctrl-C."""

import os
import signal
import threading
import time
from pathlib import Path

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from ecselm import ELMClassifier
from ecselm.dask import (
    DaskECSELMClassifier,
    DaskELMClassifier,
    DaskELMRegressor,
    DaskWELMClassifier,
)
from tests.dask.conftest import collections


def blocks_of(make, sizes, n_features):
    """Return an array whose blocks are made by ``make(number)``, of sizes not known."""
    parts = [
        da.from_delayed(dask.delayed(make, pure=False)(i), (np.nan, n_features), float)
        for i in range(len(sizes))
    ]
    return da.concatenate(parts, allow_unknown_chunksizes=True)


def test_a_nan_is_refused_by_its_partition(client, rows):
    X, y, _, _ = rows
    X = X.copy()
    X[[320, 510], [2, 1]] = np.nan, np.inf
    dX, dy = collections((200, 200, 200), X, y)
    model = DaskELMClassifier(10, client=client)
    with pytest.raises(ValueError, match="got nan in row 120, column 2, in partition 1"):
        model.fit(dX, dy)
    assert not hasattr(model, "beta_")


def test_the_first_bad_partition_is_named(client, rows):
    X, y, _, _ = rows
    odd = {
        "the type <U1, in partition 1": np.full((200, 5), "a"),
        r"5 columns, got the shape \(200, 4\), in partition 1": X[:200, :4],
        "y must have 150 rows as X has, got 200, in partition 1": X[:150],
    }
    dy = da.from_array(y, chunks=200)
    for message, block in odd.items():
        dX = blocks_of(lambda i, block=block: block if i else X[:200], [200] * 3, 5)
        with pytest.raises(ValueError, match=message):
            DaskELMClassifier(10, client=client).fit(dX, dy)


def test_rows_that_change_between_readings_are_refused_by_their_partition(client, rows, tmp_path):
    X, y, _, _ = rows
    flag = str(tmp_path / "read")

    def block(number):
        with Path(f"{flag}{number}").open("a") as times:
            times.write(".")
        read = len(Path(f"{flag}{number}").read_text())
        return X[300 * number : 300 * (number + 1)] + (number == 1 and read > 1)

    dX, dy = blocks_of(block, [300] * 2, 5), da.from_array(y, chunks=300)
    model = DaskECSELMClassifier(10, activation="radbas", max_epochs=1, client=client)
    with pytest.raises(ValueError, match=r"must be the same every time .* in partition 1"):
        model.fit(dX, dy)


def test_missing_labels_and_bad_weights_are_refused_by_their_partition(client, rows):
    X, y, _, w = rows
    dX, dy, dw = collections((300, 300), X, y, w)
    labels = np.array(["a", "b", "c"], dtype=object)[y]
    labels[400] = None
    model = DaskELMClassifier(10, client=client)
    with pytest.raises(ValueError, match="label for every row, got none in row 100, in partition"):
        model.fit(dX, da.from_array(labels, chunks=300))
    with pytest.raises(ValueError, match=r"sample_weight must be >= 0, got -.*, in partition 0"):
        model.fit(dX, dy, dw - 1.0)
    with pytest.raises(ValueError, match="0 for every row"):
        DaskELMRegressor(10, client=client).fit(dX, dX[:, 0], 0.0 * dw)
    with pytest.raises(ValueError, match="at least two classes"):
        model.fit(dX, 0 * dy)


def test_chunks_that_do_not_match_are_made_to_or_refused(client, rows):
    X, y, _, _ = rows
    dX, dy = da.from_array(X, chunks=(200, 2)), da.from_array(y, chunks=350)
    model = DaskELMClassifier(10, random_state=0, client=client).fit(dX, dy)
    assert_array_equal(model.predict(X), ELMClassifier(10, random_state=0).fit(X, y).predict(X))
    with pytest.raises(ValueError, match="y must have as many rows as X, 600, got 599"):
        model.fit(dX, dy[:-1])
    cut = dd.from_pandas(pd.Series(y), npartitions=2)
    with pytest.raises(ValueError, match=r"y must have the partitions of X .* 3 of them, got 2"):
        model.fit(dX, cut)
    frame = dd.from_pandas(pd.DataFrame(X), npartitions=3)
    again = DaskELMClassifier(10, random_state=0, client=client).fit(frame, cut)
    assert_array_equal(again.predict(X), model.predict(X))


def test_unsupported_parameters_are_refused_before_any_work(rows):
    X, y, _, _ = rows
    dX, dy = collections((300, 300), X, y)
    with pytest.raises(ValueError, match="kernel must be None on Dask, got 'rbf'"):
        DaskWELMClassifier(kernel="rbf").fit(dX, dy)
    with pytest.raises(ValueError, match="hidden_layer must be None on Dask"):
        DaskELMClassifier(hidden_layer=ELMClassifierLayer()).fit(dX, dy)
    with pytest.raises(ValueError, match=r"ensemble must be None on Dask, got 3: use DaskECSELM"):
        DaskELMClassifier(ensemble=3).fit(dX, dy)
    with pytest.raises(TypeError, match="X must be a Dask array or dataframe, got ndarray"):
        DaskELMClassifier().fit(X, dy)
    with pytest.raises(TypeError, match=r"y must be a Dask array, series .* got ndarray"):
        DaskELMClassifier().fit(dX, y)
    words = dd.from_pandas(pd.DataFrame({"word": ["a", "b"], "number": [1, 2]}), npartitions=1)
    with pytest.raises(ValueError, match="the column 'word' of type"):
        DaskELMClassifier().fit(words, dy)
    with pytest.raises(ValueError, match="'C' parameter of DaskELMClassifier"):
        DaskELMClassifier(C=-1).fit(dX, dy)


class ELMClassifierLayer:
    """Has what a transformer has."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X


@pytest.mark.parametrize(
    ("estimator", "options", "n_passes"),
    [
        (DaskELMClassifier, {}, 2),
        (
            DaskECSELMClassifier,
            {"activation": "radbas", "max_epochs": 1, "max_validation_rows": 300},
            2,
        ),
    ],
)
def test_a_killed_worker_changes_nothing(client, rows, tmp_path, estimator, options, n_passes):
    X, y, _, _ = rows
    flag = str(tmp_path / "killed")

    def block(number):
        # When this block is made for the last pass, that of sums, its worker dies.
        made = Path(f"{flag}{number}.{time.monotonic_ns()}")
        made.touch()
        times = len(list(made.parent.glob(f"{made.name.split('.')[0]}.*")))
        if number == 2 and times == n_passes:
            os.kill(os.getpid(), signal.SIGKILL)
        return X[150 * number : 150 * (number + 1)]

    dX, dy = blocks_of(block, [150] * 4, 5), da.from_array(y, chunks=150)
    whole = da.from_array(X, chunks=(150, 5))
    model = estimator(10, random_state=0, client=client, **options)
    expected = clone(model).fit(whole, dy)
    model.fit(dX, dy)
    assert len(list(tmp_path.glob("killed2.*"))) == n_passes + 1  # the last of them twice
    assert_array_equal(model.beta_, expected.beta_)
    client.wait_for_workers(2, timeout=30)


@pytest.fixture
def ctrl_c():
    """Let SIGINT be what Ctrl-C sends, also where the tests were started to ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_stops_cleanly_and_leaves_no_task_behind(client, rows):
    X, y, _, _ = rows

    def block(number):
        time.sleep(0.5)
        return X[60 * number : 60 * (number + 1)]

    dX, dy = blocks_of(block, [60] * 10, 5), da.from_array(y, chunks=60)
    model = DaskELMClassifier(10, client=client)
    timer = threading.Timer(0.7, os.kill, [os.getpid(), signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(dX, dy)
    timer.join()
    assert not hasattr(model, "beta_")
    for _ in range(50):
        left = client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))
        if not left:
            break
        time.sleep(0.1)
    assert left == 0
    assert client.submit(sum, [1, 2]).result(timeout=10) == 3
