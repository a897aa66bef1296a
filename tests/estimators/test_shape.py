"""The default fit stays readable: few modules, a flat stack, few classes of our own."""

import pytest
from benchmarks.shape import default_fit, fit_shape, own_classes, package_shape

from ecselm import CostSearchCV, ECSELMClassifier, ECSELMRegressor

MODULES, DEPTH, CLASSES = 40, 20, 4


@pytest.fixture(scope="module")
def shape():
    default_fit()  # imports and caches are not counted
    return fit_shape(default_fit)


def test_default_fit_opens_few_modules(shape):
    assert len(shape.modules) <= MODULES, shape.modules


def test_default_fit_is_not_deep(shape):
    assert shape.depth <= DEPTH, shape.deepest


@pytest.mark.parametrize("estimator", [ECSELMClassifier, ECSELMRegressor, CostSearchCV])
def test_estimators_inherit_from_few_classes(estimator):
    assert len(own_classes(estimator)) <= CLASSES


def test_package_is_counted():
    shape = package_shape()
    assert shape.n_modules < shape.n_code_lines < shape.n_lines
    assert shape.n_exported > 0
