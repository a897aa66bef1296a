"""What a test finds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """The statistic of a test and its two-sided p value."""

    statistic: float
    p: float


NO_DIFFERENCE = Finding(0.0, 1.0)  # of results that are all equal, where formulas give 0 / 0
