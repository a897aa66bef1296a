"""One method on one split of one case, from loading to judgement."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning
from sklearn.model_selection import GridSearchCV, StratifiedGroupKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.validation import has_fit_parameter
from threadpoolctl import threadpool_limits

from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.estimators import FewCasesWarning
from ecselm.layers import SaturationWarning
from ecselm.paper.datasets import Dataset
from ecselm.paper.datasets.dataset import Folds
from ecselm.paper.methods import find_method, get_method, tuned_method
from ecselm.paper.protocols.budget import Budget
from ecselm.paper.protocols.prepared import Prepared, prepared
from ecselm.paper.protocols.protocol import Case, Known, Protocol
from ecselm.paper.protocols.store import Finished, Measured
from ecselm.search import interruptible


@dataclass(frozen=True, slots=True)
class Setting:
    """A method as an item asks for it.

    Parameters
    ----------
    method : str
        Of the registry.
    fixed : tuple of (str, float)
        Parameters that are given; nothing is chosen then.
    at : str
        What the given parameters are called in the results.
    called : str
        What the method is called there, where an item has it more than once; nothing for
        its own name.
    """

    method: str
    fixed: tuple[tuple[str, float], ...] = ()
    at: str = ""
    called: str = ""

    @property
    def name(self) -> str:
        """What the results call the method."""
        return self.called or self.method


@dataclass(frozen=True, slots=True)
class Job:
    """One method on one split of one case.

    What the protocol prepares for all methods may be kept in a folder, ``cache``.
    """

    protocol: Protocol
    case: Case
    known: Known
    setting: Setting
    split: int
    seed: int
    budget: Budget
    cache: Path | None = None

    @property
    def key(self) -> str:
        """What the journal knows it by: all that the result depends on within a run."""
        fixed = ",".join(f"{name}={value:g}" for name, value in self.setting.fixed)
        known, method = self.known, self.setting.method
        data = f"{known.checksum}-{known.splits}"
        return "|".join((self.protocol.name, known.label, data, method, fixed, str(self.split)))

    @property
    def title(self) -> str:
        """What a person knows it by."""
        return f"{self.setting.name} on {self.known.label}, split {self.split}"

    def run(self) -> Finished:
        """Learn from the training rows of the split, and judge on the others."""
        data = self.case.load()
        train, test = self.protocol.splits(data, self.budget, self.seed)[self.split]
        groups = self._groups(data, train)
        if self.protocol.relabel is not None:
            data = self.protocol.relabel(data, self.seed, self.split)
        y = data.y[train]
        with threadpool_limits(1), warnings.catch_warnings(), interruptible():
            quieten()
            rows = self._rows(data.X[train], y, data.X[test])
            start = time.perf_counter()
            model = self._model(rows.train, y, data, groups)
            model.fit(rows.train, y, **_told_groups(model, groups))
            learned = time.perf_counter()
            judged = self.protocol.judge(model, rows.test, data.y[test], data)
            answered = time.perf_counter() - learned
        spent = _seconds(model, rows.seconds, learned - start, answered)
        return Finished(self.key, judged, spent)

    def _groups(self, data: Dataset, rows: IntArray) -> AnyArray | None:
        """Return what these rows belong to, where that is known."""
        if self.protocol.groups is None:
            return None
        return self.protocol.groups(data, self.seed, self.split)[rows]

    def _rows(self, X: FloatArray, y: AnyArray, X_test: FloatArray) -> Prepared:
        """Return the rows that methods get."""
        if self.protocol.prepare is None:
            return Prepared(X, X_test, 0.0)
        known = self.known
        name = f"{self.protocol.name}-{known.checksum}-{known.splits}-{self.split}.npz"
        path = None if self.cache is None else self.cache / name
        return prepared(self.protocol.prepare, X, y, X_test, self.budget, path)

    def _model(
        self, X: FloatArray, y: AnyArray, data: Dataset, groups: AnyArray | None = None
    ) -> Any:
        """Return the method, its parameters chosen within these rows if the budget says so."""
        before = self.protocol.before()
        method = find_method(self.setting.method, self.protocol.task)
        params = self._imposed(get_method(method, method.task), data)
        if self.budget.tuned and not self.setting.fixed:
            folds = self.protocol.folds or self.budget.folds
            params.pop("scoring", None)
            return tuned_method(
                method,
                X,
                y,
                method.task,
                before=before,
                scoring=self.protocol.scoring,
                cv=folds if groups is None else folds_of_groups(folds, y, groups),
                **params,
            )
        made = get_method(method, method.task, **params)
        return made if before is None else make_pipeline(before, made)

    def _imposed(self, made: Any, data: Dataset) -> dict[str, Any]:
        """Return what the method does not choose: seeds, sizes, and what is to be good."""
        values: dict[str, Any] = {"random_state": self.seed + self.split}
        if self.budget.population is not None:
            values |= dict.fromkeys(("population_size", "max_epochs"), self.budget.population)
        if self.protocol.scoring is not None:
            values["scoring"] = self.protocol.scoring
        values |= {**self.protocol.params, **dict(self.setting.fixed)}
        names = made.get_params()
        found = {
            name: value
            for name in names
            for last, value in values.items()
            if f"__{name}".endswith(f"__{last}")
        }
        return found | {name: self._cost(data) for name in names if self._is_told(name, names)}

    def _cost(self, data: Dataset) -> Any:
        counts = self.protocol.scoring == "mean_cost"
        return data.cost if counts and self.protocol.cost is None else self.protocol.cost

    def _is_told(self, name: str, names: Mapping[str, Any]) -> bool:
        """Tell whether a parameter is the costs of a method that has none of its own.

        What searches costs is told them only where they are what counts.
        """
        if name.rpartition("__")[2] != "cost" or isinstance(names[name], str):
            return False
        counts = self.protocol.scoring == "mean_cost"
        return counts or (self.protocol.cost is not None and "cost_level" not in names)


def quieten() -> None:
    """Silence what is no news in a run.

    Searches are cut short. Where a class has very few rows, a fold of the choice may lack
    it, and values that cannot be learned with there are not chosen; prior costs are kept.
    Evolved weights may saturate a layer; what comes of it is judged like all else.
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


def folds_of_groups(n_folds: int, y: AnyArray, groups: AnyArray) -> Folds:
    """Return folds that part no group and hold about the same share of every class.

    Examples
    --------
    >>> import numpy as np
    >>> y, groups = np.repeat([0, 1], 6), np.repeat(np.arange(6), 2)
    >>> [groups[test].tolist() for _, test in folds_of_groups(3, y, groups)]
    [[0, 0, 3, 3], [1, 1, 4, 4], [2, 2, 5, 5]]
    """
    return tuple(StratifiedGroupKFold(n_folds).split(y, y, groups))


def _told_groups(model: Any, groups: AnyArray | None) -> dict[str, AnyArray]:
    """Return how ``fit`` is told of groups, if there are some and the method minds them."""
    made, prefix = getattr(model, "estimator", model), ""
    if isinstance(made, Pipeline):
        step, made = made.steps[-1]
        prefix = f"{step}__"
    minded = groups is not None and has_fit_parameter(made, "groups")
    return {f"{prefix}groups": np.asarray(groups)} if minded else {}


def _seconds(model: Any, prepared: float, spent: float, answered: float) -> tuple[Measured, ...]:
    """Return the time to prepare, to choose parameters, to learn with them, and to answer."""
    learning = model.refit_time_ if isinstance(model, GridSearchCV) else spent
    parts = {
        "prepare": prepared,
        "choose": spent - learning,
        "learn": learning,
        "answer": answered,
    }
    return tuple(Measured("seconds", float(value), at) for at, value in parts.items())
