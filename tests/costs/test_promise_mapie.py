"""Promises of two classes against the risk control of MAPIE, on the same rows and thresholds.

MAPIE is no dependency of the project. To run these tests, install it into a copy of the
environment: ``pip install mapie`` and then ``pytest tests/costs/test_promise_mapie.py``.
"""

import numpy as np
import pytest
from scipy.stats import binom

from ecselm.costs import min_cost_decision
from ecselm.costs.promise import CautiousCosts, keep_promises, read_promise

CLASSES = np.array([0, 1])


def rows(n, seed):
    """Return probabilities (n, 2) and classes of rows from two normal laws."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    p = 1 / (1 + np.exp(-(1.5 * (rng.standard_normal(n) + 1.5 * y) - 1.5**2 / 2)))
    return np.column_stack([1 - p, p]), y


def kept_threshold(promise, confidence, P, y):
    """Return our threshold of the probability of class 1, and all that were candidates."""
    promises = read_promise(promise, CLASSES)
    # Stated costs on the other side, so that the test decides where to stop.
    far, near = (1e6, 1e-6) if 1 in promise else (1e-6, 1e6)
    stated = np.array([[0.0, far], [near, 0.0]])
    sequence = CautiousCosts(stated, promises).sequence(y, lambda M: min_cost_decision(P, M))
    kept = keep_promises(promises, sequence, y, lambda M: min_cost_decision(P, M), confidence)
    thresholds = np.array([one.matrix[0, 1] / one.matrix.sum() for one in sequence])
    assert kept is not None
    return kept.matrix[0, 1] / kept.matrix.sum(), thresholds


def most_failures(n, limit, confidence):
    """Return the most failures that an exact test accepts."""
    return int(np.flatnonzero(binom.cdf(np.arange(n + 1), n, limit) <= 1 - confidence).max())


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("n", "asked", "confidence"), [(600, 0.9, 0.9), (2000, 0.95, 0.95)])
@pytest.mark.parametrize("kind", ["recall", "fpr"])
def test_thresholds_agree_within_the_slack_of_the_bounds(kind, n, asked, confidence, seed):
    """MAPIE's p-values are those of Hoeffding and Bentkus, at most e times the exact ones.

    So its threshold is at least as cautious, by no more failures than this factor explains.
    """
    control = pytest.importorskip("mapie.risk_control")
    P, y = rows(n, seed)
    promise = {1: asked} if kind == "recall" else {(0, 1): 1 - asked}
    truth = 1 if kind == "recall" else 0
    ours, thresholds = kept_threshold(promise, confidence, P, y)
    controller = control.BinaryClassificationController(
        lambda X: P,
        kind,
        asked if kind == "recall" else 1 - asked,
        confidence_level=confidence,
        list_predict_params=thresholds,
        fwer_method="fixed_sequence",
    )
    controller.calibrate(np.zeros((n, 1)), y)
    theirs = controller.best_predict_param

    def failures(threshold):
        found = P[y == truth, 1] >= threshold
        return int((~found if kind == "recall" else found).sum())

    n_cases, limit = int((y == truth).sum()), 1 - asked
    exact = most_failures(n_cases, limit, confidence)
    with_slack = most_failures(n_cases, limit, 1 - (1 - confidence) / np.e)
    assert failures(theirs) <= failures(ours) <= exact
    steps = 1 + np.abs(np.diff([failures(one) for one in thresholds])).max()  # of the grid
    assert failures(theirs) >= with_slack - steps
    assert failures(ours) >= exact - steps
