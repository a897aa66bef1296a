"""What a protocol of the paper is: data, splits, and how answers are judged."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from ecselm._typing import AnyArray, FloatArray
from ecselm.paper.datasets import Dataset
from ecselm.paper.datasets.dataset import Folds
from ecselm.paper.protocols.prepared import Prepare
from ecselm.paper.protocols.splits import Splits
from ecselm.paper.protocols.store import Measured

Origin = Literal["paper", "public", "synthetic"]
Judge = Callable[[Any, FloatArray, AnyArray, Dataset], tuple[Measured, ...]]
Load = Callable[[], Dataset]


@dataclass(frozen=True, slots=True)
class Case:
    """One data set of a protocol: a line of its tables."""

    name: str  # as the paper's tables have it
    origin: Origin  # the paper's data, the nearest public ones, or a stand-in
    load: Load


@dataclass(frozen=True, slots=True)
class Known:
    """What has to be known of the data of a case before its jobs can be planned."""

    label: str  # the name, with what the data are where they are not the paper's
    origin: Origin
    source: str
    checksum: str  # of rows, labels and costs
    splits: str  # checksum of the rows of all splits
    n_splits: int


@dataclass(frozen=True, slots=True)
class Protocol:
    """Data, splits and judgement that some tables and figures share.

    Parameters
    ----------
    name : str
    task : {"classification", "regression", "pairs"}
        Of the registry of methods.
    cases : callable
        Returns the cases with the best data there are.
    splits : callable
        Of data, budget and seed; never of a method.
    judge : callable
        Of a fitted model, test rows, their labels and the data they are of.
    before : callable
        Returns what rows go through first, fitted on training rows, or None.
    prepare : callable or None, default=None
        What is learned from training rows once for all methods, before ``before``.
    params : mapping, default={}
        Parameters that methods get which have them.
    scoring : str or None, default=None
        What is to be good: parameters and costs are chosen for it. None is the method's own
        score. With ``"mean_cost"`` methods are told the costs of the data, or those of
        ``cost``.
    cost : callable or None, default=None
        A rule for costs, which methods are told that take costs and, unless they are what
        is to be good, do not search them.
    folds : int or None, default=None
        In which parameters are chosen, where learning takes long; None is the budget's.
    relabel : callable or None, default=None
        Of data, seed and the number of a split: the data with the labels that they have in
        it, where these are drawn with the split.
    groups : callable or None, default=None
        Of the same: what every row (N,) belongs to. Parameters are chosen, and costs learned,
        in folds that part no group. None parts rows as it comes.
    """

    name: str
    task: Literal["classification", "regression", "pairs"]
    cases: Callable[[], tuple[Case, ...]]
    splits: Splits
    judge: Judge
    before: Callable[[], Any]
    prepare: Prepare | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    scoring: str | None = None
    cost: Callable[[AnyArray], AnyArray] | None = None
    folds: int | None = None
    relabel: Callable[[Dataset, int, int], Dataset] | None = None
    groups: Callable[[Dataset, int, int], AnyArray] | None = None


def found_case(
    name: str, paper: Load | None, public: Load | None, synthetic: Load | None
) -> Case | None:
    """Return a case on the first of these data that there are, or None.

    Only a missing file lets the next be tried: one that is damaged is an error, and not
    silently replaced.

    Examples
    --------
    >>> from functools import partial
    >>> from ecselm.paper.datasets import load_enose, make_enose_like
    >>> paper = partial(load_enose, folder="no-such-folder")
    >>> found_case("E-NOSE", paper, None, partial(make_enose_like, random_state=0)).origin
    'synthetic'
    """
    tried: tuple[tuple[Origin, Load | None], ...] = (
        ("paper", paper),
        ("public", public),
        ("synthetic", synthetic),
    )
    for origin, load in tried:
        if load is not None and _is_there(load):
            return Case(name, origin, load)
    return None


def _is_there(load: Load) -> bool:
    try:
        load()
    except FileNotFoundError:
        return False
    return True


def described(case: Case, data: Dataset, splits: Folds) -> Known:
    """Return what the plan and the record of a run say of a case."""
    itself = case.origin == "paper" or case.name == data.name
    mark = " (SYNTHETIC)" if case.origin == "synthetic" else ""
    label = case.name if itself else f"{case.name}: {data.name}{mark}"
    given = [data.X, data.y, *(cost for cost in (data.cost, data.sample_cost) if cost is not None)]
    rows = _checksum(given)
    return Known(
        label,
        case.origin,
        data.source,
        rows,
        _checksum([part for split in splits for part in split]),
        len(splits),
    )


def _checksum(arrays: Iterable[AnyArray]) -> str:
    check = 0
    for array in arrays:
        check = zlib.crc32(np.ascontiguousarray(array).tobytes(), check)
    return f"{check:08x}"
