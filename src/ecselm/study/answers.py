"""A model after questions about costs: it decides by the answers, and its card says why."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from ecselm._typing import FloatArray, IntArray
from ecselm.costs import CostConstraints
from ecselm.elicitation import Answer, CostElicitor
from ecselm.estimators._policy import Decisions
from ecselm.metrics.intervals import RecordedClassifier
from ecselm.study.benefit import decision_curves
from ecselm.study.card import Card, ClassCount, CostAnswer
from ecselm.study.decisions import last_step
from ecselm.study.evaluate import evaluate_recorded
from ecselm.study.fitted import learned_costs

NOTE = (
    "Costs were asked for after the fit. Results are those of the answered costs on {rows}; "
    "baselines were not fitted again, so that none are compared."
)


def check_can_ask(model: Any, card: Card) -> None:
    """Raise ValueError if answers about costs cannot change the decisions of a model."""
    if card.request.task == "numbers":
        raise ValueError("MODEL must predict classes to ask about costs, got one of numbers")
    if card.request.cost_columns:
        raise ValueError("MODEL must have costs by class to ask about, got costs by row")
    last = last_step(model)
    if not hasattr(last, "at"):
        raise ValueError(f"MODEL must decide by costs to ask about them, got {type(last).__name__}")
    if getattr(last, "rule", "expected") != "expected":
        raise ValueError(
            "MODEL must decide by the rule 'expected' to ask about costs, got "
            f"{last.rule!r}: fit it with --rule expected"
        )


def recorded_probabilities(card: Card) -> FloatArray | None:
    """Return the probabilities (n, k) of test rows that a card holds, None if it holds none."""
    if card.rows is None or not card.rows.codes:
        return None
    P = np.array(card.rows.probabilities, dtype=np.float64)
    return P / P.sum(axis=1, keepdims=True)


def with_answers(model: Any, card: Card, elicitor: CostElicitor) -> tuple[Any, Card]:
    """Return a model that decides by answered costs, and its card; nothing is fitted.

    Results are counted again on the test rows of the card.

    Parameters
    ----------
    model : Pipeline or classifier
        As ``ecselm fit`` has made it.
    card : Card
        Of the model.
    elicitor : CostElicitor
        After the questions.
    """
    check_can_ask(model, card)
    constraints = elicitor.credible()
    decider = last_step(model).at(costs=constraints)
    moved = decider
    if isinstance(model, Pipeline):
        moved = copy.copy(model)
        moved.steps = [*model.steps[:-1], (model.steps[-1][0], decider)]
    sentences = tuple(constraints.sentences())
    card = replace(
        card,
        request=replace(card.request, cost_constraints=sentences),
        learned=learned_costs(moved, np.asarray(decider.classes_).tolist(), constraints),
        answers=tuple(map(_record, elicitor.history, elicitor.transcript())),
    )
    P = recorded_probabilities(card)
    if P is None or card.rows is None:
        return moved, card
    codes = np.array(card.rows.codes, dtype=np.intp)
    return moved, _evaluated_again(card, decider, constraints, P, codes)


def _record(answer: Answer, said: dict[str, Any]) -> CostAnswer:
    return CostAnswer(
        said["question"],
        said["answer"],
        said["by"],
        said["when"],
        float(said["settled"]),
        float(said["regret"]),
        answer.text,
    )


def _evaluated_again(
    card: Card, decider: Any, constraints: CostConstraints, P: FloatArray, codes: IntArray
) -> Card:
    """Return the card with results of the new decisions on test rows (n,)."""
    classes = np.asarray(decider.classes_)
    policy = decider._policy()
    decisions = Decisions(policy, P, policy.answers(P))
    recorded = RecordedClassifier(classes, classes[decisions.classes()], P)
    found = evaluate_recorded(
        *(recorded, codes, decisions),
        metric=card.request.metric,
        cost=constraints,
        positive=card.request.positive,
    )
    if found.operating is not None:
        benefit = decision_curves(
            recorded,
            {},
            classes[codes],
            found.operating.class_name,
            cost=None if found.cost_matrix is None else np.array(found.cost_matrix),
            seed=card.request.seed,
        )
        found = replace(found, benefit=benefit)
    n_test = np.bincount(codes, minlength=len(classes)).tolist()
    n, is_all = len(codes), len(codes) == card.data.n_test
    note = NOTE.format(rows=f"the {n} test rows" if is_all else f"{n} of the test rows")
    notes = [one for one in card.data.notes if not one.startswith(NOTE[:30])]
    data = replace(
        card.data,
        n_test=n,
        classes=_counts(card.data.classes, n_test),
        notes=(*notes, note),
    )
    return replace(card, data=data, test=found, baselines=())


def _counts(classes: Sequence[ClassCount], n_test: Sequence[int]) -> tuple[ClassCount, ...]:
    return tuple(replace(one, n_test=n) for one, n in zip(classes, n_test, strict=True))
