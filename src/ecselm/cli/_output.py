"""What commands print: tables for people, JSON for machines, progress on the error stream."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from ecselm.estimators._cost_search import SearchProgress
    from ecselm.streaming import StreamProgress
from dataclasses import asdict

from ecselm.study import Card, ColumnNote, HeldOut

NUMBERS = re.compile(r"[-+\d.,() %]*(nan|inf)?")  # cells that stand below each other
WIDE = 200  # columns of a page that is no terminal, which has no edge to break at
MOST_NAMES = 6  # of columns that are treated alike
MOST_CLASSES = 12  # a larger confusion matrix is left to the report


class Screen(Console):
    """A console that leaves it to the command what to do where nobody reads on."""

    def on_broken_pipe(self) -> None:
        """Pass the error on, which rich would end the process for."""
        raise BrokenPipeError


def console(*, error: bool = False) -> Console:
    """Return what writes to the screen, or to a file without colours and breaks."""
    stream = sys.stderr if error else sys.stdout
    width = None if stream.isatty() else WIDE
    return Screen(file=stream, width=width, highlight=False, soft_wrap=True)


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    print(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False))


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table below an empty line; whatever is in it is no markup."""
    table = Table(title=Text(title), title_justify="left", box=SIMPLE, show_edge=False)
    for i, name in enumerate(header):
        numbers = all(NUMBERS.fullmatch(row[i]) for row in rows)
        table.add_column(Text(name), justify="right" if numbers else "left")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console().print()
    console().print(table)


def print_lines(lines: Sequence[str], *, error: bool = False) -> None:
    """Print lines as they are."""
    for line in lines:
        console(error=error).print(Text(line))


class SearchBar:
    """A callback of searches that moves a bar: generation, best fitness, time left."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task: TaskID | None = None

    def show(self) -> TaskID:
        """Put the bar on the screen, if it is not there yet."""
        if self._task is None:
            self._task = self._progress.add_task("judging hidden layers", total=None, best="")
        return self._task

    def __call__(self, told: SearchProgress) -> None:
        """Move the bar to a generation."""
        self._progress.update(
            self.show(),
            description=f"generation {told.generation} of {told.max_epochs}",
            total=told.max_epochs + 1,
            completed=told.generation + 1,
            best=f"best fitness {told.best_score:.4g}",
        )


class StreamBar:
    """Bars for the passes over a file, one after the other, and for the search between them."""

    def __init__(self, progress: Progress) -> None:
        self.search = SearchBar(progress)
        self._progress = progress
        self._tasks: dict[int, TaskID] = {}

    def __call__(self, told: StreamProgress) -> None:
        """Move the bar of a pass."""
        if told.number not in self._tasks:
            name = f"pass {told.number} of {told.n_passes}: {told.purpose}"
            self._tasks[told.number] = self._progress.add_task(name, total=None, best="")
        rows = f"{told.n_rows:,} rows"
        self._progress.update(
            self._tasks[told.number], total=told.n_total, completed=told.n_rows, best=rows
        )
        if told.number == told.n_passes - 1 and told.n_rows == told.n_total:
            self.search.show()  # which takes place before the last pass


@contextmanager
def search_bar(*, shown: bool) -> Iterator[SearchBar]:
    """Show a bar on the error stream while a search runs, on a terminal."""
    with _progress(shown=shown) as progress:
        bar = SearchBar(progress)
        bar.show()
        yield bar


@contextmanager
def stream_bar(*, shown: bool) -> Iterator[StreamBar]:
    """Show bars on the error stream while a file is read in passes, on a terminal."""
    with _progress(shown=shown) as progress:
        yield StreamBar(progress)


def _progress(*, shown: bool) -> Progress:
    screen = console(error=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[best]}", markup=False),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    hidden = not shown or not screen.is_terminal
    return Progress(*columns, console=screen, transient=True, disable=hidden)


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
