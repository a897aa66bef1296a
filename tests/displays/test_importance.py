import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ecselm import CostDecisionClassifier
from ecselm.displays import ImportanceDisplay
from ecselm.estimators._importance import Effect, Importance, permutation_importance

FOUND = (
    Importance("a", Effect(0.3, 0.2, 0.4, 100), Effect(0.1, None, None, 7)),
    Importance("$b_1$ <b>" + "long " * 50, Effect(0.1, None, None, 100), Effect(0.2, 0.1, 0.3, 7)),
    Importance("c", Effect(-0.05, -0.1, 0.0, 100)),
)


def test_bars_are_the_effects_with_their_intervals(ax):
    display = ImportanceDisplay(FOUND, unit="loss of accuracy").plot(ax)
    assert [bar.get_width() for bar in display.bars_] == [0.3, 0.1, -0.05]
    intervals = [list(line.get_xdata()) for line in ax.get_lines()[:2]]
    assert intervals == [[0.2, 0.4], [-0.1, 0.0]]
    assert ax.get_xlabel() == "loss of accuracy, if the column is permuted"
    low, high = ax.get_ylim()
    assert low > high  # the most important is on top


def test_names_of_any_kind_and_length_are_drawn_as_they_are(ax):
    display = ImportanceDisplay(FOUND).plot(ax)
    display.figure_.canvas.draw()
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert names[1].startswith("$b_1$ <b>long")
    assert len(names[1]) == 40
    assert not ax.get_yticklabels()[1].get_parse_math()
    assert len(display.importances[1].column) > 200


def test_rows_that_are_not_settled_have_their_own_order(ax):
    display = ImportanceDisplay(FOUND).plot(ax, only_not_settled=True)
    assert [bar.get_width() for bar in display.bars_] == [0.2, 0.1]
    assert "not settled" in ax.get_xlabel()


def test_the_number_of_bars_is_limited(ax):
    assert len(ImportanceDisplay(FOUND).plot(ax, max_columns=1).bars_) == 1


def test_a_classifier_is_measured_in_costs_where_they_are_stated(ax):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.iloc[:, :8]
    base = make_pipeline(StandardScaler(), LogisticRegression())
    cost = {(0, 1): (2.0, 30.0)}
    model = CostDecisionClassifier(base, cost=cost, random_state=0).fit(X[::2], y[::2])
    test = X[1::2], y[1::2]
    display = ImportanceDisplay.from_estimator(model, *test, cost=cost, ax=ax)
    found = permutation_importance(model, *test, metric="mean_cost", cost=cost, rng=0)
    assert tuple(display.importances) == found
    assert_allclose(display.bars_[0].get_width(), found[0].whole.value)
    assert ax.get_xlabel().startswith("increase of the mean cost")
    plain = ImportanceDisplay.from_estimator(model, *test, columns=["mean radius"])
    assert plain.ax_.get_xlabel().startswith("loss of balanced accuracy")


def test_a_regressor_is_measured_by_its_mean_absolute_error(ax):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = LinearRegression().fit(X[::2], y[::2])
    display = ImportanceDisplay.from_estimator(model, X[1::2], y[1::2], ax=ax)
    assert len(display.bars_) == 10
    assert ax.get_xlabel().startswith("increase of the mean absolute error")


def test_what_cannot_be_drawn_is_refused_before_a_figure():
    with pytest.raises(ValueError, match="max_columns must be >= 1, got 0"):
        ImportanceDisplay(FOUND).plot(max_columns=0)
    with pytest.raises(ValueError, match="importances must have columns, got none"):
        ImportanceDisplay(()).plot()
    with pytest.raises(ValueError, match="must have rows that are not settled, got none"):
        ImportanceDisplay(FOUND[2:]).plot(only_not_settled=True)
    with pytest.raises(NotFittedError):
        ImportanceDisplay.from_estimator(LinearRegression(), np.ones((3, 1)), [0.0, 1.0, 2.0])
    assert not plt.get_fignums()
