"""Models that are requested by name, those of the baselines, and the choice between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, Ridge, RidgeCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from threadpoolctl import threadpool_limits

from ecselm._threads import one_blas_thread
from ecselm._typing import AnyArray
from ecselm._wording import did_you_mean
from ecselm.costs.weights import class_weights
from ecselm.estimators import (
    CostDecisionClassifier,
    ECSELMClassifier,
    ECSELMRegressor,
    ELMClassifier,
    ELMRegressor,
    WELMClassifier,
)
from ecselm.metrics import get_metric
from ecselm.study.decisions import is_half_known
from ecselm.tables.schema import Task

AUTO = "auto"
ECSELM = "ecselm"
CANDIDATES: dict[Task, tuple[str, ...]] = {  # among which auto chooses, the first of equals
    "classes": (ECSELM, "logistic", "boosting"),
    "numbers": (ECSELM, "ridge", "boosting"),
}
BASELINES: dict[Task, dict[str, str]] = {  # models to compare with, by the names on a card
    "classes": {
        "ELM": "elm",
        "W1-ELM": "w1-elm",
        "logistic regression": "logistic",
        "boosting": "boosting",
    },
    "numbers": {"ELM": "elm", "ridge regression": "ridge", "boosting": "boosting"},
}
PROBABILITIES = "neg_log_loss"  # metric of a model whose probabilities decide, with other costs
STRENGTHS = (0.01, 0.1, 1.0, 10.0)  # values of C of a logistic regression
PENALTIES = tuple(10.0**power for power in range(-3, 4))  # values of alpha of a ridge regression
INNER_FOLDS = 3  # by which C is chosen
ROWS_OF_A_CLASS = 10  # of the rarest one, to choose C by folds or when boosting stops
ROWS_PER_CLASS = 20  # on average, for the same: a tenth of the rows must hold every class
MOST_TUNED = 20_000_000  # values of a table by which C is chosen
MOST_GRAM = 2000  # rows or columns, whichever are fewer, by which alpha is chosen
MOST_ITERATIONS = 1000  # of a logistic regression
MOST_TREES = 500  # early stopping ends before
DENSE_BYTES = 1 << 30  # of a dense copy of sparse rows
ABSOLUTE_ERRORS = ("mae", "neg_mean_absolute_error", "neg_median_absolute_error")


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Task, metric and costs by which a model of any name is made.

    Parameters
    ----------
    task : {"classes", "numbers"}
    metric : str
    cost : CostConstraints, array or None, default=None
        Stated costs of mistakes.
    rule : {"expected", "minimax_regret"}, default="expected"
        How half-known costs decide.
    by_row : bool, default=False
        Whether costs are known by row instead.
    reject_cost, reject_capacity, calibration :
        Of :class:`~ecselm.CostDecisionClassifier`.
    seed : int, default=0
    promise, confidence :
        Of :class:`~ecselm.CostDecisionClassifier`.
    search : mapping, default={}
        Other parameters of :class:`~ecselm.ECSELMClassifier` or
        :class:`~ecselm.ECSELMRegressor`.
    """

    task: Task
    metric: str
    cost: Any = None
    rule: str = "expected"
    by_row: bool = False
    reject_cost: Any = None
    reject_capacity: float | None = None
    calibration: str | None = "auto"
    seed: int = 0
    search: Mapping[str, Any] = field(default_factory=dict)
    promise: dict[Any, float] | None = None
    confidence: float = 0.9

    @property
    def asks(self) -> bool:
        """Return whether asking a person is an answer."""
        return self.reject_cost is not None or self.reject_capacity is not None

    @property
    def decides(self) -> bool:
        """Return whether costs or asking are stated, by which answers are decided."""
        return self.cost is not None or self.by_row or self.asks


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """Models of which one is fitted: the best on validation rows, if there are several."""

    names: tuple[str, ...]
    settings: ModelSettings

    def model(self, name: str, X: Any, y: AnyArray) -> Any:
        """Return one of them, not fitted, for training rows as the model will see them."""
        return MODELS[self.settings.task][name](self.settings, X, y)


@dataclass(frozen=True, slots=True)
class Selection:
    """The model chosen on validation rows, and the scores of all.

    Examples
    --------
    >>> found = Selection("boosting", "mean_cost", {"ecselm": 0.33, "boosting": 0.31})
    >>> found.setting()
    'boosting 0.31, ecselm 0.33 (mean_cost)'
    >>> found.note()
    'The model is boosting, chosen by cross-validation on the training rows: its mean_cost is 0.31
    and that of the next, ecselm, 0.33 (worse by 0.02).'
    """

    name: str
    metric: str
    scores: dict[str, float]
    failures: dict[str, str] = field(default_factory=dict)  # reasons, by model

    def _ordered(self) -> list[tuple[str, float]]:
        metric = get_metric(self.metric)
        first = sorted(self.scores.items(), key=lambda one: -metric.advantage(one[1], 0.0))
        return sorted(first, key=lambda one: one[0] != self.name)

    def setting(self) -> str:
        """Return all scores, the chosen model first."""
        found = ", ".join(f"{name} {score:.3g}" for name, score in self._ordered())
        return f"{found or self.name} ({self.metric})"

    def note(self) -> str:
        """Return which model was chosen, and by how much it leads."""
        begin = f"The model is {self.name}, chosen by cross-validation on the training rows: "
        failed = "".join(
            f" {name} could not be fitted: {why}" for name, why in self.failures.items()
        )
        if not self.scores:
            return f"{begin}{self.metric} is not defined there, and it is the first.{failed}"
        (_, best), *others = self._ordered()
        if not others:
            return f"{begin}its {self.metric} is {best:.3g}.{failed}"
        name, score = others[0]
        lead = get_metric(self.metric).advantage(best, score)
        much = f"worse by {lead:.2g}" if lead > 0 else "the same"
        return (
            f"{begin}its {self.metric} is {best:.3g} and that of the next, {name}, {score:.3g} "
            f"({much}).{failed}"
        )


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit BLAS and OpenMP to one thread.

    The threads of boosted trees wait for each other after every split: where other processes
    have the cores, that takes a hundred times as long as one thread.
    """
    with one_blas_thread(), threadpool_limits(1, user_api="openmp"):
        yield


def check_model_name(name: str, task: Task | None = None) -> None:
    """Raise ValueError for a name that is not registered, or not for this task.

    Examples
    --------
    >>> check_model_name("bosting")
    Traceback (most recent call last):
        ...
    ValueError: model must be one of auto, ecselm, logistic, boosting, elm, w1-elm, ridge, got
    'bosting'; did you mean 'boosting'?
    """
    tasks = list(MODELS) if task is None else [task]
    names = [*dict.fromkeys([AUTO, *(name for one in tasks for name in MODELS[one])])]
    if name not in names:
        what = "" if task is None else f" to predict {task}"
        close = did_you_mean(name, names)
        raise ValueError(f"model must be one of {', '.join(names)}{what}, got {name!r}{close}")


def model_of(name: str, settings: ModelSettings) -> Any:
    """Return the model of a name: an estimator, or a choice that training rows settle.

    Parameters
    ----------
    name : str
        A name in ``MODELS``, or ``"auto"``.
    settings : ModelSettings

    Examples
    --------
    >>> model_of("ecselm", ModelSettings("classes", "gmean", search={"n_hidden": 5}))
    ECSELMClassifier(n_hidden=5, random_state=0, scoring='gmean')
    >>> model_of("auto", ModelSettings("numbers", "mae")).names
    ('ecselm', 'ridge', 'boosting')
    """
    check_model_name(name, settings.task)
    if name == ECSELM:
        return _ecselm(settings, None, None)
    return ModelChoice(CANDIDATES[settings.task] if name == AUTO else (name,), settings)


# Estimators of scikit-learn, tuned on the rows they are fitted on.


def logistic_regression(X: Any, y: AnyArray) -> Pipeline:
    """Return a logistic regression of scaled inputs whose C is chosen by its log-loss.

    Of few rows, or of very many values, C is 1.
    """
    if not _is_enough(y) or np.shape(X)[0] * np.shape(X)[1] > MOST_TUNED:
        return make_pipeline(_scaler(X), LogisticRegression(max_iter=MOST_ITERATIONS))
    chosen = LogisticRegressionCV(
        Cs=STRENGTHS,
        cv=INNER_FOLDS,
        scoring="neg_log_loss",
        l1_ratios=(0.0,),
        max_iter=MOST_ITERATIONS,
        use_legacy_attributes=False,
    )
    return make_pipeline(_scaler(X), chosen)


def ridge_regression(X: Any) -> Pipeline:
    """Return a ridge regression of scaled inputs whose alpha is chosen by leave-one-out."""
    is_small = min(np.shape(X)) <= MOST_GRAM
    return make_pipeline(_scaler(X), RidgeCV(alphas=PENALTIES) if is_small else Ridge())


def boosted_classifier(X: Any, y: AnyArray, seed: int) -> Any:
    """Return boosted trees that stop when their log-loss on a tenth of the rows does.

    Of few rows, there are a hundred trees.
    """
    trees = _trees(len(y), stops=_is_enough(y))
    return _dense(X, HistGradientBoostingClassifier(**trees, random_state=seed))


def boosted_regressor(X: Any, y: AnyArray, seed: int, metric: str | None = None) -> Any:
    """Return boosted trees that stop when their loss on a tenth of the rows does."""
    loss = "absolute_error" if metric in ABSOLUTE_ERRORS else "squared_error"
    stops = len(y) >= ROWS_OF_A_CLASS * ROWS_PER_CLASS
    return _dense(
        X, HistGradientBoostingRegressor(loss, **_trees(len(y), stops=stops), random_state=seed)
    )


def _trees(n_rows: int, *, stops: bool) -> dict[str, Any]:
    # Leaves of 20 rows, the default, leave nothing to split in small tables.
    leaf = int(np.clip(n_rows // 50, 5, 20))
    if not stops:
        return {"early_stopping": False, "min_samples_leaf": leaf}
    return {"early_stopping": True, "max_iter": MOST_TREES, "min_samples_leaf": leaf}


def _is_enough(y: AnyArray) -> bool:
    """Tell whether parts of the rows can be put aside, in folds of folds as well."""
    counts = np.unique(y, return_counts=True)[1]
    return bool(counts.min() >= ROWS_OF_A_CLASS and len(y) >= ROWS_PER_CLASS * len(counts))


def _scaler(X: Any) -> Any:
    return MaxAbsScaler() if sparse.issparse(X) else StandardScaler()


def _dense(X: Any, model: Any) -> Any:
    """Return a model of dense rows, after a step that makes them where rows are sparse."""
    if not sparse.issparse(X):
        return model
    size = 8 * X.shape[0] * X.shape[1]
    if size > DENSE_BYTES:
        raise ValueError(
            f"dense rows must take at most {DENSE_BYTES >> 30} GiB, got {size / 2**30:.1f} GiB"
        )
    whole = ColumnTransformer([("rows", "passthrough", slice(0, X.shape[1]))], sparse_threshold=0.0)
    return make_pipeline(whole, model)


# Models by name.


def implied_costs(y: AnyArray, metric: str) -> list[list[float]] | None:
    """Return the costs (k, k) that a metric implies for classes of these sizes, None for equal.

    They are those of W1 to the power that the metric implies: of the balanced accuracy, a
    mistake on a class of half the rows costs twice as much.

    Examples
    --------
    >>> implied_costs(np.array(["ill", "well", "well"]), "gmean")
    [[0.0, 1.5], [0.75, 0.0]]
    """
    classes, n = np.unique(y, return_counts=True)
    power = get_metric(metric).implied_power
    if power == 0:
        return None
    by_class = class_weights("balanced", n, classes) ** power
    matrix: list[list[float]] = (by_class[:, np.newaxis] * (1.0 - np.eye(len(n)))).tolist()
    return matrix


def _ecselm(settings: ModelSettings, _X: Any, _y: Any) -> Any:
    given: dict[str, Any] = {**settings.search, "random_state": settings.seed}
    if settings.task == "numbers":
        return ECSELMRegressor(**given, scoring=settings.metric)
    costs: dict[str, Any] = {} if settings.cost is None else {"cost": settings.cost}
    if is_half_known(settings.cost):
        costs["rule"] = settings.rule
    if not (settings.asks or settings.by_row):
        return ECSELMClassifier(**given, **costs, **_promised(settings), scoring=settings.metric)
    given.pop("checkpoint", None)  # nothing is searched
    if settings.by_row:  # costs are known when rows are decided: probabilities are all
        inner, costs = ECSELMClassifier(**given, scoring=PROBABILITIES), {}
    else:
        inner = ECSELMClassifier(**given, **costs, scoring=settings.metric, keep_prior="always")
    return CostDecisionClassifier(inner, **costs, **_asking(settings))


def _asking(settings: ModelSettings) -> dict[str, Any]:
    return {
        "reject_cost": settings.reject_cost,
        "reject_capacity": settings.reject_capacity,
        "random_state": settings.seed,
        **_promised(settings),
    }


def _promised(settings: ModelSettings) -> dict[str, Any]:
    if settings.promise is None:
        return {}
    return {"promise": settings.promise, "confidence": settings.confidence}


def _decided(estimator: Any, settings: ModelSettings, y: AnyArray) -> CostDecisionClassifier:
    """Return decisions by the stated costs, or by those that the metric implies."""
    cost = settings.cost if settings.decides else implied_costs(y, settings.metric)
    return CostDecisionClassifier(
        estimator,
        cost=None if settings.by_row else cost,
        rule=settings.rule,
        calibration=settings.calibration,
        **_asking(settings),
    )


def _machine(kind: Any, settings: ModelSettings, y: AnyArray, **options: Any) -> Any:
    n_hidden = settings.search.get("n_hidden")
    size = {"n_hidden": n_hidden} if isinstance(n_hidden, int) else {}
    model = kind(**size, **options, random_state=settings.seed)
    decides = settings.decides or settings.promise is not None
    return _decided(model, settings, y) if decides else model


def _elm(settings: ModelSettings, _X: Any, y: AnyArray) -> Any:
    return _machine(ELMClassifier if settings.task == "classes" else ELMRegressor, settings, y)


def _w1_elm(settings: ModelSettings, _X: Any, y: AnyArray) -> Any:
    return _machine(WELMClassifier, settings, y, weighting="w1")


def _logistic(settings: ModelSettings, X: Any, y: AnyArray) -> Any:
    return _decided(logistic_regression(X, y), settings, y)


def _boosting(settings: ModelSettings, X: Any, y: AnyArray) -> Any:
    if settings.task == "numbers":
        return boosted_regressor(X, y, settings.seed, settings.metric)
    return _decided(boosted_classifier(X, y, settings.seed), settings, y)


def _ridge(_settings: ModelSettings, X: Any, _y: Any) -> Any:
    return ridge_regression(X)


MODELS: dict[Task, dict[str, Callable[[ModelSettings, Any, Any], Any]]] = {
    "classes": {
        ECSELM: _ecselm,
        "logistic": _logistic,
        "boosting": _boosting,
        "elm": _elm,
        "w1-elm": _w1_elm,
    },
    "numbers": {ECSELM: _ecselm, "ridge": _ridge, "boosting": _boosting, "elm": _elm},
}
