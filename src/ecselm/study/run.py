"""From rows and a request to a fitted model and its card."""

from __future__ import annotations

import platform
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.validation import has_fit_parameter

from ecselm._random import as_generator
from ecselm._typing import IntArray
from ecselm._wording import listed
from ecselm.costs import PromiseError, parse_cost
from ecselm.costs.promise import read_promise
from ecselm.estimators import FewCasesWarning
from ecselm.estimators._base import ELMBase
from ecselm.estimators._policy import Decisions
from ecselm.estimators._promise import drawn_rows
from ecselm.fitness.folds import fold_splits, read_groups
from ecselm.metrics import get_metric, get_scorer
from ecselm.metrics.intervals import RecordedClassifier, RecordedRegressor
from ecselm.search.interrupts import (
    current_interrupts,
    interruptible,
    keeping_best,
    shield_model,
)
from ecselm.study.benefit import decision_curves
from ecselm.study.card import (
    Baseline,
    Card,
    ClassCount,
    DataSummary,
    DecisionCurves,
    Evaluation,
    PromiseResult,
    RecordedRows,
    RequestSummary,
)
from ecselm.study.decisions import (
    counted_by,
    decisions_of,
    last_step,
    operating_points,
)
from ecselm.study.evaluate import (
    Baselines,
    class_scores,
    evaluate,
    fit_baselines,
    number_scores,
    record_predictions,
)
from ecselm.study.fitted import (
    learned_costs,
    learner_of,
    members_of,
    search_summary,
    settings_of,
)
from ecselm.study.groups import group_results
from ecselm.study.importance import importances
from ecselm.study.models import ModelChoice, ModelSettings, Selection, one_thread
from ecselm.study.notes import leaking_columns, warnings_of
from ecselm.study.promises import (
    check_cases,
    checked_promises,
    promise_warnings,
    promises_of,
)
from ecselm.study.rows import TargetedRows, read_rows, split_rows
from ecselm.tables.cells import read_names
from ecselm.tables.schema import ColumnNote, Task

CALLBACKS = ("callbacks", "estimator__callbacks")  # of a model, or of the one it decides by
VALIDATION_FOLDS = 3  # by which a model is chosen
MOST_ROWS = 2000  # whose probabilities a card holds,
MOST_PROBABILITIES = 20_000  # and fewer where classes are many
PACKAGES = ("ecselm", "numpy", "scipy", "scikit-learn")
BASELINES_PART = "baselines"
Result = TypeVar("Result")


@keeping_best()
def study(
    X: Any,
    y: Any,
    *,
    request: RequestSummary,
    model: Any,
    transformer: Any = None,
    scaler: Any = None,
    cost: Any = None,
    sample_cost: Any = None,
    groups: Any = None,
    by: Any = None,
    callbacks: Any = None,
    file: str = "",
    columns: Sequence[ColumnNote] = (),
    notes: Sequence[str] = (),
    command: str = "",
    refit: bool = False,
) -> tuple[Pipeline, Card]:
    """Fit a model on training rows, evaluate it on test rows, and write its card.

    Test rows are drawn first. Everything is fitted on the others: the transformer, the model
    with all that it chooses, and the baselines.

    Parameters
    ----------
    X : array, sparse matrix or dataframe of shape (N, n)
    y : array of shape (N,)
        Labels, or finite numbers.
    request : RequestSummary
        Task, metric and share of test rows. Its seed is that of the split, of baselines, and
        of a model that has none.
    model : classifier, regressor or ModelChoice
        Is cloned. Its own ``scoring`` is not changed. Of several models by name, the best on
        validation rows among the training rows is fitted, and the card says which.
    transformer : transformer, default=None
        Turns rows of ``X`` into numbers; is cloned.
    scaler : transformer, default=None
        Follows it, where the model needs one; is cloned.
    cost : CostConstraints, array, DataFrame, dict or None, default=None
        Costs by which results are counted, in any form the estimators take.
    sample_cost : array of shape (N, k, k), default=None
        Known costs of the rows instead, by which mistakes are counted and the model is fitted
        and decides.
    groups : array of shape (N,), default=None
        Labels of rows that belong together: a group is not split between training and test
        rows. Passed on to a model whose ``fit`` takes them.
    by : Series of length N, default=None
        Values by which results on test rows are stated group by group; its name is theirs.
    callbacks : callable or list of callables, default=None
        Called after every generation of a search. The fitted model does not keep them.
    file, columns, notes, command :
        Description of the data and of the command, for the card.
    refit : bool, default=False
        Whether to return the same model fitted again on all rows. Results on the card stay those
        of the model that was fitted on the training rows. A model that promises something is
        not fitted again: its promises were tested.

    Returns
    -------
    model : Pipeline
    card : Card

    Notes
    -----
    Ctrl-C during a search ends it with the best candidate so far, which the card records. While
    models are compared, the best of those compared so far is taken. Once the model is fitted,
    Ctrl-C ends the part of its evaluation that is at work, and the next ones are left out:
    baselines, decision curves, importances, and the fit on all rows. The card says so. Pressed
    again before that is done, it ends everything.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from ecselm import ECSELMClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> request = RequestSummary("classes", "diagnosis", "gmean", (), 0.25, 0)
    >>> model = ECSELMClassifier(20, scoring="gmean", population_size=5, max_epochs=1)
    >>> pipeline, card = study(X, y, request=request, model=model)
    >>> card.data.n_test, card.test.scores["gmean"] > 0.9
    (142, True)
    """
    get_scorer(request.metric)
    if not isinstance(model, ModelChoice):
        model = prepared(model, request.task, request.seed, callbacks)
    rows = replace(read_rows(X, y, request.task, groups), sample_cost=sample_cost, by=by)
    if cost is not None:
        parse_cost(cost, rows.classes)
    (split_rng,) = np.random.default_rng(request.seed).spawn(1)
    split = split_rows(
        X, rows.codes, rows.classes, share=request.test_share, rng=split_rng, groups=groups
    )
    train, test = rows.taken(split.train), rows.taken(split.test)
    check_cases(model, train.counts, train.classes, request.test_share)
    steps = [step for step in (transformer, scaler) if step is not None]
    fit = fit_steps(train, steps, model, request=request, cost=cost, callbacks=callbacks)
    rest = Rest()
    baselines = rest.attempt(
        BASELINES_PART,
        lambda: fit_baselines(
            fit.inputs,
            train.y,
            task=request.task,
            seed=request.seed,
            metric=request.metric,
            cost=cost,
            sample_cost=train.sample_cost,
            without=fit.name,
        ),
        Baselines({}),
    )
    counted = zip(train.classes.tolist(), train.counts, test.counts, strict=True)
    classes = tuple(ClassCount(str(name), n_train, n_test) for name, n_train, n_test in counted)
    data = DataSummary(
        file,
        len(train.y),
        len(test.y),
        tuple(columns),
        classes,
        (*notes, *split.notes, *fit.notes, *baselines.notes),
    )
    card = make_card(request, data, fit, baselines, train, test, cost=cost, rest=rest)
    card = replace(card, command=command)
    if not refit:
        return fit.pipeline, card
    return refitted(fit, card, rows, steps, model, cost=cost, callbacks=callbacks)


class Rest:
    """What follows a fit: an interrupt ends the part at work, and the next ones are left out.

    Within :func:`~ecselm.search.interrupts.keeping_best`; else KeyboardInterrupt goes through.

    Attributes
    ----------
    skipped : list of str
        Parts that were left out.

    Examples
    --------
    >>> Rest().attempt("squares", lambda: [1, 4], [])
    [1, 4]
    """

    def __init__(self) -> None:
        self.skipped: list[str] = []
        self._interrupts = current_interrupts()

    def attempt(self, part: str, work: Callable[[], Result], without: Result) -> Result:
        """Return ``work()``, or ``without`` if it is interrupted."""
        own = self._interrupts
        if own is None:
            return work()
        try:
            with own.allowed():
                return work()
        except KeyboardInterrupt:
            if own.n_received > 1:
                raise
            own.said = True
            if part not in self.skipped:
                self.skipped.append(part)
            return without

    def notes(self) -> tuple[str, ...]:
        """Return what was left out, a sentence."""
        if not self.skipped:
            return ()
        verb = "was" if len(self.skipped) == 1 and self.skipped[0] != BASELINES_PART else "were"
        return (f"The evaluation was interrupted: {listed(self.skipped)} {verb} left out.",)


def refitted(
    fit: Fit,
    card: Card,
    rows: TargetedRows,
    steps: Sequence[Any],
    model: Any,
    *,
    cost: Any = None,
    callbacks: Any = None,
) -> tuple[Pipeline, Card]:
    """Return the model fitted on all rows, and its card with a note.

    Parameters
    ----------
    fit : Fit
        On the training rows, which is returned where a fit on all rows is not possible.
    card : Card
        Of this fit.
    rows : TargetedRows
        Training and test rows.
    steps, model, cost, callbacks :
        As in :func:`fit_steps`.
    """
    n, kept = len(rows.y), "so the model is the one fitted on the training rows."
    if card.test.promises:
        note = f"Promises were tested, and hold for no other fit, {kept}"
        return fit.pipeline, with_note(card, note)
    if fit.interrupted:
        return fit.pipeline, with_note(card, f"The search was interrupted, {kept}")
    if isinstance(model, ModelChoice):
        model = replace(model, names=(fit.name,), settings=_on_all_rows(model.settings))
    elif model.get_params(deep=False).get("checkpoint") is not None:
        model = clone(model).set_params(checkpoint=_beside(model.checkpoint))
    try:
        again = Rest().attempt(
            "the fit on all rows",
            lambda: fit_steps(
                rows, steps, model, request=card.request, cost=cost, callbacks=callbacks
            ),
            None,
        )
    except KeyboardInterrupt:
        again = None
    except (ValueError, MemoryError, np.linalg.LinAlgError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        return fit.pipeline, with_note(card, f"The fit on all rows failed ({reason}), {kept}")
    if again is None:
        return fit.pipeline, with_note(card, f"The fit on all rows was interrupted, {kept}")
    note = (
        f"The saved model was fitted again on all {n} rows. All results and costs shown are of the "
        f"model fitted on the {card.data.n_train} training rows."
    )
    return again.pipeline, replace(with_note(card, note), refitted=True)


def with_note(card: Card, note: str) -> Card:
    """Return the card with one more note on its data."""
    return replace(card, data=replace(card.data, notes=(*card.data.notes, note)))


def _on_all_rows(settings: ModelSettings) -> ModelSettings:
    """Return settings of a search on all rows, with a checkpoint of its own if there is any."""
    search = dict(settings.search)
    if search.get("checkpoint") is not None:
        search["checkpoint"] = _beside(search["checkpoint"])
    return replace(settings, search=search)


def _beside(checkpoint: Any) -> str:
    place = Path(checkpoint)
    return str(place.with_name(f"{place.stem}.all{place.suffix}"))


def make_card(
    request: RequestSummary,
    data: DataSummary,
    fit: Fit,
    baselines: Baselines,
    train: TargetedRows,
    test: TargetedRows,
    *,
    cost: Any,
    rest: Rest,
) -> Card:
    """Return the card of a fitted model, evaluated on test rows.

    Parameters
    ----------
    request, cost :
        As in :func:`study`.
    data : DataSummary
    fit : Fit
    baselines : Baselines
        Fitted on the same rows.
    train, test : TargetedRows
    rest : Rest
        Leaves parts of the evaluation out after an interrupt.
    """
    by = {"metric": request.metric, "cost": cost, "sample_cost": test.sample_cost}
    names = test.classes.tolist()
    decisions = decisions_of(fit.pipeline, test.X, test.sample_cost) if names else None
    decisions = None if decisions is None else counted_by(decisions, cost, test.classes)
    found = evaluate(
        *(fit.pipeline, test.X, test.y),
        **by,
        groups=test.groups,
        decisions=decisions,
        positive=request.positive,
    )
    inputs = fit.inputs_of(test.X)
    own = record_predictions(fit.pipeline, test.X, decisions)
    others = baselines.recorded(inputs, test.sample_cost)
    benefit = rest.attempt(
        "decision curves", lambda: benefit_of(found, own, others, test, seed=request.seed), None
    )
    importance = rest.attempt(
        "importances",
        lambda: importances(fit.pipeline, test.X, test.y, **by, seed=request.seed),
        None,
    )
    no_baselines: tuple[Baseline, ...] = ()
    compared = rest.attempt(
        BASELINES_PART,
        lambda: baselines.compared(
            inputs, test.y, **by, model=own, groups=test.groups, recorded=others
        ),
        no_baselines,
    )
    measured = replace(found, benefit=benefit, importance=importance)
    promises = promises_of(fit.pipeline, fit.broken)
    measured = with_promises(
        *(measured, promises, decisions, test, fit.pipeline), cost=cost, positive=request.positive
    )
    card = Card(
        request,
        data,
        with_groups(measured, decisions, test, cost=cost),
        learned_costs(fit.pipeline, names, cost, by_row=test.sample_cost is not None)
        if names
        else None,
        search_summary(fit.pipeline, fit.seconds, fit.interrupted),
        compared,
        members=members_of(fit.pipeline),
        settings={**settings_of(last_step(fit.pipeline)), **fit.settings},
        made_on=datetime.now(UTC).date().isoformat(),
        rows=recorded_rows(fit.pipeline, test),
        versions={"python": platform.python_version(), **{one: version(one) for one in PACKAGES}},
    )
    leaks = leaking_columns(train.X, train.y, request.task)
    warned = (*warnings_of(card, leaks=leaks), *promise_warnings(card, fit.broken))
    card = replace(card, warnings=warned)
    for note in rest.notes():
        card = with_note(card, note)
    return card


def recorded_rows(model: Any, test: TargetedRows) -> RecordedRows | None:
    """Return true classes and probabilities of test rows, of many some at equal distances."""
    if not len(test.classes) or not hasattr(model, "predict_proba"):
        return None
    most = max(1, min(MOST_ROWS, MOST_PROBABILITIES // len(test.classes)))
    n = len(test.codes)
    kept = np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.intp))
    part = test.taken(kept)
    P = np.round(np.asarray(model.predict_proba(part.X), dtype=np.float64), 6)
    return RecordedRows(tuple(part.codes.tolist()), tuple(tuple(row) for row in P.tolist()))


def benefit_of(
    found: Evaluation, model: Any, baselines: Mapping[str, Any], test: TargetedRows, *, seed: int
) -> DecisionCurves | None:
    """Return the decision curves of a model on test rows, None where it predicts numbers."""
    if found.operating is None:
        return None
    return decision_curves(
        model,
        baselines,
        test.classes[test.codes],
        found.operating.class_name,
        cost=None if found.cost_matrix is None else np.array(found.cost_matrix),
        groups=test.groups,
        seed=seed,
    )


def with_promises(
    found: Evaluation,
    promises: tuple[PromiseResult, ...],
    decisions: Decisions | None,
    test: TargetedRows,
    model: Any,
    *,
    cost: Any,
    rows: str = "test rows",
    positive: str | None = None,
) -> Evaluation:
    """Return results on test rows with what these show about promises, if there are any."""
    if not promises or decisions is None:
        return found
    plain = getattr(last_step(model), "_plain_costs_", None)
    if plain is not None:
        operating = operating_points(
            *(decisions, test.codes, test.classes),
            are_stated=cost is not None,
            without_promise=plain,
            positive=positive,
        )
        found = replace(found, operating=operating)
    checked = checked_promises(promises, decisions, test.codes, test.classes, rows)
    return replace(found, promises=checked)


def with_groups(
    found: Evaluation, decisions: Decisions | None, test: TargetedRows, *, cost: Any
) -> Evaluation:
    """Return results on test rows with those of every group, if there are any."""
    if test.by is None or decisions is None:
        return found
    groups = group_results(
        decisions,
        test.codes,
        test.classes,
        read_names(test.by),
        are_stated=cost is not None or test.sample_cost is not None,
        promises=found.promises,
    )
    return replace(found, by=str(test.by.name), groups=groups)


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted pipeline, and the training rows as its last step saw them."""

    pipeline: Pipeline
    inputs: Any
    seconds: float
    interrupted: bool
    name: str = ""  # of a model that was requested by name
    selection: Selection | None = None  # where it was chosen among several
    broken: PromiseError | None = None  # where a promise could not be kept

    @property
    def settings(self) -> dict[str, str]:
        """Return the name of the model and why it was chosen, as a card stores them."""
        named = {"model name": self.name} if self.name else {}
        if self.selection is None:
            return named
        return {**named, "chosen by validation": self.selection.setting()}

    @property
    def notes(self) -> tuple[str, ...]:
        """Return which model was chosen and by how much, a sentence."""
        return () if self.selection is None else (self.selection.note(),)

    def inputs_of(self, X: Any) -> Any:
        """Return other rows as the last step sees them."""
        for _, step in self.pipeline.steps[:-1]:
            X = step.transform(X)
        return X


def prepared(model: Any, task: Task, seed: int, callbacks: Any = None) -> Any:
    """Return a copy of the model with a seed and the callbacks.

    Examples
    --------
    >>> from ecselm import ELMClassifier
    >>> prepared(ELMClassifier(), "classes", 3)
    ELMClassifier(random_state=3)
    """
    if not (is_classifier(model) if task == "classes" else is_regressor(model)):
        kind = "classifier" if task == "classes" else "regressor"
        raise ValueError(f"model must be a {kind} to predict {task}, got {model!r}")
    model = clone(model)
    parameters = model.get_params(deep=True)
    for name in ("random_state", "estimator__random_state"):
        if name in parameters and parameters[name] is None:
            model.set_params(**{name: seed})
    for name in CALLBACKS:
        if callbacks is not None and name in parameters:
            listed = [callbacks] if callable(callbacks) else callbacks
            model.set_params(**{name: [SharedCallback(one) for one in listed]})
    return model


class SharedCallback:
    """A callback that copies of a model share: progress bars cannot be copied."""

    def __init__(self, callback: Callable[[Any], None]) -> None:
        self._callback = callback

    def __call__(self, progress: Any) -> None:
        """Pass the call on."""
        self._callback(progress)

    def __sklearn_clone__(self) -> SharedCallback:
        return self


def fit_steps(
    train: TargetedRows,
    steps: Sequence[Any],
    model: Any,
    sample_weight: Any = None,
    *,
    request: RequestSummary | None = None,
    cost: Any = None,
    callbacks: Any = None,
) -> Fit:
    """Fit copies of the steps one after the other, and then the model itself.

    Only the model gets weights. It does not keep its callbacks, which cannot be stored. The
    request, costs and callbacks are those of a choice between models.
    """
    done, inputs = [], train.X
    for step in steps:
        done.append(clone(step))
        inputs = done[-1].fit_transform(inputs, train.y)
    start, name, selection = time.monotonic(), "", None
    if isinstance(model, ModelChoice):
        if request is None:
            raise ValueError("request must be given to choose between models, got None")
        choice, name = model, model.names[0]
        if len(choice.names) > 1:
            selection = select_model(choice, replace(train, X=inputs), request, cost)
            name = selection.name
        model = choice.model(name, inputs, train.y)
        model = prepared(model, request.task, request.seed, callbacks)
    broken = None
    try:
        _fit(model, replace(train, X=inputs), sample_weight)
    except PromiseError as error:  # the fit is not lost: the card says what is not promised
        model, broken = error.model, error
    shield_model()
    own = current_interrupts()
    cut = own is not None and own.said  # steps were left out
    if own is not None and cut:
        own.forget()  # what was kept is evaluated
    seconds = time.monotonic() - start
    for part in {id(one): one for one in (model, learner_of(model))}.values():
        without = dict.fromkeys(set(CALLBACKS) & set(part.get_params(deep=True)))
        part.set_params(**without)
    reason = getattr(getattr(learner_of(model), "_history_", None), "reason", "")
    pipeline = make_pipeline(*done, model)
    cut = cut or reason == "interrupted"
    return Fit(pipeline, inputs, seconds, cut, name, selection, broken)


def _fit(model: Any, rows: TargetedRows, sample_weight: Any = None) -> Any:
    """Fit a model to rows, with their groups and costs where it takes them."""
    takes_groups = rows.groups is not None and has_fit_parameter(model, "groups")
    given = {"groups": rows.groups} if takes_groups else {}
    if sample_weight is not None:
        given["sample_weight"] = sample_weight
    if rows.sample_cost is not None:
        given["sample_cost"] = rows.sample_cost
    is_own = isinstance(learner_of(model), ELMBase)  # these limit their threads themselves
    limited = nullcontext() if is_own else one_thread()
    with limited, warnings.catch_warnings():  # the card has both
        warnings.simplefilter("ignore", FewCasesWarning)
        warnings.filterwarnings("ignore", "the search was interrupted", ConvergenceWarning)
        return model.fit(rows.X, rows.y, **given)


def select_model(
    choice: ModelChoice, train: TargetedRows, request: RequestSummary, cost: Any = None
) -> Selection:
    """Choose between models by cross-validation of the metric on training rows.

    Rows that are equal, or of one group, share a fold. The metric is that of the predictions
    of all folds together; a model that cannot be fitted has none.

    Parameters
    ----------
    choice : ModelChoice
    train : TargetedRows
        Training rows as the models see them.
    request : RequestSummary
        Its metric decides, and its seed draws the folds.
    cost : CostConstraints, array, DataFrame, dict or None, default=None
        Stated costs by which mistakes are counted.
    """
    rng = np.random.default_rng(request.seed).spawn(2)[1]  # the first splits off the test rows
    train = _without_promised(train, choice.settings)
    together = read_groups(train.groups, len(train.y), None)
    inputs = train.X if sparse.issparse(train.X) else np.asarray(train.X)
    groups = None if together is None else together.codes
    splits = fold_splits(inputs, train.codes, VALIDATION_FOLDS, rng, groups)
    # Folds write no checkpoint: it is of the search on all rows. They promise nothing.
    search = {name: one for name, one in choice.settings.search.items() if name != "checkpoint"}
    choice = replace(choice, settings=replace(choice.settings, search=search, promise=None))
    scores: dict[str, float] = {}
    failures: dict[str, str] = {}
    for name in choice.names:
        try:
            with interruptible():  # a model cut short must not be compared with whole ones
                found = _validated(choice, name, train, [(one.train, one.test) for one in splits])
            scored = _score(*found, train, request.metric, cost)
        except KeyboardInterrupt:
            own = current_interrupts()
            if not scores or own is None or own.n_received > 1:
                raise
            own.forget()  # the best so far is fitted
            left = choice.names[choice.names.index(name) :]
            failures |= dict.fromkeys(left, "the comparison was interrupted")
            break
        except (ValueError, MemoryError) as error:
            failures[name] = " ".join(str(error).split()) or type(error).__name__
            continue
        if scored is not None:
            scores[name] = scored
    usable = [name for name in choice.names if name not in failures]
    if not usable:
        raise ValueError(f"no model could be fitted: {'; '.join(failures.values())}")
    metric = get_metric(request.metric)
    best = max(scores, key=lambda name: metric.advantage(scores[name], 0.0), default=usable[0])
    return Selection(best, request.metric, scores, failures)


def _without_promised(train: TargetedRows, settings: ModelSettings) -> TargetedRows:
    """Return rows without those that will test a promise, which must choose nothing else."""
    if settings.promise is None:
        return train
    promises = read_promise(settings.promise, train.classes)
    drawn = drawn_rows(
        *(promises, settings.confidence, train.codes, train.classes),
        as_generator(settings.seed),
    )
    return train.taken(np.setdiff1d(np.arange(len(train.y)), drawn))


def _validated(
    choice: ModelChoice, name: str, train: TargetedRows, splits: list[tuple[IntArray, IntArray]]
) -> tuple[IntArray, Any]:
    """Return rows, and their predictions by models that were fitted to other folds."""
    found, rows = [], []
    for fitted_on, validated in splits:
        # The rows of a class that has no others are trained on.
        missing = np.setdiff1d(train.codes, train.codes[fitted_on])
        is_last = np.isin(train.codes[validated], missing)
        kept = train.taken(np.sort(np.append(fitted_on, validated[is_last])))
        part = train.taken(validated[~is_last])
        if not len(part.y):
            continue
        model = choice.model(name, kept.X, kept.y)
        model = _fit(prepared(model, choice.settings.task, choice.settings.seed), kept)
        decisions = decisions_of(model, part.X, part.sample_cost) if len(train.classes) else None
        found.append(record_predictions(model, part.X, decisions))
        rows.append(validated[~is_last])
    y_pred = np.concatenate([one.y_pred for one in found])
    if not len(train.classes):
        return np.concatenate(rows), RecordedRegressor(y_pred)
    P = None
    if all(one.probabilities is not None for one in found):
        P = np.concatenate([one.probabilities for one in found])
    return np.concatenate(rows), RecordedClassifier(train.classes, y_pred, P)


def _score(
    rows: IntArray, recorded: Any, train: TargetedRows, metric: str, cost: Any
) -> float | None:
    """Return the metric of recorded predictions of some rows, None where it is not defined."""
    part = train.taken(rows)
    if isinstance(recorded, RecordedRegressor):
        return number_scores(recorded, part.y.astype(np.float64), metric).get(metric)
    scored = class_scores(recorded, part.codes, metric, cost, part.sample_cost)
    return scored.scores.get(metric)
