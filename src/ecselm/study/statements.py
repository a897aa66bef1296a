"""Cost constraints in sentences: from options to parameters, and from costs to sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from math import floor, log10
from pathlib import Path
from typing import Any

import numpy as np

from ecselm._typing import FloatArray
from ecselm._wording import all_digits, case_of, confusion_of
from ecselm.costs import parse_cost
from ecselm.costs.feasible import FeasibleRegion
from ecselm.costs.levels import MatrixLevel
from ecselm.costs.sentences import Mistake, MistakeReader
from ecselm.estimators._priors import LEAST_SHARE
from ecselm.metrics import default_metric
from ecselm.tables.cells import read_names, read_numbers
from ecselm.tables.read import DELIMITED, read_table

OPTIONS = "--cost, --worse and --cost-between"
MAX_TABLE_SENTENCES = 12  # about a table of costs
MAX_COST_SENTENCES = 3  # about expensive mistakes, and about free ones
EQUAL = 1.05  # costs whose ratio is smaller are called equal
_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_BETWEEN = re.compile(rf"\s*({_NUMBER})?\s*\.\.\s*({_NUMBER})?\s*", re.ASCII)
_STATED = re.compile(rf"(.*)=\s*({_NUMBER})\s*", re.ASCII | re.DOTALL)


class CostBounds:
    """Bounds and order of the costs of mistakes; contradictions raise ValueError.

    Parameters
    ----------
    classes : list
        Sorted labels.

    Examples
    --------
    >>> bounds = CostBounds(["ill", "well"])
    >>> bounds.narrow(Mistake(0, 1), 2.0, 20.0, "ill->well=2..20")
    >>> bounds.parameters()
    {'cost_intervals': {'ill': (2.0, 20.0)}}
    """

    def __init__(self, classes: list[Any]) -> None:
        k = len(classes)
        self._classes, self._level = classes, MatrixLevel(k)
        self._low, self._high = np.zeros((k, k)), np.full((k, k), np.inf)
        self._order: list[tuple[Mistake, Mistake]] = []
        self._mentioned, self._has_numbers = np.eye(k, dtype=bool), False

    def narrow(self, mistake: Mistake, low: float, high: float, text: str) -> None:
        """Bound the cost of a mistake by two numbers."""
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
        """Mark a mistake as mentioned, even if its cost is unknown."""
        for place in mistake.pairs(len(self._classes)):
            self._mentioned[place] = True

    def close(self) -> bool:
        """Fix mistakes that are not mentioned at 1 if any number is given; return whether it did.

        Only ratios of costs matter, so a number needs a unit.
        """
        unmentioned = ~self._mentioned
        if not self._has_numbers or not unmentioned.any():
            return False
        self._low[unmentioned] = self._high[unmentioned] = 1.0
        return True

    def order(self, chain: list[Mistake], text: str) -> None:
        """Require that each mistake costs more than the next."""
        k = len(self._classes)
        for worse, milder in pairwise(chain):
            if set(worse.pairs(k)) & set(milder.pairs(k)):
                raise ValueError(f"--worse must not put a cost above itself, got {text!r}")
            self.mention(worse)
            self.mention(milder)
            self._order.append((worse, milder))

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of a model, or raise ValueError on a contradiction."""
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
        for worse, milder in self._order:
            for above, below in product(worse.pairs(k), milder.pairs(k)):
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
        """Return whether one cost per class is enough."""
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
            (self._classes[worse.truth], self._classes[milder.truth])
            for worse, milder in self._order
        ]
        return self._stated(places, order)

    def _by_confusion(self) -> dict[str, Any]:
        pairs = product(range(len(self._classes)), repeat=2)
        places = {(self._classes[i], self._classes[j]): (i, j) for i, j in pairs if i != j}
        order = [(self._key(worse), self._key(milder)) for worse, milder in self._order]
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
class StatedCosts:
    """Cost constraints as parameters of a model and as sentences.

    Examples
    --------
    >>> stated = read_stated_costs([], ["ill->well > well->ill"], [], ["ill", "well"])
    >>> stated.parameters
    {'cost_order': [('ill', 'well')]}
    >>> stated.sentences
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
        if self.cost_level == "matrix":
            given["cost_level"] = "matrix"
        return given

    @property
    def metric(self) -> str:
        """Return the default metric: the mean cost if all costs are known."""
        return default_metric(self.cost)


def read_stated_costs(
    cost: Iterable[str], worse: Iterable[str], between: Iterable[str], classes: Any
) -> StatedCosts:
    """Parse cost constraints, and raise ValueError if they contradict each other.

    Parameters
    ----------
    cost : iterable of str
        ``"true->predicted=5"``, ``"true=5"`` for any mistake on a class, or the file of a
        square table with a row for every true and a column for every predicted class, 0 or
        nothing on the diagonal, and nothing where a cost is not known.
    worse : iterable of str
        ``"a->b > b->a"``, the more expensive first; also chains: ``"a->b > c->d > e->f"``.
    between : iterable of str
        ``"a->b=2..20"``, of which one end may be missing.
    classes : array of labels
        Names may be quoted; without quotes they must be unambiguous among the classes.

    Returns
    -------
    StatedCosts
        If numbers are stated, mistakes that are not mentioned cost 1, as everywhere in this
        package. If the costs of all mistakes are known then, they are ``cost``; otherwise the
        known ones are fixed and the others learned. Two classes have a cost each. With more,
        single confusions need costs by confusion, unless all mistakes on a class cost the
        same.

    Examples
    --------
    >>> read_stated_costs(["1->0=5", "0->1=1"], [], [], [0, 1]).cost
    [[0.0, 1.0], [5.0, 0.0]]
    >>> read_stated_costs(["ill->well=5"], [], [], ["ill", "well"]).cost
    [[0.0, 5.0], [1.0, 0.0]]
    >>> read_stated_costs([], [], ["ill->well=2..20"], ["ill", "well"]).parameters
    {'fixed_costs': {'well': 1.0}, 'cost_intervals': {'ill': (2.0, 20.0)}}
    >>> read_stated_costs(["il->well=5"], [], [], ["ill", "well"])
    Traceback (most recent call last):
        ...
    ValueError: --cost must name classes of the data, 'ill', 'well', got 'il'; did you mean 'ill'?
    """
    labels = np.unique(np.asarray(classes)).tolist()
    if len(labels) < 2:
        raise ValueError(f"classes must be at least two, got {labels}")
    parser = _Parser(labels)
    for text in cost:
        parser.add_cost(text)
    for text in worse:
        parser.add_order(text)
    for text in between:
        parser.add_interval(text)
    if parser.bounds.close():
        parser.sentences.append("every other mistake costs 1")
    return StatedCosts(**parser.bounds.parameters(), sentences=tuple(parser.sentences))


class _Parser:
    """Collects bounds and sentences from one option after another."""

    def __init__(self, labels: list[Any]) -> None:
        self.bounds = CostBounds(labels)
        self.sentences: list[str] = []
        self._labels, self._reader = labels, MistakeReader(labels)

    def add_cost(self, text: str) -> None:
        stated = _STATED.fullmatch(text)
        if stated is not None:
            mistake = self._reader.mistake(stated[1], "--cost")
            value = float(stated[2])
            self.bounds.narrow(mistake, value, value, text)
            self.sentences.append(f"{self._words(mistake)} costs {all_digits(value)}")
        elif Path(text).suffix.lower() in DELIMITED or Path(text).exists():
            self._add_table(Path(text))
        else:
            raise ValueError(
                "--cost must read TRUE->PREDICTED=COST with a cost >= 0, or name a .csv file of "
                f"costs, got {text!r}"
            )

    def add_order(self, text: str) -> None:
        chain = self._reader.chain(text, "--worse")
        self.bounds.order(chain, text)
        for worse, milder in pairwise(chain):
            self.sentences.append(f"{self._words(worse)} is worse than {self._words(milder)}")

    def add_interval(self, text: str) -> None:
        mistake_text, _, ends = text.rpartition("=")
        between = _BETWEEN.fullmatch(ends)
        low, high = (0.0, 0.0) if between is None else _ends(between)
        if not mistake_text or not low <= high or high == 0 or (low == 0 and high == np.inf):
            raise ValueError(
                "--cost-between must read TRUE->PREDICTED=LOW..HIGH with 0 <= LOW <= HIGH, of "
                f"which one may be missing, got {text!r}"
            )
        mistake = self._reader.mistake(mistake_text, "--cost-between")
        self.bounds.narrow(mistake, low, high, text)
        self.sentences.append(f"{self._words(mistake)} costs {_span(low, high)}")

    def _add_table(self, path: Path) -> None:
        matrix = _cost_table(path, self._reader, self._labels)
        places = [Mistake(int(i), int(j)) for i, j in np.argwhere(~np.isnan(matrix)) if i != j]
        for code in range(len(self._labels)):
            self.bounds.mention(Mistake(code))  # the cost of an empty cell is learned
        for mistake in places:
            value = float(matrix[mistake.truth, mistake.predicted])
            self.bounds.narrow(mistake, value, value, path.name)
            if len(places) <= MAX_TABLE_SENTENCES:
                self.sentences.append(f"{self._words(mistake)} costs {all_digits(value)}")
        if len(places) > MAX_TABLE_SENTENCES:
            self.sentences.append(f"{path.name} states what {len(places)} confusions cost")

    def _words(self, mistake: Mistake) -> str:
        truth = self._labels[mistake.truth]
        if mistake.predicted is None:
            return f"any mistake on {case_of(truth)}"
        return confusion_of(truth, self._labels[mistake.predicted])


def _cost_table(path: Path, reader: MistakeReader, labels: list[Any]) -> FloatArray:
    """Return the costs (k, k) in a file, NaN where a cell is empty."""
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
            f"{option} must have 0 or nothing on the diagonal, where predictions are right, got "
            f"{matrix[wrong[0], wrong[0]]:g} for {labels[wrong[0]]!r}"
        )
    return matrix


def _ends(between: re.Match[str]) -> tuple[float, float]:
    low, high = between.groups()
    return float(low or 0.0), float(high or np.inf)


def _span(low: float, high: float) -> str:
    if high == np.inf:
        return f"at least {all_digits(low)}"
    if low == 0:
        return f"at most {all_digits(high)}"
    return f"between {all_digits(low)} and {all_digits(high)}"


def cost_sentences(classes: Sequence[Any], costs: Any) -> tuple[str, ...]:
    """Return sentences about costs, the most expensive mistakes first.

    Parameters
    ----------
    classes : sequence of k labels
    costs : array of shape (k,) or (k, k)
        By true class, or by confusion with the truth as rows.

    Examples
    --------
    >>> for sentence in cost_sentences(["benign", "malignant"], [1.0, 6.28]):
    ...     print(sentence)
    a malignant case taken for benign is treated as 6.3 times as bad as a benign case taken for
    malignant
    >>> cost_sentences(["a", "b"], [1.0, 1.02])
    ('all mistakes are treated alike',)
    """
    mistakes = _mistakes([str(name) for name in classes], np.asarray(costs, dtype=np.float64))
    return _TREATED.sentences([(name, cost) for name, cost, _ in mistakes])


def weight_sentences(
    classes: Sequence[Any], stated: Any, used: Any, *, decides: bool = False
) -> tuple[str, ...]:
    """Return sentences about what a model made of stated costs, the greatest weights first.

    Parameters
    ----------
    classes : sequence of k labels
    stated : array of shape (k, k)
        Stated costs by confusion, with the truth as rows.
    used : array of shape (k, k)
        Weights of the training rows; or the costs by which decisions are made.
    decides : bool, default=False
        Whether ``used`` are costs of decisions.

    Examples
    --------
    >>> stated = [[0.0, 1.0], [5.0, 0.0]]
    >>> for sentence in weight_sentences(["benign", "malignant"], stated, [[0, 1.2], [3, 0]]):
    ...     print(sentence)
    the training weight of a malignant case taken for benign (stated cost 5) is 2.5 times that of a
    benign case taken for malignant (stated cost 1)
    >>> weight_sentences(["benign", "malignant"], stated, [[0, 0.2], [1.0, 0]])
    ('training weights are in proportion to the stated costs',)
    """
    costs, weights = (np.asarray(values, dtype=np.float64) for values in (stated, used))
    if _in_proportion(weights, costs):
        if decides:
            return ("decisions are made by the stated costs",)
        return ("training weights are in proportion to the stated costs",)
    mistakes = _mistakes([str(name) for name in classes], weights)
    named = [
        (f"{name} ({_stated_words([costs[place] for place in places])})", weight)
        for name, weight, places in mistakes
    ]
    return (_DECIDED if decides else _WEIGHTED).sentences(named)


def _in_proportion(weights: FloatArray, costs: FloatArray) -> bool:
    """Return whether weights are a multiple of costs, of which one at least is positive."""
    most = weights.max()
    if most <= 0:
        return False
    nothing = LEAST_SHARE * (1 + 1e-6)  # the weight of a mistake that costs nothing
    return np.allclose(weights / most, costs / costs.max(), rtol=1e-6, atol=nothing)


def _stated_words(costs: Sequence[float]) -> str:
    low, high = min(costs), max(costs)
    if low == high:
        return f"stated cost {all_digits(low)}"
    return f"stated costs {all_digits(low)} to {all_digits(high)}"


@dataclass(frozen=True, slots=True)
class CostWording:
    """How sentences compare costs: templates of a ratio, of equal costs and of none."""

    ratio: str  # of a mistake, a number and the mistake to compare with
    alike: str
    nothing: str

    def sentences(self, mistakes: Sequence[tuple[str, float]]) -> tuple[str, ...]:
        """Return sentences about mistakes with their costs, the most expensive first."""
        free = [name for name, cost in mistakes if cost <= 0]
        paid = sorted((pair for pair in mistakes if pair[1] > 0), key=lambda pair: -pair[1])
        words = [self.nothing.format(name) for name in free[:MAX_COST_SENTENCES]]
        if not paid:
            return tuple(words)
        reference, least = paid[-1]
        costly = [(name, cost / least) for name, cost in paid if cost > EQUAL * least]
        if not costly:
            return (self.alike.format("all other mistakes" if free else "all mistakes"), *words)
        found = [
            self.ratio.format(name, rounded(ratio), reference)
            for name, ratio in costly[:MAX_COST_SENTENCES]
        ]
        if between := len(costly) - len(found):
            many = "other kinds of mistakes lie" if between > 1 else "other kind of mistake lies"
            found.append(f"{between} {many} between")
        return (*found, *words)


_TREATED = CostWording(
    "{} is treated as {} times as bad as {}",
    "{} are treated alike",
    "{} is treated as no mistake at all",
)
_WEIGHTED = CostWording(
    "the training weight of {} is {} times that of {}",
    "{} have the same training weight",
    "the training weight of {} is 0",
)
_DECIDED = CostWording(
    "the cost in decisions of {} is {} times that of {}",
    "{} cost the same in decisions",
    "the cost in decisions of {} is 0",
)


def rounded(ratio: float) -> str:
    """Return a ratio with two digits.

    Examples
    --------
    >>> [rounded(ratio) for ratio in (2.0, 6.28, 9.96, 12.4, 147.0, 12345.0)]
    ['2', '6.3', '10', '12', '150', '12,000']
    """
    value = round(ratio, 1 - floor(log10(ratio)))
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}".removesuffix(".0")


def _mistakes(
    names: list[str], costs: FloatArray
) -> list[tuple[str, float, list[tuple[int, int]]]]:
    """Return kinds of mistakes, their costs and confusions; by class if these cost the same."""
    k = len(names)
    if costs.shape not in {(k,), (k, k)}:
        raise ValueError(f"costs must have the shape ({k},) or ({k}, {k}), got {costs.shape}")
    matrix = costs[:, np.newaxis] * np.ones(k) if costs.ndim == 1 else costs
    others = matrix[~np.eye(k, dtype=bool)].reshape(k, k - 1)
    if k > 2 and np.allclose(others, others[:, :1]):
        return [
            (f"a mistake on {case_of(names[i])}", float(others[i, 0]), Mistake(i).pairs(k))
            for i in range(k)
        ]
    pairs = [(i, j) for i in range(k) for j in range(k) if i != j]
    return [(confusion_of(names[i], names[j]), float(matrix[i, j]), [(i, j)]) for i, j in pairs]
