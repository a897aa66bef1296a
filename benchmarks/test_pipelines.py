"""The page about pipelines says what the kept results say."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from benchmarks.pipelines import (
    CONTENDERS,
    PAGE,
    SPLITS,
    filled,
    fitted,
    log_loss,
    measured,
    stored,
    summary,
)


def test_the_page_is_up_to_date():
    page = PAGE.read_text(encoding="utf-8")
    assert filled(page, stored()) == page, "run: python -m benchmarks.pipelines --show"


def test_every_model_has_every_set_and_split():
    rows = {(row["data"], row["method"], row["split"]) for row in stored()["quality"]}
    sets = {data for data, _, _ in rows}
    assert len(rows) == len(stored()["quality"])
    assert rows == {(d, m.name, s) for d in sets for m in CONTENDERS for s in range(SPLITS)}


def test_what_the_page_says_of_accuracy_holds():
    means = summary(stored()["quality"])
    assert abs(means.accuracy["ELMClassifier, tuned"] - means.accuracy["pipeline, tuned"]) < 0.01
    speed = stored()["speed"]
    assert speed["ratio"][2] < 1
    assert speed["bytes"]["ELMClassifier"] < speed["bytes"]["pipeline"]


@pytest.mark.parametrize("contender", CONTENDERS[:4], ids=lambda one: one.name)
def test_models_are_fitted_and_measured(contender):
    X, y = load_iris(return_X_y=True)
    train = np.arange(len(y)) % 2 == 0
    accuracy, loss = measured(contender, X, y, train, ~train)
    assert accuracy > 0.5
    assert loss < 1.2
    if contender.grid is not None:
        model = fitted(contender, X, y)
        assert len(model.predict(X)) == len(y)


def test_the_log_loss_is_that_of_the_true_class():
    P, classes = np.array([[0.5, 0.5], [0.1, 0.9]]), np.array(["a", "b"])
    expected = -(np.log(0.5) + np.log(0.9)) / 2
    assert log_loss(P, classes, np.array(["a", "b"])) == pytest.approx(expected)
    assert log_loss(P[:1], classes, np.array(["c"])) == pytest.approx(-np.log(1e-6))
