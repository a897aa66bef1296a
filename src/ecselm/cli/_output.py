"""Output of commands: tables, JSON, and progress bars on the error stream."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
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

from ecselm._wording import printable
from ecselm.study import Card, ColumnNote, Estimate, Evaluation, GroupPromise

if TYPE_CHECKING:
    from ecselm.estimators._cost_search import SearchProgress
    from ecselm.streaming import StreamProgress

NUMBERS = re.compile(r"[-+\d.,() %]*(nan|inf)?")  # cells that are aligned to the right
WIDE = 200  # characters of a line where the output is not a terminal
TIE = 1e-9  # differences in a metric below this are rounding errors
MAX_NAMES = 6  # of columns with the same treatment
MAX_CLASSES = 12  # of a confusion matrix; the report shows larger ones


class Screen(Console):
    """A console that raises BrokenPipeError for the command to handle."""

    def on_broken_pipe(self) -> None:
        """Raise the error; rich would end the process."""
        raise BrokenPipeError


def console(*, error: bool = False) -> Console:
    """Return a console that writes plain unwrapped lines if the stream is not a terminal."""
    stream = sys.stderr if error else sys.stdout
    width = None if stream.isatty() else WIDE
    return Screen(file=stream, width=width, highlight=False, soft_wrap=True)


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    print(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False))


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table below an empty line; cells are not markup."""
    table = Table(title=_plain(title), title_justify="left", box=SIMPLE, show_edge=False)
    for i, name in enumerate(header):
        numbers = all(NUMBERS.fullmatch(row[i]) for row in rows)
        table.add_column(_plain(name), justify="right" if numbers else "left")
    for row in rows:
        table.add_row(*map(_plain, row))
    console().print()
    console().print(table)


def _plain(text: str) -> Text:
    """Return text that is neither markup nor, if it comes from a file, a command to a terminal."""
    return Text(printable(text))


def print_lines(lines: Sequence[str], *, error: bool = False) -> None:
    """Print lines as they are."""
    for line in lines:
        console(error=error).print(_plain(line))


class SearchBar:
    """A search callback with a progress bar: generation, best fitness, time left."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task: TaskID | None = None

    def show(self) -> TaskID:
        """Show the bar."""
        if self._task is None:
            self._task = self._progress.add_task("choosing the ensemble", total=None, best="")
        return self._task

    def __call__(self, progress: SearchProgress) -> None:
        """Move the bar to a generation."""
        self._progress.update(
            self.show(),
            description=f"generation {progress.generation} of {progress.max_epochs}",
            total=progress.max_epochs + 1,
            completed=progress.generation + 1,
            best=f"best fitness {progress.best_score:.4g}",
        )


class StreamBar:
    """Progress bars for the passes over a file and for the search between them."""

    def __init__(self, progress: Progress) -> None:
        self.search = SearchBar(progress)
        self._progress = progress
        self._tasks: dict[int, TaskID] = {}

    def __call__(self, progress: StreamProgress) -> None:
        """Move the bar of a pass."""
        if progress.number not in self._tasks:
            name = f"pass {progress.number} of {progress.n_passes}: {progress.purpose}"
            self._tasks[progress.number] = self._progress.add_task(name, total=None, best="")
        rows = f"{progress.n_rows:,} rows"
        self._progress.update(
            self._tasks[progress.number],
            total=progress.n_total,
            completed=progress.n_rows,
            best=rows,
        )
        if progress.number == progress.n_passes - 1 and progress.n_rows == progress.n_total:
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


def print_card(card: Card, *, as_json: bool) -> None:
    """Print the data, the learned costs, and the results on test rows."""
    if as_json:
        print_json(json.loads(card.to_json(rows=False)))
        return
    _print_data(card)
    if card.learned is not None:
        print_lines(["", *card.learned.sentences])
    _print_scores(card)
    _print_classes(card, card.test)
    _print_groups(card.test)
    print_lines(_open_questions(card.test))
    print_lines(["", *(f"note: {warning}" for warning in card.warnings)])


def print_evaluation(card: Card, found: Evaluation, *, as_json: bool) -> None:
    """Print the results of a model on other rows."""
    if as_json:
        print_json(asdict(found))
        return
    rows = [[name, f"{value:.4g}"] for name, value in found.scores.items()]
    print_table("on these rows", ["score", "value"], rows)
    _print_classes(card, found)
    _print_groups(found)
    print_lines(_open_questions(found))


def _print_groups(found: Evaluation) -> None:
    """Print recalls and costs by group."""
    if not found.groups or found.by is None:
        return
    names = list(dict.fromkeys(one.name for group in found.groups for one in group.recalls))
    subjects = [one.subject for one in found.promises if one.kept]
    rows = []
    for group in found.groups:
        recalls = {one.name: _interval(one) for one in group.recalls}
        cost = "" if group.mean_cost is None else _interval(group.mean_cost)
        cells = [recalls.get(name, "") for name in names[:MAX_CLASSES]]
        kept = {one.observed.name: _promise_cell(one) for one in group.promises}
        promised = [kept.get(name, "") for name in subjects]
        rows.append([group.name, str(group.n), *cells, *([cost] if cost else []), *promised])
    header = [found.by, "rows", *(f"recall of {name}" for name in names[:MAX_CLASSES])]
    header += ["mean cost"] if any(group.mean_cost is not None for group in found.groups) else []
    header += [f"promise: {one.in_words}" for one in found.promises if one.kept]
    print_table(f"by {found.by} (95 % intervals)", header, rows)


def _promise_cell(one: GroupPromise) -> str:
    said = {"shown": "holds", "open": "may hold", "broken": "does not hold"}[one.status]
    return f"{said}: {_interval(one.observed)}"


def _interval(one: Estimate) -> str:
    return f"{one.value:.3g} ({one.low:.3g} to {one.high:.3g})"


def _open_questions(found: Evaluation) -> list[str]:
    """Return what depends on costs that are not known, and what asking a person saves."""
    parts = (found.unknown, found.asking, *found.promises)
    sentences = [part.sentence for part in parts if part is not None and part.sentence]
    return ["", *sentences] if sentences else []


def _print_data(card: Card) -> None:
    data = card.data
    print_lines(
        [
            f"{data.n_train} training rows, {data.n_test} test rows",
            *_columns_by_treatment(data.columns),
            *data.notes,
            *card.request.cost_constraints,
        ]
    )


def _columns_by_treatment(columns: Sequence[ColumnNote]) -> list[str]:
    """Return a line for all columns of the same kind and treatment."""
    groups: dict[tuple[str, str], list[str]] = {}
    for column in columns:
        groups.setdefault((column.kind, column.treatment), []).append(column.name)
    return [
        f"  {len(names)} of {kind}, {treatment}: {', '.join(names[:MAX_NAMES])}"
        f"{', ...' if len(names) > MAX_NAMES else ''}"
        for (kind, treatment), names in groups.items()
    ]


def _print_scores(card: Card) -> None:
    names = list(card.test.scores)
    own = card.settings.get("model name", "ECSELM")
    both = [(own, card.test.scores), *((one.name, one.scores) for one in card.baselines)]
    rows = [[name, *(_cell(scores, score) for score in names)] for name, scores in both]
    print_table(f"on {card.data.n_test} test rows", ["model", *names], rows)
    print_lines(["", *_lead(card)])


def _lead(card: Card) -> Iterator[str]:
    """Yield how the model compares with the best baseline, as the card says."""
    best = card.best_baseline()
    if best is None or best.difference is None:
        return
    found, metric = best.difference, card.request.metric
    if abs(found.value) <= TIE:
        yield f"same {metric} as the best baseline, {best.name}"
        return
    side = "better" if found.value > 0 else "worse"
    interval = ""
    if found.low is not None and found.high is not None:
        interval = f"interval of the lead: {found.low:+.3f} to {found.high:+.3f}, "
    chance = "more than chance" if found.beyond_chance else "may be chance"
    yield (
        f"{side} {metric} than the best baseline, {best.name}, by {abs(found.value):.3g} "
        f"({interval}{chance})"
    )


def _cell(scores: dict[str, float], name: str) -> str:
    return f"{scores[name]:.3f}" if name in scores else ""


def _print_classes(card: Card, found: Evaluation) -> None:
    classes = [one.name for one in card.data.classes]
    if not found.confusion or len(classes) > MAX_CLASSES:
        return
    recalls = {one.name: one for one in found.recalls}
    rows = []
    for name, counts in zip(classes, found.confusion, strict=True):
        recall = recalls.get(name)
        share = "" if recall is None else f"{recall.value:.2f} ({recall.low:.2f}-{recall.high:.2f})"
        rows.append([name, *map(str, counts), share])
    header = ["true class", *(f"taken for {name}" for name in classes), "recall (95 % interval)"]
    print_table("confusion matrix", header, rows)
