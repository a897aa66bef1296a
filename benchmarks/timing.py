"""Ratios of running times: unlike seconds, they can be compared between machines."""

from __future__ import annotations

import resource
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from ecselm._processes import end_with_parent

Task = Callable[[], object]
Clock = Callable[[], float]
OMITTED = {"omitted": True}  # fields that are not stored while they are None


@dataclass(frozen=True, slots=True)
class Ratio:
    """Median and quartiles of our time over the baseline's, round by round."""

    median: float
    lower: float
    upper: float

    @classmethod
    def of(cls, rounds: np.ndarray) -> Ratio:
        """Summarise the ratios of all rounds."""
        lower, median, upper = np.quantile(rounds, [0.25, 0.5, 0.75]).tolist()
        return cls(median, lower, upper)

    @property
    def spread(self) -> float:
        """Return the distance of the quartiles, relative to the median."""
        return (self.upper - self.lower) / self.median


@dataclass(frozen=True, slots=True)
class Comparison:
    """Our time over a baseline's; without a ratio, ``missing`` is the reason."""

    ours: str
    baseline: str
    ratio: Ratio | None
    target: float | None = None
    missing: str | None = None
    reason: str | None = field(default=None, metadata=OMITTED)  # why a target may be missed

    @property
    def met(self) -> bool | None:
        """Return whether the target is met, None without a target or a ratio."""
        if self.ratio is None or self.target is None:
            return None
        return self.ratio.median <= self.target


def interleaved(
    ours: Task,
    baselines: dict[str, Task],
    repeats: int,
    *,
    pause: float = 0.0,
    clock: Clock = time.perf_counter,
) -> dict[str, Ratio]:
    """Run all tasks in turn, ``repeats`` times, and return the ratios ours/baseline.

    The machine's speed drifts, so only times of one round are compared. Sleep ``pause``
    seconds before each task.

    Examples
    --------
    >>> ticks = iter([0.0, 1.0, 1.0, 3.0])  # ours takes 1, theirs 2
    >>> interleaved(lambda: None, {"theirs": lambda: None}, 1, clock=lambda: next(ticks))
    {'theirs': Ratio(median=0.5, lower=0.5, upper=0.5)}
    """
    tasks = [ours, *baselines.values()]
    for task in tasks:
        task()
    timers = [partial(duration, task, clock) for task in tasks]
    seconds = seconds_by_round(timers, repeats, pause=pause)
    return {
        name: Ratio.of(seconds[:, 0] / seconds[:, place])
        for place, name in enumerate(baselines, start=1)
    }


def seconds_by_round(
    timers: Sequence[Callable[[], float]], repeats: int, *, pause: float = 0.0
) -> np.ndarray:
    """Call all timers in turn and return their seconds, shape (repeats, timers).

    Every other round runs in reverse order, because a task can be slowed by its predecessor.
    """
    seconds = np.empty((repeats, len(timers)))
    for turn in range(repeats):
        order = range(len(timers))
        for place in order if turn % 2 == 0 else reversed(order):
            time.sleep(pause)
            seconds[turn, place] = timers[place]()
    return seconds


class Stopwatch:
    """Seconds by name, one entry per call.

    Examples
    --------
    >>> ticks = iter([0.0, 2.0])
    >>> watch = Stopwatch(clock=lambda: next(ticks))
    >>> watch.time("sum", sum, [1, 2])
    3
    >>> watch.seconds["sum"]
    [2.0]
    """

    def __init__(self, clock: Clock = time.perf_counter) -> None:
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self._clock = clock

    def time(self, name: str, task: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Run the task and return its result."""
        start = self._clock()
        result = task(*arguments, **options)
        self.seconds[name].append(self._clock() - start)
        return result


def blas_threads(n_threads: int) -> Any:
    """Return a context manager that limits BLAS to a number of threads."""
    return ThreadpoolController().limit(limits=n_threads, user_api="blas")


def in_own_process(task: Callable[..., Any], *arguments: Any) -> Any:
    """Run a module-level function in a new process, so that peak memory is its own."""
    with ProcessPoolExecutor(1, get_context("spawn"), end_with_parent) as pool:
        return pool.submit(task, *arguments).result()


def peak_memory() -> int:
    """Return the peak memory of this process in bytes."""
    status = Path("/proc/self/status")
    if status.exists():  # ru_maxrss may include the peak of the parent process
        (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return 1024 * int(line.split()[1])
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def duration(task: Task, clock: Clock = time.perf_counter) -> float:
    """Return the seconds of a task."""
    start = clock()
    task()
    return clock() - start
