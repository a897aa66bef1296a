"""What a person says of costs, from sentences to parameters of a model."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np

from ecselm._typing import FloatArray
from ecselm._wording import did_you_mean, quoted
from ecselm.costs import parse_cost
from ecselm.costs.constraints import FeasibleRegion
from ecselm.costs.levels import MatrixLevel
from ecselm.tables.cells import read_names, read_numbers
from ecselm.tables.read import DELIMITED, read_table

_ARROW = re.compile(r"->|→")
_ABOVE = re.compile(r"(?<!-)>")
# A quote opens a name at its beginning only: Crohn's has none.
_QUOTED = re.compile(r"(?<![^\s>→])([\"'])(?:(?!\1).)*\1(?=\s*(?:->|→|>|=|$))")
OPTIONS = "--cost, --worse and --cost-between"
MOST_SENTENCES = 12  # of a table of costs
_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_BETWEEN = re.compile(rf"\s*({_NUMBER})?\s*\.\.\s*({_NUMBER})?\s*", re.ASCII)
_STATED = re.compile(rf"(.*)=\s*({_NUMBER})\s*", re.ASCII | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Mistake:
    """A confusion, or any mistake on a class; classes by position."""

    truth: int
    predicted: int | None = None

    def pairs(self, n_classes: int) -> list[tuple[int, int]]:
        """Return the confusions it stands for."""
        others = range(n_classes) if self.predicted is None else [self.predicted]
        return [(self.truth, other) for other in others if other != self.truth]


class MistakeReader:
    """Reads mistakes, with the classes at hand that tell arrows from parts of a name.

    Parameters
    ----------
    classes : list
        Labels of the data. A text means the label that is written so.

    Examples
    --------
    >>> reader = MistakeReader(["a->b", "c"])
    >>> reader.mistake("a->b->c", "--cost")
    Mistake(truth=0, predicted=1)
    >>> reader.chain("c > a->b->c", "--worse")
    [Mistake(truth=1, predicted=None), Mistake(truth=0, predicted=1)]
    """

    def __init__(self, classes: list[Any]) -> None:
        self._names = [_normal(str(label)) for label in classes]
        self._classes = classes

    def code(self, text: str, option: str) -> int:
        """Return the position of a class, or refuse a name that is none."""
        code = self._code(text)
        if code is None:
            name = _unquoted(text)
            raise ValueError(
                f"{option} must name classes of the data, {quoted(self._names, 10)}, got {name!r}"
                f"{did_you_mean(name, self._names)}"
            )
        return code

    def mistake(self, text: str, option: str) -> Mistake:
        """Return the one mistake that ``text`` means; ``option`` is at fault if there is none."""
        readings = self._readings(text)
        if not readings:
            arrow = next(_outside_quotes(_ARROW, text), None)
            for side in [text] if arrow is None else [text[: arrow.start()], text[arrow.end() :]]:
                self.code(side, option)
        return _the_one(readings, text, option)

    def chain(self, text: str, option: str) -> list[Mistake]:
        """Return mistakes from the dearest to the cheapest."""
        places = [found.start() for found in _outside_quotes(_ABOVE, text)]
        starts, ends = [0, *(place + 1 for place in places)], [*places, len(text)]
        parts = [text[start:end] for start, end in zip(starts, ends, strict=True)]
        chains = [chain for chain in self._chains(parts) if len(chain) > 1]
        if not chains:
            for part in parts:
                self.mistake(part, option)
            raise ValueError(
                f"{option} must put one mistake above another, as in 'a->b > b->a', got {text!r}"
            )
        return _the_one(chains, text, option)

    def _chains(self, parts: list[str]) -> Iterator[list[Mistake]]:
        """Yield every way to read parts, of which some may belong together."""
        if not parts:
            yield []
        for n in range(1, len(parts) + 1):
            for first in self._readings(">".join(parts[:n])):
                yield from ([first, *rest] for rest in self._chains(parts[n:]))

    def _readings(self, text: str) -> list[Mistake]:
        alone = self._code(text)
        found = [] if alone is None else [Mistake(alone)]
        for arrow in _outside_quotes(_ARROW, text):
            truth, predicted = self._code(text[: arrow.start()]), self._code(text[arrow.end() :])
            if truth is not None and predicted is not None:
                found.append(Mistake(truth, predicted))
        return found

    def _code(self, text: str) -> int | None:
        name = _normal(_unquoted(text))
        if name in self._names:
            return self._names.index(name)
        return next((i for i, label in enumerate(self._classes) if _same_number(name, label)), None)


def _outside_quotes(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    quoted = [found.span() for found in _QUOTED.finditer(text)]
    for found in pattern.finditer(text):
        if not any(start < found.start() < end for start, end in quoted):
            yield found


def _the_one(readings: list[Any], text: str, option: str) -> Any:
    if len(readings) > 1:
        raise ValueError(
            f"{option} must be read in one way, got {text!r}; put quotes around names of classes"
        )
    for mistake in readings[0] if isinstance(readings[0], list) else readings:
        if mistake.truth == mistake.predicted:
            raise ValueError(f"{option} must name mistakes, got {text!r}, which is right")
    return readings[0]


def _unquoted(text: str) -> str:
    name = text.strip()
    return name[1:-1] if _QUOTED.fullmatch(name) else name


def _normal(name: str) -> str:
    """Return a name in one of the ways that Unicode has for the same letters."""
    return unicodedata.normalize("NFC", name)


def _same_number(name: str, label: Any) -> bool:
    try:
        return not isinstance(label, str) and float(name) == float(label)
    except ValueError:
        return False


class StatedCosts:
    """What is known of costs so far; a statement that leaves no cost for a mistake is refused.

    Parameters
    ----------
    classes : list
        Sorted labels.

    Examples
    --------
    >>> stated = StatedCosts(["ill", "well"])
    >>> stated.narrow(Mistake(0, 1), 2.0, 20.0, "ill->well=2..20")
    >>> stated.parameters()
    {'cost_intervals': {'ill': (2.0, 20.0)}}
    """

    def __init__(self, classes: list[Any]) -> None:
        k = len(classes)
        self._classes, self._level = classes, MatrixLevel(k)
        self._low, self._high = np.zeros((k, k)), np.full((k, k), np.inf)
        self._order: list[tuple[Mistake, Mistake]] = []
        self._mentioned, self._has_numbers = np.eye(k, dtype=bool), False

    def narrow(self, mistake: Mistake, low: float, high: float, text: str) -> None:
        """Take note that a cost lies between two numbers."""
        self.mention(mistake)
        self._has_numbers = True
        for place in mistake.pairs(len(self._classes)):
            self._low[place] = max(self._low[place], low)
            self._high[place] = min(self._high[place], high)
            if self._low[place] > self._high[place]:
                truth, predicted = (self._classes[code] for code in place)
                raise ValueError(
                    f"{OPTIONS} must not contradict each other: {text!r} leaves no cost for "
                    f"{truth!r} taken for {predicted!r}"
                )

    def mention(self, mistake: Mistake) -> None:
        """Take note that something is said of a mistake, be it that its cost is not known."""
        for place in mistake.pairs(len(self._classes)):
            self._mentioned[place] = True

    def close(self) -> bool:
        """Let mistakes never mentioned cost 1 if numbers were, and tell whether there are such.

        A number alone says nothing: only ratios of costs matter, so it needs a unit.
        """
        silent = ~self._mentioned
        if not self._has_numbers or not silent.any():
            return False
        self._low[silent] = self._high[silent] = 1.0
        return True

    def order(self, chain: list[Mistake], text: str) -> None:
        """Take note that each mistake costs more than the next."""
        k = len(self._classes)
        for dearer, cheaper in pairwise(chain):
            if set(dearer.pairs(k)) & set(cheaper.pairs(k)):
                raise ValueError(f"--worse must not put a cost above itself, got {text!r}")
            self.mention(dearer)
            self.mention(cheaper)
            self._order.append((dearer, cheaper))

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that say this to a model, or refuse a contradiction."""
        self._check_order()
        low, high = self._level.entries(self._low), self._level.entries(self._high)
        if (low == high).all():
            matrix = np.where(np.eye(len(self._classes), dtype=bool), 0.0, self._low)
            return {"cost": parse_cost(matrix, self._classes).tolist()}
        if (high == 0).any():
            raise ValueError(
                "--cost must state costs > 0 unless it states those of all mistakes, got 0"
            )
        return self._by_class() if self._is_by_class() else self._by_confusion()

    def _check_order(self) -> None:
        k = len(self._classes)
        entries: list[tuple[int, int]] = []
        for dearer, cheaper in self._order:
            for above, below in product(dearer.pairs(k), cheaper.pairs(k)):
                if self._high[above] <= self._low[below]:  # which two costs of 0 are, too
                    raise ValueError(
                        f"{OPTIONS} must not contradict each other: {self._words(above)} costs at "
                        f"most {self._high[above]:g} and is to be worse than "
                        f"{self._words(below)}, which costs at least {self._low[below]:g}"
                    )
                entries += [(self._entry(above), self._entry(below))]
        low, high = self._level.entries(self._low), self._level.entries(self._high)
        try:
            FeasibleRegion.from_constraints(
                low, high, entries, self._level.names(np.array(self._classes))
            )
        except ValueError as error:
            reason = str(error).partition(": " if ": " in str(error) else ", got ")[2]
            raise ValueError(f"{OPTIONS} must not contradict each other: {reason}") from error

    def _entry(self, place: tuple[int, int]) -> int:
        return self._level.entries_of(*place)[0]

    def _words(self, place: tuple[int, int]) -> str:
        return f"{self._classes[place[0]]!r} taken for {self._classes[place[1]]!r}"

    def _is_by_class(self) -> bool:
        """Tell whether a cost per class says it all."""
        if len(self._classes) == 2:
            return True
        if any(one.predicted is not None for pair in self._order for one in pair):
            return False
        rows = [Mistake(code).pairs(len(self._classes)) for code in range(len(self._classes))]
        return all(
            len({(self._low[place], self._high[place]) for place in row}) == 1 for row in rows
        )

    def _by_class(self) -> dict[str, Any]:
        other = [0 if code else 1 for code in range(len(self._classes))]
        places = {label: (code, other[code]) for code, label in enumerate(self._classes)}
        order = [
            (self._classes[dearer.truth], self._classes[cheaper.truth])
            for dearer, cheaper in self._order
        ]
        return self._stated(places, order)

    def _by_confusion(self) -> dict[str, Any]:
        pairs = product(range(len(self._classes)), repeat=2)
        places = {(self._classes[i], self._classes[j]): (i, j) for i, j in pairs if i != j}
        order = [(self._key(dearer), self._key(cheaper)) for dearer, cheaper in self._order]
        return {**self._stated(places, order), "cost_level": "matrix"}

    def _key(self, mistake: Mistake) -> Any:
        truth = self._classes[mistake.truth]
        return truth if mistake.predicted is None else (truth, self._classes[mistake.predicted])

    def _stated(
        self, places: dict[Any, tuple[int, int]], order: list[tuple[Any, Any]]
    ) -> dict[str, Any]:
        bounds = {
            key: (float(self._low[place]), float(self._high[place]))
            for key, place in places.items()
        }
        fixed = {key: low for key, (low, high) in bounds.items() if low == high}
        intervals = {
            key: (low, high)
            for key, (low, high) in bounds.items()
            if low < high and (low > 0 or high < np.inf)
        }
        stated = {"fixed_costs": fixed, "cost_intervals": intervals, "cost_order": order}
        return {name: value for name, value in stated.items() if value}


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
        If numbers are stated, mistakes that nothing is said of cost 1, as everywhere in this
        package. If the costs of all mistakes are known then, they are ``cost``. If some are,
        these are fixed and the others learned. Two classes have a cost each. With more,
        single confusions need costs by confusion, unless all mistakes on a class cost the
        same.

    Examples
    --------
    >>> read_statements(["1->0=5", "0->1=1"], [], [], [0, 1]).cost
    [[0.0, 1.0], [5.0, 0.0]]
    >>> read_statements(["ill->well=5"], [], [], ["ill", "well"]).cost
    [[0.0, 5.0], [1.0, 0.0]]
    >>> read_statements([], [], ["ill->well=2..20"], ["ill", "well"]).parameters
    {'fixed_costs': {'well': 1.0}, 'cost_intervals': {'ill': (2.0, 20.0)}}
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
    if speaker.costs.close():
        speaker.sentences.append("every other mistake costs 1")
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
        for code in range(len(self._labels)):
            self.costs.mention(Mistake(code))  # an empty cell is a cost to be learned
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
