import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from ecselm import ELMClassifier, ELMRegressor
from ecselm.displays import CumulativeScoreDisplay
from ecselm.metrics import cumulative_score


@pytest.mark.parametrize("kind", [list, np.array, pd.Series, pl.Series])
def test_whole_errors_have_a_point_each(kind, ax):
    display = CumulativeScoreDisplay.from_predictions(
        kind([1, 2, 3, 4]), kind([1, 3, 6, 4]), name="ours", ax=ax
    )
    assert_array_equal(display.line_.get_xdata(), [0, 1, 2, 3])
    assert_array_equal(display.line_.get_ydata(), [0.5, 0.75, 0.75, 1.0])
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert ax.get_legend().get_texts()[0].get_text() == "ours"
    assert ax.get_ylabel() == "cumulative score"


def test_other_errors_are_drawn_as_the_metric_counts_them(rng):
    y_true, y_pred = rng.normal(size=(2, 50))
    display = CumulativeScoreDisplay.from_predictions(y_true, y_pred)
    assert len(display.tolerances) == 101
    assert display.tolerances[-1] == np.abs(y_true - y_pred).max()
    expected = [cumulative_score(y_true, y_pred, tolerance=j) for j in display.tolerances]
    assert_array_equal(display.line_.get_ydata(), expected)
    assert display.shares[-1] == 1.0
    assert display.ax_.get_legend() is None


def test_the_greatest_error_drawn_may_be_stated():
    display = CumulativeScoreDisplay.from_predictions([0, 0, 0], [0, 1, 9], max_error=2)
    assert_allclose(display.line_.get_ydata(), [1 / 3, 2 / 3, 2 / 3], rtol=1e-12)


def test_whole_errors_of_large_numbers_do_not_have_a_point_each():
    display = CumulativeScoreDisplay.from_predictions([0, 0], [0, 250_000])
    assert len(display.tolerances) == 101


def test_words_in_an_order_are_levels():
    levels = ["low", "middle", "high"]
    display = CumulativeScoreDisplay.from_predictions(
        ["low", "low", "high", "high"], ["low", "high", "middle", "high"], labels=levels
    )
    assert_array_equal(display.shares, [0.5, 0.75, 1.0])


def test_rows_may_have_weights():
    display = CumulativeScoreDisplay.from_predictions([0, 0], [0, 1], sample_weight=[3, 1])
    assert_array_equal(display.shares, [0.75, 1.0])


def test_curves_on_one_ax_look_different_and_all_are_seen(ax):
    CumulativeScoreDisplay.from_predictions([0, 0], [0, 1], name="a", ax=ax)
    CumulativeScoreDisplay.from_predictions([0, 0], [3, 3], name="b", ax=ax)
    first, second = ax.get_lines()
    assert first.get_color() != second.get_color()
    assert first.get_marker() != second.get_marker()
    low, high = ax.get_ylim()
    assert low < 0.0
    assert high > 1.0


def test_many_targets_are_counted_one_by_one():
    display = CumulativeScoreDisplay.from_predictions([[0, 0], [0, 0]], [[0, 1], [2, 0]])
    assert_array_equal(display.shares, [0.5, 0.75, 1.0])


@pytest.mark.parametrize("estimator", [ELMClassifier, ELMRegressor])
def test_an_estimator_is_asked_for_its_predictions(estimator, ax):
    X, y = load_iris(return_X_y=True)
    model = estimator(20, random_state=0).fit(X, y)
    display = CumulativeScoreDisplay.from_estimator(model, X, y, ax=ax, max_error=1)
    at_one = cumulative_score(y, model.predict(X), tolerance=1)
    assert display.line_.get_ydata()[-1] == at_one
    assert display.name == estimator.__name__


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["a"], ["b"]), "y_true must hold numbers only"),
        (([0, 1], [[0, 1], [1, 0]]), "y_pred must have as many columns as y_true, 1, got 2"),
    ],
)
def test_what_cannot_be_compared_is_refused_before_a_figure(arguments, message):
    with pytest.raises(ValueError, match=message):
        CumulativeScoreDisplay.from_predictions(*arguments)
    assert not plt.get_fignums()


def test_wrong_options_are_refused_before_a_figure():
    with pytest.raises(ValueError, match="max_error must be >= 0, got -1"):
        CumulativeScoreDisplay.from_predictions([0], [0], max_error=-1)
    with pytest.raises(ValueError, match=r"y_pred must name classes of y.*got 'hig'"):
        CumulativeScoreDisplay.from_predictions(["high"], ["hig"], labels=["low", "high"])
    with pytest.raises(NotFittedError):
        CumulativeScoreDisplay.from_estimator(ELMRegressor(), [[0]], [0])
    assert not plt.get_fignums()
