"""Rows with targets: which of them are test rows, and the fit of a pipeline to the others."""

from __future__ import annotations

import inspect
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.validation import check_consistent_length, column_or_1d, has_fit_parameter

from ecselm._sklearn import safe_indexing
from ecselm._typing import AnyArray, BoolArray, IntArray
from ecselm._wording import listed
from ecselm.costs.parse import numbers
from ecselm.estimators._base import class_codes
from ecselm.estimators._prior_test import FewCasesWarning
from ecselm.fitness import holdout
from ecselm.fitness.folds import Groups, read_groups
from ecselm.tables.schema import Task


@dataclass(frozen=True, slots=True)
class Dealt:
    """Positions of the rows on both sides, and what is to be told of them."""

    train: IntArray
    held_out: IntArray
    notes: tuple[str, ...] = ()


def hold_out(
    X: Any,
    codes: IntArray,
    names: AnyArray,
    *,
    share: float,
    rng: np.random.Generator,
    groups: Any = None,
) -> Dealt:
    """Hold out a share of the rows of every class.

    Rows that are equal, or of one group, stay together; a class that cannot give a row
    without losing its last one stays with the training rows, which a note tells.

    Parameters
    ----------
    X : array, sparse matrix or dataframe of shape (N, n)
    codes : array of shape (N,)
        Positions in ``names``; all 0 where numbers are predicted.
    names : array of shape (k,)
        The classes.
    share : float
        Between 0 and 1.
    rng : numpy.random.Generator
    groups : array of shape (N,), default=None
        Labels of what rows belong to, such as patients.

    Examples
    --------
    >>> X, codes = np.arange(9.0)[:, np.newaxis], np.repeat([0, 1], [8, 1])
    >>> dealt = hold_out(X, codes, np.array(["well", "ill"]), share=0.25,
    ...                  rng=np.random.default_rng(0))
    >>> len(dealt.train), len(dealt.held_out), dealt.notes
    (7, 2, ('No row of ill was held out: every class keeps rows to train on.',))
    """
    if not 0 < share < 1:
        raise ValueError(f"held_out must lie between 0 and 1, got {share}")
    together = read_groups(groups, len(codes), None)
    inputs = X if sparse.issparse(X) else np.asarray(X)
    (split,) = holdout(inputs, codes, share, rng, None if together is None else together.codes)
    held = np.zeros(len(codes), dtype=bool)
    held[split.test] = True
    held &= ~_last_of_class(held, codes, together)
    if not held.any():
        raise ValueError(
            f"held_out must leave rows to judge by, got {share} of {len(codes)} rows whose "
            "classes or groups cannot be parted"
        )
    notes = _notes(codes[held], names) if len(names) > 1 else ()
    return Dealt(np.flatnonzero(~held), np.flatnonzero(held), notes)


def _last_of_class(held: BoolArray, codes: IntArray, groups: Groups | None) -> BoolArray:
    """Return the rows held out whose class would have none to train on, with their groups.

    That can happen only to classes that share all their groups with rarer ones.
    """
    missing = np.setdiff1d(codes[held], codes[~held])
    rows = held & np.isin(codes, missing)
    return rows if groups is None else np.isin(groups.codes, groups.codes[rows])


def _notes(held: IntArray, names: AnyArray) -> tuple[str, ...]:
    without = [str(names.tolist()[c]) for c in np.setdiff1d(np.arange(len(names)), held)]
    if not without:
        return ()
    return (f"No row of {listed(without)} was held out: every class keeps rows to train on.",)


@dataclass(frozen=True, slots=True)
class TargetedRows:
    """Rows with their targets, and the classes of these at positions ``codes``."""

    X: Any
    y: AnyArray
    codes: IntArray  # (N,), all 0 where numbers are predicted
    classes: AnyArray  # (k,), none where numbers are predicted
    groups: Any = None  # (N,) labels of what rows belong to

    def taken(self, positions: IntArray) -> TargetedRows:
        """Return some of the rows."""
        return replace(
            self,
            X=safe_indexing(self.X, positions),
            y=self.y[positions],
            codes=self.codes[positions],
            groups=None if self.groups is None else safe_indexing(self.groups, positions),
        )

    @property
    def counts(self) -> list[int]:
        """Return how many rows each class has."""
        k = len(self.classes)
        return np.bincount(self.codes, minlength=k).tolist() if k else []


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted pipeline, the training rows as its last step saw them, and how it went."""

    pipeline: Pipeline
    inputs: Any
    seconds: float
    interrupted: bool

    def inputs_of(self, X: Any) -> Any:
        """Return other rows as the last step sees them."""
        for _, step in self.pipeline.steps[:-1]:
            X = step.transform(X)
        return X


def read_rows(X: Any, y: Any, task: Task, groups: Any = None) -> TargetedRows:
    """Return rows fit for a task, or refuse them.

    Examples
    --------
    >>> read_rows([[1.0], [2.0], [3.0]], ["well", "ill", "well"], "classes").counts
    [1, 2]
    """
    y = column_or_1d(np.asarray(y))
    check_consistent_length(X, y, groups)
    if task == "numbers":
        one_level = np.zeros(len(y), dtype=np.intp)
        return TargetedRows(X, numbers(y, "y"), one_level, np.array([]), groups)
    classes, codes = class_codes(y)
    return TargetedRows(X, classes[codes], codes, classes, groups)


def prepared(model: Any, task: Task, seed: int, callbacks: Any = None) -> Any:
    """Return a copy that has a seed, and tells those who want to know how the search goes.

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
    parameters = model.get_params(deep=False)
    if "random_state" in parameters and parameters["random_state"] is None:
        model.set_params(random_state=seed)
    if callbacks is not None and "callbacks" in parameters:
        model.set_params(callbacks=callbacks)
    return model


def fit_steps(
    train: TargetedRows, steps: Sequence[Any], model: Any, sample_weight: Any = None
) -> Fit:
    """Fit copies of the steps one after the other, and the model itself at their end.

    Weights are the model's alone. It does not keep its callbacks: they have been told, and
    cannot be stored.
    """
    done, inputs = [], train.X
    for step in steps:
        done.append(clone(step))
        inputs = done[-1].fit_transform(inputs, train.y)
    takes_groups = train.groups is not None and has_fit_parameter(model, "groups")
    given = {"groups": train.groups} if takes_groups else {}
    if sample_weight is not None:
        given["sample_weight"] = sample_weight
    start = time.monotonic()
    with warnings.catch_warnings():  # the card tells of both
        warnings.simplefilter("ignore", FewCasesWarning)
        warnings.filterwarnings("ignore", "the search was interrupted", ConvergenceWarning)
        model.fit(inputs, train.y, **given)
    seconds = time.monotonic() - start
    if "callbacks" in model.get_params(deep=False):
        model.set_params(callbacks=None)
    reason = getattr(getattr(model, "_history_", None), "reason", "")
    return Fit(make_pipeline(*done, model), inputs, seconds, reason == "interrupted")


def settings_of(model: Any) -> dict[str, str]:
    """Return the name of a model and its parameters that are not as by default, as text.

    Examples
    --------
    >>> from ecselm import ELMClassifier
    >>> settings_of(ELMClassifier(50, activation="tanh"))
    {'model': 'ELMClassifier', 'activation': "'tanh'", 'n_hidden': '50'}
    """
    defaults = inspect.signature(type(model).__init__).parameters
    given = {name: repr(value) for name, value in model.get_params(deep=False).items()}
    changed = {
        name: text for name, text in sorted(given.items()) if text != repr(defaults[name].default)
    }
    return {"model": type(model).__name__, **changed}
