"""Run a search to its end and keep its history."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult

from ecselm._random import as_generator
from ecselm._typing import FloatArray
from ecselm.search.backtracking import BacktrackingSearch
from ecselm.search.interrupts import keeps_best
from ecselm.search.space import AskTell, Box


@dataclass(frozen=True, slots=True)
class Generation:
    """One generation: best so far, mean and std of its finite fitness."""

    generation: int
    evaluations: int
    best: float
    mean: float
    std: float


@dataclass  # no slots, whose state every protocol of pickle would not give away
class SearchHistory:
    """The generations of a search, and why it stopped."""

    generations: list[Generation] = field(default_factory=list)
    reason: str = ""

    def add(self, best: float, fitness: FloatArray) -> None:
        """Add a generation whose individuals have the ``fitness`` (size,)."""
        before = self.generations[-1].evaluations if self.generations else 0
        finite = fitness[np.isfinite(fitness)]
        mean, std = (finite.mean(), finite.std()) if len(finite) else (np.inf, np.nan)
        self.generations.append(
            Generation(len(self.generations), before + len(fitness), best, float(mean), float(std))
        )

    @property
    def evaluations(self) -> int:
        """Return the number of evaluations so far."""
        return self.generations[-1].evaluations if self.generations else 0

    @property
    def stale(self) -> int:
        """Return how many generations the best has not moved."""
        bests = [generation.best for generation in self.generations]
        return len(bests) - 1 - bests.index(bests[-1]) if bests else 0


def minimize(
    optimizer: AskTell,
    objective: Callable[[FloatArray], FloatArray],
    *,
    max_epochs: int,
    patience: int | None = None,
    max_time: float | None = None,
    callback: Callable[[AskTell, SearchHistory], bool | None] | None = None,
) -> SearchHistory:
    """Ask, evaluate and tell until a limit is reached.

    Parameters
    ----------
    optimizer : AskTell
        Is moved on; its ``best`` is the result.
    objective : callable
        Takes a population (size, D) and returns its fitness (size,).
    max_epochs : int
        Generations after the first population.
    patience : int, default=None
        Stop after this many generations without a better fitness.
    max_time : float, default=None
        Stop after the generation in which this many seconds have passed.
    callback : callable, default=None
        Called after every generation; stops the search by returning True.

    Notes
    -----
    KeyboardInterrupt stops the search as well, once there is a best point to keep and
    unless it is within :func:`~ecselm.search.interruptible`.

    Examples
    --------
    >>> import numpy as np
    >>> search = BacktrackingSearch(Box.from_bounds([(-1, 1)]), 10, np.random.default_rng(0))
    >>> history = minimize(search, lambda P: P[:, 0] ** 2, max_epochs=20)
    >>> history.evaluations, history.reason
    (210, 'max_epochs')
    """
    history, start = SearchHistory(), time.monotonic()
    try:
        while not history.reason:
            fitness = np.asarray(objective(optimizer.ask()), dtype=np.float64)
            optimizer.tell(fitness)
            history.add(optimizer.best[1], fitness)
            stopped = callback is not None and callback(optimizer, history) is True
            history.reason = _reason(history, stopped, max_epochs, patience) or (
                "max_time" if max_time is not None and time.monotonic() - start >= max_time else ""
            )
    except KeyboardInterrupt:
        if not history.generations or not keeps_best():
            raise
        history.reason = "interrupted"
    return history


def _reason(history: SearchHistory, stopped: bool, max_epochs: int, patience: int | None) -> str:
    if stopped:
        return "callback"
    if len(history.generations) > max_epochs:
        return "max_epochs"
    if patience is not None and history.stale >= patience:
        return "patience"
    return ""


def minimize_bsa(
    fun: Callable[..., Any],
    bounds: Any,
    *,
    population_size: int = 30,
    max_epochs: int = 1000,
    mixrate: float = 1.0,
    x0: Any = None,
    init: str = "uniform",
    vectorized: bool = False,
    callback: Callable[[OptimizeResult], Any] | None = None,
    random_state: Any = None,
) -> OptimizeResult:
    """Minimise a function on a box by backtracking search (Civicioglu 2013).

    Parameters
    ----------
    fun : callable
        Takes a point (D,) and returns a number; with ``vectorized=True`` takes points
        (population_size, D) and returns as many numbers. What is not finite never wins.
    bounds : sequence of (low, high), or scipy.optimize.Bounds
    population_size : int, default=30
    max_epochs : int, default=1000
        Generations after the first population; there are
        ``population_size * (max_epochs + 1)`` evaluations.
    mixrate : float, default=1.0
        Largest share of coordinates that a trial takes from its mutant.
    x0 : array of shape (D,) or (n, D), default=None
        Points in the first population: the result is never worse than they are.
    init : {"uniform", "opposition", "latinhypercube", "sobol"}, default="uniform"
        How the rest of it is drawn, as in :class:`BacktrackingSearch`.
    vectorized : bool, default=False
    callback : callable, default=None
        Called with an intermediate ``OptimizeResult`` after every generation; stops the
        search by returning True or raising StopIteration.
    random_state : int, RandomState, Generator or None, default=None

    Returns
    -------
    result : OptimizeResult
        With ``x``, ``fun``, ``nfev``, ``nit``, ``success``, ``message`` and ``history``,
        the best fitness after the first population and after every generation.

    Examples
    --------
    >>> import numpy as np
    >>> result = minimize_bsa(lambda x: np.sum(x**2), [(-9, 9)] * 4, max_epochs=200, random_state=0)
    >>> result.fun < 1e-3, result.nfev
    (True, 6030)
    """
    if max_epochs < 0:
        raise ValueError(f"max_epochs must be >= 0, got {max_epochs}")
    search = BacktrackingSearch(
        Box.from_bounds(bounds),
        population_size,
        as_generator(random_state),
        mixrate=mixrate,
        initial=x0,
        init=init,
    )
    history = minimize(
        search,
        fun if vectorized else lambda P: np.array([fun(point) for point in P], dtype=np.float64),
        max_epochs=max_epochs,
        callback=None if callback is None else lambda *state: _stops(callback, *state),
    )
    if history.reason == "interrupted":
        raise KeyboardInterrupt
    return _result(search, history)


def _stops(
    callback: Callable[[OptimizeResult], Any], search: AskTell, history: SearchHistory
) -> bool:
    try:
        return bool(callback(_result(search, history)))
    except StopIteration:
        return True


def _result(search: AskTell, history: SearchHistory) -> OptimizeResult:
    x, value = search.best
    messages = {"callback": "stopped by the callback", "max_epochs": "all epochs were run"}
    return OptimizeResult(
        x=x,
        fun=value,
        nfev=history.evaluations,
        nit=len(history.generations) - 1,
        success=bool(np.isfinite(value)),
        message=messages.get(history.reason, "in progress"),
        history=np.array([generation.best for generation in history.generations]),
    )
