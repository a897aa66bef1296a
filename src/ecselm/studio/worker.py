"""The process that trains: ``python -m ecselm.studio.worker RUN``.

The server starts it so that it ends with its standard input, see :mod:`ecselm.studio.training`.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ecselm._files import FileWriteError, write_whole
from ecselm.studio.cases import Cases, positions_of_tests, save_cells
from ecselm.studio.project import in_words
from ecselm.studio.runs import FAILED, INPUTS, TRAINED, Progress, Run, new_folder, write_files
from ecselm.study import row_costs_of, study_table
from ecselm.study.decisions import CostOptions, decisions_of
from ecselm.tables.rows import new_rows

if TYPE_CHECKING:
    from ecselm.estimators._cost_search import SearchProgress

BETWEEN = 0.2  # seconds between two reports


class Reporter:
    """Write how far a run is, a few times per second."""

    def __init__(self, run: Run) -> None:
        self._run, self._start, self._last = run, time.monotonic(), -1.0

    def __call__(self, progress: SearchProgress) -> None:
        """Take a generation of the search."""
        if self.seconds - self._last >= BETWEEN or progress.generation == progress.max_epochs:
            self.stage(
                "searching costs",
                step=progress.generation,
                steps=progress.max_epochs,
                best=float(progress.best_score) if np.isfinite(progress.best_score) else None,
            )

    @property
    def seconds(self) -> float:
        """Return the time since the start."""
        return time.monotonic() - self._start

    def stage(
        self,
        name: str,
        state: str = "running",
        *,
        step: int | None = None,
        steps: int | None = None,
        best: float | None = None,
        message: str = "",
    ) -> None:
        """Write what is being done; a training goes on where that cannot be written."""
        self._last = self.seconds
        try:
            self._run.report(Progress(state, name, step, steps, best, self.seconds, message))
        except FileWriteError:
            if state != "running":
                raise


def train(run: Run, reporter: Reporter) -> None:
    """Fit the model of a run and write its files."""
    settings = run.settings()
    request = settings.request()
    reporter.stage("reading the table")
    table = run.table()
    if settings.left_out:
        # The command that does the same reads this file, so the training does too.
        left = table.frame.drop(columns=[*settings.left_out])
        text = left.to_csv(index=False, lineterminator="\n")
        write_whole(run.folder / INPUTS, text.encode())
        table = run.table()
    reporter.stage("training")
    result = study_table(
        table, request, file=run.request()["name"], callbacks=[reporter], command=run.command()
    )
    reporter.stage("writing the results")
    model, card = result.model, result.card
    if card.request.task == "classes":
        positions, codes, classes = positions_of_tests(table, request)
        counts_of = np.bincount(codes, minlength=len(classes)).tolist()
        if counts_of != [one.n_test for one in card.data.classes]:
            raise RuntimeError("test rows of the pages must be those of the card")
        rows = table.frame.iloc[positions]
        by_row = row_costs_of(card, CostOptions(), rows, classes)
        X = new_rows(rows, card.data.columns, absent=table.absent)
        decisions = decisions_of(model, X, by_row)
        k = len(classes)
        matrix = 1.0 - np.eye(k) if decisions is None else decisions.policy.matrix[:, :k]
        counts = np.array([one.n_train for one in card.data.classes], dtype=np.float64)
        P = np.asarray(model.predict_proba(X), dtype=np.float64)
        cases = Cases(positions, codes, P, matrix, counts / counts.sum(), by_row)
        cases.save(run.folder)
        save_cells(table, positions, run.folder)
    with new_folder(run.folder / TRAINED) as folder:
        write_files(folder, model, card, table)
    reporter.stage("done", "done")


def main(folder: str) -> None:
    """Train, and report a failure in one sentence."""
    run = Run(Path(folder))
    reporter = Reporter(run)
    try:
        train(run, reporter)
    except (ValueError, OSError, ImportError, RuntimeError, MemoryError) as error:
        sentence = in_words(error)
        try:
            reporter.stage("failed", "failed", message=sentence)
        except FileWriteError:  # a full disk: the server finds the reason in the log, if there
            sys.exit(f"{FAILED}{sentence}")


if __name__ == "__main__":
    main(sys.argv[1])
