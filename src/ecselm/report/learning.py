"""Costs that were learned, and how the search for them went."""

from __future__ import annotations

from ecselm.report.axes import Axis
from ecselm.report.bars import bar
from ecselm.report.charts import Line, chart
from ecselm.report.heat_map import MOST_NAMED, MOST_SHOWN, Cell, heat_map, levels
from ecselm.report.markup import Markup, element, joined, named
from ecselm.report.numbers import amount, count, figure, marks, score
from ecselm.report.section import Section, listed, paragraph
from ecselm.report.tables import number, scale, table
from ecselm.study import Card, Learned, Progress


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
            _matrix(names, learned) if has_matrix else None,
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


def _matrix(names: list[str], learned: Learned) -> Markup:
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
