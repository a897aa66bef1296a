"""Decision curves on the page: what decisions gain over constant answers and baselines."""

from __future__ import annotations

from collections.abc import Iterator

from ecselm.report.charts import N_COLOURS, Axis, Line, chart
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
    score,
    table,
)
from ecselm.study import BenefitLine, Card, DecisionCurves
from ecselm.study.benefit import leads, trails

FLOOR = -0.25  # of the chart, as a share of the greatest benefit: losses have no end


def benefit(card: Card) -> Section | None:
    """Return net benefit over thresholds, or saved costs over multiples of costs."""
    curves = card.test.benefit
    if curves is None:
        return None
    words = element("div", *_words(curves), class_="words")
    body = element("div", _chart(curves), words, class_="beside")
    return Section("benefit", "Decision curves", joined((body, _comparison(curves))))


def _words(curves: DecisionCurves) -> Iterator[Markup]:
    name = element("b", named(curves.class_name))
    if curves.unit == "net benefit":
        yield paragraph(
            "Who answers ", name, " from a probability of t on takes one case found to be worth "
            "(1 - t) / t false alarms. The net benefit counts the cases found, less the false "
            "alarms at this rate, per test row: 0 is to answer it never.",
        )  # fmt: skip
    else:
        yield paragraph(
            "Mean cost that decisions save per test row against the best constant answer, if "
            "mistakes on ", name, " cost so many times as much. Decisions are made by these "
            "costs and counted by them.",
        )  # fmt: skip
    yield paragraph(escaped(curves.sentence))
    yield paragraph(
        "Intervals are paired over the same rows and hold at one point at a time, so that a few "
        "points of many exceed chance by chance."
    )


def _lines(curves: DecisionCurves) -> Iterator[Line]:
    shown = [(curves.model, "line-1")]
    shown += [(one, f"line-{2 + i}") for i, one in enumerate(curves.baselines[: N_COLOURS - 1])]
    # To answer never gains nothing, which the axis shows.
    shown += [(one, "chance") for one in curves.references if any(one.values)]
    floor = FLOOR * max(*curves.model.values, 1e-9)
    for line, kind in shown:
        inside = [at for at in zip(curves.points, line.values, strict=True) if at[1] >= floor]
        if inside:
            x, y = zip(*inside, strict=True)
            yield Line(named(line.name, 30), x, y, kind)


def _chart(curves: DecisionCurves) -> Markup:
    lines = list(_lines(curves))
    if curves.unit == "net benefit":
        x_axis = Axis.of_shares("threshold of the probability")
    else:
        x_axis = Axis.of_factors("multiple of costs", curves.points)
    y_axis = Axis.around(curves.unit, (0.0, *(y for line in lines for y in line.y)))
    return chart(f"Decision curves: {curves.unit} of every model", x_axis, y_axis, lines)


def _comparison(curves: DecisionCurves) -> Markup:
    """Return where the model leads each other way to decide, and the lead by stated costs."""
    at, n = curves.stated, len(curves.points)
    head: list[str] = ["compared with", "leads at", "trails at"]
    place = ("test", "benefit")
    if at is not None:
        head += [joined((curves.unit, " of it, and lead of this model"))]
    rows = []
    lines: list[tuple[BenefitLine, tuple[str | int, ...]]]
    lines = [(one, ("baselines", i)) for i, one in enumerate(curves.baselines)]
    lines += [(one, ("references", i)) for i, one in enumerate(curves.references)]
    for line, where in lines:
        cells = [number(count(sum(leads(line)))), number(count(sum(trails(line))))]
        if at is not None:
            value, low, high = line.values[at], line.low[at], line.high[at]
            lead = None
            if low is not None and high is not None:
                begin, end = (
                    figure(f"{bound:+.3f}", bound, *place, *where, key, at)
                    for key, bound in (("low", low), ("high", high))
                )
                lead = element("small", "lead ", begin, " to ", end)
            shown = figure(score(value), value, *place, *where, "values", at)
            cells.append(number(shown, lead))
        rows.append((named(line.name, 40), *cells))
    if not rows:
        return Markup("")
    caption = f"Of {count(n)} points, those at which the 95 % interval of the lead excludes 0"
    if at is not None:
        own, point = curves.model.values[at], curves.points[at]
        what = "threshold" if curves.unit == "net benefit" else "multiple of costs"
        caption = joined(
            (
                f"{caption}; by stated costs, at the {what} ",
                figure(amount(point), point, *place, "points", at),
                f", the {curves.unit} of this model is ",
                figure(score(own), own, *place, "model", "values", at),
            )
        )
    return table(caption, head, rows)
