"""Fit from a table that does not fit in memory to a model and its card."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas.util import hash_array
from sklearn.pipeline import make_pipeline

from ecselm._typing import AnyArray, BoolArray, FloatArray
from ecselm._wording import listed
from ecselm.fitness.sampling import RowSample
from ecselm.outofcore import RowBlock
from ecselm.outofcore.source import SUMS
from ecselm.search.interrupts import keeping_best
from ecselm.streaming.blocks import (
    BLOCK_ROWS,
    BlockFile,
    Blocks,
    Passes,
    ProgressCallback,
    open_table,
    scanned_blocks,
)
from ecselm.streaming.fit import SAMPLE_ROWS, check_sample, placed, refit_stream
from ecselm.study.card import Card, ClassCount, DataSummary, RequestSummary
from ecselm.study.evaluate import Baselines, fit_baselines
from ecselm.study.models import ECSELM
from ecselm.study.request import (
    FitRequest,
    FitResult,
    check_metric,
    check_positive,
    check_request,
    check_values,
    metric_of,
    stated_costs_of,
    summary_of,
)
from ecselm.study.rows import TargetedRows, read_rows
from ecselm.study.run import (
    BASELINES_PART,
    Fit,
    Rest,
    fit_steps,
    make_card,
    prepared,
    with_note,
)
from ecselm.tables.blocks import TableTally
from ecselm.tables.cells import read_names
from ecselm.tables.delimited import TextScan
from ecselm.tables.read import DELIMITED, ending_of
from ecselm.tables.rows import hashed_rows, new_rows
from ecselm.tables.schema import NAMES, USED, ColumnNote, ColumnPlan, rows_with_target
from ecselm.tables.target import Target

FEW = 20  # rows of a class below which none is a test row: chance could take all of them
HEAD_ROWS = 10_000  # by which it is guessed which columns identify rows
LOOK = "columns and samples"
PREDICT = "predicting"
N_PASSES = 2  # columns and samples, sums


@dataclass(frozen=True, slots=True)
class HashSplit:
    """Choose a share of the rows as test rows by a hash of their values or groups."""

    share: float
    seed: int

    def __call__(self, X: Any, groups: AnyArray | None = None) -> BoolArray:
        """Return which rows (N,) of a frame are test rows, by their groups if there are any."""
        columns = [X[name].to_numpy() for name in X.columns] if groups is None else [groups]
        total: Any = np.full(len(X), self.seed, dtype=np.uint64)
        for values in columns:
            plain = values + 0.0 if values.dtype.kind == "f" else values  # there are two zeros
            total = hash_array(total * np.uint64(0x9E3779B97F4A7C15) + hash_array(plain))
        return np.asarray((total >> np.uint64(11)) * 2.0**-53 < self.share)


@dataclass(frozen=True, slots=True)
class RowReader:
    """What is needed to split the rows of any block into training and test rows."""

    target: str
    groups: str | None
    split: HashSplit
    hashed: tuple[ColumnNote, ...]  # columns by whose values rows are split

    @classmethod
    def of(cls, head: TableTally, request: FitRequest) -> RowReader:
        """Return the reader by the first rows of a table.

        Columns that identify rows, or are text, must not part rows that are equal otherwise.
        """
        notes = head.notes()
        hashed = [note for note in notes if note.kind in USED]
        hashed = hashed or [replace(note, kind=NAMES) for note in notes]
        split = HashSplit(request.test_share, request.seed)
        return cls(request.target, request.groups, split, tuple(hashed))

    def group_labels(self, frame: Any) -> AnyArray | None:
        """Return the groups (N,) as words."""
        return None if self.groups is None else read_names(frame[self.groups])

    def is_test(self, frame: Any) -> BoolArray:
        """Return which rows (N,) are test rows."""
        return self.split(hashed_rows(frame, self.hashed), self.group_labels(frame))


class RareRows:
    """The first test rows of every class, which are training rows if the class is rare."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._blocks: list[RowBlock] = []

    def add(self, block: RowBlock) -> None:
        """Take more test rows into account."""
        labels = pd.Series(block.y)
        before = np.array([self._counts[label] for label in labels], dtype=np.int64)
        rank = before + labels.groupby(labels).cumcount().to_numpy()
        self._counts.update(labels.tolist())
        if (rank < FEW).any():
            self._blocks.append(block.taken(np.flatnonzero(rank < FEW)))

    def of_classes(self, labels: list[str]) -> RowBlock | None:
        """Return the rows of some classes."""
        if not self._blocks:
            return None
        rows = self._blocks[0].joined(*self._blocks[1:])
        chosen = np.flatnonzero(np.isin(rows.y.astype(str), labels))
        return rows.taken(chosen) if len(chosen) else None


@dataclass(frozen=True, slots=True)
class FirstPass:
    """What the first pass over a table has found: its columns, and samples of its rows."""

    table: BlockFile
    reader: RowReader
    plan: ColumnPlan
    target: Target
    train: TargetedRows  # a sample, even over the classes
    test: TargetedRows  # a sample
    missing: tuple[str, ...]  # words that say that a row has no target
    label_notes: tuple[str, ...]
    n_by_class: dict[Any, int]  # of all training rows; under "" where numbers are predicted
    n_test: int  # of all rows

    @property
    def n_train(self) -> int:
        """Return the number of training rows."""
        return sum(self.n_by_class.values())

    @property
    def is_complete(self) -> bool:
        """Tell whether the sample holds all training rows."""
        return len(self.train.y) == self.n_train

    @property
    def spared(self) -> list[Any]:
        """Return the classes of which no row is a test row."""
        return [name for name, n in self.target.counts.items() if n < FEW]

    def weights(self) -> FloatArray | None:
        """Return weights by which classes count as they do among all rows, None if all are 1."""
        if self.is_complete:
            return None
        if not self.target.counts:
            return np.ones(len(self.train.y))
        all_rows = np.array([self.n_by_class[name] for name in self.train.classes.tolist()])
        sampled = np.array(self.train.counts)
        share = all_rows / np.where(sampled > 0, sampled, 1.0)
        return share[self.train.codes] * (sampled.sum() / all_rows.sum())


def first_pass(
    path: Path, request: FitRequest, block_rows: int, n_sample: int, passes: Passes
) -> FirstPass:
    """Find types, classes and test rows, and draw samples, in one pass over a table.

    How rows are read, and whether classes are predicted, is guessed by the first rows. If later
    rows show that to be wrong, the table is read once more.
    """
    table: BlockFile = open_table(path, block_rows)
    options = request.target, request.groups, request.columns, request.label_case
    head = TableTally(table.names, *options)
    head.add(_head(table))
    reader, task = RowReader.of(head, request), head.likely_task(request.task)
    while True:
        draw_rng = np.random.default_rng(request.seed).spawn(2)[0]
        train_rng, test_rng = draw_rng.spawn(2)
        train_sample: RowSample | None = None
        test_sample: RowSample | None = None
        tally, rare = TableTally(table.names, *options), RareRows()
        blocks = Blocks(table, tuple(table.names), block_rows)
        start, found = 0, task
        for number, frame in enumerate(passes.over(blocks, LOOK, len), 1):
            with placed(number, start, len(frame)):
                known = tally.add(frame)
                is_test = reader.is_test(known)
            start += len(frame)
            if start > HEAD_ROWS and task == "classes":
                found = tally.likely_task(request.task)
                if found != task:
                    break  # before numbers are taken for classes
            labels = read_names(known[request.target])
            rows = RowBlock(known, labels, groups=reader.group_labels(known))
            train, test = (rows.taken(np.flatnonzero(one)) for one in (~is_test, is_test))
            by_class = train.y if task == "classes" else None
            train_sample = _extended(train_sample, train, by_class, n_sample, train_rng)
            # Classes are as frequent among the sampled test rows as among all of them.
            test_sample = _extended(test_sample, test, None, n_sample, test_rng)
            if task == "classes":
                rare.add(test)
        again, holds = table, True
        if isinstance(table, TextScan):
            again, holds = table.again, table.holds
        if found == task and holds:
            found = tally.target(request.task).task
            if found == task:
                return _sampled(again, reader, tally, request, (train_sample, test_sample), rare)
        table, task, passes.n_rows = again, found, None


def _extended(
    sample: RowSample | None,
    rows: RowBlock,
    labels: AnyArray | None,
    n_rows: int,
    rng: np.random.Generator,
) -> RowSample:
    """Return a sample after more rows."""
    draws = rng.random(len(rows))
    if sample is None:
        return RowSample.of(rows, draws, n_rows, labels)
    return sample.extended(rows, draws, labels)


def _head(table: BlockFile) -> Any:
    """Return the first rows of a table."""
    frames: list[Any] = []
    with closing(table.frames(table.names, HEAD_ROWS)) as blocks:
        for frame in blocks:
            frames.append(frame)
            if sum(map(len, frames)) >= HEAD_ROWS:
                break
    return pd.concat(frames, ignore_index=True).iloc[:HEAD_ROWS]


def _sampled(
    table: BlockFile,
    reader: RowReader,
    tally: TableTally,
    request: FitRequest,
    samples: tuple[RowSample | None, RowSample | None],
    rare: RareRows,
) -> FirstPass:
    """Return samples as a study takes them; classes of too few rows have no test rows."""
    plan, target = tally.plan(), tally.target(request.task)
    is_whole = target.classes.dtype.kind == "i"
    drawn, tested = samples
    if drawn is None or tested is None:
        raise ValueError("the table must hold at least one row with a target, got none")
    n_by_label = Counter({str(label): n for label, n in drawn.class_counts.items()})
    n_test = int(tested.counts.sum())
    if n_test:
        train, test = [drawn.rows] if n_by_label else [], tested.rows
        few = [str(name) for name, n in target.counts.items() if n < FEW]
        moved = rare.of_classes(few)
        if moved is not None:
            train.append(moved)
            test = test.taken(np.flatnonzero(~np.isin(test.y.astype(str), few)))
            n_by_label.update(map(str, moved.y))
            n_test -= len(moved)
    spellings = tally.spellings()
    if spellings and target.counts:
        target = target.respelled(spellings)
        n_by_label = Counter({spellings[label]: n for label, n in n_by_label.items()})
    n_by_class = {(int(name) if is_whole else name): n for name, n in n_by_label.items()}
    if not n_test or not n_by_class or set(target.counts) - set(n_by_class):
        raise ValueError(
            "held-out must leave training rows of every class and test rows, got "
            f"{request.test_share}"
        )
    rows = [_targeted(block, reader, plan, target) for block in (train[0].joined(*train[1:]), test)]
    changed = tally.n_respelled()
    notes = [f"Labels of {request.target} in another case were changed in {changed} rows."]
    return FirstPass(
        *(table, reader, plan, target, rows[0], rows[1]),
        *(request.columns.missing, tuple(notes[: changed > 0]), n_by_class, n_test),
    )


def _targeted(block: RowBlock, reader: RowReader, plan: ColumnPlan, target: Target) -> TargetedRows:
    X, y = new_rows(block.X, plan.columns), target.values(block.X[reader.target])
    if target.task == "numbers":
        return read_rows(X, y, "numbers", block.groups)
    return TargetedRows(X, y, np.searchsorted(target.classes, y), target.classes, block.groups)


def new_blocks(
    path: str | os.PathLike[str],
    columns: Iterable[ColumnNote],
    *,
    block_rows: int = BLOCK_ROWS,
    progress: ProgressCallback = None,
) -> Iterator[Any]:
    r"""Return the rows of a file as a model takes them, block by block.

    Parameters
    ----------
    path : path
        As in :func:`open_blocks`.
    columns : iterable of ColumnNote
        Of the card that came with the model, as in ``ecselm.study.new_rows``.
    block_rows : int, default=65536
        The most rows of a block.
    progress : callable or None, default=None
        Called with a :class:`StreamProgress` after every block.

    Returns
    -------
    iterator of DataFrame
        Errors name the block and its rows.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> age = ColumnNote("age", "numbers", 0, 2, "as it is")
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "a.csv"
    ...     _ = file.write_text("sex,age\nf,12\nm,7\nf,9\n")
    ...     [rows["age"].tolist() for rows in new_blocks(file, [age], block_rows=2)]
    [[12.0, 7.0], [9.0]]
    """
    blocks = table_blocks(path, columns, block_rows=block_rows, progress=progress)
    return (rows for _, rows in blocks)


def table_blocks(
    path: str | os.PathLike[str],
    columns: Iterable[ColumnNote],
    *,
    block_rows: int = BLOCK_ROWS,
    progress: ProgressCallback = None,
) -> Iterator[tuple[Any, Any]]:
    """Return blocks of a file, each as it is and as a model takes it; see :func:`new_blocks`."""
    file = Path(path)
    passes = Passes(1 + int(ending_of(file) in DELIMITED), progress)
    return _read(scanned_blocks(file, None, block_rows, passes), tuple(columns), passes)


def _read(
    blocks: Blocks, columns: tuple[ColumnNote, ...], passes: Passes
) -> Iterator[tuple[Any, Any]]:
    start = 0
    for number, frame in enumerate(passes.over(blocks, PREDICT, len), 1):
        with placed(number, start, len(frame)):
            rows = new_rows(frame, columns)
        yield frame, rows
        start += len(frame)


@keeping_best()
def study_stream(
    path: str | os.PathLike[str],
    request: FitRequest,
    *,
    block_rows: int = BLOCK_ROWS,
    sample: int = SAMPLE_ROWS,
    callbacks: Any = None,
    progress: ProgressCallback = None,
    command: str = "",
) -> FitResult:
    r"""Fit a model to a file in bounded memory, and evaluate it on test rows.

    The first pass over the file finds the types of columns and draws samples. Layers, costs and C
    are searched on the sample of training rows; the second pass solves (15) with them on all
    training rows, unless the sample holds all of them. Text whose columns change from numbers to
    words after the first megabytes takes one pass more. After the evaluation, one pass solves (15)
    on all rows, with the same layers, costs and C, unless ``request.refit`` is False.

    Ctrl-C keeps what :func:`ecselm.study.study` keeps; while (15) is solved on all training rows,
    the output weights of the sample.

    Parameters
    ----------
    path : path
        As in :func:`open_blocks`.
    request : FitRequest
    block_rows : int, default=65536
        The most rows of a block.
    sample : int, default=100000
        The most rows by which columns are filled and layers, costs and C are chosen, even over
        the classes; and the most test rows.
    callbacks : callable or list of callables, default=None
        Called after every generation of the search.
    progress : callable or None, default=None
        Called with a :class:`StreamProgress` after every block.
    command : str, default=""
        What the card says makes the model again.

    Returns
    -------
    FitResult

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> lines = [f"{i % 7},{i % 3},{'ill' if i % 7 > 4 else 'well'}" for i in range(200)]
    >>> request = FitRequest("state", n_hidden=5, max_epochs=1, population_size=4)
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "a.csv"
    ...     _ = file.write_text("\n".join(["age,sex,state", *lines]))
    ...     result = study_stream(file, request, block_rows=50, sample=100)
    >>> result.card.data.notes[0]
    'Read in blocks, in 2 passes over 200 rows.'
    """
    check_request(request)
    check_sample(sample)
    if request.by is not None:
        raise ValueError("--by must be left out with --stream; 'ecselm evaluate' takes it")
    if request.promise:
        raise ValueError("--promise must be left out with --stream, whose fits test none")
    if request.costs.asks or request.costs.columns:
        raise ValueError(
            "--cost-column, --reject-cost and --reject-capacity must be left out with --stream, "
            "which sums over rows before they are decided; 'ecselm predict' takes them"
        )
    if request.model_name != ECSELM:
        raise ValueError(
            f"--model must be {ECSELM} with --stream, the only model that is solved from sums over "
            f"rows, got {request.model_name!r}"
        )
    file, passes = Path(path), Passes(N_PASSES + request.refit, progress)
    found = first_pass(file, request, block_rows, sample, passes)
    summary, cost, model = _resolved(found.target, request)
    model = prepared(model, summary.task, request.seed, callbacks)
    train, test, weights = found.train, found.test, found.weights()
    fit, rest = fit_steps(train, [found.plan.transformer()], model, weights), Rest()
    baselines = rest.attempt(
        BASELINES_PART,
        lambda: fit_baselines(
            fit.inputs,
            train.y,
            task=summary.task,
            seed=request.seed,
            sample_weight=weights,
            metric=summary.metric,
            cost=cost,
        ),
        Baselines({}),
    )
    solved, sampled = fit, False
    if not found.is_complete:
        solved = rest.attempt(
            "the pass over all training rows",
            lambda: _on_all_rows(fit, found, block_rows, passes),
            fit,
        )
        sampled = solved is fit
    fit = solved
    fit.pipeline[-1].stream_ = {
        "rows": len(train.y) if sampled else found.n_train,
        "passes": passes.number,
        "sampled": len(train.y),
    }
    notes = (
        *_notes(found, passes, sampled=sampled),
        *found.label_notes,
        *found.table.notes,
        *found.plan.notes,
        *baselines.notes,
    )
    data = _summary(found, file.name, notes)
    card = make_card(summary, data, fit, baselines, train, test, cost=cost, rest=rest)
    card = replace(card, command=command)
    if not request.refit:
        return FitResult(fit.pipeline, card)
    return _refitted(fit, card, found, block_rows, passes)


def _refitted(fit: Fit, card: Card, found: FirstPass, block_rows: int, passes: Passes) -> FitResult:
    """Return the model with output weights of all rows, and its card with a note."""
    kept = "so the model is the one fitted on the training rows."
    if fit.interrupted:
        note = f"The search was interrupted, {kept}"
        return FitResult(fit.pipeline, with_note(card, note))
    again = Rest().attempt(
        "the pass over all rows",
        lambda: _on_all_rows(fit, found, block_rows, passes, every=True),
        None,
    )
    if again is None:
        note = f"The pass over all rows was interrupted, {kept}"
        return FitResult(fit.pipeline, with_note(card, note))
    n = found.n_train + found.n_test
    again.pipeline[-1].stream_ = {**fit.pipeline[-1].stream_, "rows": n, "passes": passes.number}
    note = (
        f"The output weights of the saved model are from all {n} rows, in one pass more; layers, "
        f"costs and C are those of the training rows. All results shown are of the model fitted on "
        f"the {card.data.n_train} training rows."
    )
    return FitResult(again.pipeline, replace(with_note(card, note), refitted=True))


def _summary(found: FirstPass, file: str, notes: tuple[str, ...]) -> DataSummary:
    """Return the data at a glance: all training rows, and the sample of test rows."""
    counted = zip(found.target.classes.tolist(), found.test.counts, strict=True)
    return DataSummary(
        file,
        found.n_train,
        len(found.test.y),
        found.plan.columns,
        tuple(ClassCount(str(name), found.n_by_class[name], n) for name, n in counted),
        notes,
    )


def _notes(found: FirstPass, passes: Passes, *, sampled: bool) -> tuple[str, ...]:
    """Say how the rows were read, a sentence each."""
    times = "1 pass" if passes.number == 1 else f"{passes.number} passes"
    notes = [f"Read in blocks, in {times} over {passes.n_rows} rows."]
    n_train, n_test = len(found.train.y), len(found.test.y)
    if not found.is_complete:
        solved = "are from these, too" if sampled else "are from all of them"
        notes.append(
            f"Layers, costs and C were chosen by {n_train} of the {found.n_train} training "
            f"rows, drawn evenly over the classes; output weights {solved}."
        )
    if n_test < found.n_test:
        notes.append(
            f"There are {found.n_test} test rows; results are of {n_test} of them, drawn at random."
        )
    spared = [str(name) for name in found.spared]
    if spared:
        notes.append(f"No row of {listed(spared)} is a test row: there are too few.")
    return tuple(notes)


def _resolved(target: Target, request: FitRequest) -> tuple[RequestSummary, Any, Any]:
    """Return the request as the card stores it, the stated costs, and the model to fit."""
    n_rows = sum(target.counts.values())
    check_values(request.target, target.task, target.n_values, n_rows)
    stated = stated_costs_of(request, target.task, target.classes)
    check_positive(request.positive, target.task, target.classes)
    metric = metric_of(request, target.task, stated)
    check_metric(metric, target.task, target.classes if target.counts else np.arange(2.0))
    summary = summary_of(request, target.task, stated, metric)
    return summary, stated.cost, request.model(target.task, stated, metric)


def _on_all_rows(
    fit: Fit, found: FirstPass, block_rows: int, passes: Passes, *, every: bool = False
) -> Fit:
    """Return the fit with output weights of all training rows, or of every row."""
    *steps, (_, model) = fit.pipeline.steps
    solved = refit_stream(
        model, lambda: _training_blocks(fit, found, block_rows, passes, every=every)
    )
    return replace(fit, pipeline=make_pipeline(*(step for _, step in steps), solved))


def _training_blocks(
    fit: Fit, found: FirstPass, block_rows: int, passes: Passes, *, every: bool
) -> Iterator[tuple[Any, Any]]:
    """Yield inputs and targets of the training rows, or of every row, block by block."""
    reader, notes = found.reader, found.plan.columns
    names = dict.fromkeys(
        [
            *(note.name for note in notes if note.kind in USED),
            *(note.name for note in reader.hashed),
            reader.target,
            *([] if reader.groups is None else [reader.groups]),
        ]
    )
    blocks, start = Blocks(found.table, tuple(names), block_rows), 0
    for number, frame in enumerate(passes.over(blocks, SUMS, len), 1):
        with placed(number, start, len(frame)):
            known = rows_with_target(frame, reader.target, found.missing)
            y = found.target.values(known[reader.target])
            kept = np.ones(len(y), dtype=bool)
            if not every:
                kept = ~reader.is_test(known) | np.isin(y, found.spared)
            X = new_rows(known.loc[kept], notes)
        start += len(frame)
        if len(X):
            yield fit.inputs_of(X), y[kept]
