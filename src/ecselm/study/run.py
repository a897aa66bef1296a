"""From rows and a request to a fitted model and its card."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from ecselm.costs import parse_cost
from ecselm.metrics import get_scorer
from ecselm.study.card import Asked, Card, ClassCount, DataGlance, HeldOut
from ecselm.study.costs import last_step, learned_of, progress_of
from ecselm.study.evaluate import (
    Rivals,
    best_of,
    differ_in_classes,
    differ_in_numbers,
    fitted_rivals,
    held_out_of,
)
from ecselm.study.notes import telling_columns, warnings_of
from ecselm.study.rows import (
    Fit,
    TargetedRows,
    fit_steps,
    hold_out,
    prepared,
    read_rows,
    settings_of,
)
from ecselm.study.scores import better, count_metric, known_codes
from ecselm.tables.schema import ColumnNote

PACKAGES = ("ecselm", "numpy", "scipy", "scikit-learn")


def study(
    X: Any,
    y: Any,
    *,
    asked: Asked,
    model: Any,
    transformer: Any = None,
    scaler: Any = None,
    stated: Any = None,
    groups: Any = None,
    callbacks: Any = None,
    file: str = "",
    columns: Sequence[ColumnNote] = (),
    notes: Sequence[str] = (),
    command: str = "",
) -> tuple[Pipeline, Card]:
    """Fit a model on part of the rows, judge it on the others, and say what is known of it.

    The rows held out are drawn first. Everything is fitted on the others: the transformer, the
    model with all that it chooses, and the plainer models it is compared with.

    Parameters
    ----------
    X : array, sparse matrix or dataframe of shape (N, n)
    y : array of shape (N,)
        Labels, or finite numbers.
    asked : Asked
        What is predicted, by which metric, and which share of the rows is held out. Its seed
        is that of the split, of comparisons, and of a model that has none.
    model : classifier or regressor
        Is cloned. Its own ``scoring`` is not touched.
    transformer : transformer, default=None
        Turns rows of ``X`` into numbers; is cloned.
    scaler : transformer, default=None
        Follows it, where the model needs one; is cloned.
    stated : array, DataFrame, dict or None, default=None
        Costs by which results are counted, in any form the estimators take.
    groups : array of shape (N,), default=None
        Labels of what rows belong to: a group is held out as a whole. Handed on to a model
        whose ``fit`` takes them.
    callbacks : callable or list of callables, default=None
        Told of every generation by a model that searches. The fitted model does not keep
        them.
    file, columns, notes, command :
        What the card tells of the data and of how it was made.

    Returns
    -------
    model : Pipeline
    card : Card

    Notes
    -----
    Ctrl-C within a search ends it with the best so far, and the card tells.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from ecselm import ECSELMClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> asked = Asked("classes", "diagnosis", "gmean", (), 0.25, 0)
    >>> model = ECSELMClassifier(20, scoring="gmean", population_size=5, max_epochs=1)
    >>> pipeline, card = study(X, y, asked=asked, model=model)
    >>> card.data.n_held_out, card.held_out.scores["gmean"] > 0.9
    (142, True)
    """
    get_scorer(asked.metric)
    model = prepared(model, asked.task, asked.seed, callbacks)
    rows = read_rows(X, y, asked.task, groups)
    if stated is not None:
        parse_cost(stated, rows.classes)
    split_rng, chance_rng = np.random.default_rng(asked.seed).spawn(2)
    dealt = hold_out(
        X, rows.codes, rows.classes, share=asked.held_out, rng=split_rng, groups=groups
    )
    train, test = rows.taken(dealt.train), rows.taken(dealt.held_out)
    steps = [step for step in (transformer, scaler) if step is not None]
    fit = fit_steps(train, steps, model)
    rivals = fitted_rivals(fit.inputs, train.y, task=asked.task, seed=asked.seed)
    data = _glance(file, columns, train, test, (*notes, *dealt.notes, *rivals.notes))
    card = judged_card(asked, data, fit, rivals, train, test, stated=stated, rng=chance_rng)
    return fit.pipeline, replace(card, command=command)


def judged_card(
    asked: Asked,
    data: DataGlance,
    fit: Fit,
    rivals: Rivals,
    train: TargetedRows,
    test: TargetedRows,
    *,
    stated: Any,
    rng: np.random.Generator,
) -> Card:
    """Return what is known of a model that was fitted on some rows, judged on others.

    Parameters
    ----------
    asked, stated :
        As in :func:`study`.
    data : DataGlance
    fit : Fit
    rivals : Rivals
        Of the same rows.
    train, test : TargetedRows
    rng : numpy.random.Generator
        Of the comparison of models.
    """
    card = _judged(asked, data, fit, rivals, test, stated)
    said = warnings_of(
        card,
        beyond_chance=_beyond_chance(card, fit, rivals, test, rng),
        telling=telling_columns(train.X, train.y, asked.task),
    )
    return replace(card, warnings=said)


def evaluate_on(
    model: Any, X: Any, y: Any, *, metric: str | None = None, stated: Any = None
) -> HeldOut:
    """Return results of a fitted model on other labelled rows.

    Labels that the model does not know are refused by name. There is no telling whether it
    was fitted on some of these rows: if it was, results are too good.

    Parameters
    ----------
    model, X, y, metric, stated :
        As in :func:`ecselm.study.evaluate.held_out_of`.

    Examples
    --------
    >>> from ecselm import ELMClassifier
    >>> model = ELMClassifier(5, random_state=0).fit([[0.0], [1.0]], ["ill", "well"])
    >>> evaluate_on(model, [[0.0]], ["Ill"])
    Traceback (most recent call last):
    ValueError: y must hold classes that the model knows, ill, well, got Ill; did you mean ill?
    """
    return held_out_of(model, X, y, metric=metric, stated=stated)


def _glance(
    file: str,
    columns: Sequence[ColumnNote],
    train: TargetedRows,
    test: TargetedRows,
    notes: tuple[str, ...],
) -> DataGlance:
    counted = zip(train.classes.tolist(), train.counts, test.counts, strict=True)
    classes = tuple(ClassCount(str(name), n_train, n_held) for name, n_train, n_held in counted)
    return DataGlance(file, len(train.y), len(test.y), tuple(columns), classes, notes)


def _judged(
    asked: Asked, data: DataGlance, fit: Fit, rivals: Rivals, test: TargetedRows, stated: Any
) -> Card:
    """Return the card of a fitted model, without warnings."""
    by = {"metric": asked.metric, "stated": stated}
    names = test.classes.tolist()
    return Card(
        asked,
        data,
        held_out_of(fit.pipeline, test.X, test.y, **by),
        learned_of(fit.pipeline, names) if names else None,
        progress_of(fit.pipeline, fit.seconds, fit.interrupted),
        rivals.compared(fit.inputs_of(test.X), test.y, **by),
        settings=settings_of(last_step(fit.pipeline)),
        versions={"python": platform.python_version(), **{one: version(one) for one in PACKAGES}},
    )


def _beyond_chance(
    card: Card, fit: Fit, rivals: Rivals, test: TargetedRows, rng: np.random.Generator
) -> dict[str, bool]:
    """Tell of the best of the models that did better whether that is more than chance."""
    metric, own = card.asked.metric, card.held_out.scores.get(card.asked.metric)
    best = best_of(card.compared, metric)
    if own is None or best is None or not better(best.scores[metric], own, metric):
        return {}
    # The best of several is ahead by luck more easily than one alone.
    confidence = 1.0 - 0.05 / len(rivals.models)
    both = [fit.pipeline.predict(test.X), rivals.models[best.name].predict(fit.inputs_of(test.X))]
    if card.asked.task == "numbers":
        mine, other = (test.y - told for told in both)
        return {best.name: differ_in_numbers(mine, other, metric, confidence)}
    stated, k = card.held_out.stated_costs, len(test.classes)
    counted = count_metric(metric, test.classes, None if stated is None else np.array(stated))
    if counted is None:  # nothing is known of how it varies with the rows
        return {}
    answers = [known_codes(told, test.classes) for told in both]
    return {best.name: differ_in_classes(test.codes, answers, counted, k, rng, confidence)}
