"""Run jobs on several processes and keep their results in a journal.

Reproduction, bench and audit differ in their jobs alone: all are run by :func:`run_jobs`. The
journal has one line of JSON per finished job. A line that was cut off when a process was
killed is ignored: its job is run again. Parquet files are made of the results in the order of
the plan, so that they depend neither on interruptions nor on the number of processes. Times
differ from run to run and have a file of their own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky import get_reusable_executor

from ecselm._files import (
    FileWriteError,
    append_whole,
    locked,
    make_folder,
    write_whole,
)
from ecselm._json import parsed_json
from ecselm._processes import end_with_parent
from ecselm._progress import progress_bar

COLUMNS = ("data", "method", "split", "metric", "at", "value")
Row = tuple[str, str, int, str, str, float]


@dataclass(frozen=True, slots=True)
class Measurement:
    """One number of a job."""

    metric: str
    value: float
    at: str = ""  # the place on a curve, or the cell of a table


@dataclass(frozen=True, slots=True)
class JobResult:
    """The measurements of a finished job, and its times.

    Parameters
    ----------
    key : str
        The key of the job.
    rows : tuple of Measurement
        The same whenever the job is run.
    seconds : tuple of Measurement
        Times of the parts of the job.
    """

    key: str
    rows: tuple[Measurement, ...]
    seconds: tuple[Measurement, ...] = ()


class Job(Protocol):
    """A unit of work that can be run in another process."""

    @property
    def key(self) -> str:
        """Identify the job in a journal: all that its result depends on within a run."""

    @property
    def title(self) -> str:
        """Name the job in error messages."""

    def run(self) -> JobResult:
        """Return the result."""


class Journal:
    """The results of one run in a folder, job by job.

    Parameters
    ----------
    folder : path
        Created by :meth:`open` if it does not exist.
    fingerprint : mapping
        Everything besides its jobs that the results of a run depend on. A folder with results
        of another fingerprint is refused, so that runs do not get mixed.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> journal = Journal(Path(mkdtemp()), {"seed": 0})
    >>> journal.open()
    >>> journal.add(JobResult("gas|ELM|0", (Measurement("accuracy", 0.5),)))
    >>> list(journal.results())
    ['gas|ELM|0']
    """

    def __init__(self, folder: Path, fingerprint: Mapping[str, Any]) -> None:
        self.folder = folder
        self._file = folder / "journal.jsonl"
        self._head = json.dumps({"run": dict(fingerprint)}, sort_keys=True)

    def results(self) -> dict[str, JobResult]:
        """Return the results so far, by the keys of the jobs."""
        found = (_parse(line) for line in self._lines()[1:])
        return {one.key: one for one in found if one is not None}

    def open(self) -> None:
        """Create the folder and the file, or remove a line that was not finished."""
        lines = self._lines()
        make_folder(self.folder, name="output")
        kept = [self._head, *(line for line in lines[1:] if _parse(line) is not None)]
        if lines != [*kept, ""]:
            content = "".join(f"{line}\n" for line in kept).encode()
            write_whole(self._file, content, name="output")

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Refuse a second run in the folder; the system unlocks it when the process ends."""
        if self.folder.exists() and not self.folder.is_dir():
            raise ValueError(f"the output must be a folder, got the file {self.folder}")
        make_folder(self.folder, name="output")
        refusal = (
            f"the output folder must be used by one run at a time, got {self.folder} with another "
            "at work"
        )
        with locked(self.folder / "lock", refusal, name="output"):
            yield

    def add(self, result: JobResult) -> None:
        """Append one result, and return when it is on disk; on an error nothing is appended."""
        rows = [[row.metric, row.value, row.at] for row in result.rows]
        seconds = [[row.metric, row.value, row.at] for row in result.seconds]
        line = json.dumps({"key": result.key, "rows": rows, "seconds": seconds})
        append_whole(self._file, f"{line}\n".encode(), name="output")

    def _lines(self) -> list[str]:
        """Return the lines of the file, none where it is missing or empty."""
        if self.folder.exists() and not self.folder.is_dir():
            raise ValueError(f"the output must be a folder, got the file {self.folder}")
        if not self._file.exists() or self._file.stat().st_size == 0:
            return []
        try:
            lines = self._file.read_text(encoding="utf-8", errors="replace").split("\n")
        except OSError as error:
            raise ValueError(
                f"output must be a folder whose results can be read, got {str(self._file)!r}: "
                f"{error.strerror}"
            ) from error
        if lines[0] != self._head:
            raise ValueError(
                f"the output folder must be new or hold results of the same run, got "
                f"{self.folder} with those of another (seed, budget, version); name another one"
            )
        return lines


def _parse(line: str) -> JobResult | None:
    """Return the result on a line, or None for one that was cut off."""
    try:
        one = parsed_json(line)
        rows, seconds = (
            tuple(Measurement(metric, value, at) for metric, value, at in one[part])
            for part in ("rows", "seconds")
        )
        return JobResult(one["key"], rows, seconds)
    except (ValueError, KeyError, TypeError):
        return None


def run_jobs(
    jobs: Sequence[Job],
    journal: Journal | None = None,
    *,
    n_jobs: int = 1,
    progress: str | None = None,
) -> dict[str, JobResult]:
    """Run the jobs that the journal does not have, and return the results of all by key.

    Parameters
    ----------
    jobs : sequence of Job
    journal : Journal or None, default=None
        Every result is added to it as its job ends; None keeps nothing on disk.
    n_jobs : int, default=1
        Processes, each with one thread of BLAS. Results do not depend on it.
    progress : str or None, default=None
        Title of a progress bar; None shows none.
    """
    planned = {job.key: job for job in jobs}
    results: dict[str, JobResult] = {}
    with nullcontext() if journal is None else journal.lock():
        if journal is not None:
            journal.open()
            results = {key: one for key, one in journal.results().items() if key in planned}
        pending = [job for key, job in planned.items() if key not in results]
        bar = progress_bar(
            progress or "",
            len(planned),
            shown=progress is not None and bool(pending),
            n_done=len(results),
        )
        with (
            bar as advance,
            # Workers of a killed run would go on with jobs whose results nothing takes.
            parallel_config("loky", inner_max_num_threads=1, initializer=end_with_parent),
            _kill_workers_on_error(n_jobs),
        ):
            n_workers = min(n_jobs, max(1, len(pending)))
            pool = Parallel(n_jobs=n_workers, return_as="generator_unordered")
            for result in pool(delayed(_run)(job) for job in pending):
                if journal is not None:
                    journal.add(result)
                results[result.key] = result
                advance("")
    return results


@contextmanager
def _kill_workers_on_error(n_jobs: int) -> Iterator[None]:
    """End worker processes after an error or Ctrl-C: their results are not needed any more."""
    try:
        yield
    except BaseException:
        if n_jobs > 1:
            get_reusable_executor().shutdown(wait=True, kill_workers=True)
        raise


def _run(job: Job) -> JobResult:
    """Run a job, and name it if it fails."""
    try:
        return job.run()
    except (ImportError, FileWriteError):
        raise
    except MemoryError as error:
        raise RuntimeError(f"{job.title}: memory is used up") from error
    except Exception as error:
        raise RuntimeError(f"{job.title}: {error}") from error


def check_run(seed: int, n_jobs: int) -> None:
    """Raise an error if results could not be written, or for an invalid seed or n_jobs.

    Examples
    --------
    >>> check_run(seed=-1, n_jobs=1)
    Traceback (most recent call last):
        ...
    ValueError: seed must be at least 0, got -1
    """
    check_parquet()
    for name, value, minimum in (("seed", seed, 0), ("n_jobs", n_jobs, 1)):
        if value < minimum:
            raise ValueError(f"{name} must be at least {minimum}, got {value}")


def check_parquet() -> None:
    """Raise ImportError naming the missing extra."""
    try:
        import pyarrow  # noqa: F401, PLC0415
    except ImportError as error:
        raise ImportError(
            'results are kept in Parquet files, which need pyarrow: install the extra "reproduce"'
        ) from error


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write tidy rows as a Parquet file, the same bytes for the same rows.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "results.parquet"
    >>> write_rows(path, [("gas", "ELM", 0, "accuracy", "", 0.5)])
    >>> read_rows(path)["value"].tolist()
    [0.5]
    """
    check_parquet()
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import parquet  # noqa: PLC0415

    text, types = pa.string(), {"split": pa.int64(), "value": pa.float64()}
    schema = pa.schema([(name, types.get(name, text)) for name in COLUMNS])
    columns = list(zip(*rows, strict=True)) or [()] * len(COLUMNS)
    table = pa.table([pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)], schema)
    buffer = pa.BufferOutputStream()
    parquet.write_table(table, buffer, compression="zstd")
    write_whole(path, buffer.getvalue().to_pybytes(), name="output")


def read_rows(path: Path) -> Any:
    """Return the tidy frame of a Parquet file that :func:`write_rows` wrote."""
    check_parquet()
    import pandas as pd  # noqa: PLC0415  half a second that other imports need not wait

    return pd.read_parquet(path, engine="pyarrow")
