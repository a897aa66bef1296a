"""Ask a person about costs until the decisions of a model depend on them no more."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import Any, Self

import numpy as np

from ecselm._files import read_whole, write_whole
from ecselm._json import parsed_json
from ecselm._random import as_generator
from ecselm._typing import FloatArray
from ecselm._wording import brief, listed
from ecselm.costs import CostConstraints
from ecselm.costs.policy import settled_answers
from ecselm.costs.region import MOST_COUPLED
from ecselm.costs.sentences import Statement
from ecselm.elicitation.belief import Belief, Evidence, Likelihood, conflict, conflicts
from ecselm.elicitation.questions import (
    Choice,
    CostGroup,
    Question,
    checked_text,
    cost_groups,
)
from ecselm.elicitation.selection import N_ROWS, SETTLED, Outlook, next_question

FORMAT = 1
MOST_ROWS = 10_000  # that are looked at
MOST_ANSWERS = 200
MOST_EXACT = 12  # classes for which settled rows are counted exactly
MOST_BYTES = 10_000_000  # of a file
CREDIBLE_RATIO = 0.95  # the same for ratios of two unknown costs, which are many
NARROWER = 0.8  # than its ends imply is an interval that is stated too
CREDIBLE = 0.9  # share of what is believed of a cost in its interval, where answers may be wrong


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that was given.

    Parameters
    ----------
    question : Question
    choice : Choice
    by : str or None
        The person.
    when : str
        Time in ISO format.
    settled : float
        Share of rows that are settled after it.
    regret : float
        Expected regret that is left after it.
    """

    question: Question
    choice: Choice
    by: str | None
    when: str
    settled: float
    regret: float

    @property
    def text(self) -> str:
        """Return what was answered, in a sentence."""
        return self.question.statement(self.choice)

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain values that JSON can hold."""
        return {
            "question": self.question.to_dict(),
            "choice": self.choice.key,
            "by": self.by,
            "when": self.when,
            "settled": self.settled,
            "regret": self.regret,
        }


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    """What is known after some answers."""

    constraints: CostConstraints
    belief: Belief
    outlook: Outlook
    settled: float


class CostElicitor:
    """Ask for costs, one question at a time.

    ``ask`` returns the question whose answer is expected to reduce the regret most, ``tell``
    takes the answer. Decisions are valid at any time; answers only make more of them
    independent of what is not known.

    Parameters
    ----------
    constraints : CostConstraints, or what ``cost`` of estimators takes
        What is known before any question.
    y_prob : array of shape (N, k)
        Probabilities of the classes, in the order of ``constraints.classes``, for rows like
        those that will be decided on. Of more than 10,000 rows as many are used.
    error_rate : float, default=0.0
        Probability that an answer is wrong, below 0.5. With 0 an answer that contradicts
        earlier ones is refused.
    tolerance : float, default=0.01
        Expected regret at which there is nothing left to ask, in units of what deciding
        without a model costs. With 0 questions go on until all ratios of costs are known
        within 10 %.
    random_state : int, Generator or None, default=None

    Attributes
    ----------
    classes : array of shape (k,)
    constraints : CostConstraints
        After the answers; its ``mean()`` is the estimate.
    settled, regret : float
    done : bool
    history : tuple of Answer
    contradictions : tuple of tuples of Answer

    Examples
    --------
    >>> import numpy as np
    >>> from ecselm.costs import CostConstraints
    >>> from ecselm.elicitation import CostElicitor
    >>> p = np.linspace(0.01, 0.99, 99)
    >>> constraints = CostConstraints(["ill", "well"], intervals={"ill": (1, 100)})
    >>> elicitor = CostElicitor(constraints, np.column_stack([p, 1 - p]), random_state=0)
    >>> while not elicitor.done:
    ...     question = elicitor.ask()
    ...     elicitor.tell(question.answer_for([[0, 7], [1, 0]]))
    >>> bool(elicitor.constraints.contains([[0, 7], [1, 0]])), elicitor.regret < 0.01
    (True, True)
    """

    def __init__(
        self,
        constraints: Any,
        y_prob: Any,
        *,
        error_rate: float = 0.0,
        tolerance: float = 0.01,
        random_state: Any = None,
    ) -> None:
        P = _checked_probabilities(y_prob)
        self._prior = _as_constraints(constraints, P.shape[1])
        if len(self._prior.classes) != P.shape[1]:
            raise ValueError(
                f"y_prob must have a column for each of the {len(self._prior.classes)} classes of "
                f"the constraints, got {P.shape[1]}"
            )
        if self._prior.sample_cost is not None:
            raise ValueError("constraints must be about classes, got costs of rows")
        for name, value, most in (("error_rate", error_rate, 0.5), ("tolerance", tolerance, 1.0)):
            if isinstance(value, bool) or not (
                isinstance(value, int | float | np.number) and 0 <= value < most
            ):
                raise ValueError(
                    f"{name} must be a number with 0 <= {name} < {most:g}, got {value!r}"
                )
        self.error_rate, self.tolerance = float(error_rate), float(tolerance)
        self._set(P, int(as_generator(random_state).integers(2**53)))

    def _set(self, P: FloatArray, seed: int) -> None:
        self.classes = self._prior.classes
        self._seed = seed
        self._P = _some_rows(P, MOST_ROWS)
        self._few = _some_rows(self._P, N_ROWS)
        self._shares = self._P.mean(axis=0)
        self._groups = cost_groups(self._prior)
        self._history: list[Answer] = []
        belief = Belief.prior(self._prior.region, self.error_rate, self._rng())
        self._states = [self._state(self._prior, belief)]
        self._question: Question | None = None
        self._is_current = False  # the question is that of the present state

    @classmethod
    def from_model(cls, model: Any, X: Any, constraints: Any = None, **options: Any) -> Self:
        """Return an elicitor for the decisions of a fitted classifier.

        Parameters
        ----------
        model : classifier
            With ``predict_proba`` and ``classes_``.
        X : array or DataFrame of shape (N, n_features)
            Rows like those that will be decided on.
        constraints : CostConstraints, what ``cost`` of estimators takes, or None, default=None
            None takes those of the model, if it has any that leave something to ask; else any
            mistake costs at most 100 times as much as any other, for more than two classes
            equally for all mistakes on a class.
        **options
            Of :class:`CostElicitor`.
        """
        classes = getattr(model, "classes_", None)
        if classes is None or not hasattr(model, "predict_proba"):
            raise ValueError(
                "model must be a fitted classifier with predict_proba and classes_, got "
                f"{type(model).__name__}"
            )
        known = known_costs(model) if constraints is None else constraints
        found = CostConstraints.from_costs(known, classes)
        rows = _some_rows(X, MOST_ROWS)
        return cls(found, model.predict_proba(rows), **options)

    def _rng(self) -> np.random.Generator:
        """Return the random stream of the present number of answers: undoing repeats it."""
        return np.random.default_rng([self._seed, len(self._history)])

    def _state(self, constraints: CostConstraints, belief: Belief) -> _State:
        outlook = Outlook(belief, self._few, self._shares)
        return _State(constraints, belief, outlook, self._settled(constraints, outlook))

    def _settled(self, constraints: CostConstraints, outlook: Outlook) -> float:
        """Return the share of settled rows, exactly where classes and vertices are few."""
        if self.error_rate:
            return outlook.settled(outlook.belief.weights, SETTLED)
        region = constraints.region
        few = len(self.classes) <= MOST_EXACT
        if few and all(len(one.parameters) <= MOST_COUPLED for one in region.components):
            return float(settled_answers(region, self._P).any(axis=1).mean())
        return outlook.settled(outlook.belief.weights, 1.0)

    @property
    def constraints(self) -> CostConstraints:
        """Return what is known of costs after the answers.

        If answers may be wrong, costs lie in the intervals that hold nine tenths of what is
        believed of each (95 % for ratios), with the likelihood of the answers as density. Such
        constraints cannot be written to a file; see :meth:`credible`.
        """
        return self._states[-1].constraints

    @property
    def prior(self) -> CostConstraints:
        """Return what was known before any question."""
        return self._prior

    @property
    def rows(self) -> FloatArray:
        """Return the probabilities (n, k) of the rows that are looked at."""
        return self._P

    @property
    def settled(self) -> float:
        """Return the share of rows whose decision does not depend on unknown costs.

        If answers may be wrong, 95 % of what is believed must decide a row alike.
        """
        return self._states[-1].settled

    @property
    def regret(self) -> float:
        """Return what unknown costs are expected to cost, 1 is deciding without a model."""
        return self._states[-1].outlook.regret

    @property
    def decision_matrix(self) -> FloatArray:
        """Return the costs (k, k) by which the expected cost is least.

        They are the mean of the possible costs, each in units of what the best constant answer
        costs.
        """
        return self._states[-1].outlook.mean.copy()

    @property
    def done(self) -> bool:
        """Return whether the regret is within the tolerance, or nothing is left to ask."""
        return self.ask() is None

    @property
    def history(self) -> tuple[Answer, ...]:
        """Return the answers."""
        return tuple(self._history)

    def ask(self) -> Question | None:
        """Return the next question, None if there is none; the same until it is answered."""
        if not self._is_current:
            self._question, self._is_current = self._next(), True
        return self._question

    def _next(self) -> Question | None:
        if self.tolerance > 0 and self.regret <= self.tolerance:
            return None
        asked = [(one.question, one.choice.key) for one in self._history]
        return next_question(
            self._states[-1].outlook,
            self._groups,
            asked,
            self.classes,
            self.tolerance,
            self._rng(),
        )

    def tell(
        self,
        answer: str | Choice,
        *,
        by: str | None = None,
        when: str | datetime | None = None,
        question: Question | None = None,
    ) -> None:
        """Take an answer.

        Parameters
        ----------
        answer : str or Choice
            Of the choices of the question, or the key of one.
        by : str or None, default=None
            Who has answered.
        when : str, datetime or None, default=None
            Time in ISO format; None is now.
        question : Question or None, default=None
            Which was answered; None is that of :meth:`ask`.
        """
        asked = self.ask() if question is None else question
        if asked is None:
            raise ValueError("answer must be to a question, got one when nothing is left to ask")
        if len(self._history) >= MOST_ANSWERS:
            raise ValueError(f"answers must be at most {MOST_ANSWERS}, got one more")
        choice = asked.choice(answer)
        time = _checked_time(when)
        name = None if by is None else checked_text(by, "by")
        self._add(asked, choice, name, time)

    def _add(self, question: Question, choice: Choice, by: str | None, when: str) -> None:
        """Store an answer, or refuse it and change nothing."""
        before, state = self._states[-1], self._states[-1]
        answered = [*((one.question, one.choice) for one in self._history), (question, choice)]
        if choice.states:
            evidence = [as_evidence(*one) for one in answered if one[1].states]
            constraints = before.constraints
            if not self.error_rate:
                self._refuse_contradiction(evidence, choice)
                constraints = self.cut(answered)
            rng = np.random.default_rng([self._seed, len(answered)])
            belief = before.belief.updated(evidence[-1], constraints.region, rng)
            if self.error_rate:
                constraints = self._believed(belief, with_density=True)
            state = self._state(constraints, belief)
        self._states.append(state)
        self._history.append(
            Answer(question, choice, by, when, state.settled, state.outlook.regret)
        )
        self._is_current = False

    def _refuse_contradiction(self, evidence: Sequence[Evidence], choice: Choice) -> None:
        clash = conflict(self._prior.region, evidence)
        if not clash:
            return
        earlier = [one for one in self._history if one.choice.states]
        said = [repr(earlier[one].text) for one in clash if one < len(earlier)]
        before = listed(said, 8) if said else "what was stated at first"
        raise ValueError(
            f"answer must not contradict earlier answers, got {choice.text!r} after {before}"
        )

    def cut(self, answered: Sequence[tuple[Question, Choice]]) -> CostConstraints:
        """Return the constraints that answers leave, of which none is wrong.

        Parameters
        ----------
        answered : sequence of pairs (Question, Choice)
        """
        by_place = {one.place: one for one in self._groups}
        ends: dict[tuple[int, int], tuple[CostGroup, CostGroup, float, float]] = {}
        spaces: list[tuple[FloatArray, str]] = list(self._prior.answers)
        for question, choice in answered:
            if not choice.states:
                continue
            pair = _compared(question, by_place)
            if pair is None:
                spaces += _half_spaces(question, choice)
                continue
            # Answers about the same two mistakes are one statement.
            left, right = sorted(pair, key=lambda one: -one.parameter)
            low, high = choice.low, choice.high
            if left is not pair[0]:
                low, high = _inverse(low, high)
            *_, least, most = ends.get((left.parameter, right.parameter), (0, 0, 0.0, np.inf))
            low, high = max(least, low), min(most, high)
            ends[left.parameter, right.parameter] = left, right, min(low, high), high
        statements = [_ratio_statement(*one) for one in ends.values()]
        return CostConstraints.from_statements(
            self.classes,
            (*self._prior.statements, *statements),
            answers=spaces,
            density=self._prior.density,
            span=self._prior.span,
        )

    def _believed(self, belief: Belief, *, with_density: bool) -> CostConstraints:
        """Return the intervals of what is believed, where answers may be wrong."""
        statements = self._intervals(belief)
        density = None
        if with_density and belief.evidence:
            places = tuple(
                one.place
                for one in self._groups
                if one.parameter >= 0 and np.ptp(belief.t[:, one.parameter]) > 0
            )
            density = Likelihood(belief.evidence, self.error_rate, places, self._prior.density)
        known: dict[str, Any] = {
            "answers": self._prior.answers,
            "density": density,
            "span": self._prior.span,
        }
        try:
            return CostConstraints.from_statements(
                self.classes, (*self._prior.statements, *statements), **known
            )
        except ValueError:  # the intervals of a belief in several parts may have nothing in common
            return CostConstraints.from_statements(self.classes, self._prior.statements, **known)

    def _intervals(self, belief: Belief) -> list[Statement]:
        """Return the intervals of what is believed, of costs and of their ratios."""
        named = [one for one in self._groups if one.mistake is not None]
        has_unit = bool(named) and named[-1].parameter < 0
        logs = {
            one.parameter: np.log(belief.t[:, one.parameter]) for one in named if one.parameter >= 0
        }
        ends = {g: belief.interval(values, CREDIBLE) for g, values in logs.items()}
        unit = named[-1].mistake if has_unit else None
        found = []
        for one in named[: len(named) - has_unit]:
            low, high = np.exp(ends[one.parameter]).tolist()
            if low < high and one.mistake is not None:
                found.append(Statement(one.mistake, low, high, unit))
        if len(logs) > MOST_COUPLED:
            return found
        # Ratios may be known far better than the costs in the unit, which may not matter at all.
        for a, b in combinations(named[: len(named) - has_unit], 2):
            low, high = belief.interval(logs[a.parameter] - logs[b.parameter], CREDIBLE_RATIO)
            implied = sum(np.subtract(*ends[one.parameter]) for one in (a, b))
            if 0 < high - low < NARROWER * -implied:
                found.append(_ratio_statement(a, b, float(np.exp(low)), float(np.exp(high))))
        return found

    def credible(self) -> CostConstraints:
        """Return what is known of costs after the answers, without a density.

        If answers may be wrong, costs lie in intervals that hold nine tenths of what is
        believed of each, and their ratios in such that hold 95 %; otherwise these are the
        ``constraints``.
        """
        if not self.error_rate:
            return self.constraints
        return self._believed(self._states[-1].belief, with_density=False)

    def undo(self) -> Answer:
        """Take back the last answer, and return it."""
        if not self._history:
            raise ValueError("undo must follow an answer, got none")
        self._states.pop()
        self._is_current = False
        return self._history.pop()

    @property
    def contradictions(self) -> tuple[tuple[Answer, ...], ...]:
        """Return sets of answers that cannot all be right, each without any that can be spared.

        Without errors there are none, because :meth:`tell` refuses them.
        """
        if not self.error_rate:
            return ()
        given = [one for one in self._history if one.choice.states]
        evidence = [as_evidence(one.question, one.choice) for one in given]
        found = conflicts(self._prior.region, evidence)
        return tuple(tuple(given[i] for i in places) for places in found)

    def transcript(self) -> list[dict[str, Any]]:
        """Return why the costs are what they are: what was asked, answered, by whom and when.

        Returns
        -------
        list of dict
            With ``number``, ``question``, ``answer``, ``by``, ``when``, ``settled``, ``regret``
            and ``sentence``.
        """
        found = []
        for number, one in enumerate(self._history, 1):
            who = f" ({one.by}, {one.when})" if one.by else f" ({one.when})"
            found.append(
                {
                    "number": number,
                    "kind": one.question.kind,
                    "question": one.question.text,
                    "answer": one.choice.text,
                    "by": one.by,
                    "when": one.when,
                    "settled": one.settled,
                    "regret": one.regret,
                    "sentence": f"{one.text}{who}",
                }
            )
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return constraints, options and answers as plain values that JSON can hold."""
        return {
            "format": FORMAT,
            "constraints": self._prior.to_dict(),
            "error_rate": self.error_rate,
            "tolerance": self.tolerance,
            "seed": self._seed,
            "answers": [one.to_dict() for one in self._history],
        }

    @classmethod
    def from_dict(cls, state: Mapping[str, Any], y_prob: Any) -> Self:
        """Return the elicitor that :meth:`to_dict` has written.

        Parameters
        ----------
        state : dict
        y_prob : array of shape (N, k)
            As at first; with other rows questions and shares may differ.
        """
        if not isinstance(state, Mapping) or state.get("format") != FORMAT:
            raise ValueError(f"state must be of format {FORMAT}, as to_dict writes it")
        try:
            known = CostConstraints.from_dict(state["constraints"])
            options = {name: state[name] for name in ("error_rate", "tolerance")}
            seed, answers = state["seed"], state["answers"]
        except (KeyError, TypeError) as error:
            raise ValueError(
                f"state must be as to_dict writes it, got a fault at {error}"
            ) from error
        if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**53:
            raise ValueError(f"seed of the state must be a whole number >= 0, got {seed!r}")
        if not isinstance(answers, list) or len(answers) > MOST_ANSWERS:
            raise ValueError(f"answers of the state must be a list of at most {MOST_ANSWERS}")
        made = cls(known, y_prob, **options, random_state=0)
        made._set(made._P, seed)
        for one in answers:
            if not isinstance(one, Mapping) or not {"question", "choice", "when"} <= set(one):
                raise ValueError("answers of the state must be as to_dict writes them")
            question = Question.from_dict(one["question"], made.classes)
            made.tell(one["choice"], by=one.get("by"), when=one["when"], question=question)
        return made

    def save(self, path: str | Path) -> None:
        """Write constraints, options and answers to a JSON file, whole or not at all.

        Parameters
        ----------
        path : str or Path
        """
        write_json(path, self.to_dict())

    @classmethod
    def load(cls, path: str | Path, y_prob: Any) -> Self:
        """Return the elicitor of a file that :meth:`save` has written.

        Parameters
        ----------
        path : str or Path
        y_prob : array of shape (N, k)
        """
        return cls.from_dict(read_json(path), y_prob)

    def __repr__(self) -> str:
        return (
            f"<CostElicitor: {len(self._history)} answers, {self.settled:.0%} settled, regret "
            f"{self.regret:.3f}>"
        )

    def _repr_html_(self) -> str:
        from ecselm.elicitation.html import elicitor_html  # noqa: PLC0415  notebooks only

        return elicitor_html(self)

    def widget(self, *, by: str | None = None) -> Any:
        """Return buttons for a notebook that ask the questions, and take the answers.

        Needs the extra ``notebook``.

        Parameters
        ----------
        by : str or None, default=None
            Who answers, for the transcript.

        Returns
        -------
        widget : QuestionWidget
        """
        from ecselm.elicitation.widget import QuestionWidget  # noqa: PLC0415  an extra

        return QuestionWidget(self, by=by)


def known_costs(model: Any) -> CostConstraints:
    """Return the costs of a model that leave something to ask, else what is supposed of them.

    Parameters
    ----------
    model : classifier
        Fitted, or a pipeline that ends with it.
    """
    steps = getattr(model, "steps", None)
    known = getattr(steps[-1][1] if steps else model, "constraints_", None)
    if isinstance(known, CostConstraints) and not known.is_exact:
        return known
    return supposed(model.classes_)


def supposed(classes: Any) -> CostConstraints:
    """Return what is supposed of costs where nothing is stated.

    Any mistake costs at most 100 times as much as any other.

    Examples
    --------
    >>> supposed(["ill", "well"]).high
    array([[  0.,   1.],
           [100.,   0.]])
    """
    labels = np.asarray(classes).tolist()
    if len(labels) == 2:
        return CostConstraints(labels, intervals={(labels[1], labels[0]): (0.01, 100.0)})
    return CostConstraints(labels, intervals=dict.fromkeys(labels, (1.0, 100.0)))


def as_evidence(question: Question, choice: Choice) -> Evidence:
    """Return what an answer says about costs."""
    n_choices = sum(one.states for one in question.choices)
    return Evidence(question.left, question.right, choice.low, choice.high, n_choices)


def _compared(
    question: Question, by_place: Mapping[tuple[int, int], CostGroup]
) -> tuple[CostGroup, CostGroup] | None:
    """Return the two mistakes that are compared, None if statements cannot name them."""
    sides = []
    for bundle in (question.left, question.right):
        (i, j), *others = np.argwhere(bundle).tolist()
        group = None if others else by_place.get((i, j))
        if group is None or group.mistake is None or bundle[i, j] != 1:
            return None
        sides.append(group)
    return sides[0], sides[1]


def _half_spaces(question: Question, choice: Choice) -> list[tuple[FloatArray, str]]:
    """Return the half-spaces of an answer with the sentences that state them."""
    spaces = as_evidence(question, choice).half_spaces()
    text = question.statement(choice)
    more = ["", " (the second not much worse)"] if len(spaces) > 1 else [""]
    return [(space, f"{text}{note}") for space, note in zip(spaces, more, strict=True)]


def _inverse(low: float, high: float) -> tuple[float, float]:
    return 1.0 / high, 1.0 / low if low > 0 else np.inf


def _rounded(value: float, toward: Callable[[float], int]) -> float:
    """Return a number to four digits; what is such a number but for rounding errors is kept."""
    if value == 0.0 or not math.isfinite(value):
        return value
    scale = 10.0 ** (3 - math.floor(math.log10(value)))
    nearest = round(value * scale)
    whole = nearest if abs(value * scale - nearest) < 1e-9 * nearest else toward(value * scale)
    return float(f"{whole / scale:.4g}")


def _ratio_statement(left: CostGroup, right: CostGroup, low: float, high: float) -> Statement:
    """Return the statement about two costs, with numbers above 1 where it can be had."""
    # A statement is about its left side: on it the unit would become unknown.
    if right.parameter >= 0 and high <= 1:
        left, right, (low, high) = right, left, _inverse(low, high)
    if left.parameter < 0:
        left, right, (low, high) = right, left, _inverse(low, high)
    if left.mistake is None:
        raise ValueError("a statement must be about mistakes that it can name, got others")
    # Outwards, to numbers that people read.
    low, high = _rounded(low, math.floor), _rounded(high, math.ceil)
    return Statement(left.mistake, low, high, right.mistake)


def _as_constraints(constraints: Any, k: int) -> CostConstraints:
    """Return constraints from any form in which costs are stated."""
    if isinstance(constraints, CostConstraints):
        return constraints
    is_list = isinstance(constraints, list | tuple) and bool(constraints)
    if isinstance(constraints, str) or (is_list and all(isinstance(c, str) for c in constraints)):
        return CostConstraints.from_sentences(constraints)
    labels: list[Any] = list(range(k))
    if isinstance(constraints, Mapping):
        named = {
            name for key in constraints for name in (key if isinstance(key, tuple) else (key,))
        }
        labels = sorted(named, key=str) if len(named) == k else labels
    return CostConstraints.from_costs(constraints, labels)


def _checked_probabilities(y_prob: Any) -> FloatArray:
    try:
        P = np.array(y_prob, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y_prob must be an array (N, k) of numbers, got {error}") from error
    if P.ndim != 2 or P.shape[0] < 1 or P.shape[1] < 2:
        raise ValueError(f"y_prob must have the shape (N, k) with k >= 2, got {P.shape}")
    if not np.isfinite(P).all() or (P < 0).any() or (np.abs(P.sum(axis=1) - 1.0) > 1e-6).any():
        raise ValueError("y_prob must have rows of probabilities >= 0 with the sum 1")
    return P


def _some_rows(rows: Any, most: int) -> Any:
    """Return rows at equal distances, all if they are few."""
    n = rows.shape[0] if hasattr(rows, "shape") else len(rows)
    if n <= most:
        return rows
    places = np.linspace(0, n - 1, most).astype(np.intp)
    if hasattr(rows, "iloc"):
        return rows.iloc[places]
    return rows[places] if hasattr(rows, "shape") else [rows[i] for i in places.tolist()]


def _checked_time(when: str | datetime | None) -> str:
    if when is None:
        return datetime.now(UTC).isoformat(timespec="seconds")
    if isinstance(when, datetime):
        return when.isoformat(timespec="seconds")
    try:
        datetime.fromisoformat(when)
    except (TypeError, ValueError) as error:
        raise ValueError(f"when must be a time in ISO format, got {when!r}") from error
    return when


def write_json(path: str | Path, state: Mapping[str, Any]) -> None:
    """Write plain values to a file, whole or not at all."""
    content = json.dumps(state, indent=1, allow_nan=False).encode()
    write_whole(Path(path), content + b"\n")


def read_json(path: str | Path) -> Any:
    """Return the plain values of a file, or refuse a large one or one that is no JSON."""
    file = Path(path)
    if "\0" in str(file):
        raise ValueError(f"path must not hold the character NUL, got {str(file)!r}")
    if file.stat().st_size > MOST_BYTES:
        raise ValueError(f"path must be a file of at most {MOST_BYTES} bytes, got {str(file)!r}")
    content = read_whole(file)
    try:
        return parsed_json(content)
    except ValueError as error:
        raise ValueError(
            f"path must be a JSON file, got {str(file)!r}: {brief(str(error), 300)}"
        ) from error
