import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ecselm import CostSearchCV, CSELMClassifier, ECSELMClassifier, ELMClassifier
from ecselm.displays import CostMatrixDisplay

MISSED = ("malignant", "benign")


@pytest.fixture(scope="module")
def tumours():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:200], np.where(y == 0, "malignant", "benign")[:200]


def written(display):
    return [["" if text is None else text.get_text() for text in row] for row in display.text_]


@pytest.mark.parametrize(
    "matrix",
    [
        {("ill", "well"): 6, ("well", "ill"): 2},
        [[0, 6], [2, 0]],
        np.array([[1, 7], [3, 1]]),
        pd.DataFrame([[0, 2], [6, 0]], ["well", "ill"], ["well", "ill"]),
        pl.DataFrame({"ill": [0, 2], "well": [6, 0]}),
    ],
)
def test_any_form_of_costs_is_drawn_with_true_classes_in_rows(matrix, ax):
    display = CostMatrixDisplay.from_matrix(matrix, labels=["ill", "well"], ax=ax)
    assert written(display) == [["", "6"], ["2", ""]]
    assert display.im_.get_array().mask.tolist() == [[True, False], [False, True]]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["ill", "well"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["ill", "well"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("predicted class", "true class")
    assert display.ax_ is ax
    assert display.figure_ is ax.figure


def test_the_cheapest_mistake_may_be_the_unit():
    matrix = [[0, 6, 0], [3, 0, 12], [9, 3, 0]]
    display = CostMatrixDisplay.from_matrix(matrix, normalize="least")
    assert written(display) == [["", "2", "0"], ["1", "", "4"], ["3", "1", ""]]
    assert "cheapest" in display.ax_.get_title()


def test_labels_of_a_frame_are_taken_from_it():
    frame = pd.DataFrame([[0, 6], [2, 0]], ["b", "a"], ["b", "a"])
    display = CostMatrixDisplay.from_matrix(frame)
    assert display.labels.tolist() == ["b", "a"]
    assert written(display) == [["", "6"], ["2", ""]]


def test_numbers_stand_out_from_their_cells():
    matrix = np.geomspace(1, 100, 25).reshape(5, 5) * (1 - np.eye(5))
    display = CostMatrixDisplay.from_matrix(matrix)
    texts = [text for text in display.text_.ravel() if text is not None]
    assert {text.get_color() for text in texts} == {"black", "white"}
    for (i, j), text in np.ndenumerate(display.text_):
        if text is not None:
            cell = display.im_.to_rgba(display.im_.get_array()[i, j])
            assert (
                contrast(cell, text.get_color()) > 4.0
            )  # WCAG asks 4.5 of small print, 3 of large


def contrast(one, two):
    light = []
    for colour in (one, two):
        s = np.array(mpl.colors.to_rgb(colour))
        linear = np.where(s <= 0.04045, s / 12.92, ((s + 0.055) / 1.055) ** 2.4)
        light.append(linear @ [0.2126, 0.7152, 0.0722])
    return (max(light) + 0.05) / (min(light) + 0.05)


def test_dearer_is_darker_in_greyscale():
    display = CostMatrixDisplay.from_matrix([[0, 1, 3], [10, 0, 30], [100, 300, 0]])
    costs = [1, 3, 10, 30, 100, 300]
    greys = [display.im_.to_rgba(cost)[:3] @ np.array([0.299, 0.587, 0.114]) for cost in costs]
    assert (np.diff(greys) < 0).all()


def test_many_classes_have_a_colour_bar_in_the_place_of_numbers(rng):
    matrix = rng.lognormal(size=(13, 13))
    np.fill_diagonal(matrix, 0)
    display = CostMatrixDisplay.from_matrix(matrix)
    assert display.text_ is None
    assert display.colorbar_ is not None
    off = matrix[~np.eye(13, dtype=bool)]
    assert display.im_.get_clim() == (off.min(), off.max())


@pytest.mark.parametrize("matrix", [[[0, 1], [1, 0]], [[0, 0], [1, 0]]])
def test_equal_costs_and_costs_of_zero_are_drawn(matrix):
    display = CostMatrixDisplay.from_matrix(matrix, colorbar=True)
    display.figure_.canvas.draw()
    assert written(display)[1][0] == "1"


def test_long_names_stay_within_a_new_figure_and_apart():
    names = [f"a class with a long name {i}" for i in range(12)]
    display = CostMatrixDisplay.from_matrix(1 - np.eye(12), labels=names)
    display.figure_.canvas.draw()
    frame = display.figure_.bbox
    for axis in (display.ax_.xaxis, display.ax_.yaxis):
        boxes = [label.get_window_extent() for label in axis.get_ticklabels()]
        assert all(frame.x0 <= box.x0 and frame.y0 <= box.y0 for box in boxes)
        assert not any(one.overlaps(two) for one, two in zip(boxes[1:], boxes, strict=False))


def test_stated_costs_of_a_machine_are_drawn(tumours):
    model = CSELMClassifier(20, cost={MISSED: 5, MISSED[::-1]: 2}, random_state=0).fit(*tumours)
    assert written(CostMatrixDisplay.from_estimator(model)) == [["", "1"], ["2.5", ""]]
    assert written(CostMatrixDisplay.from_estimator(model, normalize=None)) == [
        ["", "2"],
        ["5", ""],
    ]


def test_learned_costs_are_drawn_also_behind_a_pipeline(tumours):
    model = ECSELMClassifier(20, population_size=5, max_epochs=1, random_state=0)
    pipeline = make_pipeline(StandardScaler(), model).fit(*tumours)
    display = CostMatrixDisplay.from_estimator(pipeline, normalize=None)
    learned = pipeline[-1].cost_matrix_
    assert_allclose(display.im_.get_array().filled(0), learned, rtol=1e-12)
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == ["benign", "malignant"]


def test_costs_learned_around_another_classifier_are_drawn(tumours):
    inner = make_pipeline(StandardScaler(), LogisticRegression())
    model = CostSearchCV(inner, population_size=4, max_epochs=1, random_state=0).fit(*tumours)
    display = CostMatrixDisplay.from_estimator(model, normalize=None)
    assert_allclose(display.im_.get_array().filled(0), model.cost_matrix_, rtol=1e-12)


def test_what_has_no_costs_by_class_is_refused_before_a_figure(tumours):
    X, y = tumours
    plain = ELMClassifier(10).fit(X, y)
    by_row = CSELMClassifier(10).fit(X, y, sample_cost=np.ones(len(y)))
    with pytest.raises(NotFittedError):
        CostMatrixDisplay.from_estimator(ECSELMClassifier())
    with pytest.raises(ValueError, match="must have cost_matrix_, got ELMClassifier"):
        CostMatrixDisplay.from_estimator(plain)
    with pytest.raises(ValueError, match="costs by class to draw them, got costs by row"):
        CostMatrixDisplay.from_estimator(by_row)
    assert not plt.get_fignums()


def test_wrong_arguments_are_refused_before_a_figure():
    with pytest.raises(ValueError, match="labels must be given for costs in a dict"):
        CostMatrixDisplay.from_matrix({("a", "b"): 1})
    with pytest.raises(ValueError, match="normalize must be 'least' or None, got 'most'"):
        CostMatrixDisplay.from_matrix([[0, 1], [1, 0]], normalize="most")
    with pytest.raises(ValueError, match=r"cost must have the shape \(3, 3\)"):
        CostMatrixDisplay.from_matrix([[0, 1], [1, 0]], labels=list("abc"))
    assert not plt.get_fignums()
