"""The evolutionary extreme learning machine (Zhu, Qin, Suganthan & Huang 2005)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ecselm._random import as_generator
from ecselm._sklearn import Interval, StrOptions
from ecselm._typing import FloatArray
from ecselm.costs import CostTerms
from ecselm.elm.classification import ELMClassification
from ecselm.elm.family import LAYER, RIDGE, ELMFamily
from ecselm.elm.held_out import (
    ERROR_RATE,
    ROOT_MEAN_SQUARE,
    ErrorMeasure,
    EvolvedLearner,
    LayerJudge,
    as_weights,
    hold_out,
)
from ecselm.elm.layers import LayerRecipe
from ecselm.elm.learners import finite
from ecselm.elm.regression import ELMRegression
from ecselm.elm.rows import Rows
from ecselm.hidden import measure_scale
from ecselm.search.norm_selection import (
    STRATEGIES,
    TIE_BREAKS,
    Evolution,
    NormRule,
    Variation,
    evolve,
)


def _learns_all_rows_at_once(estimator: ELMFamily) -> bool:
    raise AttributeError(
        f"{type(estimator).__name__} has no partial_fit: the search must see all rows"
    )


class EvolvedLayer(ELMFamily):
    """What both estimators share: parameters, search and its history."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{name: LAYER[name] for name in ("n_hidden", "activation", "scale", "random_state")},
        "C": [*RIDGE["C"], None],
        "population_size": [Interval(Integral, 1, None, closed="left")],
        "max_epochs": [Interval(Integral, 0, None, closed="left")],
        "amplitude": [Interval(Real, 0, None, closed="neither")],
        "crossover": [Interval(Real, 0, 1, closed="both")],
        "tolerance": [Interval(Real, 0, None, closed="left")],
        "strategy": [StrOptions(set(STRATEGIES))],
        "tie_break": [StrOptions(set(TIE_BREAKS))],
        "clip": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
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
        self.random_state = random_state

    @available_if(_learns_all_rows_at_once)
    def partial_fit(self) -> None:
        """Is not offered."""

    @property
    def history_(self) -> Any:
        """Return the generations of the search as a dataframe.

        Columns are ``generation``, ``evaluations`` so far, the score of the ``best``
        candidate so far, which a smaller norm may cost a little, and ``mean`` and
        ``spread`` of the scores of the generation.
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
        """Search for the input weights of the least held-out error."""
        split_rng, search_rng = as_generator(self.random_state).spawn(2)
        parts = hold_out(rows, self.validation_fraction, split_rng)
        scale = measure_scale(rows.X, self.scale, rows.weight)
        judge = LayerJudge(parts, scale, self.activation, self.n_hidden, self.C, self._measure)
        floor = self._measure.unit(parts.test) / parts.n_distinct
        evolution = evolve(
            judge,
            (self.population_size, self.n_hidden * (rows.X.shape[1] + 1)),
            Variation(self.strategy, self.amplitude, self.crossover, self.clip),
            NormRule(self.tie_break, self.tolerance, floor),
            max_epochs=self.max_epochs,
            rng=search_rng,
        )
        finite(evolution.best.errors, "activation", self.activation)
        return evolution

    def _keep(self, learner: Any, terms: CostTerms) -> None:
        super()._keep(learner, terms)
        self._history_ = learner.evolution.history
        self.n_evaluations_ = self._history_.evaluations
        self.best_score_ = self._measure.score(float(learner.evolution.best.errors))


class EELMClassifier(EvolvedLayer, ELMClassification):
    """Evolutionary extreme learning machine: input weights found by differential evolution.

    Candidates are the input weights and biases ``[W, b]`` of a small hidden layer. Each
    is given the output weights ``beta = pinv(H) T`` of the rows it is trained on and
    judged by its error on rows held out of them. Where two candidates err about equally
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
        share of ``1/n`` where that is larger, for n different rows held out.
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
        Share of the different rows of each class that is held out. The published code
        holds out rows of the test set, which is never seen here.
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
        Its accuracy on the rows held out: the best of many, and so too good.
    n_evaluations_ : int
        ``population_size * (max_epochs + 1)``.
    history_ : pandas.DataFrame
        The generations of the search: ``generation``, ``evaluations``, and the
        ``best``, ``mean`` and ``spread`` of the scores.
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


class EELMRegressor(EvolvedLayer, ELMRegression):
    """Evolutionary extreme learning machine for one or many real targets.

    As :class:`EELMClassifier`, with the root mean square error on the rows held out. The
    least error that ``tolerance`` refers to is ``1/n`` of the spread of their targets,
    so that the unit of the targets does not matter.

    Parameters
    ----------
    n_hidden, activation, C, scale, population_size, max_epochs, amplitude, crossover, \
tolerance, strategy, tie_break, clip, validation_fraction, random_state :
        As in :class:`EELMClassifier`.

    Attributes
    ----------
    beta_ : array of shape (L, m)
    layer_ : RandomLayer
    best_score_ : float
        Minus the root mean square error on the rows held out.
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
