"""Random input weights: ranges as the paper gives them, spreads as the module promises."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import kstest, norm, qmc

from ecselm.layers import DRAWS, draw_weights

BOXES = ("halton_box", "sobol_box")
EACH = pytest.mark.parametrize("draw", sorted(DRAWS))
RANDOM = pytest.mark.parametrize("draw", sorted(set(DRAWS) - set(BOXES)))
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


@RANDOM
def test_same_seed_gives_the_same_draw_and_another_seed_another(draw):
    first, again, other = (
        draw_weights(draw, 3, 10, np.random.default_rng(seed)) for seed in (7, 7, 8)
    )
    assert_array_equal(first.weights, again.weights)
    assert_array_equal(first.biases, again.biases)
    assert (first.weights != other.weights).any()


@RANDOM
def test_a_generator_used_twice_gives_two_draws(rng, draw):
    first, second = (draw_weights(draw, 3, 10, rng) for _ in range(2))
    assert (first.weights != second.weights).any()


@pytest.mark.parametrize("draw", ["sobol", "sobol_box"])
def test_sobol_refuses_more_features_than_it_has_dimensions(rng, draw):
    too_many, other = qmc.Sobol.MAXDIM, draw.replace("sobol", "halton")
    with pytest.raises(ValueError, match=rf"draw='{draw}' must .* got {too_many}; .*'{other}'"):
        draw_weights(draw, too_many, 2, rng)


def van_der_corput(i, base):
    """Return the digits of i in ``base``, mirrored at the point."""
    value, unit = 0.0, 1.0 / base
    while i:
        value, i, unit = value + unit * (i % base), i // base, unit / base
    return value


def test_halton_box_is_the_sequence_as_defined_in_the_box_of_the_uniform_draw(rng):
    drawn = draw_weights("halton_box", 3, 50, rng)
    bases = (2, 3, 5, 7)  # the last for the biases
    points = np.array([[van_der_corput(i, base) for base in bases] for i in range(50)])
    assert_allclose(drawn.weights, 2.0 * points[:, :3].T - 1.0, atol=1e-12)
    assert_allclose(drawn.biases, points[:, 3], atol=1e-12)


def test_sobol_box_puts_one_weight_into_each_of_64_intervals_of_equal_width(rng):
    drawn = draw_weights("sobol_box", 5, 64, rng)
    every = np.vstack([(drawn.weights + 1.0) / 2.0, drawn.biases])
    assert_array_equal(np.sort(np.floor(64 * every), axis=1), np.tile(np.arange(64.0), (6, 1)))


@pytest.mark.parametrize("draw", BOXES)
def test_boxes_depend_on_no_seed_and_leave_the_generator_alone(draw):
    seven, eight = np.random.default_rng(7), np.random.default_rng(8)
    one, other = (draw_weights(draw, 4, 30, rng) for rng in (seven, eight))
    assert_array_equal(one.weights, other.weights)
    assert_array_equal(one.biases, other.biases)
    assert seven.random() == np.random.default_rng(7).random()
    more = draw_weights(draw, 4, 40, eight)
    assert_array_equal(more.weights[:, :30], one.weights)
