"""Results by group on the page."""

from __future__ import annotations

from ecselm.report.html import (
    Markup,
    Section,
    amount,
    count,
    element,
    figure,
    joined,
    named,
    number,
    paragraph,
    share,
    table,
)
from ecselm.study import Card, Estimate, GroupResult

MOST_CLASSES = 6  # whose recalls are shown side by side


def by_group(card: Card) -> Section | None:
    """Return recalls, costs and settled answers of every group."""
    groups = card.test.groups
    if not groups or card.test.by is None:
        return None
    names = [one.name for one in card.data.classes]
    shown = names if len(names) <= MOST_CLASSES else []
    has_costs = any(one.mean_cost is not None for one in groups)
    words = paragraph(
        "Test rows by ", element("b", named(card.test.by)), ". Ranges are 95 % intervals; they are "
        "wide where a group has few rows, and with many groups some differ by chance.",
    )  # fmt: skip
    head: list[str] = ["group", "rows", *(joined(("recall of ", named(one, 30))) for one in shown)]
    head += ["mean cost", "settled"] if has_costs else []
    rows = (_row(i, one, shown, has_costs=has_costs) for i, one in enumerate(groups))
    return Section("groups", "By group", joined((words, table("Results by group", head, rows))))


def _row(i: int, one: GroupResult, shown: list[str], *, has_costs: bool) -> tuple[Markup, ...]:
    place = ("test", "groups", i)
    recalls = {found.name: (j, found) for j, found in enumerate(one.recalls)}
    cells = [number(figure(count(one.n), one.n, *place, "n"))]
    for name in shown:
        if name not in recalls:
            cells.append(number(""))
            continue
        j, found = recalls[name]
        cells.append(_estimate(found, (*place, "recalls", j), is_share=True))
    if has_costs:
        cost = one.mean_cost
        cells.append(
            number("") if cost is None else _estimate(cost, (*place, "mean_cost"), is_share=False)
        )
        settled = one.n_settled
        cells.append(
            number("")
            if settled is None
            else number(figure(share(settled / one.n), settled, *place, "n_settled"))
        )
    return (named(one.name, 40), *cells)


def _estimate(found: Estimate, place: tuple[str | int, ...], *, is_share: bool) -> Markup:
    write = share if is_share else amount
    value, low, high = (
        figure(write(getattr(found, key)), getattr(found, key), *place, key)
        for key in ("value", "low", "high")
    )
    return number(value, element("small", low, " to ", high))
