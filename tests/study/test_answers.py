"""Models after questions about costs: decisions, results and cards."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from ecselm import ECSELMClassifier, ELMRegressor
from ecselm.elicitation import CostElicitor
from ecselm.elicitation.elicitor import known_costs
from ecselm.report import report_html
from ecselm.study import (
    Card,
    RequestSummary,
    check_can_ask,
    recorded_probabilities,
    with_answers,
)
from ecselm.study.run import study

TRUE = [[0.0, 7.0], [1.0, 0.0]]


@pytest.fixture(scope="module")
def fitted():
    X, y = make_classification(600, 6, weights=[0.7], flip_y=0.1, random_state=0)
    y = np.where(y == 1, "ill", "well")
    request = RequestSummary("classes", "y", "gmean", (), 0.25, 0)
    model = ECSELMClassifier(20, scoring="gmean", population_size=5, max_epochs=1)
    pipeline, card = study(X, y, request=request, model=model)
    return pipeline, card, X


def asked(model, card, n=4):
    elicitor = CostElicitor(known_costs(model), recorded_probabilities(card), random_state=0)
    for _ in range(n):
        question = elicitor.ask()
        if question is None:
            break
        elicitor.tell(question.answer_for(TRUE), by="Ann", when="2026-01-02T03:04:05+00:00")
    return elicitor


def test_a_card_holds_the_probabilities_of_test_rows(fitted):
    _, card, _ = fitted
    P = recorded_probabilities(card)
    assert P.shape == (card.data.n_test, 2)
    assert len(card.rows.codes) == card.data.n_test
    counted = np.bincount(card.rows.codes, minlength=2).tolist()
    assert counted == [one.n_test for one in card.data.classes]
    assert '"rows": null' in card.to_json(rows=False)
    assert Card.from_json(card.to_json()) == card


def test_the_model_decides_by_the_answers_and_keeps_its_probabilities(fitted):
    model, card, X = fitted
    elicitor = asked(model, card)
    moved, _ = with_answers(model, card, elicitor)
    np.testing.assert_allclose(moved.predict_proba(X), model.predict_proba(X))
    caught = [(one.predict(X) == "ill").mean() for one in (model, moved)]
    assert caught[1] > caught[0]  # misses cost seven times as much as was learned for
    assert moved[-1].constraints_ == elicitor.credible()
    assert model[-1] is not moved[-1]


def test_results_are_counted_again_by_the_answers(fitted):
    model, card, _ = fitted
    elicitor = asked(model, card)
    _, found = with_answers(model, card, elicitor)
    codes, P = np.array(card.rows.codes), recorded_probabilities(card)
    M = elicitor.credible().mean()
    counts = np.array(found.test.confusion)
    assert counts.sum() == len(codes)
    assert found.test.total_cost == pytest.approx((counts * M).sum())
    assert found.test.unknown.n_settled / found.test.unknown.n == pytest.approx(
        elicitor.settled, abs=0.02
    )
    assert found.baselines == ()
    assert any("asked for after the fit" in one for one in found.data.notes)
    assert len(P) == found.data.n_test


def test_the_card_says_why(fitted):
    model, card, _ = fitted
    elicitor = asked(model, card)
    _, found = with_answers(model, card, elicitor)
    assert [one.by for one in found.answers] == ["Ann"] * len(elicitor.history)
    assert found.answers[-1].settled == elicitor.settled
    assert found.request.cost_constraints == tuple(elicitor.credible().sentences())
    assert Card.from_json(found.to_json()) == found
    page = report_html(found)
    assert "Why these costs" in page
    assert "2026-01-02 03:04" in page
    assert "Why these costs" not in report_html(card)


def test_asking_again_leaves_one_note(fitted):
    model, card, _ = fitted
    moved, once = with_answers(model, card, asked(model, card, 1))
    _, twice = with_answers(moved, once, asked(moved, once, 2))
    assert sum("asked for after the fit" in one for one in twice.data.notes) == 1


def test_many_test_rows_are_sampled():
    X, y = make_classification(9000, 4, random_state=0)
    request = RequestSummary("classes", "y", "accuracy", (), 0.25, 0)
    model = ECSELMClassifier(10, population_size=3, max_epochs=1, ensemble=None)
    pipeline, card = study(X, y, request=request, model=model)
    assert len(card.rows.codes) == 2000 < card.data.n_test
    _, found = with_answers(pipeline, card, asked(pipeline, card, 1))
    assert found.data.n_test == 2000
    assert any("2000 of the test rows" in one for one in found.data.notes)


def test_what_cannot_be_asked_is_refused(fitted):
    model, card, _ = fitted
    request = RequestSummary("numbers", "y", "mae", (), 0.25, 0)
    of_numbers = Card(request, card.data, card.test)
    with pytest.raises(ValueError, match="must predict classes"):
        check_can_ask(model, of_numbers)
    with pytest.raises(ValueError, match="must decide by costs"):
        check_can_ask(ELMRegressor(), card)
    minimax = ECSELMClassifier(rule="minimax_regret")
    with pytest.raises(ValueError, match="rule 'expected'"):
        check_can_ask(minimax, card)
