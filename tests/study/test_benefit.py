"""Decision curves of a card: equal to the metric's, beside baselines with probabilities."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ecselm.metrics import net_benefit
from ecselm.metrics.intervals import RecordedClassifier
from ecselm.study import Card, DataSummary, DecisionCurves, Evaluation, RequestSummary
from ecselm.study.benefit import best_baseline, decision_curves, leads, trails

CLASSES = np.array(["ill", "well"])


def recorded(P, classes=CLASSES):
    return RecordedClassifier(classes, classes[P.argmax(axis=1)], P)


@pytest.fixture
def rows(rng):
    p = rng.beta(1.0, 2.0, 300)
    y = np.where(rng.random(300) < p, "ill", "well")
    return y, p


def two(p):
    return recorded(np.column_stack([p, 1 - p]))


def test_values_are_net_benefits_of_the_class(rows):
    y, p = rows
    found = decision_curves(two(p), {}, y, "ill")
    expected = net_benefit(y, p, threshold=np.array(found.points), pos_label="ill")
    assert_allclose(found.model.values, expected, rtol=1e-5, atol=1e-9)
    assert found.stated is None
    assert [one.name for one in found.references] == ["treat all", "treat none"]


def test_stated_costs_mark_their_threshold(rows):
    y, p = rows
    cost = np.array([[0.0, 9.0], [1.0, 0.0]])
    for name, expected in (("ill", 0.1), ("well", 0.9)):
        found = decision_curves(two(p), {}, y, name, cost=cost)
        assert found.points[found.stated] == pytest.approx(expected)


def test_baselines_without_probabilities_and_constants_are_left_out(rows, rng):
    y, p = rows
    noisy = np.clip(p + rng.normal(0, 0.3, 300), 0.001, 0.999)
    others = {
        "noisy": two(noisy),
        "hard": RecordedClassifier(CLASSES, y),
        "constant": two(np.full(300, 0.3)),
    }
    found = decision_curves(two(p), others, y, "ill")
    assert [one.name for one in found.baselines] == ["noisy"]
    (noise,) = found.baselines
    assert sum(leads(noise)) > 10
    assert sum(trails(noise)) == 0
    assert best_baseline(found) is noise
    assert f"lead beyond chance at {sum(leads(noise))} and trail at 0" in found.sentence


def test_more_classes_have_a_ray_of_costs(rng):
    classes = np.array(["a", "b", "c"])
    P = rng.dirichlet(np.full(3, 0.5), 400)
    y = classes[(rng.random((400, 1)) > P.cumsum(axis=1)).sum(axis=1).clip(max=2)]
    cost = np.array([[0.0, 4.0, 2.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    found = decision_curves(recorded(P, classes), {}, y, "a", cost=cost)
    assert found.unit == "cost saved"
    assert found.points[found.stated] == pytest.approx(1.0)
    answers = (P @ cost).argmin(axis=1)
    codes = np.searchsorted(classes, y)
    best = min(cost[codes, j].mean() for j in range(3))
    assert found.model.values[found.stated] == pytest.approx(
        best - cost[codes, answers].mean(), rel=1e-5
    )


def test_no_probabilities_no_curves(rows):
    y, _ = rows
    assert decision_curves(RecordedClassifier(CLASSES, y), {}, y, "ill") is None


def test_a_card_keeps_them(rows):
    y, p = rows
    found = decision_curves(two(p), {"again": two(p)}, y, "ill")
    (again,) = found.baselines
    assert set(again.low) == {None}  # equal models differ in no row
    request = RequestSummary("classes", "y", "gmean", (), 0.25, 0)
    card = Card(request, DataSummary("", 1, 1, (), ()), Evaluation({}, benefit=found))
    read = Card.from_json(card.to_json())
    assert read.test.benefit == found
    assert isinstance(read.test.benefit, DecisionCurves)
    assert json.loads(card.to_json())["test"]["benefit"]["class_name"] == "ill"
