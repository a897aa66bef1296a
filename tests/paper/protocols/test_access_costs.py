import numpy as np
import pytest

from ecselm import ECSELMClassifier
from ecselm.metrics import mean_cost
from ecselm.paper.protocols.access import (
    GUESS,
    MAX_RATIO,
    MEMBERS,
    STRANGER,
    TRUE_COSTS,
    ErrorCosts,
    draw_ordered_costs,
    known_order,
    mean_ordered_costs,
)

CLASSES = np.array([*MEMBERS, STRANGER])


def test_a_rule_separates_the_three_errors():
    cost = ErrorCosts(100.0, 10.0, 1.0)(CLASSES)
    assert cost[-1, :-1].tolist() == [100.0] * 10
    assert cost[:-1, -1].tolist() == [10.0] * 10
    assert np.array_equal(cost[:-1, :-1], 1.0 - np.eye(10))
    assert cost[-1, -1] == 0.0


def test_a_rule_holds_for_the_classes_of_a_fold():
    assert GUESS(np.array(["member 03", STRANGER])).tolist() == [[0.0, 2.0], [4.0, 0.0]]
    assert GUESS(np.array(["member 03"])).tolist() == [[0.0]]


@pytest.mark.parametrize("values", [(2.0, 3.0, 1.0), (3.0, 1.0, 1.0), (3.0, 2.0, 0.0)])
def test_costs_out_of_order_are_refused(values):
    with pytest.raises(ValueError, match="let_in > rejected > confused > 0 must hold, got"):
        ErrorCosts(*values)


def test_average_over_draws_is_the_cost_by_the_mean_of_the_draws(rng):
    y_true, y_pred = rng.choice(CLASSES, 60), rng.choice(CLASSES, 60)
    draws = draw_ordered_costs(50, np.random.default_rng(3))
    each = [mean_cost(y_true, y_pred, cost=ErrorCosts(*draw)) for draw in draws.tolist()]
    assert np.mean(each) == pytest.approx(mean_cost(y_true, y_pred, cost=mean_ordered_costs(50, 3)))


def test_mean_of_the_draws_is_near_its_limit():
    """The larger and the smaller of two log-uniform numbers, integrated."""
    u = np.log(MAX_RATIO)
    larger = 2.0 / u**2 * (MAX_RATIO * (u - 1.0) + 1.0)
    smaller = 2.0 / u**2 * (MAX_RATIO - u - 1.0)
    found = mean_ordered_costs(400_000)
    assert (found.let_in, found.rejected) == pytest.approx((larger, smaller), rel=0.01)
    assert found.confused == 1.0


@pytest.mark.parametrize("costs", [GUESS, mean_ordered_costs(), *TRUE_COSTS], ids=str)
def test_all_given_costs_obey_the_known_order(costs):
    cost = costs(CLASSES)
    by_class = dict(zip(CLASSES.tolist(), cost.sum(axis=1), strict=True))
    assert all(by_class[higher] > by_class[lower] for higher, lower in known_order())
    assert cost[-1, :-1].min() > cost[:-1, -1].max() > cost[0, 1] > 0


def test_learned_costs_obey_the_order(rng):
    y = np.repeat(CLASSES, 6)
    X = rng.standard_normal((len(y), 3)) + 2.0 * np.repeat(rng.standard_normal((11, 3)), 6, axis=0)
    model = ECSELMClassifier(
        20,
        cost=mean_ordered_costs(),
        cost_order=known_order(),
        scoring="mean_cost",
        keep_prior=False,
        population_size=6,
        max_epochs=2,
        fitness=2,
        ensemble=None,
        random_state=0,
    ).fit(X, y)
    assert model.class_costs_[-1] > model.class_costs_[:-1].max()
