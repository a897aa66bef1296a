"""Questions about costs for a run; every answer is written before the next question is shown."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

from ecselm._wording import brief
from ecselm.elicitation import CostElicitor, Question
from ecselm.elicitation.elicitor import supposed
from ecselm.studio.results import cases_of
from ecselm.studio.runs import ANSWERS, Run

MAX_CLASSES = 20  # about whose costs questions are asked

_lock = threading.RLock()
_latest: dict[str, CostElicitor] = {}  # of one run, as answers are replayed when they are read


@dataclass(frozen=True, slots=True)
class Asked:
    """What the page of questions shows."""

    question: Question | None
    n_answers: int
    settled: float  # share of answers to rows that do not depend on unknown costs
    regret: float  # 1 is what deciding without a model costs
    history: list[dict[str, Any]]
    sentences: tuple[str, ...]  # what is known of costs now
    reason: str = ""  # why there is nothing to ask


def asked(run: Run) -> Asked:
    """Return the next question and what is known so far."""
    with _lock:
        elicitor = _elicitor(run)
        if isinstance(elicitor, str):
            return Asked(None, 0, 1.0, 0.0, [], (), elicitor)
        return Asked(
            elicitor.ask(),
            len(elicitor.history),
            elicitor.settled,
            elicitor.regret,
            elicitor.transcript(),
            tuple(elicitor.constraints.sentences()),
        )


def tell(run: Run, choice: str, number: str, by: str) -> None:
    """Take an answer.

    Parameters
    ----------
    run : Run
    choice : str
        Key of the answer.
    number : str
        How many answers there were when the question was shown: one that was sent twice counts
        once.
    by : str
        Who answers, may be empty.
    """
    with _lock:
        elicitor = _known(run)
        if number != str(len(elicitor.history)):
            return
        elicitor.tell(choice, by=brief(by, 60) or None)
        _save(elicitor, run)


def undo(run: Run) -> None:
    """Take back the last answer."""
    with _lock:
        elicitor = _known(run)
        if elicitor.history:
            elicitor.undo()
            _save(elicitor, run)


def _save(elicitor: CostElicitor, run: Run) -> None:
    """Write the answers; where that fails, those of the file count again."""
    try:
        elicitor.save(run.folder / ANSWERS)
    except BaseException:
        _latest.clear()
        raise


def use(run: Run) -> None:
    """Let the model decide by the answers."""
    with _lock:
        elicitor = _known(run)
        if not elicitor.history:
            raise ValueError("there must be an answer to decide by")
        run.decide_by_answers(elicitor)


def transcript(run: Run) -> list[dict[str, Any]]:
    """Return what was asked and answered, where it was."""
    if not (run.folder / ANSWERS).is_file():
        return []
    with _lock:
        elicitor = _elicitor(run)
        return [] if isinstance(elicitor, str) else elicitor.transcript()


def _known(run: Run) -> CostElicitor:
    elicitor = _elicitor(run)
    if isinstance(elicitor, str):
        raise ValueError(elicitor)  # noqa: TRY004  it is the reason
    return elicitor


def _elicitor(run: Run) -> CostElicitor | str:
    """Return the elicitor of a run, or why there is nothing to ask."""
    key = str(run.folder)
    if key in _latest:
        return _latest[key]
    settings, cases = run.settings(), cases_of(run)
    if cases.by_row is not None:
        return "Costs are known by row, so there is nothing to ask."
    if len(settings.labels) > MAX_CLASSES:
        return f"Questions are asked about at most {MAX_CLASSES} classes."
    stated = settings.costs().constraints(settings.labels)
    if stated is not None and stated.is_exact:
        return "All costs are stated by number, so there is nothing to ask."
    P = cases.probabilities / cases.probabilities.sum(axis=1, keepdims=True)
    file = run.folder / ANSWERS
    if file.is_file():
        elicitor = CostElicitor.load(file, P)
    else:
        known = supposed(settings.labels) if stated is None else stated
        elicitor = CostElicitor(known, P, random_state=settings.seed)
    _latest.clear()
    _latest[key] = elicitor
    return elicitor
