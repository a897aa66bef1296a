"""The evolutionary cost-sensitive extreme learning machine (paper, Algorithm 1)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ecselm._sklearn import Interval, StrOptions, check_weights, fit_context
from ecselm._threads import one_blas_thread
from ecselm._typing import AnyArray, FloatArray, IntArray, Matrix
from ecselm.costs import check_row_costs
from ecselm.costs.levels import ClassLevel, CostLevel, SampleLevel
from ecselm.estimators._base import (
    AUTO,
    KERNEL_OR_LAYER,
    CostDeciding,
    ELMRegression,
    all_or_nothing,
    class_targets,
)
from ecselm.estimators._calibration import (
    LeftOutScores,
    LogisticCalibration,
    residual_slope,
    score_slope,
)
from ecselm.estimators._cost_search import LEARNING, ClassCostLearning, cost_level
from ecselm.estimators._ensemble import Convened, Convening
from ecselm.estimators._evolving import (
    PRINTED,
    SEARCHED,
    CostProblem,
    EvolvingMachine,
    Settlement,
    TrainingRows,
)
from ecselm.estimators._machine import EngineNeeds, Machine, left_out
from ecselm.estimators._priors import LEAST_SHARE, prior_costs
from ecselm.estimators._scoring import target_judge
from ecselm.fitness import (
    Candidates,
    CostedRows,
    Engine,
    ExpectedCostEngine,
    RememberedScores,
    Split,
)
from ecselm.fitness.folds import judged_rows, read_groups
from ecselm.layers import ACTIVATIONS
from ecselm.linalg import Solution
from ecselm.search import AskTell

PLAIN: dict[str, Any] = {"C": 32.0, "shrinkage": 0.0, "keep_prior": False}


class EvolvingClassifier(ClassCostLearning, Convening, CostDeciding):
    """Read costs and classes, search, and store."""

    decision: str
    _members_: list[tuple[Any, ...]] | None
    _member_weights_: list[float] | None

    @property
    def _decides(self) -> bool:
        return self.decision == "min_cost"

    @all_or_nothing
    @one_blas_thread()
    def _fit_labels(
        self, X: Any, y: Any, sample_weight: Any, *, groups: Any = None, **stated: Any
    ) -> Self:
        X, codes, classes, weight = self._checked_labels(X, y, sample_weight)
        together = read_groups(groups, len(codes), self.fitness)
        if self._decides and self.cost_level != "matrix":
            raise ValueError(
                "decision='min_cost' must go with cost_level='matrix', got "
                f"cost_level={self.cost_level!r}"
            )
        T = class_targets(len(classes))[codes]
        rows, used = TrainingRows.of_weight(X, classes[codes], codes, T, weight, together)
        costs = self._stated(codes, classes, used, stated)
        level = cost_level(self.cost_level, rows.codes, len(classes))
        problem = CostProblem(
            rows,
            level,
            classes,
            self._priors(level, rows, classes, costs),
            lambda judged: self._judge(rows, classes, costs, judged),
            {"costs": costs},
            self._path(level, rows, classes, costs),
            self._shares(level, rows, classes, costs),
        )
        settled: Convened | Settlement
        if self._has_several_layers:
            settled = self._convene(problem)
            self._store_committee(settled, classes, X.dtype)
        else:
            deciding = self._deciding(rows) if self._decides else None
            settled = self._settle(problem, deciding, self._decides)
            self._store(settled, rows, classes, X.dtype)
        B = settled.learned.costs[settled.rows.groups]
        own = B if problem.shares is None else B * problem.shares
        self._store_costs(level, settled.learned.entries, own, codes, used)
        return self

    @property
    def _has_several_layers(self) -> bool:
        """Tell whether layers of several kinds are asked for, and costs go with them."""
        bounds = self._bounds()
        return (
            self.activation == AUTO
            and self.kernel is None
            and self.hidden_layer is None
            and self.cost_level == "class"
            and (bounds is None or bounds[0] > 0)
        )

    def _store_committee(self, convened: Convened, classes: AnyArray, dtype: Any) -> None:
        """Keep the members' output weights behind the union of their layers."""
        committee = convened.committee
        beta = committee.beta.astype(dtype)
        self.classes_ = classes
        self.beta_ = np.hstack([-beta, beta]) if len(classes) == 2 else beta
        self.layer_ = committee.layer
        self._members_ = convened.members
        self._member_weights_ = list(committee.weights)
        self.solver_ = f"committee of {len(self._members_)}"
        self._slope_ = committee.slope(len(classes))
        self._probabilities_ = None

    @property
    def members_(self) -> Any:
        """Return a frame of the machines whose answers are averaged: layer, C and costs."""
        import pandas as pd  # noqa: PLC0415  half a second that nobody else should wait

        check_is_fitted(self)
        if self._members_ is None:
            raise AttributeError("members_ is there only for a committee, activation='auto'")
        names = ["layer", "width", "C", *(f"cost of {label}" for label in self.classes_.tolist())]
        return pd.DataFrame(self._members_, columns=names)

    def _deciding(self, rows: TrainingRows) -> Any:
        """Return what makes an engine that decides by expected costs."""

        def engine(
            machine: Machine,
            costed: CostedRows,
            splits: list[Split] | None,
            spans: Any,
            needs: EngineNeeds,
        ) -> Engine:
            judged = judged_rows(splits, len(costed))
            weight = np.ones(len(judged)) if rows.weight is None else rows.weight[judged]
            k = costed.n_groups

            def probabilities(Z: FloatArray) -> FloatArray:
                scores = LeftOutScores(Z, rows.codes[judged], weight)
                return LogisticCalibration.from_left_out(scores, k)(Z)

            plain = machine.engine(costed, splits, needs)
            if any(span is not None and span.is_searched for span in spans):
                return ExpectedCostEngine(plain, probabilities)
            C, gamma = (None if span is None else np.array([span.start]) for span in spans)
            Z = plain.scores(Candidates(np.ones((1, k)), np.asarray(C), gamma))[0]
            return ExpectedCostEngine(RememberedScores(probabilities(Z)), np.asarray)

        return engine

    def _store(
        self, settled: Settlement, rows: TrainingRows, classes: AnyArray, dtype: Any
    ) -> None:
        """Solve (15) on all rows with the costs learned."""
        learned, machine, costed = settled.learned, settled.machine, settled.rows
        solution = machine.solution(costed, learned.costs, learned.C)
        beta = solution.beta.astype(dtype)
        self.classes_ = classes
        self.beta_ = np.hstack([-beta, beta]) if len(classes) == 2 else beta
        self.layer_, self.solver_ = machine.layer, solution.path
        self._members_ = self._member_weights_ = None
        self._slope_ = self._score_slope(solution, settled)
        self._probabilities_ = None
        if self._decides:
            weight = np.ones(len(costed)) if rows.weight is None else rows.weight
            scores = left_out(machine, costed, learned.costs, learned.C)
            self._probabilities_ = LogisticCalibration.from_left_out(
                LeftOutScores(scores, rows.codes, weight), len(classes)
            )

    def _score_slope(self, solution: Solution, settled: Settlement) -> float:
        costed, costs, k = settled.rows, settled.learned.costs, len(self.classes_)
        if (costs < 0).any():  # a saddle point leaves residuals that mean nothing
            return residual_slope(settled.machine.fitted(solution.beta), costed.T, k)
        B = costed.vector(costs)
        n_rows = len(costed) if costed.weight is None else float(costed.weight.sum())
        return score_slope(solution, n_rows, float(B.sum()), k)


class ECSELMClassifier(EvolvingClassifier):
    """Evolutionary cost-sensitive extreme learning machine: learn what mistakes cost.

    Searches the cost information vector B of
    ``beta = (I/C + H'diag(B)H)^-1 H'diag(B)T`` (15) for the best fitness (20)-(21). As
    printed, with one cost per row judged on the training rows, the search fits what it
    sees and loses on what it does not: :meth:`paper` gives that form. The default
    searches one cost per class, judges candidates by rows they were not trained on, behind
    hidden layers of several kinds, averages the best of them, and keeps the costs that the
    metric asks for anyway where learning gains no more than noise.

    Parameters
    ----------
    n_hidden : int, default=100
        Number L of hidden units, of each layer.
    cost_level : {"class", "matrix", "sample"}, default="class"
        What has a cost of its own. ``"class"``: every class, D = k, on a log scale.
        ``"matrix"``: every confusion, D = k (k - 1), on a log scale; rows are weighed
        through (12) with ``W = I`` and the mean over the wrong classes, or decisions are
        made by the matrix, see ``decision``. ``"sample"``: every row, D = N, as in the
        paper.
    cost : array, DataFrame, dict or None, default=None
        The person's own idea of the costs, in any form :class:`CSELMClassifier` takes. It
        is in the first population, and is what ``scoring="mean_cost"`` counts.
    cost_bounds : pair of floats, default=None
        Bounds of all costs. None: a factor 4 around the priors; [0.001, 1] for rows.
    fixed_costs : dict, default=None
        Costs known, ``{(true, predicted): cost}`` or ``{true: cost}``.
    cost_intervals : dict, default=None
        Costs known to lie between two numbers, ``{(true, predicted): (low, high)}``.
    cost_order : list of pairs, default=None
        Costs known to be in order, ``[(dearer, cheaper)]``, each a pair (true, predicted)
        or a class. What is dearer costs at least one per cent more.
    priors : sequence, default=("ones", "w1", "w2", "cost")
        Costs in the first population, as far as they contradict nothing known: B = 1,
        (9), (10), and ``cost``. What is found is never worse than these on the fitness.
    decision : {"argmax", "min_cost"}, default="argmax"
        The largest score (19); or, with ``cost_level="matrix"``, the least expected cost
        under calibrated probabilities of a machine trained on unweighted rows, which
        keeps apart which confusion is dear where (12) sums over them.
    fitness : {"cv", "holdout", "loo", "train"}, int or splitter, default="cv"
        Which rows judge a candidate: those of 5 folds (or as many as the int says) by
        machines trained without the fold; a part set aside; each row left out in closed
        form; or the training rows, as (21) is printed. Equal rows share a fold, or rows of
        one group where ``fit`` is given ``groups``, as a splitter then is, too.
    validation_fraction : float, default=0.25
        The part set aside with ``fitness="holdout"``.
    scoring : str, callable or None, default=None
        What is to be good: ``"gmean"``, ``"mean_cost"``, a scorer of scikit-learn's by
        name, or a scorer. None is the classification error of the paper.
    smoothing : float, default=1.0
        Share of the smoothed confusion matrix in the fitness, because counts are flat
        almost everywhere. With scores that are no function of the matrix, anything
        above 0 adds a thousandth of the squared error to break ties.
    normalize : bool, default=True
        Scale B to a mean of 1, which leaves it to C how closely the machine fits.
    shrinkage : float, default=0.01
        Fitness that costs have to earn for leaving the prior: this number times the squared
        logarithm of the factor by which they leave it. The prior is the power of W1 (9)
        that the metric asks for, 1 for the G-mean, 1/4 for the accuracy, 3/4 for F1 and the
        correlation, 1/2 for what is not known; or ``cost`` where that is counted.
    keep_prior : bool or "always", default=True
        Whether to keep the prior where learned costs gain no more than the noise of the
        comparison, or twice the noise where a class has fewer than 17 rows. ``"always"``
        learns no costs, only layers and C.
    C : float or "search", default="search"
        Trade-off between small errors and small output weights.
    C_bounds : pair of floats, default=(2**-6, 2**16)
        Bounds for ``C="search"``, on a log scale, for costs of the mean 1.
    activation : str or callable, default="auto"
        ``"auto"``: with costs by class, layers of four kinds in six widths, see Notes; with
        other costs ``"radbas"``. Otherwise one layer, as in :class:`ELMClassifier`.
    draw, hidden_layer :
        Of one layer, as in :class:`ELMClassifier`. With a ``hidden_layer`` or a ``kernel``
        there is one machine, whatever the activation.
    scale, kernel, degree, coef0, max_samples :
        As in :class:`CSELMClassifier`.
    gamma : float, "scale", "auto" or "search", default="scale"
        Width of the kernel.
    gamma_bounds : pair of floats, default=(2**-9, 2)
        Bounds for ``gamma="search"``, on a log scale.
    optimizer : {"bsa", "de", "cma", "random", "sobol"} or callable, default="bsa"
        A callable takes ``(space, size, rng, initial=...)`` and returns an optimiser
        that is asked and told, as those of :mod:`ecselm.search` are:
        ``functools.partial(BacktrackingSearch, redraw_memory=True)``.
    population_size : int, default=30
    max_epochs : int, default=10
        Generations after the first population.
    patience : int, default=None
        Stop after so many generations without a better fitness.
    max_time : float, default=None
        Stop after the generation in which so many seconds have passed.
    checkpoint : path, default=None
        File in which the search is kept as it goes. If it is there, ``fit`` goes on
        with it, and ends with the same costs as if it had never stopped. One file is
        for one search: folds of a ``GridSearchCV`` cannot share it.
    callbacks : callable or list of callables, default=None
        Called after every generation with an object that has ``generation``,
        ``n_evaluations``, ``best_score``, ``mean_score``, ``spread`` and ``seconds``; the
        search stops if one returns True.
    warm_start : bool, default=False
        Put the costs of the previous ``fit`` into the first population.
    n_jobs : int, default=None
        Threads that evaluate candidates; the result does not depend on it.
    memory_limit : int, float or str, default=None
        Bytes, or a text such as ``"2 GiB"``, that sums and scores kept for speed may take;
        a quarter of what is free by default.
    random_state : int, RandomState, Generator or None, default=None
    verbose : int, default=0
        1 shows a progress bar, 2 logs every generation; both say how candidates are solved.

    Attributes
    ----------
    classes_ : array of shape (k,)
    cost_vector_ : array of shape (N,)
        The cost information vector B, learned.
    class_costs_ : array of shape (k,)
        What a mistake on each class costs: the mean over its rows, or over its confusions.
        In the unit of the stated bounds or costs; else B has the mean 1.
    cost_matrix_ : array of shape (k, k)
        What each confusion costs; rows are the truth.
    C_, gamma_ : float
        With which (15) holds; ``gamma_`` is None without a kernel. Of the best machine
        where several are averaged, as ``class_costs_`` and ``cost_vector_`` are.
    gain_, gain_noise_ : float
        How much learned costs beat the prior in fitness on rows not trained on, and the
        standard error of that; NaN where there is no prior to compare with, or where the
        score is no function of single decisions.
    keeps_prior_ : bool
        Whether the prior was kept.
    members_ : DataFrame
        The machines that are averaged: kind and width of the layer, C, costs by class.
    best_score_ : float
        Fitness of the costs learned; greater is better.
    prior_scores_ : dict of str to float
        Fitness of each prior: what the search has gained over it.
    history_ : DataFrame
        generation, evaluations, best, mean and spread of the fitness.
    engine_ : str
        How candidates were evaluated.
    n_evaluations_ : int
        ``population_size * (max_epochs + 1)`` unless stopped earlier, without the priors.
    beta_, layer_, solver_, n_features_in_ :
        As in :class:`ELMClassifier`; with several machines, their output weights behind
        all their layers side by side.

    Notes
    -----
    With ``activation="auto"`` every layer judges powers of W1 with twelve values of C. The
    kinds are radial basis units around rows, by squared and by absolute distances, the
    first on ranks of the inputs, and tanh units of random directions. Behind the layer with
    the best candidate the costs are searched on. The twenty best of every kind make a
    committee: (15) is solved for each on all rows, and their scores are averaged, each
    divided by its spread. The cut between classes is moved to where the averaged scores of
    rows not trained on are best, if that gains enough.

    Costs of the paper may be negative. Then (15) is a saddle point, not a minimum, and
    singular for some B: those get an infinite fitness. Ctrl-C stops the search and keeps
    the best so far, with a warning.

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

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KERNEL_OR_LAYER,
        **LEARNING,
        **SEARCHED,
        "activation": [StrOptions({AUTO, *ACTIVATIONS}), callable],
        "cost_level": [StrOptions({"class", "matrix", "sample"})],
        "decision": [StrOptions({"argmax", "min_cost"})],
    }

    def __init__(
        self,
        n_hidden: int = 100,
        *,
        cost_level: str = "class",
        cost: Any = None,
        cost_bounds: Any = None,
        fixed_costs: Mapping[Any, Any] | None = None,
        cost_intervals: Mapping[Any, Any] | None = None,
        cost_order: Sequence[Any] | None = None,
        priors: Sequence[str] = ("ones", "w1", "w2", "cost"),
        decision: str = "argmax",
        fitness: Any = "cv",
        validation_fraction: float = 0.25,
        scoring: Any = None,
        smoothing: float = 1.0,
        normalize: bool = True,
        shrinkage: float = 0.01,
        keep_prior: bool | str = True,
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
        self.C = C  # type: ignore[assignment]  # or "search"
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
    def paper(cls, **parameters: Any) -> Self:
        """Return the machine with the paper's settings, letter by letter.

        Radial basis units of uniformly drawn weights on inputs scaled to [-1, 1], one cost
        per row between -1 and 1, a population of 100 over 100 epochs drawn without priors,
        and the error on the training rows as fitness. It overfits: it is there for
        comparison. The paper leaves L and C to be chosen for each of its data sets.

        Parameters
        ----------
        **parameters
            What is to differ, such as ``n_hidden``, ``C`` or ``random_state``.

        Examples
        --------
        >>> ECSELMClassifier.paper(C=2**10).cost_bounds
        (-1.0, 1.0)
        """
        return cls(**{**PRINTED, **PLAIN, **parameters})

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
            The person's own idea of the costs by row, in the place of ``cost``. With
            ``scoring="mean_cost"`` and costs by class, rows stay as dear within their class
            as they say, and the costs of classes are learned on top.
        tp_cost, tn_cost, fp_cost, fn_cost : float or array of shape (N,), default=None
            The same by outcome, as in :class:`CSELMClassifier`.
        groups : array of shape (N,), default=None
            Labels of what rows belong to, such as persons: no candidate is judged by rows
            of a group that it was trained on, and a group counts as one row of each of its
            classes where learned costs are weighed against the prior. Not with
            ``fitness="loo"`` or ``"train"``.

        Returns
        -------
        self
        """
        return self._fit_labels(
            X,
            y,
            sample_weight,
            sample_cost=sample_cost,
            tp_cost=tp_cost,
            tn_cost=tn_cost,
            fp_cost=fp_cost,
            fn_cost=fn_cost,
            groups=groups,
        )


class ECSELMRegressor(EvolvingMachine, ELMRegression):
    """Evolutionary cost-sensitive extreme learning machine for real targets.

    Searches the cost information vector B of (15) for the best fitness (20)-(21), where
    a cost is what a row's error weighs. There are no classes: the range of the targets is
    cut into levels of equal width, as the paper cuts its scores, and these have costs.

    Parameters
    ----------
    n_hidden : int, default=100
        Number L of hidden units.
    cost_level : {"class", "sample"}, default="class"
        What has a cost of its own: every level of the target, or every row, as in the
        paper.
    n_levels : int, default=5
        Into how many levels the range of the target is cut; of several targets, that of
        their standardised mean. The keys of ``fixed_costs``, ``cost_intervals`` and
        ``cost_order`` are the levels 0 to ``n_levels - 1``.
    fitness : {"cv", "holdout", "loo", "train"}, int or splitter, default="cv"
        Which rows judge a candidate, as in :class:`ECSELMClassifier`.
    scoring : str, callable or None, default=None
        None is the mean absolute error of the paper; else a scorer of scikit-learn's by
        name, ``"cumulative_score"`` (35), or a scorer.
    smoothing : float, default=0.5
        Above 0, scores other than mean absolute and squared errors get a thousandth of
        the squared error to break ties.
    cost_bounds, fixed_costs, cost_intervals, cost_order, priors, validation_fraction, normalize :
        As in :class:`ECSELMClassifier`; (9) and (10) count levels.
    C, C_bounds, activation, draw, scale, hidden_layer, kernel, gamma, gamma_bounds, degree, coef0 :
        As in :class:`ECSELMClassifier`.
    optimizer, population_size, max_epochs, patience, max_time, checkpoint, callbacks, warm_start :
        As in :class:`ECSELMClassifier`.
    max_samples, n_jobs, memory_limit, random_state, verbose :
        As in :class:`ECSELMClassifier`.

    Attributes
    ----------
    cost_vector_ : array of shape (N,)
        The cost information vector B, learned.
    class_costs_ : array of shape (n_levels,)
        The cost of every level; of rows, the mean over the level.
    level_edges_ : array of shape (n_levels - 1,)
        Where one level ends and the next begins; only for a single target.
    C_, gamma_, best_score_, prior_scores_, history_, engine_, n_evaluations_ :
        As in :class:`ECSELMClassifier`.
    beta_, layer_, solver_, n_features_in_ :
        As in :class:`ELMRegressor`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from ecselm import ECSELMRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ECSELMRegressor(max_epochs=3, random_state=0).fit(X, y)
    >>> model.best_score_ >= max(model.prior_scores_.values())
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KERNEL_OR_LAYER,
        **{name: rule for name, rule in LEARNING.items() if name != "cost"},
        **SEARCHED,
        "cost_level": [StrOptions({"class", "sample"})],
        "n_levels": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_hidden: int = 100,
        *,
        cost_level: str = "class",
        n_levels: int = 5,
        cost_bounds: Any = None,
        fixed_costs: Mapping[Any, Any] | None = None,
        cost_intervals: Mapping[Any, Any] | None = None,
        cost_order: Sequence[Any] | None = None,
        priors: Sequence[str] = ("ones", "w1", "w2", "cost"),
        fitness: Any = "cv",
        validation_fraction: float = 0.25,
        scoring: Any = None,
        smoothing: float = 0.5,
        normalize: bool = True,
        C: float | str = 32.0,
        C_bounds: tuple[float, float] = (2.0**-6, 2.0**16),
        activation: str | Callable[[FloatArray], FloatArray] = "radbas",
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
        max_epochs: int = 30,
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
        self.n_levels = n_levels
        self.cost_bounds = cost_bounds
        self.fixed_costs = fixed_costs
        self.cost_intervals = cost_intervals
        self.cost_order = cost_order
        self.priors = priors
        self.fitness = fitness
        self.validation_fraction = validation_fraction
        self.scoring = scoring
        self.smoothing = smoothing
        self.normalize = normalize
        self.C = C  # type: ignore[assignment]  # or "search"
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
    def paper(cls, **parameters: Any) -> Self:
        """Return the machine with the paper's settings, see :meth:`ECSELMClassifier.paper`.

        Parameters
        ----------
        **parameters
            What is to differ, such as ``n_hidden``, ``C`` or ``random_state``.

        Examples
        --------
        >>> ECSELMRegressor.paper().population_size
        100
        """
        return cls(**{**PRINTED, **parameters})

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        sample_cost: Any = None,
        *,
        groups: Any = None,
    ) -> Self:
        """Search the costs, then solve for the output weights with the best.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)
        y : array of shape (N,) or (N, m)
        sample_weight : array of shape (N,), default=None
            A row of weight 2 counts as two rows, in training and in the fitness.
        sample_cost : array of shape (N,), default=None
            The person's own idea of what the rows' errors cost, for the first population.
        groups : array of shape (N,), default=None
            Labels of what rows belong to, as in :class:`ECSELMClassifier`.

        Returns
        -------
        self
        """
        return self._fit_targets(X, y, sample_weight, sample_cost, groups=groups)

    @all_or_nothing
    @one_blas_thread()
    def _fit_targets(
        self, X: Any, y: Any, sample_weight: Any, stated: Any = None, *, groups: Any = None
    ) -> Self:
        X, y = self._validated(X, reset=True, y=y, multi_output=True, y_numeric=True)
        weight = check_weights(sample_weight, X)
        together = read_groups(groups, len(y), self.fitness)
        T = y.reshape(len(y), -1)
        usable = slice(None) if weight is None else weight > 0
        position = level_position(T, T[usable].min(axis=0), T[usable].max(axis=0))
        edges = level_edges(position[usable].min(), position[usable].max(), self.n_levels)
        codes = np.digitize(position, edges, right=True)
        rows, used = TrainingRows.of_weight(X, y, codes, T, weight, together)
        level: CostLevel = ClassLevel(self.n_levels)
        if self.cost_level == "sample":
            level = SampleLevel(rows.codes)
        priors = self._priors(level, rows, _row_costs(stated, used, len(T)))
        problem = CostProblem(
            rows,
            level,
            np.arange(self.n_levels),
            priors,
            lambda judged: target_judge(self.scoring, rows.judged(judged), self.smoothing),
            {"sample_cost": stated},
        )
        settled = self._settle(problem)
        self._store(settled, rows, y.ndim, X.dtype)
        self._store_costs(settled, level, rows, codes, used)
        self.__dict__.pop("level_edges_", None)  # those of an earlier fit
        if T.shape[1] == 1:
            self.level_edges_ = edges
        return self

    def _priors(
        self, level: CostLevel, rows: TrainingRows, costs: FloatArray | None
    ) -> dict[str, FloatArray]:
        counts = np.bincount(rows.codes, rows.weight, self.n_levels).astype(np.float64)
        classes = np.arange(self.n_levels)
        priors = prior_costs(self.priors, level, counts, classes, self.normalize)
        if costs is None or "cost" not in self.priors:
            return priors
        if isinstance(level, ClassLevel):
            weighted = costs if rows.weight is None else rows.weight * costs
            costs = np.bincount(rows.codes, weighted, self.n_levels) / np.where(counts, counts, 1.0)
        priors["cost"] = np.maximum(costs, LEAST_SHARE * costs.max())
        return priors

    def _store(self, settled: Settlement, rows: TrainingRows, target_ndim: int, dtype: Any) -> None:
        learned = settled.learned
        solution = settled.machine.solution(settled.rows, learned.costs, learned.C)
        self.beta_ = solution.beta.astype(dtype)
        self.layer_, self.solver_ = settled.machine.layer, solution.path
        self._target_ndim_ = target_ndim

    def _store_costs(
        self,
        settled: Settlement,
        level: CostLevel,
        rows: TrainingRows,
        codes: IntArray,
        used: IntArray,
    ) -> None:
        costs = settled.learned.costs
        if isinstance(level, SampleLevel):
            seen = np.maximum(np.bincount(rows.codes, minlength=self.n_levels), 1)
            self.class_costs_: FloatArray = np.bincount(rows.codes, costs, self.n_levels) / seen
            self.cost_vector_ = self.class_costs_[codes]
            self.cost_vector_[used] = costs
        else:
            self.class_costs_ = costs
            self.cost_vector_ = costs[codes]


def _row_costs(stated: Any, used: IntArray, n_rows: int) -> FloatArray | None:
    """Return the person's costs of the rows used, None if there are none."""
    if stated is None:
        return None
    costs = check_row_costs(stated, "sample_cost")
    if costs.shape != (n_rows,):
        raise ValueError(
            f"sample_cost must have the shape ({n_rows},), one cost per row, got {costs.shape}"
        )
    if not costs[used].any():
        raise ValueError("sample_cost must not be 0 for every row of positive weight")
    return costs[used]


def level_edges(low: float, high: float, n_levels: int) -> FloatArray:
    """Return the inner edges of levels of equal width between two positions."""
    return np.linspace(low, high, n_levels + 1)[1:-1]


def level_position(T: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return where rows (N, m) lie: a single target itself, of several the standardised mean.

    ``low`` and ``high`` (m,) are the ends of the targets' ranges.
    """
    if T.shape[1] == 1:
        return T[:, 0].astype(np.float64)
    T = np.ascontiguousarray(T)  # in another order sums would be rounded otherwise
    return ((T - low) / np.where(high > low, high - low, 1.0)).mean(axis=1)
