"""What every layout of cost entries must do."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal


class LevelContract:
    """Subclass with a fixture ``case``: a level, its classes and the class of every group."""

    @pytest.fixture
    def by_class(self, case, rng):
        return rng.uniform(0.5, 9.0, len(case[1]))

    def test_names_every_entry_differently(self, case):
        level, classes, _ = case
        names = level.names(classes)
        assert len(set(names)) == len(names) == level.n_entries

    def test_every_entry_belongs_to_one_class(self, case):
        level, classes, _ = case
        entries = [i for c in range(len(classes)) for i in level.entries_of(c, None)]
        assert sorted(entries) == list(range(level.n_entries))

    def test_the_name_of_an_entry_names_its_class(self, case):
        level, classes, _ = case
        names = level.names(classes)
        for c, label in enumerate(classes.tolist()):
            assert all(repr(label) in names[i] for i in level.entries_of(c, None))

    def test_spread_puts_the_cost_of_a_class_in_its_entries(self, case, by_class):
        level, classes, _ = case
        entries = level.from_class_costs(by_class)
        assert entries.shape == (level.n_entries,)
        for c in range(len(classes)):
            assert_array_equal(entries[level.entries_of(c, None)], by_class[c])

    def test_costs_that_depend_on_the_class_only_are_those_of_its_groups(self, case, by_class):
        level, _, groups = case
        costs = level.group_costs(level.from_class_costs(by_class)[np.newaxis])
        assert_allclose(costs, [by_class[groups]], rtol=1e-14)

    def test_ones_give_a_vector_of_ones(self, case):
        level, _, groups = case
        ones = level.group_costs(np.ones((2, level.n_entries)))
        assert_array_equal(ones, np.ones((2, len(groups))))

    def test_group_costs_are_linear_in_the_entries(self, case, rng):
        level, _, _ = case
        A, B = rng.uniform(0.0, 9.0, (2, 3, level.n_entries))
        sums = level.group_costs(A) + 2.0 * level.group_costs(B)
        assert_allclose(level.group_costs(A + 2.0 * B), sums, rtol=1e-14)

    def test_an_entry_counts_in_groups_of_its_class_only(self, case):
        level, classes, groups = case
        for c in range(len(classes)):
            for entry in level.entries_of(c, None):
                costs = level.group_costs(np.eye(level.n_entries)[[entry]])[0]
                assert (costs >= 0).all()
                assert costs.any()
                assert_array_equal(groups[costs > 0], c)

    def test_candidates_do_not_depend_on_each_other(self, case, rng):
        level, _, _ = case
        entries = rng.uniform(0.0, 9.0, (4, level.n_entries))
        alone = level.group_costs(entries[2:3])
        assert_array_equal(level.group_costs(entries)[2:3], alone)

    def test_leaves_its_arguments_alone(self, case, by_class):
        level, _, _ = case
        kept, ones = by_class.copy(), np.ones((2, level.n_entries))
        level.from_class_costs(by_class)[:] = -1.0
        level.group_costs(ones)
        assert_array_equal(by_class, kept)
        assert_array_equal(ones, 1.0)
