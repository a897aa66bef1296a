"""Random input weights: ranges as the paper gives them, spreads as the module promises."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import kstest, norm, qmc

from ecselm.layers import DRAWS, draw_weights

EACH = pytest.mark.parametrize("draw", sorted(DRAWS))
GAUSSIAN = pytest.mark.parametrize("draw", ["halton", "normal", "orthogonal", "sobol"])


def test_uniform_weights_are_in_minus_one_to_one_and_biases_in_zero_to_one(rng):
    drawn = draw_weights("uniform", 6, 3000, rng)
    for values, low, high in ((drawn.weights, -1.0, 1.0), (drawn.biases, 0.0, 1.0)):
        assert low <= values.min() < low + 0.01
        assert high - 0.01 < values.max() < high
        assert kstest(values.ravel(), "uniform", args=(low, high - low)).statistic < 0.03


@GAUSSIAN
@pytest.mark.parametrize("n", [1, 3, 20])
def test_projection_of_a_standardised_row_has_the_variance_one_over_2n(rng, draw, n):
    x = rng.standard_normal(n)
    x *= np.sqrt(n / (x @ x))
    projected = x @ draw_weights(draw, n, 4096, rng).weights
    assert_allclose(projected.var(), 0.5 / n, rtol=0.08)
    assert kstest(projected * np.sqrt(2 * n), "norm").statistic < 0.03


@GAUSSIAN
def test_biases_have_the_variance_one_quarter(rng, draw):
    biases = draw_weights(draw, 4, 4096, rng).biases
    assert_allclose(biases.var(), 0.25, rtol=0.08)
    assert kstest(biases * 2.0, "norm").statistic < 0.03


@pytest.mark.parametrize(("n", "L"), [(5, 23), (5, 3), (1, 4), (8, 8)])
def test_orthogonal_directions_are_orthogonal_inside_each_block(rng, n, L):
    W = draw_weights("orthogonal", n, L, rng).weights
    for start in range(0, L, n):
        block = W[:, start : start + n]
        directions = block / np.linalg.norm(block, axis=0)
        assert_allclose(directions.T @ directions, np.eye(block.shape[1]), atol=1e-12)


def test_orthogonal_directions_are_as_long_as_normal_ones(rng):
    squares = [
        (draw_weights(draw, 10, 20_000, rng).weights ** 2).sum(axis=0)
        for draw in ("orthogonal", "normal")
    ]
    assert_allclose(squares[0].mean(), squares[1].mean(), rtol=0.02)
    assert_allclose(squares[0].std(), squares[1].std(), rtol=0.05)


def test_sobol_puts_one_weight_into_each_of_64_equally_likely_intervals(rng):
    n = 7
    W = draw_weights("sobol", n, 64, rng).weights
    intervals = np.floor(64 * norm.cdf(W * n * np.sqrt(2.0)))
    assert_array_equal(np.sort(intervals, axis=1), np.tile(np.arange(64.0), (n, 1)))


@EACH
@pytest.mark.parametrize(("n", "L"), [(1, 1), (3, 5), (4, 100), (9, 257), (40, 7), (2, 64)])
def test_shapes_are_those_asked_for_and_entries_finite(rng, draw, n, L):
    drawn = draw_weights(draw, n, L, rng)
    assert drawn.weights.shape == (n, L)
    assert drawn.biases.shape == (L,)
    assert np.isfinite(drawn.weights).all()
    assert np.isfinite(drawn.biases).all()


@EACH
def test_same_seed_gives_the_same_draw_and_another_seed_another(draw):
    first, again, other = (
        draw_weights(draw, 3, 10, np.random.default_rng(seed)) for seed in (7, 7, 8)
    )
    assert_array_equal(first.weights, again.weights)
    assert_array_equal(first.biases, again.biases)
    assert (first.weights != other.weights).any()


@EACH
def test_a_generator_used_twice_gives_two_draws(rng, draw):
    first, second = (draw_weights(draw, 3, 10, rng) for _ in range(2))
    assert (first.weights != second.weights).any()


def test_sobol_refuses_more_features_than_it_has_dimensions(rng):
    too_many = qmc.Sobol.MAXDIM
    with pytest.raises(ValueError, match=rf"draw='sobol' must .* got {too_many}; .*halton"):
        draw_weights("sobol", too_many, 2, rng)
