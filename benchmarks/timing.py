"""Ratios of running times, the only times that mean anything on another machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Task = Callable[[], object]
Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Ratio:
    """Median and quartiles of our time over an opponent's, round by round."""

    median: float
    lower: float
    upper: float


def interleaved(
    ours: Task,
    opponents: dict[str, Task],
    repeats: int,
    *,
    pause: float = 0.0,
    clock: Clock = time.perf_counter,
) -> dict[str, Ratio]:
    """Run all tasks in turn, ``repeats`` times, and return the ratios ours/opponent.

    The machine's speed drifts, so only times of one round are compared. Every other
    round runs backwards, because a task can suffer from the one before it. There are
    ``pause`` seconds of sleep before each task.

    Examples
    --------
    >>> ticks = iter([0.0, 1.0, 1.0, 3.0])  # ours takes 1, theirs 2
    >>> interleaved(lambda: None, {"theirs": lambda: None}, 1, clock=lambda: next(ticks))
    {'theirs': Ratio(median=0.5, lower=0.5, upper=0.5)}
    """
    tasks = [ours, *opponents.values()]
    for task in tasks:
        task()
    seconds = np.empty((repeats, len(tasks)))
    for turn in range(repeats):
        order = range(len(tasks))
        for place in order if turn % 2 == 0 else reversed(order):
            time.sleep(pause)
            seconds[turn, place] = _duration(tasks[place], clock)
    return {
        name: _ratio(seconds[:, 0] / seconds[:, place])
        for place, name in enumerate(opponents, start=1)
    }


def _duration(task: Task, clock: Clock) -> float:
    start = clock()
    task()
    return clock() - start


def _ratio(rounds: np.ndarray) -> Ratio:
    lower, median, upper = np.quantile(rounds, [0.25, 0.5, 0.75]).tolist()
    return Ratio(median, lower, upper)
