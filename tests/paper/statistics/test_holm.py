"""Holm's correction, step by step."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ecselm.paper.protocols.published import PUBLISHED
from ecselm.paper.statistics import holm


def literal_holm(p):
    """Return for each hypothesis the least alpha at which the procedure rejects it."""
    p = list(p)
    order = sorted(range(len(p)), key=lambda i: p[i])
    least, corrected = 0.0, [0.0] * len(p)
    for step, i in enumerate(order):
        least = max(least, min(1.0, (len(p) - step) * p[i]))
        corrected[i] = least
    return corrected


@pytest.mark.parametrize("n", [1, 2, 9])
def test_p_values_are_multiplied_by_how_many_are_left(rng, n):
    for p in rng.random((10, n)) ** 3:
        assert_allclose(holm(p), literal_holm(p), rtol=1e-14)


def test_published_p_values_hold_at_five_and_fail_at_one_per_cent():
    corrected = holm(PUBLISHED["table-13"].means[0])
    assert corrected.min() == pytest.approx(8 * 0.0029)  # 0.023
    assert corrected.max() == pytest.approx(3 * 0.0153)  # 0.046
    assert ((corrected > 0.01) & (corrected < 0.05)).all()


def test_order_does_not_matter_and_arguments_stay(rng):
    p, order = rng.random(7), rng.permutation(7)
    kept = p.copy()
    assert_allclose(holm(p[order]), holm(p)[order], rtol=1e-14)
    assert_allclose(p, kept, rtol=0)


def test_one_test_needs_no_correction_and_none_has_none():
    assert holm([0.04]).tolist() == [0.04]
    assert holm([]).tolist() == []


@pytest.mark.parametrize(
    ("p", "message"),
    [
        ([0.1, np.nan], "p must lie between 0 and 1, got .*nan"),
        ([1.2], r"p must lie between 0 and 1, got \[1.2\]"),
        ([[0.1]], r"p must have the shape \(n,\), got \(1, 1\)"),
    ],
)
def test_what_is_no_p_value_is_refused(p, message):
    with pytest.raises(ValueError, match=message):
        holm(p)
