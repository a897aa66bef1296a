"""One check of an equation, and what it found."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from ecselm._wording import brief
from ecselm.paper.conformance.implementation import Implementation

PASSED, FAILED, NOT_OFFERED = "passed", "failed", "not offered"


@dataclass(frozen=True)
class Check:
    """An equation, and how far an implementation may be from it.

    Parameters
    ----------
    name : str
    equations : str
        Numbers of the paper's equations, such as ``"(5)"``.
    formula : str
        What must hold.
    needs : tuple of str
        The functions of :class:`Implementation` that the check calls.
    tolerance : float
        The largest deviation that passes.
    measure : callable
        ``measure(implementation)`` returns the deviation.
    black_box : bool, default=False
        Whether the check sees only what predictions show, not the hidden layer.

    Examples
    --------
    >>> from ecselm.paper.conformance import CHECKS
    >>> CHECKS["ridge, N >= L"].equations
    '(5)'
    """

    name: str
    equations: str
    formula: str
    needs: tuple[str, ...]
    tolerance: float
    measure: Callable[[Implementation], float]
    black_box: bool = False

    def run(self, implementation: Implementation) -> Result:
        """Compare an implementation with the equation."""
        missing = [name for name in self.needs if name not in implementation.offers]
        if missing:
            return Result(self, NOT_OFFERED, note=", ".join(missing))
        try:
            deviation = float(self.measure(implementation))
        except NotImplementedError as missing_part:
            return Result(self, NOT_OFFERED, note=brief(str(missing_part)))
        except Exception as error:  # whatever others raise is what they do
            return Result(self, FAILED, note=brief(f"{type(error).__name__}: {error}"))
        passes = math.isfinite(deviation) and deviation <= self.tolerance
        return Result(self, PASSED if passes else FAILED, deviation)


@dataclass(frozen=True)
class Result:
    """The outcome of a check.

    Parameters
    ----------
    check : Check
    outcome : {"passed", "failed", "not offered"}
    deviation : float, default=None
        How far the implementation is from the equation; None if it was not measured.
    note : str, default=""
        What is not offered, or the error that was raised.

    Examples
    --------
    >>> from ecselm.paper.conformance import CHECKS
    >>> print(Result(CHECKS["ridge, N >= L"], "failed", 0.25))
    failed: ridge, N >= L (5), deviation 0.25, tolerance 1e-09
    """

    check: Check
    outcome: str
    deviation: float | None = None
    note: str = ""

    def __str__(self) -> str:
        words = f"{self.outcome}: {self.check.name} {self.check.equations}"
        if self.deviation is not None:
            words += f", deviation {self.deviation:.2g}, tolerance {self.check.tolerance:.2g}"
        return f"{words}: {self.note}" if self.note else words
