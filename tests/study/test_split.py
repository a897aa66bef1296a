"""Which rows are test rows."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from ecselm.study.run import split_rows


def split(X, codes, share=0.25, seed=0, **options):
    names = np.array(list("abcd"))[: codes.max() + 1]
    rng = np.random.default_rng(seed)
    return split_rows(X, codes, names, share=share, rng=rng, **options)


@pytest.fixture
def codes():
    return np.repeat([0, 1, 2], [100, 20, 4])


@pytest.mark.parametrize("form", [np.asarray, pd.DataFrame, sparse.csr_array])
def test_every_class_gives_its_share(rng, codes, form):
    found = split(form(rng.normal(size=(124, 2))), codes)
    assert np.bincount(codes[found.test]).tolist() == [25, 5, 1]
    assert sorted([*found.train, *found.test]) == list(range(124))
    assert found.notes == ()


def test_seed_decides(rng, codes):
    X = rng.normal(size=(124, 2))
    held = [split(X, codes, seed=seed).test.tolist() for seed in (0, 0, 1)]
    assert held[0] == held[1] != held[2]


def test_equal_rows_stay_together(rng, codes):
    frame = pd.DataFrame({"x": np.arange(124) // 2, "word": ["same"] * 124, "none": [None] * 124})
    held = np.zeros(124, dtype=bool)
    held[split(frame, codes).test] = True
    assert (held[::2] == held[1::2]).all()


def test_groups_stay_together(rng, codes):
    groups = rng.integers(0, 30, 124)
    found = split(rng.normal(size=(124, 2)), codes, groups=groups)
    assert not set(groups[found.train]) & set(groups[found.test])


def test_last_row_of_a_class_is_trained_on(rng):
    codes = np.repeat([0, 1, 2], [10, 1, 2])
    found = split(rng.normal(size=(13, 1)), codes, share=0.9)
    assert set(codes[found.train]) == {0, 1, 2}
    assert found.notes == ("No test row of b: every class keeps rows to train on.",)


def test_class_in_test_groups_alone_goes_back_to_training():
    """Rows of class c share their two groups with a and b, both of which may be test groups."""
    groups = np.repeat(np.arange(6), 2)
    codes = np.array([0, 2, 0, 0, 1, 2, 1, 1, 3, 3, 3, 3])
    sizes = set()
    for seed in range(30):
        found = split(np.arange(12.0)[:, np.newaxis], codes, 0.5, seed, groups=groups)
        sizes.add(len(found.test))
        assert set(codes[found.test]) <= set(codes[found.train])
        assert not set(groups[found.train]) & set(groups[found.test])
    assert sizes == {2, 6}


@pytest.mark.parametrize("share", [0.0, 1.0, -1.0, np.nan])
def test_share_must_lie_between(codes, share):
    with pytest.raises(ValueError, match="test_share must lie between 0 and 1"):
        split(np.arange(124.0)[:, np.newaxis], codes, share)


def test_rows_that_cannot_be_parted_are_refused(codes):
    X = np.arange(124.0)[:, np.newaxis]
    with pytest.raises(ValueError, match="rows must be left to train on and others to validate by"):
        split(X, codes, groups=np.zeros(124))
    with pytest.raises(ValueError, match="groups must have the shape"):
        split(X, codes, groups=[1, 2])
