"""What a person says of costs, from the words of a command to parameters of a model."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ecselm._typing import FloatArray
from ecselm.study.cells import read_names, read_numbers
from ecselm.study.mistakes import Mistake, MistakeReader
from ecselm.study.stated_costs import StatedCosts
from ecselm.study.tables import DELIMITED, read_table

MOST_SENTENCES = 12  # of a table of costs
_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_BETWEEN = re.compile(rf"\s*({_NUMBER})?\s*\.\.\s*({_NUMBER})?\s*", re.ASCII)
_STATED = re.compile(rf"(.*)=\s*({_NUMBER})\s*", re.ASCII | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Statements:
    """What was said of costs, as a model takes it and as a person reads it.

    Examples
    --------
    >>> said = read_statements([], ["ill->well > well->ill"], [], ["ill", "well"])
    >>> said.parameters
    {'cost_order': [('ill', 'well')]}
    >>> said.sentences
    ('an ill case taken for well is worse than a well case taken for ill',)
    """

    cost: list[list[float]] | None = None  # of every confusion, by sorted classes
    fixed_costs: dict[Any, float] | None = None
    cost_intervals: dict[Any, tuple[float, float]] | None = None
    cost_order: list[tuple[Any, Any]] | None = None
    cost_level: str = "class"
    sentences: tuple[str, ...] = ()

    @property
    def parameters(self) -> dict[str, Any]:
        """Return what differs from the defaults of :class:`~ecselm.ECSELMClassifier`."""
        stated = {
            "cost": self.cost,
            "fixed_costs": self.fixed_costs,
            "cost_intervals": self.cost_intervals,
            "cost_order": self.cost_order,
        }
        given: dict[str, Any] = {name: value for name, value in stated.items() if value is not None}
        if self.cost_level == "matrix":  # weights of rows would forget which confusion is dear
            given |= {"cost_level": "matrix", "decision": "min_cost"}
        return given

    @property
    def metric(self) -> str | None:
        """Return the metric that is meant where nobody names one: costs known are counted."""
        return None if self.cost is None else "mean_cost"


def read_statements(
    cost: Iterable[str], worse: Iterable[str], between: Iterable[str], classes: Any
) -> Statements:
    """Read what a person says of costs, and refuse what contradicts itself.

    Parameters
    ----------
    cost : iterable of str
        ``"true->predicted=5"``, ``"true=5"`` for any mistake on a class, or the file of a
        square table with a row for every true and a column for every predicted class, 0 or
        nothing on the diagonal, and nothing where a cost is not known.
    worse : iterable of str
        ``"a->b > b->a"``, the dearer first, and so on: ``"a->b > c->d > e->f"``.
    between : iterable of str
        ``"a->b=2..20"``, of which one end may be missing.
    classes : array of labels
        Names in quotes may hold anything; without quotes, whatever can be told apart by the
        classes there are.

    Returns
    -------
    Statements
        If the costs of all mistakes are stated, they are ``cost``. If some are, these are
        fixed and the others learned. Two classes have a cost each. With more, single
        confusions need costs by confusion, unless all mistakes on a class cost the same.

    Examples
    --------
    >>> read_statements(["1->0=5", "0->1=1"], [], [], [0, 1]).cost
    [[0.0, 1.0], [5.0, 0.0]]
    >>> read_statements(["pox->flu=5"], [], [], ["flu", "pox", "well"]).parameters
    {'fixed_costs': {('pox', 'flu'): 5.0}, 'cost_level': 'matrix', 'decision': 'min_cost'}
    >>> read_statements(["il->well=5"], [], [], ["ill", "well"])
    Traceback (most recent call last):
        ...
    ValueError: --cost must name classes of the data, 'ill', 'well', got 'il'; did you mean 'ill'?
    """
    labels = np.unique(np.asarray(classes)).tolist()
    if len(labels) < 2:
        raise ValueError(f"classes must be at least two, got {labels}")
    speaker = _Speaker(labels)
    for text in cost:
        speaker.say_cost(text)
    for text in worse:
        speaker.say_order(text)
    for text in between:
        speaker.say_interval(text)
    return Statements(**speaker.costs.parameters(), sentences=tuple(speaker.sentences))


class _Speaker:
    """Somebody who states costs, one after another."""

    def __init__(self, labels: list[Any]) -> None:
        self.costs = StatedCosts(labels)
        self.sentences: list[str] = []
        self._labels, self._reader = labels, MistakeReader(labels)

    def say_cost(self, text: str) -> None:
        stated = _STATED.fullmatch(text)
        if stated is not None:
            mistake = self._reader.mistake(stated[1], "--cost")
            value = float(stated[2])
            self.costs.narrow(mistake, value, value, text)
            self.sentences.append(f"{self._words(mistake)} costs {value:g}")
        elif Path(text).suffix.lower() in DELIMITED or Path(text).exists():
            self._say_table(Path(text))
        else:
            raise ValueError(
                "--cost must read TRUE->PREDICTED=COST with a cost >= 0, or name a .csv file of "
                f"costs, got {text!r}"
            )

    def say_order(self, text: str) -> None:
        chain = self._reader.chain(text, "--worse")
        self.costs.order(chain, text)
        for dearer, cheaper in pairwise(chain):
            self.sentences.append(f"{self._words(dearer)} is worse than {self._words(cheaper)}")

    def say_interval(self, text: str) -> None:
        mistake_text, _, ends = text.rpartition("=")
        between = _BETWEEN.fullmatch(ends)
        low, high = (0.0, 0.0) if between is None else _ends(between)
        if not mistake_text or not low <= high or high == 0 or (low == 0 and high == np.inf):
            raise ValueError(
                "--cost-between must read TRUE->PREDICTED=LOW..HIGH with 0 <= LOW <= HIGH, of "
                f"which one may be missing, got {text!r}"
            )
        mistake = self._reader.mistake(mistake_text, "--cost-between")
        self.costs.narrow(mistake, low, high, text)
        self.sentences.append(f"{self._words(mistake)} costs {_span(low, high)}")

    def _say_table(self, path: Path) -> None:
        matrix = _cost_table(path, self._reader, self._labels)
        places = [Mistake(int(i), int(j)) for i, j in np.argwhere(~np.isnan(matrix)) if i != j]
        for mistake in places:
            value = float(matrix[mistake.truth, mistake.predicted])
            self.costs.narrow(mistake, value, value, path.name)
            if len(places) <= MOST_SENTENCES:
                self.sentences.append(f"{self._words(mistake)} costs {value:g}")
        if len(places) > MOST_SENTENCES:
            self.sentences.append(f"{path.name} states what {len(places)} confusions cost")

    def _words(self, mistake: Mistake) -> str:
        truth = _case(self._labels[mistake.truth])
        if mistake.predicted is None:
            return f"any mistake on {truth}"
        predicted = self._labels[mistake.predicted]
        return (
            f"{truth} taken for {predicted if isinstance(predicted, str) else f'class {predicted}'}"
        )


def _cost_table(path: Path, reader: MistakeReader, labels: list[Any]) -> FloatArray:
    """Return the costs (k, k) that a file states, NaN where it does not."""
    frame, option = read_table(path).frame, f"--cost {path.name}"
    rows = [reader.code(name, option) for name in read_names(frame.iloc[:, 0])]
    columns = [reader.code(name, option) for name in frame.columns[1:]]
    every = list(range(len(labels)))
    if sorted(rows) != every or sorted(columns) != every:
        raise ValueError(
            f"{option} must have every class once as a row and once as a column, {labels}, got "
            f"rows {[labels[i] for i in rows]} and columns {[labels[j] for j in columns]}"
        )
    readings = [read_numbers(frame.iloc[:, 1 + j]) for j in every]
    if any(reading.bad.any() or (reading.values < 0).any() for reading in readings):
        raise ValueError(f"{option} must hold costs >= 0, or nothing where a cost is not known")
    matrix = np.empty((len(labels), len(labels)))
    matrix[np.ix_(rows, columns)] = np.column_stack([reading.values for reading in readings])
    wrong = np.flatnonzero(np.nan_to_num(matrix.diagonal()))
    if wrong.size:
        raise ValueError(
            f"{option} must have 0 or nothing on the diagonal, where answers are right, got "
            f"{matrix[wrong[0], wrong[0]]:g} for {labels[wrong[0]]!r}"
        )
    return matrix


def _ends(between: re.Match[str]) -> tuple[float, float]:
    low, high = between.groups()
    return float(low or 0.0), float(high or np.inf)


def _span(low: float, high: float) -> str:
    if high == np.inf:
        return f"at least {low:g}"
    return f"at most {high:g}" if low == 0 else f"between {low:g} and {high:g}"


def _case(label: Any) -> str:
    if not isinstance(label, str):
        return f"a case of class {label}"
    return f"{'an' if label[:1].lower() in set('aeiou') else 'a'} {label} case"
