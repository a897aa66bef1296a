"""What the model gets right and wrong on rows held out."""

from __future__ import annotations

from collections.abc import Sequence

from ecselm.report.bars import whisker
from ecselm.report.heat_map import MOST_NAMED, MOST_SHOWN, Cell, heat_map
from ecselm.report.jargon import metric_named
from ecselm.report.markup import Markup, element, joined, named
from ecselm.report.numbers import amount, count, counted, figure, marks, score, share
from ecselm.report.section import Section, paragraph
from ecselm.report.tables import number, scale, table
from ecselm.study import Card, Estimate, HeldOut

MOST_MISTAKES = 10  # that are listed where the table is large


def mistakes(card: Card) -> Section | None:
    """Return the answers against the truth."""
    held_out = card.held_out
    if not held_out.confusion:
        return None
    names = [one.name for one in card.data.classes]
    body = joined(
        (
            _counted(card),
            _matrix(names, held_out) if len(names) <= MOST_SHOWN else None,
            _frequent(names, held_out) if len(names) > MOST_NAMED else None,
        )
    )
    return Section("mistakes", "What it gets right and wrong", body)


def scores(card: Card) -> Section | None:
    """Return every score with its meaning."""
    found = card.held_out.scores
    if not found:
        return None
    rows = (
        (
            metric_named(name).name,
            number(figure(score(value), value, "held_out", "scores", name)),
            _meaning(name),
        )
        for name, value in found.items()
    )
    caption = "Scores on rows held out"
    content = table(caption, ("score", "value", "what it means"), rows, "scores")
    return Section("scores", "How good it is, in numbers", content)


def recalls(card: Card) -> Section | None:
    """Return how often each class is found."""
    found = card.held_out.recalls
    if not found:
        return None
    words = paragraph(
        "Of all held-out rows of a class, the share that the model finds (its recall). The line "
        "around a dot is where the share would fall in 95 of 100 samples of such rows: where it "
        "is long, there were few rows to judge by."
    )
    rows = (_recall(i, one) for i, one in enumerate(found))
    head = ("class", "rows", "found", scale("0 %", "50 %", "100 %"))
    drawn = table("Share of each class that is found", head, rows, "bars")
    return Section("recalls", "How often each class is found", joined((words, drawn)))


def _counted(card: Card) -> Markup:
    confusion = card.held_out.confusion
    wrong = sum(n for i, row in enumerate(confusion) for j, n in enumerate(row) if i != j)
    total = sum(map(sum, confusion))
    said = [f"Of {counted(total, 'row')}, {count(wrong)} got a wrong answer. "]
    if len(confusion) <= MOST_SHOWN:
        said.append("A row of the table is a true class, and its cells are what the model told. ")
    if card.held_out.total_cost is not None:
        cost = card.held_out.total_cost
        told = figure(amount(cost), cost, "held_out", "total_cost")
        said += ["By the costs that were stated they cost ", told, " in all."]
    return paragraph(*said)


def _matrix(names: Sequence[str], held_out: HeldOut) -> Markup:
    is_brief = len(names) > MOST_NAMED
    cells = [
        [_cell(held_out, i, j, is_brief) for j in range(len(names))] for i in range(len(names))
    ]
    told = "rows" if is_brief else "rows, and the share of the true class"
    costs = "" if held_out.stated_costs is None or is_brief else ", and what they cost"
    return heat_map(f"Truth against answers: {told}{costs}", names, cells)


def _cell(held_out: HeldOut, i: int, j: int, is_brief: bool) -> Cell:
    n, total = held_out.confusion[i][j], sum(held_out.confusion[i])
    part = n / total if total else 0.0
    kind = "right" if i == j else "wrong"
    place = marks(n, "held_out", "confusion", i, j)
    if is_brief:
        return Cell(Markup(count(n) if n else "·"), place, kind, part)
    content = joined(
        (
            element("b", count(n), **place),
            element("small", share(part)) if total else None,
            _cost(held_out, i, j),
        )
    )
    return Cell(content, {}, kind, part)


def _cost(held_out: HeldOut, i: int, j: int) -> Markup | None:
    if held_out.stated_costs is None or (i == j and not held_out.stated_costs[i][j]):
        return None
    n, each = held_out.confusion[i][j], held_out.stated_costs[i][j]
    told = figure(amount(each), each, "held_out", "stated_costs", i, j)
    return element("small", f"{count(n)} \N{MULTIPLICATION SIGN} ", told, f" = {amount(n * each)}")


def _frequent(names: Sequence[str], held_out: HeldOut) -> Markup | None:
    confusion = held_out.confusion
    pairs = [
        (i, j) for i, row in enumerate(confusion) for j, n in enumerate(row) if i != j and n > 0
    ]
    pairs.sort(key=lambda pair: -confusion[pair[0]][pair[1]])
    if not pairs:
        return None
    rows = (
        (
            named(names[i]),
            named(names[j]),
            number(figure(count(confusion[i][j]), confusion[i][j], "held_out", "confusion", i, j)),
            number(share(confusion[i][j] / sum(confusion[i]))),
        )
        for i, j in pairs[:MOST_MISTAKES]
    )
    head = ("truth", "taken for", "rows", "share of the class")
    return table("The most frequent mistakes", head, rows)


def _meaning(name: str) -> str:
    metric = metric_named(name)
    return f"{metric.meaning} Smaller is better." if metric.smaller_is_better else metric.meaning


def _recall(i: int, one: Estimate) -> tuple[str, ...]:
    place = ("held_out", "recalls", i)
    told = {
        key: figure(share(value), value, *place, key)
        for key, value in (("value", one.value), ("low", one.low), ("high", one.high))
    }
    label = f"{one.name}: {share(one.value)}, from {share(one.low)} to {share(one.high)}"
    return (
        named(one.name, 40),
        number(figure(count(one.n), one.n, *place, "n")),
        number(told["value"], element("small", told["low"], " to ", told["high"])),
        whisker(label, one.value, one.low, one.high, **marks(one.value, *place, "value")),
    )
