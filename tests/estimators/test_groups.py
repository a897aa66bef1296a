"""Rows that belong together stand on one side of every split of a fitness."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    PredefinedSplit,
    StratifiedKFold,
)
from sklearn.naive_bayes import GaussianNB

from ecselm import ECSELMClassifier, ECSELMRegressor
from ecselm.fitness.folds import Groups, fitness_splits, read_groups
from tests.estimators.literal import Splitter
from tests.estimators.plain import one_machine, plain_search

TINY = {"population_size": 4, "max_epochs": 1, "random_state": 0}
MACHINE = {"n_hidden": 8, **TINY}


def ensemble(**changes):
    return ECSELMClassifier(**{**TINY, "keep_prior": False, **changes})


def machine(**changes):
    return one_machine(**{**MACHINE, **changes})


def regressor(**changes):
    return ECSELMRegressor(**{**MACHINE, **changes})


def search(**changes):
    return plain_search(GaussianNB(), **{**TINY, **changes})


KINDS = [machine, regressor, search]
KIND = pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
EVERY_KIND = pytest.mark.parametrize("make", [*KINDS, ensemble], ids=lambda make: make.__name__)


@pytest.fixture
def data(rng):
    """Return rows of 20 persons, three of each, and who they are of."""
    who = np.repeat(np.arange(20), 3)
    centres = rng.standard_normal((20, 4))
    X = centres[who] + 0.1 * rng.standard_normal((60, 4))
    return X, (who % 3 == 0).astype(int), who


def splits_of(fitness, X, y, groups):
    rng = np.random.default_rng(0)
    return fitness_splits(fitness, X, y, y, 0.25, rng, Groups.of_labels(groups))


@pytest.mark.parametrize(
    "fitness", ["cv", "holdout", 3, GroupKFold(4), LeaveOneGroupOut()], ids=str
)
def test_no_group_is_on_both_sides_of_a_split(data, fitness):
    X, y, who = data
    for split in splits_of(fitness, X, y, who):
        assert not set(who[split.train]) & set(who[split.test])
        assert len(split.train) + len(split.test) == 60


@KIND
def test_every_search_is_validated_on_groups_it_was_not_trained_on(data, make):
    X, y, who = data
    folds = GroupKFold(4)
    given = Splitter(lambda X, y: list(folds.split(X, y, who)))
    by_groups = make(fitness=folds).fit(X, y, groups=who)
    by_hand = make(fitness=given).fit(X, y)
    assert_array_equal(by_groups.cost_vector_, by_hand.cost_vector_)
    assert by_groups.best_score_ == by_hand.best_score_


@EVERY_KIND
def test_what_validates_is_divided_by_group(data, make):
    X, y, who = data
    assert make().fit(X, y, groups=who).best_score_ < make().fit(X, y).best_score_


@KIND
@pytest.mark.parametrize("fitness", ["holdout", GroupKFold(4)], ids=["holdout", "splitter"])
def test_a_weight_of_zero_is_absence_of_the_group_too(data, make, fitness):
    X, y, who = data
    weight = np.where(np.isin(who, (0, 7, 11)), 0.0, 1.0)
    kept = weight > 0
    weighted = make(fitness=fitness).fit(X, y, sample_weight=weight, groups=who)
    alone = make(fitness=fitness).fit(
        X[kept], y[kept], sample_weight=weight[kept], groups=who[kept]
    )
    assert weighted.best_score_ == pytest.approx(alone.best_score_, rel=1e-12)


def test_a_weight_of_zero_is_absence_of_the_group_from_an_ensemble(data):
    X, y, who = data
    weight = np.where(np.isin(who, (0, 7, 11)), 0.0, 1.0)
    kept = weight > 0
    weighted = ensemble().fit(X, y, sample_weight=weight, groups=who)
    alone = ensemble().fit(X[kept], y[kept], groups=who[kept])
    assert weighted.best_score_ == pytest.approx(alone.best_score_, rel=1e-9)


NAMES = np.array([f"person {i:02d}" for i in range(20)])
FORMS = {
    "numbers": lambda who: who * 10**9,
    "words": lambda who: NAMES[who],
    "a list": lambda who: NAMES[who].tolist(),
    "pairs": lambda who: [(i, "x") for i in who.tolist()],
    "a series": lambda who: pd.Series(NAMES[who], index=np.arange(60)[::-1]),
    "categories": lambda who: pd.Categorical(NAMES[who]),
    "dates": lambda who: np.datetime64("2020-01-01") + who,
}


@pytest.mark.parametrize("form", FORMS)
def test_what_labels_are_does_not_matter(data, form):
    who = data[2]
    groups = read_groups(FORMS[form](who), 60, "cv")
    assert_array_equal(groups.codes, who)


def test_numbers_and_words_may_stand_beside_each_other():
    groups = Groups.of_labels([1, "1", 2, "1", 1])
    assert groups.codes.tolist() == [0, 1, 2, 1, 0]


def test_the_order_of_rows_does_not_matter(data, rng):
    who, order = data[2], rng.permutation(60)
    assert_array_equal(Groups.of_labels(who[order]).codes, who[order])


def test_a_splitter_is_shown_the_labels_of_rows_that_count(data):
    X, y, who = data
    seen = []

    class Shown(GroupKFold):
        def split(self, X, y=None, groups=None):
            seen.append(groups)
            return super().split(X, y, groups)

    weight = np.where(who < 5, 0.0, 1.0)
    machine(fitness=Shown(2)).fit(X, y, sample_weight=weight, groups=NAMES[who])
    assert_array_equal(seen[0], NAMES[who[who >= 5]])


def test_a_splitter_that_keeps_groups_together_without_minding_them_will_do(data):
    X, y, who = data
    machine(fitness=PredefinedSplit(who % 2)).fit(X, y, groups=who)


@pytest.mark.parametrize("fitness", [KFold(7), StratifiedKFold(3, shuffle=True, random_state=0)])
def test_a_splitter_that_parts_a_group_is_refused(data, fitness):
    X, y, who = data
    with pytest.raises(ValueError, match=r"one side of every split, got .*Fold.* parts the group"):
        machine(fitness=fitness).fit(X, y, groups=NAMES[who])


@KIND
@pytest.mark.parametrize("fitness", ["train", "loo"])
def test_validating_rows_by_their_own_group_is_refused(data, make, fitness):
    X, y, who = data
    with pytest.raises(ValueError, match=f"fitness must keep rows of one group .* '{fitness}'"):
        make(fitness=fitness).fit(X, y, groups=who)


BAD = {
    "too few": (np.arange(59), r"groups must have the shape \(60,\), .* got \(59,\)"),
    "a matrix": (np.zeros((60, 2)), r"groups must have the shape .* got \(60, 2\)"),
    "a word": ("person", "groups must be an array of labels, one per row, got 'person'"),
    "a number": (3, "groups must be an array of labels, one per row, got 3"),
    "NaN": (np.r_[np.nan, np.zeros(59)], "groups must have a label for every row, got nan"),
    "None": ([None] * 60, "groups must have a label for every row, got None"),
    "NA": ([pd.NA] * 60, "groups must have a label for every row, got <NA>"),
    "lists": ([[1]] * 60, "groups must have labels that can be hashed, got"),
    "one group": (np.zeros(60), "some rows must be left to train on"),
}


@pytest.mark.parametrize("make", [machine, regressor, search], ids=lambda make: make.__name__)
@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_groups_is_refused(data, make, case):
    X, y, _ = data
    groups, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        make().fit(X, y, groups=groups)


@KIND
def test_a_checkpoint_of_other_groups_is_refused(data, make, tmp_path):
    X, y, who = data
    path, folds = tmp_path / "search.npz", PredefinedSplit(who % 2)
    whole = make(fitness=folds).fit(X, y, groups=who)
    make(fitness=folds, checkpoint=path, max_epochs=0).fit(X, y, groups=who)
    for other in (None, who % 2):
        with pytest.raises(ValueError, match="of one with another groups;"):
            make(fitness=folds, checkpoint=path).fit(X, y, groups=other)
    resumed = make(fitness=folds, checkpoint=path).fit(X, y, groups=NAMES[who])
    assert_array_equal(resumed.cost_vector_, whole.cost_vector_)


def test_an_ensemble_resumes_its_search_for_the_same_groups_only(data, tmp_path):
    X, y, who = data
    path = tmp_path / "search.npz"
    whole = ensemble().fit(X, y, groups=who)
    ensemble(checkpoint=path, max_epochs=0).fit(X, y, groups=who)
    for other in (None, who % 2):
        with pytest.raises(ValueError, match="of one with another groups;"):
            ensemble(checkpoint=path).fit(X, y, groups=other)
    resumed = ensemble(checkpoint=path).fit(X, y, groups=NAMES[who])
    assert_array_equal(resumed.cost_matrix_, whole.cost_matrix_)


@pytest.mark.parametrize("make", [machine, search], ids=lambda make: make.__name__)
def test_rows_of_one_group_are_one_row_to_a_verdict(data, make):
    X, y, who = data
    folds = PredefinedSplit(who % 2)
    settings = {"fitness": folds, "keep_prior": "always", "shrinkage": 0.01, "scoring": "gmean"}
    apart = make(**settings).fit(X, y)
    together = make(**settings).fit(X, y, groups=who)
    assert together.gain_ == apart.gain_
    assert together.gain_std_error_ != apart.gain_std_error_


def test_groups_by_row_are_no_groups(data):
    X, y, _ = data
    folds = KFold(4)
    apart, alone = machine(fitness=folds).fit(X, y), machine(fitness=folds)
    assert alone.fit(X, y, groups=np.arange(60)).best_score_ == apart.best_score_


def test_the_number_of_threads_does_not_matter(data):
    X, y, who = data
    one, many = (ensemble(n_jobs=n).fit(X, y, groups=who) for n in (1, 2))
    assert_array_equal(many.beta_, one.beta_)
