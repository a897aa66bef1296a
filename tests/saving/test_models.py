"""Models that are requested by name are saved without a pickle, and predict as before."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from ecselm.saving import load_model, save_model
from ecselm.study.models import MODELS, ModelSettings


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("logistic", {}),
        ("boosting", {}),
        ("boosting", {"cost": "0->1 = 3..20 * 1->0", "reject_cost": 0.2}),
    ],
)
@pytest.mark.parametrize("n_rows", [60, 400])
def test_named_classifiers_load_again(rng, tmp_path, name, options, n_rows):
    X = rng.normal(size=(n_rows, 3))
    y = (X[:, 0] + rng.normal(size=n_rows) > 0.3).astype(int)
    settings = ModelSettings("classes", "mean_cost" if options else "gmean", **options)
    model = MODELS["classes"][name](settings, X, y).fit(X, y)
    save_model(model, tmp_path / "model.skops")
    loaded = load_model(tmp_path / "model.skops").model
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert_array_equal(loaded.predict(X), model.predict(X))


@pytest.mark.parametrize("name", ["ridge", "boosting"])
@pytest.mark.parametrize("metric", ["mae", "rmse"])
def test_named_regressors_load_again(rng, tmp_path, name, metric):
    X = rng.normal(size=(300, 3))
    model = MODELS["numbers"][name](ModelSettings("numbers", metric), X, X[:, 0])
    model.fit(X, np.exp(X[:, 0]))
    save_model(model, tmp_path / "model.skops")
    assert_array_equal(load_model(tmp_path / "model.skops").model.predict(X), model.predict(X))
