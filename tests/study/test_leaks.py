"""Columns that give the answer away."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris

from ecselm.study.notes import leaking_columns


@pytest.fixture
def y(rng):
    return rng.permutation(np.repeat(["ill", "well", "dead"], [60, 30, 10]))


def test_copies_of_the_target_are_found_whatever_they_look_like(rng, y):
    codes = np.unique(y, return_inverse=True)[1]
    frame = pd.DataFrame(
        {
            "noise": rng.normal(size=100),
            "name": [f"p{i}" for i in range(100)],
            "copy": y,
            "code": codes,
            "noisy copy": codes + 0.01 * rng.normal(size=100),
            "half": np.where(y == "ill", "yes", "no"),
            "missing": np.where(codes == 0, np.nan, codes.astype(float)),
        }
    )
    assert leaking_columns(frame, y, "classes") == ("copy", "code", "noisy copy", "missing")


def test_a_rare_class_is_not_leaked_by_naming_the_frequent_one(rng):
    y = np.repeat(["well", "ill"], [1990, 10])
    X = np.column_stack([rng.normal(size=2000), np.ones(2000)])
    assert leaking_columns(X, y, "classes") == ()


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_honest_columns_are_not_suspected(load):
    assert leaking_columns(*load(return_X_y=True), "classes") == ()


def test_numbers_are_leaked_by_straight_lines(rng):
    y = rng.normal(size=50)
    X = np.column_stack([rng.normal(size=50), 5.0 - 2.0 * y, np.ones(50)])
    assert leaking_columns(X, y, "numbers") == ("column 2",)


def test_nothing_is_said_of_few_rows_or_sparse_ones(y):
    X = np.unique(y, return_inverse=True)[1][:, np.newaxis].astype(float)
    assert leaking_columns(X, y, "classes") == ("column 1",)
    assert leaking_columns(X[:19], y[:19], "classes") == ()
    assert leaking_columns(sparse.csr_array(X), y, "classes") == ()
