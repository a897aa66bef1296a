"""Pictures are drawn without a window, and none outlives its test."""

import matplotlib.pyplot as plt
import pytest

plt.switch_backend("Agg")


@pytest.fixture(autouse=True)
def closed():
    """Close what a test has drawn."""
    plt.close("all")
    yield
    plt.close("all")


@pytest.fixture
def ax():
    """Axes that a user has made."""
    return plt.subplots()[1]
