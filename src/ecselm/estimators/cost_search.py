"""The search for costs around any classifier."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array, get_tags
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import (
    check_is_fitted,
    column_or_1d,
    has_fit_parameter,
    indexable,
    validate_data,
)

from ecselm._processes import end_pooled_with_parent
from ecselm._sklearn import HasMethods, StrOptions, check_weights, fit_context, safe_indexing
from ecselm._threads import one_blas_thread
from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.costs import expected_costs, min_cost_decision
from ecselm.costs.front import cost_pattern
from ecselm.costs.policy import RULES
from ecselm.estimators._base import DOC_LINK, all_or_nothing, doc_link_parts
from ecselm.estimators._cost_search import (
    LEARNING,
    PRIOR,
    SEARCH,
    CostProblem,
    CostSearch,
    SearchResult,
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
)
from ecselm.estimators._front import at, class_centres, front_frame, keep_front, stated_matrix
from ecselm.estimators._layers import seeded_clone
from ecselm.estimators._policy import (
    ROW_COSTS,
    CostDecisionMixin,
    class_shares,
    decision_matrix,
)
from ecselm.estimators._priors import counts_costs
from ecselm.estimators._source import TrainingData, comparable
from ecselm.estimators._steps import Steps
from ecselm.fitness import (
    Candidates,
    CostedRows,
    Engine,
    ExpectedCostEngine,
    RememberedScores,
    Span,
    Split,
)
from ecselm.fitness.folds import fitness_splits, read_groups, training_rows, validation_rows
from ecselm.metrics import default_metric
from ecselm.search import AskTell
from ecselm.search.interrupts import keeping_best

FITTING, REFITTING = "fitting folds of", "refitting"  # phases
LEAST_PROBABILITY = np.finfo(np.float64).eps  # as in the log loss of scikit-learn


@dataclass(frozen=True, slots=True)
class FittedEngine:
    """Fit a clone for every candidate and split; a candidate is a vector of weights.

    There is no C for an estimator of any kind: the one of a candidate scales its weights.
    """

    estimator: Any
    X: Any
    y: AnyArray  # labels
    classes: AnyArray
    rows: CostedRows
    splits: list[Split]
    n_jobs: int | None

    def __str__(self) -> str:
        return f"{type(self.estimator).__name__}, fitted for every candidate"

    def batch(self, n_candidates: int) -> int:
        """Return all: they are shared out here."""
        return n_candidates

    def scores(self, candidates: Candidates) -> FloatArray:
        """Return Z (P, n, k), the splits one after the other."""
        parts = Parallel(n_jobs=self.n_jobs)(
            delayed(split_scores)(
                self.estimator, self.X, self.y, self.classes, self.rows.vector(C * costs), split
            )
            for costs, C in zip(candidates.costs, candidates.C, strict=True)
            for split in self.splits
        )
        n = len(self.splits)
        return np.stack([np.concatenate(parts[i : i + n]) for i in range(0, len(parts), n)])


def split_probabilities(
    estimator: Any,
    X: Any,
    y: AnyArray,
    classes: AnyArray,
    weights: FloatArray | None,
    split: Split,
) -> FloatArray:
    """Fit on the training rows of a split, and return probabilities of its validation rows."""
    model = _split_model(estimator, X, y, weights, split)
    return class_probabilities(model, safe_indexing(X, split.test), classes)


def split_scores(
    estimator: Any,
    X: Any,
    y: AnyArray,
    classes: AnyArray,
    weights: FloatArray | None,
    split: Split,
) -> FloatArray:
    """Fit on the training rows of a split, and return the scores of its validation rows."""
    model = _split_model(estimator, X, y, weights, split)
    return class_scores(model, safe_indexing(X, split.test), classes)


def _split_model(
    estimator: Any, X: Any, y: AnyArray, weights: FloatArray | None, split: Split
) -> Any:
    end_pooled_with_parent()
    kept = None if weights is None else weights[split.train]
    return fitted(estimator, safe_indexing(X, split.train), y[split.train], kept)


def fitted(estimator: Any, X: Any, y: AnyArray, weights: FloatArray | None) -> Any:
    """Return a clone, fitted."""
    options = {} if weights is None else {weight_parameter(estimator): weights}
    return clone(estimator).fit(X, y, **options)


def weight_parameter(estimator: Any) -> str:
    """Return the name under which ``fit`` takes sample weights, or refuse the estimator."""
    if has_fit_parameter(estimator, "sample_weight"):
        return "sample_weight"
    if get_config()["enable_metadata_routing"]:
        if get_routing_for_object(estimator).consumes("fit", ["sample_weight"]):
            return "sample_weight"
    elif isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        return f"{name}__{weight_parameter(last)}"
    raise ValueError(
        "estimator must take sample_weight in fit (with metadata routing: request it), got "
        f"{estimator!r}; with cost_level='decision' and rows without weights it need not"
    )


def class_scores(model: Any, X: Any, classes: AnyArray) -> FloatArray:
    """Return one column per class, whose largest is the class that the model predicts.

    Logarithms of probabilities if the model has any, else its decision function.
    """
    if hasattr(model, "predict_proba"):
        P = class_probabilities(model, X, classes)
        Z = np.log(np.maximum(P, LEAST_PROBABILITY))
    elif hasattr(model, "decision_function"):
        D = np.asarray(model.decision_function(X), dtype=np.float64)
        Z = _by_class(np.column_stack([-D, D]) if D.ndim == 1 else D, model, classes, D.min() - 1.0)
    else:
        Z = np.zeros((np.shape(X)[0], len(classes)))
    winners = np.searchsorted(classes, model.predict(X))
    rows = np.flatnonzero(Z.argmax(axis=1) != winners)
    Z[rows, winners[rows]] = Z[rows].max(axis=1) + 1e-9  # ties, and machines that vote
    return Z


def class_probabilities(model: Any, X: Any, classes: AnyArray) -> FloatArray:
    """Return probabilities (n, k), 0 for classes the model has never seen."""
    P = np.asarray(model.predict_proba(X), dtype=np.float64)
    if len(model.classes_) == 1:  # some answer with two columns even so
        P = np.ones((len(P), 1))
    return _by_class(P, model, classes, 0.0)


def _by_class(values: FloatArray, model: Any, classes: AnyArray, unseen: float) -> FloatArray:
    """Return the columns of ``values`` in the order of all classes."""
    columns: IntArray = np.searchsorted(classes, model.classes_)
    every = np.full((len(values), len(classes)), unseen)
    # One-versus-one scores have no column per class: predictions alone count then.
    every[:, columns] = values if values.shape[1] == len(columns) else 0.0
    return every


def _fitted_has(name: str) -> Callable[[Any], bool]:
    def check(search: CostSearchCV) -> bool:
        getattr(getattr(search, "estimator_", search.estimator), name)
        return True

    return check


def _decides(search: CostSearchCV) -> bool:
    if search.cost_level != "decision":
        raise AttributeError(
            f"at is there only with cost_level='decision', got {search.cost_level!r}"
        )
    return True


def _decides_or_has(search: CostSearchCV) -> bool:
    return search.cost_level == "decision" or _fitted_has("decision_function")(search)


class CostSearchCV(CostDecisionMixin, MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Learn what mistakes cost, for any classifier.

    The search of :class:`ECSELMClassifier` for the costs by which the probabilities of an
    estimator decide, validated on rows it was not fitted on: tuned thresholds for any number
    of classes, with one fit per fold. At the other levels candidates are weights of the rows,
    and the estimator is fitted anew for each.

    Parameters
    ----------
    estimator : classifier
        Is cloned. It must have ``predict_proba``: wrap a classifier that has none in
        :class:`~sklearn.calibration.CalibratedClassifierCV`. At the levels of weights it must
        take ``sample_weight`` in ``fit`` (or, in a pipeline, its last step must) instead.
    cost_level : {"decision", "class", "matrix", "sample"}, default="decision"
        What has a cost of its own: every confusion, in decisions for the least expected cost,
        with an estimator that is fitted without costs; or, as weights of the rows it is fitted
        on, every class, every confusion (through (12)), or every row.
    fitness : {"cv", "holdout", "train"}, int or splitter, default="cv"
        As in :class:`ECSELMClassifier`; there is no leave-one-out in closed form here.
    cost : array, DataFrame, dict or None, default=None
        Stated costs, in any form :class:`CSELMClassifier` takes. They are in the first
        population, and are counted by the default of ``scoring``. Where they are known in part,
        a ``rule`` decides, or the costs learned for a metric that does not count costs obey
        all that is known, as in :class:`ECSELMClassifier`; with ``cost_level="class"`` it must
        be the same for all mistakes on a class.
    cost_bounds, fixed_costs, cost_intervals, cost_order, priors :
        As in :class:`ECSELMClassifier`. They hold for the costs of decisions, of which only
        ratios matter, or at the other levels for weights.
    rule : {"expected", "minimax_regret"}, default="expected"
        As in :class:`CSELMClassifier`, where ``cost`` is known in part: nothing is searched
        then, unless ``scoring`` is a metric that does not count costs.
    scoring : str, callable or None, default=None
        Metric of the fitness: ``"gmean"``, ``"mean_cost"``, a scorer of scikit-learn's by
        name, or a scorer. None is :func:`ecselm.metrics.default_metric`: the mean cost where
        costs are stated, in ``cost`` or by row, else the balanced accuracy. Costs of decisions
        do not change probabilities, so that a scorer of these needs another level.
    normalize : bool, default=True
        Scale the weights of rows to a mean of 1. To decisions the scale does not matter.
    validation_fraction, shrinkage, keep_prior :
        As in :class:`ECSELMClassifier`.
    smoothing : float, default=0.5
        As in :class:`ECSELMClassifier`.
    optimizer : default="bsa"
        As in :class:`ECSELMClassifier`.
    population_size : int, default=20
    max_epochs : int, default=10
        Generations after the first population. There are
        ``population_size * (max_epochs + 1)`` candidates. The estimator is fitted once per
        fold in all; at the other levels once per fold for every candidate.
    patience, max_time, checkpoint, callbacks, warm_start, random_state, verbose :
        As in :class:`ECSELMClassifier`. Random states that the estimator leaves open are
        seeded, the same for every candidate.
    n_jobs : int, default=None
        Fits at a time, by joblib; the result does not depend on it.

    Attributes
    ----------
    estimator_ : classifier
        Fitted on all rows; at the levels of weights, with the costs learned.
    classes_ : array of shape (k,)
    cost_vector_ : array of shape (N,)
        The weights of the rows, without ``sample_weight``; 1 where costs decide.
    cost_matrix_ : array of shape (k, k)
        The cost of each confusion, by which decisions are made; rows are the true classes. In
        the unit of stated bounds, fixed costs or intervals, else with a mean of 1.
    class_costs_, best_score_, prior_scores_, history_, n_evaluations_ :
        As in :class:`ECSELMClassifier`.
    gain_, gain_std_error_, keeps_prior_ :
        As in :class:`ECSELMClassifier`.
    front_ : DataFrame
        As in :class:`ECSELMClassifier`, of the validation rows. Only where costs decide, and
        not with ``fitness="train"``, which has none.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from ecselm import CostSearchCV
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), LogisticRegression())
    >>> search = CostSearchCV(model, cost={(0, 2): 5}, random_state=0)
    >>> search.fit(X, y).score(X, y) > 0.95
    True
    """

    keeps_prior_: bool
    cost_matrix_: FloatArray

    _doc_link_module = "ecselm"
    _doc_link_template = DOC_LINK
    _doc_link_url_param_generator = doc_link_parts
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LEARNING,
        "estimator": [HasMethods(["fit", "predict"])],
        "cost_level": [StrOptions({"decision", "class", "matrix", "sample"})],
        "rule": [StrOptions(set(RULES))],
    }

    def __init__(
        self,
        estimator: Any,
        *,
        cost_level: str = "decision",
        cost: Any = None,
        rule: str = "expected",
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
        shrinkage: float = 0.01,
        keep_prior: bool | str = True,
        optimizer: str | Callable[..., AskTell] = "bsa",
        population_size: int = 20,
        max_epochs: int = 10,
        patience: int | None = None,
        max_time: float | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        callbacks: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.cost_level = cost_level
        self.cost = cost
        self.rule = rule
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
        self.shrinkage = shrinkage
        self.keep_prior = keep_prior
        self.optimizer = optimizer
        self.population_size = population_size
        self.max_epochs = max_epochs
        self.patience = patience
        self.max_time = max_time
        self.checkpoint = checkpoint
        self.callbacks = callbacks
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @fit_context(prefer_skip_nested_validation=False)
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
        """Search the costs, then fit the estimator with the best on all rows.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n), or what the estimator takes
        y : array of shape (N,)
        sample_weight : array of shape (N,), default=None
            Weights of the rows in the fits of the estimator, which must take them, and in the
            fitness. Where costs decide, rows are not weighted otherwise.
        sample_cost, tp_cost, tn_cost, fp_cost, fn_cost :
            Stated costs by row, in the place of ``cost``. Candidates are scored by them; new
            rows are decided by costs of confusions, whose prior is their mean over the rows.
            With ``cost_level="class"``, rows of a class keep their stated ratios as weights.
        groups : array of shape (N,), default=None
            As in :class:`ECSELMClassifier`.

        Returns
        -------
        self
        """
        outcomes = {"tp_cost": tp_cost, "tn_cost": tn_cost, "fp_cost": fp_cost, "fn_cost": fn_cost}
        return self._fit(X, y, sample_weight, {"sample_cost": sample_cost, **outcomes}, groups)

    @keeping_best()
    @all_or_nothing
    @one_blas_thread()  # a search fits small models by the hundred
    def _fit(self, X: Any, y: Any, sample_weight: Any, by_row: dict[str, Any], groups: Any) -> Self:
        """Search the costs, and fit the estimator with the best."""
        # Validate the rows; the estimator validates its inputs itself.
        X, y, weight = self._checked_rows(X, y, sample_weight)
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(f"y must have at least two classes, got one class: {classes.tolist()}")
        if len(np.unique(codes if weight is None else codes[weight > 0])) < 2:
            raise ValueError("y must have two classes among the rows of positive weight, got one")
        row_groups = read_groups(groups, len(y), self.fitness)
        data, used = TrainingData.of_positive_weight(X, y, codes, None, weight, row_groups)
        self._check_estimator(weighted=weight is not None)

        # Costs: what the user states, and the priors that class counts and metric imply.
        decides, k = self.cost_level == "decision", len(classes)
        stated = stated_by_user(self.cost, codes, classes, used, by_row)
        scoring = default_metric(stated) if self.scoring is None else self.scoring
        constraints = half_known(self, classes)
        obeyed = bounding(constraints, scoring, self.cost_bounds)
        problem = CostProblem.of_classes(
            *(self.cost_level, data, classes, stated, scoring),
            *(self.priors, self.normalize, obeyed),
        )
        rows = problem.costed(data)

        # The same seeds for every candidate: they differ by their costs alone.
        rng, seed = random_stream(self.random_state, self.checkpoint)
        estimator = seeded_clone(self.estimator, rng)
        folds_rng, search_rng = rng.spawn(2)
        search = CostSearch.of_problem(
            SearchSettings.of(self),
            problem,
            rows.masses(),
            Span.fixed(1.0),
            decides=decides,
            previous=previous_costs(self),
        )
        splits = fitness_splits(
            *(self.fitness, comparable(data.X), data.codes, data.y),
            *(self.validation_fraction, folds_rng, data.groups),
        )
        splits = splits or []  # None stands for leave-one-out, which has been refused
        # A checkpoint of another search is refused before any work.
        identity = {**data.identity(), "splits": splits, "costs": stated}
        with search.steps(
            self.get_params(deep=False), identity, seed, self._work(len(splits))
        ) as steps:
            validation = validation_rows(splits, len(data))
            fitness = problem.class_fitness(
                scoring, data, validation, self.smoothing, decides=decides
            )
            given = estimator, data.X, data.y, classes
            engine: Engine
            parts, test = list[FloatArray](), None
            if decides:  # the estimator does not depend on the costs: it is fitted once per split
                parts = self._fold_probabilities(given, data.weight, splits, steps)
                engine = ExpectedCostEngine(RememberedScores(np.concatenate(parts)), np.asarray)
            else:
                engine = FittedEngine(*given, rows, splits, self.n_jobs)
            # Costs that are known in part decide by a rule: no data tell what a mistake costs.
            self.constraints_ = constraints
            by_rule = self.constraints_ is not None and decides and counts_costs(scoring)
            if by_rule:
                result = search.at_prior(search.prior_entries(), engine, fitness)
            else:
                result = search.run(engine, fitness, search_rng, steps)
                # The prior test: learned costs that gain no more than chance are not used.
                test = search.prior_test(result, engine, fitness, data.row_ids(validation), steps)
            steps.scored()
            self.__dict__.update(prior_test_attributes(test, self.keep_prior))
            self.keeps_prior_ = self.keeps_prior_ or by_rule
            if self.keeps_prior_:
                result = replace(result, point=result.priors[PRIOR].point)
            learned = search.learned(result.point)
            learned = learned.completed(training_rows(splits, len(data)), data.codes)

            # Fit on all rows with the costs learned; where costs decide, without them.
            steps.bar.begin(REFITTING, 1)
            B = problem.row_costs(learned.weights, rows)
            weights = B if data.weight is None else B * data.weight
            self.__dict__ |= {"classes_": classes, **search_attributes(search, result, engine)}
            self.__dict__ |= cost_attributes(problem.level, learned.entries, B, codes, used, k)
            if by_rule and self.constraints_ is not None:
                rows_weight = None if data.weight is None else data.weight[validation]
                self.cost_matrix_ = decision_matrix(
                    self.constraints_,
                    self.rule,
                    data.codes[validation],
                    rows_weight,
                    np.concatenate(parts),
                )
            self._decision_costs_ = self.cost_matrix_ if decides else None
            self._keep_validated(search, result, problem, data, validation, parts)
            self.estimator_ = fitted(estimator, data.X, data.y, data.weight if decides else weights)
        return self

    def _fold_probabilities(
        self,
        given: tuple[Any, Any, AnyArray, AnyArray],
        weight: FloatArray | None,
        splits: list[Split],
        steps: Steps,
    ) -> list[FloatArray]:
        """Return the probabilities of the validation rows of every split, each a recorded step."""
        k = len(given[-1])
        steps.bar.begin(FITTING, len(splits), f"{FITTING} {type(self.estimator).__name__}")
        found: dict[int, FloatArray] = {}
        for i, split in enumerate(splits):
            known = steps.recorded(f"fold {i}", {"probabilities": (len(split.test), k)})
            if known is not None:
                found[i] = known["probabilities"]
                steps.bar.advance()
        left = [i for i in range(len(splits)) if i not in found]
        fits = Parallel(n_jobs=self.n_jobs, return_as="generator")(
            delayed(split_probabilities)(*given, weight, splits[i]) for i in left
        )
        for i, P in zip(left, fits, strict=True):
            found[i] = P
            steps.record(f"fold {i}", probabilities=P)
            steps.bar.advance()
        return [found[i] for i in range(len(splits))]

    def _work(self, n_splits: int) -> dict[str, float]:
        """Return about how many fits every phase takes, for the time left."""
        n_candidates = self.population_size * (self.max_epochs + 1)
        if self.cost_level == "decision":
            return {FITTING: n_splits, SEARCH: 1e-3 * n_candidates, REFITTING: 1.0}
        return {SEARCH: float(n_candidates * n_splits), REFITTING: 1.0}

    def _checked_rows(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Any, AnyArray, FloatArray | None]:
        """Return rows, labels and weights."""
        if y is None:
            raise ValueError("CostSearchCV requires y to be passed, but the target y is None")
        y = column_or_1d(check_array(y, ensure_2d=False, dtype=None, input_name="y"), warn=True)
        X, y = indexable(X, y)
        validate_data(self, X, skip_check_array=True)
        if np.shape(X)[1:] == (0,):
            raise ValueError(
                f"X has 0 feature(s) (shape={np.shape(X)}) while a minimum of 1 is required."
            )
        check_classification_targets(y)
        return X, y, check_weights(sample_weight, np.empty((len(y), 1)))

    def _keep_validated(
        self,
        search: CostSearch,
        result: SearchResult,
        problem: CostProblem,
        data: TrainingData,
        validation: IntArray,
        parts: list[FloatArray],
    ) -> None:
        """Keep the front of the validation rows, of which ``parts`` are the probabilities."""
        k = len(self.classes_)
        self._front_, self._class_shares_ = None, class_shares(data.codes, data.weight, k)
        if not parts or (isinstance(self.fitness, str) and self.fitness == "train"):
            return
        tried = np.stack([result.point, *(one.point for one in result.priors.values())])
        matrices = search.encoding.decode(tried).matrices
        groups = None if data.groups is None else data.groups.codes[validation]
        if groups is None and len(np.unique(validation)) < len(validation):
            groups = validation  # a splitter that repeats rows
        stated = stated_matrix(problem.stated, data.codes, k, data.weight)
        keep_front(
            self,
            *(np.concatenate(parts), data.codes[validation]),
            None if data.weight is None else data.weight[validation],
            self._class_shares_,
            centres=() if matrices is None else class_centres(matrices),
            stated=stated,
            pattern=None if stated is None else cost_pattern(stated),
            groups=groups,
        )

    def _no_front(self) -> str:
        return (
            "front_ is there only with cost_level='decision' and a fitness of validation rows, got "
            f"cost_level={self.cost_level!r} and fitness={self.fitness!r}"
        )

    def _check_estimator(self, *, weighted: bool) -> None:
        """Refuse an estimator that lacks what the level needs."""
        if self.fitness == "loo":
            raise ValueError("fitness must not be 'loo' around an estimator, which has no formula")
        if is_regressor(self.estimator):
            raise ValueError(f"estimator must be a classifier, got {self.estimator!r}")
        bounds = cost_bounds(self.cost_bounds, self.cost_level, self.normalize)
        if bounds is not None and bounds[0] < 0:
            raise ValueError(f"cost_bounds must be >= 0 here, got {self.cost_bounds!r}")
        decides = self.cost_level == "decision"
        if weighted or not decides:
            weight_parameter(self.estimator)
        if decides and not hasattr(self.estimator, "predict_proba"):
            raise ValueError(
                "estimator must have predict_proba with cost_level='decision', got "
                f"{self.estimator!r}: wrap it in sklearn.calibration.CalibratedClassifierCV, or "
                "set cost_level='class', which weights rows instead"
            )

    at = available_if(_decides)(at)
    front_ = property(front_frame)
    history_ = property(history_frame)
    n_evaluations_ = property(n_evaluations)

    @available_if(_fitted_has("predict_proba"))
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the fitted estimator.

        With ``cost_level="decision"`` the prediction is the class that they expect to cost
        least, not the most probable.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)

        Returns
        -------
        probabilities : array of shape (N, k)
        """
        check_is_fitted(self)
        return class_probabilities(self.estimator_, X, self.classes_)

    @available_if(_decides_or_has)
    def decision_function(self, X: Any) -> FloatArray:
        """Return the decision function of the fitted estimator.

        With ``cost_level="decision"``, the negative of what predicting each class is
        expected to cost.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)

        Returns
        -------
        scores : array of shape (N,) for two classes, else (N, k)
        """
        check_is_fitted(self)
        if self.cost_level != "decision":
            return self.estimator_.decision_function(X)
        costs = expected_costs(self.predict_proba(X), self.cost_matrix_)
        return costs[:, 0] - costs[:, 1] if len(self.classes_) == 2 else -costs

    def predict(
        self,
        X: Any,
        *,
        sample_cost: Any = None,
        tp_cost: Any = None,
        tn_cost: Any = None,
        fp_cost: Any = None,
        fn_cost: Any = None,
    ) -> AnyArray:
        """Return the prediction of the fitted estimator, or the class of least expected cost.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)
        sample_cost, tp_cost, tn_cost, fp_cost, fn_cost :
            Costs of each row, which decide in the place of all others, as in
            :class:`CSELMClassifier`.

        Returns
        -------
        labels : array of shape (N,)
        """
        check_is_fitted(self)
        given = (sample_cost, tp_cost, tn_cost, fp_cost, fn_cost)
        by_row = self._row_matrices(X, dict(zip(ROW_COSTS, given, strict=True)))
        if by_row is None and self.cost_level != "decision":
            return self.estimator_.predict(X)
        return self.classes_[self._decided(X, by_row)[1]]

    def _decided(self, X: Any, by_row: FloatArray | None) -> tuple[FloatArray, IntArray]:
        check_is_fitted(self)
        P = self.predict_proba(X)
        if by_row is not None:
            return P, min_cost_decision(P, by_row)
        if self.cost_level != "decision":
            return P, np.searchsorted(self.classes_, self.estimator_.predict(X))
        return P, min_cost_decision(P, self.cost_matrix_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.input_tags.string = inner.input_tags.string
        tags.classifier_tags.multi_class = inner.classifier_tags is None or (
            inner.classifier_tags.multi_class
        )
        return tags
