"""The steps of a fit: recorded, shown, and kept when the fit is interrupted.

A fit is a sequence of steps: layers that are screened and solved, folds that are fitted, priors
and generations that are scored. What a step has computed is recorded under its name, so that the
same fit resumes behind it, with the same bits.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Self, TypeVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ecselm._progress import PhaseBar
from ecselm._typing import AnyArray, FloatArray
from ecselm.estimators._checkpoint import MAIN, Checkpoint
from ecselm.search.interrupts import Interrupts, current_interrupts

Item = TypeVar("Item")
Result = TypeVar("Result")


class Steps:
    """The steps of one fit.

    As a context they keep the best so far when they are interrupted, in a fit within
    :func:`~ecselm.search.interrupts.keeping_best`; else KeyboardInterrupt goes through.

    Parameters
    ----------
    checkpoint : Checkpoint or None, default=None
        Where steps are recorded.
    shown : bool, default=False
        Whether there is a progress bar.

    Attributes
    ----------
    interrupted : str
        Where an interrupt has skipped steps, for a warning; empty if nothing is missing.
    bar : PhaseBar

    Examples
    --------
    >>> with Steps() as steps:
    ...     [float(score) for score in steps.each("squares", [1, 2], lambda x: x**2)]
    [1.0, 4.0]
    """

    def __init__(self, checkpoint: Checkpoint | None = None, *, shown: bool = False) -> None:
        self.checkpoint, self.interrupted = checkpoint, ""
        self.bar = PhaseBar(shown=shown)
        self._interrupts: Interrupts | None = None

    def __enter__(self) -> Self:
        self._interrupts = current_interrupts()
        if self._interrupts is not None:
            self._interrupts.begun = True
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self.bar.close(whole=kind is None)
        if self.checkpoint is not None:
            self.checkpoint.save()
        if kind is None and self.interrupted:
            if self._interrupts is not None:
                self._interrupts.said = True
            warnings.warn(
                f"the search was interrupted {self.interrupted}: the best so far is kept",
                ConvergenceWarning,
                stacklevel=3,
            )

    @property
    def keeps(self) -> bool:
        """Tell whether a first interrupt has something to keep."""
        own = self._interrupts
        return own is not None and own.scored and own.n_received <= 1

    @property
    def has_interrupt(self) -> bool:
        """Tell whether there was an interrupt: then only what a model needs is computed."""
        return self._interrupts is not None and self._interrupts.n_received > 0

    def scored(self) -> None:
        """State that there is something to keep from here on."""
        if self._interrupts is not None:
            self._interrupts.scored = True

    def skip(self, where: str) -> None:
        """State where an interrupt has skipped steps; the first place counts."""
        self.interrupted = self.interrupted or where
        if self._interrupts is not None:  # an exception that was no signal counts as one
            self._interrupts.n_received = max(self._interrupts.n_received, 1)

    def allowed(self) -> AbstractContextManager[None]:
        """Return a context that an interrupt ends by KeyboardInterrupt."""
        return nullcontext() if self._interrupts is None else self._interrupts.allowed()

    def attempt(self, where: str, work: Callable[..., Result], *arguments: Any) -> Result | None:
        """Return ``work(*arguments)``, or None if it is interrupted and there is more to keep."""
        try:
            with self.allowed():
                return work(*arguments)
        except KeyboardInterrupt:
            if not self.keeps:
                raise
            self.skip(where)
            return None

    def recorded(
        self, name: str, shapes: Mapping[str, tuple[int | None, ...]]
    ) -> dict[str, AnyArray] | None:
        """Return the arrays of a step by name, None if it is not recorded.

        Arrays of other names or shapes, in which None is any size, are refused.
        """
        found = None if self.checkpoint is None else self.checkpoint.step(name)
        if found is None:
            return None
        for part, shape in shapes.items():
            own = found[part].shape if part in found else (-1,)
            if len(own) != len(shape) or any(
                n not in {None, m} for n, m in zip(shape, own, strict=True)
            ):
                path = str(self.checkpoint.path) if self.checkpoint is not None else ""
                raise ValueError(
                    f"checkpoint must belong to this search, got {path!r} with another shape of "
                    f"{part!r} in {name!r}, as with another memory_limit; delete it or name "
                    "another file"
                )
        return found

    def record(self, name: str, **arrays: AnyArray) -> None:
        """Record the arrays of a step; they must not change later.

        What is computed after steps were skipped is no part of the whole fit, and not recorded.
        """
        if self.checkpoint is not None and not self.interrupted:
            self.checkpoint.put(name, arrays)

    def each(
        self, name: str, items: Iterable[Item], score: Callable[[Item], Any]
    ) -> list[AnyArray]:
        """Return the score of every item, or of those before an interrupt.

        Recorded scores are not computed again.
        """
        every, found = list(items), list[AnyArray]()
        self.bar.begin(name, len(every), name)
        for i, item in enumerate(every):
            known = self.recorded(f"{name} {i}", {"score": ()})
            if known is None:
                value = self.attempt(f"at {i + 1} of {len(every)} of {name}", score, item)
                if value is None:
                    break
                known = {"score": np.asarray(value)}
                self.scored()  # from here on, also while it is written
                self.record(f"{name} {i}", **known)
            found.append(known["score"])
            self.scored()
            self.bar.advance()
        return found

    def generations(self, search: str = MAIN) -> list[FloatArray]:
        """Return the recorded fitness of every generation of a search."""
        return [] if self.checkpoint is None else self.checkpoint.generations(search)

    def add(self, fitness: FloatArray, search: str = MAIN) -> None:
        """Record a generation of a search."""
        if self.checkpoint is not None and not self.interrupted:
            self.checkpoint.add(fitness, search)

    def save(self) -> None:
        """Write what is recorded."""
        if self.checkpoint is not None:
            self.checkpoint.save()
