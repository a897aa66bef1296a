"""What every map from x to H must do."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal


class LayerContract:
    """Subclass with a fixture ``layer`` made for inputs of three features."""

    @pytest.fixture
    def X(self, rng):
        return rng.standard_normal((11, 3))

    def test_gives_a_row_of_hidden_units_per_row(self, layer, X):
        assert layer(X).shape == (11, layer.n_hidden)

    def test_rows_do_not_depend_on_each_other(self, layer, X):
        assert_allclose(layer(X[4:6]), layer(X)[4:6], rtol=1e-12)

    def test_fills_the_place_it_is_given(self, layer, X):
        place = np.full((11, layer.n_hidden), np.nan)
        assert layer(X, out=place) is place
        assert_allclose(place, layer(X), rtol=1e-12)

    def test_leaves_its_input_alone(self, layer, X):
        copy = X.copy()
        layer(X)
        assert_array_equal(X, copy)

    def test_says_whether_threads_may_share_it(self, layer):
        assert isinstance(layer.concurrent, bool)
