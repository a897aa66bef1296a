"""A small model in a file."""

import pytest
from threadpoolctl import threadpool_limits

from ecselm import ELMClassifier
from ecselm.saving import save_model


@pytest.fixture(autouse=True, scope="package")
def one_thread():
    """Small fits take no longer beside another process."""
    with threadpool_limits(1):
        yield


@pytest.fixture
def small(rng):
    X = rng.standard_normal((30, 3))
    return ELMClassifier(5, random_state=0).fit(X, (X[:, 0] > 0).astype(int))


@pytest.fixture
def path(tmp_path, small):
    file = tmp_path / "model.skops"
    save_model(small, file)
    return file
