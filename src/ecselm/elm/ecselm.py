"""The evolutionary cost-sensitive extreme learning machine (paper, Algorithm 1)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from ecselm._sklearn import StrOptions, fit_context
from ecselm._typing import FloatArray, Matrix
from ecselm.elm.cost_learning import LEARNING
from ecselm.elm.evolving import PRINTED, SEARCHED
from ecselm.elm.evolving_classifier import EvolvingClassifier
from ecselm.elm.family import AUTO, KERNEL_OR_LAYER
from ecselm.hidden import ACTIVATIONS
from ecselm.search import AskTell

PLAIN: dict[str, Any] = {"C": 32.0, "shrinkage": 0.0, "keep_prior": False}


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

    def __init__(  # noqa: PLR0915
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
