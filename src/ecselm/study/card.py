"""What is known of a model: what was asked, on which data, and how it did on rows held out.

A card travels with its model as JSON and is all that a report is made of. It holds no row of
the data.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Self, get_args, get_origin, get_type_hints

from ecselm.tables.schema import ColumnNote, Task

FORMAT = 1  # of cards; raised when a field changes its meaning


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person has asked for."""

    task: Task
    target: str  # the column to be predicted
    metric: str
    knowledge: tuple[str, ...]  # what was said of costs, a sentence each
    held_out: float  # share of the rows
    seed: int


@dataclass(frozen=True, slots=True)
class ClassCount:
    """A class and its rows."""

    name: str
    n_train: int
    n_held_out: int


@dataclass(frozen=True, slots=True)
class DataGlance:
    """The data at a glance."""

    file: str  # its name, without folders
    n_train: int
    n_held_out: int
    columns: tuple[ColumnNote, ...]
    classes: tuple[ClassCount, ...]  # none where numbers are predicted
    notes: tuple[str, ...] = ()  # rows left out and the like, a sentence each


@dataclass(frozen=True, slots=True)
class Learned:
    """Costs learned; rows of the matrix are the truth."""

    class_costs: tuple[float, ...]
    matrix: tuple[tuple[float, ...], ...]
    words: tuple[str, ...]  # "a missed malignant case is treated as 6.3 times as bad as ..."
    keeps_prior: bool
    gain: float | None  # over prior costs, on rows not trained on
    gain_noise: float | None


@dataclass(frozen=True, slots=True)
class Progress:
    """How the search went; greater fitness is better."""

    generation: tuple[int, ...]
    best: tuple[float, ...]
    mean: tuple[float, ...]
    n_evaluations: int
    seconds: float
    interrupted: bool = False


@dataclass(frozen=True, slots=True)
class Estimate:
    """A share, with an interval that holds 95 % of bootstrap samples."""

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


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Results on rows that nothing was learned from."""

    scores: dict[str, float]  # by metric; greater is better but for costs, mae and rmse
    confusion: tuple[tuple[int, ...], ...] = ()  # rows are the truth
    stated_costs: tuple[tuple[float, ...], ...] | None = None  # of the person, by confusion
    total_cost: float | None = None  # by stated costs
    recalls: tuple[Estimate, ...] = ()
    roc: tuple[Curve, ...] = ()  # of each class against the others; of two classes one
    precision_recall: tuple[Curve, ...] = ()
    reliability: Curve | None = None  # told against observed; area: expected calibration error
    cumulative: Curve | None = None  # share of rows within an error, where numbers are predicted


@dataclass(frozen=True, slots=True)
class Compared:
    """A plainer model on the same rows."""

    name: str
    scores: dict[str, float]
    confusion: tuple[tuple[int, ...], ...] = ()
    total_cost: float | None = None


@dataclass(frozen=True, slots=True)
class Card:
    """All that is known of a model.

    Examples
    --------
    >>> asked = Asked("classes", "diagnosis", "gmean", (), 0.25, 0)
    >>> card = Card(asked, DataGlance("a.csv", 3, 1, (), ()), HeldOut({"gmean": 1.0}))
    >>> Card.from_json(card.to_json()) == card
    True
    """

    asked: Asked
    data: DataGlance
    held_out: HeldOut
    learned: Learned | None = None
    progress: Progress | None = None
    compared: tuple[Compared, ...] = ()
    warnings: tuple[str, ...] = ()  # in the reader's language, a sentence or two each
    settings: dict[str, str] = field(default_factory=dict)  # parameters, as Python writes them
    versions: dict[str, str] = field(default_factory=dict)
    command: str = ""  # that makes the model again

    def to_json(self) -> str:
        """Return the card as JSON."""
        return json.dumps({"format": FORMAT, **asdict(self)}, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read a card; what is no card is refused."""
        try:
            return _read(cls, _of_this_format(json.loads(text)))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"the card of the model cannot be read: {error}") from error


def _of_this_format(stored: dict[str, Any]) -> dict[str, Any]:
    if stored.pop("format") != FORMAT:
        raise ValueError(f"its format must be {FORMAT}")
    return stored


def _read(kind: Any, stored: Any) -> Any:
    """Return what was stored as the type it had."""
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
        raise ValueError(f"{stored!r} must be one of {allowed}")
    expected = (int, float) if kind is float else (str if allowed is not None else kind)
    if not isinstance(stored, expected):
        raise TypeError(f"{stored!r} must be of type {kind}")
    return stored


def _not_none(kind: UnionType) -> Any:
    return next(one for one in get_args(kind) if one is not NoneType)
