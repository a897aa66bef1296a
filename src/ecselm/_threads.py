"""Threads: distribute blocks of rows over Python threads with one BLAS thread each.

NumPy and SciPy wheels contain an OpenBLAS each, whose idle threads spin. Products of
blocks that fit the cache are too short for them: a fit with two such pools of two
threads takes twice as long as with one thread. So blocks of rows go to Python threads,
which run in parallel because NumPy releases the interpreter lock, and BLAS gets one
thread. The number of threads is what BLAS was allowed, up to four, so that
``OPENBLAS_NUM_THREADS``, threadpoolctl and joblib's workers are respected.

Partial sums are split and added in an order that does not depend on the number of
threads, so the results do not either.
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
Result = TypeVar("Result")

LANES = 4  # partial sums, whatever the number of threads
BLOCK_ENTRIES = 1 << 17  # 1 MiB of float64: a block of H stays in the cache
WORTH_SHARING = 3e-3  # seconds of work above which more threads pay
THREADED_ORDER = 2048  # order of a matrix above which the threads of BLAS itself pay


def row_blocks(n_rows: int, width: int) -> list[slice]:
    """Split ``n_rows`` rows of ``width`` entries into equal slices that fit the cache.

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
    work: Callable[[list[Task]], Result], tasks: Sequence[Task], *, threads: bool = True
) -> list[Result]:
    """Apply ``work`` to every lane of ``tasks`` and return the results in order of lanes."""
    lanes = [list(tasks[lane::LANES]) for lane in range(max(1, min(LANES, len(tasks))))]
    with one_blas_thread() as n_threads:
        if n_threads == 1 or not threads or len(lanes) == 1:
            return [work(lane) for lane in lanes]
        with ThreadPoolExecutor(min(n_threads, len(lanes))) as pool:
            return list(pool.map(work, lanes))


class Workers:
    """A pool of threads for the duration of a search, with one BLAS thread in each.

    Examples
    --------
    >>> with Workers(2) as workers:
    ...     workers.map(abs, [-1, 2, -3])
    [1, 2, 3]
    """

    def __init__(self, n_threads: int = 1) -> None:
        self._pool = ThreadPoolExecutor(n_threads) if n_threads > 1 else None
        self._n_threads = n_threads
        self._seconds = 0.0  # total work of the last call

    def map(self, work: Callable[[Task], Result], tasks: Sequence[Task]) -> list[Result]:
        """Apply ``work`` to every task and return the results in order.

        Short work runs in the calling thread: starting threads would take longer.
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
    """One limit on BLAS for all fits that overlap in time, because BLAS has one per process.

    The thread that sets it, its owner, may use as many threads as BLAS had; a thread that
    enters while the limit is set may use one.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._owner: int | None = None
        self._users: Counter[int] = Counter()
        self._before: list[int] = []
        self._held = 0

    def hold(self, change: int) -> None:
        """Change the number of users that need one BLAS thread for matrices of any size."""
        with self._lock:
            self._held += change

    def enter(self) -> int:
        """Limit BLAS to one thread; return the number of threads the caller may use instead."""
        with self._lock:
            me = threading.get_ident()
            if not self._users:
                self._owner = me
                self._before = [pool.num_threads for pool in _pools().lib_controllers]
                _set_threads([1] * len(self._before))
            self._users[me] += 1
            return max(self._before, default=1) if me == self._owner else 1

    def leave(self) -> None:
        """Restore the threads of BLAS when the last user leaves."""
        with self._lock:
            self._users[threading.get_ident()] -= 1
            self._users += Counter()  # drop the users that have left
            if not self._users:
                _set_threads(self._before)

    def lift(self) -> bool:
        """Restore the threads of BLAS temporarily, if the caller is the only user."""
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
    """Set the threads of every BLAS, and allow other threads to set them.

    Since 3.8, threadpoolctl accepts limits only from the first thread that sets one, until
    that thread releases it; here the last user to leave need not be the first that entered.
    """
    for pool, number in zip(_pools().lib_controllers, numbers, strict=True):
        release = getattr(pool, "clear_controlling_thread", lambda **_: None)
        release(force=True)
        pool.set_num_threads(number)
        release(force=True)


_LIMIT = _SharedLimit()


@contextmanager
def one_blas_thread() -> Iterator[int]:
    """Limit BLAS to one thread; yield the number of threads the caller may use instead."""
    allowed = _LIMIT.enter()
    try:
        yield allowed
    finally:
        _LIMIT.leave()


@contextmanager
def _held_limit() -> Iterator[None]:
    """Keep one BLAS thread even for large matrices, so that the last digits stay the same."""
    _LIMIT.hold(1)
    try:
        yield
    finally:
        _LIMIT.hold(-1)


@contextmanager
def blas_threads(order: int) -> Iterator[None]:
    """Limit BLAS to one thread, except for matrices of at least ``THREADED_ORDER``."""
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
