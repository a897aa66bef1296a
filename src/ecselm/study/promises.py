"""Promises of a fit from a table: read, counted before the fit, and checked on test rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.stats import binomtest

from ecselm._typing import AnyArray, IntArray
from ecselm._wording import all_digits, listed
from ecselm.costs import PromiseError
from ecselm.costs.promise import Promise, cases_needed, read_promise
from ecselm.costs.sentences import Mistake, MistakeReader
from ecselm.estimators._policy import Decisions
from ecselm.estimators._promise import rows_needed
from ecselm.metrics import get_metric
from ecselm.study.card import Card, Estimate, GroupPromise, PromiseResult, PromiseStatus
from ecselm.study.decisions import last_step

OPTION = "--promise"
CONFIDENCE = 0.95  # of intervals on test rows
SIGNS = {"<": "at most", ">": "at least"}


def read_promises(texts: Sequence[str], classes: Any) -> dict[Any, float] | None:
    """Return promises as estimators take them, None where there are none.

    Parameters
    ----------
    texts : sequence of str
        ``"class=recall"`` or ``"class>=recall"``, and ``"true->predicted=rate"`` or
        ``"true->predicted<=rate"``.
    classes : array of shape (k,)

    Examples
    --------
    >>> read_promises(["ill=0.95", "well->ill <= 0.1"], ["ill", "well"])
    {'ill': 0.95, ('well', 'ill'): 0.1}
    >>> read_promises(["il=0.95"], ["ill", "well"])
    Traceback (most recent call last):
        ...
    ValueError: --promise must name classes of the data, 'ill', 'well', got 'il'; did you mean
    'ill'?
    """
    labels = np.asarray(classes).tolist()
    reader, found = MistakeReader(labels), {}
    for text in texts:
        name, sign, number = text.rpartition("=")
        try:
            asked = float(number)
        except ValueError:
            asked = np.nan
        if not sign or not 0 < asked < 1:
            raise ValueError(
                f"{OPTION} must read CLASS=RECALL or 'TRUE->PREDICTED<=RATE' with a number between "
                f"0 and 1, got {text!r}"
            )
        mistake = _mistake(name, text, reader)
        key = labels[mistake.truth]
        if mistake.predicted is not None:
            key = (key, labels[mistake.predicted])
        if key in found:
            raise ValueError(f"{OPTION} must be stated once about {key!r}, got {text!r}")
        found[key] = asked
    return found or None


def _mistake(name: str, text: str, reader: MistakeReader) -> Mistake:
    """Return what is promised about, where a comparison may end the name."""
    stripped = name.rstrip()
    sign = stripped[-1:] if stripped[-1:] in SIGNS else ""
    if not sign or reader.readings(name):  # the name of a class may end with a sign
        return reader.mistake(name, OPTION)
    mistake = reader.mistake(stripped[:-1], OPTION)
    kind, right = ("recall", ">") if mistake.predicted is None else ("rate", "<")
    if sign != right:
        raise ValueError(
            f"{OPTION} must promise a {kind} of {SIGNS[right]} a number ({right}=), got {text!r}"
        )
    return mistake


def promise_of(model: Any) -> tuple[dict[Any, float] | None, float]:
    """Return the promise and the confidence of a model, or of the settings of a choice."""
    asked = getattr(model, "settings", None) or last_step(model)
    return getattr(asked, "promise", None), float(getattr(asked, "confidence", 0.9))


def check_cases(model: Any, counts: Sequence[int], classes: AnyArray, test_share: float) -> None:
    """Raise ValueError, before anything is fitted, for a promise about too few training rows.

    Parameters
    ----------
    model : classifier or ModelChoice
    counts : sequence of k int
        Training rows of the classes.
    classes : array of shape (k,)
    test_share : float
        Share of the table that is not trained on.
    """
    promise, confidence = promise_of(model)
    if promise is None:
        return
    for one in read_promise(promise, classes):
        n, least = counts[one.truth], cases_needed(one.limit, confidence)
        needed = rows_needed(least)
        if n >= needed:
            continue
        more = int(np.ceil((needed - n) / (1.0 - test_share)))
        raise ValueError(
            f"{OPTION} must be about a class with enough cases: {one.in_words(classes)} with "
            f"confidence {all_digits(confidence)} takes {needed} training rows of it, {least} of "
            f"them to test it without a failure, got {n}; it would take about {more} more in the "
            "table"
        )


def promises_of(model: Any, failure: PromiseError | None = None) -> tuple[PromiseResult, ...]:
    """Return the promises of a fitted model, or those that its fit could not keep.

    Parameters
    ----------
    model : classifier
        Fitted, or a pipeline that ends with it.
    failure : PromiseError or None, default=None
        What the fit raised.
    """
    records = getattr(last_step(model), "promise_", []) if failure is None else failure.records
    return tuple(
        PromiseResult(
            str(one["truth"]),
            None if one["predicted"] is None else str(one["predicted"]),
            one["asked"],
            one["confidence"],
            failure is None,
            one["n_cases"],
            one["n_failures"],
            one["bound"],
            one.get("threshold"),
            one.get("factor"),
            one.get("interval"),
        )
        for one in records
    )


def checked_promises(
    promises: Sequence[PromiseResult],
    decisions: Decisions,
    codes: IntArray,
    classes: Any,
    rows: str = "test rows",
) -> tuple[PromiseResult, ...]:
    """Return promises with what rows show that chose nothing, and a sentence for each.

    Parameters
    ----------
    promises : sequence of PromiseResult
    decisions : Decisions
        On these rows; one that is left to a person is no recall and no false alarm.
    codes : array of shape (n,)
        True classes, by position.
    classes : array of shape (k,)
    rows : str, default="test rows"
        What sentences call the rows.
    """
    found = []
    for one in promises:
        part = _on_rows(one, decisions.answers, codes, classes)
        seen = replace(one, observed=None, status="open")
        if part is not None:
            seen = replace(one, observed=part.observed, status=part.status)
        found.append(replace(seen, sentence=_sentence(seen, rows)))
    return tuple(found)


def group_promises(
    promises: Sequence[PromiseResult], answers: IntArray, codes: IntArray, classes: Any
) -> tuple[GroupPromise, ...]:
    """Return what the rows of one group show about every promise that was kept.

    Parameters
    ----------
    promises : sequence of PromiseResult
    answers, codes : arrays of shape (n,)
        Answers and true classes of the rows, by position.
    classes : array of shape (k,)
    """
    kept = (one for one in promises if one.kept)
    found = (_on_rows(one, answers, codes, classes) for one in kept)
    return tuple(one for one in found if one is not None)


def _on_rows(
    one: PromiseResult, answers: IntArray, codes: IntArray, classes: Any
) -> GroupPromise | None:
    """Return the recall or rate of rows with its exact interval, None without cases."""
    names = [str(label) for label in np.asarray(classes).tolist()]
    predicted = None if one.predicted is None else names.index(one.predicted)
    failed, n = Promise(names.index(one.truth), predicted, one.asked).failures(codes, answers)
    if not n:
        return None
    hits = n - failed if predicted is None else failed
    exact = binomtest(hits, n).proportion_ci(CONFIDENCE, method="exact")
    low, high = float(exact.low), float(exact.high)
    holds, broken = low >= one.asked, high < one.asked
    if predicted is not None:
        holds, broken = high <= one.asked, low > one.asked
    status: PromiseStatus = "shown" if holds else "broken" if broken else "open"
    return GroupPromise(Estimate(one.subject, hits / n, low, high, n), failed, status)


def _sentence(one: PromiseResult, rows: str) -> str:
    asked = f"{one.in_words}, with confidence {all_digits(one.confidence)}"
    verb = "was" if one.n_failures == 1 else "were"
    failed = f"{one.n_failures} of {one.n_cases} cases that tested it in the fit {verb} " + (
        "missed" if one.predicted is None else "false alarms"
    )
    if one.kept:
        side = "at least" if one.predicted is None else "at most"
        begin = f"Promised: {asked}. {failed}, which shows {side} {one.bound:.3g}."
    else:
        begin = (
            f"Not promised: {asked}, was asked. {failed} by the decisions that keep it best, so "
            "this model decides by costs alone."
        )
    found = one.observed
    if found is None:
        return f"{begin} None of the {rows} is of the class."
    kind = "recall" if one.predicted is None else "rate"
    return (
        f"{begin} On {found.n} {rows} of the class the {kind} is {found.value:.1%} (exact 95 % "
        f"interval {found.low:.1%} to {found.high:.1%})."
    )


def promise_warnings(card: Card, failure: PromiseError | None = None) -> Iterator[str]:
    """Yield what a reader must know of promises that are not kept, or not everywhere."""
    if failure is not None:
        yield (
            "No promise is made, and the model decides by costs alone: "
            f"{str(failure).partition(': ')[2]}. Without {OPTION} a fit uses all training rows."
        )
    for one in card.test.promises:
        if one.kept and one.status == "broken":
            yield (
                f"Test rows contradict the promise of {one.in_words}. It holds with confidence "
                f"{all_digits(one.confidence)}, not always, and only for rows like those that "
                "tested it."
            )
    kept = [one for one in card.test.promises if one.kept]
    for one in kept:
        broken = [
            group.name
            for group in card.test.groups
            for part in group.promises
            if part.observed.name == one.subject and part.status == "broken"
        ]
        if broken:
            yield (
                f"The promise of {one.in_words} holds for all rows together. Test rows contradict "
                f"it in {listed(broken)} of {card.test.by}."
            )
    metric, best = get_metric(card.request.metric), card.best_baseline()
    if not kept or best is None or metric.name not in card.test.scores:
        return
    if metric.advantage(card.test.scores[metric.name], best.scores[metric.name]) < 0:
        yield (
            "Baselines make no promise: they decide by costs alone, and are fitted to the rows "
            "that test the promise as well. Part of their lead may be the price of it."
        )
