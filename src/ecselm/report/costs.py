"""Costs on the page: stated, used in decisions, not known, and what asking a person saves."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ecselm.metrics import get_metric
from ecselm.report.charts import MOST_NAMED, MOST_SHOWN, Cell, bar, heat_map, levels
from ecselm.report.html import (
    Markup,
    Section,
    amount,
    count,
    element,
    figure,
    full_amount,
    joined,
    listed,
    marks,
    named,
    number,
    paragraph,
    scale,
    share,
    table,
)
from ecselm.study import Card, LearnedCosts

MOST_DIGITS = 6  # of costs that are written in full


def costs(card: Card) -> Section | None:
    """Return the costs that were stated, and those used in training or in decisions."""
    stated, learned = card.test.cost_matrix, card.learned
    if stated is None and learned is None:
        return None
    names = [one.name for one in card.data.classes]
    is_shown = len(names) <= MOST_SHOWN
    parts: list[Markup | None] = []
    if stated is not None and is_shown:
        place = "test", "cost_matrix"
        if card.test.cost_low is not None:
            parts.append(_range_table(card, names))
        elif card.request.cost_columns:
            parts.append(_cost_table("Mean cost", names, stated, place, amount))
        else:
            parts.append(_cost_table("Stated cost", names, stated, place, full_amount))
    if learned is not None:
        noun = _nouns(card, learned)[0]
        has_matrix = bool(learned.matrix) and is_shown
        is_enough = has_matrix and len(names) <= 2  # with two classes a mistake is a class
        write = partial(_cost_amount, digits=3 if len(names) <= MOST_NAMED else 2)
        parts = [
            listed(learned.sentences, "words") if learned.sentences else None,
            _gain(card, learned),
            *parts,
            _cost_table(noun, names, learned.matrix, ("learned", "matrix"), write)
            if has_matrix and learned.matrix != stated
            else None,
            _by_class(noun, names, learned) if learned.class_costs and not is_enough else None,
        ]
    return Section("costs", "Costs of mistakes", joined(parts))


def unknown(card: Card) -> Section | None:
    """Return how many answers depend on costs that are not known."""
    found = card.test.unknown
    if found is None:
        return None
    parts: list[Markup | None] = [paragraph(found.sentence)]
    n_open = found.n - found.n_settled
    if n_open:
        settled = found.n_settled / found.n
        place = "test", "unknown"
        rows = (
            (
                "best whatever the costs",
                number(figure(count(found.n_settled), found.n_settled, *place, "n_settled")),
                number("0"),
                number("0"),
                bar(f"settled: {share(settled)}", ((0.0, settled, "own"),)),
            ),
            (
                "depends on the costs",
                number(count(n_open)),
                number(figure(amount(found.mean_regret), found.mean_regret, *place, "mean_regret")),
                number(
                    figure(
                        amount(found.largest_regret),
                        found.largest_regret,
                        *(*place, "largest_regret"),
                    )
                ),
                bar(f"open: {share(1 - settled)}", ((0.0, 1 - settled, "wrong"),)),
            ),
        )
        head = ("answer", "test rows", "may cost more, on average", "at most", scale("0", "all"))
        parts.append(table("Answers to test rows and unknown costs", head, rows, "bars"))
        parts.append(
            paragraph(
                "Only knowing more about the costs settles the others: state ranges, an order or "
                "ratios. ",
                element("code", "ecselm predict --explain"),
                " lists the rows.",
            )
        )
    return Section("unknown", "Costs that are not known", joined(parts))


def asking(card: Card) -> Section | None:
    """Return what leaving rows to a person saves."""
    found = card.test.asking
    if found is None:
        return None
    place = "test", "asking"
    names = [one.name for one in card.data.classes]
    costs = (
        (
            words,
            number(figure(amount(value), value, *place, key)),
        )
        for words, value, key in (
            ("with asking", found.mean_cost, "mean_cost"),
            ("without it", found.mean_cost_without, "mean_cost_without"),
        )
    )
    rows = (
        (named(name, 40), number(figure(count(n), n, *place, "by_class", i)))
        for i, (name, n) in enumerate(zip(names, found.by_class, strict=True))
    )
    tables = element(
        "div",
        table("Mean cost of a test row", ("decisions", "cost"), costs),
        table("Test rows left to a person", ("true class", "rows"), rows)
        if len(names) <= MOST_SHOWN
        else None,
        class_="side",
    )
    note = paragraph(
        "All other results on this page count the best class of these rows as their answer."
    )
    return Section("asking", "Asking a person", joined((paragraph(found.sentence), tables, note)))


def by_costs(card: Card) -> str:
    """Return how a sentence about the sum of costs begins."""
    if card.request.cost_columns:
        return "By the costs of each row"
    if card.test.cost_low is not None:
        return "By the mean of the possible costs"
    return "By the stated costs"


def uses_cost(card: Card) -> bool:
    """Tell whether the requested metric counts costs."""
    return get_metric(card.request.metric).uses_cost


def _nouns(card: Card, learned: LearnedCosts) -> tuple[str, str]:
    """Return what learned costs are called beside stated ones, singular and plural."""
    if card.test.cost_matrix is None:
        return "Cost", "Costs"
    if learned.decides:
        return "Cost in decisions", "Costs in decisions"
    return "Training weight", "Training weights"


def _gain(card: Card, learned: LearnedCosts) -> Markup:
    """Return whether learned costs beat the prior costs."""
    is_stated = card.test.cost_matrix is not None and card.test.cost_low is None
    if card.test.cost_low is not None and learned.keeps_prior and uses_cost(card):
        return paragraph(
            "Nothing was searched, as no data tell what a mistake costs: decisions are made by "
            "these costs, which stand for all that are possible."
        )
    if card.request.cost_columns:
        return paragraph("Rows without costs of their own are decided by the mean costs.")
    if not card.has_learned_costs():
        return paragraph(
            "No costs were searched: these are the default costs for this metric, the class "
            "balance and the stated costs."
        )
    if not learned.keeps_prior:
        _, what = _nouns(card, learned)
        outcome = f"These {what.lower()} were learned: the search found them best for the metric."
    elif is_stated and uses_cost(card):
        outcome = "Learned costs did not clearly beat the stated costs, so these are used."
    elif is_stated:
        outcome = (
            "Learned costs did not clearly beat the default costs for this metric and the class "
            "balance, so the defaults are used; this metric does not count the stated costs."
        )
    else:
        outcome = (
            "Learned costs did not clearly beat the default costs for this metric, the class "
            "balance and the stated costs, so the defaults are used."
        )
    if learned.gain is None:
        return paragraph(outcome)
    written = f"{learned.gain:+.3g}" if learned.gain else "0"
    gain = figure(written, learned.gain, "learned", "gain")
    error = None
    if learned.gain_std_error is not None:
        value = learned.gain_std_error
        error = joined((", s.e. ", figure(amount(value), value, "learned", "gain_std_error")))
    return paragraph(
        outcome, " Gain of learned costs on validation rows: ", gain, error or "", "."
    )  # fmt: skip


def _cost_table(
    noun: str,
    names: list[str],
    matrix: tuple[tuple[float, ...], ...],
    place: tuple[str, str],
    write: Callable[[float], str],
) -> Markup:
    heights = levels(matrix)
    cells = [
        [
            Cell(
                Markup("\N{EN DASH}" if i == j else write(cost)),
                marks(cost, *place, i, j),
                "wrong",
                heights[i][j],
            )
            for j, cost in enumerate(row)
        ]
        for i, row in enumerate(matrix)
    ]
    return heat_map(f"{noun} of each mistake; darker is more expensive", names, cells)


def _range_table(card: Card, names: list[str]) -> Markup:
    """Return the possible costs of each mistake, shaded by their mean."""
    mean, low, high = (
        one if one is not None else ()
        for one in (card.test.cost_matrix, card.test.cost_low, card.test.cost_high)
    )
    heights = levels(mean)
    cells = []
    for i, row in enumerate(mean):
        line = []
        for j, cost in enumerate(row):
            place = marks(cost, "test", "cost_matrix", i, j)
            words = "\N{EN DASH}" if i == j else full_amount(low[i][j])
            if i != j and low[i][j] < high[i][j]:
                words = f"{amount(low[i][j])} to {amount(high[i][j])}"
            line.append(Cell(Markup(words), place, "wrong", heights[i][j]))
        cells.append(line)
    return heat_map("Possible costs of each mistake; darker is more expensive", names, cells)


def _cost_amount(cost: float, digits: int = 3) -> str:
    """Return a cost that was learned, or fixed by the user: then it has few digits, all shown."""
    is_short = float(f"{cost:.{MOST_DIGITS}g}") == cost
    return full_amount(cost) if is_short else amount(cost, digits)


def _by_class(noun: str, names: list[str], learned: LearnedCosts) -> Markup:
    most = max((abs(cost) for cost in learned.class_costs), default=0.0) or 1.0
    rows = (
        (
            named(name, 40),
            number(figure(_cost_amount(cost), cost, "learned", "class_costs", i)),
            bar(f"{name}: {_cost_amount(cost)}", ((0.0, abs(cost) / most, "wrong"),)),
        )
        for i, (name, cost) in enumerate(zip(names, learned.class_costs, strict=True))
    )
    head = ("class", noun.lower(), scale("0", _cost_amount(most)))
    return table(f"{noun} of a mistake on each class", head, rows, "bars")
