import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from ecselm import ELMClassifier
from ecselm.displays import DecisionCurveDisplay
from ecselm.metrics import cost_ray, decision_curve, net_benefit

THRESHOLDS = np.array([0.05, 0.2, 0.5, 0.9])


@pytest.fixture
def scored(rng):
    """Return classes with two probabilities of the second."""
    p = rng.beta(1.0, 2.0, 400)
    y = (rng.random(400) < p).astype(int)
    return y, {"p": p, "blurred": 0.5 * p + 0.15}


def test_curves_are_net_benefits_beside_those_of_all_and_none(scored, ax):
    y, y_prob = scored
    display = DecisionCurveDisplay.from_predictions(y, y_prob, thresholds=THRESHOLDS, ax=ax)
    for name, line in display.lines_.items():
        assert_array_equal(line.get_xdata(), THRESHOLDS)
        expected = net_benefit(y, y_prob[name], threshold=THRESHOLDS)
        assert_allclose(line.get_ydata(), expected, atol=1e-12)
    expected = net_benefit(y, np.ones(400), threshold=THRESHOLDS)
    assert_allclose(display.reference_lines_["treat all"].get_ydata(), expected, atol=1e-12)
    assert_array_equal(display.reference_lines_["treat none"].get_ydata(), np.zeros(4))
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend[:4] == ["p", "blurred", "treat all", "treat none"]
    assert "95 %" in legend[4]
    assert ax.get_ylabel() == "net benefit"


def test_the_band_is_that_of_the_difference_to_the_best_reference(scored, ax):
    y, y_prob = scored
    options = {"thresholds": THRESHOLDS, "n_resamples": 200}
    display = DecisionCurveDisplay.from_predictions(y, y_prob, **options, ax=ax)
    curve = decision_curve(y, y_prob, **options)
    ends = set()
    for g, t in enumerate(THRESHOLDS):
        name = "treat all" if curve.references["treat all"][g] > 0 else "treat none"
        band = curve.differences[name]
        best = max(curve.references["treat all"][g], 0.0)
        ends |= {(t, round(best + end[g], 9)) for end in (band.low, band.high)}
    drawn = {
        (x, round(y, 9)) for path in display.band_.get_paths() for x, y in path.vertices.tolist()
    }
    assert {end for end in ends if np.isfinite(end[1])} <= drawn


def test_the_difference_to_a_reference_or_a_model_has_its_own_picture(scored, ax):
    y, y_prob = scored
    display = DecisionCurveDisplay.from_predictions(
        y, y_prob, thresholds=THRESHOLDS, against="blurred", ax=ax
    )
    found = display.curve.differences["blurred"]
    assert_array_equal(display.lines_["p"].get_ydata(), found.difference)
    assert_array_equal(display.reference_lines_["blurred"].get_ydata(), np.zeros(4))
    assert ax.get_ylabel() == "net benefit of p, over blurred"


def test_treating_all_at_high_thresholds_is_cut_off(scored):
    display = DecisionCurveDisplay.from_predictions(*scored)
    low, high = display.ax_.get_ylim()
    assert -high < low < 0.0
    assert min(display.reference_lines_["treat all"].get_ydata()) < low
    assert len(display.curve.points) == 99


def test_plot_changes_nothing_of_the_record(scored, ax):
    display = DecisionCurveDisplay(decision_curve(*scored, n_resamples=20))
    before = {name: values.copy() for name, values in display.curve.benefits.items()}
    display.plot(ax).plot(against="treat all")
    for name, values in display.curve.benefits.items():
        assert_array_equal(values, before[name])


def test_classifiers_are_asked_for_probabilities():
    X, y = load_breast_cancer(return_X_y=True)
    words = np.where(y == 0, "malignant", "benign")
    models = {
        "ELM": ELMClassifier(30, random_state=0).fit(X[::2], words[::2]),
        "tree": DecisionTreeClassifier(max_depth=2, random_state=0).fit(X[::2], words[::2]),
    }
    display = DecisionCurveDisplay.from_estimator(
        models, X[1::2], words[1::2], thresholds=THRESHOLDS, n_resamples=50
    )
    for name, model in models.items():
        P = model.predict_proba(X[1::2])[:, 1]  # malignant is the second class
        expected = net_benefit(words[1::2], P, threshold=THRESHOLDS)
        assert_allclose(display.lines_[name].get_ydata(), expected, atol=1e-12)
    other = DecisionCurveDisplay.from_estimator(
        models["ELM"], X[1::2], words[1::2], pos_label="benign", n_resamples=50
    )
    P = models["ELM"].predict_proba(X[1::2])[:, 0]
    expected = net_benefit(words[1::2], P, threshold=other.curve.points, pos_label="benign")
    assert_allclose(other.lines_["ELMClassifier"].get_ydata(), expected, atol=1e-12)


def test_more_classes_are_drawn_along_a_ray_of_costs(ax):
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=500).fit(X[::2], y[::2])
    display = DecisionCurveDisplay.from_estimator(model, X[1::2], y[1::2], factor_of=(2, 1), ax=ax)
    ray = cost_ray(y[1::2], model.predict_proba(X[1::2]), factor_of=(2, 1))
    assert_allclose(display.lines_["LogisticRegression"].get_ydata(), ray.saved, atol=1e-12)
    assert list(display.reference_lines_) == ["best constant answer"]
    assert ax.get_xscale() == "log"
    assert ax.get_xlabel() == "factor of the cost of 2 taken for 1"
    assert ax.get_ylabel() == "mean cost saved per row"


def test_a_model_worse_than_nothing_is_drawn():
    display = DecisionCurveDisplay.from_predictions([0, 0, 0, 1], [0.9, 0.8, 0.7, 0.1])
    assert min(display.lines_["model"].get_ydata()) < 0
    display.figure_.canvas.draw()


def test_wrong_arguments_are_refused_before_a_figure(scored):
    y, y_prob = scored
    with pytest.raises(ValueError, match=r"against must be one of .*got 'nothing'"):
        DecisionCurveDisplay.from_predictions(y, y_prob, against="nothing")
    with pytest.raises(ValueError, match=r"thresholds must lie between 0 and 1"):
        DecisionCurveDisplay.from_predictions(y, y_prob, thresholds=[0, 1])
    with pytest.raises(ValueError, match="y_true must have two classes, got 3"):
        DecisionCurveDisplay.from_predictions([0, 1, 2], [0.1, 0.2, 0.3])
    with pytest.raises(NotFittedError):
        DecisionCurveDisplay.from_estimator(ELMClassifier(), [[0]], [0])
    with pytest.raises(ValueError, match="estimator must name a classifier or more"):
        DecisionCurveDisplay.from_estimator({}, [[0]], [0])
    assert not plt.get_fignums()


def test_classifiers_must_have_probabilities_of_the_same_classes():
    X, y = load_iris(return_X_y=True)
    models = {"all": ELMClassifier(5).fit(X, y), "two": ELMClassifier(5).fit(X[50:], y[50:])}
    with pytest.raises(ValueError, match="classifiers of the same classes"):
        DecisionCurveDisplay.from_estimator(models, X, y)
    machine = LinearSVC().fit(X[50:] / 8, y[50:])
    with pytest.raises(ValueError, match="estimator must have predict_proba, got 'LinearSVC'"):
        DecisionCurveDisplay.from_estimator(machine, X, y)
