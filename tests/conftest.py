"""Fixtures that several suites share."""

import os
from pathlib import Path

# Read when SciPy is imported; without it scikit-learn skips one of its checks.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

import numpy as np
import pytest
from sklearn.datasets import make_classification

from ecselm import _native


def pytest_configure(config):
    """Let oldest dependencies use what newer ones of theirs deprecate.

    matplotlib 3.8, for example, calls names that pyparsing 3.3 warns of.
    """
    if os.environ.get("ECSELM_MATRIX") == "minimum":
        config.addinivalue_line("filterwarnings", "ignore::DeprecationWarning")


def pytest_addoption(parser):
    parser.addoption(
        "--moments",
        type=int,
        default=20,
        help="random moments at which slow tests interrupt and kill each kind of work (20)",
    )


@pytest.fixture
def moments(request):
    return request.config.getoption("--moments")


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(autouse=True)
def threads_at_once(monkeypatch):
    """Use threads even for the short work of tests."""
    monkeypatch.setattr("ecselm._threads.WORTH_SHARING", -1.0)


@pytest.fixture(params=["compiled", "LAPACK"])
def either_path(request):
    """Build solvers and engines with and without the compiled library."""
    if request.param == "LAPACK":
        with _native.disabled():
            yield request.param
    elif _native.is_available():
        yield request.param
    else:
        pytest.skip("the compiled library was not built")


@pytest.fixture(scope="session")
def data_folder():
    """Return the folder of real data sets, or skip."""
    folder = os.environ.get("ECSELM_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("needs real data: set ECSELM_DATA to the folder that holds them")
    return Path(folder)


@pytest.fixture(params=[2, 4], ids=["two classes", "four classes"])
def labelled(request):
    """Return rows of unequal classes, enough to train and to test on."""
    k = request.param
    weights = [0.6] + [0.4 / (k - 1)] * (k - 1)
    X, y = make_classification(
        400, 8, n_informative=6, n_classes=k, weights=weights, flip_y=0.05, random_state=k
    )
    return X, y


def targets(y):
    """Return T as the paper prints it: +1 in the true column, -1 in the others."""
    classes = np.unique(y)
    return np.where(y[:, np.newaxis] == classes, 1.0, -1.0)
