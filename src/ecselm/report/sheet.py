"""A documentation sheet of a model, after TRIPOD+AI and Annex IV of the EU AI Act."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from ecselm._files import write_whole
from ecselm.metrics import get_metric
from ecselm.report.promises import STATUS
from ecselm.study import Card, GroupResult

UNKNOWN = "*To be stated by the people who are responsible for the use.*"
# Characters that Markdown takes for markup, and those that end a line or hide.
_SPECIAL = re.compile(r"([\\`*_\[\]#|<>~&$])")
_UNFIT = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def write_sheet(card: Card, path: str | os.PathLike[str], intended_use: str = "") -> Path:
    """Write the sheet of a model as a Markdown file.

    Parameters
    ----------
    card : Card
    path : path
        Output file; an existing one is replaced.
    intended_use : str, default=""
        What the model is for, and for whom; left open if empty.

    Returns
    -------
    path : Path
    """
    written = Path(path)
    write_whole(written, sheet_text(card, intended_use).encode())
    return written


def sheet_text(card: Card, intended_use: str = "") -> str:
    """Return the sheet of a model as Markdown.

    It states what the card knows, and names what people have to state: it is a beginning, not
    a proof of conformity. Equal cards give equal sheets.

    Parameters
    ----------
    card : Card
    intended_use : str, default=""
        What the model is for, and for whom; left open if empty.

    Examples
    --------
    >>> from ecselm.study import Card, DataSummary, Evaluation, RequestSummary
    >>> request = RequestSummary("classes", "diagnosis", "gmean", (), 0.25, 0)
    >>> card = Card(request, DataSummary("a.csv", 3, 1, (), ()), Evaluation({"gmean": 1.0}))
    >>> print(sheet_text(card).splitlines()[0])
    # A model that predicts diagnosis
    """
    parts = (
        ("Intended use", _use(card, intended_use)),
        ("Data", _data(card)),
        ("Metric and costs, and why", _metric(card)),
        ("Performance on test rows", _performance(card)),
        ("Limits", _limits(card)),
        ("Human oversight", _oversight(card)),
        ("Reproduction", _reproduction(card)),
    )
    lines = [f"# A model that predicts {plain(card.request.target)}", ""]
    lines.append(
        "Sections follow TRIPOD+AI (what a report of a prediction model states) and Annex IV of "
        "the EU AI Act (technical documentation). What only people can state is marked."
    )
    for title, part in parts:
        lines += ["", f"## {title}", "", *part]
    return "\n".join(lines) + "\n"


def plain(text: str) -> str:
    r"""Return text that Markdown shows as it is, on one line.

    Examples
    --------
    >>> print(plain("a|b <i>"))
    a\|b \<i\>
    """
    return _SPECIAL.sub(r"\\\1", _UNFIT.sub("\N{REPLACEMENT CHARACTER}", text))


def _use(card: Card, intended_use: str) -> Iterator[str]:
    kind = "one of " + ", ".join(plain(one.name) for one in card.data.classes)
    yield f"- Output: {kind if card.data.classes else 'a number'}, for one row of a table."
    yield f"- Purpose, users and affected people: {plain(intended_use) or UNKNOWN}"
    yield f"- Uses that are not intended: {UNKNOWN}"


def _data(card: Card) -> Iterator[str]:
    data = card.data
    yield (
        f"- {plain(data.file) or 'Data'}: {data.n_train} training rows, {data.n_test} test rows, "
        f"drawn at random with the seed {card.request.seed} before anything was fitted."
    )
    for one in data.classes:
        yield f"- {plain(one.name)}: {one.n_train} training rows, {one.n_test} test rows."
    missing = sum(one.n_missing > 0 for one in data.columns)
    yield f"- {len(data.columns)} input columns, {missing} of them with missing values."
    yield from (f"- {plain(note)}" for note in data.notes)
    yield f"- Origin, collection, consent and representativeness: {UNKNOWN}"


def _metric(card: Card) -> Iterator[str]:
    metric = get_metric(card.request.metric)
    yield f"- Metric: {plain(metric.label)}. {plain(metric.description)}"
    if card.request.cost_constraints:
        yield from (f"- Stated: {plain(one)}." for one in card.request.cost_constraints)
    else:
        yield "- No costs were stated: every class counts as the metric counts it."
    if card.learned is not None:
        yield from (f"- Decisions: {plain(one)}." for one in card.learned.sentences)
    yield f"- Who stated the costs, and why: {UNKNOWN}"


def _performance(card: Card) -> Iterator[str]:
    test = card.test
    yield "| score | value |"
    yield "|---|---|"
    for name, value in test.scores.items():
        yield f"| {plain(get_metric(name).label)} | {value:.4g} |"
    yield ""
    for one in test.recalls:
        yield (
            f"- Recall of {plain(one.name)}: {one.value:.1%} (95 % interval {one.low:.1%} to "
            f"{one.high:.1%}, {one.n} rows)."
        )
    best = card.best_baseline()
    if best is not None and best.difference is not None:
        found = best.difference
        interval = ""
        if found.low is not None and found.high is not None:
            interval = f" (interval {found.low:+.3g} to {found.high:+.3g})"
        chance = "more than chance" if found.beyond_chance else "may be chance"
        yield (
            f"- Lead over the best baseline, {plain(best.name)}: {found.value:+.3g}{interval}, "
            f"{chance}."
        )
    for part in (test.unknown, test.asking, *test.promises):
        if part is not None and part.sentence:
            yield f"- {plain(part.sentence)}"
    if test.groups and test.by is not None:
        yield f"- By {plain(test.by)}:"
        for group in test.groups:
            recalls = ", ".join(
                f"{plain(one.name)} {one.value:.0%} ({one.low:.0%} to {one.high:.0%})"
                for one in group.recalls
            )
            yield f"  - {plain(group.name)}, {group.n} rows, recall: {recalls}.{_kept_in(group)}"


def _kept_in(group: GroupResult) -> str:
    """Return whether promises hold in a group, a sentence each."""
    return "".join(
        f" Promised {plain(one.observed.name)}: {STATUS[one.status]} ({one.observed.value:.1%}, "
        f"exact interval {one.observed.low:.1%} to {one.observed.high:.1%})."
        for one in group.promises
    )


def _limits(card: Card) -> Iterator[str]:
    kept = [one for one in card.test.promises if one.kept]
    if kept:
        least = min(one.confidence for one in kept)
        yield (
            f"- Promises hold with confidence {least:g}, for rows like the training rows, and not "
            "for decisions by other costs; nothing is promised of single groups of rows."
        )
    yield from (f"- {plain(one)}" for one in card.warnings)
    yield "- Results are those of rows like the training rows; other populations were not tested."
    yield "- Robustness to errors in the inputs, to drift and to misuse was not tested."


def _oversight(card: Card) -> Iterator[str]:
    if card.test.asking is not None:
        yield "- Rows for which any answer is expected to cost too much are left to a person."
    else:
        yield "- Every row has an answer; none is left to a person (`--reject-cost` changes that)."
    yield (
        "- `ecselm predict --explain` lists the answers that depend on costs which are not known, "
        "or are left to a person, with the reason."
    )
    yield f"- Who decides in the end, and how answers can be overruled: {UNKNOWN}"


def _reproduction(card: Card) -> Iterator[str]:
    if card.made_on:
        yield f"- Made on {plain(card.made_on)}."
    if card.command:
        yield f"- Command: {plain(card.command)}"
    versions = ", ".join(f"{plain(name)} {plain(one)}" for name, one in card.versions.items())
    if versions:
        yield f"- Versions: {versions}."
