"""Points stand for costs, C and a width, and come back as they were."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from ecselm.costs import CostConstraints
from ecselm.costs.feasible import MARGIN, FeasibleRegion, half_known_region
from ecselm.costs.levels import ClassLevel, MatrixLevel, SampleLevel
from ecselm.fitness import Candidates, CostedRows, CostEncoding, Span, every_row, layer_engine

LEVELS = {
    "class": ClassLevel(4),
    "two classes": ClassLevel(2),
    "matrix": MatrixLevel(3),
    "sample": SampleLevel(np.array([0, 1, 1, 2, 0])),
}
LEVEL = pytest.mark.parametrize("level", LEVELS.values(), ids=LEVELS)
FIXED = Span.fixed(32.0)


def encoding(level, low=0.01, high=100.0, C=FIXED, gamma=None, **options):
    E = level.n_entries
    region = FeasibleRegion(np.full(E, float(low)), np.full(E, float(high)))
    return CostEncoding(level, region, C, gamma, **options)


def n_groups(level):
    return level.n_classes if hasattr(level, "n_classes") else level.n_entries


@LEVEL
@pytest.mark.parametrize("log", [True, False])
def test_costs_come_back_as_they_were(rng, level, log):
    code, entries = encoding(level, log=log), rng.uniform(0.02, 50.0, level.n_entries)
    point = code.encode(entries)
    assert_allclose(point, np.log(entries) if log else entries, rtol=1e-15)
    assert_allclose(code.entries(point[np.newaxis]), [entries], rtol=1e-13)


@LEVEL
def test_points_come_back_as_they_were(rng, level):
    code = encoding(level, C=Span(0.1, 1000.0, 32.0), gamma=Span(0.01, 10.0, 1.0))
    for point in code.box.sample(5, rng):
        candidate = code.decode(point[np.newaxis])
        entries = code.entries(point[np.newaxis])[0]
        again = code.encode(entries, float(candidate.C[0]), float(candidate.gamma[0]))
        assert_allclose(again, point, rtol=1e-12, atol=1e-13)


@LEVEL
def test_rows_cost_one_on_average(rng, level):
    masses = rng.uniform(1.0, 9.0, n_groups(level))
    code = encoding(level, masses=masses)
    points = code.box.sample(6, rng)
    candidates, plain = code.decode(points), level.group_costs(np.exp(points))
    for costs, unscaled in zip(candidates.costs, plain, strict=True):
        assert sum(m * b for m, b in zip(masses, costs, strict=True)) / masses.sum() == (
            pytest.approx(1.0, rel=1e-12)
        )
        assert_allclose(costs / costs[0], unscaled / unscaled[0], rtol=1e-12)


@LEVEL
def test_without_masses_costs_keep_their_scale(rng, level):
    code = encoding(level)
    points = code.box.sample(6, rng)
    expected = level.group_costs(code.entries(points))
    assert_array_equal(code.decode(points).costs, expected)


@LEVEL
def test_the_scale_of_costs_does_not_matter_where_it_is_taken_out(rng, level):
    code = encoding(level, masses=np.ones(n_groups(level)))
    entries = rng.uniform(0.5, 2.0, level.n_entries)
    one, other = (code.decode(code.encode(s * entries)[np.newaxis]).costs for s in (1.0, 7.0))
    assert_allclose(other, one, rtol=1e-12)


def test_ones_stay_ones_for_any_masses():
    code = encoding(MatrixLevel(3), masses=np.array([7.0, 1.0, 3.0]))
    ones = code.decode(code.encode(np.ones(6))[np.newaxis]).costs
    assert_allclose(ones, 1.0, rtol=1e-15)


@pytest.mark.parametrize("C", [FIXED, Span(0.1, 1000.0, 32.0)], ids=["fixed C", "searched C"])
@pytest.mark.parametrize(
    "gamma", [None, Span.fixed(0.5), Span(0.01, 10.0, 0.5)], ids=["no width", "fixed", "searched"]
)
def test_numbers_take_a_coordinate_only_where_they_are_searched(C, gamma):
    code = encoding(ClassLevel(2), C=C, gamma=gamma)
    searched = [span for span in (C, gamma) if span is not None and span.is_searched]
    assert len(code.box) == 2 + len(searched)
    entries = np.array([1.0, 2.0])
    points = np.stack([code.encode(entries), code.encode(entries, 7.0, 0.02)])
    candidates = code.decode(points)
    assert_allclose(candidates.C, [32.0, 7.0 if C.is_searched else 32.0], rtol=1e-13)
    if gamma is None:
        assert candidates.gamma is None
    else:
        assert_allclose(candidates.gamma, [0.5, 0.02 if gamma.is_searched else 0.5], rtol=1e-13)


def test_coordinates_are_costs_then_c_then_width():
    code = encoding(ClassLevel(2), C=Span(0.1, 1000.0, 32.0), gamma=Span(0.01, 10.0, 0.5))
    assert_allclose(code.encode(np.array([2.0, 3.0])), np.log([2.0, 3.0, 32.0, 0.5]), rtol=1e-15)
    assert_allclose(np.exp(code.box.low), [0.01, 0.01, 0.1, 0.01], rtol=1e-14)
    assert_allclose(np.exp(code.box.high), [100.0, 100.0, 1000.0, 10.0], rtol=1e-14)


def test_corners_of_the_box_are_bounds_to_the_bit():
    code = encoding(
        ClassLevel(2), 0.3, 7.7, C=Span(0.1, 1000.3, 32.0), gamma=Span(0.013, 10.7, 0.5)
    )
    candidates = code.decode(np.stack([code.box.low, code.box.high]))
    assert_array_equal(np.clip(candidates.C, 0.1, 1000.3), candidates.C)
    assert_array_equal(np.clip(candidates.gamma, 0.013, 10.7), candidates.gamma)
    assert_array_equal(np.clip(candidates.costs, 0.3, 7.7), candidates.costs)
    assert_allclose(candidates.C, [0.1, 1000.3], rtol=1e-14)


@settings(deadline=None)
@given(st.lists(st.floats(-9, 9), min_size=4, max_size=4), st.booleans())
def test_what_is_known_holds_for_every_point(point, log):
    low, high = np.array([0.1, 0.7, 1.3, 0.1]), np.array([9.0, 0.7, 2.6, 9.0])
    known = FeasibleRegion.from_constraints(low, high, [(0, 1), (3, 2)], "abcd")
    code = CostEncoding(ClassLevel(4), known, FIXED, log=log)
    (costs,) = code.entries(np.array([point]))
    assert costs[1] == 0.7
    assert ((low <= costs) & (costs <= high)).all()
    assert costs[0] >= MARGIN * costs[1] * (1 - 1e-12)
    assert costs[3] >= MARGIN * costs[2] * (1 - 1e-12)


def test_points_beyond_the_box_are_brought_to_it():
    code = encoding(ClassLevel(2), C=Span(1.0, 10.0, 2.0))
    assert code.box.contains(code.encode(np.array([1e-9, 1e9]), 99.0))


def test_costs_on_a_plain_scale_may_be_negative():
    code = encoding(SampleLevel(np.array([0, 1, 1])), -1.0, 1.0, log=False)
    point = np.array([[-0.5, 0.0, 1.0]])
    assert_array_equal(code.box.low, [-1.0] * 3)
    assert_array_equal(code.decode(point).costs, point)


def test_a_deciding_matrix_leaves_every_row_at_one(rng):
    level = MatrixLevel(3)
    code = encoding(level, masses=np.array([5.0, 1.0, 1.0]), decides=True)
    M = rng.uniform(0.5, 9.0, (2, 3, 3)) * (1.0 - np.eye(3))
    candidates = code.decode(np.stack([code.encode(level.entries(matrix)) for matrix in M]))
    assert_allclose(candidates.matrices, M, rtol=1e-13)
    assert_array_equal(candidates.costs, np.ones((2, 3)))


def test_a_matrix_that_does_not_decide_is_none(rng):
    code = encoding(MatrixLevel(3))
    assert code.decode(code.box.sample(2, rng)).matrices is None


def test_one_candidate_is_taken_with_all_that_is_its_own(rng):
    whole = Candidates(rng.random((3, 2)), rng.random(3), rng.random(3), rng.random((3, 2, 2)))
    assert len(whole) == 3
    one = whole.one(1)
    assert len(one) == 1
    for name in ("costs", "C", "gamma", "matrices"):
        assert_array_equal(getattr(one, name), getattr(whole, name)[[1]])
    assert Candidates(np.ones((2, 2)), np.ones(2)).one(0).gamma is None


def test_a_grid_has_the_start_and_values_evenly_spread_within():
    span = Span(0.01, 100.0, 3.0)
    grid = span.grid(4)
    assert grid[0] == 3.0
    assert_allclose(np.log10(grid[1:]), [-1.0, 0.0, 1.0], atol=1e-12)
    assert_array_equal(span.grid(1), [3.0])
    assert_array_equal(Span.fixed(3.0).grid(5), [3.0])


@pytest.mark.parametrize("bounds", [(0.0, 1.0), (2.0, 1.0), (1.0, np.inf), (-1.0, 1.0)], ids=str)
def test_bounds_that_are_none_are_refused(bounds):
    with pytest.raises(ValueError, match="bounds must have 0 < low <= start <= high, got"):
        Span(*bounds, 1.0)


def test_arguments_are_never_modified(rng):
    code = encoding(ClassLevel(2), C=Span(0.1, 10.0, 1.0), masses=np.array([1.0, 2.0]))
    points, entries = code.box.sample(3, rng), np.array([1.0, 2.0])
    kept = points.copy()
    code.decode(points)
    code.encode(entries)[:] = 9.0
    assert_array_equal(points, kept)
    assert_array_equal(entries, [1.0, 2.0])


@LEVEL
def test_unscaled_candidates_are_the_same_machines(rng, level):
    masses = rng.uniform(1.0, 9.0, n_groups(level))
    code = encoding(level, C=Span(0.1, 1000.0, 32.0), masses=masses)
    points = code.box.sample(6, rng)
    scaled, plain = code.decode(points), code.decode(points, scaled=False)
    strength = scaled.costs * scaled.C[:, np.newaxis]  # only C B enters the solution of (15)
    assert_allclose(plain.costs * plain.C[:, np.newaxis], strength, rtol=1e-13)
    assert_array_equal(plain.costs, level.group_costs(code.entries(points)))


@pytest.mark.parametrize("level", ["class", "sample"])
def test_unscaled_candidates_have_the_same_scores(rng, level):
    N, L = 30, 4
    y = np.arange(N) % 3
    group = ClassLevel(3) if level == "class" else SampleLevel(y)
    rows = CostedRows.at_level(group, rng.standard_normal((N, 2)), y, 3, rng.uniform(0.5, 2.0, N))
    code = encoding(group, C=Span(0.1, 1000.0, 32.0), masses=rows.masses())
    engine = layer_engine(rng.standard_normal((N, L)), rows, every_row(N))
    points = code.box.sample(5, rng)
    one, other = (engine.scores(code.decode(points, scaled=scaled)) for scaled in (True, False))
    assert_allclose(other, one, rtol=1e-8, atol=1e-10)


def test_costs_of_equal_coordinates_are_equal_to_the_bit_when_unscaled(rng):
    code = encoding(SampleLevel(np.zeros(9, dtype=int)), masses=np.ones(9))
    points = code.box.sample(2, rng)
    points[1, :8] = points[0, :8]
    plain = code.decode(points, scaled=False)
    assert_array_equal(plain.costs[1, :8], plain.costs[0, :8])
    assert plain.C[1] != plain.C[0]


@pytest.mark.parametrize("scaled", [True, False])
def test_without_masses_or_with_decisions_there_is_nothing_to_scale(rng, scaled):
    for options in ({}, {"masses": np.ones(3), "decides": True}):
        code = encoding(MatrixLevel(3), C=Span(0.1, 1000.0, 32.0), **options)
        points = code.box.sample(3, rng)
        assert_allclose(code.decode(points, scaled=scaled).C, np.exp(points[:, -1]), rtol=1e-13)


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_no_candidate_is_outside_the_strengths(data):
    level = data.draw(st.sampled_from(list(LEVELS.values())))
    sizes = st.floats(1e-3, 1e3)
    lows = data.draw(st.lists(sizes, min_size=level.n_entries, max_size=level.n_entries))
    ratio = data.draw(st.floats(1.0, 1e4))
    normalized, decides = data.draw(st.booleans()), data.draw(st.booleans())
    log = data.draw(st.booleans())
    low = np.array(lows) * (1.0 if normalized or log else data.draw(st.sampled_from([1.0, -1.0])))
    region = FeasibleRegion(np.minimum(low, ratio * low), np.maximum(low, ratio * low))
    g = n_groups(level)
    masses = np.array(data.draw(st.lists(sizes, min_size=g, max_size=g))) if normalized else None
    C = data.draw(st.sampled_from([FIXED, Span(0.01, 1000.0, 32.0)]))
    decides = decides and isinstance(level, MatrixLevel)
    code = CostEncoding(level, region, C, masses=masses, log=log, decides=decides)
    seed = data.draw(st.integers(0, 9))
    inside = code.box.sample(8, np.random.default_rng(seed))
    corners = np.where(np.random.default_rng(seed).random(inside.shape) < 0.5, *_edges(code))
    for points in (inside, corners, np.stack(_edges(code))):
        for scaled in (True, False):
            found = code.decode(points, scaled=scaled)
            strength = np.abs(found.costs) * found.C[:, np.newaxis]
            least, most = code.strengths
            assert strength.max() <= most * (1 + 1e-9)
            assert strength.min() >= least * (1 - 1e-9)


def _edges(code):
    return code.box.low, code.box.high


def test_the_strength_is_reached_where_one_class_is_dear():
    code = encoding(ClassLevel(2), 1.0, 1e6, masses=np.array([1.0, 9.0]))
    dear = code.decode(code.encode(np.array([1e6, 1.0]))[np.newaxis])
    assert code.strengths[1] == pytest.approx(32.0 * 10.0)  # all the mass on the rarest class
    assert float(dear.costs.max()) == pytest.approx(10.0, rel=1e-4)
    assert encoding(ClassLevel(2), 1.0, 2.0, masses=np.array([1.0, 9.0])).strengths == (16.0, 64.0)
    assert encoding(ClassLevel(2), -3.0, 2.0, log=False).strengths == (0.0, 96.0)


def test_classes_without_rows_do_not_count_for_the_strength():
    code = encoding(ClassLevel(3), 0.5, 50.0, masses=np.array([2.0, 0.0, 6.0]))
    assert code.strengths[1] == pytest.approx(32.0 * 4.0)


@pytest.mark.parametrize("decides", [True, False])
def test_every_point_stands_for_half_known_costs_that_are_possible(rng, decides):
    known = CostConstraints.from_sentences(
        ["a->b >= 3 * b->a", "b->a = 2..4 * c->a", "c->a = 0.5..3", "b->c = 2"], [*"abc"]
    )
    level = MatrixLevel(3)
    code = CostEncoding(level, half_known_region(known, level), FIXED, decides=decides)
    points = np.vstack([code.box.sample(20, rng), code.box.low, code.box.high])
    entries = code.entries(points)
    matrices = level.matrices(entries)
    assert all(known.contains(matrix) for matrix in matrices)
    found = code.decode(points)
    assert_allclose(found.costs, 1.0 if decides else level.group_costs(entries))
    if decides:
        assert_array_equal(found.matrices, matrices)
    for one in entries:  # what is possible comes back as it was
        assert_allclose(code.entries(code.encode(one)[np.newaxis])[0], one, rtol=1e-12)
