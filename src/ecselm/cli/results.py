"""What verbs say of a model: in tables, or as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from ecselm.cli.console import print_json, print_lines, print_table
from ecselm.study import Card, ColumnNote, HeldOut

MOST_NAMES = 6  # of columns that are treated alike
MOST_CLASSES = 12  # a larger confusion matrix is left to the report


def print_study(card: Card, *, as_json: bool) -> None:
    """Print what was learned, and how the model does on rows held out."""
    if as_json:
        print_json(json.loads(card.to_json()))
        return
    _print_data(card)
    if card.learned is not None:
        print_lines(["", *card.learned.words])
    _print_compared(card)
    _print_classes(card, card.held_out)
    print_lines(["", *(f"note: {warning}" for warning in card.warnings)])


def print_held_out(card: Card, found: HeldOut, *, as_json: bool) -> None:
    """Print how a model does on other rows."""
    if as_json:
        print_json(asdict(found))
        return
    rows = [[name, f"{value:.4g}"] for name, value in found.scores.items()]
    print_table("on these rows", ["score", "value"], rows)
    _print_classes(card, found)


def _print_data(card: Card) -> None:
    data = card.data
    print_lines(
        [
            f"{data.n_train} rows to learn from, {data.n_held_out} held out",
            *_columns_alike(data.columns),
            *data.notes,
            *card.asked.knowledge,
        ]
    )


def _columns_alike(columns: Sequence[ColumnNote]) -> list[str]:
    """Return a line for all columns that the same was done with."""
    alike: dict[tuple[str, str], list[str]] = {}
    for column in columns:
        alike.setdefault((column.kind, column.treatment), []).append(column.name)
    return [
        f"  {len(names)} of {kind}, {done}: {', '.join(names[:MOST_NAMES])}"
        f"{', ...' if len(names) > MOST_NAMES else ''}"
        for (kind, done), names in alike.items()
    ]


def _print_compared(card: Card) -> None:
    names = list(card.held_out.scores)
    both = [("ECSELM", card.held_out.scores), *((one.name, one.scores) for one in card.compared)]
    rows = [[name, *(_cell(scores, score) for score in names)] for name, scores in both]
    print_table(f"on {card.data.n_held_out} rows held out", ["model", *names], rows)


def _cell(scores: dict[str, float], name: str) -> str:
    return f"{scores[name]:.3f}" if name in scores else ""


def _print_classes(card: Card, found: HeldOut) -> None:
    classes = [one.name for one in card.data.classes]
    if not found.confusion or len(classes) > MOST_CLASSES:
        return
    recalls = {one.name: one for one in found.recalls}
    rows = []
    for name, counts in zip(classes, found.confusion, strict=True):
        recall = recalls.get(name)
        told = "" if recall is None else f"{recall.value:.2f} ({recall.low:.2f}-{recall.high:.2f})"
        rows.append([name, *map(str, counts), told])
    header = ["true class", *(f"taken for {name}" for name in classes), "right (95 % interval)"]
    print_table("mistakes", header, rows)
