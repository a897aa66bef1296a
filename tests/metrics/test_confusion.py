"""Metrics of many confusion matrices at once, against scikit-learn's of one."""

import warnings
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import metrics

from ecselm.metrics.confusion import (
    accuracy,
    balanced_accuracy,
    gmean,
    neg_mean_cost,
    neg_total_cost,
    recalls,
    savings,
)
from ecselm.metrics.registry import METRICS

BINARY = {name: one.from_confusion for name, one in METRICS.items() if one.needs_positive_class}
COUNTED = {
    name: one.from_confusion
    for name, one in METRICS.items()
    if one.from_confusion is not None and not (one.needs_positive_class or one.uses_cost)
}
PER_CLASS = {
    "f1": metrics.f1_score,
    "precision": metrics.precision_score,
    "recall": metrics.recall_score,
}
SKLEARN = {
    "accuracy": metrics.accuracy_score,
    "arr": metrics.balanced_accuracy_score,
    "balanced_accuracy": metrics.balanced_accuracy_score,
    "rank_1": metrics.accuracy_score,
    "trr": metrics.accuracy_score,
    "matthews_corrcoef": metrics.matthews_corrcoef,
    **{
        f"{name}_{average}": partial(function, average=average, zero_division=0)
        for name, function in PER_CLASS.items()
        for average in ("macro", "micro", "weighted")
    },
}
WEIGHTED = pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
KS = pytest.mark.parametrize("k", [2, 5], ids=["two classes", "five classes"])


def predictions(rng, k, weighted):
    """Return truths, predictions and weights, where some classes are absent from either."""
    cases = []
    for _ in range(12):
        true, predicted = (rng.permutation(k)[: rng.integers(1, k + 1)] for _ in range(2))
        y = rng.choice(true, 25), rng.choice(predicted, 25)
        if len(np.unique(np.concatenate(y))) > 1:
            cases.append((*y, rng.uniform(0.1, 3.0, 25) if weighted else None))
    return cases


def tables(cases, k):
    matrices = [
        metrics.confusion_matrix(true, predicted, labels=range(k), sample_weight=weight)
        for true, predicted, weight in cases
    ]
    return np.array(matrices, dtype=float)


@KS
@WEIGHTED
@pytest.mark.parametrize("name", SKLEARN)
def test_values_are_those_of_scikit_learn(rng, name, k, weighted):
    cases = predictions(rng, k, weighted)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of classes that are absent
        expected = [SKLEARN[name](true, pred, sample_weight=w) for true, pred, w in cases]
    assert_allclose(COUNTED[name](tables(cases, k)), expected, rtol=1e-9, atol=1e-12)


@WEIGHTED
@pytest.mark.parametrize("name", PER_CLASS)
def test_of_two_classes_the_second_is_the_positive_one(rng, name, weighted):
    cases = predictions(rng, 2, weighted)
    expected = [
        PER_CLASS[name](true, predicted, sample_weight=w, zero_division=0)
        for true, predicted, w in cases
    ]
    assert_allclose(BINARY[name](tables(cases, 2)), expected, rtol=1e-12)


@KS
@WEIGHTED
def test_gmean_is_the_geometric_mean_of_the_recalls_of_classes_that_occur(rng, k, weighted):
    counts = tables(predictions(rng, k, weighted), k)
    counts[0] += 1.0  # one at least without a recall of 0
    for matrix, value in zip(counts, gmean(counts), strict=True):
        of_each = [matrix[c, c] / matrix[c].sum() for c in range(k) if matrix[c].sum() > 0]
        assert value == pytest.approx(np.prod(of_each) ** (1.0 / len(of_each)), rel=1e-12)


@KS
@WEIGHTED
def test_recalls_are_shares_of_each_class_and_none_of_a_class_that_is_absent(rng, k, weighted):
    counts = tables(predictions(rng, k, weighted), k)
    for matrix, values in zip(counts, recalls(counts), strict=True):
        for c in range(k):
            share = matrix[c, c] / matrix[c].sum() if matrix[c].sum() > 0 else np.nan
            assert values[c] == pytest.approx(share, rel=1e-12, nan_ok=True)


@KS
@WEIGHTED
def test_mean_cost_is_that_of_every_answer(rng, k, weighted):
    cases, cost = predictions(rng, k, weighted), rng.uniform(0.0, 9.0, (k, k))
    values = neg_mean_cost(tables(cases, k), cost)
    for (true, predicted, weight), value in zip(cases, values, strict=True):
        w = np.ones(25) if weight is None else weight
        total = sum(w[i] * cost[true[i], predicted[i]] for i in range(25))
        assert value == pytest.approx(-total / w.sum(), rel=1e-12)
    sizes = [25.0 if weight is None else weight.sum() for _, _, weight in cases]
    assert_allclose(neg_total_cost(tables(cases, k), cost), values * sizes, rtol=1e-12)


@KS
@WEIGHTED
def test_savings_are_against_the_best_of_all_constant_answers(rng, k, weighted):
    cases, cost = predictions(rng, k, weighted), rng.uniform(0.1, 9.0, (k, k))
    values = savings(tables(cases, k), cost)
    for (true, predicted, weight), value in zip(cases, values, strict=True):
        w = np.ones(25) if weight is None else weight
        total = sum(w[i] * cost[true[i], predicted[i]] for i in range(25))
        constant = min(sum(w[i] * cost[true[i], j] for i in range(25)) for j in range(k))
        assert value == pytest.approx(1.0 - total / constant, rel=1e-12)


def test_nothing_is_saved_where_a_constant_answer_is_free():
    with pytest.raises(ValueError, match=r"savings must have .* more than 0, got 0"):
        savings(np.ones((1, 2, 2)), np.array([[0.0, 5.0], [0.0, 0.0]]))


@pytest.mark.parametrize("name", COUNTED)
def test_a_matrix_does_not_depend_on_its_company(rng, name):
    counts = rng.uniform(0.0, 9.0, (4, 3, 3))
    alone = np.concatenate([COUNTED[name](counts[i : i + 1]) for i in range(4)])
    assert_allclose(COUNTED[name](counts), alone, rtol=1e-14)


@pytest.mark.parametrize("name", [*COUNTED, *BINARY])
def test_the_unit_of_the_counts_does_not_matter(rng, name):
    metric = {**COUNTED, **BINARY}[name]
    counts = rng.uniform(0.1, 9.0, (4, 2, 2))
    assert_allclose(metric(1e-6 * counts), metric(counts), rtol=1e-10)


@pytest.mark.parametrize("name", COUNTED)
def test_all_right_is_one_and_the_best(name):
    assert_allclose(COUNTED[name](np.diag([3.0, 1.0, 9.0])[np.newaxis]), [1.0], rtol=1e-14)


@pytest.mark.parametrize("name", COUNTED)
def test_classes_in_another_order_are_worth_the_same(rng, name):
    counts, order = rng.uniform(0.0, 9.0, (4, 3, 3)), [2, 0, 1]
    reordered = counts[:, order][:, :, order]
    assert_allclose(COUNTED[name](reordered), COUNTED[name](counts), rtol=1e-12)


def test_arguments_are_never_modified(rng):
    counts = rng.uniform(0.0, 9.0, (4, 2, 2))
    kept = counts.copy()
    for metric in (*COUNTED.values(), *BINARY.values(), recalls):
        metric(counts)
    assert_array_equal(counts, kept)


def test_a_missed_class_leaves_no_gmean_and_half_a_balanced_accuracy():
    counts = np.array([[[5.0, 0.0], [5.0, 0.0]]])
    assert_array_equal(
        [accuracy(counts)[0], balanced_accuracy(counts)[0], gmean(counts)[0]], [0.5, 0.5, 0.0]
    )
