"""What predictions save, against every constant answer in turn."""

import numpy as np
import pandas as pd
import pytest

from ecselm.costs import outcome_costs
from ecselm.metrics import savings_score, total_cost

CLASSES = np.array(["flu", "pox", "well"])
MATRIX = np.array([[0.0, 5.0, 2.0], [1.0, 0.0, 3.0], [7.0, 4.0, 0.0]])
WEIGHTED = pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])


@pytest.fixture
def codes(rng):
    """Return what 30 rows are and what they are taken for."""
    return rng.integers(0, 3, 30), rng.integers(0, 3, 30)


def literal(truth, predicted, **stated):
    """Return the savings by asking what each constant answer costs."""
    trivial = min(total_cost(truth, [answer] * len(truth), **stated) for answer in CLASSES)
    return 1.0 - total_cost(truth, predicted, **stated) / trivial


@pytest.mark.parametrize(
    "cost",
    [MATRIX, None, {("flu", "well"): 9.0}, {"pox": 4.0}, pd.DataFrame(MATRIX, CLASSES, CLASSES)],
    ids=["matrix", "none", "pairs", "classes", "frame"],
)
@WEIGHTED
def test_savings_are_against_the_best_constant_answer(rng, codes, cost, weighted):
    truth, predicted = (CLASSES[y] for y in codes)
    stated = {"cost": cost, "labels": CLASSES}
    stated["sample_weight"] = rng.uniform(0.2, 3.0, 30) if weighted else None
    expected = literal(truth, predicted, **stated)
    assert savings_score(truth, predicted, **stated) == pytest.approx(expected, rel=1e-12)


@WEIGHTED
def test_costs_by_row_do_as_well(rng, codes, weighted):
    truth, predicted = (CLASSES[y] for y in codes)
    stated = {"sample_cost": rng.uniform(0.0, 9.0, (30, 3)), "labels": CLASSES}
    stated["sample_weight"] = rng.uniform(0.2, 3.0, 30) if weighted else None
    expected = literal(truth, predicted, **stated)
    assert savings_score(truth, predicted, **stated) == pytest.approx(expected, rel=1e-12)


def test_costs_by_row_that_repeat_a_matrix_give_the_same(codes):
    truth, predicted = codes
    by_class = savings_score(truth, predicted, cost=MATRIX)
    assert savings_score(truth, predicted, sample_cost=MATRIX[truth]) == pytest.approx(by_class)


def test_two_classes_are_those_of_bahnsen(rng):
    y, predicted = rng.integers(0, 2, (2, 50))
    costs = outcome_costs(y, fn_cost=rng.uniform(50.0, 900.0, 50), fp_cost=5.0, tp_cost=5.0)
    none, everyone = costs[:, 0].sum(), costs[:, 1].sum()
    expected = 1.0 - costs[np.arange(50), predicted].sum() / min(none, everyone)
    assert savings_score(y, predicted, sample_cost=costs) == pytest.approx(expected, rel=1e-12)


def test_the_unit_of_the_costs_does_not_matter(codes):
    expected = savings_score(*codes, cost=MATRIX)
    assert savings_score(*codes, cost=1e6 * MATRIX) == pytest.approx(expected, rel=1e-12)


def test_right_answers_save_all_and_constant_ones_nothing_at_best(codes):
    truth, _ = codes
    assert savings_score(truth, truth, cost=MATRIX) == 1.0
    constant = [savings_score(truth, np.full(30, j), cost=MATRIX) for j in range(3)]
    assert max(constant) == 0.0


def test_labels_add_constant_answers_that_do_not_occur():
    truth, predicted = ["flu", "pox", "pox"], ["flu", "pox", "flu"]
    cost = {("flu", "pox"): 9.0, ("pox", "flu"): 9.0, ("flu", "well"): 1.0, ("pox", "well"): 1.0}
    assert savings_score(truth, predicted, cost=cost, labels=CLASSES) == pytest.approx(
        1.0 - 9.0 / 3.0
    )


@pytest.mark.parametrize(
    ("truth", "stated", "message"),
    [
        (["a", "a"], {}, r"savings must have a best constant prediction .* more than 0, got 0"),
        (["a", "b"], {"sample_cost": [[-1, 2], [-3, 0]]}, "more than 0, got -4"),
        (["a", "b"], {"cost": 1 - np.eye(2), "sample_cost": np.eye(2)}, "stated once"),
        (["a", "b"], {"sample_cost": np.eye(3)}, r"sample_cost must have the shape \(2, 2\)"),
        (["a", "b", "a"], {}, "inconsistent numbers of samples"),
    ],
)
def test_what_saves_nothing_is_refused(truth, stated, message):
    with pytest.raises(ValueError, match=message):
        savings_score(truth, ["b", "a"], **stated)
