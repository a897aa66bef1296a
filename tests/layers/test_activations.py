"""Activation functions against their formulas, one number at a time."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ecselm.layers import ACTIVATIONS
from ecselm.layers.activations import saturation

PRINTED = {
    "radbas": lambda a: math.exp(-(a**2)),  # (17)
    "sigmoid": lambda a: 1.0 / (1.0 + math.exp(-a)),
    "tanh": lambda a: (math.exp(a) - math.exp(-a)) / (math.exp(a) + math.exp(-a)),
    "sine": math.sin,
    "relu": lambda a: a if a > 0 else 0.0,
    "hardlim": lambda a: 1.0 if a >= 0 else 0.0,
    "tribas": lambda a: 1.0 - abs(a) if abs(a) < 1 else 0.0,
    "laplacian": lambda a: math.exp(-abs(a)),
    "polynomial": lambda a: (1.0 + a) ** 2,
}
EACH = pytest.mark.parametrize("name", sorted(ACTIVATIONS))
EDGES = [-20.0, -1.0, -0.5, -1e-9, -0.0, 0.0, 1e-9, 0.5, 1.0, 20.0]


def projections(rng):
    return np.vstack([rng.normal(0, 2, (7, len(EDGES))), EDGES])


def test_every_activation_has_a_formula_here():
    assert set(ACTIVATIONS) == set(PRINTED)


@EACH
def test_activation_is_its_formula(rng, name):
    A = projections(rng)
    expected = [[PRINTED[name](float(a)) for a in row] for row in A]
    assert_allclose(ACTIVATIONS[name](A.copy()), expected, rtol=1e-12, atol=1e-15)


@EACH
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_activation_overwrites_its_argument_and_keeps_its_precision(rng, name, dtype):
    A = projections(rng).astype(dtype)
    H = ACTIVATIONS[name](A)
    assert H is A
    assert H.dtype == dtype


@EACH
def test_float32_stays_close_to_float64(rng, name):
    A = projections(rng).astype(np.float32)
    double = ACTIVATIONS[name](A.astype(np.float64))
    assert_allclose(ACTIVATIONS[name](A), double, rtol=1e-5, atol=1e-6)


@EACH
def test_activation_of_a_part_is_the_part_of_the_activation(rng, name):
    A = projections(rng)
    whole = ACTIVATIONS[name](A.copy())
    assert_array_equal(ACTIVATIONS[name](A[::2, ::3].copy()), whole[::2, ::3])


@pytest.mark.parametrize("name", ["radbas", "sigmoid", "tanh", "tribas", "laplacian", "hardlim"])
def test_huge_projections_reach_the_flat_ends_without_a_warning(name):
    H = ACTIVATIONS[name](np.array([[-1e100, 1e100]]))
    ends = {"sigmoid": [0.0, 1.0], "tanh": [-1.0, 1.0], "hardlim": [0.0, 1.0]}
    assert_array_equal(H, [ends.get(name, [0.0, 0.0])])


@pytest.mark.parametrize(
    ("name", "H", "share"),
    [
        ("radbas", [[0.0, 0.5], [5e-4, 1.0]], 0.5),
        ("tribas", [[0.0, 0.5], [5e-4, 1.0]], 0.5),
        ("laplacian", [[0.0, 0.5], [5e-4, 1.0]], 0.5),
        ("sigmoid", [[0.0, 0.5], [0.9995, 1.0]], 0.75),
        ("tanh", [[-1.0, 0.0], [0.5, 1.0]], 0.5),
        ("relu", [[0.0, 0.0], [0.0, 3.0]], 0.5),
        ("hardlim", [[0.0, 1.0], [0.0, 1.0]], 0.0),
        ("sine", [[0.0, 1.0], [0.0, 1.0]], 0.0),
        ("polynomial", [[0.0, 1.0], [0.0, 1.0]], 0.0),
        (np.tanh, [[1.0, 1.0], [1.0, 1.0]], 0.0),
    ],
)
def test_saturation_is_the_share_of_entries_on_a_flat_end(name, H, share):
    assert saturation(name, np.array(H)) == share
