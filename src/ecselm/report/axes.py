"""Where numbers stand in a chart."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

# Near the width of a phone, so that letters keep their size there.
WIDTH, HEIGHT = 360.0, 270.0
LEFT, RIGHT, TOP, BOTTOM = 54.0, 14.0, 12.0, 46.0


@dataclass(frozen=True, slots=True)
class Axis:
    """A range of numbers with ticks at round ones.

    Examples
    --------
    >>> Axis("share", 0.0, 1.0, (0.0, 0.5, 1.0)).written(0.5)
    '0.5'
    """

    label: str
    low: float
    high: float
    ticks: tuple[float, ...]

    @classmethod
    def of_shares(cls, label: str) -> Axis:
        """Return an axis from 0 to 1."""
        return cls(label, 0.0, 1.0, (0.0, 0.2, 0.4, 0.6, 0.8, 1.0))

    @classmethod
    def around(cls, label: str, values: Iterable[float], *, whole: bool = False) -> Axis:
        """Return an axis that holds all values, of whole numbers or of any."""
        numbers = tuple(values)
        low, high = min(numbers), max(numbers)
        if low == high:
            margin = 1.0 if whole else 0.05 * abs(low) or 0.5
            low, high = (low, high + margin) if whole else (low - margin, high + margin)
        return cls(label, low, high, _ticks(low, high, whole))

    def share(self, value: float) -> float:
        """Return where a value stands between the ends."""
        return (value - self.low) / (self.high - self.low)

    def written(self, tick: float) -> str:
        """Return a tick with as many digits as tell it from the next."""
        step = self.ticks[1] - self.ticks[0] if len(self.ticks) > 1 else 1.0
        if max(abs(self.low), abs(self.high)) >= 1e5 or step < 1e-5:
            return f"{tick:.4g}"
        return f"{tick:.{max(0, -math.floor(math.log10(step) + 1e-9))}f}"


def across(axis: Axis, value: float) -> float:
    """Return how far right a value stands, in units of the chart."""
    return LEFT + axis.share(value) * (WIDTH - LEFT - RIGHT)


def down(axis: Axis, value: float) -> float:
    """Return how far down a value stands, in units of the chart."""
    return HEIGHT - BOTTOM - axis.share(value) * (HEIGHT - TOP - BOTTOM)


def _ticks(low: float, high: float, whole: bool) -> tuple[float, ...]:
    """Return at most six multiples of 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10((high - low) / 5))
    step = next(m * power for m in (1, 2, 5, 10, 20) if (high - low) / (m * power) <= 5)
    step = max(step, 1.0) if whole else step
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return tuple(i * step + 0.0 for i in range(first, last + 1))
