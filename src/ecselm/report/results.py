"""Results on test rows: mistakes, scores, baselines, curves, and learned costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ecselm.metrics import Metric, get_metric
from ecselm.report.charts import (
    MOST_NAMED,
    MOST_SHOWN,
    N_COLOURS,
    Axis,
    Cell,
    Line,
    bar,
    chart,
    heat_map,
    levels,
    whisker,
)
from ecselm.report.html import (
    Markup,
    Section,
    amount,
    count,
    counted,
    element,
    figure,
    joined,
    listed,
    marks,
    named,
    number,
    paragraph,
    scale,
    score,
    share,
    table,
)
from ecselm.study import Card, Curve, Estimate, HeldOut, Learned, Progress

Row = tuple[Markup, Mapping[str, float], float | None, tuple[str | int, ...]]
MOST_MISTAKES = 10  # that are listed where the table is large


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
    metric = get_metric(name)
    known = [(label, found[name], place) for label, found, _, place in _rows(card) if name in found]
    low, high = _range(metric, [value for _, value, _ in known])
    zero = (0.0 - low) / (high - low)
    rows = (
        (
            label,
            number(figure(score(value), value, *place, "scores", name)),
            bar(
                f"{metric.label} {score(value)}",
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
    better = "smaller" if not metric.greater_is_better else "greater"
    caption = f"On rows held out: {metric.label}; {better} is better"
    return table(caption, ("model", metric.label, scale(amount(low), amount(high))), rows, "bars")


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
    head = ("model", *(get_metric(name).label for name in found))
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
            get_metric(name).label,
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
    metric = get_metric(name)
    return (
        f"{metric.description} Smaller is better."
        if not metric.greater_is_better
        else metric.description
    )


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


def costs(card: Card) -> Section | None:
    """Return what mistakes cost, as far as that was learned."""
    learned = card.learned
    if learned is None:
        return None
    names = [one.name for one in card.data.classes]
    has_matrix = bool(learned.matrix) and len(names) <= MOST_SHOWN
    says_all = has_matrix and len(names) <= 2  # with two classes a mistake is a class
    body = joined(
        (
            listed(learned.words, "words") if learned.words else None,
            _worth(learned),
            _cost_table(names, learned) if has_matrix else None,
            _by_class(names, learned) if learned.class_costs and not says_all else None,
        )
    )
    return Section("costs", "What mistakes are taken to cost", body)


def search(card: Card) -> Section | None:
    """Return how the search went."""
    progress = card.progress
    if progress is None:
        return None
    words = element("div", *_course(progress), class_="words")
    if len(progress.generation) < 2:
        return Section("search", "How the search went", words)
    lines = (
        Line(Markup("best so far"), progress.generation, progress.best, "line-1"),
        Line(Markup("mean of the candidates"), progress.generation, progress.mean, "line-2"),
    )
    drawn = chart(
        f"Fitness over generations: the best goes from {score(progress.best[0])} "
        f"to {score(progress.best[-1])}",
        Axis.around("generation", progress.generation, whole=True),
        Axis.around("fitness", (*progress.best, *progress.mean)),
        lines,
    )
    body = element("div", drawn, words, class_="beside")
    return Section("search", "How the search went", body)


def _worth(learned: Learned) -> Markup:
    """Return whether learning costs has paid."""
    verdict = (
        "Learned costs were not clearly better than those that the sizes of the classes or the "
        "costs stated suggest, so the latter were kept."
        if learned.keeps_prior
        else "These costs were learned: the search found them to serve the metric best."
    )
    if learned.gain is None:
        return paragraph(verdict)
    written = f"{learned.gain:+.3g}" if learned.gain else "0"
    gain = figure(written, learned.gain, "learned", "gain")
    noise = None
    if learned.gain_noise is not None:
        told = figure(amount(learned.gain_noise), learned.gain_noise, "learned", "gain_noise")
        noise = joined((", with a standard error of ", told))
    return paragraph(
        verdict, " On training rows that judged but did not teach, learning changed the metric by ",
        gain, noise or "", ".",
    )  # fmt: skip


def _cost_table(names: list[str], learned: Learned) -> Markup:
    heights = levels(learned.matrix)
    digits = 3 if len(names) <= MOST_NAMED else 2
    cells = [
        [
            Cell(
                Markup("\N{EN DASH}" if i == j else amount(cost, digits)),
                marks(cost, "learned", "matrix", i, j),
                "wrong",
                heights[i][j],
            )
            for j, cost in enumerate(row)
        ]
        for i, row in enumerate(learned.matrix)
    ]
    return heat_map("Cost of each mistake; the darker, the dearer", names, cells)


def _by_class(names: list[str], learned: Learned) -> Markup:
    most = max((abs(cost) for cost in learned.class_costs), default=0.0) or 1.0
    rows = (
        (
            named(name, 40),
            number(figure(amount(cost), cost, "learned", "class_costs", i)),
            bar(f"{name}: {amount(cost)}", ((0.0, abs(cost) / most, "wrong"),)),
        )
        for i, (name, cost) in enumerate(zip(names, learned.class_costs, strict=True))
    )
    head = ("class", "cost", scale("0", amount(most)))
    return table("Cost of a mistake on each class", head, rows, "bars")


def _course(progress: Progress) -> list[Markup]:
    n = figure(count(progress.n_evaluations), progress.n_evaluations, "progress", "n_evaluations")
    seconds = figure(amount(progress.seconds), progress.seconds, "progress", "seconds")
    said = [paragraph(n, " candidates were tried in ", seconds, " seconds.")]
    if progress.best:
        last = len(progress.best) - 1
        best = figure(score(progress.best[last]), progress.best[last], "progress", "best", last)
        said.append(paragraph(
            "Fitness is what the search makes large, on training rows only. It ended at ", best,
            "; being the best of many it is partly luck, and no estimate of what to expect.",
        ))  # fmt: skip
    if progress.interrupted:
        said.append(paragraph(element("b", "It was stopped early; the best so far was kept.")))
    return said
