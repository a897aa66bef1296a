"""Costs in sentences: options that state them, and sentences about those of a model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import floor, log10
from pathlib import Path
from typing import Any

import numpy as np

from ecselm._typing import FloatArray
from ecselm._wording import all_digits, case_of, confusion_of
from ecselm.costs import CostConstraints
from ecselm.costs.sentences import Mistake, MistakeReader, Statement, read_sentence
from ecselm.estimators._priors import LEAST_SHARE
from ecselm.tables.cells import read_names, read_numbers, texts
from ecselm.tables.read import DELIMITED, read_table

MAX_COST_SENTENCES = 3  # about expensive mistakes, and about free ones
EQUAL = 1.05  # costs whose ratio is smaller are called equal
_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_BETWEEN = re.compile(rf"\s*({_NUMBER})?\s*\.\.\s*({_NUMBER})?\s*", re.ASCII)


def read_stated_costs(
    cost: Iterable[str], worse: Iterable[str], between: Iterable[str], classes: Any
) -> CostConstraints | None:
    """Parse what options state about costs, and raise ValueError if it contradicts itself.

    Parameters
    ----------
    cost : iterable of str
        Sentences about costs, such as ``"a->b=5"``, ``"a->b=3..20"`` or
        ``"a->b >= 3 * b->a"``, see :meth:`CostConstraints.from_sentences`; or the file of a
        square table with a row for every true and a column for every predicted class: costs or
        ranges ``3..20``, 0 or nothing on the diagonal, and nothing where a cost is not known.
    worse : iterable of str
        ``"a->b > b->a"``, the more expensive first; also chains: ``"a->b > c->d > e->f"``.
    between : iterable of str
        ``"a->b=2..20"``, of which one end may be missing.
    classes : array of labels
        Names may be quoted; without quotes they must be unambiguous among the classes.

    Returns
    -------
    constraints : CostConstraints or None
        None if nothing is stated.

    Examples
    --------
    >>> read_stated_costs(["ill->well=5"], [], [], ["ill", "well"]).mean()
    array([[0., 5.],
           [1., 0.]])
    >>> print(read_stated_costs([], [], ["ill->well=2..20"], ["ill", "well"]).describe())
    an ill case taken for well costs between 2 and 20
    every other mistake costs 1
    >>> read_stated_costs(["il->well=5"], [], [], ["ill", "well"])
    Traceback (most recent call last):
        ...
    ValueError: --cost must name classes of the data, 'ill', 'well', got 'il'; did you mean 'ill'?
    """
    labels = np.unique(np.asarray(classes))
    if len(labels) < 2:
        raise ValueError(f"classes must be at least two, got {labels.tolist()}")
    reader = MistakeReader(labels.tolist())
    statements: list[Statement] = []
    for text in cost:
        path = Path(text)
        if path.suffix.lower() in DELIMITED or path.exists():
            statements += _table_statements(path, reader, labels.tolist())
        else:
            statements += read_sentence(text, labels.tolist(), "--cost")
    for text in worse:
        chain = reader.chain(text, "--worse")
        statements += [Statement(a, 1.0, np.inf, b, text.strip()) for a, b in pairwise(chain)]
        if any(a.overlaps(b) for a, b in pairwise(chain)):
            raise ValueError(f"--worse must not put a cost above itself, got {text!r}")
    for text in between:
        found = read_sentence(text, labels.tolist(), "--cost-between")
        if any(one.right is not None for one in found):
            raise ValueError(
                f"--cost-between must state one cost, as in 'a->b=2..20', got {text!r}"
            )
        statements += found
    return CostConstraints.from_statements(labels, statements) if statements else None


def _table_statements(path: Path, reader: MistakeReader, labels: list[Any]) -> list[Statement]:
    """Return what a file of a square table states about every mistake."""
    frame, option = read_table(path).frame, f"--cost {path.name}"
    rows = [reader.code(name, option) for name in read_names(frame.iloc[:, 0])]
    columns = [reader.code(name, option) for name in frame.columns[1:]]
    every = list(range(len(labels)))
    if sorted(rows) != every or sorted(columns) != every:
        raise ValueError(
            f"{option} must have every class once as a row and once as a column, {labels}, got "
            f"rows {[labels[i] for i in rows]} and columns {[labels[j] for j in columns]}"
        )
    statements = []
    for place, j in enumerate(columns):
        low, high = _cell_ends(frame.iloc[:, 1 + place], option)
        for i, least, most in zip(rows, low, high, strict=True):
            if i != j:
                text = f"{path.name}: {labels[i]}->{labels[j]}"
                statements.append(Statement(Mistake(i, j), least, most, None, text))
            elif most not in {0.0, np.inf}:
                raise ValueError(
                    f"{option} must have 0 or nothing on the diagonal, where predictions are "
                    f"right, got {most:g} for {labels[i]!r}"
                )
    if all(one.high == 0 for one in statements):
        raise ValueError(f"{option} must have a cost of at least one mistake, got only zeros")
    return sorted(statements, key=lambda one: (one.left.truth, one.left.predicted))


def _cell_ends(column: Any, option: str) -> tuple[list[float], list[float]]:
    """Return the ends of the costs in a column: numbers, ranges, or nothing."""
    between = [_BETWEEN.fullmatch(text) for text in texts(column).astype(str)]
    ranges = [found is not None and any(found.groups()) for found in between]
    reading = read_numbers(column.mask(ranges))
    low = np.nan_to_num(reading.values)
    high = np.where(np.isnan(reading.values), np.inf, reading.values)
    for place, found in enumerate(between):
        if ranges[place] and found is not None:
            low[place], high[place] = (float(found[1] or 0.0), float(found[2] or np.inf))
    if reading.bad.any() or (low < 0).any() or (low > high).any():
        raise ValueError(
            f"{option} must hold costs >= 0, ranges such as 3..20, or nothing where a cost is not "
            "known"
        )
    return low.tolist(), high.tolist()


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
