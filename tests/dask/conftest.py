"""One cluster of two worker processes for all tests on Dask."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

pytest.importorskip("distributed")

import dask.array as da
from distributed import Client, LocalCluster


@pytest.fixture(scope="package")  # its threads must not disturb tests that measure memory
def client():
    """Return a client of two real worker processes, of one thread each."""
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as made,
    ):
        yield made


@pytest.fixture(scope="session")
def rows():
    """Return inputs, classes, targets and weights of 600 rows, some of them equal."""
    X, y = make_classification(
        600,
        5,
        n_informative=4,
        n_redundant=0,
        n_classes=3,
        weights=[0.6, 0.3],
        flip_y=0.1,
        random_state=0,
    )
    X[100:120], y[100:120] = X[:20], y[:20]
    rng = np.random.default_rng(0)
    T = np.column_stack([X[:, 0] ** 2 + X[:, 1], np.sin(X[:, 2])])
    return X, y, T, rng.integers(0, 3, 600).astype(float)


CUTS = [(600,), (250, 250, 100), (1, 0, 399, 200)]  # one of them without rows


def collections(cut, *values):
    """Return arrays of Dask, all cut alike; None stays None."""
    return [
        None if value is None else da.from_array(value, chunks=(cut, *value.shape[1:]))
        for value in values
    ]
