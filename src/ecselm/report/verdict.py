"""What the model does and how it compares, in the first lines of the page."""

from __future__ import annotations

from collections.abc import Sequence

from ecselm.report.jargon import metric_named
from ecselm.report.markup import Markup, element, joined, named
from ecselm.report.numbers import amount, count, counted, figure, score
from ecselm.report.section import paragraph
from ecselm.study import Card, Compared

# With so many differing answers, all for one side, a sign test first falls below 5 %.
FEWEST_TELLING = 6
TIE = 1e-9


def best_rival(card: Card) -> int | None:
    """Return which of the plainer models is best by the metric asked for, if any has it."""
    metric = metric_named(card.asked.metric)
    known = [i for i, one in enumerate(card.compared) if card.asked.metric in one.scores]
    if not known or card.asked.metric not in card.held_out.scores:
        return None

    def merit(i: int) -> float:
        return metric.advantage(card.compared[i].scores[card.asked.metric], 0.0)

    return max(known, key=merit)


def verdict(card: Card) -> Markup:
    """Return the head of the page: what is predicted, how well, and against whom."""
    rival = best_rival(card)
    said = joined(part for part in (_how_good(card), _against(card, rival)) if part)
    summary = element("p", standing(card, rival), class_="standing")
    return element(
        "header",
        element("h1", "A model that predicts ", named(card.asked.target)),
        paragraph(_what_it_does(card), kind="lead"),
        element("div", summary, paragraph(said) if said else None, class_="verdict"),
    )


def standing(card: Card, rival: int | None) -> str:
    """Return in a few words how the model stands beside the best plainer one."""
    if rival is None:
        return "Compared with no plainer model"
    lead = _lead(card, rival)
    if abs(lead) <= TIE or _may_be_chance(card, card.compared[rival]):
        return "No clear difference from the best plainer model"
    return "Ahead of the plainer models" if lead > 0 else "Behind a plainer model"


def _what_it_does(card: Card) -> Markup:
    n = len(card.data.columns)
    what = f"From {counted(n, 'column') if n else 'the other columns'} of a row it tells "
    where = ". Unless said otherwise, results below come from rows that it has never seen."
    return joined((what, _answers(card), where))


def _answers(card: Card) -> Markup:
    """Return what the model may answer."""
    if card.asked.task == "numbers":
        return Markup("a number")
    names = [one.name for one in card.data.classes]
    if 2 <= len(names) <= 3:
        return _either(names)
    return Markup(f"one of {counted(len(names), 'class')}" if names else "a class")


def _either(names: Sequence[str]) -> Markup:
    *others, last = (element("b", named(name, 40)) for name in names)
    return joined((Markup(", ".join(others)), " or ", last))


def _how_good(card: Card) -> Markup | None:
    """Return how many rows were right, and the metric asked for."""
    parts: list[str] = []
    held_out, metric = card.held_out, card.asked.metric
    if held_out.confusion:
        right = sum(row[i] for i, row in enumerate(held_out.confusion))
        total = sum(map(sum, held_out.confusion))
        parts.append(f"It is right on {count(right)} of {counted(total, 'held-out row')}")
    if metric in held_out.scores:
        value = held_out.scores[metric]
        parts += ["; its " if parts else "On held-out rows its ", metric_named(metric).name, " is "]
        parts.append(figure(score(value), value, "held_out", "scores", metric))
    return joined((*parts, ". ")) if parts else None


def _against(card: Card, rival: int | None) -> Markup | None:
    if rival is None:
        return None
    other, metric = card.compared[rival], card.asked.metric
    value = other.scores[metric]
    told = figure(score(value), value, "compared", rival, "scores", metric)
    begin = joined(("The best plainer model, ", named(other.name), ", has ", told))
    lead = _lead(card, rival)
    chance = _chance(card, other) if abs(lead) > TIE else None
    return joined((begin, _difference(lead), chance, _costs(card, rival)))


def _difference(lead: float) -> str:
    if abs(lead) <= TIE:
        return ": the same."
    side = "better" if lead < 0 else "worse"
    size = "less than 0.001" if abs(lead) < 0.001 else score(abs(lead))
    return f", which is {side} by {size}."


def _chance(card: Card, rival: Compared) -> str | None:
    """Return whether so small a difference says anything, where that is known."""
    if not _may_be_chance(card, rival):
        return None
    apart = _rows_apart(card, rival)
    return f" Their tables of answers differ by {counted(apart, 'row')}, which may be chance."


def _costs(card: Card, rival: int) -> Markup | None:
    """Return what the mistakes of both cost, where costs were stated."""
    own, other = card.held_out.total_cost, card.compared[rival].total_cost
    if own is None or other is None:
        return None
    mine = figure(amount(own), own, "held_out", "total_cost")
    theirs = figure(amount(other), other, "compared", rival, "total_cost")
    begin = joined((" By the costs stated, its mistakes cost ", mine))
    return joined((begin, " and those of the plainer model ", theirs, "."))


def _lead(card: Card, rival: int) -> float:
    name = card.asked.metric
    return metric_named(name).advantage(
        card.held_out.scores[name], card.compared[rival].scores[name]
    )


def _may_be_chance(card: Card, rival: Compared) -> bool:
    """Tell whether no test of answers can tell the two apart, whichever rows they differ on."""
    if not card.held_out.confusion or not rival.confusion:
        return False
    is_counted = metric_named(card.asked.metric).is_counted
    return is_counted and _rows_apart(card, rival) < FEWEST_TELLING


def _rows_apart(card: Card, rival: Compared) -> int:
    """Return how many answers have to change to make one table of the other."""
    pairs = zip(card.held_out.confusion, rival.confusion, strict=True)
    moved = sum(abs(a - b) for own, other in pairs for a, b in zip(own, other, strict=True))
    return -(-moved // 2)  # a changed answer leaves one cell and enters another
