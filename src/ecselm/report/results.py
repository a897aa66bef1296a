"""Results on test rows: mistakes, scores, baselines, curves, search and members."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

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
    whisker,
)
from ecselm.report.costs import by_costs
from ecselm.report.html import (
    Markup,
    Section,
    amount,
    count,
    counted,
    element,
    figure,
    full_amount,
    joined,
    marks,
    named,
    number,
    paragraph,
    scale,
    score,
    share,
    table,
)
from ecselm.study import Card, Curve, Estimate, Evaluation, SearchSummary

Row = tuple[Markup, Mapping[str, float], float | None, tuple[str | int, ...]]
MOST_MISTAKES = 10  # that are listed where the table is large
MOST_DIGITS = 6  # of numbers that are written in full


def baselines(card: Card) -> Section | None:
    """Return every score of the model and of the baselines."""
    if not card.baselines:
        return None
    words = paragraph(
        "Baselines are trained on the same rows and evaluated on the same test rows. A model that "
        "does not beat them is not worth its complexity."
    )
    has_metric = card.request.metric in card.test.scores
    has_difference = any(one.difference is not None for one in card.baselines)
    body = joined(
        (
            words,
            _bars(card) if has_metric else None,
            _differences(card) if has_difference else None,
            _scores(card),
        )
    )
    return Section("baselines", "Baselines", body)


def _rows(card: Card) -> Iterator[Row]:
    own = element("b", "this model")
    yield own, card.test.scores, card.test.total_cost, ("test",)
    for i, one in enumerate(card.baselines):
        yield named(one.name), one.scores, one.total_cost, ("baselines", i)


def _differences(card: Card) -> Markup:
    """Return by how much the model leads each baseline, and whether that may be chance."""
    rows = []
    for i, one in enumerate(card.baselines):
        found, place = one.difference, ("baselines", i, "difference")
        if found is None:
            continue
        ends = [
            number("" if value is None else figure(f"{value:+.3f}", value, *place, end))
            for end, value in (("low", found.low), ("high", found.high))
        ]
        lead = number(figure(f"{found.value:+.3f}", found.value, *place, "value"))
        rows.append((named(one.name), lead, *ends, "no" if found.beyond_chance else "yes"))
    caption = (
        f"Lead of this model in {get_metric(card.request.metric).label}, with intervals that hold "
        "for all baselines together with 95 % confidence"
    )
    return table(caption, ("baseline", "lead", "from", "to", "may be chance"), rows)


def _bars(card: Card) -> Markup:
    name = card.request.metric
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
                        "own" if place[0] == "test" else "pale",
                    ),
                ),
            ),
        )
        for label, value, place in known
    )
    better = "greater" if metric.greater_is_better else "smaller"
    caption = f"{metric.label} on test rows; {better} is better"
    return table(caption, ("model", metric.label, scale(amount(low), amount(high))), rows, "bars")


def _range(metric: Metric, values: list[float]) -> tuple[float, float]:
    """Return the ends of the bars' scale, which always holds zero."""
    low, high = min(0.0, *values), max(0.0, *values)
    if metric.is_share:
        high = 1.0
    return (low, high) if high > low else (low, low + 1.0)


def _scores(card: Card) -> Markup:
    """Return a column for every score; baselines may lack some."""
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
    head = (*head, *(("total cost",) * has_cost))
    return table("All scores on test rows", head, rows, "stacked")


def _value(value: float | None, place: tuple[str | int, ...]) -> Markup:
    if value is None:
        return number("")
    write = amount if place[-1] == "total_cost" else score
    return number(figure(write(value), value, *place))


def confusion(card: Card) -> Section | None:
    """Return the confusion matrix."""
    test = card.test
    if not test.confusion:
        return None
    names = [one.name for one in card.data.classes]
    body = joined(
        (
            _counted(card),
            _matrix(card, names) if len(names) <= MOST_SHOWN else None,
            _frequent(names, test) if len(names) > MOST_NAMED else None,
        )
    )
    return Section("confusion", "Confusion matrix", body)


def scores(card: Card) -> Section | None:
    """Return every score with its description."""
    found = card.test.scores
    if not found:
        return None
    rows = (
        (
            get_metric(name).label,
            number(figure(score(value), value, "test", "scores", name)),
            _description(name),
        )
        for name, value in found.items()
    )
    content = table("Scores on test rows", ("score", "value", "description"), rows, "scores")
    return Section("scores", "Scores", content)


def recalls(card: Card) -> Section | None:
    """Return the recall of each class."""
    found = card.test.recalls
    if not found:
        return None
    words = paragraph(
        "Share of the test rows of a class that the model recognises. Lines are 95 % bootstrap "
        "intervals; they are long where there are few rows."
    )
    rows = (_recall(i, one) for i, one in enumerate(found))
    head = ("class", "rows", "recall", scale("0 %", "50 %", "100 %"))
    drawn = table("Recall of each class", head, rows, "bars")
    return Section("recalls", "Recall of each class", joined((words, drawn)))


def _counted(card: Card) -> Markup:
    counts = card.test.confusion
    wrong = sum(n for i, row in enumerate(counts) for j, n in enumerate(row) if i != j)
    total = sum(map(sum, counts))
    words = [f"{count(wrong)} of {counted(total, 'test row')} are misclassified. "]
    if len(counts) <= MOST_SHOWN:
        words.append("Rows of the table are true classes, columns are predicted classes. ")
    if card.test.total_cost is not None:
        cost = card.test.total_cost
        total_cost = figure(amount(cost), cost, "test", "total_cost")
        words += [f"{by_costs(card)}, the mistakes cost ", total_cost, " in all."]
    return paragraph(*words)


def _matrix(card: Card, names: Sequence[str]) -> Markup:
    test, is_brief = card.test, len(names) > MOST_NAMED
    if card.request.cost_columns:  # the mean cost of a cell is not that of its rows
        test = replace(test, cost_matrix=None)
    cells = [[_cell(test, i, j, is_brief) for j in range(len(names))] for i in range(len(names))]
    shown = "rows" if is_brief else "rows, and share of the true class"
    costs = "" if test.cost_matrix is None or is_brief else ", and their cost"
    return heat_map(f"True against predicted classes: {shown}{costs}", names, cells)


def _cell(test: Evaluation, i: int, j: int, is_brief: bool) -> Cell:
    n, total = test.confusion[i][j], sum(test.confusion[i])
    part = n / total if total else 0.0
    kind = "right" if i == j else "wrong"
    place = marks(n, "test", "confusion", i, j)
    if is_brief:
        return Cell(Markup(count(n) if n else "·"), place, kind, part)
    content = joined(
        (
            element("b", count(n), **place),
            element("small", share(part)) if total else None,
            _cost(test, i, j),
        )
    )
    return Cell(content, {}, kind, part)


def _cost(test: Evaluation, i: int, j: int) -> Markup | None:
    if test.cost_matrix is None or (i == j and not test.cost_matrix[i][j]):
        return None
    n, each = test.confusion[i][j], test.cost_matrix[i][j]
    write = full_amount if test.cost_low is None else amount  # a mean has too many digits
    cost = figure(write(each), each, "test", "cost_matrix", i, j)
    return element("small", f"{count(n)} \N{MULTIPLICATION SIGN} ", cost, f" = {amount(n * each)}")


def _frequent(names: Sequence[str], test: Evaluation) -> Markup | None:
    counts = test.confusion
    pairs = [(i, j) for i, row in enumerate(counts) for j, n in enumerate(row) if i != j and n > 0]
    pairs.sort(key=lambda pair: -counts[pair[0]][pair[1]])
    if not pairs:
        return None
    rows = (
        (
            named(names[i]),
            named(names[j]),
            number(figure(count(counts[i][j]), counts[i][j], "test", "confusion", i, j)),
            number(share(counts[i][j] / sum(counts[i]))),
        )
        for i, j in pairs[:MOST_MISTAKES]
    )
    head = ("true class", "predicted class", "rows", "share of the class")
    return table("The most frequent mistakes", head, rows)


def _description(name: str) -> str:
    metric = get_metric(name)
    text = metric.description
    return text if metric.greater_is_better else f"{text} Smaller is better."


def _recall(i: int, one: Estimate) -> tuple[str, ...]:
    place = ("test", "recalls", i)
    shown = {
        key: figure(share(value), value, *place, key)
        for key, value in (("value", one.value), ("low", one.low), ("high", one.high))
    }
    label = f"{one.name}: {share(one.value)}, from {share(one.low)} to {share(one.high)}"
    return (
        named(one.name, 40),
        number(figure(count(one.n), one.n, *place, "n")),
        number(shown["value"], element("small", shown["low"], " to ", shown["high"])),
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
        "ROC curve: true against false positive rate",
        "false positive rate",
        "true positive rate (recall)",
        "ROC curve. A lower threshold finds more cases and raises more false alarms. The nearer "
        "to the upper left corner, the better; the dashed line is guessing.",
    ),
    "precision_recall": Family(
        "Precision-recall curve",
        "recall",
        "precision",
        "Precision-recall curve. The more cases are found, the fewer alarms are right. The nearer "
        "to the upper right corner, the better; informative where cases are rare.",
    ),
}


def thresholds(card: Card) -> Section | None:
    """Return ROC and precision-recall curves."""
    drawn = [_family(card, key) for key in FAMILIES if getattr(card.test, key)]
    if not drawn:
        return None
    return Section("thresholds", "Other thresholds", element("div", *drawn, class_="side"))


def calibration(card: Card) -> Section | None:
    """Return predicted probabilities against observed shares."""
    curve = card.test.reliability
    if curve is None or not curve.x:
        return None
    axes = Axis.of_shares("predicted probability"), Axis.of_shares("observed share")
    lines = (
        Line(Markup("this model"), curve.x, curve.y, "line-1", dots=True),
        Line(Markup("perfect calibration"), (0, 1), (0, 1), "chance"),
    )
    drawn = chart("Reliability diagram: observed share over predicted probability", *axes, lines)
    words = [
        paragraph(
            "Rows are binned by predicted probability; a dot is the share of the bin in which the "
            "prediction came true. Dots below the dashed line are overconfident. Probabilities "
            "are those of the training population; costs act on decisions, not on them."
        )
    ]
    if curve.area is not None:
        error = figure(score(curve.area), curve.area, "test", "reliability", "area")
        words.append(paragraph("Expected calibration error: ", error, "."))
    body = element("div", drawn, element("div", *words, class_="words"), class_="beside")
    return Section("calibration", "Calibration of probabilities", body)


def errors(card: Card) -> Section | None:
    """Return the distribution of absolute errors."""
    curve = card.test.cumulative
    if curve is None or not curve.x:
        return None
    axes = Axis.around("error", (0.0, *curve.x)), Axis.of_shares("share of rows within it")
    line = Line(Markup("this model"), curve.x, curve.y, "line-1")
    drawn = chart("Share of test rows within an error", *axes, (line,))
    words = [
        paragraph(
            "Share of test rows whose absolute error is at most the value below. The steeper the "
            "curve rises, the better."
        )
    ]
    if curve.area is not None:
        area = figure(score(curve.area), curve.area, "test", "cumulative", "area")
        words.append(paragraph("The area under it is ", area, "."))
    body = element("div", drawn, element("div", *words, class_="words"), class_="beside")
    return Section("errors", "Errors", body)


def hardest(curves: Sequence[Curve]) -> list[int]:
    """Return the curves to draw: all if they are few, else those with the least area.

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
    curves: Sequence[Curve] = getattr(card.test, key)
    shown = hardest(curves)
    lines = [
        Line(_entry(curves[i], key, i), curves[i].x, curves[i].y, f"line-{n + 1}")
        for n, i in enumerate(shown)
    ]
    if key == "roc":
        lines.append(Line(Markup("guessing"), (0, 1), (0, 1), "chance"))
    n_more = len(curves) - len(shown)
    return element(
        "div",
        chart(family.label, Axis.of_shares(family.x_label), Axis.of_shares(family.y_label), lines),
        paragraph(family.words),
        _areas(curves, key) if n_more else None,
    )


def _entry(curve: Curve, key: str, i: int) -> Markup:
    """Return the legend of a curve."""
    if curve.area is None:
        return named(curve.name, 24)
    area = figure(score(curve.area), curve.area, "test", key, i, "area")
    return joined((named(curve.name, 24), " (area ", area, ")"))


def _areas(curves: Sequence[Curve], key: str) -> Markup:
    """Return the areas of all curves, where not all of them are drawn."""
    rows = (
        (
            named(one.name, 40),
            number(
                "unknown, no case"
                if one.area is None
                else figure(score(one.area), one.area, "test", key, i, "area")
            ),
        )
        for i, one in enumerate(curves)
    )
    return element(
        "details",
        element("summary", f"Only the {N_COLOURS} hardest are drawn; areas of all {len(curves)}"),
        table("Area under the curve of each class", ("class", "area"), rows),
    )


def search(card: Card) -> Section | None:
    """Return the history of the search."""
    found = card.search
    if found is None:
        return None
    words = element("div", *_course(found), class_="words")
    if len(found.generation) < 2:
        return Section("search", "Cost search", words)
    lines = (
        Line(Markup("best so far"), found.generation, found.best, "line-1"),
        Line(Markup("mean of candidates"), found.generation, found.mean, "line-2"),
    )
    drawn = chart(
        f"Fitness over generations: the best goes from {score(found.best[0])} "
        f"to {score(found.best[-1])}",
        Axis.around("generation", found.generation, whole=True),
        Axis.around("fitness", (*found.best, *found.mean)),
        lines,
    )
    body = element("div", drawn, words, class_="beside")
    return Section("search", "Cost search", body)


INPUTS = {
    "standard": "standardised",
    "ranks": "normal scores of ranks",
    "root": "divided by the root of the standard deviation",
    "relevance": "standardised, times their relevance",
    "minmax": "scaled to their range",
    None: "as they are",
}
KERNELS = {"rbf": "radial basis", "laplacian": "Laplacian"}


def members(card: Card) -> Section | None:
    """Return the members of the ensemble, folded."""
    if not card.members:
        return None
    n = len(card.members)
    best = card.members[0].squared_error
    error = figure(score(best), best, "members", 0, "squared_error")
    words = paragraph(
        f"The model is the mean of {counted(n, 'kernel machine')}. They were chosen among kernels, "
        "scales of the inputs, widths and C by the squared error of their leave-one-out scores "
        "on training rows, the least of which is ", error, ". Neither the metric nor costs choose "
        "them, except through the weights of rows.",
    )  # fmt: skip
    rows = (
        (
            KERNELS.get(one.kernel, one.kernel),
            INPUTS.get(one.inputs, str(one.inputs)),
            number(figure(amount(one.width), one.width, "members", i, "width")),
            number(figure(amount(one.C, MOST_DIGITS), one.C, "members", i, "C")),
            number(
                figure(score(one.squared_error), one.squared_error, "members", i, "squared_error")
            ),
        )
        for i, one in enumerate(card.members)
    )
    head = ("kernel", "inputs", "width", "C", "squared error")
    listed_members = element(
        "details",
        element("summary", counted(n, "member")),
        table("Members, the best first", head, rows, "columns"),
    )
    return Section("members", "Ensemble", joined((words, listed_members)))


def _course(found: SearchSummary) -> list[Markup]:
    n = figure(count(found.n_evaluations), found.n_evaluations, "search", "n_evaluations")
    seconds = figure(amount(found.seconds), found.seconds, "search", "seconds")
    if not found.n_evaluations:
        return [paragraph("No costs were searched. The fit took ", seconds, " seconds.")]
    words = [paragraph(n, " candidates; the whole fit took ", seconds, " seconds.")]
    if found.best:
        last = len(found.best) - 1
        best = figure(score(found.best[last]), found.best[last], "search", "best", last)
        words.append(paragraph(
            "The search maximises the fitness, on training rows only. Its final value is ", best,
            "; the best of many candidates is optimistic and no estimate of test results.",
        ))  # fmt: skip
    if found.interrupted:
        words.append(paragraph(element("b", "Interrupted; the best candidate so far is used.")))
    return words
