"""Budget, splits, prepared rows and the protocol that joins them."""

from __future__ import annotations

import io
import time
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from zipfile import BadZipFile

import numpy as np

from ecselm._files import make_folder, write_whole
from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.paper.datasets import Dataset
from ecselm.paper.datasets.dataset import Folds
from ecselm.paper.jobs import Measurement

MINIMUM = {
    "repeats": 1,
    "sensitive": 1,
    "most_rows": 60,
    "most_cases": 1,
    "folds": 2,
    "population": 6,
    "components": 1,
    "iterations": 1,
}


@dataclass(frozen=True, slots=True)
class Budget:
    """Size of a run.

    Parameters
    ----------
    repeats : int, default=10
        Random splits, where the protocol draws them.
    sensitive : int, default=2
        Splits of figures 11 and 12.
    most_rows : int or None, default=None
        Approximate number of rows of a case; None is as many as the paper uses.
    most_cases : int or None, default=None
        Number of data sets of an item, evenly chosen; None is all.
    tuned : bool, default=True
        Whether main parameters are tuned on the training rows.
    folds : int, default=3
        Folds of that tuning.
    population : int or None, default=None
        Size and epochs of evolutionary searches; None leaves them to the methods.
    components : int or None, default=None
        Principal components of the pictures of pairs, for the five similarities and for
        metric learners; None leaves them, too.
    iterations : int or None, default=None
        Most iterations of metric learners; None leaves them, too.

    Examples
    --------
    >>> Budget(repeats=0)
    Traceback (most recent call last):
        ...
    ValueError: repeats must be at least 1, got 0
    """

    repeats: int = 10
    sensitive: int = 2
    most_rows: int | None = None
    most_cases: int | None = None
    tuned: bool = True
    folds: int = 3
    population: int | None = None
    components: int | None = None
    iterations: int | None = None

    def __post_init__(self) -> None:
        for name, minimum in MINIMUM.items():
            value = getattr(self, name)
            if value is not None and value < minimum:
                raise ValueError(f"{name} must be at least {minimum}, got {value}")


FULL = Budget()
QUICK = Budget(
    repeats=2,
    sensitive=1,
    most_rows=180,
    most_cases=12,
    tuned=False,
    population=6,
    components=30,
    iterations=30,
)


Splits = Callable[[Dataset, Budget, int], Folds]


def random_splits(n_train: int, n_test: int) -> Splits:
    """Return a function that draws ``repeats`` splits of these sizes, smaller where rows are few.

    Examples
    --------
    >>> from ecselm.paper.datasets import make_m2b_like
    >>> folds = random_splits(400, 220)(make_m2b_like(random_state=0), Budget(repeats=2), 0)
    >>> [(len(train), len(test)) for train, test in folds]
    [(400, 220), (400, 220)]
    """

    def splits(data: Dataset, budget: Budget, seed: int) -> Folds:
        n = min(len(data.X), n_train + n_test, budget.most_rows or len(data.X))
        n_first = round(n * n_train / (n_train + n_test))
        orders = [
            rng.permutation(len(data.X))[:n] for rng in repeat_generators(budget.repeats, seed)
        ]
        return tuple((np.sort(order[:n_first]), np.sort(order[n_first:])) for order in orders)

    return splits


def halves(data: Dataset, budget: Budget, seed: int) -> Folds:
    """Return ``repeats`` times two folds, each of which is the training and the test set once.

    Examples
    --------
    >>> from ecselm.paper.datasets import make_m2b_like
    >>> folds = halves(make_m2b_like(target="score", random_state=0), Budget(repeats=3), 0)
    >>> len(folds), len(folds[0][0])
    (6, 310)
    """
    n = min(len(data.X), budget.most_rows or len(data.X))
    folds: list[tuple[IntArray, IntArray]] = []
    for rng in repeat_generators(budget.repeats, seed):
        order = rng.permutation(len(data.X))[:n]
        first, second = np.sort(order[: n // 2]), np.sort(order[n // 2 :])
        folds += [(first, second), (second, first)]
    return tuple(folds)


def shares_of_classes(numerator: int, denominator: int) -> Splits:
    """Return a function that draws this share of every class, rounded down, as training rows.

    Examples
    --------
    >>> from ecselm.paper.datasets import make_enose_like
    >>> data = make_enose_like(random_state=0)
    >>> train, test = shares_of_classes(2, 3)(data, Budget(repeats=1), 0)[0]
    >>> np.bincount(data.y[test]).tolist()
    [63, 24, 22, 20, 20, 13]
    """

    def splits(data: Dataset, budget: Budget, seed: int) -> Folds:
        return tuple(_drawn(data, budget, rng) for rng in repeat_generators(budget.repeats, seed))

    def _drawn(
        data: Dataset, budget: Budget, rng: np.random.Generator
    ) -> tuple[IntArray, IntArray]:
        rows = subsample(np.arange(len(data.y)), data.y, budget.most_rows, rng)
        train = []
        for label in np.unique(data.y):
            own = rng.permutation(rows[data.y[rows] == label])
            train.append(own[: numerator * len(own) // denominator])
        chosen = np.sort(np.concatenate(train))
        return chosen, np.setdiff1d(rows, chosen)

    return splits


def given_folds(data: Dataset, budget: Budget, seed: int) -> Folds:
    """Return the folds of the source.

    With ``most_rows`` the first ``repeats`` folds only, subsampled.
    """
    folds = data.folds or ()
    if budget.most_rows is None:
        return folds
    rng = np.random.default_rng(seed)
    n = budget.most_rows
    return tuple(
        (subsample(train, data.y, 2 * n // 3, rng), subsample(test, data.y, n // 3, rng))
        for train, test in folds[: budget.repeats]
    )


def subsample(rows: IntArray, y: AnyArray, most: int | None, rng: np.random.Generator) -> IntArray:
    """Return at most about ``most`` of the rows, the same share of every class.

    At least six rows of every class are kept, or tuning on the training rows would fail.
    """
    if most is None or len(rows) <= most:
        return rows
    kept = []
    for label in np.unique(y[rows]):
        own = rows[y[rows] == label]
        n = min(len(own), max(6, round(len(own) * most / len(rows))))
        kept.append(rng.permutation(own)[:n])
    return np.sort(np.concatenate(kept))


def repeat_generators(repeats: int, seed: int) -> list[np.random.Generator]:
    """Return a random generator per repeat; the first do not depend on the number of repeats."""
    return np.random.default_rng(seed).spawn(repeats)


Prepare = Callable[[FloatArray, AnyArray, FloatArray, Budget], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True, slots=True)
class PreparedRows:
    """Training and test rows, and the time to prepare them."""

    train: FloatArray
    test: FloatArray
    seconds: float


def prepare_rows(
    prepare: Prepare,
    X: FloatArray,
    y: AnyArray,
    X_test: FloatArray,
    budget: Budget,
    path: Path | None,
) -> PreparedRows:
    """Return the rows that ``prepare`` returns, from a file if there is one.

    Parameters
    ----------
    prepare : callable
        Function of training rows, their labels, test rows and the budget.
    X, y, X_test : arrays
    budget : Budget
    path : path or None
        File of plain numbers; one that cannot be read is written again.

    Returns
    -------
    PreparedRows

    Examples
    --------
    >>> def centred(X, y, X_test, budget):
    ...     return X - X.mean(axis=0), X_test - X.mean(axis=0)
    >>> rows = np.array([[1.0], [3.0]])
    >>> prepare_rows(centred, rows, np.arange(2), rows + 1.0, QUICK, None).test.tolist()
    [[0.0], [2.0]]
    """
    cached = None if path is None else _read(path, len(X), len(X_test))
    if cached is not None:
        return cached
    start = time.perf_counter()
    train, test = prepare(X, y, X_test, budget)
    made = PreparedRows(train, test, time.perf_counter() - start)
    if path is not None and train is not X:  # rows that were left as they are need no copy
        _write(path, made)
    return made


def _read(path: Path, n_train: int, n_test: int) -> PreparedRows | None:
    try:
        # From memory: NumPy leaves the file open where it is no archive.
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            found = PreparedRows(file["train"], file["test"], float(file["seconds"]))
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return None
    return found if (len(found.train), len(found.test)) == (n_train, n_test) else None


def _write(path: Path, made: PreparedRows) -> None:
    buffer = io.BytesIO()
    np.savez(buffer, train=made.train, test=made.test, seconds=np.float64(made.seconds))
    make_folder(path.parent, name="output")
    write_whole(path, buffer.getvalue())


Origin = Literal["paper", "own", "public", "synthetic"]
ORIGINS: tuple[Origin, ...] = ("paper", "own", "public", "synthetic")  # nearest to the paper first
Evaluate = Callable[[Any, FloatArray, AnyArray, Dataset], tuple[Measurement, ...]]
Load = Callable[[], Dataset]


@dataclass(frozen=True, slots=True)
class Case:
    """One data set of a protocol: a line of its tables."""

    name: str  # in the paper's tables
    origin: Origin  # the paper's data, own ones in their layout, public ones, or a stand-in
    load: Load


@dataclass(frozen=True, slots=True)
class CaseInfo:
    """Facts about the data of a case that its jobs are planned with."""

    label: str  # the name, with that of the data where they are not the paper's
    origin: Origin
    source: str
    checksum: str  # of rows, labels and costs
    splits: str  # checksum of the rows of all splits
    n_splits: int


@dataclass(frozen=True, slots=True)
class Protocol:
    """Data, splits and evaluation that some tables and figures share.

    Parameters
    ----------
    name : str
    task : {"classification", "regression", "pairs"}
        Task in the registry of methods.
    cases : callable
        Return the cases with the best available data.
    splits : callable
        Return the splits for data, budget and seed; the same for all methods.
    evaluate : callable
        Return the measurements of a fitted model on test rows, their labels and the data.
    before : callable
        Return a transformer that is fitted on training rows, or None.
    prepare : callable or None, default=None
        Transform rows once for all methods, before ``before``.
    params : mapping, default={}
        Parameters of those methods that have them.
    scoring : str or None, default=None
        Metric that parameters and costs are tuned for. None is the method's own score. With
        ``"mean_cost"`` methods get the costs of the data, or those of ``cost``.
    cost : callable or None, default=None
        Return the costs of classes, for methods that take costs; methods that search costs
        get them only where ``scoring`` is ``"mean_cost"``.
    folds : int or None, default=None
        Folds of the tuning, where fits are slow; None is the budget's.
    relabel : callable or None, default=None
        Return the data with the labels of a split, given data, seed and the number of the
        split, where labels are drawn with the split.
    groups : callable or None, default=None
        Return the group of every row (N,), given the same. Parameters are tuned and costs
        learned in folds that keep groups whole. None has no groups.
    """

    name: str
    task: Literal["classification", "regression", "pairs"]
    cases: Callable[[], tuple[Case, ...]]
    splits: Splits
    evaluate: Evaluate
    before: Callable[[], Any]
    prepare: Prepare | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    scoring: str | None = None
    cost: Callable[[AnyArray], AnyArray] | None = None
    folds: int | None = None
    relabel: Callable[[Dataset, int, int], Dataset] | None = None
    groups: Callable[[Dataset, int, int], AnyArray] | None = None


def first_available(
    name: str,
    paper: Load | None,
    public: Load | None,
    synthetic: Load | None,
) -> Case | None:
    """Return a case on the first of these data that are available, or None.

    Only a missing file leads to the next: a damaged one is an error, and not silently replaced.

    Parameters
    ----------
    name : str
        The name in the paper's tables.
    paper, public, synthetic : callable or None
        Loaders of files in the layout of the paper's data, of public data and of the stand-in.
        What the first calls ``own`` is not called the paper's.

    Examples
    --------
    >>> from functools import partial
    >>> from ecselm.paper.datasets import load_enose, make_enose_like
    >>> paper = partial(load_enose, folder="no-such-folder")
    >>> first_available("E-NOSE", paper, None, partial(make_enose_like, random_state=0)).origin
    'synthetic'
    """
    tried: tuple[tuple[Origin, Load | None], ...] = (
        ("paper", paper),
        ("public", public),
        ("synthetic", synthetic),
    )
    for origin, load in tried:
        data = None if load is None else _available(load)
        if load is not None and data is not None:
            return Case(name, "own" if data.own else origin, load)
    return None


def _available(load: Load) -> Dataset | None:
    try:
        return load()
    except FileNotFoundError:
        return None


def case_info(case: Case, data: Dataset, splits: Folds) -> CaseInfo:
    """Return the facts of a case for the plan and the record of a run."""
    given = [data.X, data.y, *(cost for cost in (data.cost, data.sample_cost) if cost is not None)]
    rows = checksum(given)
    return CaseInfo(
        _label(case, data),
        case.origin,
        data.source,
        rows,
        checksum([part for split in splits for part in split]),
        len(splits),
    )


def _label(case: Case, data: Dataset) -> str:
    """Return the name of the case, with that of its data where they are not the paper's."""
    if case.origin == "own":  # of which nothing is known but their sizes
        kind = "pairs" if data.X.ndim == 3 else "rows"
        classes = "" if data.classes is None else f", {len(data.classes)} classes"
        size = f"{len(data.X)} {kind}, {data.X.shape[-1]} features{classes}"
        return f"{case.name}: own data ({size})"
    if case.origin == "paper" or case.name == data.name:
        return case.name
    mark = " (SYNTHETIC)" if case.origin == "synthetic" else ""
    return f"{case.name}: {data.name}{mark}"


def checksum(arrays: Iterable[AnyArray]) -> str:
    """Return the CRC-32 of the bytes of arrays."""
    check = 0
    for array in arrays:
        check = zlib.crc32(np.ascontiguousarray(array).tobytes(), check)
    return f"{check:08x}"
