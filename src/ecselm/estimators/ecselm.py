"""The evolutionary cost-sensitive extreme learning machine (paper, Algorithm 1)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from ecselm._memory import memory_limit
from ecselm._sklearn import (
    Interval,
    StrOptions,
    fit_context,
    response_method,
)
from ecselm._threads import one_blas_thread
from ecselm._typing import FloatArray, IntArray, Matrix
from ecselm.costs import CostConstraints
from ecselm.costs.feasible import has_cost_per_class
from ecselm.costs.levels import MatrixLevel
from ecselm.costs.parse import numbers
from ecselm.costs.policy import RULES
from ecselm.estimators._base import (
    AUTO,
    KERNEL,
    KERNEL_OR_LAYER,
    PLAIN_C,
    RIDGE,
    ELMBase,
    ELMClassifierBase,
    all_or_nothing,
    class_targets,
)
from ecselm.estimators._calibration import LogisticCalibration, LooScores, fit_calibration
from ecselm.estimators._cost_intervals import class_costs_interval
from ecselm.estimators._cost_search import (
    LEARNING,
    LITERAL_SEARCH,
    PRIOR,
    SEARCH,
    TESTING,
    CostProblem,
    CostSearch,
    LearnedCosts,
    SearchSettings,
    bounding,
    cost_attributes,
    cost_bounds,
    half_known,
    history_frame,
    n_evaluations,
    previous_costs,
    prior_test_attributes,
    random_stream,
    search_attributes,
    stated_by_user,
    thread_number,
)
from ecselm.estimators._decision import MOST_CLASSES, DecisionEngine, learn_decision
from ecselm.estimators._ensemble import (
    N_PENALTIES,
    SCREENING,
    SOLVING,
    VALIDATION_ROWS,
    EnsembleRows,
    fit_ensemble,
)
from ecselm.estimators._front import at, class_centres, front_frame, keep_front, stated_matrix
from ecselm.estimators._policy import class_shares, decision_matrix, forget_promise
from ecselm.estimators._priors import counts_costs
from ecselm.estimators._promise import fit_promised
from ecselm.estimators._scoring import ConstantFitness, probability_score
from ecselm.estimators._source import (
    EngineLimits,
    KernelModel,
    MemorySource,
    Model,
    SumsSource,
    TrainingData,
)
from ecselm.estimators._steps import Steps
from ecselm.fitness import (
    Candidates,
    CostedRows,
    CostEncoding,
    Engine,
    ExpectedCostEngine,
    RememberedScores,
    Span,
    Split,
)
from ecselm.fitness.folds import read_groups, training_rows, validation_rows
from ecselm.layers import ACTIVATIONS, KernelMap
from ecselm.linalg import loo_scores
from ecselm.metrics import default_metric, get_scorer
from ecselm.search import AskTell
from ecselm.search.interrupts import keeping_best

SEARCHED: dict[str, list[Any]] = {
    "C": [Interval(Real, 0, None, closed="neither"), StrOptions({"search"})],
    "ensemble": RIDGE["ensemble"],
    "C_bounds": ["array-like"],
    "gamma": [StrOptions({"scale", "auto", "search"}), Interval(Real, 0, None, closed="neither")],
    "gamma_bounds": ["array-like"],
    "kernel": [*KERNEL["kernel"], None],
    "memory_limit": [Interval(Real, 0, None, closed="neither"), str, None],
}
PREPARING, CALIBRATING, FINISHING = "preparing", "calibrating", "finishing"  # phases
WITH_WIDTH = ("rbf", "laplacian", "polynomial")
PRINTED: dict[str, Any] = {
    "n_hidden": 100,
    "activation": "radbas",
    "draw": "uniform",
    "scale": "minmax",
    "cost_level": "sample",
    "cost_bounds": (-1.0, 1.0),
    "priors": (),
    "normalize": False,
    "fitness": "train",
    "smoothing": 0.0,
    "optimizer": "bsa",
    "population_size": 100,
    "max_epochs": 100,
}
PLAIN: dict[str, Any] = {
    "ensemble": None,
    "scoring": "accuracy",
    "C": 32.0,
    "shrinkage": 0.0,
    "keep_prior": False,
}


def no_partial_fit(estimator: Any) -> bool:
    """Refuse ``partial_fit``."""
    raise AttributeError(
        f"partial_fit is not offered by {type(estimator).__name__}: costs are searched on all "
        "rows at once; give the costs it has learned to WELMClassifier or CSELMClassifier"
    )


def search_spans(estimator: Any, kernel: KernelMap | None) -> tuple[Span, Span | None]:
    """Return where C and the width of the kernel are searched."""
    C = _span(estimator.C, estimator.C_bounds, "C_bounds", 32.0)
    if kernel is None:
        if estimator.gamma == "search":
            raise ValueError("gamma='search' must have a kernel to search for, got kernel=None")
        return C, None
    if estimator.gamma == "search" and estimator.kernel not in WITH_WIDTH:
        raise ValueError(
            f"gamma='search' must go with a kernel that has a width, {WITH_WIDTH}, got "
            f"kernel={estimator.kernel!r}"
        )
    return C, _span(estimator.gamma, estimator.gamma_bounds, "gamma_bounds", kernel.gamma)


def planned_search(
    estimator: Any,
    problem: CostProblem,
    masses: FloatArray,
    spans: tuple[Span, Span | None],
    previous: Any,
    *,
    decides: bool = False,
) -> CostSearch:
    """Return the search for costs, and for C and the kernel width within their spans."""
    return CostSearch.of_problem(
        SearchSettings.of(estimator),
        problem,
        masses,
        *spans,
        decides=decides,
        previous=previous_costs(estimator, previous),
    )


def one_model(
    estimator: ELMBase,
    source: SumsSource,
    data: TrainingData,
    kernel: KernelMap | None,
    rng: np.random.Generator,
) -> Model:
    """Return the model behind the one layer or kernel of an estimator."""
    if kernel is not None:
        return KernelModel.from_map(kernel)
    recipe = estimator._recipe(data.X, rng, n_rows=getattr(source, "n_rows", None))
    return source.model(source.layer(recipe, data), data, *recipe.source)


def _span(value: float | str, bounds: Any, name: str, start: float) -> Span:
    if value != "search":
        # A width by name, such as "scale", has been resolved to its start.
        return Span.fixed(start if isinstance(value, str) else float(value))
    pair = numbers(bounds, name)
    if pair.shape != (2,) or not 0 < pair[0] <= pair[1]:
        raise ValueError(f"{name} must be a pair (low, high) with 0 < low <= high, got {bounds!r}")
    return Span(float(pair[0]), float(pair[1]), float(np.clip(start, *pair)))


class ECSELMClassifier(ELMClassifierBase):
    """Evolutionary cost-sensitive extreme learning machine: learn what mistakes cost.

    Searches the cost information vector B of
    ``beta = (I/C + H'diag(B)H)^-1 H'diag(B)T`` (15) for the best fitness (20)-(21). As
    printed, with one cost per row and a fitness of the training rows, the search overfits:
    :meth:`paper` gives that form. The default is an ensemble of kernel machines, trained with
    the costs that metric and user imply, whose calibrated probabilities costs decide on. One
    cost per class is searched for these decisions, on scores of rows left out, and the implied
    costs are kept where learned ones gain no more than chance. ``ensemble=None`` is one layer,
    behind which costs are searched as weights B on validation rows.

    Parameters
    ----------
    n_hidden : int or "auto", default="auto"
        Number L of hidden units of every layer, as in :class:`ELMClassifier`.
    cost_level : {"class", "matrix", "sample"}, default="class"
        What has a cost of its own. ``"class"``: every class, D = k, on a log scale; every
        confusion where ``cost`` bounds those of more than two classes one by one.
        ``"matrix"``: every confusion, D = k (k - 1), on a log scale; rows are weighted
        through (12) with ``W = I`` and the mean over the wrong classes, or decisions are
        made by the matrix, see ``decision``. ``"sample"``: every row, D = N, as in the
        paper.
    cost : array, DataFrame, dict or None, default=None
        Stated costs, in any form :class:`CSELMClassifier` takes. They are in the first
        population, and are counted by ``scoring="mean_cost"``. Where they are known in part,
        their mean stands for them, and an ensemble that minimises the mean cost decides by
        ``rule``, without a search: no data tell what a mistake costs. For a metric that does
        not count costs, those that are learned, and the prior, obey all that is known in part:
        bounds, order, ratios and answers. ``fixed_costs``, ``cost_intervals`` and
        ``cost_order`` must be None then, and so must ``cost_bounds`` for such a metric.
    rule : {"expected", "minimax_regret"}, default="expected"
        As in :class:`CSELMClassifier`, of an ensemble.
    promise : dict or None, default=None
        Least recalls of classes and largest rates of false alarms on new rows, as in
        :class:`CostDecisionClassifier`. The rows held out to test it are not in ``cost_vector_``.
        Not where the largest score decides, and not with ``groups``, whose rows are not
        independent.
    confidence : float, default=0.9
        Of the promises, as in :class:`CostDecisionClassifier`.
    cost_bounds : pair of floats, default=None
        Bounds of all costs. None: a factor 4 around the priors; [0.001, 1] for rows.
    fixed_costs : dict, default=None
        Costs known, ``{(true, predicted): cost}`` or ``{true: cost}``.
    cost_intervals : dict, default=None
        Costs known to lie between two numbers, ``{(true, predicted): (low, high)}``.
    cost_order : list of pairs, default=None
        Costs known to be in order, ``[(greater, smaller)]``, each a pair (true, predicted)
        or a class. The greater cost is at least one per cent greater.
    priors : sequence, default=("ones", "w1", "w2", "cost")
        Costs in the first population, as far as they contradict nothing known: B = 1,
        (9), (10), and ``cost``. What is found is never worse than these on the fitness.
    decision : {"argmax", "min_cost"}, default="argmax"
        Of one layer: the largest score (19); or, with ``cost_level="matrix"``, the least
        expected cost under calibrated probabilities of a model trained on unweighted rows,
        which uses the cost of every confusion where (12) uses their sum. An ensemble always
        decides by the least expected cost.
    fitness : {"auto", "cv", "holdout", "loo", "train"}, int or splitter, default="auto"
        Validation rows. ``"auto"`` is ``"loo"`` for an ensemble, which can have no other, and
        ``"cv"`` for one layer. ``"cv"``: those of 5 folds (or as many as the int says), each
        by models trained on the other folds; a holdout; all rows by leave-one-out in closed
        form; or the training rows, as (21) is printed. Equal rows share a fold, and so do rows
        of one group if ``fit`` is given ``groups``, which are passed to a splitter as well;
        leave-one-out leaves whole groups out of an ensemble.
    validation_fraction : float, default=0.25
        Share of validation rows with ``fitness="holdout"``.
    scoring : str, callable or None, default=None
        Metric of the fitness: ``"gmean"``, ``"mean_cost"``, a scorer of scikit-learn's by
        name, or a scorer. None is ``"mean_cost"`` where costs are stated, otherwise
        ``"balanced_accuracy"``; the paper's is ``"accuracy"``.
    smoothing : float, default=1.0
        Share of the smoothed confusion matrix in the fitness, because counts are flat
        almost everywhere. With scores that are no function of the matrix, anything
        above 0 adds a thousandth of the squared error to break ties.
    normalize : bool, default=True
        Scale B to a mean of 1, so that C alone decides how closely the model fits.
    shrinkage : float, default=0.01
        Penalty in fitness for leaving the prior: this number times the squared logarithm
        of the factor by which costs differ from it. The prior is the power of W1 (9) implied
        by the metric, 1 for the G-mean, 0 for the accuracy, 1/2 for others such as F1; or
        ``cost`` where the metric counts it. It is moved to where ``cost`` that is known in
        part allows it, with ratios as near as possible.
    keep_prior : bool or "always", default=True
        Whether to keep the prior where learned costs gain no more than a standard error of
        the comparison, or two where a class has fewer than 17 rows. ``"always"`` learns no
        costs, only layers and C.
    ensemble : "auto", int, list or None, default="auto"
        As in :class:`ELMClassifier`. ``"auto"`` is one layer where a ``kernel``, a
        ``hidden_layer`` or an ``activation`` is given, or costs by row are searched.
    C : float or "search", default="search"
        Trade-off between small errors and small output weights; of an ensemble chosen for
        every member.
    C_bounds : pair of floats, default=(2**-6, 2**16)
        Bounds for ``C="search"``, on a log scale, for costs of the mean 1.
    activation : str or callable, default="auto"
        Of one layer, ``"auto"`` is ``"radbas"``.
    draw, hidden_layer :
        Of one layer, as in :class:`ELMClassifier`.
    scale, kernel, degree, coef0, max_samples :
        As in :class:`CSELMClassifier`.
    gamma : float, "scale", "auto" or "search", default="scale"
        Width of the kernel.
    gamma_bounds : pair of floats, default=(2**-9, 2)
        Bounds for ``gamma="search"``, on a log scale.
    optimizer : {"bsa", "bsa_literal", "de", "cma", "random", "sobol"} or callable, default="bsa"
        ``"bsa_literal"`` is that of :meth:`paper` with ``literal=True``. A callable takes
        ``(space, size, rng, initial=...)`` and returns an optimiser with the methods
        ``ask`` and ``tell``, as those of :mod:`ecselm.search`:
        ``functools.partial(BacktrackingSearch, redraw_memory=True)``.
    population_size : int, default=30
    max_epochs : int, default=10
        Generations after the first population.
    patience : int, default=None
        Number of generations without a better fitness after which the search stops.
    max_time : float, default=None
        Seconds; the search stops after the generation in which they have passed.
    checkpoint : path, default=None
        File in which the steps of the fit are stored as it runs. If it exists, ``fit`` resumes
        behind them, and ends with the same model as if it had never stopped. One file is for
        one fit: folds of a ``GridSearchCV`` cannot share it.
    callbacks : callable or list of callables, default=None
        Called after every generation with an object that has ``generation``,
        ``n_evaluations``, ``best_score``, ``mean_score``, ``std`` and ``seconds``; the
        search stops if one returns True.
    warm_start : bool, default=False
        Put the costs of the previous ``fit`` into the first population.
    n_jobs : int, default=None
        Threads that evaluate candidates; the result does not depend on it.
    memory_limit : int, float or str, default=None
        Memory for sums and scores kept for speed, in bytes or as a text such as
        ``"2 GiB"``; a quarter of the free memory by default.
    random_state : int, RandomState, Generator or None, default=None
    verbose : int, default=0
        1 shows a progress bar of all steps, 2 logs every generation; both say how candidates are
        solved.

    Attributes
    ----------
    classes_ : array of shape (k,)
    cost_vector_ : array of shape (N,)
        The cost information vector B of (15), the weights of rows in training: learned, but
        for an ensemble the prior.
    class_costs_ : array of shape (k,)
        The cost of a mistake on each class: the mean over its rows, or over its confusions.
        In the unit of the stated bounds or costs; else B has the mean 1.
    class_costs_interval_ : array of shape (k, 2) or None
        95 % bootstrap intervals of costs that an ensemble has learned, by samples of the
        validation rows: of each class alone, with the sum of all costs as it is. None of
        other costs, and where there are very many classes.
    cost_matrix_ : array of shape (k, k)
        The cost of each confusion; rows are the true classes. An ensemble decides by it. With
        ``promise``, the more cautious ones that keep it.
    promise_ : list of dict
        Only with ``promise``, as in :class:`CostDecisionClassifier`.
    constraints_ : CostConstraints or None
        Costs known in part, None where ``cost`` states all or none.
    C_, gamma_ : float
        The values for which (15) holds; ``gamma_`` is None without a kernel. Of the best
        member of an ensemble.
    gain_, gain_std_error_ : float
        Gain in fitness of learned over prior costs on validation rows, and its standard
        error; NaN where there is no prior, or where the metric is no function of single
        decisions.
    keeps_prior_ : bool
        Whether the prior was kept.
    front_ : DataFrame
        Recalls of the classes that other costs of decisions reach on rows left out, with
        standard errors, costs and, for two classes, thresholds; :meth:`at` decides there.
    members_ : DataFrame
        The members of the ensemble: kernel, inputs, width, C and squared error.
    best_score_ : float
        Fitness of the costs learned, for an ensemble its own; greater is better.
    prior_scores_ : dict of str to float
        Fitness of each prior.
    history_ : DataFrame
        generation, evaluations, best, mean and std of the fitness.
    engine_ : str
        How candidates were evaluated.
    n_evaluations_ : int
        ``population_size * (max_epochs + 1)`` unless stopped earlier, without the priors.
    beta_, layer_, solver_, n_features_in_ :
        As in :class:`ELMClassifier`; of an ensemble, the output weights behind the
        layers of all members side by side.

    Notes
    -----
    Members of the ensemble are radial basis and Laplacian kernels in six widths on
    standardised inputs, on their ranks, and where standard deviations differ on a scale between
    standardised and as they are; all rows are centres up to 500 rows, a sample of them beyond.
    Layers are screened with 100 units on at most 2000 rows, and the best six (fewer beyond 5000
    rows) are solved with all units on all rows. Every one with twelve values of C is judged by
    the squared error of its leave-one-out scores on at most 5000 rows, weighted by B, and the
    best 20 are averaged, without those whose error is about twice that of the best or more.
    Costs of more than 50 classes are not learned.

    Costs of the paper may be negative. Then (15) is a saddle point, not a minimum, and
    singular for some B: those get an infinite fitness. Ctrl-C ends the
    step at work and keeps the best so far, with a warning: members judged so far, costs found so
    far. Pressed again, or before anything is scored, it ends the fit.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from ecselm import ECSELMClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> model = ECSELMClassifier(scoring="gmean", cost_order=[(0, 1)], max_epochs=5, random_state=0)
    >>> model.fit(X_train, y_train).score(X_test, y_test) > 0.9
    True
    >>> bool(model.class_costs_[0] > model.class_costs_[1])
    True
    """

    keeps_prior_: bool
    cost_matrix_: Any
    class_costs_interval_: FloatArray | None
    C_: float
    gamma_: float | None

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KERNEL_OR_LAYER,
        **LEARNING,
        **SEARCHED,
        "activation": [StrOptions({AUTO, *ACTIVATIONS}), callable],
        "cost_level": [StrOptions({"class", "matrix", "sample"})],
        "rule": [StrOptions(set(RULES))],
        "promise": [dict, None],
        "confidence": [Interval(Real, 0, 1, closed="neither")],
        "decision": [StrOptions({"argmax", "min_cost"})],
        "fitness": [StrOptions({AUTO, "train", "holdout", "cv", "loo"}), *LEARNING["fitness"][1:]],
    }

    def __init__(
        self,
        n_hidden: int | str = "auto",
        *,
        cost_level: str = "class",
        cost: Any = None,
        rule: str = "expected",
        promise: dict[Any, float] | None = None,
        confidence: float = 0.9,
        cost_bounds: Any = None,
        fixed_costs: Mapping[Any, Any] | None = None,
        cost_intervals: Mapping[Any, Any] | None = None,
        cost_order: Sequence[Any] | None = None,
        priors: Sequence[str] = ("ones", "w1", "w2", "cost"),
        decision: str = "argmax",
        fitness: Any = "auto",
        validation_fraction: float = 0.25,
        scoring: Any = None,
        smoothing: float = 1.0,
        normalize: bool = True,
        shrinkage: float = 0.01,
        keep_prior: bool | str = True,
        ensemble: Any = "auto",
        C: float | str = "search",
        C_bounds: tuple[float, float] = (2.0**-6, 2.0**16),
        activation: str | Callable[[FloatArray], FloatArray] = "auto",
        draw: str = "orthogonal",
        scale: str | None = "auto",
        hidden_layer: Any = None,
        kernel: str | Callable[[Matrix, Matrix], FloatArray] | None = None,
        gamma: float | str = "scale",
        gamma_bounds: tuple[float, float] = (2.0**-9, 2.0),
        degree: float = 3,
        coef0: float = 1,
        max_samples: int | None = 20000,
        optimizer: str | Callable[..., AskTell] = "bsa",
        population_size: int = 30,
        max_epochs: int = 10,
        patience: int | None = None,
        max_time: float | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        callbacks: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        memory_limit: float | str | None = None,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_hidden = n_hidden
        self.cost_level = cost_level
        self.cost = cost
        self.rule = rule
        self.promise = promise
        self.confidence = confidence
        self.cost_bounds = cost_bounds
        self.fixed_costs = fixed_costs
        self.cost_intervals = cost_intervals
        self.cost_order = cost_order
        self.priors = priors
        self.decision = decision
        self.fitness = fitness
        self.validation_fraction = validation_fraction
        self.scoring = scoring
        self.smoothing = smoothing
        self.normalize = normalize
        self.shrinkage = shrinkage
        self.keep_prior = keep_prior
        self.ensemble = ensemble
        self.C = C
        self.C_bounds = C_bounds
        self.activation = activation
        self.draw = draw
        self.scale = scale
        self.hidden_layer = hidden_layer
        self.kernel = kernel
        self.gamma = gamma
        self.gamma_bounds = gamma_bounds
        self.degree = degree
        self.coef0 = coef0
        self.max_samples = max_samples
        self.optimizer = optimizer
        self.population_size = population_size
        self.max_epochs = max_epochs
        self.patience = patience
        self.max_time = max_time
        self.checkpoint = checkpoint
        self.callbacks = callbacks
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.verbose = verbose

    @classmethod
    def paper(cls, *, literal: bool = False, **parameters: Any) -> Self:
        """Return the estimator with the paper's settings.

        One layer of radial basis units with uniformly drawn weights on inputs scaled to
        [-1, 1], one cost per row between -1 and 1, a population of 100 over 100 epochs drawn
        without priors, and the error on the training rows as fitness. It overfits: it is there
        for comparison. The paper leaves L and C to be chosen for each of its data sets.

        Algorithm 2 as printed differs in two steps from the published backtracking search,
        which the paper says it takes (reference [40]). Step 2.1 stands inside the loop, so
        that the historical population of (25) is drawn again in every generation and
        remembers nothing beyond it; and (30) redraws also the entries that lie within the
        bounds, so that of (29) only those are left that fell beyond a bound and are set to it:
        the search is nearly random. We take both for slips.

        Parameters
        ----------
        literal : bool, default=False
            False is the published search: memory is drawn once, and (30) applies to entries
            beyond the bounds. True takes step 2.1 and (30) letter by letter.
        **parameters
            Parameters that differ, such as ``n_hidden``, ``C`` or ``random_state``.

        Examples
        --------
        >>> ECSELMClassifier.paper(C=2**10).cost_bounds
        (-1.0, 1.0)
        >>> ECSELMClassifier.paper(literal=True).optimizer
        'bsa_literal'
        """
        letters = {"optimizer": LITERAL_SEARCH} if literal else {}
        return cls(**{**PRINTED, **PLAIN, **letters, **parameters})

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        sample_cost: Any = None,
        *,
        tp_cost: Any = None,
        tn_cost: Any = None,
        fp_cost: Any = None,
        fn_cost: Any = None,
        groups: Any = None,
    ) -> Self:
        """Search the costs, then solve for the output weights with the best.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)
        y : array of shape (N,)
        sample_weight : array of shape (N,), default=None
            A row of weight 2 counts as two rows, in training and in the fitness.
        sample_cost : array of shape (N,), (N, k) or (N, N), default=None
            Stated costs by row, in the place of ``cost``. With ``scoring="mean_cost"`` and
            costs by class, rows keep their ratios within a class, and the costs of classes
            are learned.
        tp_cost, tn_cost, fp_cost, fn_cost : float or array of shape (N,), default=None
            The same by outcome, as in :class:`CSELMClassifier`.
        groups : array of shape (N,), default=None
            Labels of groups of rows, such as patients: no candidate is validated on rows
            of a group that it was trained on, and a group counts as one row of each of its
            classes in the prior test. Groups are left out of an ensemble as a whole; with one
            layer not with ``fitness="loo"`` or ``"train"``.

        Returns
        -------
        self
        """
        by_row = {
            "sample_cost": sample_cost,
            "tp_cost": tp_cost,
            "tn_cost": tn_cost,
            "fp_cost": fp_cost,
            "fn_cost": fn_cost,
        }
        if self.promise is not None:
            fit_promised(self, X, y, sample_weight, groups, by_row)
            return self
        return self._fit_source(MemorySource(X, y, sample_weight), groups, **by_row)

    @keeping_best()
    @all_or_nothing
    @one_blas_thread()
    def _fit_source(
        self,
        source: SumsSource,
        groups: Any = None,
        *,
        previous: Any = None,
        promised: bool = False,
        **by_row: Any,
    ) -> Self:
        """Search the costs on the rows of a source, and solve (15) with the best.

        The search begins with the costs of ``previous``, an estimator fitted before, if that
        is given, or with ``warm_start`` with those of this one.
        """
        # Validate: everything that can be refused is refused before any random draw.
        memory_limit(self.memory_limit)
        if self.promise is not None and not promised:
            raise ValueError(
                f"promise must be None for rows that are read in blocks, got {self.promise!r}"
            )
        forget_promise(self)
        self.class_costs_interval_ = None
        X, codes, classes, weight = self._checked_labels(source.X, source.y, source.sample_weight)
        several = self._is_ensemble()
        row_groups = read_groups(groups, len(codes), "cv" if several else self._validation_kind())
        decides, k = self.decision == "min_cost", len(classes)
        if decides and self.cost_level != "matrix":
            raise ValueError(
                "decision='min_cost' must go with cost_level='matrix', got "
                f"cost_level={self.cost_level!r}"
            )

        # Rows of weight 0 are dropped: from training, folds and class counts.
        data, used = TrainingData.of_positive_weight(
            X, classes[codes], codes, class_targets(k)[codes], weight, row_groups
        )
        # Costs: what the user states, and the priors that class counts and metric imply.
        stated = stated_by_user(self.cost, codes, classes, used, by_row)
        scoring = default_metric(stated) if self.scoring is None else self.scoring
        constraints = half_known(self, classes)
        obeyed = bounding(constraints, scoring, self.cost_bounds)
        problem = CostProblem.of_classes(
            *(self._level_of(obeyed), data, classes, stated, scoring),
            *(self.priors, self.normalize, obeyed),
        )

        # The space of the search: costs, and of one layer C and the width of a kernel.
        rng, seed = random_stream(self.random_state, self.checkpoint)
        kernel = None if self.kernel is None else self._kernel_map(self.kernel, data.X, data.weight)
        spans = (Span.fixed(1.0), None) if several else search_spans(self, kernel)
        masses = problem.costed(data).masses()
        by_matrix = several and isinstance(problem.level, MatrixLevel)
        search = planned_search(
            self, problem, masses, spans, previous, decides=decides or by_matrix
        )
        identity = {**source.identity(), **data.identity(), "costs": stated}
        resumed = partial(search.steps, self.get_params(deep=False), seed=seed)
        self.classes_ = classes
        self.constraints_ = constraints
        if several:
            with resumed(identity, work=self._work(len(data), k)) as steps:
                B, entries = self._fit_ensemble(source, data, problem, search, scoring, rng, steps)
        else:
            # Layer, folds and search have streams of their own: they do not affect each other.
            folds_rng, search_rng = rng.spawn(2)
            splits = source.splits(
                data, self._validation_kind(), self.validation_fraction, folds_rng
            )
            # A checkpoint of another search is refused before sums are made.
            with resumed({**identity, "splits": splits}) as steps:
                steps.bar.begin(PREPARING, 1, PREPARING)
                B, entries = self._fit_layer(
                    one_model(self, source, data, kernel, rng),
                    *(data, problem, search, scoring, splits, search_rng, steps),
                )
        self.__dict__.update(cost_attributes(problem.level, entries, B, codes, used, k))
        if several:  # a stated matrix is shown, and decides, as it was stated
            self.cost_matrix_ = self._decision_costs_
        elif decides:
            self._decision_costs_ = self.cost_matrix_
        return self

    def _fit_ensemble(
        self,
        source: SumsSource,
        data: TrainingData,
        problem: CostProblem,
        search: CostSearch,
        scoring: Any,
        rng: np.random.Generator,
        steps: Steps,
    ) -> tuple[FloatArray, FloatArray]:
        """Train an ensemble with the prior costs, and learn the costs of its decisions.

        Returns the costs B (N,) of the rows in training, and the entries of those that decide.
        Interrupted, the members judged so far decide by the best costs so far, or by the prior's.
        """
        k = len(self.classes_)
        # Layers, search and test have streams of their own: they do not affect each other.
        layer_rng, search_rng, test_rng = rng.spawn(3)
        # Training: rows weigh what mistakes on them are expected to cost.
        prior = search.prior_entries()
        by_class = problem.level.group_costs(prior[np.newaxis])[0]
        B = problem.by_row(by_class[data.codes])
        weight = B if data.weight is None else B * data.weight
        unit = float(np.average(B, weights=data.weight))
        known = EnsembleRows(
            data.X,
            class_targets(k)[data.codes],
            weight / unit,
            data.codes,
            data.weight,
            data.groups,
        )
        C = _span(self.C, self.C_bounds, "C_bounds", PLAIN_C)
        found = fit_ensemble(
            known,
            self._ensemble_spec(),
            self.n_hidden,
            C.evenly(N_PENALTIES).tolist() if C.is_searched else [C.start],
            layer_rng,
            memory_limit(self.memory_limit),
            source.kernel_sums(by_class / unit),
            steps,
        )
        self._keep_ensemble(found)
        self._training_costs_ = by_class / unit  # to solve again on other rows
        self._store_beta(found.beta, data.X.dtype)
        self.C_, self.gamma_ = found.members[0].C, None

        # Probabilities of the training population, from the scores of rows left out.
        steps.bar.begin(CALIBRATING, 1, CALIBRATING)
        loo = found.loo(known, B)
        self._probabilities_ = calibration = fit_calibration(loo, k)
        self._weighted_probabilities_ = None
        if problem.shares is not None:
            # Costs of new rows are not known: those of the rows around them stand in.
            loo = replace(loo, B=problem.shares[found.positions])
            self._weighted_probabilities_ = calibration = fit_calibration(loo.weighted(), k)

        # Decisions: the costs that are best for the rows left out, if they beat the prior's.
        P = calibration(loo.scores)
        engine = DecisionEngine(P, problem.pattern(scoring))
        on_decisions = response_method(get_scorer(scoring)) == "predict"
        result = test = None
        if on_decisions:
            fitness = problem.class_fitness(
                scoring, data, found.positions, self.smoothing, decides=True
            )
        else:  # a metric of probabilities, which no costs change: as equal as they may be
            value = probability_score(scoring, data.validation(found.positions), P, self.classes_)
            fitness, prior = ConstantFitness(value), search.equal_entries()
        by_rule = self.constraints_ is not None and counts_costs(scoring)
        learns = not by_rule and self.keep_prior != "always" and k <= MOST_CLASSES
        if on_decisions and learns:
            result, test = learn_decision(
                *(search, engine, fitness, data.row_ids(found.positions)),
                *((search_rng, test_rng), steps, thread_number(self.n_jobs)),
            )
        if result is None:
            result = search.at_prior(prior, engine, fitness)
        if steps.interrupted:
            result.history.reason = "interrupted"
        steps.bar.begin(FINISHING, 1)
        self.__dict__.update(prior_test_attributes(test, self.keep_prior))
        self.keeps_prior_ = self.keeps_prior_ or result.history.evaluations == 0
        if self.keeps_prior_:
            result = replace(result, **asdict(result.priors[PRIOR]))
        entries = search.learned(result.point).entries
        matrix = engine.matrices(search.encoding.decode(result.point[np.newaxis]))[0]
        if problem.stated is not None and counts_costs(scoring):
            entries, matrix = problem.in_stated_unit(entries, matrix, kept=self.keeps_prior_)
        if problem.constraints is not None:  # in its unit
            matrix = problem.matrix(entries)
        if by_rule and self.constraints_ is not None:
            matrix = decision_matrix(self.constraints_, self.rule, loo.y, loo.weight, P)
        self._decision_costs_ = matrix
        self.__dict__.update(search_attributes(search, result, engine))
        if not self.keeps_prior_:
            self.class_costs_interval_ = class_costs_interval(
                *(search, engine, fitness, result, data.row_ids(found.positions)),
                *(problem.level.group_costs(entries[np.newaxis])[0], rng.spawn(1)[0]),
            )

        if self.promise is not None:  # until it is tested
            self._left_out_ = P, loo.y
        # The front, on the rows left out that decisions were learned on.
        tried = np.stack([result.point, *(one.point for one in result.priors.values())])
        keep_front(
            self,
            *(P, loo.y, loo.weight, class_shares(data.codes, data.weight, k)),
            centres=class_centres(engine.matrices(search.encoding.decode(tried))),
            stated=stated_matrix(problem.stated, data.codes, k, data.weight),
            pattern=engine.pattern,
            groups=None if data.groups is None else data.groups.codes[found.positions],
        )
        return B, entries

    def _fit_layer(
        self,
        model: Model,
        data: TrainingData,
        problem: CostProblem,
        search: CostSearch,
        scoring: Any,
        splits: list[Split] | None,
        rng: np.random.Generator,
        steps: Steps,
    ) -> tuple[FloatArray, FloatArray]:
        """Search the costs B behind one layer or kernel, and solve (15) with the best.

        Returns the costs B (N,) of the rows, and the entries they come from.
        """
        k, decides, rows = len(self.classes_), search.encoding.decides, problem.costed(data)
        # Candidates are validated on rows they are not trained on, or costs would overfit them.
        validation = validation_rows(splits, len(data))
        fitness = problem.class_fitness(scoring, data, validation, self.smoothing, decides=decides)
        limits = EngineLimits.of_search(
            self.memory_limit, search.encoding, self.population_size, data.weight
        )
        engine = model.engine(rows, splits, limits)
        if decides:
            engine = _deciding_engine(engine, data, validation, k, search.encoding)
        result = search.run(engine, fitness, rng, steps, thread_number(self.n_jobs))

        # The prior test: learned costs that gain no more than chance are not used.
        test = search.prior_test(result, engine, fitness, data.row_ids(validation), steps)
        self.__dict__.update(prior_test_attributes(test, self.keep_prior))
        if self.keeps_prior_:
            result = replace(result, **asdict(result.priors[PRIOR]))
        learned = search.learned(result.point)
        learned = learned.completed(training_rows(splits, len(data)), data.codes)
        loo = self._store_model(model, rows, data, learned)
        if self.promise is not None:  # until it is tested
            self._left_out_ = self._probabilities_(loo.scores), loo.y
        counts = np.bincount(data.codes, minlength=k)
        by_class = np.bincount(data.codes, rows.vector(learned.costs), minlength=k)
        by_class = np.where(counts > 0, by_class / np.maximum(counts, 1), 1.0)
        keep_front(
            self,
            self._probabilities_(loo.scores),
            *(loo.y, loo.weight, class_shares(data.codes, data.weight, k)),
            centres=[by_class],
            stated=stated_matrix(problem.stated, data.codes, k, data.weight),
            pattern=problem.pattern(scoring),
            groups=None if data.groups is None else data.groups.codes,
        )
        self.__dict__.update(search_attributes(search, result, engine))
        return problem.row_costs(learned.costs, rows), learned.entries

    def _work(self, n_rows: int, k: int) -> dict[str, float]:
        """Return about how many operations every phase takes, for the time left.

        Layers are screened and solved first, which the ensemble knows more of.
        """
        n = min(n_rows, VALIDATION_ROWS) * k
        generations = 50.0 * n * k * self.population_size * (self.max_epochs + 1)
        return {
            SCREENING: 0.0,
            SOLVING: 0.0,
            CALIBRATING: 2e5 * n,
            SEARCH: generations,
            TESTING: 2.0 * generations,
            FINISHING: 1e5 * n,
        }

    def _store_model(
        self, model: Model, rows: CostedRows, data: TrainingData, learned: LearnedCosts
    ) -> LooScores:
        """Solve (15) with the costs learned, and keep the solution and its probabilities.

        Returns the leave-one-out scores that these are calibrated on.
        """
        if isinstance(model, KernelModel):
            model = model.with_gamma(learned.gamma)
        solution = model.system(rows).solution(learned.costs, learned.C)
        self._store_beta(solution.beta, data.X.dtype)
        self.layer_, self.solver_, self._members_ = model.layer, solution.path, None
        self.C_, self.gamma_ = learned.C, learned.gamma
        weight = np.ones(len(rows)) if data.weight is None else data.weight
        B = rows.vector(learned.costs)  # times the weights
        scores = loo_scores(model.features, rows.T, solution, B, weight)
        # A placeholder that lets probabilities be fitted freely: the matrix is not known yet.
        self._decision_costs_ = np.empty(0) if self.decision == "min_cost" else None
        loo = LooScores(scores, data.codes, weight, B / weight)
        self._calibrate(loo)
        return loo

    def _is_ensemble(self) -> bool:
        """Tell whether there is an ensemble, or refuse one with parameters of one layer."""
        bounds = cost_bounds(self.cost_bounds, self.cost_level, self.normalize)
        positive = self.cost_level != "sample" and (bounds is None or bounds[0] > 0)
        if self.ensemble is None:
            return False
        if self.ensemble == AUTO:
            plain = self.activation == AUTO and self.kernel is None and self.hidden_layer is None
            if not (plain and positive):
                return False
        elif not positive:
            raise ValueError(
                "ensemble must be None where costs are searched by row or may be 0 or less, got "
                f"{self.ensemble!r}"
            )
        if not (isinstance(self.fitness, str) and self.fitness in {AUTO, "loo"}):
            raise ValueError(
                "fitness must be 'auto' or 'loo' with an ensemble, whose members are judged by "
                f"leave-one-out, got {self.fitness!r}: ensemble=None is one layer"
            )
        return True

    def _level_of(self, obeyed: CostConstraints | None) -> str:
        """Return the level of the costs, of which the default yields to what is stated."""
        by_class = obeyed is None or has_cost_per_class(obeyed)
        return "matrix" if self.cost_level == "class" and not by_class else self.cost_level

    def _validation_kind(self) -> Any:
        """Return the fitness of one layer."""
        return "cv" if self.fitness == AUTO else self.fitness

    @available_if(no_partial_fit)
    def partial_fit(self, X: Any, y: Any) -> Any:
        """Is not offered."""

    at = at
    front_ = property(front_frame)
    history_ = property(history_frame)
    n_evaluations_ = property(n_evaluations)


def _deciding_engine(
    engine: Engine, data: TrainingData, validation: IntArray, k: int, encoding: CostEncoding
) -> Engine:
    """Return the engine that decides by expected costs under calibrated probabilities."""
    weight = np.ones(len(validation)) if data.weight is None else data.weight[validation]
    codes, C, gamma = data.codes[validation], encoding.C, encoding.gamma

    def probabilities(Z: FloatArray) -> FloatArray:
        return LogisticCalibration.from_loo(LooScores(Z, codes, weight), k)(Z)

    if C.is_searched or (gamma is not None and gamma.is_searched):
        return ExpectedCostEngine(engine, probabilities)
    # Nothing changes the probabilities, which are computed once.
    width = None if gamma is None else np.array([gamma.start])
    one = Candidates(np.ones((1, k)), np.array([C.start]), width)
    return ExpectedCostEngine(RememberedScores(probabilities(engine.scores(one)[0])), np.asarray)
