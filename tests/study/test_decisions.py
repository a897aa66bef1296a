"""Decisions on tables: which costs decide, what is not known, and what asking saves."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ecselm import CostDecisionClassifier, CSELMClassifier
from ecselm.costs import CostConstraints, min_cost_decision
from ecselm.costs.policy import DecisionPolicy
from ecselm.estimators._policy import Decisions
from ecselm.study import (
    Card,
    ClassCount,
    CostColumn,
    CostOptions,
    DataSummary,
    Evaluation,
    RequestSummary,
    decisions_by,
    explanations,
)
from ecselm.study.decisions import (
    ASSUMED,
    asking_results,
    cost_columns,
    decisions_of,
    operating_points,
    row_cost_matrices,
    unknown_costs,
)

CLASSES = np.array(["flu", "pox", "well"])


def decided(sentences, P, classes=None, **options):
    constraints = CostConstraints.from_sentences(sentences, classes=classes)
    shares = np.full(P.shape[1], 1.0 / P.shape[1])
    policy = DecisionPolicy.of_costs(constraints.region, shares, P=P, **options)
    return Decisions(policy, P, policy.answers(P))


def probabilities(n, k, seed=0):
    return np.random.default_rng(seed).dirichlet(np.full(k, 0.7), n)


def card_of(counts, cost_matrix=None):
    classes = tuple(ClassCount(str(i), n, 1) for i, n in enumerate(counts))
    return Card(
        RequestSummary("classes", "y", "mean_cost", (), 0.25, 0),
        DataSummary("", sum(counts), 1, (), classes),
        Evaluation({}, cost_matrix=cost_matrix),
    )


# Options.


def test_asking_is_priced_by_class_or_for_all():
    assert CostOptions(reject_cost=("2",)).ask_cost(CLASSES).tolist() == [2.0, 2.0, 2.0]
    by_class = CostOptions(reject_cost=("well=1", "flu=0.5", "pox=3"))
    assert by_class.ask_cost(CLASSES).tolist() == [0.5, 3.0, 1.0]
    assert CostOptions().ask_cost(CLASSES) is None


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"reject_cost": ("much",)}, r"--reject-cost must be a finite number >= 0.* got 'much'"),
        ({"reject_cost": ("nan",)}, "--reject-cost must be a finite number"),
        ({"reject_cost": ("flu=1",)}, "reject_cost must name every class"),
        ({"reject_cost": ("flu=1", "2")}, "--reject-cost must state each class once"),
        ({"reject_cost": ("fly=1",)}, "--reject-cost must name classes.* did you mean 'flu'"),
        ({"columns": ("x",), "worse": ("flu > pox",)}, "--cost-column must go with costs that are"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(options, sentence):
    stated = CostOptions(**options)
    with pytest.raises(ValueError, match=sentence):
        stated.ask_cost(CLASSES), stated.constraints(CLASSES)


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, 5.0, np.nan])
def test_a_capacity_is_a_share(share):
    with pytest.raises(ValueError, match="--reject-capacity must be a share between 0 and 1"):
        CostOptions(reject_capacity=share)


# Costs by row.


def test_columns_hold_costs_of_one_mistake_of_a_class_or_of_all():
    names = ["loss", "a->b", "x=1"]
    found = cost_columns(["flu->well=loss", "pox = x=1", "a->b"], [*names, "1"], CLASSES)
    assert found[0] == CostColumn("loss", "flu", "well")
    assert found[1] == CostColumn("x=1", "pox")
    assert found[2] == CostColumn("a->b")
    with pytest.raises(ValueError, match=r"must name a column .* did you mean 'loss'"):
        cost_columns(["flu->well=los"], names, CLASSES)


def test_matrices_of_rows_are_those_of_a_literal_loop():
    frame = pd.DataFrame({"a": [3.0, 1.5], "b": ["7", "0,5"]})
    columns = [CostColumn("a", "flu"), CostColumn("b", "pox", "well")]
    others = np.array([[0.0, 9.0, 9.0], [2.0, 0.0, 9.0], [4.0, 5.0, 0.0]])
    found = row_cost_matrices(frame, columns, CLASSES, others)
    for n, (a, b) in enumerate(((3.0, 7.0), (1.5, 0.5))):
        expected = [[0.0, a, a], [2.0, 0.0, b], [4.0, 5.0, 0.0]]
        assert found[n].tolist() == expected
    assert row_cost_matrices(frame, [], CLASSES) is None
    whole = row_cost_matrices(frame, [CostColumn("a")], CLASSES)
    assert whole[0].tolist() == [[0.0, 3.0, 3.0], [3.0, 0.0, 3.0], [3.0, 3.0, 0.0]]


@pytest.mark.parametrize("cell", ["-1", "", "much", "inf"])
def test_a_cell_that_is_no_cost_is_named_by_row(cell):
    frame = pd.DataFrame({"a": ["1", "2", cell]})
    with pytest.raises(ValueError, match=r"column 'a' must hold a finite cost >= 0 .* in row 3"):
        row_cost_matrices(frame, [CostColumn("a")], CLASSES)


# What is not known.


def test_settled_rows_and_regret_are_counted_on_the_rows():
    P = np.column_stack([np.linspace(0.01, 0.99, 99), 1 - np.linspace(0.01, 0.99, 99)])
    decisions = decided(["ill->well = 3..20 * well->ill"], P)
    found = unknown_costs(decisions, are_stated=True, by_row=False)
    is_open = (P[:, 0] > 1 / 21) & (P[:, 0] < 1 / 4)
    assert found.n_settled == (~is_open).sum()
    costs = np.array([[[0, a], [1, 0]] for a in (3.0, 20.0)])
    worst = np.max([(P @ M)[np.arange(99), decisions.answers] - (P @ M).min(1) for M in costs], 0)
    np.testing.assert_allclose(found.mean_regret, worst[is_open].mean())
    np.testing.assert_allclose(found.largest_regret, worst.max())
    n_open = is_open.sum()
    assert found.sentence.startswith(f"{100 * (99 - n_open) / 99:.0f} % of the answers to 99")
    assert f"The other {n_open} cost at most" in found.sentence


@pytest.mark.parametrize("k", [2, 3, 5])
def test_without_costs_mistakes_may_cost_ten_times_as_much_as_others(k):
    P = probabilities(40, k)
    policy = DecisionPolicy.of_costs(CostConstraints(list(range(k))).region, np.ones(k) / k)
    found = unknown_costs(Decisions(policy, P, P.argmax(1)), are_stated=False, by_row=False)
    corners = np.array(np.meshgrid(*[[1.0, ASSUMED]] * k)).reshape(k, -1).T
    worst = np.zeros(40)
    for t in corners:
        costs = P @ (t[:, np.newaxis] * (1 - np.eye(k)))
        worst = np.maximum(worst, costs[np.arange(40), P.argmax(1)] - costs.min(1))
    assert found.n_settled == (worst <= 1e-12).sum()
    np.testing.assert_allclose(found.largest_regret, worst.max())
    assert found.sentence.startswith("No costs are stated. If some mistakes cost up to 10 times")


def test_known_costs_leave_nothing_open():
    decisions = decided(["ill->well = 5"], probabilities(20, 2), ["ill", "well"])
    found = unknown_costs(decisions, are_stated=True, by_row=False)
    assert found.n_settled == 20
    assert found.sentence == "All costs are known, so no answer depends on costs that are not."


# Asking.


@pytest.mark.parametrize("capacity", [None, 0.1])
def test_what_asking_saves_is_the_difference_of_sums(capacity):
    k, n = 3, 200
    P, rng = probabilities(n, k, 1), np.random.default_rng(2)
    price = np.array([0.4, 0.2, 0.6])
    M = np.array([[0.0, 4.0, 2.0], [1.0, 0.0, 1.0], [3.0, 1.0, 0.0]])
    policy = DecisionPolicy.of_costs(
        CostConstraints.from_costs(M, CLASSES).region,
        np.ones(k) / k,
        P=P,
        ask_cost=price,
        capacity=capacity,
    )
    y = np.array([rng.choice(k, p=row) for row in P])
    decisions = Decisions(policy, P, policy.answers(P))
    found = asking_results(decisions, y)
    best = (P @ M).argmin(axis=1)
    with_asking = [
        price[c] if a == k else M[c, a] for c, a in zip(y, decisions.answers, strict=True)
    ]
    without = M[y, best]
    np.testing.assert_allclose(found.mean_cost, np.mean(with_asking))
    np.testing.assert_allclose(found.mean_cost_without, without.mean())
    np.testing.assert_allclose(found.saved.value, without.mean() - np.mean(with_asking))
    assert found.n_asked == (decisions.answers == k).sum() > 0
    assert found.n_wrong == ((decisions.answers == k) & (best != y)).sum()
    assert sum(found.by_class) == found.n_asked
    assert found.saved.low < found.saved.value < found.saved.high
    if capacity is not None:
        assert found.n_asked <= capacity * n


def test_asking_about_no_row_and_no_asking():
    P = probabilities(30, 2)
    never = decided(["ill->well = 5"], P, ["ill", "well"], ask_cost=np.array([99.0, 99.0]))
    found = asking_results(never, np.zeros(30, dtype=int))
    assert found.sentence == "0 of 30 test rows (0.0 %) are left to a person."
    assert asking_results(decided(["ill->well = 5"], P, ["ill", "well"]), np.zeros(30, int)) is None


# Operating points.


@pytest.mark.parametrize("by_row", [False, True])
def test_operating_points_are_those_of_a_literal_loop(by_row):
    P, rng = probabilities(80, 3, 3), np.random.default_rng(4)
    y = np.array([rng.choice(3, p=row) for row in P])
    decisions = decided(["pox = 2..10", "flu->well = 3"], P, CLASSES)
    M, counted = decisions.policy.matrix, decisions.policy.mean
    rows = None
    if by_row:
        rows = np.array([M * factor for factor in rng.uniform(0.5, 2.0, 80)])
        rows[:, 1] *= 9.0
        decisions = Decisions(decisions.policy, P, decisions.answers, rows)
    found = operating_points(decisions, y, CLASSES, are_stated=True)
    assert found.class_name == "pox"
    assert [one.factor for one in found.walk][::12] == [1 / 64, 1.0, 64.0]
    for one in (*found.points[1:3], *found.walk[::6]):
        costs = (np.tile(M, (80, 1, 1)) if rows is None else rows).copy()
        costs[:, 1] *= one.factor
        answers = np.array([(p @ C).argmin() for p, C in zip(P, costs, strict=True)])
        paid = np.tile(counted, (80, 1, 1)) if rows is None else rows
        assert one.n_caught == ((y == 1) & (answers == 1)).sum()
        assert one.n_missed == ((y == 1) & (answers != 1)).sum()
        assert one.n_alarms == ((y != 1) & (answers == 1)).sum()
        assert one.n_wrong == (y != answers).sum()
        np.testing.assert_allclose(
            one.mean_cost, np.mean([paid[n, y[n], answers[n]] for n in range(80)])
        )
    assert found.walk[12].n_wrong == found.points[0].n_wrong or by_row
    names = [one.name for one in found.points]
    assert ("the lowest possible costs" in names) is not by_row
    assert names[-1] == "all mistakes cost the same"


def test_more_expensive_misses_are_never_missed_more_often():
    P = probabilities(300, 2, 5)
    y = (np.random.default_rng(6).random(300) < P[:, 1]).astype(int)
    decisions = decided(["ill->well = 5"], P, ["ill", "well"])
    found = operating_points(decisions, y, ["ill", "well"], are_stated=False)
    missed = [one.n_missed for one in found.walk]
    alarms = [one.n_alarms for one in found.walk]
    assert missed == sorted(missed, reverse=True)
    assert alarms == sorted(alarms)
    assert all(one.mean_cost is None for one in found.points)


# Explanations.


def test_the_ratio_of_an_explanation_is_where_the_answer_turns():
    P = np.array([[0.1, 0.9], [0.2, 0.8], [0.9, 0.1]])
    decisions = decided(["ill->well = 3..20 * well->ill"], P)
    texts = explanations(decisions, ["ill", "well"])
    assert texts[2] == ""
    for row, ratio in ((0, 9.0), (1, 4.0)):
        assert f"costs more than {ratio:g} times" in texts[row]
        for factor, answer in ((1.01, 0), (0.99, 1)):
            M = np.array([[0.0, ratio * factor], [1.0, 0.0]])
            assert min_cost_decision(P[[row]], M)[0] == answer


def test_possible_answers_and_rows_to_ask_about_are_explained():
    P = np.array([[0.4, 0.35, 0.25], [0.98, 0.01, 0.01]])
    decisions = decided(["flu = 1..9", "pox = 1..9"], P, CLASSES)
    texts = explanations(decisions, CLASSES)
    assert texts[0].startswith("best for some possible costs: flu, pox")
    assert texts[1] == ""
    asked = decided(["flu = 1..9"], P, CLASSES, ask_cost=np.full(3, 0.1))
    assert explanations(asked, CLASSES)[0].startswith("left to a person: ")


# Models.


@pytest.fixture(scope="module")
def wines():
    X, y = load_wine(return_X_y=True)
    return X[::2], y[::2], X[1::2], y[1::2]


def test_other_costs_decide_by_the_probabilities_of_a_model(wines):
    X, y, X_new, _ = wines
    model = make_pipeline(StandardScaler(), CSELMClassifier(20, random_state=0)).fit(X, y)
    card = card_of(np.bincount(y).tolist())
    found = decisions_by(CostOptions(cost=("0=5", "2->1=7")), model, card, X_new)
    M = np.array([[0.0, 5, 5], [1, 0, 1], [1, 7, 0]])
    P = model.predict_proba(X_new)
    assert found.answers.tolist() == min_cost_decision(P, M).tolist()
    np.testing.assert_allclose(found.expected_cost(), (P @ M).min(axis=1))
    own = decisions_by(CostOptions(), model, card, X_new)
    assert own.answers.tolist() == model.predict(X_new).tolist()


def test_a_capacity_is_that_of_the_rows_at_hand(wines):
    X, y, X_new, _ = wines
    model = CSELMClassifier(20, random_state=0).fit(X, y)
    card = card_of(np.bincount(y).tolist())
    found = decisions_by(CostOptions(reject_capacity=0.1), model, card, X_new)
    assert found.asked.sum() == int(0.1 * len(X_new))


def test_decisions_by_other_costs_are_those_of_a_classifier_around_the_model():
    X, y = load_breast_cancer(return_X_y=True)
    X, X_new, y = X[:300], X[300:], y[:300]
    inner = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    around = CostDecisionClassifier(
        inner, cost="0->1 = 3..20", reject_cost=0.3, cv="prefit", calibration=None
    ).fit(X, y)
    options = CostOptions(cost=("0->1 = 3..20",), reject_cost=("0.3",))
    found = decisions_by(options, inner, card_of(np.bincount(y).tolist()), X_new)
    own = decisions_of(around, X_new)
    assert found.answers.tolist() == own.answers.tolist()
    np.testing.assert_allclose(found.regret(), own.regret(), atol=1e-12)


def test_a_model_without_costs_of_its_own_has_no_decisions(wines):
    X, y, X_new, _ = wines
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    assert decisions_of(model, X_new) is None
