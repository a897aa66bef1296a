"""The card of a model: the request, the data, and the results on test rows.

A card is stored with its model as JSON and is all that a report is made of. It holds no row of
the data.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from math import isfinite
from types import NoneType, UnionType
from typing import Any, Literal, Self, get_args, get_origin, get_type_hints

from ecselm._json import parsed_json
from ecselm._wording import all_digits, brief
from ecselm.metrics import get_metric
from ecselm.tables.schema import ColumnNote, Task

FORMAT = 4  # of cards; raised when a field changes its meaning


@dataclass(frozen=True, slots=True)
class CostColumn:
    """A column with costs by row: of a confusion, of mistakes on a class, or of any mistake."""

    name: str
    truth: str | None = None
    predicted: str | None = None


@dataclass(frozen=True, slots=True)
class RequestSummary:
    """Task, metric and costs that were requested."""

    task: Task
    target: str  # column to predict
    metric: str
    cost_constraints: tuple[str, ...]  # a sentence each
    test_share: float  # of the rows
    seed: int
    cost_columns: tuple[CostColumn, ...] = ()
    other_costs: tuple[tuple[float, ...], ...] | None = None  # of mistakes without a column
    keep: tuple[str, ...] = ()  # columns that are written beside predictions
    missing: tuple[str, ...] = ()  # words that stand for a missing value in any column
    label_case: str | None = None  # "merge" if labels that differ by case are one
    positive: str | None = None  # the class of interest


@dataclass(frozen=True, slots=True)
class ClassCount:
    """Number of rows of a class."""

    name: str
    n_train: int
    n_test: int


@dataclass(frozen=True, slots=True)
class DataSummary:
    """File, columns and classes of the data."""

    file: str  # its name, without folders
    n_train: int
    n_test: int
    columns: tuple[ColumnNote, ...]
    classes: tuple[ClassCount, ...]  # empty for regression
    notes: tuple[str, ...] = ()  # such as rows without a target, a sentence each


@dataclass(frozen=True, slots=True)
class LearnedCosts:
    """Costs used in training or in decisions; rows of the matrix are the truth.

    Stated costs are those of :class:`Evaluation`: these are what the model made of them.
    """

    class_costs: tuple[float, ...]
    matrix: tuple[tuple[float, ...], ...]
    sentences: tuple[str, ...]  # "a malignant case taken for benign is treated as 6.3 times ..."
    keeps_prior: bool
    gain: float | None  # over prior costs, on validation rows
    gain_std_error: float | None
    decides: bool = False  # costs act on decisions, and do not weight training rows
    # Of class_costs, 95 %, by bootstrap samples of the validation rows; None of other models.
    intervals: tuple[tuple[float, ...], ...] | None = None


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an ensemble: a kernel on scaled inputs, with its C."""

    kernel: str
    inputs: str | None  # scale of the inputs, None as they are
    width: float  # of the kernel, relative to the spread of the inputs
    C: float
    squared_error: float  # leave-one-out, on targets of -1 and 1 for classes


@dataclass(frozen=True, slots=True)
class SearchSummary:
    """History of the cost search; greater fitness is better."""

    generation: tuple[int, ...]
    best: tuple[float, ...]
    mean: tuple[float, ...]
    n_evaluations: int
    seconds: float
    interrupted: bool = False


@dataclass(frozen=True, slots=True)
class Estimate:
    """A share with its 95 % bootstrap interval."""

    name: str
    value: float
    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True)
class Curve:
    """Points of a curve, and the area under it."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    area: float | None = None


PromiseStatus = Literal["shown", "open", "broken"]  # by the interval of rows: holds, or not


@dataclass(frozen=True, slots=True)
class GroupPromise:
    """What rows that chose nothing show about a promise."""

    observed: Estimate  # the recall, or the rate, with the exact interval (Clopper and Pearson)
    n_failures: int
    status: PromiseStatus


@dataclass(frozen=True, slots=True)
class GroupResult:
    """Results on the test rows of one group, such as one hospital."""

    name: str
    n: int  # test rows
    recalls: tuple[Estimate, ...]  # of the classes that the group has
    mean_cost: Estimate | None  # by the stated costs, with Student's interval
    n_settled: int | None  # answers that do not depend on unknown costs
    promises: tuple[GroupPromise, ...] = ()  # those kept whose class the group has


@dataclass(frozen=True, slots=True)
class Difference:
    """Paired difference in a metric on the test rows, positive if the first of two leads."""

    value: float
    low: float | None  # of the interval; None where too few rows carry the difference
    high: float | None
    beyond_chance: bool  # whether the interval excludes 0


@dataclass(frozen=True, slots=True)
class UnknownCosts:
    """Answers to test rows that depend on costs which are not known."""

    n: int  # test rows
    n_settled: int  # answers that are the best for all possible costs
    mean_regret: float  # of the others: what they may cost more than the best
    largest_regret: float
    assumed: float | None = None  # ratio of two costs that is supposed where none are stated
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Asking:
    """Test rows that are left to a person, and what this saves."""

    n: int  # test rows
    n_asked: int
    n_wrong: int  # of the asked rows whose best class is not the true one
    mean_cost: float  # of a row
    mean_cost_without: float  # if every row had the best class as its answer
    saved: Difference  # per row
    by_class: tuple[int, ...]  # asked rows of each true class
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """Decisions on the test rows by other costs: what is caught, missed and a false alarm."""

    name: str
    factor: float | None  # of the costs of mistakes on the class, where only these differ
    n_caught: int  # rows of the class that are recognised
    n_missed: int
    n_alarms: int  # rows of other classes that are taken for it
    n_wrong: int  # rows of any class
    mean_cost: float | None  # by the stated costs


@dataclass(frozen=True, slots=True)
class OperatingPoints:
    """What other costs of mistakes on one class would change on the test rows."""

    class_name: str  # the one of interest, or whose mistakes cost most
    n: int  # test rows
    points: tuple[OperatingPoint, ...]  # the model, and others with names
    walk: tuple[OperatingPoint, ...]  # from the lowest to the highest factor


@dataclass(frozen=True, slots=True)
class BenefitLine:
    """Benefits of one way to decide at every point, and the lead of the model over it."""

    name: str
    values: tuple[float, ...]
    low: tuple[float | None, ...] = ()  # of the lead; None where too few rows carry it
    high: tuple[float | None, ...] = ()


@dataclass(frozen=True, slots=True)
class DecisionCurves:
    """What decisions on the test rows gain over constant answers.

    With two classes, points are thresholds and benefits are net benefits; with more, points are
    factors of the costs of mistakes on one class and benefits are costs saved per row.
    """

    class_name: str
    unit: Literal["net benefit", "cost saved"]
    points: tuple[float, ...]
    model: BenefitLine
    baselines: tuple[BenefitLine, ...]
    references: tuple[BenefitLine, ...]  # constant answers
    stated: int | None = None  # the point that is the nearest to stated costs
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Loss:
    """Loss by permuting a column on some rows, with its 95 % interval."""

    value: float  # positive if the model needs the column
    low: float | None  # None where too few rows carry it
    high: float | None


@dataclass(frozen=True, slots=True)
class ColumnImportance:
    """What a column is worth to the model."""

    name: str
    whole: Loss  # on all rows
    not_settled: Loss | None = None  # on rows whose best answer depends on unknown costs


@dataclass(frozen=True, slots=True)
class Importances:
    """What columns are worth on test rows, in the unit of a metric."""

    metric: str
    n: int  # test rows that were used
    n_not_settled: int
    n_columns: int  # of the table
    columns: tuple[ColumnImportance, ...]  # the most important first


@dataclass(frozen=True, slots=True)
class PromiseResult:
    """A recall, or a rate of one class taken for another, that was to be promised."""

    truth: str
    predicted: str | None  # None: a recall
    asked: float
    confidence: float
    kept: bool  # whether the rows that tested it in the fit show it; else nothing is promised
    n_cases: int  # that tested it
    n_failures: int
    bound: float  # at the confidence: a recall is at least, a rate at most this
    threshold: float | None = None  # of the probability of the second of two classes
    factor: float | None = None  # by which mistakes on the class became more expensive
    interval: tuple[float, ...] | None = None  # of these, 95 %, by bootstrap
    observed: Estimate | None = None  # on test rows, with the exact interval
    status: PromiseStatus = "open"  # by this interval
    sentence: str = ""

    @property
    def subject(self) -> str:
        """Return what is promised, without the number."""
        if self.predicted is None:
            return f"recall of {self.truth}"
        return f"rate of {self.truth} taken for {self.predicted}"

    @property
    def in_words(self) -> str:
        """Return what is promised."""
        side = "least" if self.predicted is None else "most"
        return f"a {self.subject} of at {side} {all_digits(self.asked)}"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Results of a model on test rows.

    Of rows that are left to a person, the best class counts, except in ``asking``.
    """

    scores: dict[str, float]  # by metric, see Metric.greater_is_better
    confusion: tuple[tuple[int, ...], ...] = ()  # rows are the truth
    # Stated costs by confusion: of half-known ones, and of costs by row, the mean.
    cost_matrix: tuple[tuple[float, ...], ...] | None = None
    total_cost: float | None = None  # by stated costs
    recalls: tuple[Estimate, ...] = ()
    roc: tuple[Curve, ...] = ()  # of each class against the others; of two classes one
    precision_recall: tuple[Curve, ...] = ()
    reliability: Curve | None = None  # observed over predicted; area: expected calibration error
    cumulative: Curve | None = None  # share of rows within an error, for regression
    cost_low: tuple[tuple[float, ...], ...] | None = None  # least possible costs, if half known
    cost_high: tuple[tuple[float, ...], ...] | None = None  # greatest possible costs
    unknown: UnknownCosts | None = None  # for classes
    asking: Asking | None = None
    operating: OperatingPoints | None = None  # for classes
    benefit: DecisionCurves | None = None  # for classes, where there are probabilities
    importance: Importances | None = None
    promises: tuple[PromiseResult, ...] = ()
    by: str | None = None  # column by whose values groups are formed
    groups: tuple[GroupResult, ...] = ()  # the largest first


@dataclass(frozen=True, slots=True)
class Baseline:
    """A simpler model on the same test rows."""

    name: str
    scores: dict[str, float]
    confusion: tuple[tuple[int, ...], ...] = ()
    total_cost: float | None = None
    difference: Difference | None = None  # None where the metric is not defined


@dataclass(frozen=True, slots=True)
class CostAnswer:
    """A question about costs, and what was answered."""

    question: str
    answer: str
    by: str | None
    when: str  # ISO time
    settled: float  # share of rows whose best answer does not depend on unknown costs after it
    regret: float  # that is left; 1 is what deciding without a model costs
    sentence: str  # what it says about costs


@dataclass(frozen=True, slots=True)
class RecordedRows:
    """True classes and probabilities of test rows, without their inputs.

    By these, other costs are evaluated without a file.
    """

    codes: tuple[int, ...]  # positions of classes
    probabilities: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class Card:
    """Request, data and results of a model.

    Examples
    --------
    >>> request = RequestSummary("classes", "diagnosis", "gmean", (), 0.25, 0)
    >>> card = Card(request, DataSummary("a.csv", 3, 1, (), ()), Evaluation({"gmean": 1.0}))
    >>> Card.from_json(card.to_json()) == card
    True
    """

    request: RequestSummary
    data: DataSummary
    test: Evaluation
    learned: LearnedCosts | None = None
    search: SearchSummary | None = None
    baselines: tuple[Baseline, ...] = ()
    warnings: tuple[str, ...] = ()  # a sentence or two each
    settings: dict[str, str] = field(default_factory=dict)  # parameters, as Python writes them
    versions: dict[str, str] = field(default_factory=dict)
    command: str = ""  # that reproduces the model
    members: tuple[Member, ...] = ()  # of the ensemble, the best first; none of one layer
    made_on: str = ""  # ISO date
    answers: tuple[CostAnswer, ...] = ()  # to questions about costs, after the fit
    rows: RecordedRows | None = None  # some or all test rows, where classes have probabilities
    refitted: bool = False  # whether the saved model was fitted again, on training and test rows

    def has_learned_costs(self) -> bool:
        """Tell whether costs were searched, used or not: metrics of probabilities have none."""
        if self.search is None:
            searched = self.learned is not None and self.learned.gain is not None
        else:
            searched = self.search.n_evaluations > 0
        return searched and self.settings.get("keep_prior") != repr("always")

    def best_baseline(self) -> Baseline | None:
        """Return the best baseline by the requested metric, the first of equals."""
        metric = get_metric(self.request.metric)
        known = [one for one in self.baselines if metric.name in one.scores]
        if not known:
            return None
        return max(known, key=lambda one: metric.advantage(one.scores[metric.name], 0.0))

    def to_json(self, *, rows: bool = True) -> str:
        """Return the card as JSON, with or without what it holds of single rows."""
        card = self if rows else replace(self, rows=None)
        return json.dumps({"format": FORMAT, **asdict(card)}, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read a card from JSON, or raise ValueError."""
        try:
            return _read(cls, _of_this_format(parsed_json(text)))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"the card of the model cannot be read: {brief(str(error), 300)}"
            ) from error


def _of_this_format(stored: dict[str, Any]) -> dict[str, Any]:
    if stored.pop("format") != FORMAT:
        raise ValueError(f"its format must be {FORMAT}")
    return stored


def _read(kind: Any, stored: Any) -> Any:
    """Return the stored value as an instance of ``kind``."""
    if isinstance(kind, type) and is_dataclass(kind):
        hints = get_type_hints(kind)
        known = {one.name for one in fields(kind)}
        if unknown := set(stored) - known:
            raise ValueError(f"unknown {', '.join(sorted(unknown))}")
        return kind(**{name: _read(hints[name], value) for name, value in stored.items()})
    if isinstance(kind, UnionType):
        return None if stored is None else _read(_not_none(kind), stored)
    if get_origin(kind) is tuple:
        return tuple(_read(get_args(kind)[0], one) for one in stored)
    if get_origin(kind) is dict:
        return {str(name): _read(get_args(kind)[1], value) for name, value in stored.items()}
    return _plain(kind, stored)


def _plain(kind: Any, stored: Any) -> Any:
    allowed = get_args(kind) if get_origin(kind) is Literal else None
    if allowed is not None and stored not in allowed:
        raise ValueError(f"{stored!r:.80} must be one of {allowed}")
    expected = (int, float) if kind is float else (str if allowed is not None else kind)
    if not isinstance(stored, expected):
        raise TypeError(f"{stored!r:.80} must be of type {kind}")
    if isinstance(stored, float) and not isfinite(stored):
        raise ValueError(f"{stored!r} must be a finite number")
    return stored


def _not_none(kind: UnionType) -> Any:
    return next(one for one in get_args(kind) if one is not NoneType)
