"""A kernel matrix of too many rows is refused before any of it is computed."""

import numpy as np
import pytest
from sklearn.base import clone

import ecselm

BUDGET = {"population_size": 4, "max_epochs": 1}
KERNEL_MACHINES = [
    name
    for name in ecselm.__all__
    if "kernel" in getattr(ecselm, name)._get_param_names()  # CostSearchCV needs an estimator
]


def make(name, **parameters):
    budget = BUDGET if name.startswith("ECSELM") else {}
    return getattr(ecselm, name)(**budget, **parameters)


@pytest.fixture
def rows(rng):
    return rng.standard_normal((40, 3)), np.arange(40) % 2


def test_all_kernel_machines_have_the_same_limit():
    assert len(KERNEL_MACHINES) == 7
    assert {make(name).max_samples for name in KERNEL_MACHINES} == {20000}


@pytest.mark.parametrize("name", KERNEL_MACHINES)
def test_more_rows_than_allowed_are_refused_before_the_kernel_is_asked(name, rows):
    def kernel(A, B):
        pytest.fail("the kernel was asked")

    model = make(name, kernel=kernel, max_samples=39)
    with pytest.raises(ValueError, match=r"at most max_samples=39 rows, got 40: .*=None lifts"):
        model.fit(*rows)
    assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize("name", KERNEL_MACHINES)
def test_precomputed_kernels_are_refused_as_well(name, rows):
    X, y = rows
    with pytest.raises(ValueError, match="at most max_samples=39 rows, got 40"):
        make(name, kernel="precomputed", max_samples=39).fit(X @ X.T, y)


@pytest.mark.parametrize("name", KERNEL_MACHINES)
def test_as_many_rows_as_allowed_and_any_number_without_limit_are_learned(name, rows):
    model = make(name, kernel="rbf", max_samples=40)
    expected = model.fit(*rows).beta_.shape
    unlimited = clone(model).set_params(max_samples=None)
    assert unlimited.fit(*rows).beta_.shape == expected == (40, expected[1])


@pytest.mark.parametrize("name", [n for n in KERNEL_MACHINES if not n.startswith("KELM")])
def test_hidden_layers_have_no_limit(name, rows):
    model = make(name, n_hidden=5, activation="radbas", max_samples=10, random_state=0)
    assert model.fit(*rows).beta_.shape[0] == 5
    with pytest.raises(ValueError, match="max_samples"):
        clone(model).set_params(max_samples=0).fit(*rows)
