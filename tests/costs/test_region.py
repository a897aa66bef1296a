"""Regions of cost matrices: vertices, samples, bounds and means."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import linprog

from ecselm.costs import CostConstraints
from ecselm.costs.region import MIDPOINTS, Bounds, ContradictionError, CostRegion, closure


def random_constraints(k, seed, answers=True):
    """Return constraints that one random matrix satisfies: numbers, orders, ratios, answers."""
    rng = np.random.default_rng(seed)
    labels = list("abcdef")[:k]
    truth = np.exp(rng.uniform(0, 3, (k, k)))
    truth[k - 1] = truth[k - 1, 0]  # any mistake on the last class costs the same
    pairs = [(i, j) for i in range(k - 1) for j in range(k) if i != j]
    said, bound = [], set()
    for place in rng.permutation(len(pairs))[: max(3, len(pairs) // 2)]:
        i, j = pairs[place]
        low, high = truth[i, j] / rng.uniform(1.1, 4), truth[i, j] * rng.uniform(1.1, 4)
        said.append(f"{labels[i]}->{labels[j]} = {low:.6f}..{high:.6f}")
        bound.add((i, j))
    last = truth[k - 1, 0]
    said.append(f"{labels[-1]} = {last / 2:.6f}..{2 * last:.6f}")
    bound = sorted(bound)
    for _ in range(2):
        one, two = (bound[place] for place in rng.permutation(len(bound))[:2])
        left, right = (f"{labels[i]}->{labels[j]}" for i, j in (one, two))
        ratio = truth[one] / truth[two]
        if ratio > 1:
            said.append(f"{left} > {right}")
        said.append(f"{left} = {ratio / 1.7:.6f}..{ratio * 1.5:.6f} * {right}")
    known = CostConstraints.from_sentences(said, labels)
    if answers:
        coefficients = np.zeros((k, k))
        for pair in bound[:3]:
            coefficients[pair] = rng.standard_normal()
        inside = np.where(np.eye(k) == 1, 0.0, 1.0) * np.where(known.high > known.low, truth, 1.0)
        coefficients *= 1.0 if (coefficients * inside).sum() >= 0 else -1.0
        known = known.with_answer(coefficients, "one outcome is worse")
    return known


def linear_maximum(region, slopes, constant=0.0):
    """Maximise ``constant + slopes @ t`` component by component, by linear programmes."""
    total = constant
    for one in region.components:
        box = np.column_stack([one.low, one.high])
        A, b = (one.A, one.b) if len(one.b) else (None, None)
        total -= linprog(-slopes[one.parameters], A, b, bounds=box).fun
    return total


@pytest.mark.parametrize("answers", [False, True])
@pytest.mark.parametrize("k", [3, 4, 5])
@pytest.mark.parametrize("seed", range(3))
def test_vertices_attain_what_linear_programmes_do_and_samples_do_not_exceed_it(k, seed, answers):
    constraints = random_constraints(k, seed, answers)
    region = constraints.region
    corners, drawn = region.vertices(), region.sample(300, np.random.default_rng(seed))
    for direction in np.random.default_rng(seed).standard_normal((5, k, k)):
        slopes = np.einsum("gij,ij->g", region.patterns, direction)
        best = linear_maximum(region, slopes, float((direction * region.base).sum()))
        assert_allclose(np.einsum("vij,ij->v", corners, direction).max(), best, rtol=1e-9)
        values = np.einsum("vij,ij->v", drawn, direction)
        assert values.max() <= best + 1e-8 * abs(best)
    assert all(region.contains(one) for one in drawn)
    assert_allclose(corners.min(axis=0), constraints.low, rtol=1e-7)
    assert_allclose(corners.max(axis=0), constraints.high, rtol=1e-7)


def test_an_answer_about_one_cost_cuts_its_interval():
    constraints = CostConstraints(["a", "b"], intervals={"b": (1, 100)})
    cut = constraints.with_answer([[0.0, -5.0], [1.0, 0.0]], "b is worse than five times a")
    assert_allclose(cut.vertices()[:, 1, 0], [5.0, 100.0])
    assert_allclose(cut.mean()[1, 0], 95.0 / np.log(20.0), rtol=1e-6)
    assert not cut.contains([[0, 1], [4, 0]])


@given(st.floats(0.01, 100), st.floats(1.001, 1000))
@settings(deadline=None, max_examples=20)
def test_the_mean_of_an_interval_is_that_of_the_log_uniform_density(low, ratio):
    high = low * ratio
    mean = CostConstraints(["a", "b"], intervals={"b": (low, high)}).mean()[1, 0]
    assert_allclose(mean, (high - low) / np.log(high / low), rtol=1e-6)


@pytest.mark.parametrize("order", ["cab", "bca", "cba"])
def test_means_of_intervals_do_not_depend_on_the_order_of_classes(order):
    said = ["a->b = 3..20", "b->a = 3..20", "c = 1..9", "a->c = 0.5..2"]
    constraints = CostConstraints.from_sentences(said, list("abc"))
    codes = ["abc".index(label) for label in order]
    moved = constraints.for_classes(list(order)).mean()
    assert_allclose(moved, constraints.mean()[np.ix_(codes, codes)], rtol=1e-9)


@pytest.mark.parametrize("order", ["dcab", "bcda", "cbad"])
def test_means_of_coupled_costs_hardly_depend_on_the_order_of_classes(order):
    said = ["a->b > b->a", "b->a > c->a", "c->b = 2..9 * c->a", "c->d = 1..5", "d->a > c->d"]
    said += ["a->d > b->d", "b->d = 1..9", "a->d = 1..9"]
    constraints = CostConstraints.from_sentences(said, list("abcd"))
    codes = ["abcd".index(label) for label in order]
    moved = constraints.for_classes(list(order)).mean()
    assert_allclose(moved, constraints.mean()[np.ix_(codes, codes)], rtol=0.01)


def test_alike_costs_have_means_alike_within_two_per_cent():
    said = ["a->b > a->c", "b->a > a->c", "a->c = 1..10", "a->b = 1..50", "b->a = 1..50"]
    mean = CostConstraints.from_sentences(said, list("abc")).mean()
    assert_allclose(mean[0, 1], mean[1, 0], rtol=0.02)


def test_costs_of_a_fixed_ratio_move_together():
    said = ["a->b = 1..100", "b->a = 3 * a->b"]
    drawn = CostConstraints.from_sentences(said, ["a", "b"]).region.spread()
    assert_allclose(drawn[:, 1, 0], 3 * drawn[:, 0, 1], rtol=1e-7)
    assert_allclose(drawn[:, 0, 1].mean(), 99 / np.log(100), rtol=0.02)
    assert len(drawn) == MIDPOINTS


def test_an_ordered_pair_is_log_uniform_on_its_triangle():
    said = ["a->b > b->a", "a->b = 1..10", "b->a = 1..10"]
    drawn = CostConstraints.from_sentences(said, ["a", "b"]).region.spread()
    drawn = np.log10(drawn[:, [0, 1], [1, 0]])
    assert (drawn[:, 0] >= drawn[:, 1] - 1e-9).all()
    assert_allclose(drawn.mean(axis=0), [2 / 3, 1 / 3], atol=0.01)


def test_ratios_beyond_the_square_of_the_span_do_not_contradict_open_ends():
    said = ["a->b >= 100000 * b->a", "b->a > c->a"]
    constraints = CostConstraints.from_sentences(said, list("abc"))
    assert (constraints.low <= constraints.high).all()
    assert constraints.low[0, 1] >= 1e5 * (1 - 1e-9)


def test_a_region_of_one_matrix_has_one_vertex_and_one_sample():
    matrix = np.array([[0.0, 2.0], [5.0, 0.0]])
    region = CostRegion.of_point(matrix)
    assert region.is_point
    assert_allclose(region.vertices(), matrix[np.newaxis])
    assert_allclose(region.spread(), matrix[np.newaxis])


def test_too_many_vertices_are_refused_in_one_sentence():
    intervals = {(i, j): (1, 2) for i in range(5) for j in range(5) if i != j}
    with pytest.raises(ValueError, match="must have at most 100000 vertices"):
        CostConstraints(range(5), intervals=intervals).vertices()


def test_a_circle_of_orders_is_a_contradiction_of_its_members():
    circle = [
        Bounds(a, 1.0, np.inf, b, i, True) for i, (a, b) in enumerate([(0, 1), (1, 2), (2, 0)])
    ]
    with pytest.raises(ContradictionError) as caught:
        closure(4, [*circle, Bounds(3, 1.0, 2.0, -1, 3)])
    assert sorted(caught.value.sources) == [0, 1, 2]


UNITS = st.integers(-12, 12).map(lambda power: 10.0**power)


def in_units(constraints, unit):
    """Return constraints whose stated numbers are in another unit."""
    ends = np.stack([constraints.low, constraints.high], axis=2)
    labels = constraints.classes.tolist()
    pairs = [(i, j) for i in range(len(labels)) for j in range(len(labels)) if i != j]
    related = [one for one in constraints.statements if one.right is not None]
    return CostConstraints(
        labels,
        intervals={(labels[i], labels[j]): tuple(unit * ends[i, j]) for i, j in pairs},
        ratios=[
            (
                (labels[one.left.truth], labels[one.left.predicted]),
                (labels[one.right.truth], labels[one.right.predicted]),
                one.low,
                one.high,
            )
            for one in related
        ],
        answers=constraints.answers,
    )


@given(st.integers(0, 1000), UNITS, st.booleans())
@settings(deadline=None, max_examples=20)
def test_the_unit_of_costs_changes_nothing_but_their_unit(seed, unit, answers):
    known = random_constraints(3, seed, answers)
    one, other = in_units(known, 1.0), in_units(known, unit)
    assert_allclose(other.vertices() / unit, one.vertices(), rtol=1e-6, atol=1e-9)
    assert_allclose(other.mean() / unit, one.mean(), rtol=1e-6)
    drawn = other.sample(20, seed)
    assert all(other.contains(matrix) for matrix in drawn)
    assert not other.contains(drawn[0] * 1e3)


@pytest.mark.parametrize("unit", [1e-12, 1e-6, 1.0, 1e9])
def test_answers_that_contradict_each_other_are_found_in_any_unit(unit):
    pairs = [("a", "b"), ("b", "a"), ("c", "a")]
    known = CostConstraints(list("abc"), intervals=dict.fromkeys(pairs, (unit, 9 * unit)))
    known = known.with_answer([[0, 1, 0], [-1, 0, 0], [-1, 0, 0]], "as bad as both")
    with pytest.raises(ValueError, match="'as bad as both' and 'not half as bad'"):
        known.with_answer([[0, -1, 0], [0.5, 0, 0], [0.5, 0, 0]], "not half as bad")


def test_costs_of_a_ratio_of_a_million_millions_have_vertices():
    stated = ["a->b = 1e12..1e13 * b->a", "b->a = 1..2"]
    constraints = CostConstraints.from_sentences(stated, ["a", "b"])
    expected = [[1e12, 1], [2e12, 2], [1e13, 1], [2e13, 2]]
    assert_allclose(constraints.vertices()[:, [0, 1], [1, 0]], expected, rtol=1e-9)
    ratios = np.divide(*constraints.sample(200, 0)[:, [0, 1], [1, 0]].T)
    assert 1e12 * (1 - 1e-9) <= ratios.min() < ratios.max() <= 1e13 * (1 + 1e-9)


def test_of_a_chain_the_sampler_needs_neighbours_only():
    labels = [f"c{i:02d}" for i in range(21)]
    constraints = CostConstraints(labels, order=list(pairwise(labels)))
    (component,) = constraints.region.components
    assert len(component.b) == 190
    assert component._needed().sum() == 19
    costs = constraints.sample(100, 0)[:, :, 0][:, 1:20]  # by true class, after the first
    assert (np.diff(costs, axis=1) <= 1e-9 * costs[:, 1:]).all()


def test_of_costs_of_fixed_ratios_no_relation_is_left_out():
    stated = ["a->b = 2 * b->a", "b->a = 3 * c->a", "c->a = 1..9", "a->c = 2 * a->b", "c->b > a->c"]
    constraints = CostConstraints.from_sentences(stated, list("abc"))
    drawn = constraints.sample(200, 0)
    assert_allclose(drawn[:, 0, 1], 6 * drawn[:, 2, 0], rtol=1e-7)
    assert_allclose(drawn[:, 0, 2], 12 * drawn[:, 2, 0], rtol=1e-7)
    assert (drawn[:, 2, 1] >= drawn[:, 0, 2] * (1 - 1e-7)).all()
