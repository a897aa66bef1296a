"""Projects of the studio: a table, what is to be done with it, and the runs that were made.

Everything is in files of one folder, each written whole, so that a killed server loses no step
that was finished::

    folder/<project>/project.json      the table, its columns, the settings
    folder/<project>/<file>            the table, where it was uploaded
    folder/<project>/<run>/...         a training, see ecselm.studio.runs
"""

from __future__ import annotations

import json
import re
import secrets
import shutil
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from ecselm._files import FileWriteError, locked, write_whole
from ecselm._json import parsed_json
from ecselm._wording import brief, did_you_mean
from ecselm.costs.sentences import Mistake, Statement, as_sentence
from ecselm.study import CostOptions, FitRequest
from ecselm.tables.read import Table, ending_of, read_table
from ecselm.tables.rows import training_rows
from ecselm.tables.schema import ColumnTally, plan_columns

FORMAT = 1
FILE = "project.json"
LOCK = ".lock"  # of the workspace
N_EXAMPLES = 3  # values of a column that a page shows
MAX_COLUMNS = 5000
MAX_CLASSES = 200
_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,79}")
_READING = threading.Lock()  # one table is read at a time, so that memory stays bounded


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table as a page shows it."""

    name: str
    kind: str
    n_missing: int
    n_values: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClassRows:
    """A class of the target and its number of rows."""

    label: str | int
    n: int


@dataclass(frozen=True, slots=True)
class CostRange:
    """What a mistake costs; classes by position, None stands for any other class."""

    truth: int
    predicted: int | None
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Worse:
    """A mistake that is worse than another; classes by position."""

    truth: int
    predicted: int | None
    than_truth: int
    than_predicted: int | None


@dataclass(frozen=True, slots=True)
class Settings:
    """What a person has chosen on the pages: columns, costs, metric, training."""

    target: str | None = None
    task: str | None = None  # "classes" or "numbers", once there is a target
    classes: tuple[ClassRows, ...] = ()
    left_out: tuple[str, ...] = ()
    groups: str | None = None
    by: str | None = None
    cost_column: str | None = None
    cost_truth: int | None = None  # the mistake that the column is about; None is any
    cost_predicted: int | None = None
    metric: str | None = None
    ranges: tuple[CostRange, ...] = ()
    worse: tuple[Worse, ...] = ()
    sentences: tuple[str, ...] = ()
    unit: float | None = None  # money that a cost of 1 stands for
    currency: str = ""
    model_name: str = "ecselm"
    max_time: float | None = None
    epochs: int | None = None
    test_share: float = 0.25
    seed: int = 0

    @property
    def labels(self) -> list[str | int]:
        """Return the classes."""
        return [one.label for one in self.classes]

    def trains_like(self, other: Settings) -> bool:
        """Return whether a training by other settings makes the same model."""
        money: dict[str, Any] = {"unit": None, "currency": ""}
        return replace(self, **money) == replace(other, **money)

    def costs(self) -> CostOptions:
        """Return what is stated about costs, in sentences that the command line takes as well."""
        stated = [
            Statement(Mistake(one.truth, one.predicted), one.low, one.high) for one in self.ranges
        ]
        stated += [
            Statement(
                Mistake(one.truth, one.predicted),
                1.0,
                float("inf"),
                Mistake(one.than_truth, one.than_predicted),
            )
            for one in self.worse
        ]
        sentences = [as_sentence(one, self.labels) for one in stated]
        return CostOptions((*sentences, *self.sentences), columns=self._cost_columns())

    def _cost_columns(self) -> tuple[str, ...]:
        if self.cost_column is None:
            return ()
        if self.cost_truth is None:
            return (self.cost_column,)
        mistake = Statement(Mistake(self.cost_truth, self.cost_predicted), 1.0, 1.0)
        written = as_sentence(mistake, self.labels).rpartition("=")[0].strip()
        return (f"{written}={self.cost_column}",)

    def check_costs(self) -> None:
        """Raise ValueError for costs that cannot be read or contradict each other."""
        for text in self.sentences:
            # The command takes the name of a file with a table of costs: a page does not.
            if "->" not in text and "→" not in text and not any(c in text for c in "=<>"):
                raise ValueError(
                    "a sentence about costs must read like 'a->b = 3..20' or 'a->b > b->a', got "
                    f"{brief(text)!r}"
                )
        if self.task == "classes":
            try:
                self.costs().constraints(self.labels)
            except (ValueError, OSError) as error:
                raise ValueError(in_words(error)) from error

    def request(self) -> FitRequest:
        """Return the request of a fit."""
        if self.target is None:
            raise ValueError("the column to predict must be chosen first")
        return FitRequest(
            target=self.target,
            metric=self.metric,
            costs=self.costs() if self.task == "classes" else CostOptions(),
            task=self.task,  # type: ignore[arg-type]
            groups=self.groups,
            by=self.by,
            test_share=self.test_share,
            n_hidden="auto",
            max_epochs=self.epochs,
            max_time=self.max_time,
            n_jobs=1,
            seed=self.seed,
            model_name=self.model_name,
        )

    def arguments(self) -> list[str]:
        """Return the options of ``ecselm fit`` that state the same request."""
        request = self.request()
        # Pages show the answers to test rows, which the model must not have been fitted to.
        found = ["--target", request.target, "--task", str(request.task), "--no-refit"]
        single = {
            "--metric": request.metric,
            "--groups": request.groups,
            "--by": request.by,
            "--epochs": request.max_epochs,
            "--max-time": request.max_time,
        }
        for option, value in single.items():
            found += [] if value is None else [option, str(value)]
        for text in request.costs.cost:
            found += ["--cost", text]
        for text in request.costs.columns:
            found += ["--cost-column", text]
        defaults = Settings()
        for option, value, default in (
            ("--model", self.model_name, defaults.model_name),
            ("--held-out", self.test_share, defaults.test_share),
            ("--seed", self.seed, defaults.seed),
        ):
            found += [] if value == default else [option, str(value)]
        return found


@dataclass(frozen=True, slots=True)
class Project:
    """A table, the settings, and the runs of a project."""

    id: str
    name: str  # of the file
    file: str  # where it is
    created: str  # ISO time
    n_rows: int
    columns: tuple[Column, ...]
    notes: tuple[str, ...] = ()  # what was guessed when the table was read
    settings: Settings = field(default_factory=Settings)
    runs: tuple[str, ...] = ()  # names of their folders, the latest last

    def to_json(self) -> str:
        """Return the project as JSON."""
        return json.dumps(
            {"format": FORMAT, **asdict(self)}, ensure_ascii=False, allow_nan=True, indent=1
        )

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read a project, or raise ValueError."""
        try:
            stored = _of_this_format(parsed_json(text))
            settings = settings_from(stored.pop("settings"))
            columns = [
                Column(**{**one, "examples": tuple(one["examples"])})
                for one in stored.pop("columns")
            ]
            for name in ("notes", "runs"):
                stored[name] = tuple(stored[name])
            return cls(**stored, settings=settings, columns=tuple(columns))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"the project cannot be read: {error}") from error

    def table(self) -> Table:
        """Read the table again."""
        with _READING:
            return read_table(self.file)

    def with_target(self, **chosen: Any) -> Project:
        """Return the project with chosen columns, and the classes of the target.

        Parameters
        ----------
        **chosen
            Fields of :class:`Settings` about columns. Costs are kept as long as the classes stay
            the same.
        """
        settings = replace(self.settings, **chosen)
        _check_columns(settings)
        table = self.table()
        kept = table.frame.drop(columns=[*settings.left_out])
        for name in (settings.groups, settings.cost_column):
            if name is not None:
                kept = kept.drop(columns=name)
        plan = plan_columns(kept, str(settings.target))
        rows = training_rows(kept, plan)
        counted: dict[Any, int] = {}
        if rows.task == "classes":
            for label in rows.y.tolist():
                counted[label] = counted.get(label, 0) + 1
            if not 2 <= len(counted) <= MAX_CLASSES:
                raise ValueError(
                    f"the column to predict must have 2 to {MAX_CLASSES} classes, got "
                    f"{len(counted)} in {settings.target!r}"
                )
        elif settings.by is not None or settings.cost_column is not None:
            raise ValueError(
                "results by group and costs by row must be left out where numbers are predicted, "
                f"as in {settings.target!r}"
            )
        classes = tuple(ClassRows(label, counted[label]) for label in sorted(counted))
        if [one.label for one in classes] != self.settings.labels or rows.task != settings.task:
            settings = replace(
                settings, ranges=(), worse=(), sentences=(), cost_truth=None, cost_predicted=None,
                metric=None,
            )  # fmt: skip
        return replace(self, settings=replace(settings, task=rows.task, classes=classes))


def _of_this_format(stored: dict[str, Any]) -> dict[str, Any]:
    if stored.pop("format") != FORMAT:
        raise ValueError(f"its format must be {FORMAT}")
    return stored


def settings_from(stored: dict[str, Any]) -> Settings:
    """Return settings from plain values."""
    parts = {"classes": ClassRows, "ranges": CostRange, "worse": Worse}
    known = {one.name for one in fields(Settings)}
    if unknown := set(stored) - known:
        raise ValueError(f"unknown {', '.join(sorted(unknown))}")
    read: dict[str, Any] = {
        name: tuple(parts[name](**one) for one in value)
        if name in parts
        else (tuple(value) if isinstance(value, list) else value)
        for name, value in stored.items()
    }
    return Settings(**read)


def in_words(error: Exception) -> str:
    """Return a message about options of the command in words of the pages."""
    if isinstance(error, FileWriteError):
        return f"the file {error.path} cannot be written: {error.reason}"
    if isinstance(error, OSError) and error.strerror:
        return f"a file of the project cannot be used: {error.strerror}"
    if isinstance(error, MemoryError):
        return "memory is used up"
    message = " ".join(str(error).split()) or type(error).__name__
    for option, words in (
        ("--cost-column", "the column of costs"),
        ("--cost-between", "a range of costs"),
        ("--cost", "a sentence about costs"),
        ("--worse", "what is worse"),
        ("--by", "the column for results by group"),
    ):
        message = message.replace(option, words)
    return message


def _check_columns(settings: Settings) -> None:
    """Raise ValueError for a column that is chosen for two purposes."""
    if settings.target is None:
        raise ValueError("the column to predict must be chosen")
    uses = {
        "the column to predict": settings.target,
        "the column of groups": settings.groups,
        "the column of costs": settings.cost_column,
    }
    seen: dict[str, str] = {}
    for use, name in uses.items():
        if name is None:
            continue
        if name in seen:
            raise ValueError(f"{use} must not be {seen[name]} as well, got {name!r}")
        if name in settings.left_out:
            raise ValueError(f"{use} must not be left out, got {name!r}")
        seen[name] = use
    if settings.by is not None and (
        settings.by in settings.left_out or settings.by == settings.target
    ):
        raise ValueError(
            "the column for results by group must be neither left out nor the one to predict, got "
            f"{settings.by!r}"
        )


class Workspace:
    r"""The folder of all projects.

    Parameters
    ----------
    folder : path
        Is made if it is not there.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     table = Path(folder) / "patients.csv"
    ...     _ = table.write_text("age,ill\n30,no\n60,yes\n")
    ...     workspace = Workspace(Path(folder) / "studio")
    ...     project = workspace.add(table)
    ...     workspace.get(project.id).columns[1].examples
    ('no', 'yes')
    """

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ValueError(
                f"folder must be one that can be made, got {folder}: {error.strerror}"
            ) from error
        self.folder = folder.resolve()
        self._lock = threading.RLock()
        self._n_holders = 0

    @contextmanager
    def held(self) -> Iterator[None]:
        """Refuse a second studio in the folder, with RuntimeError; may be nested.

        The system ends it with the process, however that ends.
        """
        refusal = f"--folder must be used by one studio at a time, got {self.folder} with another"
        with ExitStack() as holding:
            if not self._n_holders:
                holding.enter_context(locked(self.folder / LOCK, refusal, name="--folder"))
            self._n_holders += 1
            try:
                yield
            finally:
                self._n_holders -= 1

    def place(self, project_id: str) -> Path:
        """Return the folder of a project, or raise KeyError."""
        if not _ID.fullmatch(project_id) or not (self.folder / project_id / FILE).is_file():
            raise KeyError(project_id)
        return self.folder / project_id

    def projects(self) -> list[Project]:
        """Return all projects that can be read, the latest first."""
        found = []
        for path in self.folder.glob(f"*/{FILE}"):
            try:
                found.append(self.get(path.parent.name))
            except (KeyError, ValueError):  # a folder of something else
                continue
        return sorted(found, key=lambda one: one.created, reverse=True)

    def get(self, project_id: str) -> Project:
        """Return a project, or raise KeyError."""
        return Project.from_json((self.place(project_id) / FILE).read_text(encoding="utf-8"))

    def change(self, project_id: str, **changed: Any) -> Project:
        """Replace fields of a project and write it."""
        with self._lock:
            project = replace(self.get(project_id), **changed)
            write_whole(self.place(project_id) / FILE, project.to_json().encode())
        return project

    def add(self, file: Path, name: str | None = None) -> Project:
        """Make a project of a table.

        Parameters
        ----------
        file : path
            Is read where it is. One with another ``name`` is an upload, and is moved to the
            folder of the project.
        name : str or None, default=None

        Raises
        ------
        ValueError, OSError
            If the file does not hold a table.
        """
        shown = file.name if name is None else _safe_name(name)
        made = self.folder / f"{_slug(shown)}-{secrets.token_hex(3)}"
        made.mkdir()
        try:
            if name is None:
                place = file.resolve()
            else:
                place = made / shown
                shutil.move(file, place)
            with _READING:
                table = read_table(place)
            project = Project(
                made.name,
                shown,
                str(place),
                datetime.now(UTC).isoformat(timespec="seconds"),
                len(table.frame),
                _columns(table),
                table.notes,
            )
            write_whole(made / FILE, project.to_json().encode())
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise
        return project

    def of_file(self, file: Path) -> Project | None:
        """Return the latest project of a table, if there is one."""
        place = str(file.resolve())
        return next((one for one in self.projects() if one.file == place), None)

    def remove(self, project_id: str) -> None:
        """Delete a project with its uploaded table and models; a table elsewhere stays."""
        with self._lock:
            shutil.rmtree(self.place(project_id))


def _columns(table: Table) -> tuple[Column, ...]:
    n = table.frame.shape[1]
    if n > MAX_COLUMNS:
        raise ValueError(f"the table must have at most {MAX_COLUMNS} columns here, got {n}")
    found = []
    for name in table.frame.columns:
        cells = table.frame[name]
        note = ColumnTally.of(cells).planned(name).note
        examples = cells.dropna().head(1000).astype(str).drop_duplicates().head(N_EXAMPLES)
        found.append(
            Column(
                name,
                note.kind,
                note.n_missing,
                note.n_values,
                tuple(brief(one, 40) for one in examples),
            )
        )
    return tuple(found)


def _safe_name(name: str) -> str:
    """Return the name of an uploaded file without folders and odd characters."""
    last = re.split(r"[\\/]", name)[-1]
    safe = re.sub(r"[^\w.-]+", "_", last).lstrip(".")[-80:]
    ending_of(Path(safe or "unnamed"))
    return safe


def _slug(name: str) -> str:
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower().partition(".")[0]).strip("-")
    return slug[:40] or "table"


def column_named(columns: Sequence[Column], position: str) -> str | None:
    """Return the name of the column at a position that a form states, None for an empty one."""
    if not position:
        return None
    if not position.isdecimal() or int(position) >= len(columns):
        names = [one.name for one in columns]
        raise ValueError(
            f"a column must be one of the table, got {brief(position)!r}"
            f"{did_you_mean(position, names)}"
        )
    return columns[int(position)].name
