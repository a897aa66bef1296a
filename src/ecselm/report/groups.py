"""Results by group on the page."""

from __future__ import annotations

from ecselm.report.html import (
    Markup,
    Section,
    amount,
    count,
    element,
    escaped,
    figure,
    joined,
    named,
    number,
    paragraph,
    share,
    table,
)
from ecselm.report.promises import STATUS
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
    kept = [one for one in card.test.promises if one.kept]
    head += [joined(("promise: ", escaped(one.in_words))) for one in kept]
    subjects = [one.subject for one in kept]
    rows = (
        (*_row(i, one, shown, has_costs=has_costs), *_promised(i, one, subjects))
        for i, one in enumerate(groups)
    )
    results = table("Results by group", head, rows, "stacked")
    return Section("groups", "By group", joined((words, results)))


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


def _promised(i: int, one: GroupResult, subjects: list[str]) -> tuple[Markup, ...]:
    """Return whether promises hold on the rows of a group, with exact intervals."""
    found = {part.observed.name: (j, part) for j, part in enumerate(one.promises)}
    cells = []
    for subject in subjects:
        if subject not in found:
            cells.append(number(""))
            continue
        j, part = found[subject]
        place = ("test", "groups", i, "promises", j, "observed")
        said = STATUS[part.status]
        cells.append(_estimate(part.observed, place, is_share=True, said=said))
    return tuple(cells)


def _estimate(
    found: Estimate, place: tuple[str | int, ...], *, is_share: bool, said: str | None = None
) -> Markup:
    write = share if is_share else amount
    value, low, high = (
        figure(write(getattr(found, key)), getattr(found, key), *place, key)
        for key in ("value", "low", "high")
    )
    more = None if said is None else f", {said}"
    return number(value, element("small", low, " to ", high, more))
