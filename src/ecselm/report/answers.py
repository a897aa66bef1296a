"""Why these costs, on the page: what was asked about costs, and what was answered."""

from __future__ import annotations

from collections.abc import Iterator

from ecselm.report.html import (
    Markup,
    Section,
    counted,
    element,
    escaped,
    figure,
    joined,
    number,
    paragraph,
    share,
    table,
)
from ecselm.study import Card


def answers(card: Card) -> Section | None:
    """Return the questions about costs with their answers, who gave them, and what they settled."""
    if not card.answers:
        return None
    last, place = card.answers[-1], ("answers", len(card.answers) - 1)
    words = paragraph(
        f"Costs were learned from {counted(len(card.answers), 'answer')} to questions, after the "
        "fit. After the last one, ",
        figure(share(last.settled), last.settled, *place, "settled"),
        " of the answers of the model do not depend on what is still unknown, which is expected "
        "to cost ",
        figure(share(last.regret), last.regret, *place, "regret"),
        " of what deciding without a model costs.",
    )
    rows = list(_rows(card))
    head = ("question", "answer", "by", "when", "settled")
    asked = table("Questions in the order in which they were asked", head, rows, "stacked")
    return Section("answers", "Why these costs", joined((words, asked)))


def _rows(card: Card) -> Iterator[tuple[Markup, ...]]:
    for i, one in enumerate(card.answers):
        yield (
            escaped(one.question),
            element("td", one.answer),
            element("td", one.by or ""),
            element("td", one.when[:16].replace("T", " ")),
            number(figure(share(one.settled), one.settled, "answers", i, "settled")),
        )
