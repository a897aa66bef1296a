"""Decisions of least expected cost around any classifier."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, column_or_1d, indexable, validate_data

from ecselm._processes import end_pooled_with_parent
from ecselm._sklearn import (
    HasMethods,
    Interval,
    StrOptions,
    check_weights,
    fit_context,
    safe_indexing,
)
from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.costs import CostConstraints
from ecselm.costs.front import cost_pattern
from ecselm.costs.parse import (
    check_row_costs,
    has_reject_column,
    is_partly_known,
    numbers,
    parse_reject_cost,
    parse_with_reject_column,
    read_costs,
    without_reject_column,
)
from ecselm.costs.policy import RULES, DecisionPolicy
from ecselm.costs.promise import PromiseError
from ecselm.estimators._base import DOC_LINK, ELMClassifierBase, all_or_nothing, doc_link_parts
from ecselm.estimators._calibration import (
    LogisticCalibration,
    LooScores,
    fit_calibration,
)
from ecselm.estimators._front import at, class_centres, front_frame, keep_front
from ecselm.estimators._policy import (
    ROW_COSTS,
    CostDecisionMixin,
    class_shares,
    forget_promise,
)
from ecselm.estimators._priors import row_costs
from ecselm.estimators._promise import (
    HeldOut,
    hold_out,
    rows_of,
    without_promise,
)
from ecselm.estimators.cost_search import (
    CostSearchCV,
    class_probabilities,
    fitted,
    weight_parameter,
)
from ecselm.search.interrupts import interruptible, keeping_best, shield_model

ROWS_OF_A_CLASS = 25  # of the rarest class in one part, for that part to calibrate alone
MOST_CALIBRATED = 1000  # rows of such a part: a law of two parameters needs no more
FARTHEST = 1e6  # decision values among which a threshold is sought without rows
GRID = 2001  # probabilities among which the answers to two classes are compared
AUTO = "auto"


@dataclass(frozen=True, slots=True)
class ModelScores:
    """Scores of a fitted classifier as calibrations take them: one column for two classes.

    Half log-odds or logarithms of probabilities, no further out than one mistake in as many
    rows as there were to learn from; or the decision function of a classifier without
    probabilities.
    """

    classes: AnyArray
    n_rows: int

    def __call__(self, model: Any, X: Any) -> FloatArray:
        """Return the scores (n, m) of rows."""
        if not hasattr(model, "predict_proba"):
            return self._of_decisions(model, X)
        return self.of_probabilities(class_probabilities(model, X, self.classes))

    def _of_decisions(self, model: Any, X: Any) -> FloatArray:
        """Return the decision function by class, below all others for classes never seen."""
        D = np.asarray(model.decision_function(X), dtype=np.float64)
        D = D[:, np.newaxis] if D.ndim == 1 else D
        k, seen = len(self.classes), np.searchsorted(self.classes, model.classes_)
        if len(seen) == k and D.shape[1] == (1 if k == 2 else k):
            return D
        if len(seen) == 2 and D.shape[1] == 1:
            D = np.hstack([-D, D])
        if D.shape[1] != len(seen):
            raise ValueError(
                f"estimator must have one decision value per class, {len(seen)}, got {D.shape[1]}"
            )
        every = np.full((len(D), k), D.min(initial=0.0) - 1.0)
        every[:, seen] = D
        return every[:, 1:] if k == 2 else every

    def of_probabilities(self, P: FloatArray) -> FloatArray:
        """Return the scores (n, m) of probabilities (n, k)."""
        logs = np.log(np.maximum(P, 1.0 / (self.n_rows + 1.0)))
        if P.shape[1] > 2:
            return logs
        limit = 0.5 * np.log(self.n_rows + 1.0)
        return np.clip(0.5 * (logs[:, 1:] - logs[:, :1]), -limit, limit)


class CostDecisionClassifier(CostDecisionMixin, MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Decide by least expected cost with the probabilities of any classifier.

    Costs may be known, known in part, or known by row at prediction; there may be any number
    of classes, and rows may be left to a person. Nothing is tuned: the estimator is fitted,
    its probabilities are calibrated, and costs decide.

    Parameters
    ----------
    estimator : classifier
        With ``predict_proba`` or ``decision_function``. Is cloned, unless ``cv="prefit"``.
    cost : CostConstraints, array, DataFrame, dict, sentences, callable or None, default=None
        What mistakes cost, or what is known of it, in any form :class:`CSELMClassifier` takes;
        a matrix (k, k + 1) has the cost of asking a person as its last column. None: every
        mistake costs 1.
    rule : {"expected", "minimax_regret"}, default="expected"
        How costs that are known in part decide, as in :class:`CSELMClassifier`; validation
        rows are those that calibrate.
    reject_cost : float, array of shape (k,), dict or None, default=None
        Cost of asking a person, by true class. Rows for which every prediction is expected to
        cost more are left to a person.
    reject_capacity : float or None, default=None
        Largest share of rows to ask about, those that gain most; asking is free unless
        ``reject_cost`` is given. The share is exact for the validation rows, see
        ``reject_rate_`` for others.
    reject_label : object, default="auto"
        What ``predict`` returns for rows that are left to a person; ``"auto"`` is "reject" for
        text labels and None otherwise.
    promise : dict or None, default=None
        ``{"ill": 0.95}``: the recall of the class on new rows is at least this;
        ``{("well", "ill"): 0.1}``: the rate of rows of the first class that are taken for the
        second is at most this. All hold together with ``confidence``. Rows are held out to test
        it, at least one fifth (one half of those given with ``cv="prefit"``), more where the
        class has few cases, and no other use is made of them. Decisions are as much more
        cautious than ``cost`` as that takes. ``fit`` raises ValueError where there are too few
        cases, before anything is fitted, and PromiseError, whose ``model`` is fitted without
        the promise, where the test fails. Asking a person is no recall and no false alarm.
        Nothing is promised of predictions with costs by row. Rows count once, whatever their
        weights.
    confidence : float, default=0.9
        Of the promises: the probability, over samples of rows, that ``fit`` returns a model
        that breaks one is at most ``1 - confidence``.
    calibration : {"auto", "holdout", "cross"} or None, default="auto"
        ``"holdout"`` fits the estimator without one of ``cv`` parts of the rows, which
        calibrates it: one fit. ``"cross"`` calibrates on the predictions of all parts by models
        of the others, and fits the estimator to all rows: ``cv + 1`` fits. None takes
        probabilities as they are. ``"auto"`` is None for estimators that are calibrated
        (those of this package, ``CalibratedClassifierCV``, unweighted logistic regression),
        ``"holdout"`` where a part has 25 rows of every class and no row can be left to a
        person, else ``"cross"``.
    cv : int, splitter, list of splits or "prefit", default=5
        Number of parts, or how rows are split; the first split is that of ``"holdout"``.
        ``"prefit"``: the estimator is fitted already and is used as it is; the
        rows given to ``fit``, on which it must not have been fitted, calibrate it.
    n_jobs : int, default=None
        Fits at a time with ``"cross"``.
    random_state : int, RandomState or None, default=0
        Of the assignment of rows to parts.

    Attributes
    ----------
    estimator_ : classifier
    classes_ : array of shape (k,)
    constraints_ : CostConstraints
    cost_matrix_ : array of shape (k, k) or (k, k + 1)
        The costs by which decisions are made, in the unit of the stated costs up to a factor;
        with ``promise`` the more cautious ones that keep it.
    promise_ : list of dict
        Only with ``promise``: for each, ``truth`` and ``predicted`` (None for a recall),
        ``asked``, ``n_cases`` and ``n_failures`` among the rows that tested it, the
        ``observed`` recall or rate, its exact ``bound`` at the ``confidence`` (a recall is at
        least, a rate at most this), the ``threshold`` of the probability of
        ``classes_[1]``, or the ``factor`` by which mistakes on the class became more expensive,
        and its ``interval``: 95 %, by bootstrap samples of these rows, None beyond 20 000.
        With ``promise_groups`` the bound is that of the worst group.
    calibration_ : str or None
        What was done: ``"holdout"``, ``"cross"``, ``"prefit"`` or None.
    thresholds_ : array of shape (1,) or (2,)
        Of two classes: the probabilities of ``classes_[1]``, as the estimator gives them, at
        which the answer changes; values of its decision function if it has no probabilities.
    thresholds_std_error_ : array of shape (1,) or (2,)
        Their standard errors, from the calibration; 0 where there is none, NaN in a model
        that :meth:`at` returns.
    front_ : DataFrame
        As in :class:`ECSELMClassifier`, of the validation rows. Not where probabilities are
        taken as they are and nothing else needs validation rows (AttributeError): then
        ``calibration="cross"`` makes some.
    reject_label_ : object
        Only with ``reject_cost`` or ``reject_capacity``.
    reject_rate_ : float
        Share of the validation rows that is left to a person.
    reject_rate_interval_ : tuple of two floats
        95 % interval (Clopper and Pearson) of the share of new rows.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> from sklearn.model_selection import train_test_split
    >>> from ecselm import CostDecisionClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)  # 0 is malignant
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> model = CostDecisionClassifier(
    ...     HistGradientBoostingClassifier(random_state=0), cost="0->1 = 3..20 * 1->0"
    ... ).fit(X_train, y_train)
    >>> bool(model.settled(X_test).mean() > 0.8)
    True
    """

    _doc_link_module = "ecselm"
    _doc_link_template = DOC_LINK
    _doc_link_url_param_generator = doc_link_parts
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict"])],
        "cost": "no_validation",
        "rule": [StrOptions(set(RULES))],
        "reject_cost": [Interval(Real, 0, None, closed="left"), "array-like", dict, None],
        "reject_capacity": [Interval(Real, 0, 1, closed="neither"), None],
        "reject_label": "no_validation",
        "promise": [dict, None],
        "confidence": [Interval(Real, 0, 1, closed="neither")],
        "calibration": [StrOptions({AUTO, "holdout", "cross"}), None],
        "cv": [
            Interval(Integral, 2, None, closed="left"),
            StrOptions({"prefit"}),
            HasMethods(["split", "get_n_splits"]),
            "array-like",
        ],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: Any,
        *,
        cost: Any = None,
        rule: str = "expected",
        reject_cost: Any = None,
        reject_capacity: float | None = None,
        reject_label: Any = AUTO,
        promise: dict[Any, float] | None = None,
        confidence: float = 0.9,
        calibration: str | None = AUTO,
        cv: Any = 5,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.estimator = estimator
        self.cost = cost
        self.rule = rule
        self.reject_cost = reject_cost
        self.reject_capacity = reject_capacity
        self.reject_label = reject_label
        self.promise = promise
        self.confidence = confidence
        self.calibration = calibration
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=False)
    @keeping_best()
    @all_or_nothing
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
        promise_groups: Any = None,
    ) -> Self:
        """Fit the estimator, calibrate its probabilities, and settle how costs decide.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n), or what the estimator takes
        y : array of shape (N,)
        sample_weight : array of shape (N,), default=None
            Weights of the rows, also of the estimator, which must take them.
        sample_cost, tp_cost, tn_cost, fp_cost, fn_cost :
            Costs by row, in the place of ``cost``. Their means by confusion decide about rows
            for which ``predict`` is not given costs of their own.
        promise_groups : array of shape (N,), default=None
            Labels of groups of rows, such as hospitals: ``promise`` holds in every one of them,
            all together with ``confidence``. Each needs enough cases for a test of its own.

        Returns
        -------
        self
        """
        # Validate everything before any fit.
        X, y, weight = self._checked_rows(X, y, sample_weight)
        classes, codes = self._known_classes(y)
        if weight is not None and len(np.unique(codes[weight > 0])) < 2:
            raise ValueError("y must have two classes among the rows of positive weight, got one")
        given = (sample_cost, tp_cost, tn_cost, fp_cost, fn_cost)
        by_row = dict(zip(ROW_COSTS, given, strict=True))
        held = self._held_out(X, codes, classes, weight, promise_groups)
        if held is not None:  # these rows choose nothing, not even mean costs
            rest, n = held.rest, len(codes)
            X, y, codes = safe_indexing(X, rest), y[rest], codes[rest]
            weight = rows_of(weight, rest, n)
            by_row = {name: rows_of(value, rest, n) for name, value in by_row.items()}
        constraints, price = self._stated_costs(classes, codes, weight, by_row)
        asks = price is not None or self.reject_capacity is not None
        label = self._label(classes, asks=asks)
        counts = np.bincount(codes, weight, minlength=len(classes)).astype(np.float64)
        how = self._way(counts, asks=asks)
        if weight is not None and how != "prefit":
            weight_parameter(self.estimator)
        listed = not isinstance(self.cv, Integral | str) and not hasattr(self.cv, "split")
        if weight is not None and not weight.all() and not listed:  # a row of weight 0 is no row
            used = np.flatnonzero(weight)
            X, y, codes, weight = safe_indexing(X, used), y[used], codes[used], weight[used]
        self._check_ways(how, codes, len(classes))

        # Fit, and calibrate on rows that the estimator was not fitted on.
        self.classes_, self.constraints_ = classes, constraints
        # A weight of 2 is a row twice, but weights may be in any unit.
        n = len(codes) if weight is None else max(int((weight > 0).sum()), int(weight.sum()))
        scored, self._scored_rows_ = ModelScores(classes, n), n
        loo, P = self._calibrated_fit(how, X, y, codes, weight, scored)
        shield_model()  # promises are tested to the end
        shares = class_shares(codes, weight, len(classes))

        # Costs decide: known ones as they are, others by the rule.
        by_game = self.rule != "expected" and not constraints.is_exact
        rows: IntArray = np.arange(len(codes))
        compete = held is not None and held.compete
        if P is None and (asks or by_game or compete):  # validation rows of a calibrated estimator
            P, rows = self._out_of_part(X, y, codes, weight)
        policy = DecisionPolicy.of_costs(
            *(constraints.region, shares, self.rule, P),
            ask_cost=price,
            capacity=self.reject_capacity,
        )
        forget_promise(self)
        broken = None
        if held is not None:
            of_rows = codes[rows] if loo is None else loo.y[loo.weight > 0]
            policy, broken = self._promised(policy, held, P, of_rows)
        self.cost_matrix_ = self._decision_costs_ = policy.matrix
        self._least_gain_ = policy.least_gain
        self.__dict__.pop("reject_label_", None)
        if policy.asks:
            self.reject_label_ = label
            self._reject_costs_ = np.zeros(len(classes)) if price is None else price
            n_asked = 0 if P is None else int((policy.answers(P) == len(classes)).sum())
            self._keep_reject_rate(n_asked, 1 if P is None else len(P))
        if len(classes) == 2:
            self.thresholds_, self.thresholds_std_error_ = self._thresholds(policy, loo)
        known = codes[rows], None if weight is None else weight[rows]
        mean = constraints.mean() if self._states_costs(by_row) else None
        self._keep_validated(P, loo, *known, shares, rows, mean)
        if broken is not None:
            broken.model = without_promise(self)
            raise broken
        return self

    def _checked_rows(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Any, AnyArray, FloatArray | None]:
        """Return rows, labels and weights; the estimator validates its inputs itself."""
        if is_regressor(self.estimator):
            raise ValueError(f"estimator must be a classifier, got {self.estimator!r}")
        if not (hasattr(self.estimator, "predict_proba") or _scores_rows(self.estimator)):
            raise ValueError(
                f"estimator must have predict_proba or decision_function, got {self.estimator!r}"
            )
        if y is None:
            raise ValueError(
                "CostDecisionClassifier requires y to be passed, but the target y is None"
            )
        y = column_or_1d(check_array(y, ensure_2d=False, dtype=None, input_name="y"), warn=True)
        X, y = indexable(X, y)
        validate_data(self, X, skip_check_array=True)
        if np.shape(X)[1:] == (0,):
            raise ValueError(
                f"X has 0 feature(s) (shape={np.shape(X)}) while a minimum of 1 is required."
            )
        check_classification_targets(y)
        return X, y, check_weights(sample_weight, np.empty((len(y), 1)))

    def _held_out(
        self,
        X: Any,
        codes: IntArray,
        classes: AnyArray,
        weight: FloatArray | None,
        promise_groups: Any,
    ) -> HeldOut | None:
        """Return the rows that test the promise, None without one."""
        if self.promise is None:
            if promise_groups is not None:
                raise ValueError("promise_groups must be None without a promise")
            return None
        if not isinstance(self.cv, Integral | str) and not hasattr(self.cv, "split"):
            raise ValueError(
                "cv must be a number or a splitter with a promise, for which rows are held out, "
                "got a list of splits"
            )
        return hold_out(
            self, X, codes, classes, weight, prefit=self._is_prefit(), groups=promise_groups
        )

    def _promised(
        self, policy: DecisionPolicy, held: HeldOut, P: FloatArray | None, y: IntArray
    ) -> tuple[DecisionPolicy, PromiseError | None]:
        """Return the policy that keeps the promise, or as it is and why; P and y validate."""

        def deciding(matrix: FloatArray) -> DecisionPolicy:
            one = replace(policy, matrix=matrix)
            if self.reject_capacity is None or P is None:
                return one
            return replace(one, least_gain=one.gain_at(P, self.reject_capacity))

        def answers(Q: FloatArray, matrix: FloatArray) -> IntArray:
            return deciding(matrix).answers(Q)

        tested, validation = self._class_probabilities(held.X), None if P is None else (P, y)
        try:
            matrix, self.promise_ = held.chosen(policy.matrix, tested, answers, validation)
        except PromiseError as error:  # the fit goes on, and is handed over with the error
            return policy, error
        self._plain_costs_ = policy.matrix
        return deciding(matrix), None

    def _check_ways(self, how: str | None, codes: IntArray, n_classes: int) -> None:
        """Refuse an estimator or rows that cannot be calibrated as is wanted."""
        if how == "prefit" and self.calibration is not None and len(np.unique(codes)) < 2:
            raise ValueError(
                "y must have at least two classes to calibrate an estimator with cv='prefit', got "
                "one; with calibration=None probabilities are taken as they are"
            )
        if hasattr(self.estimator, "predict_proba") or n_classes == 2:
            return
        for name, value in self.estimator.get_params().items():
            if name.split("__")[-1] == "decision_function_shape" and value == "ovo":
                raise ValueError(
                    "estimator must have one decision value per class, got "
                    f"{name}='ovo': set it to 'ovr'"
                )

    def _is_prefit(self) -> bool:
        return isinstance(self.cv, str)

    def _known_classes(self, y: AnyArray) -> tuple[AnyArray, IntArray]:
        if not self._is_prefit():
            classes, codes = np.unique(y, return_inverse=True)
            if len(classes) < 2:
                raise ValueError(
                    f"y must have at least two classes, got one class: {classes.tolist()}"
                )
            return classes, codes
        try:
            check_is_fitted(self.estimator)
        except NotFittedError as error:
            raise NotFittedError(
                f"estimator must be fitted with cv='prefit', got {self.estimator!r}"
            ) from error
        classes = np.asarray(self.estimator.classes_)
        unknown = np.setdiff1d(y, classes)
        if len(unknown):
            raise ValueError(
                f"y must hold classes of the estimator, {classes.tolist()}, got {unknown.tolist()}"
            )
        return classes, np.searchsorted(classes, y)

    def _stated_costs(
        self, classes: AnyArray, codes: IntArray, weight: FloatArray | None, by_row: dict[str, Any]
    ) -> tuple[CostConstraints, FloatArray | None]:
        """Return what is known of costs, and what asking costs by class."""
        k, price = len(classes), None
        if self.reject_cost is not None:
            price = parse_reject_cost(self.reject_cost, classes)
        cost = self.cost(classes) if _is_function(self.cost) else self.cost
        of_rows = any(value is not None for value in by_row.values())
        if of_rows or _is_by_row(cost, len(codes), k):
            stated = read_costs(cost, codes, classes, aggregate="classes", **by_row)
            costs, means = row_costs(stated, codes, k), np.zeros((k, k))
            w = np.ones(len(codes)) if weight is None else weight
            for c in range(k):
                mine = (codes == c) & (w > 0)
                means[c] = np.average(costs[mine], axis=0, weights=w[mine]) if mine.any() else 1.0
            np.fill_diagonal(means, 0.0)
            return CostConstraints.from_costs(means, classes), price
        if has_reject_column(cost):
            if price is not None:
                raise ValueError("reject_cost must be None where cost has a column for it")
            if hasattr(cost, "columns") and is_partly_known(cost, k):
                cost, column = without_reject_column(cost, classes)
                price = parse_reject_cost(column, classes)
                return CostConstraints.from_costs(cost, classes), price
            matrix, price = parse_with_reject_column(cost, classes)
            return CostConstraints.from_costs(matrix, classes), price
        return CostConstraints.from_costs(cost, classes), price

    def _label(self, classes: AnyArray, *, asks: bool) -> Any:
        label = self.reject_label
        if isinstance(label, str) and label == AUTO:
            label = "reject" if isinstance(classes.tolist()[0], str) else None
        if np.ndim(label) > 0:
            raise ValueError(f"reject_label must be a text, a number or None, got {label!r}")
        if asks and label in classes.tolist():
            raise ValueError(f"reject_label must not be a class, got {label!r}")
        return label

    def _way(self, counts: FloatArray, *, asks: bool) -> str | None:
        """Return how probabilities are calibrated, for the sizes (k,) of the classes."""
        if self._is_prefit():
            return "prefit"
        if self.calibration is None and hasattr(self.estimator, "predict_proba"):
            return None
        if self.calibration in {"holdout", "cross"}:
            return str(self.calibration)
        if _is_calibrated(self.estimator):
            return None
        if asks:  # few rows cannot show small probabilities: many would be left to a person
            return "cross"
        n_parts = self.cv if isinstance(self.cv, Integral) else 5
        return "holdout" if counts.min() / int(n_parts) >= ROWS_OF_A_CLASS else "cross"

    def _calibrated_fit(
        self,
        how: str | None,
        X: Any,
        y: AnyArray,
        codes: IntArray,
        weight: FloatArray | None,
        scored: ModelScores,
    ) -> tuple[LooScores | None, FloatArray | None]:
        """Fit the estimator and its calibration; return scores and probabilities that made it."""
        self.calibration_, self._map_ = how, None
        every: IntArray = np.arange(len(codes))
        rows: IntArray
        if how is None:
            self.estimator_ = fitted(self.estimator, X, y, weight)
            return None, None
        if how == "prefit":
            self.estimator_ = self.estimator
            scores, rows = scored(self.estimator, X), every
            if self.calibration is None and hasattr(self.estimator, "predict_proba"):
                self.calibration_ = None
                return None, class_probabilities(self.estimator, X, self.classes_)
        elif how == "holdout":
            rows = self._part(codes)
            train = np.setdiff1d(every, rows)
            kept = None if weight is None else weight[train]
            self.estimator_ = fitted(self.estimator, safe_indexing(X, train), y[train], kept)
            scores = scored(self.estimator_, safe_indexing(X, rows))
        else:
            splits = _splits(codes, self.cv, self.random_state)
            with interruptible():  # a part cut short must not pass for a whole one
                parts = Parallel(n_jobs=self.n_jobs)(
                    delayed(_scores_of_part)(self.estimator, X, y, weight, split, scored)
                    for split in splits
                )
            scores = np.concatenate(parts)
            rows = np.concatenate([test for _, test in splits])
            self.estimator_ = fitted(self.estimator, X, y, weight)
        w = np.ones(len(rows)) if weight is None else weight[rows]
        loo = LooScores(scores, codes[rows], w)
        self._map_ = fit_calibration(loo, len(self.classes_))
        return loo, self._map_(loo.scores)[w > 0]

    def _out_of_part(
        self, X: Any, y: AnyArray, codes: IntArray, weight: FloatArray | None
    ) -> tuple[FloatArray, IntArray]:
        """Return probabilities of all parts by models of the others, and their rows."""
        classes = self.classes_

        def probabilities(model: Any, X: Any) -> FloatArray:
            return class_probabilities(model, X, classes)

        splits = _splits(codes, self.cv, self.random_state)
        parts = [
            _scores_of_part(self.estimator, X, y, weight, split, probabilities) for split in splits
        ]
        rows = np.concatenate([test for _, test in splits])
        used = slice(None) if weight is None else weight[rows] > 0
        return np.concatenate(parts)[used], rows[used]

    def _states_costs(self, by_row: dict[str, Any]) -> bool:
        return self.cost is not None or any(value is not None for value in by_row.values())

    def _keep_validated(
        self,
        P: FloatArray | None,
        loo: LooScores | None,
        y: IntArray,
        weight: FloatArray | None,
        shares: FloatArray,
        rows: IntArray,
        stated: FloatArray | None,
    ) -> None:
        """Keep the front of validation rows; their classes are those of ``loo`` if it is there."""
        self._front_, self._class_shares_ = None, shares
        if loo is not None:
            kept = loo.weight > 0
            y, weight, rows = loo.y[kept], loo.weight[kept], np.arange(int(kept.sum()))
        if P is None or (loo is not None and len(y) > self._scored_rows_):  # rows that repeat
            return
        keep_front(
            self,
            *(P, y, weight, shares),
            centres=class_centres(self.cost_matrix_[np.newaxis, :, : len(shares)]),
            stated=stated,
            pattern=None if stated is None else cost_pattern(stated),
            groups=rows if len(np.unique(rows)) < len(rows) else None,
        )

    def _no_front(self) -> str:
        return (
            "front_ is not there: probabilities were taken as they are, or validation rows "
            "repeat; set calibration='cross' and cv to a number of parts"
        )

    at = at
    front_ = property(front_frame)

    def _take_over(self, constraints: CostConstraints) -> None:
        """Decide by the costs of another point, and ask no person."""
        self.constraints_, self._least_gain_ = constraints, 0.0
        for name in ("reject_label_", "reject_rate_", "reject_rate_interval_", "_reject_costs_"):
            self.__dict__.pop(name, None)
        if len(self.classes_) == 2:
            self.thresholds_, self.thresholds_std_error_ = self._thresholds(self._policy(), None)

    def _part(self, codes: IntArray) -> IntArray:
        """Return the rows of one part, at most a thousand of them while classes have enough."""
        _, rows = _splits(codes, self.cv, self.random_state)[0]
        share = np.bincount(codes[rows]).min() / len(rows)
        most = int(max(MOST_CALIBRATED - 1, np.ceil(ROWS_OF_A_CLASS / share)))
        if len(rows) <= most:
            return rows
        order = np.argsort(codes[rows], kind="stable")  # evenly from every class
        return np.sort(rows[order[np.linspace(0, len(rows) - 1, most).astype(np.intp)]])

    def _keep_reject_rate(self, n_asked: int, n: int) -> None:
        self.reject_rate_ = n_asked / n
        interval = stats.binomtest(n_asked, n).proportion_ci(0.95, method="exact")
        self.reject_rate_interval_ = (float(interval.low), float(interval.high))

    def _thresholds(
        self, policy: DecisionPolicy, loo: LooScores | None
    ) -> tuple[FloatArray, FloatArray]:
        """Return where the answers to two classes change, and the errors of these places."""
        found = _changes(policy)
        if self._map_ is None:
            return found, np.zeros(len(found))
        # Where the calibrated probability is the threshold, on the scale of the estimator.
        scored, low, high = ModelScores(self.classes_, self._scored_rows_), 0.0, 1.0
        probable = hasattr(self.estimator_, "predict_proba")
        if not probable and loo is None:
            low, high = -FARTHEST, FARTHEST
        elif not probable and loo is not None:  # twice as far out as any row
            middle, reach = float(np.mean(loo.scores)), float(np.ptp(loo.scores)) + 1.0
            low, high = middle - 2.0 * reach, middle + 2.0 * reach

        def scores(q: FloatArray) -> FloatArray:
            if not probable:
                return q[:, np.newaxis]
            return scored.of_probabilities(np.column_stack([1.0 - q, q]))

        ends = np.full(len(found), low), np.full(len(found), high)
        for _ in range(60):
            q = (ends[0] + ends[1]) / 2
            below = self._map_(scores(q))[:, 1] < found
            ends = np.where(below, q, ends[0]), np.where(below, ends[1], q)
        q = (ends[0] + ends[1]) / 2
        if loo is None:  # the rows that calibrated are gone
            return q, np.full(len(q), np.nan)
        errors = _threshold_errors(loo, scores(q))
        steepness = 2.0 * q * (1.0 - q) if probable else np.ones(len(q))  # from half log-odds
        known = np.isfinite(errors)
        errors[known] *= steepness[known]
        return q, errors

    def _class_probabilities(self, X: Any) -> FloatArray:
        model = self.estimator_
        if self._map_ is None:
            return class_probabilities(model, X, self.classes_)
        return self._map_(ModelScores(self.classes_, self._scored_rows_)(model, X))

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the calibrated probabilities of the estimator.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)

        Returns
        -------
        probabilities : array of shape (N, k)
        """
        check_is_fitted(self)
        return self._class_probabilities(X)

    def decision_function(self, X: Any) -> FloatArray:
        """Return the negative of what every answer is expected to cost.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)

        Returns
        -------
        scores : array of shape (N,) for two classes, (N, k), or (N, k + 1) with asking
            For two classes, positive speaks for ``classes_[1]``. Asking costs as much more as
            it must save where a capacity limits it, so that the answer has the largest score.
        """
        costs = self.predict_proba(X) @ self.cost_matrix_
        if costs.shape[1] > len(self.classes_):
            costs[:, -1] += self._least_gain_
        return costs[:, 0] - costs[:, 1] if costs.shape[1] == 2 else -costs

    def predict(
        self,
        X: Any,
        *,
        sample_cost: Any = None,
        tp_cost: Any = None,
        tn_cost: Any = None,
        fp_cost: Any = None,
        fn_cost: Any = None,
        reject_cost: Any = None,
    ) -> AnyArray:
        """Return the answer of least expected cost: a class, or the label of rejected rows.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)
        sample_cost : array of shape (N, k, k), (N, k, k + 1) or (N,), default=None
            Costs of each row, which decide in the place of all others: the true classes are
            rows of a matrix and the predicted ones columns, after which there may be that of
            asking; or the cost of any mistake.
        tp_cost, tn_cost, fp_cost, fn_cost : float or array of shape (N,), default=None
            Costs by row of two classes, by outcome; ``classes_[1]`` is positive.
        reject_cost : float or array of shape (N,), default=None
            Cost of asking a person about each row, where asking is an answer.

        Returns
        -------
        labels : array of shape (N,)
        """
        check_is_fitted(self)
        given = (sample_cost, tp_cost, tn_cost, fp_cost, fn_cost)
        stated = dict(zip(ROW_COSTS, given, strict=True))
        by_row = self._with_prices(X, self._row_matrices(X, stated), reject_cost)
        _, answers = self._decided(X, by_row)
        if not hasattr(self, "reject_label_"):
            return self.classes_[answers]
        labels = np.empty(len(self.classes_) + 1, dtype=object)
        labels[:-1], labels[-1] = self.classes_.tolist(), self.reject_label_
        kind, label = self.classes_.dtype, self.reject_label_
        number = isinstance(label, Real) and not isinstance(label, bool | np.bool_)
        if all(isinstance(one, str) for one in labels):
            labels = labels.astype(str)
        elif isinstance(label, Integral) and number and kind.kind in "iu":
            # A type of all classes need not hold the label, such as unsigned ones -1.
            labels = labels.astype(np.result_type(kind, np.min_scalar_type(int(label))))
        elif number and kind.kind == "f":
            labels = labels.astype(kind)
        return labels[answers]

    def _row_matrices(self, X: Any, stated: dict[str, Any]) -> FloatArray | None:
        """Return the costs of rows (N, k, k), or (N, k, k + 1) with those of asking."""
        check_is_fitted(self)
        cost, k = stated["sample_cost"], len(self.classes_)
        if cost is None or np.shape(cost) != (n := np.shape(X)[0], k, k + 1):
            return super()._row_matrices(X, stated)
        if not hasattr(self, "reject_label_"):
            raise ValueError(
                f"sample_cost must have the shape ({n}, {k}, {k}) where asking is no answer: fit "
                f"with reject_cost or reject_capacity, got {np.shape(cost)}"
            )
        values = numbers(cost, "sample_cost")
        matrices = super()._row_matrices(X, {**stated, "sample_cost": values[:, :, :k]})
        asking = values[:, :, k:] - values.diagonal(axis1=1, axis2=2)[:, :, np.newaxis]
        if matrices is None or (asking < 0).any():
            row = int(np.argwhere(asking < 0)[0][0])
            raise ValueError(
                "sample_cost must not make asking cheaper than the right answer, got a lower cost "
                f"in row {row}"
            )
        return np.concatenate([matrices, asking], axis=2)

    def _with_asking(self, X: Any, by_row: FloatArray | None) -> FloatArray | None:
        return self._with_prices(X, by_row, None)

    def _with_prices(self, X: Any, by_row: FloatArray | None, price: Any) -> FloatArray | None:
        """Return the costs of rows with those of asking, (N, k, k + 1)."""
        if price is not None and not hasattr(self, "reject_label_"):
            raise ValueError(
                "reject_cost must be None where asking is no answer: fit with reject_cost or "
                "reject_capacity"
            )
        if not hasattr(self, "reject_label_") or (by_row is None and price is None):
            return by_row
        n, k = np.shape(X)[0], len(self.classes_)
        column, unit = np.broadcast_to(self._asking_column(), (n, k)), 1.0
        if by_row is None:
            by_row = np.broadcast_to(self.cost_matrix_[:, :k], (n, k, k))
            if column.any():  # what decides is in the unit of the stated costs up to a factor
                unit = float(self.cost_matrix_[:, k].sum() / self._asking_column().sum())
        elif by_row.shape[2] > k:
            if price is not None:
                raise ValueError("costs must be stated once, got reject_cost and sample_cost")
            return by_row
        if price is not None:
            values = check_row_costs(price, "reject_cost")
            if values.shape not in {(), (n,), (n, 1)}:
                raise ValueError(
                    f"reject_cost must be one number or one per row, shape ({n},), got "
                    f"{values.shape}"
                )
            column = np.broadcast_to(values.reshape(-1, 1), (n, k))
        return np.concatenate([by_row, unit * column[:, :, np.newaxis]], axis=2)

    def _decided(self, X: Any, by_row: FloatArray | None) -> tuple[FloatArray, IntArray]:
        P = self.predict_proba(X)
        return P, self._policy().answers(P, by_row)

    def _policy(self) -> DecisionPolicy:
        check_is_fitted(self)
        return super()._policy()

    def _capacity(self) -> tuple[float, bool]:
        return self._least_gain_, self.reject_capacity is not None

    def _asking_column(self) -> FloatArray:
        return self._reject_costs_

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of rows that are answered, and answered correctly.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)
        y : array of shape (N,)
        sample_weight : array of shape (N,), default=None

        Returns
        -------
        share : float
        """
        _, answers = self._decided(X, None)
        known = np.append(self.classes_.astype(object), np.array([None]))
        right = known[answers] == np.asarray(y)
        return float(np.average(right, weights=sample_weight))

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


def _is_function(cost: Any) -> bool:
    return callable(cost) and not isinstance(cost, CostConstraints)


def _is_by_row(cost: Any, n_rows: int, n_classes: int) -> bool:
    """Return whether an array has costs by row: as many rows as there are, and not by class."""
    if not isinstance(cost, np.ndarray | list) or is_partly_known(cost, n_classes):
        return False
    try:
        shape, k = np.shape(cost), n_classes
    except ValueError:  # ragged
        return False
    return shape[:1] == (n_rows,) and shape not in {(k,), (k, k), (k, k + 1)}


def _scores_rows(estimator: Any) -> bool:
    return hasattr(estimator, "decision_function")


def _changes(policy: DecisionPolicy) -> FloatArray:
    """Return the probabilities of the second of two classes at which the answer changes."""
    M = policy.matrix
    if not policy.asks:
        return np.array([M[0, 1] / (M[0, 1] + M[1, 0])])
    p = np.linspace(0.0, 1.0, GRID)

    def answers(p: FloatArray) -> IntArray:
        return policy.answers(np.column_stack([1.0 - p, p]))

    places = np.flatnonzero(np.diff(answers(p)))
    low, high = p[places], p[places + 1]
    before = answers(low)
    for _ in range(50):
        middle = (low + high) / 2
        same = answers(middle) == before
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return (low + high) / 2


def _splits(codes: IntArray, cv: Any, random_state: Any) -> list[tuple[IntArray, IntArray]]:
    """Return training and test rows of every part; rare classes may be missing from some."""
    if isinstance(cv, Integral):
        if int(cv) > len(codes):
            raise ValueError(f"cv must be at most the number of rows, {len(codes)}, got {cv}")
        folds = StratifiedKFold(int(cv), shuffle=True, random_state=random_state)
    else:
        folds = check_cv(cv, codes, classifier=True)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        return list(folds.split(np.zeros(len(codes)), codes))


def _is_calibrated(estimator: Any) -> bool:
    """Tell whether the probabilities of an estimator are calibrated by the way it is fitted."""
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    if isinstance(estimator, LogisticRegression | LogisticRegressionCV):
        return estimator.class_weight is None
    if isinstance(estimator, CostSearchCV):
        return _is_calibrated(estimator.estimator)
    return isinstance(
        estimator, ELMClassifierBase | CalibratedClassifierCV | CostDecisionClassifier
    )


def _scores_of_part(
    estimator: Any,
    X: Any,
    y: AnyArray,
    weight: FloatArray | None,
    split: tuple[IntArray, IntArray],
    scored: Callable[[Any, Any], FloatArray],
) -> FloatArray:
    """Return the scores of one part by a model of the others."""
    end_pooled_with_parent()
    train, test = split
    kept = None if weight is None else weight[train]
    model = fitted(estimator, safe_indexing(X, train), y[train], kept)
    return scored(model, safe_indexing(X, test))


def _threshold_errors(loo: LooScores, scores: FloatArray) -> FloatArray:
    """Return the standard errors of thresholds at ``scores`` (n, 1), on their scale.

    By the delta method for a logistic calibration ``a s + b``: where it reaches a given
    probability moves by ``-(s da + db) / a``. Infinite where scores carry no information.
    """
    known = loo.usable()
    fit = LogisticCalibration.from_loo(known, 2)
    s, w = known.scores[:, 0], known.weight
    p = fit(known.scores)[:, 1]
    a = 2.0 * fit.slope  # two classes have the scores -s and s
    if a <= 0:
        return np.full(len(scores), np.inf)
    D = np.column_stack([s, np.ones(len(s))])
    information = D.T @ (D * (w * p * (1.0 - p))[:, np.newaxis])
    covariance = np.linalg.pinv(information)
    at = np.column_stack([scores[:, 0], np.ones(len(scores))])
    return np.sqrt(np.maximum(np.einsum("ni,ij,nj->n", at, covariance, at), 0.0)) / a
