"""Ensembles chosen by some rows and scored on others, against choices made one by one."""

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


def fitness(y):
    return ConfusionFitness(y, 2, None, balanced_accuracy, 0.5)


def stream():
    return np.random.default_rng(7)


def test_every_fold_has_its_share_of_every_class(y):
    folds = ChoiceFolds.drawn(fitness(y), np.arange(N), stream())
    for c in (0, 1):
        sizes = np.bincount(folds.of_row[y == c], minlength=N_CHOICE_FOLDS)
        assert sizes.max() - sizes.min() <= 1


def test_rows_of_an_id_share_a_fold_even_across_classes(y):
    row_ids = np.arange(N) % 10
    folds = ChoiceFolds.drawn(fitness(y), row_ids, stream())
    for row_id in range(10):
        assert len(np.unique(folds.of_row[row_ids == row_id])) == 1


def test_other_fitnesses_have_no_folds(y):
    assert ChoiceFolds.drawn(lambda Z: Z.mean(axis=(1, 2)), np.arange(N), stream()) is None


def test_fitnesses_see_all_rows_but_those_of_the_fold(y, rng):
    costs = rng.uniform(0, 5, (N, 2))
    weight = rng.uniform(1, 2, N)
    Z = rng.standard_normal((3, N, 1))
    for known in (
        ConfusionFitness(y, 2, weight, balanced_accuracy, 0.5),
        RowCostFitness(y, costs, weight, 0.0),
    ):
        folds = ChoiceFolds.drawn(known, np.arange(N), stream())
        for p, other in enumerate(folds.cross_fitnesses()):
            changed = Z.copy()
            changed[:, folds.of_row == p] *= -1
            assert_array_equal(other(Z), other(changed))
            assert not np.array_equal(other(Z), known(Z))


@pytest.mark.parametrize("of_prior", [False, True])
def test_rows_are_scored_by_what_was_chosen_without_their_fold(y, rng, of_prior):
    """Thirty candidates behind one layer, of which twenty are taken."""
    scores = rng.standard_normal((30, N, 1)) + np.where(y == 1, 0.4, -0.4)[:, np.newaxis]
    points = np.arange(30.0)[:, np.newaxis]
    known = fitness(y)
    folds = ChoiceFolds.drawn(known, np.arange(N), stream())
    cross_losses = -np.stack([other(scores) for other in folds.cross_fitnesses()])
    prior = points[:, 0] % 2 == 0
    pool = CandidatePool([Evaluated(0, "kind", points, -known(scores), prior, cross_losses)])
    rows = CostedRows(np.where(y == 1, 1.0, -1.0)[:, np.newaxis], y, 2)
    found = cross_scores(
        pool,
        folds,
        rows,
        lambda layer, asked: scores[asked[:, 0].astype(int)],
        of_prior=of_prior,
    )
    for p in range(N_CHOICE_FOLDS):
        others = folds.of_row != p
        losses = np.where(prior | (not of_prior), cross_losses[p], np.inf)
        best = [i for i in np.argsort(losses)[:20] if np.isfinite(losses[i])]
        mean = np.mean([scores[i] / scores[i].std() for i in best], axis=0)
        threshold = 0.0
        if not of_prior:
            (threshold,) = best_thresholds(mean[others], y[others], None, folds.fitnesses[p])
        assert_allclose(found[~others], mean[~others] - threshold, rtol=1e-9)
