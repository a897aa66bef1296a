"""The paper's search letter by letter is a name, which a file without code can hold."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from ecselm import ECSELMClassifier, ECSELMRegressor
from ecselm.saving import load_model, save_model

BUDGET = {"n_hidden": 5, "population_size": 6, "max_epochs": 2, "random_state": 0}


@pytest.mark.parametrize("kind", [ECSELMClassifier, ECSELMRegressor])
def test_a_model_of_the_literal_search_is_saved_and_fitted_again(kind, tmp_path, rng):
    X = rng.standard_normal((40, 3))
    y = (X[:, 0] > 0).astype(int)
    model = kind.paper(literal=True, **BUDGET).fit(X, y)
    save_model(model, tmp_path / "model.skops")
    loaded = load_model(tmp_path / "model.skops").model
    assert loaded.optimizer == "bsa_literal"
    assert_array_equal(loaded.predict(X), model.predict(X))
    assert_array_equal(np.asarray(loaded.fit(X, y).cost_vector_), model.cost_vector_)
