"""What drives the cost, on the page: what every column is worth to the model."""

from __future__ import annotations

from ecselm.metrics import get_metric
from ecselm.report.charts import bar
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
    scale,
    table,
)
from ecselm.study import Card, ColumnImportance, Importances, Loss

MOST_ROWS = 12  # columns of each table


def importance(card: Card) -> Section | None:
    """Return what permuting each column costs, on all rows and on those not settled."""
    found = card.test.importance
    if found is None or not found.columns:
        return None
    metric = get_metric(found.metric)
    verb = "loss of" if metric.greater_is_better else "increase of the"
    unit = f"{verb} {metric.label}"
    words = paragraph(
        f"The {unit} on {count(found.n)} test rows if the values of a column are exchanged "
        "between rows, with 95 % intervals. Columns that carry the same information replace each "
        "other, so that each alone may be worth little.",
    )
    title = "What drives the cost" if found.metric == "mean_cost" else "What drives the results"
    parts = [words, _table(found, unit)]
    if found.n_not_settled:
        parts.append(_table(found, unit, only_not_settled=True))
    return Section("importance", title, joined(parts))


def _table(found: Importances, unit: str, *, only_not_settled: bool = False) -> Markup | None:
    key = "not_settled" if only_not_settled else "whole"
    measured = [
        (i, one, loss)
        for i, one in enumerate(found.columns)
        if (loss := getattr(one, key)) is not None
    ]
    measured.sort(key=lambda one: -one[2].value)
    if not measured:
        return None
    n = found.n_not_settled if only_not_settled else found.n
    rows = f"the {count(n)} rows that are not settled" if only_not_settled else "all these rows"
    shown = measured[:MOST_ROWS]
    caption = f"On {rows}"
    if len(shown) < found.n_columns:
        caption += f"; {count(len(shown))} of {count(found.n_columns)} columns"
    low = min(0.0, *(loss.value for _, _, loss in shown))
    high = max(1e-12, *(loss.value for _, _, loss in shown))
    lines = [_row(*one, key, low, high) for one in shown]
    head = ("column", unit, scale(amount(low, 2), amount(high, 2)))
    return table(caption, head, lines, "bars")


def _row(
    i: int, one: ColumnImportance, loss: Loss, key: str, low: float, high: float
) -> tuple[Markup, ...]:
    place = ("test", "importance", "columns", i, key)
    interval = None
    if loss.low is not None and loss.high is not None:
        begin, end = (
            figure(amount(value), value, *place, bound)
            for bound, value in (("low", loss.low), ("high", loss.high))
        )
        interval = element("small", begin, " to ", end)
    zero, at = (-low / (high - low), (loss.value - low) / (high - low))
    drawn = bar(f"{one.name}: {amount(loss.value)}", ((zero, at, "own"),))
    return (
        named(one.name, 40),
        number(figure(amount(loss.value), loss.value, *place, "value"), interval),
        drawn,
    )
