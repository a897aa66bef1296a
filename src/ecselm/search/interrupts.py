"""Ctrl-C during a fit: what has been scored is kept, and never half of a model.

Python raises KeyboardInterrupt between any two instructions, also while a result is stored. So
the fit receives the signal itself. Before anything is scored, an interrupt ends the fit at once.
Later it ends the step at work, and steps that a model does not need are skipped; what makes a
model of the best so far is shielded. A second interrupt always ends the fit.
"""

from __future__ import annotations

import signal
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any


class Interrupts:
    """Interrupts of one fit.

    Attributes
    ----------
    n_received : int
    scored : bool
        Whether there is a candidate to keep.
    said : bool
        Whether the user is informed of what was skipped.
    begun : bool
        Whether steps are being made or a model is there: another fit is a part of one.

    Examples
    --------
    >>> interrupts = Interrupts()
    >>> with interrupts.allowed():
    ...     print("a step")
    a step
    >>> interrupts.scored = True
    >>> interrupts.receive()  # shielded
    >>> interrupts.n_received
    1
    """

    def __init__(self) -> None:
        self.n_received = 0
        self.scored = self.said = self.begun = False
        self._allowed = False

    def receive(self, *_: Any) -> None:
        """Handle a signal."""
        self.n_received += 1
        if self._allowed or not self.scored or self.n_received > 1:
            raise KeyboardInterrupt

    def forget(self) -> None:
        """Begin anew: an interrupt has been answered, and what follows is worth its time."""
        self.n_received = 0

    @contextmanager
    def allowed(self) -> Iterator[None]:
        """Let an interrupt end the block; after one it is not begun.

        The caller must catch KeyboardInterrupt.
        """
        try:
            self._allowed = True
            if self.n_received:
                raise KeyboardInterrupt
            yield
        finally:
            self._allowed = False


_KEEPS_BEST: ContextVar[bool] = ContextVar("keeps_best", default=True)
_CURRENT: ContextVar[Interrupts | None] = ContextVar("interrupts", default=None)


def keeps_best() -> bool:
    """Tell whether an interrupted search ends with the best so far."""
    return _KEEPS_BEST.get()


def current_interrupts() -> Interrupts | None:
    """Return the interrupts of the fit at work, None where it lets them through."""
    return _CURRENT.get()


def shield_model() -> None:
    """State that the model of the fit at work is there: an interrupt no longer ends the fit.

    Examples
    --------
    >>> with keeping_best():
    ...     shield_model()
    ...     current_interrupts().scored
    True
    """
    own = _CURRENT.get()
    if own is not None:
        own.scored = own.begun = True


@contextmanager
def interruptible() -> Iterator[None]:
    """Let KeyboardInterrupt through searches, which else end and keep the best so far.

    For runs of many fits, of which one cut short must not pass for a whole one.

    Examples
    --------
    >>> from ecselm.search import minimize_bsa
    >>> with interruptible():  # Ctrl-C ends it without a result
    ...     minimize_bsa(lambda x: x[0] ** 2, [(-1, 1)], max_epochs=50, random_state=0).success
    True
    """
    kept, current = _KEEPS_BEST.set(False), _CURRENT.set(None)
    try:
        yield
    finally:
        _CURRENT.reset(current)
        _KEEPS_BEST.reset(kept)


@contextmanager
def keeping_best() -> Iterator[None]:
    """Receive interrupts of the fit in the block, so that it ends with the best so far.

    A fit within the steps of another is interruptible as a whole: cut short, it would be a part
    of a result that seems whole. Only the main thread is interrupted, and another handler of the
    signal than Python's own is left in charge.

    Examples
    --------
    >>> with keeping_best():
    ...     current_interrupts().n_received
    0
    """
    around = _CURRENT.get()
    if around is not None and around.begun:
        with interruptible():
            yield
        return
    if around is not None or not _KEEPS_BEST.get():
        yield
        return
    own, token = Interrupts(), None
    receives = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    try:
        token = _CURRENT.set(own)
        if receives:
            signal.signal(signal.SIGINT, own.receive)
        yield
        if own.n_received and not own.said:
            warnings.warn(
                "the search was interrupted after its end, while the model was solved: nothing "
                "is missing",
                stacklevel=3,
            )
    finally:
        if receives:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if token is not None:
            _CURRENT.reset(token)
