"""Promises: what was asked, how it was tested in the fit, and what test rows show."""

from __future__ import annotations

from ecselm.report.html import (
    Markup,
    Section,
    amount,
    count,
    element,
    escaped,
    figure,
    full_amount,
    joined,
    number,
    paragraph,
    share,
    table,
)
from ecselm.study import Card, PromiseResult

STATUS = {"shown": "holds", "open": "may hold", "broken": "does not hold"}  # on test rows


def promises(card: Card) -> Section | None:
    """Return every promise with its test in the fit and on test rows."""
    found = card.test.promises
    if not found:
        return None
    words = [
        paragraph(
            "A promise is made about new rows like the training rows. Rows of the training data "
            "that chose nothing else tested it: by exact binomial tests, decisions are as much "
            "more cautious than the costs ask for as they have to be. Test rows, which the "
            "promise was not made by, show the recall or rate with its exact 95 % interval."
        )
    ]
    if not all(one.kept for one in found):
        words.append(
            paragraph(
                "The test failed, so nothing is promised, and the model decides by costs alone."
            )
        )
    head = ["promise", "confidence", "cases in the fit", "failures", "shown", "decided at"]
    head += ["cases among test rows", "on test rows"]
    rows = (_row(i, one) for i, one in enumerate(found))
    return Section(
        "promises", "Promises", joined((*words, table("Promises", head, rows, "stacked")))
    )


def _row(i: int, one: PromiseResult) -> tuple[Markup, ...]:
    place = ("test", "promises", i)
    side = "at least" if one.predicted is None else "at most"
    asked = joined(
        (
            escaped(f"{one.subject} of {side} "),
            figure(full_amount(one.asked), one.asked, *place, "asked"),
            None if one.kept else element("small", "not promised"),
        )
    )
    seen, cells = one.observed, (number(""), number(""))
    if seen is not None:
        of_seen = (*place, "observed")
        value, low, high = (
            figure(share(getattr(seen, key)), getattr(seen, key), *of_seen, key)
            for key in ("value", "low", "high")
        )
        interval = element("small", low, " to ", high, escaped(f", {STATUS[one.status]}"))
        cells = (number(figure(count(seen.n), seen.n, *of_seen, "n")), number(value, interval))
    return (
        asked,
        number(figure(full_amount(one.confidence), one.confidence, *place, "confidence")),
        number(figure(count(one.n_cases), one.n_cases, *place, "n_cases")),
        number(figure(count(one.n_failures), one.n_failures, *place, "n_failures")),
        number(escaped(f"{side} "), figure(share(one.bound), one.bound, *place, "bound")),
        _decided(one, place),
        *cells,
    )


def _decided(one: PromiseResult, place: tuple[str | int, ...]) -> Markup:
    """Return the threshold, or the factor of costs, with its interval."""
    name, value = ("threshold", one.threshold) if one.factor is None else ("factor", one.factor)
    if value is None:
        return number("")
    ends = None
    if one.interval is not None:
        low, high = (
            figure(amount(end), end, *place, "interval", j) for j, end in enumerate(one.interval)
        )
        ends = element("small", low, " to ", high)
    return number(escaped(f"{name} "), figure(amount(value), value, *place, name), ends)
