"""Reproduce one item of the paper: plan its jobs, run them, write its files."""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.validation import has_fit_parameter
from threadpoolctl import threadpool_limits

import ecselm
from ecselm._files import make_folder, write_whole
from ecselm._typing import AnyArray, FloatArray
from ecselm.estimators import FewCasesWarning, NoFiniteFitnessError
from ecselm.layers import SaturationWarning
from ecselm.metrics import get_scorer
from ecselm.paper.datasets import Dataset
from ecselm.paper.datasets.dataset import Folds, data_root
from ecselm.paper.jobs import JobResult, Journal, Measurement, Row, read_rows, run_jobs, write_rows
from ecselm.paper.jobs import check_run as check_seed_and_jobs
from ecselm.paper.methods import Method, find_method, get_method, tuned_method
from ecselm.paper.protocols.beside import beside_table, published_table
from ecselm.paper.protocols.figures import draw
from ecselm.paper.protocols.items import Item, Part, Setting, find_item
from ecselm.paper.protocols.layout import (
    Table,
    column_notes,
    layout_table,
    significance_table,
)
from ecselm.paper.protocols.printed import CHOICE_SIZE, SequentialSearchCV
from ecselm.paper.protocols.protocol import (
    FULL,
    Budget,
    Case,
    CaseInfo,
    PreparedRows,
    Protocol,
    case_info,
    prepare_rows,
)
from ecselm.search import interruptible

ORIGINS = {
    "paper": "the paper's data",
    "own": "own data in the paper's layout, not the paper's",
    "public": "public data, not the paper's",
    "synthetic": "SYNTHETIC stand-in, says nothing about the paper's data",
}
# Packages that results depend on.
CODE = (
    "costs",
    "estimators",
    "fitness",
    "layers",
    "linalg",
    "metrics",
    "paper",
    "search",
    "_native",
)
MAX_NAMED = 8  # data sets to list by name; the table has all names anyway


@dataclass(frozen=True, slots=True)
class MethodJob:
    """One method on one split of one case.

    Rows that the protocol prepares for all methods are kept in the folder ``cache``, if any.
    """

    protocol: Protocol
    case: Case
    info: CaseInfo
    setting: Setting
    split: int
    seed: int
    budget: Budget
    cache: Path | None = None

    @property
    def key(self) -> str:
        """Identify the job in a journal: all that its result depends on within a run."""
        setting = self.setting
        fixed = ",".join(f"{name}={value}" for name, value in (*setting.params, *setting.fixed))
        data = f"{self.info.checksum}-{self.info.splits}"
        parts = (self.protocol.name, self.info.label, data, setting.method, fixed)
        return "|".join((*parts, str(self.split)))

    @property
    def title(self) -> str:
        """Name the job in error messages."""
        return f"{self.setting.name} on {self.info.label}, split {self.split}"

    def run(self) -> JobResult:
        """Fit on the training rows of the split and evaluate on its test rows.

        Where a parameter is set, as in figures 11 and 12, a search that meets no system it can
        solve has no results: its curve has a gap there. A choice of parameters passes over it.
        """
        protocol, data = self.protocol, self.case.load()
        train, test = protocol.splits(data, self.budget, self.seed)[self.split]
        groups = None
        if protocol.groups is not None:
            groups = protocol.groups(data, self.seed, self.split)[train]
        if protocol.relabel is not None:
            data = protocol.relabel(data, self.seed, self.split)
        y = data.y[train]
        with threadpool_limits(1), warnings.catch_warnings(), interruptible():
            ignore_expected_warnings()
            rows = self._prepared(data.X[train], y, data.X[test])
            start = time.perf_counter()
            model = self._model(rows.train, y, data, groups)
            try:
                model.fit(rows.train, y, **_group_params(model, groups))
            except NoFiniteFitnessError:
                if not self.setting.at:
                    raise
                spent = _seconds(model, rows.seconds, time.perf_counter() - start, 0.0)
                return JobResult(self.key, (), spent)
            fitted = time.perf_counter()
            measurements = protocol.evaluate(model, rows.test, data.y[test], data)
            predicted = time.perf_counter()
        seconds = _seconds(model, rows.seconds, fitted - start, predicted - fitted)
        return JobResult(self.key, measurements, seconds)

    def _prepared(self, X: FloatArray, y: AnyArray, X_test: FloatArray) -> PreparedRows:
        """Return the rows that methods get."""
        if self.protocol.prepare is None:
            return PreparedRows(X, X_test, 0.0)
        info = self.info
        name = f"{self.protocol.name}-{info.checksum}-{info.splits}-{self.split}.npz"
        path = None if self.cache is None else self.cache / name
        return prepare_rows(self.protocol.prepare, X, y, X_test, self.budget, path)

    def _model(
        self, X: FloatArray, y: AnyArray, data: Dataset, groups: AnyArray | None = None
    ) -> Any:
        """Return the method, with a search of its parameters if the budget has one."""
        before = self.protocol.before()
        method = find_method(self.setting.method, self.protocol.task)
        params = self._params(get_method(method, method.task), data)
        if self.budget.tuned and not self.setting.fixed:
            folds = self.protocol.folds or self.budget.folds
            if self.setting.grid:
                return self._sequential(method, params, before, folds)
            params.pop("scoring", None)
            return tuned_method(
                method,
                X,
                y,
                method.task,
                before=before,
                scoring=self.protocol.scoring,
                cv=folds if groups is None else group_folds(folds, y, groups),
                **params,
            )
        estimator = get_method(method, method.task, **params)
        return estimator if before is None else make_pipeline(before, estimator)

    def _sequential(self, method: Method, params: dict[str, Any], before: Any, folds: int) -> Any:
        """Return the method with parameters chosen one after the other, by short searches."""
        # One name for the method, with a transformer before it or not.
        steps = [] if before is None else [("before", before)]
        estimator = Pipeline([*steps, ("method", get_method(method, method.task, **params))])
        size = min(CHOICE_SIZE, self.budget.population or CHOICE_SIZE)
        return SequentialSearchCV(
            estimator,
            tuple((f"method__{name}", values) for name, values in self.setting.grid),
            short=dict.fromkeys(("method__population_size", "method__max_epochs"), size),
            scoring=None if self.protocol.scoring is None else get_scorer(self.protocol.scoring),
            cv=folds,
        )

    def _params(self, estimator: Any, data: Dataset) -> dict[str, Any]:
        """Return the parameters that are set rather than tuned, as far as the method has them."""
        protocol = self.protocol
        values: dict[str, Any] = {"random_state": self.seed + self.split}
        if self.budget.population is not None:
            values |= dict.fromkeys(("population_size", "max_epochs"), self.budget.population)
        if self.budget.iterations is not None and protocol.task == "pairs":
            values["max_iter"] = self.budget.iterations
        if protocol.scoring is not None:
            values["scoring"] = protocol.scoring
        values |= {**protocol.params, **dict(self.setting.params), **dict(self.setting.fixed)}
        names = estimator.get_params()
        params = {
            name: value
            for name in names
            for last, value in values.items()
            if f"__{name}".endswith(f"__{last}")
        }
        # Costs of the protocol go before those of the data, which count in the metric alone.
        by_cost = protocol.scoring == "mean_cost"
        cost = data.cost if by_cost and protocol.cost is None else protocol.cost
        return params | {name: cost for name in names if self._takes_cost(name, names)}

    def _takes_cost(self, name: str, names: Mapping[str, Any]) -> bool:
        """Tell whether a parameter is the costs of a method that has none of its own.

        Methods that search costs get them only where the metric is a cost.
        """
        if name.rpartition("__")[2] != "cost" or isinstance(names[name], str):
            return False
        by_cost = self.protocol.scoring == "mean_cost"
        return by_cost or (self.protocol.cost is not None and "cost_level" not in names)


def ignore_expected_warnings() -> None:
    """Ignore warnings that every run has.

    Searches are short. Where a class has very few rows, a fold of the tuning may lack it:
    parameters that cannot be fitted there are not chosen, and prior costs are kept. Evolved
    weights may saturate a layer, which the evaluation shows.
    """
    for category in (ConvergenceWarning, FitFailedWarning, SaturationWarning, FewCasesWarning):
        warnings.simplefilter("ignore", category)
    for message in (
        "The least populated class",
        "Only one sample available",
        "One or more of the test scores are non-finite",
        "Persisting input arguments took",
    ):
        warnings.filterwarnings("ignore", message=message)


def group_folds(n_folds: int, y: AnyArray, groups: AnyArray) -> Folds:
    """Return folds that keep groups whole and have about equal shares of every class.

    Examples
    --------
    >>> import numpy as np
    >>> y, groups = np.repeat([0, 1], 6), np.repeat(np.arange(6), 2)
    >>> [groups[test].tolist() for _, test in group_folds(3, y, groups)]
    [[0, 0, 3, 3], [1, 1, 4, 4], [2, 2, 5, 5]]
    """
    return tuple(StratifiedGroupKFold(n_folds).split(y, y, groups))


def _group_params(model: Any, groups: AnyArray | None) -> dict[str, AnyArray]:
    """Return the parameters of ``fit`` with the groups, if the method takes any."""
    estimator, prefix = getattr(model, "estimator", model), ""
    if isinstance(estimator, Pipeline):
        step, estimator = estimator.steps[-1]
        prefix = f"{step}__"
    if groups is None or not has_fit_parameter(estimator, "groups"):
        return {}
    return {f"{prefix}groups": np.asarray(groups)}


def _seconds(
    model: Any, prepared: float, fitted: float, predicted: float
) -> tuple[Measurement, ...]:
    """Return the times to prepare, to tune, to fit with the best parameters, to predict."""
    refit = getattr(model, "refit_time_", fitted)
    parts = {"prepare": prepared, "choose": fitted - refit, "learn": refit, "answer": predicted}
    return tuple(Measurement("seconds", float(value), at) for at, value in parts.items())


def plan_item(
    item: Item, budget: Budget, seed: int, cache: Path | None = None, *, synthetic: bool = True
) -> list[MethodJob]:
    """Return the jobs of an item: parts, then cases, methods and splits, in its own order.

    Parameters
    ----------
    item : Item
    budget : Budget
    seed : int
        Of the splits; seed plus split is the random state of the methods.
    cache : path or None, default=None
        Folder for rows that jobs of the same split share.
    synthetic : bool, default=True
        Whether to run on stand-ins where there are no data.

    Examples
    --------
    >>> from ecselm.paper.protocols.protocol import QUICK
    >>> [job.setting.method for job in plan_item(find_item("table-11"), QUICK, 0)][:3]
    ['SVM', 'SVM', 'PCA-SVM']
    """
    return [
        replace(job, cache=cache)
        for part in item.parts
        for job in _part_jobs(part, budget, seed)
        if synthetic or job.info.origin != "synthetic"
    ]


def _part_jobs(part: Part, budget: Budget, seed: int) -> Iterator[MethodJob]:
    protocol = part.protocol
    for case in _evenly(_part_cases(part), budget.most_cases):
        data = case.load()
        info = case_info(case, data, protocol.splits(data, budget, seed))
        for setting in part.settings:
            method = str(find_method(setting.method, protocol.task).name)
            named = replace(setting, method=method)
            # Few splits show how sensitive a method is: five values take five times as long.
            n_splits = min(budget.sensitive, info.n_splits) if setting.at else info.n_splits
            for split in range(n_splits):
                yield MethodJob(protocol, case, info, named, split, seed, budget)


def _part_cases(part: Part) -> list[Case]:
    """Return the cases of a part that have data."""
    found = list(part.protocol.cases())
    if part.cases is None:
        return found
    order = part.cases
    named = sorted(
        (case for case in found if case.name in order), key=lambda case: order.index(case.name)
    )
    return named[:1] if part.best_only else named


def _evenly(cases: list[Case], most: int | None) -> list[Case]:
    if most is None or len(cases) <= most:
        return cases
    return [cases[i * len(cases) // most] for i in range(most)]


def result_rows(jobs: Sequence[MethodJob], results: Mapping[str, JobResult]) -> list[Row]:
    """Return the tidy results of jobs in their order.

    Parameters of a setting take the place of ``at``; curves are not kept then.
    """
    return [
        (
            job.info.label,
            job.setting.name,
            job.split,
            one.metric,
            job.setting.at or one.at,
            one.value,
        )
        for job in jobs
        for one in results[job.key].rows
        if not (job.setting.at and one.at)
    ]


def second_rows(jobs: Sequence[MethodJob], results: Mapping[str, JobResult]) -> list[Row]:
    """Return the tidy times of jobs in their order, without those of given parameters."""
    return [
        (job.info.label, job.setting.name, job.split, one.metric, one.at, one.value)
        for job in jobs
        if not job.setting.at
        for one in results[job.key].seconds
    ]


@dataclass(frozen=True, slots=True)
class Reproduction:
    """The table of an item, and the folder of its files.

    Parameters
    ----------
    item : Item
    table : Table
    published : Table or None
        The paper's own numbers, where some of the data are the paper's.
    cases : tuple of CaseInfo
        The data.
    folder : path
    beside : Table or None, default=None
        Our numbers and the paper's side by side, whatever the data; None where the paper
        prints none.
    notes : tuple of str, default=()
        Columns that are another column on some data.
    """

    item: Item
    table: Table
    published: Table | None
    cases: tuple[CaseInfo, ...]
    folder: Path
    beside: Table | None = None
    notes: tuple[str, ...] = ()

    def text(self, *, beside: bool = False) -> str:
        """Return the table and the origin of its data, for a terminal.

        Parameters
        ----------
        beside : bool, default=False
            Also print the paper's numbers next to ours, whatever the data.
        """
        parts = [self.table.text(), *self.notes]
        if beside:
            parts.append(self._beside())
        elif self.published is not None:
            parts.append(self.published.text())
        for origin in dict.fromkeys(case.origin for case in self.cases):
            labels = [case.label for case in self.cases if case.origin == origin]
            named = "; ".join(labels) if len(labels) <= MAX_NAMED else f"{len(labels)} data sets"
            parts.append(f"{named}: {ORIGINS[origin]}")
        if _is_figure(self.item) and not find_spec("matplotlib"):
            parts.append('not drawn: install the extra "plot"')
        return "\n".join([*parts, f"files: {self.folder}"])

    def _beside(self) -> str:
        if self.beside is None:
            return f"the paper prints no numbers of {self.item.name}"
        return self.beside.text(most=None)


def reproduce(
    name: str,
    output: str | Path,
    *,
    budget: Budget = FULL,
    seed: int = 0,
    n_jobs: int = 1,
    synthetic: bool = True,
    progress: bool = False,
) -> Reproduction:
    """Run a table or figure of the paper and write its files.

    A run that was stopped goes on where it was.

    Parameters
    ----------
    name : str
        ``"table-1"`` to ``"table-14"``, ``"figure-3"`` to ``"figure-6"`` or ``"figure-8"`` to
        ``"figure-12"``; or ``"keel"``, ``"credit"`` or ``"access"``, which are not in
        the paper.
    output : path
        The folder of the run. Items of one run share what they have in common; a folder
        with results of another seed, budget or code is refused.
    budget : Budget, default=FULL
    seed : int, default=0
    n_jobs : int, default=1
        Processes; results do not depend on it.
    synthetic : bool, default=True
        Whether to run on synthetic stand-ins where there are no data; otherwise those lines
        are missing.
    progress : bool, default=False
        Show a progress bar.

    Returns
    -------
    Reproduction
        Its folder has ``results.parquet``, ``seconds.parquet``, ``run.json``, ``table.csv``
        and ``table.tex``.

    Examples
    --------
    >>> from ecselm.paper.protocols import QUICK, reproduce
    >>> print(reproduce("table-11", "results", budget=QUICK).text())  # doctest: +SKIP
    """
    item = find_item(name)
    check_run(output, budget=budget, seed=seed, n_jobs=n_jobs)
    fingerprint = _fingerprint(budget, seed)
    journal = Journal(Path(output), fingerprint)
    jobs = plan_item(item, budget, seed, journal.folder / "cache", synthetic=synthetic)
    if not jobs:
        raise FileNotFoundError(
            f"there are no data for {name}, and stand-ins are left out or there are none: "
            f"ECSELM_DATA must name a folder with the files that docs/datasets.md lists"
        )
    results = run_jobs(jobs, journal, n_jobs=n_jobs, progress=name if progress else None)
    return _write(item, jobs, results, journal.folder / name, fingerprint)


def check_run(output: str | Path, *, budget: Budget, seed: int, n_jobs: int) -> None:
    """Raise an error for options that no item could be run with, before any data are read.

    Examples
    --------
    >>> check_run("results", budget=FULL, seed=-1, n_jobs=1)
    Traceback (most recent call last):
        ...
    ValueError: seed must be at least 0, got -1
    """
    check_seed_and_jobs(seed, n_jobs)
    data_root(None)  # a variable that names no folder
    Journal(Path(output), _fingerprint(budget, seed)).results()  # a folder of another run


def _fingerprint(budget: Budget, seed: int) -> dict[str, Any]:
    version = ecselm.__version__
    return {"budget": asdict(budget), "seed": seed, "version": version, "code": code_digest()}


@cache
def code_digest() -> str:
    """Return a digest of the modules that results depend on.

    A version has many states before its release: with the digest a run cannot be resumed by
    other code, and a page cannot mix results of two.
    """
    root = Path(ecselm.__file__).parent
    files = sorted(file for name in CODE for file in (root / name).rglob("*") if _is_code(file))
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.relative_to(root).as_posix().encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def _is_code(file: Path) -> bool:
    return file.suffix in {".py", ".c", ".h"}


def _write(
    item: Item,
    jobs: Sequence[MethodJob],
    results: Mapping[str, JobResult],
    folder: Path,
    fingerprint: dict[str, Any],
) -> Reproduction:
    """Write all files of an item and return its tables."""
    make_folder(folder, name="output")
    write_rows(folder / "seconds.parquet", second_rows(jobs, results))
    write_rows(folder / "results.parquet", result_rows(jobs, results))
    cases = tuple(dict.fromkeys(job.info for job in jobs))
    # The digest of the code is that of the whole run, in the first line of the journal.
    kept = {name: value for name, value in fingerprint.items() if name != "code"}
    record = {"item": item.name, **kept, "data": [asdict(case) for case in cases]}
    write_whole(folder / "run.json", json.dumps(record, indent=1, sort_keys=True).encode())
    # The table is made from the file, as for a reader who has the file alone.
    kind = "seconds" if item.kind == "seconds" else "results"
    frame = read_rows(folder / f"{kind}.parquet")
    table = significance_table(item, frame) if item.kind == "tests" else layout_table(item, frame)
    write_whole(folder / "table.csv", table.csv().encode())
    write_whole(folder / "table.tex", table.latex().encode())
    published = published_table(item, cases)
    if published is not None:
        write_whole(folder / "published.csv", published.csv().encode())
    if _is_figure(item) and find_spec("matplotlib"):
        draw(item.name, frame, folder / item.name)
    beside = beside_table(item, table)
    if beside is not None:
        write_whole(folder / "beside.csv", beside.csv().encode())
    return Reproduction(item, table, published, cases, folder, beside, column_notes(item))


def _is_figure(item: Item) -> bool:
    return item.name.startswith("figure")
