"""First lines of the page: what the model does, how it compares, and on which data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ecselm.metrics import get_metric
from ecselm.report.charts import bar
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
from ecselm.study import Card, ClassCount, Compared, DataGlance

# With so many differing answers, all for one side, a sign test first falls below 5 %.
FEWEST_TELLING = 6
TIE = 1e-9
MOST_COLUMNS = 500  # that are listed; more make a page nobody reads
MOST_PRINTED = 60  # that are unfolded on paper


def best_rival(card: Card) -> int | None:
    """Return which of the plainer models is best by the metric asked for, if any has it."""
    metric = get_metric(card.asked.metric)
    known = [i for i, one in enumerate(card.compared) if card.asked.metric in one.scores]
    if not known or card.asked.metric not in card.held_out.scores:
        return None

    def merit(i: int) -> float:
        return metric.advantage(card.compared[i].scores[card.asked.metric], 0.0)

    return max(known, key=merit)


def verdict(card: Card) -> Markup:
    """Return the head of the page: what is predicted, how well, and against whom."""
    rival = best_rival(card)
    said = joined(part for part in (_how_good(card), _against(card, rival)) if part)
    summary = element("p", standing(card, rival), class_="standing")
    return element(
        "header",
        element("h1", "A model that predicts ", named(card.asked.target)),
        paragraph(_what_it_does(card), kind="lead"),
        element("div", summary, paragraph(said) if said else None, class_="verdict"),
    )


def standing(card: Card, rival: int | None) -> str:
    """Return in a few words how the model stands beside the best plainer one."""
    if rival is None:
        return "Compared with no plainer model"
    lead = _lead(card, rival)
    if abs(lead) <= TIE or _may_be_chance(card, card.compared[rival]):
        return "No clear difference from the best plainer model"
    return "Ahead of the plainer models" if lead > 0 else "Behind a plainer model"


def _what_it_does(card: Card) -> Markup:
    n = len(card.data.columns)
    what = f"From {counted(n, 'column') if n else 'the other columns'} of a row it tells "
    where = ". Unless said otherwise, results below come from rows that it has never seen."
    return joined((what, _answers(card), where))


def _answers(card: Card) -> Markup:
    """Return what the model may answer."""
    if card.asked.task == "numbers":
        return Markup("a number")
    names = [one.name for one in card.data.classes]
    if 2 <= len(names) <= 3:
        return _either(names)
    return Markup(f"one of {counted(len(names), 'class')}" if names else "a class")


def _either(names: Sequence[str]) -> Markup:
    *others, last = (element("b", named(name, 40)) for name in names)
    return joined((Markup(", ".join(others)), " or ", last))


def _how_good(card: Card) -> Markup | None:
    """Return how many rows were right, and the metric asked for."""
    parts: list[str] = []
    held_out, metric = card.held_out, card.asked.metric
    if held_out.confusion:
        right = sum(row[i] for i, row in enumerate(held_out.confusion))
        total = sum(map(sum, held_out.confusion))
        parts.append(f"It is right on {count(right)} of {counted(total, 'held-out row')}")
    if metric in held_out.scores:
        value = held_out.scores[metric]
        parts += ["; its " if parts else "On held-out rows its ", get_metric(metric).label, " is "]
        parts.append(figure(score(value), value, "held_out", "scores", metric))
    return joined((*parts, ". ")) if parts else None


def _against(card: Card, rival: int | None) -> Markup | None:
    if rival is None:
        return None
    other, metric = card.compared[rival], card.asked.metric
    value = other.scores[metric]
    told = figure(score(value), value, "compared", rival, "scores", metric)
    begin = joined(("The best plainer model, ", named(other.name), ", has ", told))
    lead = _lead(card, rival)
    chance = _chance(card, other) if abs(lead) > TIE else None
    return joined((begin, _difference(lead), chance, _costs(card, rival)))


def _difference(lead: float) -> str:
    if abs(lead) <= TIE:
        return ": the same."
    side = "better" if lead < 0 else "worse"
    size = "less than 0.001" if abs(lead) < 0.001 else score(abs(lead))
    return f", which is {side} by {size}."


def _chance(card: Card, rival: Compared) -> str | None:
    """Return whether so small a difference says anything, where that is known."""
    if not _may_be_chance(card, rival):
        return None
    apart = _rows_apart(card, rival)
    return f" Their tables of answers differ by {counted(apart, 'row')}, which may be chance."


def _costs(card: Card, rival: int) -> Markup | None:
    """Return what the mistakes of both cost, where costs were stated."""
    own, other = card.held_out.total_cost, card.compared[rival].total_cost
    if own is None or other is None:
        return None
    mine = figure(amount(own), own, "held_out", "total_cost")
    theirs = figure(amount(other), other, "compared", rival, "total_cost")
    begin = joined((" By the costs stated, its mistakes cost ", mine))
    return joined((begin, " and those of the plainer model ", theirs, "."))


def _lead(card: Card, rival: int) -> float:
    name = card.asked.metric
    return get_metric(name).advantage(card.held_out.scores[name], card.compared[rival].scores[name])


def _may_be_chance(card: Card, rival: Compared) -> bool:
    """Tell whether no test of answers can tell the two apart, whichever rows they differ on."""
    if not card.held_out.confusion or not rival.confusion:
        return False
    is_counted = get_metric(card.asked.metric).from_confusion is not None
    return is_counted and _rows_apart(card, rival) < FEWEST_TELLING


def _rows_apart(card: Card, rival: Compared) -> int:
    """Return how many answers have to change to make one table of the other."""
    pairs = zip(card.held_out.confusion, rival.confusion, strict=True)
    moved = sum(abs(a - b) for own, other in pairs for a, b in zip(own, other, strict=True))
    return -(-moved // 2)  # a changed answer leaves one cell and enters another


def warned(card: Card) -> Section | None:
    """Return what the reader has to know before relying on the model."""
    if not card.warnings:
        return None
    return Section("warnings", "Before you rely on it", listed(card.warnings), "warnings")


def asked(card: Card) -> Section:
    """Return what was asked for."""
    wanted, metric = card.asked, get_metric(card.asked.metric)
    kind = "one of its classes" if wanted.task == "classes" else "a number"
    goal = paragraph(
        "Predict the column ", element("b", named(wanted.target)), f" ({kind}), and be good at ",
        element("b", metric.label), ". ", metric.description,
    )  # fmt: skip
    held_out = figure(share(wanted.held_out), wanted.held_out, "asked", "held_out")
    split = paragraph(
        "Of the rows, ", held_out, " were set aside before anything was learned, at random with "
        "the seed ", figure(str(wanted.seed), wanted.seed, "asked", "seed"), ".",
    )  # fmt: skip
    return Section("asked", "What was asked", joined((goal, _knowledge(card), split)))


def data(card: Card) -> Section:
    """Return the data at a glance."""
    glance = card.data
    n_train = figure(count(glance.n_train), glance.n_train, "data", "n_train")
    n_held_out = figure(count(glance.n_held_out), glance.n_held_out, "data", "n_held_out")
    rows = paragraph(
        "From ", element("b", named(glance.file)), ": ", n_train, " rows to learn from and ",
        n_held_out, " held out to judge by.",
    )  # fmt: skip
    notes = listed(glance.notes) if glance.notes else None
    return Section(
        "data", "The data at a glance", joined((rows, notes, _classes(glance), _columns(glance)))
    )


def repeated(card: Card) -> Section | None:
    """Return how the model is made again."""
    command = (
        joined((paragraph("This command makes the model again."), _code(card.command)))
        if card.command
        else None
    )
    settings = _pairs("Settings that differ from the defaults", "setting", card.settings)
    versions = _pairs("Versions it was made with", "package", card.versions)
    body = joined((command, element("div", settings, versions, class_="side")))
    has_any = card.command or card.settings or card.versions
    return Section("again", "How to make it again", body) if has_any else None


def _knowledge(card: Card) -> Markup | None:
    if card.asked.knowledge:
        return joined((paragraph("What was said of costs:"), listed(card.asked.knowledge)))
    if card.learned is None:
        return None
    return paragraph("Nothing was said of what mistakes cost.")


def _classes(glance: DataGlance) -> Markup | None:
    if not glance.classes:
        return None
    most = max(one.n_train + one.n_held_out for one in glance.classes) or 1
    total = sum(one.n_train + one.n_held_out for one in glance.classes) or 1
    rows = (_class(i, one, most, total) for i, one in enumerate(glance.classes))
    head = ("class", "to learn from", "held out", "share", scale("0", count(most)))
    return table("Rows of each class: solid to learn from, pale held out", head, rows, "bars")


def _class(i: int, one: ClassCount, most: int, total: int) -> tuple[str, ...]:
    n = one.n_train + one.n_held_out
    learned = one.n_train / most
    label = f"{one.name}: {counted(n, 'row')}"
    parts = ((0.0, learned, "own"), (learned, n / most, "pale"))
    return (
        named(one.name, 40),
        number(figure(count(one.n_train), one.n_train, "data", "classes", i, "n_train")),
        number(figure(count(one.n_held_out), one.n_held_out, "data", "classes", i, "n_held_out")),
        number(share(n / total)),
        bar(label, parts),
    )


def _columns(glance: DataGlance) -> Markup | None:
    """Return the columns, folded away: they may be hundreds."""
    if not glance.columns:
        return None
    kinds = Counter(one.kind for one in glance.columns)
    summary = ", ".join(f"{count(n)} with {shortened(kind, 40)}" for kind, n in kinds.most_common())
    listed_columns = glance.columns[:MOST_COLUMNS]
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
    head = ("column", "kind", "missing", "distinct", "what was done with it")
    left_out = len(glance.columns) - len(listed_columns)
    return element(
        "details",
        element("summary", f"{counted(len(glance.columns), 'column')}: {summary}"),
        table("Columns the model reads", head, rows, "columns"),
        paragraph(f"And {count(left_out)} more.") if left_out else None,
        class_="long" if len(glance.columns) > MOST_PRINTED else None,
    )


def _pairs(caption: str, noun: str, pairs: Mapping[str, str]) -> Markup | None:
    if not pairs:
        return None
    rows: Iterable[tuple[str, str]] = (
        (escaped(name), element("code", value)) for name, value in pairs.items()
    )
    return table(caption, (noun, "value" if noun == "setting" else "version"), rows)


def _code(text: str) -> Markup:
    return element("pre", element("code", text), tabindex="0", aria_label="command")


def check_card(card: Card) -> None:
    """Refuse a card whose parts contradict each other."""
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
    held_out = card.held_out
    if held_out.confusion:
        yield "confusion", held_out.confusion
    if held_out.stated_costs is not None:
        yield "stated_costs", held_out.stated_costs
    if card.learned is not None and card.learned.matrix:
        yield "matrix", card.learned.matrix
    for rival in card.compared:
        if rival.confusion:
            yield f"confusion of {rival.name}", rival.confusion


def _series(card: Card) -> Iterator[tuple[str, Sequence[Sequence[Any]]]]:
    held_out, progress = card.held_out, card.progress
    if progress is not None:
        yield "progress", (progress.generation, progress.best, progress.mean)
    curves = (*held_out.roc, *held_out.precision_recall, held_out.reliability, held_out.cumulative)
    for curve in curves:
        if curve is not None:
            yield f"curve {curve.name}", (curve.x, curve.y)
