"""Reduce models to the parts that predictions need and that a file can hold."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from pathlib import PurePath
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ecselm._typing import AnyArray
from ecselm.costs import CostConstraints
from ecselm.estimators._base import ELMBase
from ecselm.estimators._ensemble import Member

Memo = dict[int, tuple[Any, Any]]  # by id: the original, kept alive, and its replacement


@dataclass(frozen=True, slots=True)
class Pairs:
    """Replacement of a dict whose keys are not all strings, as ``{("a", "b"): 10}``."""

    keys: list[Any]
    values: list[Any]


@dataclass(frozen=True, slots=True)
class Frame:
    """Replacement of a pandas DataFrame, in which costs may be given."""

    index: list[Any]
    columns: list[Any]
    values: AnyArray


@dataclass(frozen=True, slots=True)
class KnownCosts:
    """Replacement of CostConstraints, which check what they are read from."""

    text: str  # JSON
    sample_cost: AnyArray | None

    @classmethod
    def of(cls, constraints: CostConstraints) -> KnownCosts:
        """Return what is written of constraints."""
        stored = constraints.to_dict()
        return cls(json.dumps({**stored, "sample_cost": None}), constraints.sample_cost)

    @property
    def n_classes(self) -> int:
        """Return the number of classes, whose square determines the memory."""
        return len(json.loads(self.text)["classes"])

    def constraints(self) -> CostConstraints:
        """Return the constraints, or raise ValueError if these are none."""
        try:
            stored = json.loads(self.text)
            return CostConstraints.from_dict({**stored, "sample_cost": self.sample_cost})
        except (AttributeError, KeyError, IndexError, TypeError) as error:
            raise ValueError("cost constraints must be stated in full, about known classes") from (
                error
            )


def to_plain(model: Any) -> Any:
    """Return a copy of the model in the form that is written; the argument is not modified.

    The state of ``partial_fit`` (sums and rows) is omitted.

    Examples
    --------
    >>> from ecselm import ELMClassifier
    >>> model = ELMClassifier(5, random_state=0).fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    >>> model._learner_ is None, to_plain(model)._learner_ is None
    (False, True)
    """
    return _rewritten(model, _plain, {})


def from_plain(model: Any) -> Any:
    """Return the model in its original form, without the omitted state."""
    return _rewritten(model, _full, {})


def parts_of(value: Any) -> dict[Any, Any]:
    """Return the parts of a value by attribute, key or index; none for a leaf."""
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: getattr(value, one.name) for one in fields(value)}
    if isinstance(value, BaseEstimator):
        return vars(value)
    if type(value) is dict:
        return value
    if type(value) in {list, tuple}:
        return dict(enumerate(value))
    if isinstance(value, np.ndarray) and value.dtype == object:
        return dict(np.ndenumerate(value))
    return {}


def _rewritten(value: Any, rule: Callable[[Any], Any], memo: Memo) -> Any:
    """Apply ``rule`` to the value and its parts; shared objects stay shared."""
    if id(value) not in memo:
        changed = rule(value)
        parts = parts_of(changed)
        new = {name: _rewritten(part, rule, memo) for name, part in parts.items()}
        same = all(new[name] is part for name, part in parts.items())
        memo[id(value)] = value, changed if same else _with_parts(changed, new)
    return memo[id(value)][1]


def _with_parts(value: Any, parts: dict[Any, Any]) -> Any:
    if isinstance(value, dict):
        return parts
    if isinstance(value, list | tuple):
        return type(value)(parts.values())
    if isinstance(value, np.ndarray):
        copied = value.copy()
        for place, part in parts.items():
            copied[place] = part
        return copied
    made = object.__new__(type(value))  # as copy does, without calling __init__
    for name, part in parts.items():
        object.__setattr__(made, name, part)
    return made


def _plain(value: Any) -> Any:
    if isinstance(value, ELMBase) and vars(value).get("_learner_") is not None:
        return _with_parts(value, {**vars(value), "_learner_": None})
    if type(value) is dict and any(type(key) is not str for key in value):
        return Pairs(list(value), list(value.values()))
    if isinstance(value, Member):
        return tuple(value)  # a file must not have its constructor called
    if isinstance(value, CostConstraints):
        return KnownCosts.of(value)
    if isinstance(value, PurePath):
        return str(value)
    return _without_pandas(value)


def _without_pandas(value: Any) -> Any:
    pandas = sys.modules.get("pandas")  # if it was never imported, there are no frames
    if pandas is not None and isinstance(value, pandas.Index):
        return value.tolist()  # column names
    if pandas is not None and isinstance(value, pandas.DataFrame):
        return Frame(value.index.tolist(), value.columns.tolist(), value.to_numpy())
    return value


def _full(value: Any) -> Any:
    if isinstance(value, ELMBase) and (stored := vars(value).get("_members_")) is not None:
        members = tuple(Member(*one) for one in stored)
        return _with_parts(value, {**vars(value), "_members_": members})
    if isinstance(value, Pairs):
        return dict(zip(value.keys, value.values, strict=True))
    if isinstance(value, KnownCosts):
        return value.constraints()
    if isinstance(value, Frame):
        import pandas as pd  # noqa: PLC0415  slow to import

        expected = len(value.index), len(value.columns)
        if np.shape(value.values) != expected:  # pandas would repeat a number for all cells
            raise ValueError(f"a frame must have shape {expected}, got {np.shape(value.values)}")
        return pd.DataFrame(value.values, value.index, value.columns)
    return value
