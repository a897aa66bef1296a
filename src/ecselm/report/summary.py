"""Head of the page: what the model does, how it compares, and on which data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ecselm.metrics import get_metric
from ecselm.report.charts import bar
from ecselm.report.costs import by_costs
from ecselm.report.html import (
    Markup,
    Section,
    amount,
    count,
    counted,
    element,
    escaped,
    figure,
    joined,
    listed,
    named,
    number,
    paragraph,
    scale,
    score,
    share,
    shortened,
    table,
)
from ecselm.study import Baseline, Card, ClassCount, DataSummary

TIE = 1e-9
MAX_COLUMNS = 500  # that are listed
MAX_PRINTED = 60  # that are unfolded on paper
LONGEST_SETTING = 240  # characters; a title has all


def headline(card: Card) -> Markup:
    """Return the head of the page: target, metric, and comparison with the best baseline."""
    best = _best_baseline(card)
    sentences = joined(part for part in (_score(card), _comparison(card, best)) if part)
    summary = element("p", standing(card, best), class_="standing")
    return element(
        "header",
        element("h1", "A model that predicts ", named(card.request.target)),
        paragraph(_purpose(card), kind="lead"),
        element("div", summary, paragraph(sentences) if sentences else None, class_="headline"),
    )


def standing(card: Card, best: Baseline | None) -> str:
    """Return in a few words how the model compares with the best baseline.

    Whether a difference is more than chance is a fact of the card, not decided here.
    """
    if best is None:
        return "No baseline to compare with"
    label = get_metric(card.request.metric).label
    lead = _lead(card, best)
    if abs(lead) <= TIE:
        return f"Same {label} as the best baseline"
    side = "Better" if lead > 0 else "Worse"
    if best.difference is not None and not best.difference.beyond_chance:
        return f"No clear difference in {label} from the best baseline"
    return f"{side} {label} than the best baseline"


def _best_baseline(card: Card) -> Baseline | None:
    return card.best_baseline() if card.request.metric in card.test.scores else None


def _lead(card: Card, best: Baseline) -> float:
    metric = get_metric(card.request.metric)
    return metric.advantage(card.test.scores[metric.name], best.scores[metric.name])


def _purpose(card: Card) -> Markup:
    n = len(card.data.columns)
    inputs = f"From {counted(n, 'column') if n else 'the other columns'} of a row it predicts "
    where = (
        ". Results are those of test rows, which it was not trained on, unless stated otherwise."
    )
    made = f" Made on {card.made_on}." if card.made_on else None
    return joined((inputs, _outcomes(card), where, made))


def _outcomes(card: Card) -> Markup:
    """Return the possible predictions."""
    if card.request.task == "numbers":
        return Markup("a number")
    names = [one.name for one in card.data.classes]
    if 2 <= len(names) <= 3:
        *others, last = (element("b", named(name, 40)) for name in names)
        return joined((Markup(", ".join(others)), " or ", last))
    return Markup(f"one of {counted(len(names), 'class')}" if names else "a class")


def _score(card: Card) -> Markup | None:
    """Return the requested metric on the test rows."""
    metric = card.request.metric
    if metric not in card.test.scores:
        return None
    value = card.test.scores[metric]
    label = get_metric(metric).label
    return joined(
        (
            f"{label[:1].upper()}{label[1:]} on {counted(card.data.n_test, 'test row')}: ",
            figure(score(value), value, "test", "scores", metric),
            ". ",
        )
    )


def _comparison(card: Card, best: Baseline | None) -> Markup | None:
    if best is None:
        return None
    metric, place = card.request.metric, card.baselines.index(best)
    value = best.scores[metric]
    own = figure(score(value), value, "baselines", place, "scores", metric)
    begin = joined(("The best baseline, ", named(best.name), ", has ", own))
    lead = _lead(card, best)
    if abs(lead) <= TIE:
        return joined((begin, ", the same.", _costs(card, place)))
    side = "worse" if lead > 0 else "better"
    size = "less than 0.001" if abs(lead) < 0.001 else score(abs(lead))
    interval = _interval(best, place)
    return joined((begin, f", which is {side} by {size}", interval, ".", _costs(card, place)))


def _interval(best: Baseline, place: int) -> Markup | None:
    """Return the interval of the difference, and whether it may be chance."""
    found = best.difference
    if found is None:
        return None
    chance = "" if found.beyond_chance else "; the difference may be chance"
    if found.low is None or found.high is None:
        return Markup(chance)
    low, high = (
        figure(f"{value:+.3f}", value, "baselines", place, "difference", end)
        for end, value in (("low", found.low), ("high", found.high))
    )
    return joined((" (interval of the lead of this model: ", low, " to ", high, ")", chance))


def _costs(card: Card, place: int) -> Markup | None:
    """Return the total costs of both, where costs were stated."""
    own, other = card.test.total_cost, card.baselines[place].total_cost
    if own is None or other is None:
        return None
    mine = figure(amount(own), own, "test", "total_cost")
    theirs = figure(amount(other), other, "baselines", place, "total_cost")
    return joined(
        (f" {by_costs(card)}, the model costs ", mine, " in all and the baseline ", theirs, ".")
    )


def warnings(card: Card) -> Section | None:
    """Return the warnings."""
    if not card.warnings:
        return None
    return Section("warnings", "Warnings", listed(card.warnings), "warnings")


def request(card: Card) -> Section:
    """Return target, metric, cost constraints and split."""
    wanted, metric = card.request, get_metric(card.request.metric)
    kind = "classes" if wanted.task == "classes" else "a number"
    goal = paragraph(
        "Target: ", element("b", named(wanted.target)), f" ({kind}). Metric: ",
        element("b", metric.label), ". ", metric.description,
    )  # fmt: skip
    test_share = figure(share(wanted.test_share), wanted.test_share, "request", "test_share")
    split = paragraph(
        test_share, " of the rows are test rows, drawn at random with the seed ",
        figure(str(wanted.seed), wanted.seed, "request", "seed"), " before anything was fitted.",
    )  # fmt: skip
    return Section("request", "Request", joined((goal, _cost_constraints(card), split)))


def data(card: Card) -> Section:
    """Return rows, classes and columns of the data."""
    summary = card.data
    n_train = figure(count(summary.n_train), summary.n_train, "data", "n_train")
    n_test = figure(count(summary.n_test), summary.n_test, "data", "n_test")
    rows = paragraph(
        "From ", element("b", named(summary.file)), ": ", n_train, " training rows and ",
        n_test, " test rows.",
    )  # fmt: skip
    notes = listed(summary.notes) if summary.notes else None
    return Section("data", "Data", joined((rows, notes, _classes(summary), _columns(summary))))


def reproduction(card: Card) -> Section | None:
    """Return the command, settings and versions."""
    command = (
        joined((paragraph("This command reproduces the model."), _code(card.command)))
        if card.command
        else None
    )
    settings = _pairs("Settings that differ from the defaults", "setting", card.settings)
    versions = _pairs("Versions", "package", card.versions)
    body = joined((command, element("div", settings, versions, class_="side")))
    has_any = card.command or card.settings or card.versions
    return Section("reproduction", "Reproduction", body) if has_any else None


def _cost_constraints(card: Card) -> Markup | None:
    if card.request.cost_constraints:
        return joined((paragraph("Cost constraints:"), listed(card.request.cost_constraints)))
    if card.learned is None:
        return None
    return paragraph("No cost constraints were given.")


def _classes(summary: DataSummary) -> Markup | None:
    if not summary.classes:
        return None
    most = max(one.n_train + one.n_test for one in summary.classes) or 1
    total = sum(one.n_train + one.n_test for one in summary.classes) or 1
    rows = (_class(i, one, most, total) for i, one in enumerate(summary.classes))
    head = ("class", "training", "test", "share", scale("0", count(most)))
    return table("Rows of each class: solid for training, pale for test", head, rows, "bars")


def _class(i: int, one: ClassCount, most: int, total: int) -> tuple[str, ...]:
    n = one.n_train + one.n_test
    trained = one.n_train / most
    label = f"{one.name}: {counted(n, 'row')}"
    parts = ((0.0, trained, "own"), (trained, n / most, "pale"))
    return (
        named(one.name, 40),
        number(figure(count(one.n_train), one.n_train, "data", "classes", i, "n_train")),
        number(figure(count(one.n_test), one.n_test, "data", "classes", i, "n_test")),
        number(share(n / total)),
        bar(label, parts),
    )


def _columns(summary: DataSummary) -> Markup | None:
    """Return the columns, folded, as they may be hundreds."""
    if not summary.columns:
        return None
    kinds = Counter(one.kind for one in summary.columns)
    kinds_listed = ", ".join(
        f"{count(n)} with {shortened(kind, 40)}" for kind, n in kinds.most_common()
    )
    listed_columns = summary.columns[:MAX_COLUMNS]
    rows = (
        (
            named(one.name),
            one.kind,
            number(figure(count(one.n_missing), one.n_missing, "data", "columns", i, "n_missing")),
            number(figure(count(one.n_values), one.n_values, "data", "columns", i, "n_values")),
            one.treatment,
        )
        for i, one in enumerate(listed_columns)
    )
    head = ("column", "kind", "missing", "distinct", "treatment")
    n_more = len(summary.columns) - len(listed_columns)
    return element(
        "details",
        element("summary", f"{counted(len(summary.columns), 'column')}: {kinds_listed}"),
        table("Columns the model reads", head, rows, "columns"),
        paragraph(f"And {count(n_more)} more.") if n_more else None,
        class_="long" if len(summary.columns) > MAX_PRINTED else None,
    )


def _pairs(caption: str, noun: str, pairs: Mapping[str, str]) -> Markup | None:
    if not pairs:
        return None
    rows: Iterable[tuple[str, str]] = (
        (escaped(name), element("code", shortened(value, LONGEST_SETTING), title=value))
        for name, value in pairs.items()
    )
    return table(caption, (noun, "value" if noun == "setting" else "version"), rows)


def _code(text: str) -> Markup:
    return element("pre", element("code", text), tabindex="0", aria_label="command")


def check_card(card: Card) -> None:
    """Raise ValueError for a card whose parts contradict each other."""
    try:
        card.to_json()
    except ValueError as error:
        raise ValueError(f"numbers of the card must be finite: {error}") from error
    n_classes = len(card.data.classes)
    for name, matrix in _matrices(card):
        if [len(row) for row in matrix] != [n_classes] * n_classes:
            raise ValueError(
                f"{name} must have a row and a column for each of the {n_classes} classes, "
                f"got rows of {[len(row) for row in matrix]}"
            )
    got = len(card.learned.class_costs) if card.learned is not None else 0
    if got not in {0, n_classes}:
        raise ValueError(f"class_costs must have a cost for each of {n_classes} classes, got {got}")
    for name, columns in _series(card):
        lengths = [len(column) for column in columns]
        if len(set(lengths)) > 1:
            raise ValueError(f"{name} must have columns of equal length, got {lengths}")


def _matrices(card: Card) -> Iterator[tuple[str, Sequence[Sequence[Any]]]]:
    test = card.test
    if test.confusion:
        yield "confusion", test.confusion
    for name in ("cost_matrix", "cost_low", "cost_high"):
        if getattr(test, name) is not None:
            yield name, getattr(test, name)
    if card.learned is not None and card.learned.matrix:
        yield "matrix", card.learned.matrix
    for baseline in card.baselines:
        if baseline.confusion:
            yield f"confusion of {baseline.name}", baseline.confusion


def _series(card: Card) -> Iterator[tuple[str, Sequence[Sequence[Any]]]]:
    test, search = card.test, card.search
    if search is not None:
        yield "search", (search.generation, search.best, search.mean)
    curves = (*test.roc, *test.precision_recall, test.reliability, test.cumulative)
    for curve in curves:
        if curve is not None:
            yield f"curve {curve.name}", (curve.x, curve.y)
