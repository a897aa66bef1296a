from dataclasses import replace

import numpy as np
import pytest

from ecselm.paper.datasets import make_enose_like, make_m2b_like
from ecselm.paper.protocols import FULL, ITEMS, QUICK, Budget
from ecselm.paper.protocols.protocol import halves, random_splits, shares_of_classes, subsample

PROTOCOLS = {part.protocol.name: part.protocol for item in ITEMS.values() for part in item.parts}


@pytest.mark.parametrize("name", PROTOCOLS)
@pytest.mark.parametrize("budget", [FULL, QUICK], ids=["full", "quick"])
def test_no_row_trains_and_tests_at_once(name, budget):
    protocol = PROTOCOLS[name]
    for case in protocol.cases()[:2]:
        data = case.load()
        for train, test in protocol.splits(data, budget, 0):
            assert not np.intersect1d(train, test).size
            assert len(train)
            assert len(test)


@pytest.mark.parametrize("name", [name for name in PROTOCOLS if name not in {"unequal", "credit"}])
def test_splits_depend_on_nothing_but_data_budget_and_seed(name):
    protocol = PROTOCOLS[name]
    data = protocol.cases()[0].load()
    once, again = (protocol.splits(data, QUICK, 3) for _ in range(2))
    for one, other in zip(once, again, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_other_seeds_give_other_splits():
    data = make_m2b_like(random_state=0)
    first, second = (random_splits(400, 220)(data, FULL, seed)[0][0] for seed in (0, 1))
    assert not np.array_equal(first, second)


def test_more_repeats_leave_the_first_as_they_were():
    data = make_m2b_like(random_state=0)
    few, many = (random_splits(400, 220)(data, Budget(repeats=n), 0) for n in (2, 5))
    assert all(np.array_equal(a[0], b[0]) for a, b in zip(few, many, strict=False))


def test_halves_test_every_row_once_in_each_repeat():
    data = make_m2b_like(target="score", random_state=0)
    folds = halves(data, Budget(repeats=2), 0)
    for i in (0, 2):
        tested = np.concatenate([folds[i][1], folds[i + 1][1]])
        assert np.array_equal(np.sort(tested), np.arange(620))


def test_two_thirds_of_every_gas_train_as_in_the_paper():
    data = make_enose_like(random_state=0)
    for train, test in shares_of_classes(2, 3)(data, FULL, 0):
        assert (len(train), len(test)) == (320, 162)
        assert np.bincount(data.y[test]).tolist() == [63, 24, 22, 20, 20, 13]


def test_thinned_rows_keep_every_class(rng):
    y = np.repeat([0, 1], [1000, 8])
    kept = subsample(np.arange(1008), y, 100, rng)
    assert (y[kept] == 1).sum() == 6
    assert len(kept) < 120


def test_budget_must_allow_for_something():
    with pytest.raises(ValueError, match="most_rows must be at least 60, got 3"):
        replace(QUICK, most_rows=3)
