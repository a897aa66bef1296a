"""The search for costs: what is searched, the run of an optimiser, and the costs found."""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from importlib.metadata import version
from multiprocessing import parent_process
from numbers import Integral, Real
from types import MappingProxyType
from typing import Any

import numpy as np
from joblib import cpu_count, effective_n_jobs
from joblib.parallel import get_active_backend
from sklearn.utils.validation import check_is_fitted

from ecselm._random import as_generator
from ecselm._sklearn import HasMethods, Interval, StrOptions
from ecselm._threads import Workers, one_blas_thread
from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.costs import CostConstraints, Costs
from ecselm.costs.feasible import FeasibleRegion, half_known_region, parse_constraints
from ecselm.costs.levels import ClassLevel, CostLevel, MatrixLevel, SampleLevel
from ecselm.costs.parse import numbers, read_costs
from ecselm.costs.weights import ClassCosts, ExampleCosts
from ecselm.estimators._checkpoint import MAIN, Checkpoint, identity_of, stored_seed
from ecselm.estimators._policy import stated_constraints
from ecselm.estimators._prior_test import PriorTest, prior_is_kept, prior_test
from ecselm.estimators._priors import (
    PowerPath,
    counts_costs,
    mean_one,
    power_path,
    prior_costs,
    row_costs,
    row_shares,
    stated_costs,
)
from ecselm.estimators._scoring import ValidationClasses, class_fitness
from ecselm.estimators._source import TrainingData
from ecselm.estimators._steps import Steps
from ecselm.fitness import (
    CostedRows,
    CostEncoding,
    CostObjective,
    Engine,
    Fitness,
    Shrinkage,
    Span,
)
from ecselm.metrics import get_scorer
from ecselm.search import (
    AskTell,
    BacktrackingSearch,
    Box,
    CovarianceAdaptation,
    DifferentialEvolution,
    RandomSearch,
    SearchHistory,
    SobolSearch,
    minimize,
)

logger = logging.getLogger(__name__)

SEARCH, TESTING = "search", "prior test"  # phases of the progress bar
PRIOR = "prior"  # the costs implied by the metric
SAMPLE_BOUNDS = (1e-3, 1.0)
N_NUMBERS = 5  # values of C, or of the kernel width, beside every prior in the first population
FORGETTING = 32  # generations after which engines begin anew, so that a resumed search can
LITERAL_SEARCH = "bsa_literal"


class NoFiniteFitnessError(ValueError):
    """No candidate of a search could be scored; with negative costs (15) may be singular."""


OPTIMIZERS: dict[str, Callable[..., AskTell]] = {
    "bsa": BacktrackingSearch,
    "de": DifferentialEvolution,
    "cma": CovarianceAdaptation,
    "random": RandomSearch,
    # Algorithm 2 with step 2.1 inside the loop and (30) for all entries.
    LITERAL_SEARCH: partial(BacktrackingSearch, redraw_memory=True, literal_bounds=True),
    "sobol": SobolSearch,
}
LEARNING: dict[str, Any] = {
    "cost": "no_validation",
    "cost_bounds": ["array-like", None],
    "fixed_costs": [Mapping, None],
    "cost_intervals": [Mapping, None],
    "cost_order": ["array-like", None],
    "priors": [list, tuple],
    "fitness": [
        StrOptions({"train", "holdout", "cv", "loo"}),
        Interval(Integral, 2, None, closed="left"),
        HasMethods(["split", "get_n_splits"]),
    ],
    "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
    "scoring": [str, callable, None],
    "smoothing": [Interval(Real, 0, 1, closed="both")],
    "normalize": ["boolean"],
    "shrinkage": [Interval(Real, 0, None, closed="left")],
    "keep_prior": ["boolean", StrOptions({"always"})],
    "optimizer": [StrOptions(set(OPTIMIZERS)), callable],
    "population_size": [Interval(Integral, 1, None, closed="left")],
    "max_epochs": [Interval(Integral, 0, None, closed="left")],
    "patience": [Interval(Integral, 1, None, closed="left"), None],
    "max_time": [Interval(Real, 0, None, closed="neither"), None],
    "checkpoint": [str, os.PathLike, None],
    "callbacks": [list, tuple, callable, None],
    "warm_start": ["boolean"],
    "n_jobs": [Integral, None],
    "random_state": ["random_state", np.random.Generator],
    "verbose": ["verbose"],
}
NO_ROW_COSTS = dict.fromkeys(("sample_cost", "tp_cost", "tn_cost", "fp_cost", "fn_cost"))
# Parameters that may differ between a search and the one that resumes its checkpoint.
RUNNING = {
    *("max_epochs", "patience", "max_time", "checkpoint"),
    *("callbacks", "warm_start", "n_jobs", "memory_limit", "max_samples", "verbose"),
}


# What is searched


def cost_bounds(stated: Any, cost_level: str, normalize: bool) -> tuple[float, float] | None:
    """Return the stated bounds of all costs, or refuse what contradicts the other parameters."""
    if stated is None:
        return None
    bounds = numbers(stated, "cost_bounds")
    if bounds.shape != (2,) or bounds[0] > bounds[1]:
        raise ValueError(f"cost_bounds must be a pair (low, high) with low <= high, got {stated!r}")
    if bounds[0] <= 0 and cost_level in {"matrix", "decision"}:
        raise ValueError(f"cost_bounds must be > 0 with cost_level={cost_level!r}, got {stated!r}")
    if normalize and bounds[0] <= 0:
        raise ValueError(
            "normalize must be False where cost_bounds allow costs of 0 or less, whose mean "
            f"may be 0, got cost_bounds={stated!r}"
        )
    return float(bounds[0]), float(bounds[1])


@dataclass(frozen=True, slots=True)
class CostProblem:
    """Costs of a level, what is known of them beforehand, and the rows they apply to."""

    level: CostLevel
    classes: AnyArray  # or levels of the target
    priors: dict[str, FloatArray]  # entries (E,) by name
    stated: Costs | None = None  # by class or by row
    path: PowerPath | None = None  # costs that metrics imply
    shares: FloatArray | None = None  # (N,), cost of rows relative to the mean of their class
    constraints: CostConstraints | None = None  # that the costs learned must obey

    @classmethod
    def of_classes(
        cls,
        cost_level: str,
        data: TrainingData,
        classes: AnyArray,
        stated: Costs | None,
        scoring: Any,
        priors: Sequence[str],
        normalize: bool,
        constraints: CostConstraints | None = None,
    ) -> CostProblem:
        """Return the problem of a classifier: prior costs by class counts, metric and costs.

        Where costs are half known, ``constraints`` are what the costs learned must obey.
        """
        k, y, weight = len(classes), data.codes, data.weight
        level: CostLevel
        if cost_level == "sample":
            level = SampleLevel(y)
        else:
            level = ClassLevel(k) if cost_level == "class" else MatrixLevel(k)
        counts = np.bincount(y, weight, minlength=k).astype(np.float64)
        entries = prior_costs(priors, level, counts, classes, normalize)
        own = None if stated is None else stated_costs(stated, level, y, k, weight)
        if own is not None and "cost" in priors:
            entries["cost"] = own
        path = shares = None
        if not isinstance(level, SampleLevel):  # a metric implies costs of classes only
            path = power_path(scoring, level, counts, own)
        if cost_level == "class" and isinstance(stated, ExampleCosts) and counts_costs(scoring):
            # The search learns costs of classes; within a class, rows keep their stated ratios.
            shares = row_shares(stated, y, k, weight)
        return cls(level, classes, entries, stated, path, shares, constraints)

    def costed(self, data: TrainingData) -> CostedRows:
        """Return the rows by groups of equal cost; their shares become weights."""
        T = np.empty((len(data), 0)) if data.T is None else data.T
        return CostedRows.at_level(
            self.level, T, data.codes, len(self.classes), data.weight, self.shares
        )

    def row_costs(self, costs: FloatArray, rows: CostedRows) -> FloatArray:
        """Return the costs B (N,) of the rows, for costs by group (g,)."""
        return self.by_row(costs[rows.groups])

    def by_row(self, B: FloatArray) -> FloatArray:
        """Return costs (N,) of the classes of rows times the shares of the rows in them."""
        return B if self.shares is None else B * self.shares

    def pattern(self, scoring: Any) -> FloatArray:
        """Return what confusions cost (k, k) relative to the mean mistake on their class."""
        k = len(self.classes)
        equal = 1.0 - np.eye(k)
        if not (isinstance(self.stated, ClassCosts) and counts_costs(scoring)):
            return equal
        means = self.stated.matrix.sum(axis=1, keepdims=True) / (k - 1)
        return np.where(means > 0, self.stated.matrix / np.where(means > 0, means, 1.0), equal)

    def matrix(self, entries: FloatArray) -> FloatArray:
        """Return the costs of confusions (k, k) for entries (E,) by class or by confusion."""
        if isinstance(self.level, MatrixLevel):
            return self.level.matrices(entries[np.newaxis])[0]
        return entries[:, np.newaxis] * (1.0 - np.eye(len(self.classes)))

    def in_stated_unit(
        self, entries: FloatArray, matrix: FloatArray, *, kept: bool
    ) -> tuple[FloatArray, FloatArray]:
        """Return entries and costs of confusions in the unit of stated costs.

        Costs that were kept are as they were stated; learned ones have the same mean.
        """
        if self.path is None:
            return entries, matrix
        stated = self.path.prior
        unit = float(stated.mean() / entries.mean())
        if not kept:
            return entries * unit, matrix * unit
        if isinstance(self.stated, ClassCosts):
            return stated, self.stated.matrix
        return stated, matrix * unit

    def class_fitness(
        self,
        scoring: Any,
        data: TrainingData,
        validation: IntArray,
        smoothing: float,
        *,
        decides: bool,
    ) -> Fitness:
        """Return the fitness of scores of the validation rows."""
        costs = self.stated
        known = ValidationClasses(
            data.codes[validation],
            self.classes,
            costs.matrix if isinstance(costs, ClassCosts) else None,
            costs.matrix[validation] if isinstance(costs, ExampleCosts) else None,
            decides=decides,
        )
        return class_fitness(scoring, data.validation(validation), known, smoothing)


def stated_by_user(
    cost: Any, codes: IntArray, classes: AnyArray, used: IntArray, by_row: dict[str, Any]
) -> Costs | None:
    """Return the stated costs of the rows used, None if there are none."""
    costs = read_costs(cost, codes, classes, aggregate="classes", **{**NO_ROW_COSTS, **by_row})
    if cost is None and all(value is None for value in by_row.values()):
        return None
    if isinstance(costs, ClassCosts):
        return costs
    return ExampleCosts(row_costs(costs, codes, len(classes))[used])


def half_known(estimator: Any, classes: AnyArray) -> CostConstraints | None:
    """Return what ``cost`` leaves open, None where it states all or nothing.

    What is known in part is stated in one place: not in ``cost`` and beside it.
    """
    constraints = stated_constraints(estimator.cost, classes)
    names = ("fixed_costs", "cost_intervals", "cost_order")
    values = {name: getattr(estimator, name) for name in names}
    beside = [name for name, value in values.items() if value is not None and len(value)]
    if constraints is not None and beside:
        raise ValueError(
            f"{beside[0]} must be None where cost is known in part, which states the same in "
            f"cost itself, got {values[beside[0]]!r}"
        )
    return constraints


def bounding(
    constraints: CostConstraints | None, scoring: Any, cost_bounds: Any
) -> CostConstraints | None:
    """Return the constraints that learned costs must obey.

    None where the metric counts costs: then a rule decides, or costs are only weights.
    """
    if constraints is None or counts_costs(scoring):
        return None
    if cost_bounds is not None:
        raise ValueError(
            "cost_bounds must be None where cost is known in part and bounds the costs that are "
            f"learned, got {cost_bounds!r}"
        )
    return constraints


def random_stream(random_state: Any, checkpoint: Any) -> tuple[np.random.Generator, int]:
    """Return the generator of a fit, and the seed to be kept in its checkpoint.

    Without a random state the seed of the checkpoint is used, so that it can be resumed.
    """
    if random_state is not None or checkpoint is None:
        return as_generator(random_state), 0
    seed = stored_seed(checkpoint)
    if seed is None:
        seed = int(np.random.SeedSequence().entropy)  # type: ignore[arg-type]
    return np.random.default_rng(seed), seed


# The search


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """The parameters of an estimator that concern the search; they are documented there."""

    cost_level: str
    cost_bounds: Any
    fixed_costs: Mapping[Any, Any] | None
    cost_intervals: Mapping[Any, Any] | None
    cost_order: Sequence[Any] | None
    scoring: Any
    normalize: bool
    optimizer: str | Callable[..., AskTell]
    population_size: int
    max_epochs: int
    patience: int | None
    max_time: float | None
    checkpoint: str | os.PathLike[str] | None
    callbacks: Any
    verbose: int
    shrinkage: float = 0.0
    keep_prior: bool | str = False

    @classmethod
    def of(cls, estimator: Any) -> SearchSettings:
        """Read the parameters of an estimator."""
        names = [one.name for one in fields(cls) if hasattr(estimator, one.name)]
        return cls(**{name: getattr(estimator, name) for name in names})


@dataclass(frozen=True, slots=True)
class LearnedCosts:
    """The costs a search has found, in the user's unit if there is one."""

    entries: FloatArray  # (E,)
    costs: FloatArray  # (g,) by group of rows, the B of (15)
    weights: FloatArray  # (g,) the same as evaluated, with a mean of 1 if normalised
    C: float
    gamma: float | None

    def completed(self, trained: IntArray, codes: IntArray) -> LearnedCosts:
        """Give rows that no candidate was trained on the mean cost of their class.

        Their own costs entered no fitness: they are still as drawn. A class that was
        never trained on gets the mean of all others.
        """
        if len(self.costs) != len(codes) or len(trained) == len(codes):
            return self
        seen = np.zeros(len(codes), dtype=bool)
        seen[trained] = True
        costs, weights = self.costs.copy(), self.weights.copy()
        for c in np.unique(codes[~seen]):
            mine = seen & (codes == c)
            for values in (costs, weights):
                values[~seen & (codes == c)] = values[mine if mine.any() else seen].mean()
        return replace(self, costs=costs, weights=weights)


@dataclass(frozen=True, slots=True)
class PriorResult:
    """The best point of a prior, and its score."""

    point: FloatArray  # (D,)
    score: float


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The best point of a search, the results of the priors, and the history."""

    point: FloatArray  # (D,)
    score: float
    priors: dict[str, PriorResult]
    history: SearchHistory


@dataclass(frozen=True, slots=True)
class CostSearch:
    """A search for costs: the code of its points, and those to begin with.

    It is given an engine, which scores the validation rows for any costs, and a fitness of
    these scores.
    """

    settings: SearchSettings
    encoding: CostEncoding
    seeds: dict[str, FloatArray]  # points (n, D) by name
    path: PowerPath | None = None  # costs implied by metrics, in the unit of the search

    @classmethod
    def of_problem(
        cls,
        settings: SearchSettings,
        problem: CostProblem,
        masses: FloatArray,
        C: Span,
        gamma: Span | None = None,
        *,
        decides: bool = False,
        previous: tuple[FloatArray, tuple[float, float | None]] | None = None,
    ) -> CostSearch:
        """Return the search of a problem, or refuse parameters that contradict each other.

        ``masses`` (g,) are the weighted sizes of the groups of rows, ``previous`` the cost
        entries, C and width of an earlier fit to begin with.
        """
        if settings.scoring is not None:
            get_scorer(settings.scoring)
        level = problem.level
        region, priors, path = _allowed_costs(settings, problem, masses)
        encoding = CostEncoding(
            level,
            region,
            C,
            gamma,
            masses if settings.normalize else None,
            log=not isinstance(level, SampleLevel) and bool((region.low > 0).all()),
            decides=decides,
        )
        # An optimiser that is not installed, or not of this size, is refused before any work.
        size = settings.population_size
        make_optimizer(settings.optimizer, encoding.box, size, np.random.default_rng(0))
        # Shrinkage and the prior test compare ratios of costs, which need positive costs.
        path = path if encoding.log else None
        search = cls(settings, encoding, {}, path)
        if path is not None and settings.keep_prior:
            priors = {**priors, PRIOR: path.prior}
        return replace(search, seeds=search._seeds(priors, previous))

    def _seeds(
        self,
        priors: dict[str, FloatArray],
        previous: tuple[FloatArray, tuple[float, float | None]] | None,
    ) -> dict[str, FloatArray]:
        """Return the points of the priors that contradict nothing, at several C and widths."""
        seeds, encoding = {}, self.encoding
        widths: list[float | None] = [None]
        if encoding.gamma is not None:
            widths = list(encoding.gamma.grid(N_NUMBERS))
        for name, entries in priors.items():
            inside = self.allowed(entries)
            if inside is None and name == "cost":
                raise ValueError(
                    "cost must not contradict cost_bounds, fixed_costs, cost_intervals or "
                    f"cost_order, got costs of {np.unique(entries)[:10].tolist()}"
                )
            if inside is not None:
                grid = [(C, gamma) for gamma in widths for C in encoding.C.grid(N_NUMBERS)]
                seeds[name] = np.stack([encoding.encode(inside, C, gamma) for C, gamma in grid])
        if previous is not None:
            entries, pair = previous
            if entries.shape != (encoding.level.n_entries,):
                raise ValueError(
                    f"warm_start must go on with {encoding.level.n_entries} costs, got a model "
                    f"with {len(entries)}"
                )
            seeds["previous"] = encoding.encode(entries, *pair)[np.newaxis]
        return seeds

    def allowed(self, entries: FloatArray) -> FloatArray | None:
        """Return entries (E,) scaled into the region of allowed costs, None if impossible."""
        inside = self.encoding.region.scaled_into(entries)
        if inside is None or self.settings.normalize:
            return inside
        return inside if np.array_equal(inside, entries) else None  # the scale matters

    def prior_entries(self) -> FloatArray:
        """Return the entries (E,) implied by the metric, moved into the region of allowed costs."""
        if self.path is None:
            raise ValueError("costs must be positive to be implied by a metric")
        return self._moved(self.path.prior)

    def equal_entries(self) -> FloatArray:
        """Return equal entries (E,), moved into the region of allowed costs."""
        return self._moved(np.ones(self.encoding.level.n_entries))

    def _moved(self, entries: FloatArray) -> FloatArray:
        inside = self.allowed(entries)
        return self.encoding.region.nearest(entries) if inside is None else inside

    def at_prior(self, entries: FloatArray, engine: Engine, fitness: Fitness) -> SearchResult:
        """Return the result of no search at all, with the prior's entries (E,)."""
        point = self.encoding.encode(entries)
        scores = engine.scores(self.encoding.decode(point[np.newaxis]))
        found = PriorResult(point, float(fitness(scores)[0]))
        return SearchResult(found.point, found.score, {PRIOR: found}, SearchHistory())

    @property
    def region(self) -> FeasibleRegion:
        """Return the region of allowed costs."""
        return self.encoding.region

    @property
    def shrinkage(self) -> Shrinkage | None:
        """Return the penalty for leaving the prior, None where there is none."""
        if self.path is None or self.settings.shrinkage == 0:
            return None
        return Shrinkage(self.path.prior, self.settings.shrinkage)

    def checkpoint(
        self, params: dict[str, Any], data: dict[str, Any], seed: int
    ) -> Checkpoint | None:
        """Return the checkpoint; one that belongs to another search is refused."""
        if self.settings.checkpoint is None:
            return None
        kept = {name: value for name, value in params.items() if name not in RUNNING}
        given = {**kept, **data, "first population": self.seeds, "version": version("ecselm")}
        return Checkpoint(self.settings.checkpoint, identity_of(given), seed)

    def steps(
        self,
        params: dict[str, Any],
        data: dict[str, Any],
        seed: int,
        work: Mapping[str, float] = MappingProxyType({}),
    ) -> Steps:
        """Return the steps of the fit, with its checkpoint and a bar of phases with their work."""
        steps = Steps(self.checkpoint(params, data, seed), shown=int(self.settings.verbose) == 1)
        steps.bar.plan(work)
        return steps

    def run(
        self,
        engine: Engine,
        fitness: Fitness,
        rng: np.random.Generator,
        steps: Steps,
        n_threads: int | None = None,
        *,
        name: str = MAIN,
    ) -> SearchResult:
        """Run the optimiser, whose generations are steps of the fit.

        ``n_threads`` is None for an engine that has threads of its own; a search by another
        ``name`` is a part of the prior test.
        """
        settings = self.settings
        run = SearchRun(
            optimizer=settings.optimizer,
            population_size=settings.population_size,
            max_epochs=settings.max_epochs,
            patience=settings.patience,
            max_time=settings.max_time,
            callbacks=_listed(settings.callbacks),
            verbose=int(settings.verbose),
            steps=steps,
            name=name,
            title=str(engine),
        )
        with contextlib.nullcontext() if n_threads is None else Workers(n_threads) as workers:
            objective = CostObjective(self.encoding, engine, fitness, workers, self.shrinkage)
            return run.evolve(objective, self.encoding.box, self.seeds, rng)

    def prior_test(
        self,
        result: SearchResult,
        engine: Engine,
        fitness: Fitness,
        row_ids: AnyArray,
        steps: Steps,
    ) -> PriorTest | None:
        """Test the costs found against the prior; None where there is no prior."""
        prior = result.priors.get(PRIOR)
        if prior is None:
            return None
        # The costs found depend on how long the search was.
        name = f"prior test of {len(result.history.generations)} generations"
        known = steps.recorded(name, {"gain": (), "std_error": (), "n_smallest": ()})
        if known is not None:
            return PriorTest(
                float(known["gain"]), float(known["std_error"]), int(known["n_smallest"])
            )
        both = self.encoding.decode(np.stack([result.point, prior.point]), scaled=False)
        learned, plain = engine.scores(both)
        test = prior_test(fitness, learned, plain, row_ids)
        if test is not None and result.history.reason != "interrupted":
            steps.record(name, **{key: np.array(value) for key, value in asdict(test).items()})
        return test

    def learned(self, point: FloatArray) -> LearnedCosts:
        """Return the costs of a point (D,).

        Where the user has stated numbers, costs stay in their unit and C makes up for
        their scale, so that (15) holds for the attributes as they are.
        """
        encoding, settings = self.encoding, self.settings
        found = encoding.decode(point[np.newaxis])
        entries = encoding.entries(point[np.newaxis])[0]
        C, gamma = float(found.C[0]), None if found.gamma is None else float(found.gamma[0])
        costs = found.costs[0]
        has_unit = (
            settings.cost_bounds is not None
            or settings.fixed_costs
            or settings.cost_intervals
            or encoding.region.relations is not None
        )
        plain = encoding.level.group_costs(entries[np.newaxis])[0]
        if encoding.decides:  # only ratios matter to a decision
            entries = entries if has_unit else entries / entries.mean()
        elif has_unit:
            scale = 1.0 if encoding.masses is None else float(costs.sum() / plain.sum())
            return LearnedCosts(entries, plain, costs, C * scale, gamma)
        elif encoding.masses is not None:
            entries = entries * float(costs.sum() / plain.sum())
        return LearnedCosts(entries, costs, costs, C, gamma)


def _allowed_costs(
    settings: SearchSettings, problem: CostProblem, masses: FloatArray
) -> tuple[FeasibleRegion, dict[str, FloatArray], PowerPath | None]:
    """Return the region of allowed costs, and priors and implied costs in its unit.

    The region is what the user states, or a factor around the priors.
    """
    level, priors, path = problem.level, problem.priors, problem.path
    if problem.constraints is not None:
        # The prior must be possible, too: it is what is left where nothing is learned.
        region = half_known_region(problem.constraints, level)
        if "cost" in priors:
            priors = {**priors, "cost": region.nearest(priors["cost"])}
        return region, priors, None if path is None else path.within(region)
    known = parse_constraints(
        settings.fixed_costs,
        settings.cost_intervals,
        settings.cost_order,
        level,
        problem.classes,
    )
    bounds = cost_bounds(settings.cost_bounds, settings.cost_level, settings.normalize)
    if bounds is None and known.is_open:
        if settings.normalize:  # the unit of stated costs must not matter
            priors = {name: mean_one(costs, level, masses) for name, costs in priors.items()}
            path = None if path is None else path.scaled(level, masses)
        bounds = SAMPLE_BOUNDS if isinstance(level, SampleLevel) else None
    if bounds is not None:
        return known.within(*bounds, level.names(problem.classes)), priors, path
    guesses = [*priors.values(), *([] if path is None else path.entries)]
    return known.closed(np.stack(guesses or [np.ones(level.n_entries)])), priors, path


def _listed(callbacks: Any) -> list[Callable[[SearchProgress], Any]]:
    if callbacks is None:
        return []
    return [callbacks] if callable(callbacks) else list(callbacks)


# The run of an optimiser


def thread_number(n_jobs: int | None) -> int:
    """Return the number of threads that ``n_jobs`` stands for, here.

    Inside a worker process of joblib, as in a grid search with jobs of its own, it is at
    most the number BLAS was left: joblib divides the cores among its processes. Inside
    one of its threads it is one, because joblib does not divide the cores among threads.
    """
    backend, _ = get_active_backend()
    # A backend may count the cores of a cluster, but threads are of this machine.
    most = n_jobs if n_jobs is not None and n_jobs > 0 else cpu_count()
    threads = min(int(effective_n_jobs(n_jobs)), most)
    if not backend.nesting_level:
        return threads
    if parent_process() is None:
        return 1
    with one_blas_thread() as allowed:
        return min(threads, allowed)


def make_optimizer(
    optimizer: str | Callable[..., AskTell],
    box: Box,
    size: int,
    rng: np.random.Generator,
    initial: FloatArray | None = None,
) -> AskTell:
    """Return an optimiser by its name or by a callable that makes it."""
    make = OPTIMIZERS[optimizer] if isinstance(optimizer, str) else optimizer
    return make(box, size, rng, initial=initial)


@dataclass(frozen=True, slots=True)
class SearchProgress:
    """State of a search after a generation, for callbacks; greater scores are better."""

    generation: int
    max_epochs: int
    n_evaluations: int
    best_score: float
    mean_score: float
    std: float
    seconds: float


class ReplayedFitness:
    """The losses that are recorded, generation by generation, then those of the objective.

    An objective that remembers begins anew every ``FORGETTING`` generations. What it
    remembered where a search is resumed is computed again, so that the search goes on to
    the last digit.
    """

    def __init__(
        self,
        objective: Callable[[FloatArray], FloatArray],
        search: AskTell,
        steps: Steps,
        max_epochs: int,
        name: str = MAIN,
    ) -> None:
        self._objective, self._search, self._steps, self._name = objective, search, steps, name
        self.stored = steps.generations(name)
        goes_on = len(self.stored) <= max_epochs
        remembers = isinstance(objective, CostObjective) and objective.remembers
        resumed = len(self.stored) // FORGETTING * FORGETTING
        start = resumed if remembers and goes_on else len(self.stored)
        self._recomputed = range(start, len(self.stored))

    def __call__(self, points: FloatArray) -> FloatArray:
        """Return the losses (P,) of a generation of points; an interrupt ends it."""
        generation = self._search.generation
        if generation % FORGETTING == 0 and isinstance(self._objective, CostObjective):
            self._objective.forget()
        if generation in self._recomputed:
            with self._steps.allowed():
                self._objective(points)
        if generation < len(self.stored):
            self._steps.scored()
            return self.stored[generation]
        with self._steps.allowed():
            values = self._objective(points)
        self._steps.scored()  # from here on, also while it is written
        self._steps.add(values, self._name)
        return values


@dataclass(frozen=True, slots=True)
class SearchRun:
    """Settings of the run of an optimiser."""

    optimizer: str | Callable[..., AskTell]
    population_size: int
    max_epochs: int
    patience: int | None = None
    max_time: float | None = None
    callbacks: Sequence[Callable[[SearchProgress], Any]] = ()
    verbose: int = 0
    steps: Steps = field(default_factory=Steps)
    name: str = MAIN  # under which generations are recorded
    title: str = ""  # how candidates are evaluated
    start: float = field(default_factory=time.monotonic)

    def evolve(
        self,
        objective: Callable[[FloatArray], FloatArray],
        box: Box,
        seeds: dict[str, FloatArray],
        rng: np.random.Generator,
    ) -> SearchResult:
        """Minimise ``objective`` from a first population that holds the ``seeds``.

        Each seed is some points (n, D) with a name. The result is never worse than any
        of them, even if the population is too small to hold them all. Of an interrupted search
        it is the best so far, or the best of the seeds.
        """
        steps = self.steps
        if self.verbose > 1:
            logger.info("evaluated by %s", self.title)
        if self.name == MAIN:
            steps.bar.begin(SEARCH, self.max_epochs + 1, self.title)
        # Seeds are evaluated first: the best of them fill half of the first population.
        losses = self._seed_losses(objective, seeds)
        point: FloatArray = np.empty(0)
        loss, history = np.inf, SearchHistory(reason="interrupted")
        if len(losses) == len(seeds):
            initial = _ranked(seeds, losses, self.population_size)
            search = make_optimizer(self.optimizer, box, self.population_size, rng, initial)
            try:
                history = self._minimize(search, objective)
                point, loss = search.best
            except KeyboardInterrupt:
                if not (losses and steps.keeps):
                    raise
        if history.reason == "interrupted":
            steps.skip(self._place(len(history.generations)))
        priors = {
            name: PriorResult(seeds[name][values.argmin()].copy(), -float(values.min()))
            for name, values in losses.items()
        }
        # A seed that did not fit into the population may still be the best.
        for prior in priors.values():
            if -prior.score < loss:
                point, loss = prior.point, -prior.score
        if not np.isfinite(loss) and not history.generations:
            raise KeyboardInterrupt  # before anything was worth keeping
        if not np.isfinite(loss):
            raise NoFiniteFitnessError(
                "the search must meet a candidate with a finite fitness, got none in "
                f"{history.evaluations} evaluations"
            )
        return SearchResult(point, -loss, priors, history)

    def _minimize(
        self, search: AskTell, objective: Callable[[FloatArray], FloatArray]
    ) -> SearchHistory:
        """Run the optimiser, and record, show and report every generation."""
        steps, is_main = self.steps, self.name == MAIN
        fitness = ReplayedFitness(objective, search, steps, self.max_epochs, self.name)

        def callback(_: AskTell, history: SearchHistory) -> bool:
            progress = self._progress(history)
            steps.bar.advance(f"best={progress.best_score:.4g}" if is_main else None)
            # Recorded generations have been reported by the run that recorded them.
            new = len(history.generations) > len(fitness.stored)
            if not new:
                return False
            with steps.allowed():
                return self._report(progress)

        history = minimize(
            search,
            fitness,
            max_epochs=self.max_epochs,
            patience=self.patience,
            max_time=self.max_time,
            callback=callback,
        )
        if is_main:
            steps.save()
        return history

    def _seed_losses(
        self, objective: Callable[[FloatArray], FloatArray], seeds: dict[str, FloatArray]
    ) -> dict[str, FloatArray]:
        """Return the losses of the seeds by name, of an interrupted search of the first of them."""
        steps, name = self.steps, f"priors of {self.name}"
        shapes = {seed: (len(points),) for seed, points in seeds.items()}
        known = steps.recorded(name, shapes)
        if known is not None:
            steps.scored()
            return {seed: known[seed] for seed in seeds}
        losses: dict[str, FloatArray] = {}
        for seed, points in seeds.items():
            found = steps.attempt(self._place(0), objective, points)
            if found is None:
                return losses
            losses[seed] = found
            steps.scored()
        # All at once: the last digits of one may depend on those before.
        if losses:
            steps.record(name, **losses)
        return losses

    def _place(self, n_generations: int) -> str:
        """Return where a search is after some generations, for a warning."""
        if self.name != MAIN:
            return "in the prior test"
        if n_generations == 0:
            return "before its first generation"
        return f"after generation {n_generations - 1} of {self.max_epochs}"

    def _progress(self, history: SearchHistory) -> SearchProgress:
        last = history.generations[-1]
        return SearchProgress(
            last.generation,
            self.max_epochs,
            last.evaluations,
            -last.best,
            -last.mean,
            last.std,
            time.monotonic() - self.start,
        )

    def _report(self, progress: SearchProgress) -> bool:
        """Log a generation and call all callbacks; any of them may stop the search."""
        if self.verbose > 1:
            logger.info(
                "generation %d of %d: best %.6g, mean %.6g",
                progress.generation,
                progress.max_epochs,
                progress.best_score,
                progress.mean_score,
            )
        returned = [callback(progress) for callback in self.callbacks]  # none is skipped
        return any(isinstance(value, bool | np.bool_) and bool(value) for value in returned)


def _ranked(
    seeds: dict[str, FloatArray], losses: dict[str, FloatArray], size: int
) -> FloatArray | None:
    """Return the best point of every seed, then the best others up to half a population."""
    if not seeds:
        return None
    first = [int(values.argmin()) for values in losses.values()]
    leaders = [points[i] for points, i in zip(seeds.values(), first, strict=True)]
    others = np.vstack(
        [np.delete(p, i, axis=0) for p, i in zip(seeds.values(), first, strict=True)]
    )
    rest = np.concatenate([np.delete(v, i) for v, i in zip(losses.values(), first, strict=True)])
    room = max(0, size // 2 - len(leaders))
    ranked = others[np.argsort(rest, kind="stable")[:room]]
    return np.vstack([*leaders, ranked])[:size]


# Fitted attributes that all searching estimators have


def search_attributes(search: CostSearch, result: SearchResult, engine: Engine) -> dict[str, Any]:
    """Return the fitted attributes that tell how costs were found."""
    found = search.encoding.decode(result.point[np.newaxis])
    gamma = None if found.gamma is None else float(found.gamma[0])
    return {
        "best_score_": result.score,
        "prior_scores_": {name: prior.score for name, prior in result.priors.items()},
        "engine_": str(engine),
        "_history_": result.history,
        # Kept for warm_start, in the unit of the search.
        "_entries_": search.encoding.entries(result.point[np.newaxis])[0],
        "_numbers_": (float(found.C[0]), gamma),
    }


def prior_test_attributes(test: PriorTest | None, keep_prior: bool | str) -> dict[str, Any]:
    """Return the fitted attributes of the prior test."""
    return {
        "gain_": np.nan if test is None else test.gain,
        "gain_std_error_": np.nan if test is None else test.std_error,
        "keeps_prior_": prior_is_kept(test, keep_prior),
    }


def cost_attributes(
    level: CostLevel,
    entries: FloatArray,
    B: FloatArray,
    codes: IntArray,
    used: IntArray,
    n_classes: int,
) -> dict[str, Any]:
    """Return the costs by class and confusion, and by row from B of the rows used.

    A row of weight 0 gets the mean cost of its class.
    """
    seen = np.maximum(np.bincount(codes[used], minlength=n_classes), 1)
    means = np.bincount(codes[used], B, minlength=n_classes) / seen
    by_row = means[codes]
    by_row[used] = B
    by_class = means
    if not isinstance(level, SampleLevel):
        by_class = level.group_costs(entries[np.newaxis])[0]
    matrix = by_class[:, np.newaxis] * (1.0 - np.eye(n_classes))
    if isinstance(level, MatrixLevel):
        matrix = level.matrices(entries[np.newaxis])[0]
    return {"cost_vector_": by_row, "class_costs_": by_class, "cost_matrix_": matrix}


def previous_costs(
    estimator: Any, previous: Any = None
) -> tuple[FloatArray, tuple[float, float | None]] | None:
    """Return the costs to begin with: of ``previous``, or with ``warm_start`` of an earlier fit."""
    fitted = estimator if previous is None and estimator.warm_start else previous
    if not hasattr(fitted, "_entries_"):
        return None
    return fitted._entries_, fitted._numbers_


def history_frame(estimator: Any) -> Any:
    """Return a frame of the search: one row per generation, greater scores are better."""
    import pandas as pd  # noqa: PLC0415  half a second that only this property needs

    check_is_fitted(estimator)
    return pd.DataFrame(
        [
            (g.generation, g.evaluations, -g.best, -g.mean, g.std)
            for g in estimator._history_.generations
        ],
        columns=["generation", "evaluations", "best", "mean", "std"],
    )


def n_evaluations(estimator: Any) -> int:
    """Return the number of candidates that the search has evaluated."""
    check_is_fitted(estimator)
    return int(estimator._history_.evaluations)
