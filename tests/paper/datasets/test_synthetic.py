import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split

from ecselm import ELMClassifier
from ecselm.paper.datasets import make_ar_like, make_enose_like, make_lfw_like, make_m2b_like
from ecselm.paper.pairs import PairSimilarities

# Table I, the column of ELM.
TABLE_ONE = {
    ("facial_geometric", "E"): 0.3291,
    ("facial_geometric", "W"): 0.3350,
    ("facial_appearance", "E"): 0.3345,
    ("facial_appearance", "W"): 0.3523,
    ("dressing", "E"): 0.3705,
    ("dressing", "W"): 0.3009,
    ("vocal", "E"): 0.4405,
    ("vocal", "W"): 0.3714,
}


def rate(data, train, test, seed):
    model = ELMClassifier(random_state=seed).fit(data.X[train], data.y[train])
    return model.score(data.X[test], data.y[test])


@pytest.mark.parametrize("make", [make_m2b_like, make_ar_like, make_lfw_like, make_enose_like])
def test_stand_ins_say_that_they_are_synthetic(make):
    data = make(random_state=0)
    assert data.synthetic
    assert "like" in data.name
    assert "SYNTHETIC" in data.source
    assert "SYNTHETIC" in data.summary()


@pytest.mark.parametrize("make", [make_m2b_like, make_ar_like, make_enose_like])
def test_seed_makes_the_draw(make):
    first, again, other = (make(random_state=seed).X for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_beauty_has_the_sizes_of_the_paper():
    for features, d in {"facial_geometric": 300, "dressing": 300, "vocal": 50}.items():
        data = make_m2b_like(features, random_state=0)
        assert data.X.shape == (620, d)
        assert data.classes.tolist() == [1, 2, 3, 4, 5]
    scores = make_m2b_like(target="score", random_state=0).y
    assert scores.min() >= 1
    assert scores.max() <= 10


def test_level_and_score_are_of_the_same_women():
    levels, scores = (make_m2b_like(target=t, random_state=3) for t in ("level", "score"))
    np.testing.assert_array_equal(levels.X, scores.X)
    np.testing.assert_array_equal(levels.y == 5, scores.y > 8)


@pytest.mark.parametrize("which", TABLE_ONE)
def test_plain_machine_finds_beauty_about_as_well_as_in_table_one(which):
    rates = []
    for seed in range(10):
        split = train_test_split(np.arange(620), train_size=400, random_state=seed)
        rates.append(rate(make_m2b_like(*which, random_state=seed), *split, seed))
    assert np.mean(rates) == pytest.approx(TABLE_ONE[which], abs=0.04)


def test_plain_machine_knows_faces_about_as_well_as_in_table_six():
    rates = []
    for seed in range(3):
        data = make_ar_like(seed)
        assert data.X.shape == (1400, 300)
        rates.append(rate(data, *data.folds[0], seed))
    assert np.mean(rates) == pytest.approx(0.819, abs=0.04)


def test_plain_machine_tells_gases_about_as_well_as_in_table_ten():
    total, average = [], []
    for seed in range(20):
        data = make_enose_like(seed)
        assert data.counts.tolist() == [188, 72, 66, 58, 60, 38]
        train, test = train_test_split(
            np.arange(482), train_size=320, stratify=data.y, random_state=seed
        )
        model = ELMClassifier(random_state=seed).fit(data.X[train], data.y[train])
        y_pred = model.predict(data.X[test])
        total.append((y_pred == data.y[test]).mean())
        average.append(balanced_accuracy_score(data.y[test], y_pred))
    assert np.mean(total) == pytest.approx(0.9074, abs=0.03)
    assert np.mean(average) == pytest.approx(0.8701, abs=0.03)


def test_pairs_have_ten_folds_and_no_person_in_two():
    pairs = make_lfw_like(0)
    assert pairs.descriptors.shape == (12000, 300)
    for f in range(10):
        assert pairs.same[pairs.fold == f].tolist() == [1] * 300 + [0] * 300
    np.testing.assert_allclose(pairs.descriptors.var(axis=0), pairs.eigenvalues, rtol=0.1)


@pytest.mark.slow
def test_plain_machine_tells_pairs_about_as_well_as_in_table_eight():
    data = make_lfw_like(0).dataset()
    rates = []
    for train, test in data.folds[:3]:
        similarities = PairSimilarities(cv=3)
        Z = similarities.fit_transform(data.X[train], data.y[train])
        model = ELMClassifier(random_state=0).fit(Z, data.y[train])
        rates.append(model.score(similarities.transform(data.X[test]), data.y[test]))
    assert np.mean(rates) == pytest.approx(0.854, abs=0.03)


def test_unknown_features_are_refused():
    with pytest.raises(ValueError, match="features must be one of"):
        make_m2b_like("smell")
