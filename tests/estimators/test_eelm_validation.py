"""Rows held out of training, and candidate layers judged by them."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from ecselm.costs import SampleCosts
from ecselm.estimators._base import class_targets
from ecselm.estimators._training import Rows
from ecselm.estimators.eelm import (
    ERROR_RATE,
    ROOT_MEAN_SQUARE,
    LayerFitness,
    as_weights,
    validation_split,
)
from ecselm.layers import measure_scale


def as_rows(X, y, weight=None):
    T = class_targets(len(np.unique(y)))[y]
    return Rows(X, T, y, SampleCosts(np.ones(len(y))).terms(y), weight)


def as_set(rows):
    X = rows.X.toarray() if sparse.issparse(rows.X) else rows.X
    return {(code, *map(float, row)) for code, row in zip(rows.y.tolist(), X, strict=True)}


def split(rows, fraction=0.25, seed=0):
    return validation_split(rows, fraction, np.random.default_rng(seed))


@pytest.fixture
def repeated(rng):
    """Rows of three classes, many of them several times."""
    X = rng.integers(0, 3, (90, 3)).astype(float)
    return X, np.repeat([0, 1, 2], 30)


def test_equal_rows_fall_on_the_same_side(repeated):
    X, y = repeated
    parts = split(as_rows(X, y))
    train, test = as_set(parts.train), as_set(parts.test)
    assert not train & test
    assert train | test == as_set(as_rows(X, y))
    assert len(parts.train) + len(parts.test) == len(y)
    assert parts.n_distinct == len(test)


def test_each_class_gives_its_share(rng):
    y = np.repeat([0, 1, 2], [40, 8, 2])
    parts = split(as_rows(rng.standard_normal((50, 2)), y))
    assert_array_equal(np.bincount(parts.test.y), [10, 2, 1])


def test_a_class_of_one_distinct_row_stays_in_training(rng):
    X, y = rng.standard_normal((24, 2)), np.repeat([0, 1], [20, 4])
    X[20:] = X[20]
    for seed in range(5):
        assert not split(as_rows(X, y), 0.9, seed).test.y.any()


def test_split_depends_on_the_set_of_rows_alone(repeated, rng):
    X, y = repeated
    expected = as_set(split(as_rows(X, y)).test)
    order = rng.permutation(np.append(np.arange(90), rng.integers(90, size=40)))
    assert as_set(split(as_rows(X[order], y[order])).test) == expected
    w = rng.uniform(0.1, 5, 90)
    nobody = np.full((7, 3), 9.0)
    weighted = as_rows(
        np.vstack([nobody, X]), np.append(np.arange(7) % 3, y), np.append([0] * 7, w)
    )
    assert as_set(split(weighted).test) == expected
    for same in (sparse.csr_array(X), X.astype(np.float32), X - 0.0 * (X + 1)):
        assert as_set(split(as_rows(same, y)).test) == expected
    assert as_set(split(as_rows(X, y), seed=1).test) != expected


def test_rows_that_cannot_be_held_out_are_refused(rng):
    X = np.repeat(rng.standard_normal((2, 3)), 3, axis=0)
    with pytest.raises(ValueError, match=r"too few distinct rows .*: n_samples=6"):
        split(as_rows(X, np.repeat([0, 1], 3)))


@pytest.fixture
def judged(rng):
    X = rng.standard_normal((60, 3))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)
    parts = split(as_rows(X, y))
    return LayerFitness(parts, measure_scale(X, "minmax"), "sigmoid", 5, None, ERROR_RATE), rng


def test_error_and_norm_are_those_of_the_definition(judged):
    judge, rng = judged
    theta, parts = rng.uniform(-1, 1, 20), (judge.rows.train, judge.rows.test)
    drawn = as_weights(theta, 5)
    assert_array_equal(drawn.weights, theta[:15].reshape(3, 5))
    assert_array_equal(drawn.biases, theta[15:])
    scaled = ((part.X - judge.scale.center) / judge.scale.spread for part in parts)
    H, H_test = (1 / (1 + np.exp(-(X @ drawn.weights + drawn.biases))) for X in scaled)
    beta = np.linalg.pinv(H) @ judge.rows.train.T
    found = judge(theta[np.newaxis])
    wrong = (H_test @ beta).argmax(axis=1) != judge.rows.test.y
    assert found.errors.tolist() == [wrong.mean()]
    assert_allclose(found.norms, np.sqrt((beta**2).sum()), rtol=1e-8)
    rmse = replace(judge, measure=ROOT_MEAN_SQUARE)(theta[np.newaxis]).errors
    assert_allclose(rmse, np.sqrt(((H_test @ beta - judge.rows.test.T) ** 2).mean()), rtol=1e-8)


def test_eelm_validation_rows_never_enter_the_output_weights(judged):
    judge, rng = judged
    P = rng.uniform(-1, 1, (10, 20))
    before, test = judge(P), judge.rows.test
    others = replace(test, X=test.X[::-1] / 2, T=test.T[::-1], y=(test.y + 1) % 3)
    after = replace(judge, rows=replace(judge.rows, test=others))(P)
    assert_array_equal(after.norms, before.norms)
    assert not np.array_equal(after.errors, before.errors)


def test_weights_count_on_both_sides(judged):
    judge, rng = judged
    P = rng.uniform(-1, 1, (10, 20))
    w_train, w_test = (
        rng.integers(1, 4, len(part)) for part in (judge.rows.train, judge.rows.test)
    )
    weighted = replace(
        judge.rows,
        train=replace(judge.rows.train, weight=w_train.astype(float)),
        test=replace(judge.rows.test, weight=w_test.astype(float)),
    )
    repeated = replace(
        judge.rows,
        train=judge.rows.train.taken(np.repeat(np.arange(len(w_train)), w_train)),
        test=judge.rows.test.taken(np.repeat(np.arange(len(w_test)), w_test)),
    )
    for measure in (ERROR_RATE, ROOT_MEAN_SQUARE):
        first, second = (replace(judge, rows=r, measure=measure)(P) for r in (weighted, repeated))
        assert_allclose(first.errors, second.errors, rtol=1e-7)
        assert_allclose(first.norms, second.norms, rtol=1e-7)
        assert_allclose(measure.unit(weighted.test), measure.unit(repeated.test))


@pytest.mark.parametrize("C", [None, 1.0])
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
def test_what_overflows_is_infinitely_bad(judged, C, value):
    judge, rng = judged
    broken = replace(judge, activation=lambda A: np.full(A.shape, value), C=C)
    found = broken(rng.uniform(-1, 1, (3, 20)))
    assert np.isinf(found.errors).all()
