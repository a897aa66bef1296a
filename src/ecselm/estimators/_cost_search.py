"""Search for costs: constraints, first population, prior test and result."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from numbers import Integral, Real
from typing import Any, Protocol

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ecselm._random import as_generator
from ecselm._sklearn import HasMethods, Interval, StrOptions
from ecselm._threads import Workers
from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.costs import ClassCosts, Costs, ExampleCosts, read_costs
from ecselm.costs.constraints import CostRegion, read_knowledge
from ecselm.costs.levels import ClassLevel, CostLevel, MatrixLevel, SampleLevel
from ecselm.costs.parse import numbers
from ecselm.estimators._checkpoint import Checkpoint, identity_of, stored_seed
from ecselm.estimators._evolution import (
    OPTIMIZERS,
    Evolution,
    SearchProgress,
    SearchRun,
    make_search,
)
from ecselm.estimators._prior_test import FEW, FewCasesWarning, Verdict, weigh
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
from ecselm.estimators._scoring import JudgedClasses, JudgedRows, class_judge
from ecselm.fitness import CostEncoding, CostObjective, Engine, Judge, Shrinkage, Span
from ecselm.metrics import get_scorer
from ecselm.search import AskTell, SearchHistory

PRIOR = "prior"  # the costs that the metric asks for
SAMPLE_BOUNDS = (1e-3, 1.0)
N_NUMBERS = 5  # values of C, or of the width, beside every prior in the first population

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
# What may differ between a search and the one that goes on with its checkpoint.
RUNNING = {
    *("max_epochs", "patience", "max_time", "checkpoint"),
    *("callbacks", "warm_start", "n_jobs", "memory_limit", "max_samples", "verbose"),
}


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """What is searched: the code of its points, and those to begin with."""

    encoding: CostEncoding
    seeds: dict[str, FloatArray]
    path: PowerPath | None = None  # costs that the metric may ask for


@dataclass(frozen=True, slots=True)
class LearnedCosts:
    """The costs a search has settled on, in the person's unit if there is one."""

    entries: FloatArray  # (E,)
    costs: FloatArray  # (g,) by group of rows, the B of (15)
    weights: FloatArray  # (g,) the same as they were judged, with a mean of 1 if normalised
    C: float
    gamma: float | None

    def completed(self, trained: IntArray, codes: IntArray) -> LearnedCosts:
        """Give rows that no candidate was trained on the mean cost of their class.

        Their own costs took no part in any fitness: they stand where they were drawn. A
        class that was never trained on gets the mean of all others.
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


class Weighing:
    """Mixin of estimators that have a prior to hold learned costs against."""

    shrinkage: float = 0.0
    keep_prior: bool | str = False
    gain_: float
    gain_std_error_: float
    keeps_prior_: bool

    def _pull(self, plan: SearchPlan) -> Shrinkage | None:
        """Return what pulls costs towards the prior, if anything does."""
        if plan.path is None or self.shrinkage == 0:
            return None
        return Shrinkage(plan.path.prior, self.shrinkage)

    def _weighed(
        self,
        found: Evolution,
        plan: SearchPlan,
        engine: Engine,
        judge: Judge,
        keys: AnyArray,
    ) -> Evolution:
        """Return the prior in the place of what was found where that is no better."""
        prior = found.priors.get(PRIOR)
        if prior is None:
            self._tell_verdict(None)
            return found
        both = np.stack([found.point, prior.point])
        learned, plain = engine.scores(plan.encoding.decode(both, scaled=False))
        verdict = weigh(judge, learned, plain, keys)
        self._tell_verdict(verdict)
        return replace(found, point=prior.point) if self.keeps_prior_ else found

    def _tell_verdict(self, verdict: Verdict | None) -> None:
        """Keep what learned costs gain, and warn where they are not used for want of rows."""
        self.gain_ = np.nan if verdict is None else verdict.gain
        self.gain_std_error_ = np.nan if verdict is None else verdict.noise
        always = self.keep_prior == "always"
        self.keeps_prior_ = verdict is not None and (always or not verdict.pays)
        if verdict is not None and verdict.few and self.keeps_prior_ and not always:
            warnings.warn(
                f"the smallest class has {verdict.n_smallest} rows, fewer than {FEW}, and the "
                f"costs learned gain {verdict.gain:.3g} with a noise of {verdict.noise:.3g}: "
                "prior costs are kept",
                FewCasesWarning,
                stacklevel=2,
            )


class CostLearning(Weighing):
    """Mixin of estimators that learn costs; parameters are documented there."""

    cost_level: str
    cost_bounds: Any
    fixed_costs: Mapping[Any, Any] | None
    cost_intervals: Mapping[Any, Any] | None
    cost_order: Sequence[Any] | None
    priors: Sequence[str]
    scoring: Any
    normalize: bool
    optimizer: str | Callable[..., AskTell]
    population_size: int
    max_epochs: int
    patience: int | None
    max_time: float | None
    checkpoint: str | os.PathLike[str] | None
    callbacks: Any
    warm_start: bool
    n_jobs: int | None
    random_state: Any
    verbose: int
    get_params: Callable[..., dict[str, Any]]
    prior_scores_: dict[str, float]
    best_score_: float
    engine_: str
    _history_: SearchHistory
    _entries_: FloatArray
    _numbers_: tuple[float, float | None]

    @property
    def history_(self) -> Any:
        """Return a frame of the search: one row per generation, greater scores are better."""
        import pandas as pd  # noqa: PLC0415  half a second that nobody else should wait

        check_is_fitted(self)
        return pd.DataFrame(
            [
                (g.generation, g.evaluations, -g.best, -g.mean, g.spread)
                for g in self._history_.generations
            ],
            columns=["generation", "evaluations", "best", "mean", "spread"],
        )

    @property
    def n_evaluations_(self) -> int:
        """Return how many candidates the search has evaluated."""
        check_is_fitted(self)
        return self._history_.evaluations

    def _bounds(self) -> tuple[float, float] | None:
        if self.cost_bounds is None:
            return None
        bounds = numbers(self.cost_bounds, "cost_bounds")
        if bounds.shape != (2,) or bounds[0] > bounds[1]:
            raise ValueError(
                f"cost_bounds must be a pair (low, high) with low <= high, got {self.cost_bounds!r}"
            )
        if bounds[0] <= 0 and self.cost_level in {"matrix", "decision"}:
            raise ValueError(
                f"cost_bounds must be > 0 with cost_level={self.cost_level!r}, got "
                f"{self.cost_bounds!r}"
            )
        if self.normalize and bounds[0] <= 0:
            raise ValueError(
                "normalize must be False where cost_bounds allow costs of 0 or less, whose mean "
                f"may be 0, got cost_bounds={self.cost_bounds!r}"
            )
        return float(bounds[0]), float(bounds[1])

    def _plan(
        self,
        level: CostLevel,
        classes: AnyArray,
        priors: dict[str, FloatArray],
        masses: FloatArray,
        C: Span,
        gamma: Span | None = None,
        *,
        decides: bool = False,
        path: PowerPath | None = None,
    ) -> SearchPlan:
        """Return what is searched, or refuse what contradicts itself."""
        if self.scoring is not None:
            get_scorer(self.scoring)
        known = read_knowledge(
            self.fixed_costs, self.cost_intervals, self.cost_order, level, classes
        )
        bounds, by_row = self._bounds(), isinstance(level, SampleLevel)
        if bounds is None and known.is_open:
            if self.normalize:  # the unit of stated costs must not matter
                priors = {name: mean_one(costs, level, masses) for name, costs in priors.items()}
                path = None if path is None else path.scaled(level, masses)
            bounds = SAMPLE_BOUNDS if by_row else None
        if bounds is not None:
            region = known.within(*bounds, level.names(classes))
        else:
            guesses = [*priors.values(), *([] if path is None else path.entries)]
            region = known.closed(np.stack(guesses or [np.ones(level.n_entries)]))
        encoding = CostEncoding(
            level,
            region,
            C,
            gamma,
            masses if self.normalize else None,
            log=not by_row and bool((region.low > 0).all()),
            decides=decides,
        )
        # An optimiser that cannot be had, or not of this size, is refused before any work.
        make_search(self.optimizer, encoding.box, self.population_size, np.random.default_rng(0))
        path = path if encoding.log else None
        return SearchPlan(encoding, self._seeds(encoding, priors, path), path)

    def _seeds(
        self, encoding: CostEncoding, priors: dict[str, FloatArray], path: PowerPath | None
    ) -> dict[str, FloatArray]:
        """Return the points of the priors that contradict nothing, at several C and widths."""
        seeds = {}
        if path is not None and self.keep_prior:
            priors = {**priors, PRIOR: path.prior}
        for name, entries in priors.items():
            inside = self._inside(encoding.region, entries)
            if inside is None and name == "cost":
                raise ValueError(
                    "cost must not contradict cost_bounds, fixed_costs, cost_intervals or "
                    f"cost_order, got costs of {np.unique(entries)[:10].tolist()}"
                )
            if inside is not None:
                seeds[name] = _with_numbers(encoding, inside)
        if self.warm_start and hasattr(self, "_entries_"):
            if self._entries_.shape != (encoding.level.n_entries,):
                raise ValueError(
                    f"warm_start must go on with {encoding.level.n_entries} costs, got a model "
                    f"with {len(self._entries_)}"
                )
            seeds["previous"] = encoding.encode(self._entries_, *self._numbers_)[np.newaxis]
        return seeds

    def _inside(self, region: CostRegion, entries: FloatArray) -> FloatArray | None:
        inside = region.scaled_into(entries)
        if inside is None or self.normalize:
            return inside
        return inside if np.array_equal(inside, entries) else None  # the scale matters

    def _stream(self) -> tuple[np.random.Generator, int]:
        """Return the one generator of the fit, and the seed it came from if that is ours."""
        if self.random_state is not None or self.checkpoint is None:
            return as_generator(self.random_state), 0
        seed = stored_seed(self.checkpoint)
        if seed is None:
            seed = int(np.random.SeedSequence().entropy)  # type: ignore[arg-type]
        return np.random.default_rng(seed), seed

    def _checkpoint(self, plan: SearchPlan, data: dict[str, Any], seed: int) -> Checkpoint | None:
        if self.checkpoint is None:
            return None
        settings = {k: v for k, v in self.get_params(deep=False).items() if k not in RUNNING}
        given = {**settings, **data, "first population": plan.seeds, "version": version("ecselm")}
        return Checkpoint(self.checkpoint, identity_of(given), seed)

    def _search(
        self,
        plan: SearchPlan,
        engine: Engine,
        judge: Judge,
        rng: np.random.Generator,
        checkpoint: Checkpoint | None,
        keys: AnyArray,
        n_threads: int | None = None,
    ) -> LearnedCosts:
        """Search the costs, keep the prior's where those found are no better, and say how.

        Judged rows of the same ``keys`` (n,) are one row to a verdict.
        """
        found = self._evolved(plan, engine, judge, rng, checkpoint, n_threads)
        found = self._weighed(found, plan, engine, judge, keys)
        return self._settled(plan.encoding, found)

    def _evolved(
        self,
        plan: SearchPlan,
        engine: Engine,
        judge: Judge,
        rng: np.random.Generator,
        checkpoint: Checkpoint | None,
        n_threads: int | None,
    ) -> Evolution:
        """Search the costs; ``n_threads`` is None for an engine that sees to threads itself."""
        run = SearchRun(
            optimizer=self.optimizer,
            population_size=self.population_size,
            max_epochs=self.max_epochs,
            patience=self.patience,
            max_time=self.max_time,
            callbacks=_listed(self.callbacks),
            verbose=int(self.verbose),
            checkpoint=checkpoint,
            title=str(engine),
        )
        self.engine_ = str(engine)
        encoding = plan.encoding
        with contextlib.nullcontext() if n_threads is None else Workers(n_threads) as workers:
            objective = CostObjective(encoding, engine, judge, workers, self._pull(plan))
            return run.evolve(objective, encoding.box, plan.seeds, rng)

    def _settled(self, encoding: CostEncoding, evolution: Evolution) -> LearnedCosts:
        """Return the costs found, and keep how they were found.

        Where the person has stated numbers, costs stay in their unit and C makes up for
        their scale, so that (15) holds for the attributes as they are.
        """
        points = evolution.point[np.newaxis]
        found, entries = encoding.decode(points), encoding.entries(points)[0]
        C, gamma = float(found.C[0]), None if found.gamma is None else float(found.gamma[0])
        costs = found.costs[0]
        self.best_score_ = evolution.score
        self.prior_scores_ = {name: prior.score for name, prior in evolution.priors.items()}
        self._history_, self._entries_ = evolution.history, entries
        self._numbers_ = C, gamma
        has_unit = self.cost_bounds is not None or self.fixed_costs or self.cost_intervals
        plain = encoding.level.group_costs(entries[np.newaxis])[0]
        if encoding.decides:  # only ratios matter to a decision
            entries = entries if has_unit else entries / entries.mean()
        elif has_unit:
            scale = 1.0 if encoding.masses is None else float(costs.sum() / plain.sum())
            return LearnedCosts(entries, plain, costs, C * scale, gamma)
        elif encoding.masses is not None:
            entries = entries * float(costs.sum() / plain.sum())
        return LearnedCosts(entries, costs, costs, C, gamma)


def _with_numbers(encoding: CostEncoding, entries: FloatArray) -> FloatArray:
    widths: list[float | None] = [None]
    if encoding.gamma is not None:
        widths = list(encoding.gamma.grid(N_NUMBERS))
    return np.stack(
        [encoding.encode(entries, C, gamma) for gamma in widths for C in encoding.C.grid(N_NUMBERS)]
    )


def _listed(callbacks: Any) -> list[Callable[[SearchProgress], Any]]:
    if callbacks is None:
        return []
    return [callbacks] if callable(callbacks) else list(callbacks)


class LabelledRows(Protocol):
    """Rows of positive weight with their classes."""

    @property
    def codes(self) -> IntArray:
        """Return the class codes (N,)."""

    @property
    def weight(self) -> FloatArray | None:
        """Return the sample weights (N,)."""

    def judged(self, positions: IntArray) -> JudgedRows:
        """Return some of the rows as a judge sees them."""


def cost_level(name: str, y: IntArray, n_classes: int) -> CostLevel:
    """Return the level by its name."""
    if name == "sample":
        return SampleLevel(y)
    return ClassLevel(n_classes) if name == "class" else MatrixLevel(n_classes)


class ClassCostLearning(CostLearning):
    """Mixin of classifiers that learn costs."""

    cost: Any
    scoring: Any
    smoothing: float
    classes_: AnyArray
    cost_vector_: FloatArray
    class_costs_: FloatArray
    cost_matrix_: Any

    @property
    def _decides(self) -> bool:
        """Tell whether the costs searched act on decisions rather than on training."""
        return self.cost_level == "decision"

    def _stated(
        self, codes: IntArray, classes: AnyArray, used: IntArray, stated: dict[str, Any]
    ) -> Costs | None:
        """Return the person's costs of the rows used, None if there are none."""
        costs = read_costs(self.cost, codes, classes, aggregate="classes", **stated)
        if self.cost is None and all(value is None for value in stated.values()):
            return None
        if isinstance(costs, ClassCosts):
            return costs
        return ExampleCosts(row_costs(costs, codes, len(classes))[used])

    def _priors(
        self, level: CostLevel, rows: LabelledRows, classes: AnyArray, costs: Costs | None
    ) -> dict[str, FloatArray]:
        """Return the entries of every prior, by name."""
        counts = np.bincount(rows.codes, rows.weight, minlength=len(classes)).astype(np.float64)
        priors = prior_costs(self.priors, level, counts, classes, self.normalize)
        if costs is not None and "cost" in self.priors:
            priors["cost"] = stated_costs(costs, level, rows.codes, len(classes), rows.weight)
        return priors

    def _path(
        self, level: CostLevel, rows: LabelledRows, classes: AnyArray, costs: Costs | None
    ) -> PowerPath | None:
        """Return the costs that the metric may ask for; rows have none of their own."""
        if isinstance(level, SampleLevel):
            return None
        counts = np.bincount(rows.codes, rows.weight, minlength=len(classes)).astype(np.float64)
        stated = None
        if costs is not None:
            stated = stated_costs(costs, level, rows.codes, len(classes), rows.weight)
        return power_path(self.scoring, level, counts, stated)

    def _shares(
        self, level: CostLevel, rows: LabelledRows, classes: AnyArray, costs: Costs | None
    ) -> FloatArray | None:
        """Return how dear rows are among their class, where such costs are to be saved."""
        by_class = isinstance(level, ClassLevel) and self.cost_level == "class"
        if not (by_class and isinstance(costs, ExampleCosts) and counts_costs(self.scoring)):
            return None
        return row_shares(costs, rows.codes, len(classes), rows.weight)

    def _judge(
        self, rows: LabelledRows, classes: AnyArray, costs: Costs | None, judged: IntArray
    ) -> Judge:
        """Return the judge of the rows at these positions."""
        known = JudgedClasses(
            rows.codes[judged],
            classes,
            costs.matrix if isinstance(costs, ClassCosts) else None,
            costs.matrix[judged] if isinstance(costs, ExampleCosts) else None,
            decides=self._decides,
        )
        return class_judge(self.scoring, rows.judged(judged), known, self.smoothing)

    def _store_costs(
        self,
        level: CostLevel,
        entries: FloatArray,
        B: FloatArray,
        codes: IntArray,
        used: IntArray,
    ) -> None:
        """Store costs by class and confusion from ``entries``, and by row from B of those used.

        A row of weight 0 gets the mean cost of its class.
        """
        k = len(self.classes_)
        seen = np.maximum(np.bincount(codes[used], minlength=k), 1)
        means = np.bincount(codes[used], B, minlength=k) / seen
        self.cost_vector_ = means[codes]
        self.cost_vector_[used] = B
        if isinstance(level, SampleLevel):
            self.class_costs_ = means
        else:
            self.class_costs_ = level.group_costs(entries[np.newaxis])[0]
        self.cost_matrix_ = self.class_costs_[:, np.newaxis] * (1.0 - np.eye(k))
        if isinstance(level, MatrixLevel):
            self.cost_matrix_ = level.matrices(entries[np.newaxis])[0]
