"""What every classifier that is told its costs by class must do."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import make_blobs

COST = np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 1.0], [9.0, 2.0, 0.0]])


class CostSensitiveContract:
    """Subclass with ``make(cost, unit)`` and ``plain_predictions(X, y, X_new)``.

    ``unit`` is the factor by which the costs were multiplied: a machine that trades them
    off against a penalty multiplies the penalty as well. ``order`` is the permutation of
    the three classes that must permute predictions.
    """

    order = (2, 0, 1)
    right_one = 1 - np.eye(3)

    @pytest.fixture
    def data(self):
        centres = [[0.0, 0.0], [2.0, 1.0], [4.0, 0.0]]
        X, y = make_blobs(180, centers=centres, cluster_std=1.1, random_state=3)
        return X[:120], y[:120], X[120:]

    def test_costs_of_one_give_the_plain_twin(self, data):
        X, y, new = data
        expected = self.plain_predictions(X, y, new)
        assert_array_equal(self.make(None, 1.0).fit(X, y).predict(new), expected)
        assert_array_equal(self.make(self.right_one, 1.0).fit(X, y).predict(new), expected)

    def test_the_unit_of_the_costs_does_not_matter(self, data):
        X, y, new = data
        once = self.make(COST, 1.0).fit(X, y).predict(new)
        assert_array_equal(self.make(8.0 * COST, 8.0).fit(X, y).predict(new), once)

    def test_permuting_classes_with_the_matrix_permutes_predictions(self, data):
        X, y, new = data
        order = np.array(self.order)  # class i is called order[i]
        moved = np.empty_like(COST)
        moved[np.ix_(order, order)] = COST
        once = self.make(COST, 1.0).fit(X, y).predict(new)
        assert_array_equal(self.make(moved, 1.0).fit(X, order[y]).predict(new), order[once])

    def test_costs_by_label_are_the_costs_by_position(self, data):
        X, y, new = data
        names = np.array(["a", "b", "c"])
        by_label = {(names[i], names[j]): COST[i, j] for i in range(3) for j in range(3) if i != j}
        once = self.make(COST, 1.0).fit(X, y).predict(new)
        named = self.make(by_label, 1.0).fit(X, names[y]).predict(new)
        assert_array_equal(named, names[once])

    def test_dear_mistakes_become_rarer(self, data):
        X, y, _ = data
        plain = self.make(None, 1.0).fit(X, y).predict(X)
        dear = self.make({(0, 1): 30.0, (0, 2): 60.0}, 1.0).fit(X, y).predict(X)
        assert ((dear != 0) & (y == 0)).sum() < ((plain != 0) & (y == 0)).sum()

    @pytest.mark.parametrize(
        ("cost", "message"),
        [
            (np.ones((2, 2)), r"cost must have the shape \(3, 3\)"),
            (-COST, "cost must not make a mistake cheaper"),
            ({("a", 0): 2}, "cost must name classes of y"),
        ],
    )
    def test_bad_costs_are_refused_by_name(self, data, cost, message):
        model = self.make(cost, 1.0)
        with pytest.raises(ValueError, match=message):
            model.fit(*data[:2])
        assert not hasattr(model, "classes_")
