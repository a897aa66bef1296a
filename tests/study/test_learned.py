"""Costs in words, and what fitted models tell of their search."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ecselm import CostSearchCV, ECSELMClassifier, ECSELMRegressor, EELMClassifier
from ecselm._wording import listed
from ecselm.study.run import learned_costs, members_of, search_summary
from ecselm.study.statements import cost_sentences, rounded, weight_sentences

SMALL = {"population_size": 5, "max_epochs": 1, "random_state": 0}


def test_two_classes_are_described_by_what_is_taken_for_what():
    (sentence,) = cost_sentences(["benign", "malignant"], [[0, 1], [6.28, 0]])
    assert sentence == (
        "a malignant case taken for benign is treated as 6.3 times as bad as "
        "a benign case taken for malignant"
    )
    (sentence,) = cost_sentences([0, 1], [12.4, 1])
    assert sentence == (
        "a case of class 0 taken for class 1 is treated as 12 times as bad as "
        "a case of class 1 taken for class 0"
    )


def test_articles_follow_the_sound():
    sentences = cost_sentences(["ill", "usual"], [2, 1])[0]
    assert sentences.startswith("an ill case")
    assert sentences.endswith("a usual case taken for ill")


@pytest.mark.parametrize("costs", [[1.0, 1.04], [[0, 2], [2, 0]], np.ones(5)])
def test_costs_within_five_per_cent_are_alike(costs):
    assert cost_sentences([f"c{i}" for i in range(len(costs))], costs) == (
        "all mistakes are treated alike",
    )


def test_many_classes_are_described_by_class_where_the_matrix_knows_no_more():
    assert cost_sentences(list("abcdef"), [1, 3, 9, 4, 8, 1.01]) == (
        "a mistake on a c case is treated as 9 times as bad as a mistake on an a case",
        "a mistake on an e case is treated as 8 times as bad as a mistake on an a case",
        "a mistake on a d case is treated as 4 times as bad as a mistake on an a case",
        "1 other kind of mistake lies between",
    )


def test_many_classes_are_described_by_confusion_where_it_matters():
    sentences = cost_sentences(list("abc"), [[0, 1, 2], [150, 0, 1], [1, 1, 0]])
    assert sentences == (
        "a b case taken for a is treated as 150 times as bad as a c case taken for b",
        "an a case taken for c is treated as 2 times as bad as a c case taken for b",
    )


def test_costs_of_nothing_are_listed_apart():
    assert cost_sentences(["a", "b"], [0.0, 2.0]) == (
        "all other mistakes are treated alike",
        "an a case taken for b is treated as no mistake at all",
    )
    assert len(cost_sentences(list("abcde"), -np.ones(5))) == 3


def test_costs_of_another_shape_are_refused():
    with pytest.raises(
        ValueError, match=r"costs must have the shape \(2,\) or \(2, 2\), got \(3,\)"
    ):
        cost_sentences(["a", "b"], [1, 2, 3])


STATED = np.array([[0.0, 5.0], [0.125, 0.0]])


@pytest.mark.parametrize("unit", [1.0, 0.3, 1000.0])
def test_weights_in_proportion_to_stated_costs_are_said_to_be(unit):
    assert weight_sentences(["ill", "well"], STATED, unit * STATED) == (
        "training weights are in proportion to the stated costs",
    )
    assert weight_sentences(["ill", "well"], STATED, unit * STATED, decides=True) == (
        "decisions are made by the stated costs",
    )


@pytest.mark.parametrize(
    ("decides", "noun"), [(False, "training weight"), (True, "cost in decisions")]
)
def test_weights_that_differ_are_named_beside_stated_costs(decides, noun):
    used = [[0.0, 2.3], [1.0, 0.0]]
    (sentence,) = weight_sentences(["ill", "well"], STATED, used, decides=decides)
    assert sentence == (
        f"the {noun} of an ill case taken for well (stated cost 5) is 2.3 times that of a well "
        "case taken for ill (stated cost 0.125)"
    )


def test_equal_weights_and_none_are_named_beside_stated_costs():
    assert weight_sentences(["ill", "well"], STATED, np.ones((2, 2)) - np.eye(2)) == (
        "all mistakes have the same training weight",
    )
    assert weight_sentences(["ill", "well"], STATED, [[0, 1], [0, 0]]) == (
        "all other mistakes have the same training weight",
        "the training weight of a well case taken for ill (stated cost 0.125) is 0",
    )
    assert len(weight_sentences(["ill", "well"], STATED, np.zeros((2, 2)))) == 2


def test_weights_of_classes_are_named_beside_the_range_of_their_costs():
    stated = [[0, 1, 1], [2, 0, 7.5], [1, 1, 0]]
    used = [[0, 1, 1], [4, 0, 4], [1, 1, 0]]
    (sentence,) = weight_sentences(list("abc"), stated, used)
    assert sentence == (
        "the training weight of a mistake on a b case (stated costs 2 to 7.5) is 4 times that of "
        "a mistake on a c case (stated cost 1)"
    )


def test_mistake_that_costs_nothing_is_still_in_proportion():
    assert weight_sentences(["a", "b"], [[0, 1], [0, 0]], [[0, 2.0], [2e-4, 0]]) == (
        "training weights are in proportion to the stated costs",
    )


def test_ratios_have_two_digits():
    ratios = [1.06, 2.0, 9.94, 9.96, 99.4, 99.6, 1249.0, 5e6]
    texts = ["1.1", "2", "9.9", "10", "99", "100", "1,200", "5,000,000"]
    assert [rounded(ratio) for ratio in ratios] == texts


def test_lists_are_cut_short():
    assert listed([]) == ""
    assert listed(["a", "b"]) == "a and b"
    assert listed(list("abcde")) == "a, b, c, d and 1 more"


@pytest.fixture
def tumours(rng):
    y = np.repeat(["ill", "well"], [30, 50])
    return rng.normal(size=(80, 3)) + (y == "ill")[:, np.newaxis], y


def test_learned_costs_are_those_of_the_last_step(tumours):
    model = make_pipeline(StandardScaler(), ECSELMClassifier(20, scoring="gmean", **SMALL))
    model.fit(*tumours)
    found, learner = learned_costs(model, ["ill", "well"]), model[-1]
    assert found.class_costs == tuple(learner.class_costs_)
    assert found.matrix[0] == (0.0, learner.class_costs_[0])
    assert found.sentences == cost_sentences(["ill", "well"], learner.cost_matrix_)
    assert (found.keeps_prior, found.gain) == (learner.keeps_prior_, learner.gain_)


def test_gain_that_is_not_known_is_none(tumours):
    model = ECSELMClassifier(20, cost_level="sample", **SMALL).fit(*tumours)
    assert np.isnan(model.gain_)
    found = learned_costs(model, ["ill", "well"])
    assert (found.gain, found.gain_std_error) == (None, None)


def test_search_around_another_classifier_has_learned_costs_too(tumours):
    search = CostSearchCV(LogisticRegression(), **SMALL).fit(*tumours)
    assert learned_costs(search, ["ill", "well"]).matrix[1][0] == search.cost_matrix_[1, 0]


@pytest.mark.parametrize(
    ("model", "decides"),
    [
        (CostSearchCV(LogisticRegression(), **SMALL), True),
        (CostSearchCV(LogisticRegression(), cost_level="class", **SMALL), False),
        (ECSELMClassifier(20, cost_level="matrix", decision="min_cost", **SMALL), True),
        (ECSELMClassifier(20, ensemble=None, **SMALL), False),
        (ECSELMClassifier(20, **SMALL), True),
    ],
    ids=["decision", "class", "min_cost", "weights", "ensemble"],
)
def test_card_knows_whether_costs_decide(model, decides, tumours):
    model.set_params(cost={("ill", "well"): 5}, scoring="mean_cost", keep_prior="always")
    found = learned_costs(model.fit(*tumours), ["ill", "well"], {("ill", "well"): 5})
    assert found.decides == decides
    (sentence,) = found.sentences
    assert "stated cost" in sentence


def test_models_of_numbers_have_no_costs_by_class(rng):
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    model = ECSELMRegressor(10, **SMALL).fit(X, y)
    assert learned_costs(model, []) is None
    assert search_summary(model, 1.0).generation == (0, 1)


def test_progress_is_the_history_of_the_search(tumours):
    model = ECSELMClassifier(20, **SMALL).fit(*tumours)
    found = search_summary(model, 2.5, True)
    assert found.best == tuple(model.history_["best"])
    assert found.mean == tuple(model.history_["mean"])
    assert (found.n_evaluations, found.seconds, found.interrupted) == (10, 2.5, True)
    evolved = EELMClassifier(5, population_size=5, max_epochs=1, random_state=0).fit(*tumours)
    assert search_summary(evolved, 1.0).n_evaluations == evolved.n_evaluations_


def test_members_are_those_of_the_ensemble(tumours):
    model = make_pipeline(StandardScaler(), ECSELMClassifier(20, **SMALL)).fit(*tumours)
    found = members_of(model)
    assert [one.squared_error for one in found] == list(model[-1].members_["squared_error"])
    assert [one.C for one in found] == list(model[-1].members_["C"])
    one_layer = ECSELMClassifier(20, ensemble=None, **SMALL).fit(*tumours)
    assert members_of(one_layer) == ()


def test_metric_of_probabilities_searches_no_costs(tumours):
    model = ECSELMClassifier(20, scoring="neg_log_loss", **SMALL).fit(*tumours)
    assert search_summary(model, 1.0).n_evaluations == 0
    assert learned_costs(model, ["ill", "well"]).keeps_prior


def test_generations_without_a_finite_fitness_are_left_out(tumours, monkeypatch):
    model = ECSELMClassifier(20, **SMALL).fit(*tumours)
    history = model.history_.assign(mean=[-np.inf, -0.5])
    monkeypatch.setattr(type(model), "history_", history)
    assert search_summary(model, 1.0).generation == (1,)
