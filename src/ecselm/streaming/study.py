"""Fit from a table that does not fit in memory to a model and its card."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from pandas.util import hash_array
from sklearn.pipeline import make_pipeline

from ecselm._typing import AnyArray, BoolArray
from ecselm._wording import did_you_mean, listed
from ecselm.fitness.sampling import RowSample
from ecselm.outofcore import RowBlock
from ecselm.outofcore.source import SUMS
from ecselm.streaming.blocks import BLOCK_ROWS, Blocks, Passes, Told, scanned_blocks
from ecselm.streaming.fit import (
    SAMPLE_ROWS,
    check_sample,
    placed,
    refit_stream,
    sample_weights,
)
from ecselm.streaming.schema import ColumnTally, Target, target_of
from ecselm.study.card import Asked, ClassCount, DataGlance, Task
from ecselm.study.evaluate import fitted_rivals
from ecselm.study.request import (
    Answer,
    Question,
    check_metric,
    check_question,
    check_values,
    metric_of,
    statements_of,
)
from ecselm.study.rows import Fit, TargetedRows, fit_steps, new_rows, prepared, read_rows
from ecselm.study.run import judged_card
from ecselm.tables.cells import read_names
from ecselm.tables.read import DELIMITED, ending_of
from ecselm.tables.schema import USED, ColumnNote, ColumnPlan, column_plan

FEW = 20  # rows of a class below which none is held out: chance could take all of them
LOOK = "looking at the columns"
ANSWER = "answering"
DRAW = "drawing a sample"
N_PASSES = 3  # columns, sample, sums


@dataclass(frozen=True, slots=True)
class HeldOutRule:
    """Which rows are held out."""

    share: float
    seed: int

    def __call__(self, X: Any, groups: AnyArray | None = None) -> BoolArray:
        """Tell of rows (N,) of a frame, or of their groups, whether they are held out."""
        columns = [X[name].to_numpy() for name in X.columns] if groups is None else [groups]
        total: Any = np.full(len(X), self.seed, dtype=np.uint64)
        for values in columns:
            plain = values + 0.0 if values.dtype.kind == "f" else values  # there are two zeros
            total = hash_array(total * np.uint64(0x9E3779B97F4A7C15) + hash_array(plain))
        return np.asarray((total >> np.uint64(11)) * 2.0**-53 < self.share)


@dataclass(frozen=True, slots=True)
class TableBlock:
    """Rows of one block that have a target, which are held out, and how many were read."""

    rows: RowBlock
    held: BoolArray
    n_read: int

    def __len__(self) -> int:
        return self.n_read

    @property
    def kept(self) -> RowBlock:
        """Return the rows to learn from."""
        return self.rows.taken(np.flatnonzero(~self.held))

    @property
    def put_by(self) -> RowBlock:
        """Return the rows held out."""
        return self.rows.taken(np.flatnonzero(self.held))


@dataclass(frozen=True, slots=True)
class TableRows:
    """Rows with a target, as a plan of the columns wants them."""

    blocks: Blocks
    plan: ColumnPlan
    target: Target
    groups: str | None
    rule: HeldOutRule

    @property
    def spared(self) -> list[Any]:
        """Return the classes of which no row is held out."""
        return [name for name, n in self.target.counts.items() if n < FEW]

    def __iter__(self) -> Iterator[TableBlock]:
        """Yield the rows of every block that have a target."""
        used = [column.name for column in self.plan.columns if column.kind in USED]
        others = [self.plan.target, *([] if self.groups is None else [self.groups])]
        start = 0
        for number, frame in enumerate(replace(self.blocks, columns=(*used, *others)), 1):
            with placed(number, start, len(frame)):
                block = self._read(frame)
            yield block
            start += len(frame)

    def _read(self, frame: Any) -> TableBlock:
        known = frame.loc[read_names(frame[self.plan.target]) != ""]
        X = new_rows(known, self.plan.columns).reset_index(drop=True)
        groups = None if self.groups is None else known[self.groups].astype(str).to_numpy()
        y = self.target.values(known[self.plan.target])
        held = self.rule(X, groups) & ~np.isin(y, self.spared)
        return TableBlock(RowBlock(X, y, groups=groups), held, len(frame))


def look_at_table(
    blocks: Blocks, target: str, groups: str | None, task: Task | None, passes: Passes
) -> tuple[ColumnPlan, Target]:
    """Read a table once to decide what becomes of its columns, and what is predicted."""
    _check_columns(blocks, target, groups)
    names = [name for name in blocks.columns if name not in {target, groups}]
    tallies = {name: ColumnTally() for name in names}
    aim = ColumnTally(counts_numbers=True)
    n_rows = 0
    for frame in passes.over(blocks, LOOK, len):
        known = frame.loc[read_names(frame[target]) != ""]
        n_rows += len(frame)
        aim.add(known[target])
        for name, tally in tallies.items():
            tally.add(known[name])
    if not aim.n_rows:
        raise ValueError(f"target must hold something, the column {target!r} is empty")
    planned = [tally.planned(name) for name, tally in tallies.items()]
    return column_plan(target, planned, n_rows - aim.n_rows, n_rows), target_of(aim, task)


def _check_columns(blocks: Blocks, target: str, groups: str | None) -> None:
    """Refuse names that the table does not have."""
    for option, name in (("target", target), ("groups", groups)):
        if name is not None and name not in blocks.columns:
            raise ValueError(
                f"{option} must be a column of the table, got {name!r}"
                f"{did_you_mean(name, blocks.columns)}"
            )
    if groups == target:
        raise ValueError(f"groups must not be the target, got {groups!r}")


def new_blocks(
    path: str | os.PathLike[str],
    columns: Iterable[ColumnNote],
    *,
    block_rows: int = BLOCK_ROWS,
    progress: Told = None,
) -> Iterator[Any]:
    r"""Return the rows of a file as a model takes them, block by block.

    Parameters
    ----------
    path : path
        As in :func:`open_blocks`.
    columns : iterable of ColumnNote
        Of the card that came with the model, as in :func:`ecselm.study.new_rows`.
    block_rows : int, default=65536
        The most rows of a block.
    progress : callable or None, default=None
        Called with a :class:`StreamProgress` after every block.

    Returns
    -------
    iterator of DataFrame
        What is wrong in a block is told with its rows.

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
    file = Path(path)
    passes = Passes(1 + int(ending_of(file) in DELIMITED), progress)
    return _read(scanned_blocks(file, None, block_rows, passes), tuple(columns), passes)


def _read(blocks: Blocks, columns: tuple[ColumnNote, ...], passes: Passes) -> Iterator[Any]:
    start = 0
    for number, frame in enumerate(passes.over(blocks, ANSWER, len), 1):
        with placed(number, start, len(frame)):
            rows = new_rows(frame, columns)
        yield rows
        start += len(frame)


def study_stream(
    path: str | os.PathLike[str],
    question: Question,
    *,
    block_rows: int = BLOCK_ROWS,
    sample: int = SAMPLE_ROWS,
    callbacks: Any = None,
    progress: Told = None,
    command: str = "",
) -> Answer:
    r"""Learn from a file what is asked, in bounded memory, and judge it on rows held out.

    Passes over the file decide what becomes of the columns, draw a sample, and add up the
    equations of the machines that the search on the sample has settled on. Text takes one
    pass more. If the sample holds all rows to learn from, the last pass is not needed.

    Parameters
    ----------
    path : path
        As in :func:`open_blocks`.
    question : Question
    block_rows : int, default=65536
        The most rows of a block.
    sample : int, default=100000
        The most rows by which columns are filled and layers, costs and C are chosen, even over
        the classes; and the most rows held out that are judged.
    callbacks : callable or list of callables, default=None
        Told of every generation of the search.
    progress : callable or None, default=None
        Called with a :class:`StreamProgress` after every block.
    command : str, default=""
        What the card says makes the model again.

    Returns
    -------
    Answer

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> lines = [f"{i % 7},{i % 3},{'ill' if i % 7 > 4 else 'well'}" for i in range(200)]
    >>> question = Question("state", n_hidden=5, max_epochs=1, population_size=4)
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "a.csv"
    ...     _ = file.write_text("\n".join(["age,sex,state", *lines]))
    ...     answer = study_stream(file, question, block_rows=50, sample=100)
    >>> answer.card.data.notes[0]
    'Read in blocks, in 4 passes over 200 rows.'
    """
    check_question(question)
    check_sample(sample)
    file = Path(path)
    passes = Passes(N_PASSES + int(ending_of(file) in DELIMITED), progress)
    rows = _planned(scanned_blocks(file, None, block_rows, passes), question, passes)
    asked, stated, model = _asked(rows.target, question)
    model = prepared(model, asked.task, question.seed, callbacks)
    draw_rng, chance_rng = np.random.default_rng(question.seed).spawn(2)
    drawn = Drawn.of(rows, sample, draw_rng, passes)
    train, test = (drawn.targeted(one) for one in (drawn.train, drawn.held_out))
    weights = sample_weights(drawn.train)
    fit = fit_steps(train, [rows.plan.transformer()], model, weights)
    rivals = fitted_rivals(
        fit.inputs, train.y, task=asked.task, seed=question.seed, sample_weight=weights
    )
    fit = fit if drawn.train.is_complete else _on_all_rows(fit, rows, passes)
    fit.pipeline[-1].stream_ = {
        "rows": drawn.n_train,
        "passes": passes.number,
        "sampled": len(train.y),
    }
    notes = (*drawn.notes(passes), *rows.blocks.notes, *rows.plan.notes, *rivals.notes)
    data = drawn.glance(file.name, notes)
    card = judged_card(asked, data, fit, rivals, train, test, stated=stated, rng=chance_rng)
    return Answer(fit.pipeline, replace(card, command=command))


@dataclass(frozen=True, slots=True)
class Drawn:
    """Samples of the rows to learn from, even over the classes, and of those held out."""

    rows: TableRows
    train: RowSample
    held_out: RowSample
    n_held_out: int

    @property
    def n_train(self) -> int:
        """Return the number of rows to learn from."""
        return int(self.train.counts.sum())

    @classmethod
    def of(cls, rows: TableRows, n_rows: int, rng: np.random.Generator, passes: Passes) -> Drawn:
        """Draw at most so many of both in one pass."""
        train_rng, held_out_rng = rng.spawn(2)
        train = held_out = None
        n_held_out = 0
        has_classes = rows.target.task == "classes"
        for block in passes.over(rows, DRAW, len):
            kept, put_by = block.kept, block.put_by
            keys = train_rng.random(len(kept))
            more = RowSample.of(kept, keys, n_rows, kept.y if has_classes else None)
            train = more if train is None else train + more
            # As they come: what is counted among them must be as frequent as it is.
            more = RowSample.of(put_by, held_out_rng.random(len(put_by)), n_rows)
            held_out = more if held_out is None else held_out + more
            n_held_out += len(put_by)
        lost = set(rows.target.counts) - set(() if train is None else train.class_counts)
        if train is None or held_out is None or not n_held_out or (has_classes and lost):
            raise ValueError(
                "held-out must leave rows to learn from of every class and rows to judge by, got "
                f"{rows.rule.share}"
            )
        return cls(rows, train, held_out, n_held_out)

    def targeted(self, sample: RowSample) -> TargetedRows:
        """Return a sample as a study takes it."""
        block, classes = sample.rows, self.rows.target.classes
        if not len(classes):
            return read_rows(block.X, block.y, "numbers", block.groups)
        codes = np.searchsorted(classes, block.y)
        return TargetedRows(block.X, block.y, codes, classes, block.groups)

    def glance(self, file: str, notes: tuple[str, ...]) -> DataGlance:
        """Return the data at a glance: all rows to learn from, and rows that were judged."""
        names, judged = self.rows.target.classes.tolist(), self.targeted(self.held_out)
        learned = self.train.class_counts
        counted = zip(names, judged.counts, strict=True)
        return DataGlance(
            file,
            self.n_train,
            len(judged.y),
            self.rows.plan.columns,
            tuple(ClassCount(str(name), learned[name], n) for name, n in counted),
            notes,
        )

    def notes(self, passes: Passes) -> tuple[str, ...]:
        """Say how the rows were read, a sentence each."""
        n_sampled = len(self.train)
        notes = [f"Read in blocks, in {passes.number} passes over {passes.n_rows} rows."]
        if not self.train.is_complete:
            notes.append(
                f"Layers, costs and C were chosen by {n_sampled} of the {self.n_train} rows to "
                "learn from, drawn evenly over the classes; output weights are from all of them."
            )
        if not self.held_out.is_complete:
            notes.append(
                f"{self.n_held_out} rows were held out; results are of {len(self.held_out)} "
                "of them, drawn at random."
            )
        spared = [str(name) for name in self.rows.spared]
        if spared:
            notes.append(f"No row of {listed(spared)} was held out: there are too few.")
        return tuple(notes)


def _planned(blocks: Blocks, question: Question, passes: Passes) -> TableRows:
    plan, target = look_at_table(blocks, question.target, question.groups, question.task, passes)
    rule = HeldOutRule(question.held_out, question.seed)
    return TableRows(blocks, plan, target, question.groups, rule)


def _asked(target: Target, question: Question) -> tuple[Asked, Any, Any]:
    """Return what is asked, the costs stated, and the model to be fitted."""
    if target.task == "classes":  # of numbers not all are counted
        check_values(question.target, target.task, len(target.classes), sum(target.counts.values()))
    statements = statements_of(question, target.task, target.classes)
    metric = metric_of(question, target.task, statements)
    check_metric(metric, target.task, target.classes if target.counts else np.arange(2.0))
    sentences = () if statements is None else statements.sentences
    asked = Asked(target.task, question.target, metric, sentences, question.held_out, question.seed)
    stated = None if statements is None else statements.cost
    return asked, stated, question.model(target.task, statements, metric)


def _on_all_rows(fit: Fit, rows: TableRows, passes: Passes) -> Fit:
    """Return the fit with output weights of all rows to learn from."""
    *steps, (_, model) = fit.pipeline.steps

    def parts() -> Iterator[tuple[Any, Any]]:
        for block in passes.over(rows, SUMS, len):
            kept = block.kept
            if len(kept):
                yield fit.inputs_of(kept.X), kept.y

    solved = refit_stream(model, parts)
    return replace(fit, pipeline=make_pipeline(*(step for _, step in steps), solved))
