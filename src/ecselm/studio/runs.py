"""A run: one training of a project, its progress, and the files it made.

::

    request.json    the settings and the table
    progress.json   how far it is; written last, with the state "done"
    cases.npz, cases.csv    the test rows, of classes
    trained/        model.skops, card.json, report.html, predictions.csv
    decided-N/      the same by the costs that were chosen after the training
    in_use.json     which of these folders counts, and the costs it decides by
    answers.json    questions and answers about costs; a copy is in the folder that uses them
"""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from ecselm._files import FileWriteError, read_whole, write_whole
from ecselm._json import parsed_json
from ecselm.costs import CostConstraints
from ecselm.elicitation import CostElicitor
from ecselm.report import write_report
from ecselm.saving import load_model, save_model
from ecselm.studio.cases import Cases
from ecselm.studio.project import Project, Settings, settings_from
from ecselm.study import Card, Table, explanations, predicted_rows, read_table, row_costs_of
from ecselm.study.answers import with_answers
from ecselm.study.decisions import CostOptions, decisions_of, last_step
from ecselm.study.evaluate import evaluate
from ecselm.study.fitted import learned_costs
from ecselm.study.notes import warnings_of
from ecselm.tables.rows import new_rows

REQUEST, PROGRESS, IN_USE, LOG = "request.json", "progress.json", "in_use.json", "log.txt"
INPUTS = "inputs.csv"  # the table without the columns that are left out
TRAINED = "trained"
MODEL, CARD, REPORT, PREDICTIONS = "model.skops", "card.json", "report.html", "predictions.csv"
ONNX = "model.onnx"
ANSWERS = "answers.json"
MEAN_COST = "mean_cost"
FAILED = "training failed: "  # begins a line of the log where no other file takes the reason


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a training is."""

    state: str  # "running", "done", "failed", "cancelled" or "interrupted"
    stage: str = ""
    step: int | None = None  # of the search, None where there is no count
    steps: int | None = None
    best: float | None = None  # fitness
    seconds: float = 0.0
    message: str = ""  # of an error


@dataclass(frozen=True, slots=True)
class InUse:
    """The files that count, and what they decide by."""

    folder: str = TRAINED
    costs: dict[str, Any] | None = None  # of CostConstraints; None are those of the training
    source: str = ""  # where the costs come from, a few words

    def constraints(self) -> CostConstraints | None:
        """Return the costs that were chosen after the training."""
        return None if self.costs is None else CostConstraints.from_dict(self.costs)


@dataclass(frozen=True, slots=True)
class Run:
    """The folder of one training."""

    folder: Path

    @classmethod
    def create(cls, folder: Path, project: Project) -> Run:
        """Make the folder of a training that is about to start."""
        stored = {"file": project.file, "name": project.name, "settings": asdict(project.settings)}
        with new_folder(folder):
            write_whole(folder / REQUEST, json.dumps(stored, ensure_ascii=False).encode())
            made = cls(folder)
            made.report(Progress("running", "starting"))
        return made

    def request(self) -> dict[str, Any]:
        """Return file and name of the table."""
        return _read(self.folder / REQUEST)

    def settings(self) -> Settings:
        """Return the settings of the training."""
        return settings_from(self.request()["settings"])

    def report(self, progress: Progress) -> None:
        """Write how far the training is."""
        write_whole(self.folder / PROGRESS, json.dumps(asdict(progress)).encode())

    def progress(self) -> Progress:
        """Return how far the training is."""
        return Progress(**_read(self.folder / PROGRESS))

    def in_use(self) -> InUse:
        """Return which files count."""
        place = self.folder / IN_USE
        return InUse(**_read(place)) if place.is_file() else InUse()

    def file(self, name: str) -> Path:
        """Return a file of those that count."""
        return self.folder / self.in_use().folder / name

    def card(self) -> Card:
        """Return the card of the model that counts."""
        return Card.from_json(self.file(CARD).read_text(encoding="utf-8"))

    def constraints(self) -> CostConstraints | None:
        """Return the costs that count: chosen later, or stated before the training; else None."""
        chosen = self.in_use().constraints()
        if chosen is not None:
            return chosen
        settings = self.settings()
        return settings.costs().constraints(settings.labels)

    def table(self) -> Table:
        """Read the table of the training, without the columns that were left out."""
        inputs = self.folder / INPUTS
        return read_table(inputs if inputs.is_file() else self.request()["file"])

    def command(self) -> str:
        """Return the command that trains the same model."""
        inputs = self.folder / INPUTS
        file = str(inputs) if inputs.is_file() else self.request()["file"]
        arguments = self.settings().arguments()
        return shlex.join(["ecselm", "fit", file, *arguments, "-o", MODEL, "--report", REPORT])

    def decide_by(self, constraints: CostConstraints, source: str) -> None:
        """Let the model decide by other costs, and write its files; nothing is fitted.

        Parameters
        ----------
        constraints : CostConstraints
        source : str
            Where the costs come from, a few words.
        """
        saved = load_model(self.folder / TRAINED / MODEL)
        card = Card.from_json(str(saved.card))
        decider = last_step(saved.model).at(costs=constraints)
        moved = Pipeline([*saved.model.steps[:-1], (saved.model.steps[-1][0], decider)])
        table, cases = self.table(), Cases.load(self.folder)
        rows = table.frame.iloc[cases.positions]
        X = new_rows(rows, card.data.columns, absent=table.absent)
        classes = np.asarray(moved.classes_)
        test = evaluate(
            moved,
            X,
            classes[cases.codes],
            metric=MEAN_COST,
            cost=constraints,
            decisions=decisions_of(moved, X),
        )
        note = f"Costs were chosen after the training: {source}. Baselines were not fitted again."
        moved_card = replace(
            card,
            test=test,
            request=replace(
                card.request, metric=MEAN_COST, cost_constraints=tuple(constraints.sentences())
            ),
            learned=learned_costs(moved, classes.tolist(), constraints),
            baselines=(),
            data=replace(card.data, notes=(*card.data.notes, note)),
        )
        self._use(moved, card, moved_card, table, InUse("", constraints.to_dict(), source))

    def decide_by_answers(self, elicitor: CostElicitor) -> None:
        """Let the model decide by answers to questions, and write its files."""
        saved = load_model(self.folder / TRAINED / MODEL)
        card = Card.from_json(str(saved.card))
        moved, moved_card = with_answers(saved.model, card, elicitor)
        n = len(elicitor.history)
        source = f"{n} answer{'' if n == 1 else 's'} to questions"
        costs = elicitor.credible().to_dict()
        self._use(moved, card, moved_card, self.table(), InUse("", costs, source), elicitor)

    def _use(
        self,
        model: Any,
        before: Card,
        card: Card,
        table: Table,
        chosen: InUse,
        elicitor: CostElicitor | None = None,
    ) -> None:
        """Write the files of a model that decides by other costs, and let them count."""
        # Warnings that no rule repeats, such as those about single columns, stay.
        others = [one for one in before.warnings if one not in warnings_of(before)]
        card = replace(card, warnings=(*others, *warnings_of(card)))
        n = 1 + max((int(one.name[8:]) for one in self.folder.glob("decided-*")), default=0)
        chosen = replace(chosen, folder=f"decided-{n}")
        with new_folder(self.folder / chosen.folder) as folder:
            write_files(folder, model, card, table)
            if elicitor is not None:
                elicitor.save(folder / ANSWERS)
            text = json.dumps(asdict(chosen), ensure_ascii=False)
            write_whole(self.folder / IN_USE, text.encode())
        for old in self.folder.glob("decided-*"):
            if old.name != chosen.folder:
                shutil.rmtree(old, ignore_errors=True)

    def decide_as_trained(self) -> None:
        """Return to the costs of the training."""
        (self.folder / IN_USE).unlink(missing_ok=True)


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Make a folder, which is removed with all its files if the block fails."""
    try:
        folder.mkdir()
    except OSError as error:
        raise FileWriteError(folder, error.strerror or str(error)) from error
    try:
        yield folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def write_files(folder: Path, model: Any, card: Card, table: Table) -> None:
    """Write model, card, report and predictions of all rows to a folder."""
    save_model(model, folder / MODEL, card=card.to_json())
    write_whole(folder / CARD, card.to_json().encode())
    write_report(card, folder / REPORT)
    text = predictions(model, card, table).to_csv(index=False, lineterminator="\n")
    write_whole(folder / PREDICTIONS, text.encode())


def predictions(model: Any, card: Card, table: Table) -> pd.DataFrame:
    """Return the prediction of every row and, of classes, probabilities and what is open."""
    rows = predicted_rows(card, table)
    if card.request.task == "numbers":
        return pd.DataFrame({"prediction": model.predict(rows)})
    classes = np.asarray(model.classes_)
    by_row = row_costs_of(card, CostOptions(), table.frame, classes)
    decisions = decisions_of(model, rows, by_row)
    if decisions is None:
        found = pd.DataFrame({"prediction": model.predict(rows)})
        P = np.asarray(model.predict_proba(rows))
    else:
        found = pd.DataFrame({"prediction": classes[decisions.answers]})
        P = decisions.probabilities
    for name, column in zip(classes.tolist(), P.T, strict=True):
        found[f"probability of {name}"] = column
    if decisions is not None and card.request.cost_constraints:
        found["settled"] = decisions.settled()
        found["expected_cost"] = decisions.expected_cost()
        found["regret"] = decisions.regret()
        found["explanation"] = explanations(decisions, classes)
    return found


def _read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = parsed_json(read_whole(path))
    return found
