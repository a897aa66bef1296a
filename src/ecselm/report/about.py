"""What was asked, on which data, and how it is done again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from ecselm.report.bars import bar
from ecselm.report.jargon import metric_named
from ecselm.report.markup import Markup, element, escaped, joined, named, shortened
from ecselm.report.numbers import count, counted, figure, share
from ecselm.report.section import Section, listed, paragraph
from ecselm.report.tables import number, scale, table
from ecselm.study import Card, ClassCount, DataGlance

MOST_COLUMNS = 500  # that are listed; more make a page nobody reads
MOST_PRINTED = 60  # that are unfolded on paper


def warned(card: Card) -> Section | None:
    """Return what the reader has to know before relying on the model."""
    if not card.warnings:
        return None
    return Section("warnings", "Before you rely on it", listed(card.warnings), "warnings")


def asked(card: Card) -> Section:
    """Return what was asked for."""
    wanted, metric = card.asked, metric_named(card.asked.metric)
    kind = "one of its classes" if wanted.task == "classes" else "a number"
    goal = paragraph(
        "Predict the column ", element("b", named(wanted.target)), f" ({kind}), and be good at ",
        element("b", metric.name), ". ", metric.meaning,
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
