"""Normal scores of ranks against ranks that are counted."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm, rankdata

from ecselm.layers import RankScale
from ecselm.layers.scaling import FARTHEST, N_KNOTS


def literal_scores(X):
    """Return normal scores of the ranks within each column, equal values in their middle."""
    shares = (rankdata(X, axis=0) - 1) / (len(X) - 1)
    return np.clip(norm.ppf(shares), -FARTHEST, FARTHEST)


@pytest.mark.parametrize("N", [2, 3, 40, N_KNOTS])
def test_scores_are_those_of_ranks(rng, N):
    X = np.exp(3 * rng.standard_normal((N, 4)))
    assert_allclose(RankScale.measured(X)(X), literal_scores(X), atol=1e-9)


def test_equal_values_share_the_middle_of_their_ranks(rng):
    X = rng.integers(0, 4, (60, 3)).astype(float)
    assert_allclose(RankScale.measured(X)(X), literal_scores(X), atol=1e-9)


def test_scores_of_many_rows_are_those_of_ranks_up_to_the_knots(rng):
    X = rng.standard_cauchy((2000, 2))
    inner = np.abs(literal_scores(X)) < 2  # where a knot is a small step
    assert_allclose(RankScale.measured(X)(X)[inner], literal_scores(X)[inner], atol=0.05)


def test_values_outside_are_as_far_as_any_may_be(rng):
    X = rng.standard_normal((50, 2))
    scale = RankScale.measured(X)
    outside = np.array([X.max(axis=0) + 1e-9, X.min(axis=0) - 1e9])
    assert_array_equal(scale(outside), [[FARTHEST] * 2, [-FARTHEST] * 2])


def test_constant_feature_is_zero_where_it_is_as_it_was():
    scale = RankScale.measured(np.full((30, 1), 7.3))
    assert_array_equal(scale(np.array([[7.3], [7.4], [7.2]])), [[0.0], [FARTHEST], [-FARTHEST]])


def test_a_single_row_is_zero():
    assert_array_equal(RankScale.measured(np.array([[1.0, -2.0]]))(np.array([[1.0, -2.0]])), 0.0)


@pytest.mark.parametrize(
    "grows", [np.exp, lambda X: 1e6 * X - 3, lambda X: X**3], ids=["exp", "line", "cube"]
)
def test_what_keeps_the_order_keeps_the_scores(rng, grows):
    X = rng.standard_normal((70, 3))
    assert_allclose(RankScale.measured(grows(X))(grows(X)), RankScale.measured(X)(X), atol=1e-9)


def test_minus_turns_the_scores_round(rng):
    X = np.round(rng.standard_normal((150, 3)), 1)
    assert_allclose(RankScale.measured(-X)(-X), -RankScale.measured(X)(X), atol=1e-9)


def test_greater_values_have_no_smaller_scores(rng):
    X = np.round(rng.standard_normal((300, 1)), 1)
    scores = RankScale.measured(X)(np.linspace(-5, 5, 400)[:, np.newaxis]).ravel()
    assert (np.diff(scores) >= 0).all()


def test_order_of_rows_does_not_matter(rng):
    X = rng.standard_normal((130, 3))
    one, other = RankScale.measured(X), RankScale.measured(X[::-1])
    assert_array_equal(one(X), other(X))


def test_float32_rows_have_scores_in_float64(rng):
    X = rng.standard_normal((60, 3)).astype(np.float32)
    scale = RankScale.measured(X)
    assert scale(X).dtype == np.float64
    assert_array_equal(scale(X), scale(X.astype(np.float64)))
