import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ecselm import ECSELMClassifier, EELMClassifier, ELMClassifier
from ecselm.displays import ConvergenceDisplay

HISTORY = {
    "generation": [0, 1, 2],
    "evaluations": [5, 10, 15],
    "best": [0.8, 0.9, 0.9],
    "mean": [0.5, 0.7, 0.8],
}
PRIORS = {"ones": 0.75, "w1": 0.85}


@pytest.fixture(scope="module")
def data():
    X, y = load_iris(return_X_y=True)
    return X, np.array(["a", "b", "c"])[y]


def learning(seed=0):
    return ECSELMClassifier(20, population_size=5, max_epochs=2, random_state=seed)


@pytest.mark.parametrize("kind", [dict, pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("x", ["generation", "evaluations"])
def test_curves_hold_the_history(kind, x, ax):
    display = ConvergenceDisplay.from_history(kind(HISTORY), x=x, ax=ax)
    best, mean = display.best_lines_["search"], display.mean_lines_["search"]
    assert_array_equal(best.get_xdata(), HISTORY[x])
    assert_array_equal(best.get_ydata(), HISTORY["best"])
    assert_array_equal(mean.get_ydata(), HISTORY["mean"])
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert not display.prior_lines_


def test_priors_are_lines_at_their_fitness():
    display = ConvergenceDisplay.from_history(HISTORY, prior_scores=PRIORS)
    heights = {prior: line.get_ydata()[0] for (_, prior), line in display.prior_lines_.items()}
    assert heights == PRIORS
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert "equal costs, 0.75" in labels
    assert "W1, 0.85" in labels


@pytest.mark.parametrize(("priors", "drawn"), [("best", ["w1"]), (None, []), ("all", list(PRIORS))])
def test_which_priors_are_drawn_may_be_chosen(priors, drawn):
    display = ConvergenceDisplay.from_history(HISTORY, prior_scores=PRIORS, priors=priors)
    assert [prior for _, prior in display.prior_lines_] == drawn


def test_the_search_of_an_estimator_is_drawn_also_behind_a_pipeline(data):
    model = make_pipeline(StandardScaler(), learning()).fit(*data)
    display = ConvergenceDisplay.from_estimator(model)
    history = model[-1].history_
    assert_array_equal(display.best_lines_["search"].get_ydata(), history["best"])
    assert_array_equal(display.mean_lines_["search"].get_ydata(), history["mean"])
    heights = {prior: line.get_ydata()[0] for (_, prior), line in display.prior_lines_.items()}
    assert heights == model[-1].prior_scores_


def test_several_searches_are_labels_apart_each_with_its_best_prior(data):
    evolved = EELMClassifier(5, population_size=5, max_epochs=2, random_state=0).fit(*data)
    models = {"costs": learning().fit(*data), "weights": evolved}
    display = ConvergenceDisplay.from_estimator(models)
    assert_array_equal(display.best_lines_["weights"].get_ydata(), evolved.history_["best"])
    scores = models["costs"].prior_scores_
    assert [name for name, _ in display.prior_lines_] == ["costs"]
    (line,) = display.prior_lines_.values()
    assert line.get_ydata()[0] == max(scores.values())
    assert len({line.get_color() for line in display.best_lines_.values()}) == 2
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert "weights: best so far" in labels


def test_candidates_without_a_solution_leave_a_gap():
    history = {**HISTORY, "mean": [-np.inf, 0.7, 0.8]}
    display = ConvergenceDisplay.from_history(history)
    display.figure_.canvas.draw()
    assert display.ax_.get_ylim()[0] > 0.5


def test_what_did_not_search_is_refused_before_a_figure(data):
    with pytest.raises(NotFittedError):
        ConvergenceDisplay.from_estimator(learning())
    with pytest.raises(ValueError, match="must have history_, got ELMClassifier"):
        ConvergenceDisplay.from_estimator(ELMClassifier(5).fit(*data))
    with pytest.raises(ValueError, match="one estimator or more, got an empty dict"):
        ConvergenceDisplay.from_estimator({})
    assert not plt.get_fignums()


def test_wrong_options_are_refused_before_a_figure():
    short = {name: HISTORY[name] for name in ("generation", "best", "mean")}
    with pytest.raises(ValueError, match=r"x must be one of .*got 'seconds'"):
        ConvergenceDisplay.from_history(HISTORY, x="seconds")
    with pytest.raises(ValueError, match="column of the history of 'search', got 'evaluations'"):
        ConvergenceDisplay.from_history(short, x="evaluations")
    with pytest.raises(ValueError, match=r"priors must be one of .*got 'some'"):
        ConvergenceDisplay.from_history(HISTORY, priors="some")
    with pytest.raises(ValueError, match="columns best and mean, got no 'mean'"):
        ConvergenceDisplay.from_history({"generation": [0], "best": [1.0]})
    assert not plt.get_fignums()
