"""The evolutionary extreme learning machine (Zhu, Qin, Suganthan & Huang 2005)."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ecselm._sklearn import Interval, StrOptions
from ecselm._typing import FloatArray
from ecselm.costs import CostTerms
from ecselm.estimators._base import LAYER, ELMBase, ELMClassifierBase, ELMRegressorBase
from ecselm.estimators._checkpoint import Checkpoint, identity_of
from ecselm.estimators._cost_search import RUNNING, random_stream
from ecselm.estimators._layers import LayerRecipe, finite
from ecselm.estimators._steps import Steps
from ecselm.estimators._training import Rows
from ecselm.fitness.folds import holdout, row_hashes
from ecselm.layers import HiddenLayer, InputScale, RandomLayer, measure_scale
from ecselm.layers.random import Weights
from ecselm.linalg import Solution, solve_weighted
from ecselm.linalg.ridge import minimum_norm_solution
from ecselm.search.interrupts import keeping_best
from ecselm.search.norm_selection import (
    STRATEGIES,
    TIE_BREAKS,
    Evaluated,
    Evolution,
    NormRule,
    Variation,
    evolve,
)

Activation = str | Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, slots=True)
class ValidationSplit:
    """Training rows, validation rows, and the number of distinct validation rows."""

    train: Rows
    test: Rows
    n_distinct: int


def validation_split(rows: Rows, fraction: float, rng: np.random.Generator) -> ValidationSplit:
    """Split off a share of the distinct rows of each class; no class gives its last one.

    Equal rows stay together and rows of weight 0 are dropped, so that a row of weight
    2 and the same row twice lead to one split, whatever the order of the rows.
    """
    if rows.weight is not None:
        rows = rows.taken(np.flatnonzero(rows.weight > 0))
    (split,) = holdout(rows.X, rows.y, fraction, rng)
    test = rows.taken(split.test)
    distinct = set(zip(test.y.tolist(), row_hashes(test.X), strict=True))
    return ValidationSplit(rows.taken(split.train), test, len(distinct))


@dataclass(frozen=True, slots=True)
class ErrorMeasure:
    """An error of scores Z (N, m), its unit for given rows, and the score of error 0."""

    error: Callable[[Rows, FloatArray], float]
    unit: Callable[[Rows], float]
    perfect: float

    def score(self, error: float) -> float:
        """Return what is the greater the better."""
        return self.perfect - error


def _error_rate(rows: Rows, Z: FloatArray) -> float:
    decided = Z[:, 0] > 0 if Z.shape[1] == 1 else Z.argmax(axis=1)
    return float(np.average(decided != rows.y, weights=rows.weight))


def _one(_: Rows) -> float:
    return 1.0


def _root_mean_square(rows: Rows, Z: FloatArray) -> float:
    squares = ((rows.T.astype(np.float64) - Z) ** 2).mean(axis=1)
    return float(np.sqrt(np.average(squares, weights=rows.weight)))


def _target_std(rows: Rows) -> float:
    mean = np.average(rows.T, axis=0, weights=rows.weight)
    return _root_mean_square(rows, mean[np.newaxis])


ERROR_RATE = ErrorMeasure(_error_rate, _one, perfect=1.0)
ROOT_MEAN_SQUARE = ErrorMeasure(_root_mean_square, _target_std, perfect=0.0)


@dataclass(frozen=True, slots=True)
class LayerFitness:
    """The validation error of every candidate, and the norm of its output weights.

    The scale of the inputs is that of all training rows: the layer that wins is the
    layer that was evaluated.
    """

    rows: ValidationSplit
    scale: InputScale
    activation: Activation
    n_hidden: int
    C: float | None
    measure: ErrorMeasure

    def __call__(self, P: FloatArray) -> Evaluated:
        """Evaluate the points of ``P`` (NP, L (n + 1))."""
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows never wins
            found = np.array([self._evaluate(theta) for theta in P])
        return Evaluated(P, found[:, 0], found[:, 1])

    def _evaluate(self, theta: FloatArray) -> tuple[float, float]:
        train, test = self.rows.train, self.rows.test
        drawn = as_weights(theta, self.n_hidden)
        layer = RandomLayer.from_draw(drawn, self.activation, self.scale, train.T.dtype)
        H = layer(train.X)
        if not np.isfinite(np.vdot(H, H)):
            return np.inf, np.inf
        beta = solve_output(H, train.T, train.weight, self.C).beta
        Z = layer(test.X) @ beta
        if not np.isfinite(Z).all():
            return np.inf, np.inf
        return self.measure.error(test, Z), float(np.linalg.norm(beta))


def as_weights(theta: FloatArray, n_hidden: int) -> Weights:
    """Return W (n, L) and b (L,) of ``theta = vec([W; b])``, (n + 1) L numbers."""
    stacked = theta.reshape(-1, n_hidden)
    return Weights(stacked[:-1], stacked[-1])


def solve_output(H: FloatArray, T: FloatArray, w: FloatArray | None, C: float | None) -> Solution:
    """Return beta of (5), or without a ridge, for ``C=None``, that of (3)."""
    return minimum_norm_solution(H, T, w) if C is None else solve_weighted(H, T, w, C)


@dataclass(frozen=True, slots=True)
class EvolvedLearner:
    """All training rows behind the layer that won."""

    recipe: LayerRecipe
    layer: HiddenLayer
    known: Rows
    counts: FloatArray  # (k,) weighted class counts
    masses: FloatArray  # (1,) weighted factors of the one cost group
    evolution: Evolution

    def solve(self, coefficients: FloatArray, C: float | None) -> Solution:
        """Return beta of (5) or (3)."""
        H = finite(self.layer(self.known.X), *self.recipe.source)
        return solve_output(H, self.known.T, self.known.weights(coefficients), C)


def _learns_all_rows_at_once(estimator: ELMBase) -> bool:
    raise AttributeError(
        f"{type(estimator).__name__} has no partial_fit: the search must see all rows"
    )


class RecordedFitness:
    """The recorded errors and norms, generation by generation, then those of the fitness."""

    def __init__(self, fitness: LayerFitness, steps: Steps) -> None:
        self._fitness, self._steps = fitness, steps
        self._stored, self._generation = steps.generations(), 0

    def __call__(self, P: FloatArray) -> Evaluated:
        """Return the points of ``P`` (NP, D) as they were evaluated; an interrupt ends it."""
        generation, steps = self._generation, self._steps
        if generation < len(self._stored):
            found = Evaluated(P, *np.split(self._stored[generation], 2))
        else:
            with steps.allowed():
                found = self._fitness(P)
            steps.scored()  # from here on, also while it is written
            steps.add(np.concatenate([found.errors, found.norms]))
        self._generation += 1
        steps.scored()
        return found


class EvolvedLayer(ELMBase):
    """What both estimators share: parameters, search and its history."""

    n_hidden: int

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{name: LAYER[name] for name in ("activation", "scale", "random_state")},
        "n_hidden": [Interval(Integral, 1, None, closed="left")],
        "C": [Interval(Real, 0, None, closed="neither"), None],
        "population_size": [Interval(Integral, 1, None, closed="left")],
        "max_epochs": [Interval(Integral, 0, None, closed="left")],
        "amplitude": [Interval(Real, 0, None, closed="neither")],
        "crossover": [Interval(Real, 0, 1, closed="both")],
        "tolerance": [Interval(Real, 0, None, closed="left")],
        "strategy": [StrOptions(set(STRATEGIES))],
        "tie_break": [StrOptions(set(TIE_BREAKS))],
        "clip": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "checkpoint": [str, os.PathLike, None],
    }
    _measure: ClassVar[ErrorMeasure]

    C: Any  # a float, or None for no ridge

    def __init__(
        self,
        n_hidden: int = 20,
        *,
        activation: str | Callable[[FloatArray], FloatArray] = "sigmoid",
        C: float | None = None,
        scale: str | None = "minmax",
        population_size: int = 50,
        max_epochs: int = 50,
        amplitude: float = 1.0,
        crossover: float = 0.8,
        tolerance: float = 0.02,
        strategy: str = "rand1bin",
        tie_break: str = "selection",
        clip: bool = True,
        validation_fraction: float = 0.25,
        checkpoint: str | os.PathLike[str] | None = None,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
    ) -> None:
        self.n_hidden = n_hidden
        self.activation = activation
        self.C = C
        self.scale = scale
        self.population_size = population_size
        self.max_epochs = max_epochs
        self.amplitude = amplitude
        self.crossover = crossover
        self.tolerance = tolerance
        self.strategy = strategy
        self.tie_break = tie_break
        self.clip = clip
        self.validation_fraction = validation_fraction
        self.checkpoint = checkpoint
        self.random_state = random_state

    @available_if(_learns_all_rows_at_once)
    def partial_fit(self) -> None:
        """Is not offered."""

    @property
    def history_(self) -> Any:
        """Return the generations of the search as a dataframe.

        Columns are ``generation``, ``evaluations`` so far, the score of the ``best``
        candidate so far, which a smaller norm may cost a little, and ``mean`` and
        ``std`` of the scores of the generation.
        """
        import pandas as pd  # noqa: PLC0415

        check_is_fitted(self)
        frame = pd.DataFrame([asdict(generation) for generation in self._history_.generations])
        return frame.assign(
            best=self._measure.score(frame["best"]), mean=self._measure.score(frame["mean"])
        )

    def _learner(self, rows: Rows, n_classes: int) -> Any:
        evolution = self._evolve(rows)
        drawn = as_weights(evolution.best.points, self.n_hidden)
        recipe = LayerRecipe(drawn, self.activation, self.scale, None, rows.X.dtype)
        layer = recipe.make(rows.X, rows.weight)
        return EvolvedLearner(recipe, layer, rows, rows.counts(n_classes), rows.masses(), evolution)

    def _evolve(self, rows: Rows) -> Evolution:
        """Search for the input weights of the least validation error."""
        rng, seed = random_stream(self.random_state, self.checkpoint)
        split_rng, search_rng = rng.spawn(2)
        split = validation_split(rows, self.validation_fraction, split_rng)
        scale = measure_scale(rows.X, self.scale, rows.weight)
        fitness = LayerFitness(split, scale, self.activation, self.n_hidden, self.C, self._measure)
        floor = self._measure.unit(split.test) / split.n_distinct
        with Steps(self._checkpoint(rows, seed)) as steps:
            evolution = evolve(
                RecordedFitness(fitness, steps),
                (self.population_size, self.n_hidden * (rows.X.shape[1] + 1)),
                Variation(self.strategy, self.amplitude, self.crossover, self.clip),
                NormRule(self.tie_break, self.tolerance, floor),
                max_epochs=self.max_epochs,
                rng=search_rng,
            )
            if evolution.history.reason == "interrupted":
                n_done = len(evolution.history.generations)
                steps.skip(f"after generation {n_done - 1} of {self.max_epochs}")
        finite(evolution.best.errors, "activation", self.activation)
        return evolution

    def _checkpoint(self, rows: Rows, seed: int) -> Checkpoint | None:
        """Return the checkpoint; one that belongs to another search is refused."""
        if self.checkpoint is None:
            return None
        params = self.get_params(deep=False)
        given = {name: value for name, value in params.items() if name not in RUNNING}
        given |= {"X": rows.X, "y": rows.T, "sample_weight": rows.weight}
        given |= {"version": version("ecselm")}
        return Checkpoint(self.checkpoint, identity_of(given), seed)

    def _keep(self, learner: Any, terms: CostTerms) -> None:
        super()._keep(learner, terms)
        self._history_ = learner.evolution.history
        self.n_evaluations_ = self._history_.evaluations
        self.best_score_ = self._measure.score(float(learner.evolution.best.errors))


class EELMClassifier(EvolvedLayer, ELMClassifierBase):
    """Evolutionary extreme learning machine: input weights found by differential evolution.

    Candidates are the input weights and biases ``[W, b]`` of a small hidden layer. Each
    is given the output weights ``beta = pinv(H) T`` of the training rows, and evaluated by
    its error on validation rows. Where two candidates err about equally
    often the one of the smaller ``||beta||`` is preferred. At the end beta is solved
    for again, on all training rows.

    Parameters
    ----------
    n_hidden : int, default=20
        Number L of hidden units.
    activation : str or callable, default="sigmoid"
        As in :class:`ELMClassifier`.
    C : float or None, default=None
        None is the pseudo-inverse, as published; a float is the ridge of (5).
    scale : {"standard", "minmax"} or None, default="minmax"
        Scale of the inputs, measured on all training rows.
    population_size : int, default=50
        Number NP of candidates, at least 4 unless ``max_epochs=0``; published with 200.
    max_epochs : int, default=50
        Generations after the first; published with 20.
    amplitude : float, default=1.0
        The F by which differences are multiplied.
    crossover : float, default=0.8
        The probability CR that a coordinate comes from the mutant.
    tolerance : float, default=0.02
        Errors that differ by no more than this share of the older one are equal; a
        share of ``1/n`` where that is larger, for n distinct validation rows.
    strategy : {"rand1bin", "randtobest1exp"}, default="rand1bin"
        The rule of the article, or that of the code its authors handed out, which moves
        towards the best candidate and crosses over in blocks.
    tie_break : {"selection", "best_only"}, default="selection"
        Prefer small norms wherever a candidate meets its successor, as the article does,
        or only in the choice of the best one, as the code does.
    clip : bool, default=True
        Keep all weights in [-1, 1]. Published without, which lets them grow until the
        units saturate.
    validation_fraction : float, default=0.25
        Share of validation rows among the distinct rows of each class. The published code
        validates on rows of the test set, which is never seen here.
    checkpoint : path or None, default=None
        File from which the same fit resumes after a crash, as in :class:`ECSELMClassifier`.
        Ctrl-C ends the search and keeps the best so far, with a warning.
    random_state : int, RandomState, Generator or None, default=None
        Source of the split and of the search.

    Attributes
    ----------
    classes_ : array of shape (k,)
    beta_ : array of shape (L, k)
        Output weights.
    layer_ : RandomLayer
        The layer that won.
    best_score_ : float
        Its accuracy on the validation rows: the best of many, and so too good.
    n_evaluations_ : int
        ``population_size * (max_epochs + 1)``.
    history_ : pandas.DataFrame
        The generations of the search: ``generation``, ``evaluations``, and the
        ``best``, ``mean`` and ``std`` of the scores.
    cost_vector_, solver_, n_features_in_, feature_names_in_ :
        As in :class:`ELMClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import train_test_split
    >>> from ecselm import EELMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> X, X_test, y, y_test = train_test_split(X, y, random_state=0)
    >>> model = EELMClassifier(n_hidden=8, population_size=20, max_epochs=10, random_state=0)
    >>> bool(model.fit(X, y).score(X_test, y_test) > 0.9), model.n_evaluations_
    (True, 220)
    """

    _measure = ERROR_RATE

    @keeping_best()
    def _fit_labels(self, X: Any, y: Any, sample_weight: Any, **stated: Any) -> Self:
        return super()._fit_labels(X, y, sample_weight, **stated)


class EELMRegressor(EvolvedLayer, ELMRegressorBase):
    """Evolutionary extreme learning machine for one or many real targets.

    As :class:`EELMClassifier`, with the root mean square error on the validation rows. The
    least error that ``tolerance`` refers to is ``1/n`` of the std of their targets,
    so that the unit of the targets does not matter.

    Parameters
    ----------
    n_hidden, activation, C, scale, population_size, max_epochs, amplitude, crossover, \
tolerance, strategy, tie_break, clip, validation_fraction, checkpoint, random_state :
        As in :class:`EELMClassifier`.

    Attributes
    ----------
    beta_ : array of shape (L, m)
    layer_ : RandomLayer
    best_score_ : float
        Minus the root mean square error on the validation rows.
    n_evaluations_, history_, solver_, n_features_in_ :
        As in :class:`EELMClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from ecselm import EELMRegressor
    >>> X = np.linspace(-3, 3, 200)[:, np.newaxis]
    >>> model = EELMRegressor(n_hidden=8, population_size=20, max_epochs=10, random_state=0)
    >>> bool(model.fit(X, np.sin(X[:, 0])).score(X, np.sin(X[:, 0])) > 0.99)
    True
    """

    _measure = ROOT_MEAN_SQUARE

    @keeping_best()
    def _fit_targets(self, X: Any, y: Any, sample_weight: Any, stated: Any = None) -> Self:
        return super()._fit_targets(X, y, sample_weight, stated)
