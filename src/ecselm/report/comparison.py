"""The model beside plainer ones on the same rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ecselm.report.bars import bar
from ecselm.report.jargon import Metric, metric_named
from ecselm.report.markup import Markup, element, joined, named
from ecselm.report.numbers import amount, figure, score
from ecselm.report.section import Section, paragraph
from ecselm.report.tables import number, scale, table
from ecselm.study import Card

Row = tuple[Markup, Mapping[str, float], float | None, tuple[str | int, ...]]


def compared(card: Card) -> Section | None:
    """Return every score of the model and of plainer ones."""
    if not card.compared:
        return None
    words = paragraph(
        "Plainer models learned from the same rows and were judged on the same held-out rows. A "
        "model that is not ahead of them is not worth its trouble."
    )
    has_metric = card.asked.metric in card.held_out.scores
    body = joined((words, _bars(card) if has_metric else None, _scores(card)))
    return Section("compared", "Against plainer models", body)


def _rows(card: Card) -> Iterator[Row]:
    own = element("b", "this model")
    yield own, card.held_out.scores, card.held_out.total_cost, ("held_out",)
    for i, one in enumerate(card.compared):
        yield named(one.name), one.scores, one.total_cost, ("compared", i)


def _bars(card: Card) -> Markup:
    name = card.asked.metric
    metric = metric_named(name)
    known = [(label, found[name], place) for label, found, _, place in _rows(card) if name in found]
    low, high = _range(metric, [value for _, value, _ in known])
    zero = (0.0 - low) / (high - low)
    rows = (
        (
            label,
            number(figure(score(value), value, *place, "scores", name)),
            bar(
                f"{metric.name} {score(value)}",
                (
                    (
                        zero,
                        (value - low) / (high - low),
                        "own" if place[0] == "held_out" else "pale",
                    ),
                ),
            ),
        )
        for label, value, place in known
    )
    better = "smaller" if metric.smaller_is_better else "greater"
    caption = f"On rows held out: {metric.name}; {better} is better"
    return table(caption, ("model", metric.name, scale(amount(low), amount(high))), rows, "bars")


def _range(metric: Metric, values: list[float]) -> tuple[float, float]:
    """Return the ends of the bars' scale, which always holds zero."""
    low, high = min(0.0, *values), max(0.0, *values)
    if metric.is_share:
        high = 1.0
    return (low, high) if high > low else (low, low + 1.0)


def _scores(card: Card) -> Markup:
    """Return a column for every score; rivals may lack some."""
    found = {name: None for _, scores, _, _ in _rows(card) for name in scores}
    has_cost = any(cost is not None for _, _, cost, _ in _rows(card))
    head = ("model", *(metric_named(name).name for name in found))
    rows = (
        (
            label,
            *(_value(scores.get(name), (*place, "scores", name)) for name in found),
            *((_value(cost, (*place, "total_cost")),) if has_cost else ()),
        )
        for label, scores, cost, place in _rows(card)
    )
    return table("All scores on rows held out", (*head, *(("total cost",) * has_cost)), rows)


def _value(value: float | None, place: tuple[str | int, ...]) -> Markup:
    if value is None:
        return number("")
    write = amount if place[-1] == "total_cost" else score
    return number(figure(write(value), value, *place))
