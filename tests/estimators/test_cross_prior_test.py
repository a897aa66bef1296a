"""Committees chosen by some rows and scored on others, against choices made one by one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ecselm.estimators._ensemble import (
    N_CHOICE_FOLDS,
    CandidatePool,
    ChoiceFolds,
    Evaluated,
    best_thresholds,
    cross_scores,
)
from ecselm.fitness import ConfusionFitness, CostedRows, RowCostFitness
from ecselm.metrics.confusion import balanced_accuracy

N = 40


@pytest.fixture
def y():
    return np.repeat([0, 1], [25, 15])


def judge(y):
    return ConfusionFitness(y, 2, None, balanced_accuracy, 0.5)


def stream():
    return np.random.default_rng(7)


def test_every_part_has_its_share_of_every_class(y):
    parts = ChoiceFolds.drawn(judge(y), np.arange(N), stream())
    for c in (0, 1):
        sizes = np.bincount(parts.of_row[y == c], minlength=N_CHOICE_FOLDS)
        assert sizes.max() - sizes.min() <= 1


def test_rows_of_a_key_share_a_part_even_across_classes(y):
    keys = np.arange(N) % 10
    parts = ChoiceFolds.drawn(judge(y), keys, stream())
    for key in range(10):
        assert len(np.unique(parts.of_row[keys == key])) == 1


def test_other_judges_have_no_parts(y):
    assert ChoiceFolds.drawn(lambda Z: Z.mean(axis=(1, 2)), np.arange(N), stream()) is None


def test_judges_see_all_rows_but_those_of_the_part(y, rng):
    costs = rng.uniform(0, 5, (N, 2))
    weight = rng.uniform(1, 2, N)
    Z = rng.standard_normal((3, N, 1))
    for known in (
        ConfusionFitness(y, 2, weight, balanced_accuracy, 0.5),
        RowCostFitness(y, costs, weight, 0.0),
    ):
        parts = ChoiceFolds.drawn(known, np.arange(N), stream())
        for p, other in enumerate(parts.cross_fitnesses()):
            changed = Z.copy()
            changed[:, parts.of_row == p] *= -1
            assert_array_equal(other(Z), other(changed))
            assert not np.array_equal(other(Z), known(Z))


@pytest.mark.parametrize("of_prior", [False, True])
def test_rows_are_scored_by_what_was_chosen_without_their_part(y, rng, of_prior):
    """Thirty candidates behind one layer, of which twenty are taken."""
    scores = rng.standard_normal((30, N, 1)) + np.where(y == 1, 0.4, -0.4)[:, np.newaxis]
    points = np.arange(30.0)[:, np.newaxis]
    known = judge(y)
    parts = ChoiceFolds.drawn(known, np.arange(N), stream())
    elsewhere = -np.stack([other(scores) for other in parts.cross_fitnesses()])
    prior = points[:, 0] % 2 == 0
    pool = CandidatePool([Evaluated(0, "kind", points, -known(scores), prior, elsewhere)])
    rows = CostedRows(np.where(y == 1, 1.0, -1.0)[:, np.newaxis], y, 2)
    found = cross_scores(
        pool,
        parts,
        rows,
        lambda layer, asked: scores[asked[:, 0].astype(int)],
        of_prior=of_prior,
    )
    for p in range(N_CHOICE_FOLDS):
        others = parts.of_row != p
        losses = np.where(prior | (not of_prior), elsewhere[p], np.inf)
        best = [i for i in np.argsort(losses)[:20] if np.isfinite(losses[i])]
        mean = np.mean([scores[i] / scores[i].std() for i in best], axis=0)
        cut = 0.0
        if not of_prior:
            (cut,) = best_thresholds(mean[others], y[others], None, parts.fitnesses[p])
        assert_allclose(found[~others], mean[~others] - cut, rtol=1e-9)
