"""Curves over rows held out: ranking, probabilities, errors of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ecselm.report.axes import Axis
from ecselm.report.charts import N_COLOURS, Line, chart
from ecselm.report.markup import Markup, element, joined, named
from ecselm.report.numbers import figure, score
from ecselm.report.section import Section, paragraph
from ecselm.report.tables import number, table
from ecselm.study import Card, Curve


@dataclass(frozen=True, slots=True)
class Family:
    """Curves of one kind, and what they show."""

    label: str
    x_label: str
    y_label: str
    words: str


FAMILIES = {
    "roc": Family(
        "ROC curve: cases found against false alarms",
        "share of false alarms",
        "share of cases found",
        "The ROC curve. Lowering the bar finds more cases and raises more false alarms. The nearer "
        "to the upper left corner, the better; the dashed line is guessing.",
    ),
    "precision_recall": Family(
        "Precision-recall curve: how many alarms are right",
        "share of cases found (recall)",
        "share of alarms that are right",
        "Precision against recall. The more cases are to be found, the fewer alarms are right. The "
        "nearer to the upper right corner, the better; telling where cases are rare.",
    ),
}


def ranking(card: Card) -> Section | None:
    """Return how well cases are told from others, wherever the bar is set."""
    drawn = [_family(card, key) for key in FAMILIES if getattr(card.held_out, key)]
    if not drawn:
        return None
    body = element("div", *drawn, class_="side")
    return Section("ranking", "If the bar were set elsewhere", body)


def probabilities(card: Card) -> Section | None:
    """Return whether probabilities come true."""
    curve = card.held_out.reliability
    if curve is None or not curve.x:
        return None
    axes = Axis.of_shares("probability the model tells"), Axis.of_shares("share that came true")
    lines = (
        Line(Markup("this model"), curve.x, curve.y, "line-1", dots=True),
        Line(Markup("if all came true as told"), (0, 1), (0, 1), "chance"),
    )
    drawn = chart("Reliability: probabilities told against what came true", *axes, lines)
    said = [
        paragraph(
            "Rows are put together by the probability that the model tells; a dot is how often it "
            "came true among them. Dots below the dashed line say that the model promises too much."
        )
    ]
    if curve.area is not None:
        error = figure(score(curve.area), curve.area, "held_out", "reliability", "area")
        said.append(paragraph("On average they are off by ", error, " (calibration error)."))
    body = element("div", drawn, element("div", *said, class_="words"), class_="beside")
    return Section("probabilities", "Do its probabilities come true?", body)


def errors(card: Card) -> Section | None:
    """Return how far off numbers are."""
    curve = card.held_out.cumulative
    if curve is None or not curve.x:
        return None
    axes = Axis.around("error", (0.0, *curve.x)), Axis.of_shares("share of rows within it")
    line = Line(Markup("this model"), curve.x, curve.y, "line-1")
    drawn = chart("Share of held-out rows within an error", *axes, (line,))
    said = [paragraph(
        "The share of held-out rows on which the answer is off by no more than the error below. "
        "The steeper the curve rises, the better."
    )]  # fmt: skip
    if curve.area is not None:
        area = figure(score(curve.area), curve.area, "held_out", "cumulative", "area")
        said.append(paragraph("The area under it is ", area, "."))
    body = element("div", drawn, element("div", *said, class_="words"), class_="beside")
    return Section("errors", "How far off it is", body)


def hardest(curves: Sequence[Curve]) -> list[int]:
    """Return which curves are drawn: all if they are few, else those of the least area.

    Examples
    --------
    >>> hardest([Curve("a", (0, 1), (0, 1), 0.5), Curve("b", (), ())])
    [0]
    """
    drawn = [i for i, one in enumerate(curves) if one.x]

    def area(i: int) -> float:
        known = curves[i].area
        return 1.0 if known is None else known

    return sorted(sorted(drawn, key=area)[:N_COLOURS])


def _family(card: Card, key: str) -> Markup:
    family = FAMILIES[key]
    curves: Sequence[Curve] = getattr(card.held_out, key)
    shown = hardest(curves)
    lines = [
        Line(_entry(curves[i], key, i), curves[i].x, curves[i].y, f"line-{n + 1}")
        for n, i in enumerate(shown)
    ]
    if key == "roc":
        lines.append(Line(Markup("guessing"), (0, 1), (0, 1), "chance"))
    left_out = len(curves) - len(shown)
    return element(
        "div",
        chart(family.label, Axis.of_shares(family.x_label), Axis.of_shares(family.y_label), lines),
        paragraph(family.words),
        _areas(curves, key) if left_out else None,
    )


def _entry(curve: Curve, key: str, i: int) -> Markup:
    """Return what the legend says of a curve."""
    if curve.area is None:
        return named(curve.name, 24)
    area = figure(score(curve.area), curve.area, "held_out", key, i, "area")
    return joined((named(curve.name, 24), " (area ", area, ")"))


def _areas(curves: Sequence[Curve], key: str) -> Markup:
    """Return the areas of all curves, where not all of them are drawn."""
    rows = (
        (
            named(one.name, 40),
            number(
                "not known, no case"
                if one.area is None
                else figure(score(one.area), one.area, "held_out", key, i, "area")
            ),
        )
        for i, one in enumerate(curves)
    )
    return element(
        "details",
        element("summary", f"Drawn are the {N_COLOURS} hardest; areas of all {len(curves)}"),
        table("Area under the curve of each class", ("class", "area"), rows),
    )
