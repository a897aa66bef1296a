"""A card whose parts fit together, before a page is made of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ecselm.study import Card


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
