import numpy as np
import pytest

from ecselm.paper.protocols import FULL, QUICK
from ecselm.paper.protocols.access import (
    MEMBERS,
    STRANGER,
    UNSEEN,
    access_cases,
    access_splits,
    forty_people,
    person_groups,
    relabel,
)


@pytest.fixture(scope="module")
def data():
    return forty_people()


def test_half_of_the_pictures_of_known_persons_train(data):
    for number, (train, test) in enumerate(access_splits(data, FULL, 0)):
        y = relabel(data, 0, number).y
        counts = dict(zip(*np.unique(y[train], return_counts=True), strict=True))
        assert counts == {**dict.fromkeys(MEMBERS, 5), STRANGER: 75}
        assert np.unique(np.unique(data.y[train], return_counts=True)[1]).tolist() == [5]
        left = dict(zip(*np.unique(y[test], return_counts=True), strict=True))
        assert left == {**dict.fromkeys(MEMBERS, 5), STRANGER: 75, UNSEEN: 150}


def test_unseen_strangers_are_absent_from_training(data):
    for number, (train, test) in enumerate(access_splits(data, FULL, 1)):
        y = relabel(data, 1, number).y
        unseen = np.unique(data.y[y == UNSEEN])
        assert len(unseen) == 15
        assert not np.isin(data.y[train], unseen).any()
        assert np.isin(np.flatnonzero(y == UNSEEN), test).all()


def test_a_member_is_one_person(data):
    y = relabel(data, 0, 0).y
    assert [len(np.unique(data.y[y == member])) for member in MEMBERS] == [1] * 10


def test_every_repeat_and_every_seed_has_its_own_gallery(data):
    galleries = {
        tuple(np.unique(data.y[np.isin(relabel(data, seed, split).y, MEMBERS)]).tolist())
        for seed in (0, 1)
        for split in (0, 1, 2)
    }
    assert len(galleries) == 6


def test_fewer_repeats_have_the_same_galleries(data):
    few, many = access_splits(data, QUICK, 0), access_splits(data, FULL, 0)
    for one, other in zip(few, many, strict=False):
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_a_stranger_is_one_group_and_every_picture_of_a_member_its_own(data):
    for split in (0, 1):
        groups, y = person_groups(data, 0, split), relabel(data, 0, split).y
        member = np.isin(y, MEMBERS)
        assert np.array_equal(groups[~member], data.y[~member])
        assert len(np.unique(groups[member])) == member.sum() == 100
        assert not set(groups[member]) & set(groups[~member])


def test_relabelling_leaves_the_data_as_they_were(data):
    before = data.y.copy()
    relabel(data, 0, 0)
    assert np.array_equal(data.y, before)


def test_without_data_there_is_a_stand_in():
    (case,) = access_cases()
    assert case.origin == "synthetic"
    assert case.load().synthetic
