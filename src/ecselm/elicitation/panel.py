"""Several people: where their costs agree, and what their disagreement costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from ecselm._typing import FloatArray
from ecselm._wording import quoted
from ecselm.costs import CostConstraints
from ecselm.elicitation.belief import conflict
from ecselm.elicitation.elicitor import (
    Answer,
    CostElicitor,
    as_evidence,
    read_json,
    write_json,
)
from ecselm.elicitation.questions import checked_text

FORMAT = 1
MOST_PEOPLE = 100


@dataclass(frozen=True, slots=True, eq=False)
class Agreement:
    """Where people agree about costs.

    Parameters
    ----------
    people : tuple of str
    same_decisions : float
        Share of rows that the costs of all people decide alike.
    pairs : array of shape (n, n)
        The same for every two people.
    regret : array of shape (n, n)
        What decisions by the costs of the person of the column are expected to cost the person
        of the row more than decisions by their own; 1 is deciding without a model.
    constraints : CostConstraints or None
        With the answers of all people; None if they cannot all be right.
    conflict : tuple of pairs (str, Answer)
        Answers of the people that cannot all be right, none of which can be spared.
    compromise : array of shape (k, k)
        Costs whose decisions cost all people together least, in units of what the best
        constant answer costs.
    compromise_regret : array of shape (n,)
        What these decisions are expected to cost every person more than decisions by their own.
    """

    people: tuple[str, ...]
    same_decisions: float
    pairs: FloatArray
    regret: FloatArray
    constraints: CostConstraints | None
    conflict: tuple[tuple[str, Answer], ...]
    compromise: FloatArray
    compromise_regret: FloatArray

    def describe(self) -> str:
        """Return the agreement in words."""
        lines = [f"{self.same_decisions:.0%} of the decisions are the same for all"]
        n = len(self.people)
        apart = [(self.regret[i, j], i, j) for i in range(n) for j in range(n) if i != j]
        if apart:
            most, i, j = max(apart)
            lines.append(
                f"deciding by the costs of {self.people[j]} costs {self.people[i]} most, "
                f"{most:.3f} of what deciding without a model costs"
            )
        if self.conflict:
            lines.append("these answers cannot all be right:")
            lines += [f"- {name}: {answer.text}" for name, answer in self.conflict]
        else:
            lines.append("all answers can be right together")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the agreement as plain values that JSON can hold."""
        return {
            "people": list(self.people),
            "same_decisions": self.same_decisions,
            "pairs": self.pairs.tolist(),
            "regret": self.regret.tolist(),
            "conflict": [{"by": name, "answer": one.text} for name, one in self.conflict],
            "compromise": self.compromise.tolist(),
            "compromise_regret": self.compromise_regret.tolist(),
        }


class Panel:
    """Several people who answer questions about the costs of the same decisions.

    Parameters
    ----------
    elicitors : dict of str to CostElicitor
        Of every person; with the same classes, constraints and rows.

    Examples
    --------
    >>> import numpy as np
    >>> from ecselm.costs import CostConstraints
    >>> p = np.linspace(0.01, 0.99, 99)
    >>> known = CostConstraints(["ill", "well"], intervals={"ill": (1, 100)})
    >>> people = {"Ann": [[0, 5], [1, 0]], "Bob": [[0, 50], [1, 0]]}
    >>> y_prob = np.column_stack([p, 1 - p])
    >>> panel = Panel.of_people(people, known, y_prob, tolerance=0.001, random_state=0)
    >>> for name, costs in people.items():
    ...     while not panel[name].done:
    ...         panel[name].tell(panel[name].ask().answer_for(costs), by=name)
    >>> panel.agreement().constraints is None
    True
    """

    def __init__(self, elicitors: Mapping[str, CostElicitor]) -> None:
        if not isinstance(elicitors, Mapping) or not 1 <= len(elicitors) <= MOST_PEOPLE:
            raise ValueError(
                f"elicitors must be a dict of 1 to {MOST_PEOPLE} people, got {elicitors!r}"
            )
        for name, one in elicitors.items():
            checked_text(name, "the name of a person")
            if not isinstance(one, CostElicitor):
                raise ValueError(f"elicitors[{name!r}] must be a CostElicitor, got {one!r}")  # noqa: TRY004
        self._elicitors = dict(elicitors)
        first, *others = self._elicitors.values()
        for one in others:
            if one.prior != first.prior or not np.array_equal(one.rows, first.rows):
                raise ValueError("elicitors must have the same constraints and rows, got others")

    @classmethod
    def of_people(cls, names: Any, constraints: Any, y_prob: Any, **options: Any) -> Self:
        """Return a panel in which each person begins with the same constraints.

        Parameters
        ----------
        names : iterable of str
        constraints : CostConstraints, or what ``cost`` of estimators takes
        y_prob : array of shape (N, k)
        **options
            Of :class:`CostElicitor`.
        """
        return cls({name: CostElicitor(constraints, y_prob, **options) for name in names})

    @property
    def people(self) -> tuple[str, ...]:
        """Return the names."""
        return tuple(self._elicitors)

    def __getitem__(self, name: str) -> CostElicitor:
        if name not in self._elicitors:
            known = quoted(self.people, 10)
            raise KeyError(f"the person must be one of {known}, got {name!r}")
        return self._elicitors[name]

    def __len__(self) -> int:
        return len(self._elicitors)

    def agreement(self) -> Agreement:
        """Return where people agree, and what their disagreement costs."""
        all_of = list(self._elicitors.values())
        P, k = all_of[0].rows, len(all_of[0].classes)
        # The mean of normalised costs decides best, and tells what decisions are expected to cost.
        means = np.array([one.decision_matrix for one in all_of])
        decisions = np.array([(P @ one).argmin(axis=1) for one in means])
        confusions = np.array([P.T @ np.eye(k)[one] / len(P) for one in decisions])
        paid = np.tensordot(means, confusions, axes=([1, 2], [1, 2]))  # (person, decided by)
        own = np.diagonal(paid)
        compromise = means.mean(axis=0)
        shared = P.T @ np.eye(k)[(P @ compromise).argmin(axis=1)] / len(P)
        pairs = (decisions[:, np.newaxis] == decisions).mean(axis=2)
        answers, clash = self._conflict()
        constraints = None if clash else self._together(answers)
        return Agreement(
            self.people,
            float((decisions == decisions[0]).all(axis=0).mean()),
            pairs,
            np.maximum(paid - own[:, np.newaxis], 0.0),
            constraints,
            tuple(clash),
            compromise,
            np.maximum(np.tensordot(means, shared, axes=2) - own, 0.0),
        )

    def _conflict(self) -> tuple[list[Answer], list[tuple[str, Answer]]]:
        """Return all answers that state something, and those that cannot all be right."""
        given = [
            (name, one)
            for name, elicitor in self._elicitors.items()
            for one in elicitor.history
            if one.choice.states
        ]
        evidence = [as_evidence(one.question, one.choice) for _, one in given]
        region = next(iter(self._elicitors.values())).prior.region
        return [one for _, one in given], [given[i] for i in conflict(region, evidence)]

    def _together(self, answers: list[Answer]) -> CostConstraints:
        first = next(iter(self._elicitors.values()))
        return first.cut([(one.question, one.choice) for one in answers])

    def to_dict(self) -> dict[str, Any]:
        """Return the answers of all people as plain values that JSON can hold."""
        people = {name: one.to_dict() for name, one in self._elicitors.items()}
        return {"format": FORMAT, "people": people}

    @classmethod
    def from_dict(cls, state: Mapping[str, Any], y_prob: Any) -> Self:
        """Return the panel that :meth:`to_dict` has written.

        Parameters
        ----------
        state : dict
        y_prob : array of shape (N, k)
        """
        people = state.get("people") if isinstance(state, Mapping) else None
        if not isinstance(people, Mapping) or state.get("format") != FORMAT:
            raise ValueError(f"state must be a panel of format {FORMAT}, as to_dict writes it")
        if len(people) > MOST_PEOPLE:
            raise ValueError(f"people must be at most {MOST_PEOPLE}, got {len(people)}")
        return cls({name: CostElicitor.from_dict(one, y_prob) for name, one in people.items()})

    def save(self, path: str | Path) -> None:
        """Write the answers of all people to a JSON file, whole or not at all.

        Parameters
        ----------
        path : str or Path
        """
        write_json(path, self.to_dict())

    @classmethod
    def load(cls, path: str | Path, y_prob: Any) -> Self:
        """Return the panel of a file that :meth:`save` has written.

        Parameters
        ----------
        path : str or Path
        y_prob : array of shape (N, k)
        """
        return cls.from_dict(read_json(path), y_prob)
