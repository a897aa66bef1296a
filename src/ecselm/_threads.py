"""Threads: rows are shared out here, and BLAS keeps to one thread meanwhile.

NumPy and SciPy wheels bring an OpenBLAS each, whose idle threads spin. Products of
blocks that fit the cache are too short for them: a fit with two such pools of two
threads takes twice as long as with one thread. So blocks of rows go to Python threads,
which costs nothing because NumPy lets go of the interpreter, and BLAS gets one thread.
As many are used as BLAS was allowed, up to four, so that ``OPENBLAS_NUM_THREADS``,
threadpoolctl and joblib's workers are obeyed.

Partial sums are cut and added in an order that does not depend on the number of
threads, so that results do not either.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

from threadpoolctl import ThreadpoolController

Task = TypeVar("Task")
Part = TypeVar("Part")

LANES = 4  # parts into which sums are cut, whatever the number of threads
BLOCK_ENTRIES = 1 << 17  # 1 MiB of float64: a block of H stays in the cache
WORTH_SHARING = 3e-3  # seconds of work that are worth more threads
THREADED_ORDER = 2048  # a matrix of this order is worth the threads of BLAS itself


def row_blocks(n_rows: int, width: int) -> list[slice]:
    """Cut ``n_rows`` rows of ``width`` entries into equal slices that fit the cache.

    Examples
    --------
    >>> row_blocks(1000, 256)
    [slice(0, 500, None), slice(500, 1000, None)]
    """
    most = max(64, BLOCK_ENTRIES // max(width, 1))
    n_blocks = max(1, -(-n_rows // most))
    step = max(1, -(-n_rows // n_blocks))
    return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


def share_out(
    work: Callable[[list[Task]], Part], tasks: Sequence[Task], *, threads: bool = True
) -> list[Part]:
    """Return ``work`` done on every lane of ``tasks``, in the order of the lanes."""
    lanes = [list(tasks[lane::LANES]) for lane in range(max(1, min(LANES, len(tasks))))]
    with one_blas_thread() as n_threads:
        if n_threads == 1 or not threads or len(lanes) == 1:
            return [work(lane) for lane in lanes]
        with ThreadPoolExecutor(min(n_threads, len(lanes))) as pool:
            return list(pool.map(work, lanes))


class Workers:
    """Some threads that stay while a search lasts, and one BLAS thread in each of them.

    Examples
    --------
    >>> with Workers(2) as workers:
    ...     workers.map(abs, [-1, 2, -3])
    [1, 2, 3]
    """

    def __init__(self, n_threads: int = 1) -> None:
        self._pool = ThreadPoolExecutor(n_threads) if n_threads > 1 else None
        self._n_threads = n_threads
        self._seconds = 0.0  # of work in the last call

    def map(self, work: Callable[[Task], Part], tasks: Sequence[Task]) -> list[Part]:
        """Return ``work`` done on every task, in their order.

        Little work stays with the caller: handing it over would take longer.
        """
        with one_blas_thread(), _held_limit():
            start = time.perf_counter()
            if self._pool is None or len(tasks) == 1 or self._seconds < WORTH_SHARING:
                done, n = list(map(work, tasks)), 1
            else:
                done, n = list(self._pool.map(work, tasks)), self._n_threads
            self._seconds = n * (time.perf_counter() - start)
            return done

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


class _SharedLimit:
    """One limit on BLAS for all fits that overlap in time: it is the whole process's.

    The thread that sets it, its owner, may share its work out among as many threads as
    BLAS had; whoever comes meanwhile gets one.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._owner: int | None = None
        self._users: Counter[int] = Counter()
        self._before: list[int] = []
        self._held = 0

    def hold(self, change: int) -> None:
        """Count those who want one BLAS thread whatever the size of a matrix."""
        with self._lock:
            self._held += change

    def enter(self) -> int:
        """Limit BLAS to one thread; return how many threads the caller may use instead."""
        with self._lock:
            me = threading.get_ident()
            if not self._users:
                self._owner = me
                self._before = [pool.num_threads for pool in _pools().lib_controllers]
                _set_threads([1] * len(self._before))
            self._users[me] += 1
            return max(self._before, default=1) if me == self._owner else 1

    def leave(self) -> None:
        """Give BLAS its threads back when the last user leaves."""
        with self._lock:
            self._users[threading.get_ident()] -= 1
            self._users += Counter()  # forget those who have left
            if not self._users:
                _set_threads(self._before)

    def lift(self) -> bool:
        """Give BLAS its threads back for a while, if the caller is the only user."""
        with self._lock:
            alone = list(self._users) == [threading.get_ident()] and not self._held
            if alone:
                _set_threads(self._before)
            return alone

    def lower(self) -> None:
        """Limit BLAS again after :meth:`lift`."""
        with self._lock:
            _set_threads([1] * len(self._before))


def _set_threads(numbers: list[int]) -> None:
    """Set the threads of every BLAS, and leave it free for other threads to set.

    From 3.8 on threadpoolctl obeys the first thread that sets a limit and no other
    until that thread lets go; here the last to leave need not be the first that entered.
    """
    for pool, number in zip(_pools().lib_controllers, numbers, strict=True):
        release = getattr(pool, "clear_controlling_thread", lambda **_: None)
        release(force=True)
        pool.set_num_threads(number)
        release(force=True)


_LIMIT = _SharedLimit()


@contextmanager
def one_blas_thread() -> Iterator[int]:
    """Limit BLAS to one thread; yields how many threads the caller may use instead."""
    allowed = _LIMIT.enter()
    try:
        yield allowed
    finally:
        _LIMIT.leave()


@contextmanager
def _held_limit() -> Iterator[None]:
    """Keep to one BLAS thread even for large matrices, so that last digits stay the same."""
    _LIMIT.hold(1)
    try:
        yield
    finally:
        _LIMIT.hold(-1)


@contextmanager
def blas_threads(order: int) -> Iterator[None]:
    """Limit BLAS to one thread, except for matrices so large that its own threads pay."""
    with one_blas_thread():
        lifted = order >= THREADED_ORDER and _LIMIT.lift()
        try:
            yield
        finally:
            if lifted:
                _LIMIT.lower()


@cache
def _pools() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")
