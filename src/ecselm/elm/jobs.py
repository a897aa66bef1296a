"""How many threads a search may use."""

from __future__ import annotations

from multiprocessing import parent_process

from joblib import cpu_count, effective_n_jobs
from joblib.parallel import get_active_backend

from ecselm._threads import one_blas_thread


def thread_number(n_jobs: int | None) -> int:
    """Return the threads that ``n_jobs`` stands for, here.

    Inside a worker of joblib, as in a grid search with jobs of its own, there are no more
    than BLAS was left: joblib divides the cores among its processes. Inside one of its
    threads there is one, because nobody divides the cores among threads.
    """
    backend, _ = get_active_backend()
    # A backend may count the cores of a cluster, but threads are of this machine.
    most = n_jobs if n_jobs is not None and n_jobs > 0 else cpu_count()
    threads = min(int(effective_n_jobs(n_jobs)), most)
    if not backend.nesting_level:
        return threads
    if parent_process() is None:
        return 1
    with one_blas_thread() as allowed:
        return min(threads, allowed)
