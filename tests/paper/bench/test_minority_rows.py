from itertools import pairwise

import numpy as np
import pytest

from ecselm.paper.bench.minority import SIZES, is_suitable, subsample_minority, suitable_cases
from tests.paper.bench.made import tiny
from tests.paper.bench.minority_data import case, cases, enough


def test_rows_of_fewer_cases_are_among_those_of_more():
    data = enough("yeast-a")
    train, _ = data.folds[0]
    drawn = [
        subsample_minority(train, data.y, size, np.random.default_rng(3))
        for size in (*SIZES, 10**6)
    ]
    assert [int(data.y[rows].sum()) for rows in drawn[:-1]] == list(SIZES)
    for few, more in pairwise(drawn):
        assert set(few) < set(more)
    assert np.array_equal(drawn[-1], train)
    for rows in drawn:  # the majority stays as it is
        assert np.array_equal(rows[data.y[rows] == 0], train[data.y[train] == 0])


def test_other_seeds_draw_other_rows():
    data = enough("yeast-a")
    train, _ = data.folds[0]
    first, second = (
        subsample_minority(train, data.y, 10, np.random.default_rng(seed)) for seed in (0, 1)
    )
    assert set(first) != set(second)


def test_suited_are_two_classes_with_enough_rows_in_every_training_fold():
    assert is_suitable(enough("a", n_rare=90))
    assert not is_suitable(enough("a", n_rare=89))
    assert not is_suitable(tiny("b", k=3))
    assert [one.info.label for one in suitable_cases(cases(), 0)] == ["yeast-a", "yeast-b"]


def test_sets_of_which_none_is_suited_are_refused_by_name():
    with pytest.raises(ValueError, match=r"at least 60 rows of the minority .* got glass-few"):
        suitable_cases([case("glass-few", n_rare=60)], 0)
