"""Behaviour that all displays share."""

import builtins
import subprocess
import sys

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from ecselm import displays
from ecselm.estimators._importance import Effect, Importance
from ecselm.paper.statistics import CriticalDifferenceDisplay

DRAWN = {
    "ConvergenceDisplay": lambda **ax: displays.ConvergenceDisplay.from_history(
        {"generation": [0, 1], "best": [0.5, 0.6], "mean": [0.1, 0.2]}, **ax
    ),
    "CostMatrixDisplay": lambda **ax: displays.CostMatrixDisplay.from_matrix(
        [[0, 5], [1, 0]], **ax
    ),
    "CriticalDifferenceDisplay": lambda **ax: CriticalDifferenceDisplay.from_ranks(
        {"a": 1.2, "b": 1.8}, 10, **ax
    ),
    "CumulativeScoreDisplay": lambda **ax: displays.CumulativeScoreDisplay.from_predictions(
        [0, 1], [0, 2], **ax
    ),
    "DecisionCurveDisplay": lambda **ax: displays.DecisionCurveDisplay.from_predictions(
        [0, 1], [0.2, 0.7], **ax
    ),
    "FrontDisplay": lambda **ax: displays.FrontDisplay(
        pd.DataFrame({f"{n} of {c}": [0.5] for n in ("recall", "std error") for c in "ab"}),
        ["a", "b"],
        [1, 1],
    ).plot(**ax),
    "ImportanceDisplay": lambda **ax: displays.ImportanceDisplay(
        [Importance("a", Effect(0.1, 0.0, 0.2, 9))]
    ).plot(**ax),
    "SensitivityDisplay": lambda **ax: displays.SensitivityDisplay.from_predictions(
        [0, 1], [0, 0], **ax
    ),
}


def test_all_displays_are_tried_here():
    assert set(DRAWN) == {*displays.__all__, "CriticalDifferenceDisplay"}


@pytest.mark.parametrize("name", DRAWN)
def test_one_figure_is_made_unless_axes_are_given(name):
    first = DRAWN[name]()
    assert plt.get_fignums() == [first.figure_.number]
    figure, ax = plt.subplots()
    second = DRAWN[name](ax=ax)
    assert second.ax_ is ax
    assert second.figure_ is figure
    assert len(plt.get_fignums()) == 2


@pytest.mark.parametrize("name", DRAWN)
def test_plot_returns_the_display_and_draws_again_elsewhere(name, ax):
    display = DRAWN[name]()
    assert display.plot(ax) is display
    assert display.ax_ is ax
    assert ax.has_data() or ax.texts


@pytest.mark.parametrize("name", DRAWN)
def test_without_matplotlib_the_extra_is_named(name, monkeypatch):
    real = builtins.__import__

    def refusing(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refusing)
    with pytest.raises(ImportError, match='need matplotlib: install the extra "plot"'):
        DRAWN[name]()


def test_matplotlib_is_not_loaded_before_something_is_drawn():
    code = (
        "import sys, ecselm; assert 'ecselm.displays' not in sys.modules; "
        "ecselm.displays.CostMatrixDisplay; sys.exit('matplotlib' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # noqa: S603
