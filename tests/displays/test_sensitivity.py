import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from ecselm import ELMClassifier, WELMClassifier
from ecselm.displays import SensitivityDisplay
from ecselm.metrics import cost_curve, mean_cost, operating_point

RATIOS = np.array([0.5, 1.0, 3.0, 20.0])
Y_TRUE = np.array(["ill"] * 4 + ["well"] * 6)
Y_PRED = {
    "bold": np.array(["ill", "ill", "well", "well"] + ["well"] * 6),
    "shy": np.array(["ill"] * 4 + ["ill"] * 3 + ["well"] * 3),
}
MISTAKE = ("ill", "well")


@pytest.mark.parametrize("kind", [np.array, list, pd.Series, pl.Series])
def test_curves_are_mean_costs_at_every_ratio(kind, ax):
    y_pred = {name: kind(one) for name, one in Y_PRED.items()}
    display = SensitivityDisplay.from_predictions(
        kind(Y_TRUE), y_pred, mistake=MISTAKE, ratios=RATIOS, ax=ax
    )
    for name, line in display.lines_.items():
        expected = [mean_cost(Y_TRUE, Y_PRED[name], cost={MISTAKE: ratio}) for ratio in RATIOS]
        assert_array_equal(line.get_xdata(), RATIOS)
        assert_allclose(line.get_ydata(), expected, rtol=1e-12)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert ax.get_xscale() == "log"
    assert "ill taken for well" in ax.get_xlabel()
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["bold", "shy", "best constant prediction"]


def test_the_constant_prediction_is_the_cheaper_of_both():
    display = SensitivityDisplay.from_predictions(Y_TRUE, Y_PRED, mistake=MISTAKE, ratios=RATIOS)
    expected = np.minimum(0.4 * RATIOS, 0.6)
    assert_allclose(display.constant_line_.get_ydata(), expected, rtol=1e-12)


def test_two_classes_agree_with_cost_curves():
    display = SensitivityDisplay.from_predictions(
        Y_TRUE, Y_PRED["bold"], mistake=MISTAKE, ratios=RATIOS
    )
    share = 0.4
    points = operating_point(share, fn_cost=RATIOS)
    curve = cost_curve(0.0, 0.5, operating_points=points)
    greatest = share * RATIOS + (1 - share)
    assert_allclose(display.costs["predictions"], curve.lines[0] * greatest, rtol=1e-12)
    assert_allclose(display.constant, curve.trivial * greatest, rtol=1e-12)


def test_the_second_of_two_classes_is_the_one_to_miss_unless_stated():
    y_pred = [0, 0, 1, 1]
    display = SensitivityDisplay.from_predictions([0, 1, 1, 1], y_pred, ratios=[1, 2])
    assert_array_equal(display.costs["predictions"], [0.25, 0.5])


def test_a_class_stands_for_all_mistakes_on_it():
    y_true, y_pred = ["a", "a", "b", "c"], ["b", "c", "c", "c"]
    whole = SensitivityDisplay.from_predictions(y_true, y_pred, mistake="a", ratios=[1, 5])
    pair = SensitivityDisplay.from_predictions(y_true, y_pred, mistake=("a", "b"), ratios=[1, 5])
    assert_array_equal(whole.costs["predictions"], [0.75, 2.75])
    assert_array_equal(pair.costs["predictions"], [0.75, 1.75])
    assert "a mistake on a" in whole.ax_.get_xlabel()


def test_rows_may_have_weights():
    display = SensitivityDisplay.from_predictions(
        [0, 1], [0, 0], ratios=[1, 4], sample_weight=[3, 1]
    )
    assert_array_equal(display.costs["predictions"], [0.25, 1.0])


def test_probabilities_are_decided_anew_at_every_ratio():
    P = np.array([[0.9, 0.1], [0.6, 0.4]])  # to say 1 pays from a ratio of 9, and of 1.5
    display = SensitivityDisplay.from_predictions([0, 1], P, ratios=[1, 2, 10])
    assert_array_equal(display.costs["predictions"], [0.5, 0.0, 0.5])


def test_costs_may_be_relative_to_a_method_or_to_the_constant_prediction():
    options = {"mistake": MISTAKE, "ratios": RATIOS}
    plain = SensitivityDisplay.from_predictions(Y_TRUE, Y_PRED, **options)
    beside = SensitivityDisplay.from_predictions(Y_TRUE, Y_PRED, **options, relative_to="shy")
    saved = SensitivityDisplay.from_predictions(Y_TRUE, Y_PRED, **options, relative_to="constant")
    bold = plain.costs["bold"]
    assert_allclose(beside.lines_["bold"].get_ydata(), bold / plain.costs["shy"], rtol=1e-12)
    assert_array_equal(beside.lines_["shy"].get_ydata(), np.ones(4))
    assert beside.constant_line_ is None
    assert_allclose(saved.lines_["bold"].get_ydata(), bold / plain.constant, rtol=1e-12)
    assert beside.ax_.get_ylabel() == "cost, relative to shy"


def test_a_stated_interval_is_shaded_and_within_the_ratios():
    display = SensitivityDisplay.from_predictions(
        Y_TRUE, Y_PRED, mistake=MISTAKE, interval=(0.5, 300)
    )
    assert display.band_.get_x() == 0.5
    assert display.band_.get_x() + display.band_.get_width() == 300.0
    assert (display.ratios[0], display.ratios[-1]) == (0.5, 300.0)
    assert len(display.ratios) == 101


def test_curves_of_a_second_call_are_not_cut_off(ax):
    options = {"mistake": MISTAKE, "ratios": RATIOS, "ax": ax}
    SensitivityDisplay.from_predictions(Y_TRUE, Y_PRED["shy"], **options)
    SensitivityDisplay.from_predictions(Y_TRUE, Y_PRED["bold"], **options)
    assert ax.get_ylim()[1] > max(line.get_ydata().max() for line in ax.get_lines())


def test_classifiers_are_asked_for_answers_or_probabilities():
    X, y = load_iris(return_X_y=True)
    X, y = X[50:], np.array(["", "b", "c"])[y[50:]]
    models = {"ELM": ELMClassifier(10, random_state=0), "W1": WELMClassifier(10, random_state=0)}
    models = {name: model.fit(X, y) for name, model in models.items()}
    display = SensitivityDisplay.from_estimator(models, X, y, ratios=[1, 10])
    for name, model in models.items():
        expected = mean_cost(y, model.predict(X), cost={("c", "b"): 10})
        assert_allclose(display.lines_[name].get_ydata()[1], expected, rtol=1e-12)
    regression = LogisticRegression().fit(X, y)
    decided = SensitivityDisplay.from_estimator(
        regression, X, y, ratios=[1, 10], response_method="predict_proba"
    )
    y_pred = np.where(regression.predict_proba(X)[:, 1] > 1 / 11, "c", "b")
    expected = mean_cost(y, y_pred, cost={("c", "b"): 10})
    assert_allclose(decided.costs["LogisticRegression"][1], expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mistake": ("ill", "wel")}, "mistake must name classes.*got 'wel'"),
        ({"mistake": ("ill", "ill")}, "mistake must be a class or a pair of two classes"),
        ({"ratios": [2, 1]}, "ratios must be two or more rising numbers > 0"),
        ({"ratios": [0, 1]}, "ratios must be two or more rising numbers > 0"),
        ({"interval": (3, 2)}, "interval must be a pair with 0 < low < high"),
        ({"relative_to": "timid"}, "relative_to must be one of .*got 'timid'"),
        ({"labels": ["ill", "well", "dead"]}, "mistake must be given for more than two classes"),
    ],
)
def test_wrong_options_are_refused_before_a_figure(options, message):
    with pytest.raises(ValueError, match=message):
        SensitivityDisplay.from_predictions(Y_TRUE, Y_PRED, **options)
    assert not plt.get_fignums()


def test_what_costs_nothing_is_no_unit():
    with pytest.raises(ValueError, match="relative_to must cost something everywhere"):
        SensitivityDisplay.from_predictions(Y_TRUE, {"right": Y_TRUE}, relative_to="right")


def test_wrong_predictions_are_refused_before_a_figure():
    with pytest.raises(ValueError, match="predictions of a method or more, got none"):
        SensitivityDisplay.from_predictions(Y_TRUE, {})
    with pytest.raises(ValueError, match=r"a column per class \['ill', 'well'\]"):
        SensitivityDisplay.from_predictions(Y_TRUE, np.ones((10, 3)))
    with pytest.raises(NotFittedError):
        SensitivityDisplay.from_estimator(ELMClassifier(), [[0]], [0])
    with pytest.raises(ValueError, match="response_method must be one of"):
        SensitivityDisplay.from_estimator(ELMClassifier(), [[0]], [0], response_method="score")
    assert not plt.get_fignums()


def test_classifiers_must_know_the_same_classes():
    X, y = load_iris(return_X_y=True)
    models = {"all": ELMClassifier(5).fit(X, y), "two": ELMClassifier(5).fit(X[50:], y[50:])}
    with pytest.raises(ValueError, match="classifiers of the same classes"):
        SensitivityDisplay.from_estimator(models, X, y)
