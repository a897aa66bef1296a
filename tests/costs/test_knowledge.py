"""What more knowledge does to regions and to answers, whatever kind of statement it is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from ecselm.costs import CostConstraints
from ecselm.costs.policy import DecisionPolicy
from tests.costs.test_region import in_units, random_constraints

SEEDS = st.integers(0, 10_000)


def policy_of(constraints):
    k = len(constraints.classes)
    return DecisionPolicy.of_costs(constraints.region, np.full(k, 1 / k))


def with_more(constraints, seed, kind):
    """Return the constraints with one more statement, which a possible matrix satisfies."""
    rng, k = np.random.default_rng(seed), len(constraints.classes)
    member, labels = constraints.sample(1, seed)[0], constraints.classes.tolist()
    wide = np.argwhere((constraints.high > constraints.low * 1.01)[: k - 1])  # known one by one
    one, two = (tuple(wide[place]) for place in rng.permutation(len(wide))[:2])
    if kind == "answer":
        coefficients = rng.standard_normal((k, k)) * (1 - np.eye(k))
        sign = 1.0 if (coefficients * member).sum() >= 0 else -1.0
        return constraints.with_answer(sign * coefficients, "one outcome is worse")
    left, right = (f"{labels[i]}->{labels[j]}" for i, j in (one, two))
    if kind == "ratio":
        ratio = member[one] / member[two]
        return constraints.with_sentences(
            f"{left} = {ratio / 1.2:.9f}..{ratio * 1.2:.9f} * {right}"
        )
    return constraints.with_sentences(f"{left} >= {member[one] * 0.99:.9f}")


@pytest.mark.parametrize("kind", ["answer", "ratio", "bound"])
@given(SEEDS, st.sampled_from([3, 4]))
@settings(deadline=None, max_examples=8)
def test_more_knowledge_removes_matrices_and_unsettles_nothing(kind, seed, k):
    known = random_constraints(k, seed, answers=False)
    more = with_more(known, seed, kind)
    assert all(known.contains(matrix) for matrix in more.sample(30, seed))
    P = np.random.default_rng(seed).dirichlet(np.ones(k), 60)
    before, after = (policy_of(one).possible_answers(P) for one in (known, more))
    assert not (after & ~before).any()
    settled = before.sum(axis=1) == 1
    assert_array_equal(after[settled], before[settled])


@given(SEEDS, st.integers(-6, 6), st.booleans())
@settings(deadline=None, max_examples=8)
def test_the_unit_of_coupled_costs_changes_no_answer(seed, power, answers):
    known = random_constraints(3, seed, answers)
    one, other = (policy_of(in_units(known, unit)) for unit in (1.0, 10.0**power))
    P = np.random.default_rng(seed).dirichlet(np.ones(3), 200)
    costs = np.sort(P @ one.matrix, axis=1)
    clear = costs[:, 1] - costs[:, 0] > 1e-6 * costs[:, 1]
    assert_array_equal(other.answers(P)[clear], one.answers(P)[clear])
    answers = one.answers(P)
    regret = other.regret(P, answers) / 10.0**power
    assert_allclose(regret, one.regret(P, answers), rtol=1e-6, atol=1e-7)


def test_a_point_of_any_kind_of_statement_is_known():
    stated = [
        CostConstraints.from_sentences(["a->b = 3", "b->a = 1"]),
        CostConstraints.from_sentences("a->b = 3 * b->a"),
        CostConstraints(["a", "b"], intervals={"a": (3, 3)}),
        CostConstraints(["a", "b"], intervals={"a": (1, 3)}).with_answer([[0, 1], [-3, 0]], ""),
        CostConstraints(["a", "b"], ratios={("a", "b"): (3, 3)}),
    ]
    for constraints in stated:
        assert constraints.is_exact
        assert_allclose(constraints.mean(), [[0, 3], [1, 0]], rtol=1e-9)
        assert constraints.vertices().shape == (1, 2, 2)


def test_wide_intervals_are_not_taken_for_rounding_errors():
    p = np.linspace(0.01, 0.49, 49)
    P = np.column_stack([1 - p, p])
    policy = policy_of(CostConstraints([0, 1], intervals={(1, 0): (1, 1e12)}))
    answers = np.ones(len(p), dtype=int)
    np.testing.assert_allclose(policy.regret(P, answers), 1 - 2 * p)
    assert not policy.settled(P, answers).any()
    assert policy.possible_answers(P).all()


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_linear_programmes_do_not_depend_on_the_unit(unit, monkeypatch):
    P = np.random.default_rng(0).dirichlet(np.ones(4), 30)
    known = random_constraints(4, 0, True)
    by_vertices = policy_of(in_units(known, 1.0))
    expected = by_vertices.regret(P, by_vertices.answers(P))
    possible = by_vertices.possible_answers(P)
    monkeypatch.setattr("ecselm.costs.policy.MOST_COUPLED", 1)
    solved = policy_of(in_units(known, unit))
    np.testing.assert_allclose(solved.regret(P, by_vertices.answers(P)) / unit, expected, atol=1e-9)
    assert (solved.possible_answers(P) == possible).all()


@pytest.mark.parametrize("stored", [{}, {"classes": ["a", "b"]}, []])
def test_stored_constraints_that_are_not_whole_are_refused(stored):
    with pytest.raises(ValueError, match="cost constraints must be stated in full"):
        CostConstraints.from_dict(stored)
