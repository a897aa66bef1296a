"""Every map from x to H keeps the contract, wherever it comes from."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures

from ecselm.estimators._layers import LayerRecipe, TransformerLayer
from ecselm.layers import KERNELS, KernelMap, RandomLayer, draw_weights
from tests.contracts.layer_contract import LayerContract

DOUBLE = np.dtype(np.float64)


class TestRandomLayer(LayerContract):
    @pytest.fixture(params=["radbas", "sine", np.cos], ids=str)
    def layer(self, request, rng):
        drawn = draw_weights("normal", 3, 7, rng)
        return RandomLayer(drawn.weights, drawn.biases, request.param)


class TestKernelMap(LayerContract):
    @pytest.fixture(params=sorted({*KERNELS} - {"precomputed"}))
    def layer(self, request, rng):
        return KernelMap(request.param, rng.standard_normal((7, 3)), gamma=0.4)


class TestTransformerLayer(LayerContract):
    @pytest.fixture(params=["dense", "sparse"])
    def layer(self, request):
        maker = sparse.csr_array if request.param == "sparse" else np.array
        transformer = FunctionTransformer(lambda X: maker(np.hstack([X, X**2]))).fit(np.eye(3))
        return TransformerLayer(transformer, 6, DOUBLE)


def test_recipe_clones_and_fits_a_transformer(rng):
    transformer = PolynomialFeatures(2)
    recipe = LayerRecipe(None, "radbas", None, transformer, DOUBLE)
    layer = recipe.make(rng.standard_normal((5, 3)), None)
    assert layer.n_hidden == 10
    assert not hasattr(transformer, "n_features_in_")
    assert recipe.source == ("hidden_layer", transformer)


def test_recipe_knows_whether_it_needs_data(rng):
    drawn = draw_weights("normal", 3, 7, rng)
    assert LayerRecipe(drawn, "radbas", None, None, DOUBLE).data_free
    assert not LayerRecipe(drawn, "radbas", "minmax", None, DOUBLE).data_free
    assert not LayerRecipe(None, "radbas", None, PolynomialFeatures(), DOUBLE).data_free
