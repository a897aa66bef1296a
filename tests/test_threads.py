"""Threads: results do not depend on them, and the threads of BLAS are restored."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from threadpoolctl import ThreadpoolController, threadpool_limits

from ecselm._threads import (
    LANES,
    THREADED_ORDER,
    Workers,
    blas_threads,
    one_blas_thread,
    row_blocks,
    share_out,
)

TIMEOUT = 10.0  # seconds to wait for another thread


def allowed():
    """Return the number of threads of every BLAS."""
    pools = ThreadpoolController().select(user_api="blas")
    return [pool.num_threads for pool in pools.lib_controllers]


@pytest.fixture
def two_threads():
    """Allow BLAS two threads, or skip where they cannot be set."""
    with threadpool_limits(2, user_api="blas"):
        if set(allowed()) != {2}:
            pytest.skip("needs a BLAS that takes two threads")
        yield


@pytest.mark.parametrize(("n_rows", "width"), [(0, 5), (1, 1), (1000, 256), (700, 10**9), (9, 0)])
def test_blocks_hold_every_row_once_in_order(n_rows, width):
    blocks = row_blocks(n_rows, width)
    rows = [row for block in blocks for row in range(n_rows)[block]]
    assert rows == list(range(n_rows))
    assert all(block.stop - block.start >= 64 for block in blocks[:-1])


@pytest.mark.parametrize("n_tasks", [0, 1, 3, 4, 11])
def test_lanes_hold_every_task_once(n_tasks):
    lanes = share_out(list, range(n_tasks))
    assert len(lanes) == max(1, min(n_tasks, LANES))
    assert sorted(task for lane in lanes for task in lane) == list(range(n_tasks))
    assert lanes == [list(range(lane, n_tasks, LANES)) for lane in range(len(lanes))]


@pytest.mark.parametrize("n_tasks", [1, 3, 50])
def test_two_threads_give_the_sums_of_one(rng, two_threads, n_tasks):
    tasks = [rng.normal(size=(40, 30)).astype(np.float32) for _ in range(n_tasks)]

    def add_up(lane):
        return sum(H.T @ H for H in lane)

    parts = share_out(add_up, tasks)
    with threadpool_limits(1, user_api="blas"):
        alone = share_out(add_up, tasks)
    unthreaded = share_out(add_up, tasks, threads=False)
    for part, other, third in zip(parts, alone, unthreaded, strict=True):
        assert_array_equal(part, other)
        assert_array_equal(part, third)


def test_two_allowed_threads_work_at_the_same_time(two_threads):
    meeting = threading.Barrier(2)
    share_out(lambda lane: meeting.wait(TIMEOUT), range(2))


@pytest.mark.parametrize("how", ["limit", "threads"])
def test_one_allowed_thread_is_the_caller(two_threads, how):
    with threadpool_limits(1 if how == "limit" else 2, user_api="blas"):
        workers = share_out(lambda lane: threading.get_ident(), range(9), threads=how == "limit")
    assert set(workers) == {threading.get_ident()}


def test_blas_has_one_thread_during_the_work(two_threads):
    for lane in share_out(lambda lane: allowed(), range(9)):
        assert set(lane) == {1}
    assert set(allowed()) == {2}


def test_nested_use_may_use_threads_and_restores_blas_at_the_end(two_threads):
    with one_blas_thread() as outer:
        with one_blas_thread() as inner:
            assert (outer, inner) == (2, 2)
        assert set(allowed()) == {1}
    assert set(allowed()) == {2}


def test_lanes_get_one_thread_each(two_threads):
    def given(lane):
        with one_blas_thread() as n_threads:
            return n_threads

    assert set(share_out(given, range(9))) == {1}


def test_large_matrices_get_the_threads_of_blas_temporarily(two_threads):
    with one_blas_thread():
        with blas_threads(THREADED_ORDER):
            assert set(allowed()) == {2}
        assert set(allowed()) == {1}
        with pytest.raises(KeyError), blas_threads(THREADED_ORDER):
            raise KeyError
        assert set(allowed()) == {1}
    assert set(allowed()) == {2}


def test_work_may_call_share_out(two_threads):
    def sums(lane):
        return sum(sum(part) for part in share_out(list, lane))

    assert sum(share_out(sums, range(100))) == sum(range(100))
    assert set(allowed()) == {2}


@pytest.mark.parametrize("limit", [1, 2])
def test_an_exception_reaches_the_caller_and_restores_the_threads_of_blas(two_threads, limit):
    def fail(lane):
        if 2 in lane:
            raise ZeroDivisionError("the third lane")
        return lane

    with threadpool_limits(limit, user_api="blas"):
        with pytest.raises(ZeroDivisionError, match="the third lane"):
            share_out(fail, range(9))
        assert set(allowed()) == {limit}
        assert len(share_out(list, range(9))) == LANES
        assert set(allowed()) == {limit}


def test_an_exception_in_a_block_restores_the_threads_of_blas(two_threads):
    with pytest.raises(KeyError), one_blas_thread():
        raise KeyError
    assert set(allowed()) == {2}
    with one_blas_thread() as n_threads:
        assert n_threads == 2


@pytest.mark.parametrize("first_out", ["first in", "last in"])
def test_the_last_of_two_overlapping_users_restores_the_threads_of_blas(two_threads, first_out):
    entered, leave, left = (threading.Event() for _ in range(3))
    given = []

    def other():
        with one_blas_thread() as n_threads:
            given.append(n_threads)
            entered.set()
            leave.wait(TIMEOUT)
        left.set()

    thread = threading.Thread(target=other)
    with one_blas_thread() as n_threads:
        thread.start()
        assert entered.wait(TIMEOUT)
        if first_out == "last in":
            leave.set()
            assert left.wait(TIMEOUT)
        assert set(allowed()) == {1}
    if first_out == "first in":
        assert set(allowed()) == {1}
        leave.set()
    thread.join(TIMEOUT)
    assert (n_threads, given) == (2, [1])
    assert set(allowed()) == {2}


def test_other_threads_may_set_limits_once_the_work_is_done():
    with threadpool_limits(user_api="blas"):
        before = set(allowed())
    with ThreadPoolExecutor(1) as pool:
        pool.submit(share_out, list, range(9)).result(TIMEOUT)
        assert set(allowed()) == before
        other = 1 if max(before, default=1) > 1 else 2
        with threadpool_limits(other, user_api="blas"):
            assert set(allowed()) <= {other}
    assert set(allowed()) == before


def test_concurrent_use_from_many_threads_is_safe(two_threads):
    totals = []

    def repeat():
        for _ in range(20):
            totals.append(sum(share_out(sum, range(100))))  # noqa: PERF401

    threads = [threading.Thread(target=repeat) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(TIMEOUT)
    assert totals == [sum(range(100))] * 80
    assert set(allowed()) == {2}


@pytest.mark.parametrize("order", [1, THREADED_ORDER - 1, THREADED_ORDER])
def test_only_large_matrices_keep_the_threads_of_blas(two_threads, order):
    with blas_threads(order):
        assert set(allowed()) == {2 if order >= THREADED_ORDER else 1}
    assert set(allowed()) == {2}


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_workers_return_results_in_order_of_tasks(n_threads):
    with Workers(n_threads) as workers:
        for n_tasks in (0, 1, 2, 20):
            tasks = list(range(n_tasks))
            assert workers.map(lambda task: 10 * task, tasks) == [10 * task for task in tasks]


def test_two_workers_work_at_the_same_time():
    meeting = threading.Barrier(2)
    with Workers(2) as workers:
        workers.map(lambda task: meeting.wait(TIMEOUT), [1, 2])


def test_short_work_runs_in_the_calling_thread(monkeypatch):
    monkeypatch.setattr("ecselm._threads.WORTH_SHARING", 0.05)
    meeting = threading.Barrier(2)
    with Workers(2) as workers:
        workers.map(lambda task: time.sleep(0.05), [1, 2])
        workers.map(lambda task: meeting.wait(TIMEOUT), [1, 2])
        workers.map(abs, [1, 2])
        for _ in range(3):
            threads = workers.map(lambda task: threading.get_ident(), [1, 2])
    assert set(threads) == {threading.get_ident()}


@pytest.mark.parametrize(("n_threads", "n_tasks"), [(1, 3), (2, 1)])
def test_one_worker_or_one_task_runs_in_the_calling_thread(n_threads, n_tasks):
    with Workers(n_threads) as workers:
        threads = workers.map(lambda task: threading.get_ident(), range(n_tasks))
    assert set(threads) == {threading.get_ident()}


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("order", [10, THREADED_ORDER])
def test_workers_have_one_blas_thread_each_whatever_the_matrix(two_threads, n_threads, order):
    def limits(task):
        with blas_threads(order):
            return allowed()

    with Workers(n_threads) as workers:
        for found in workers.map(limits, range(4)):
            assert set(found) == {1}
        assert set(allowed()) == {2}
    with blas_threads(THREADED_ORDER):
        assert set(allowed()) == {2}  # large matrices use the threads of BLAS again


@pytest.mark.parametrize("n_threads", [1, 2])
def test_an_exception_of_a_worker_reaches_the_caller(two_threads, n_threads):
    def fail(task):
        if task == 3:
            raise ZeroDivisionError("the fourth task")
        return task

    with Workers(n_threads) as workers:
        with pytest.raises(ZeroDivisionError, match="the fourth task"):
            workers.map(fail, range(9))
        assert workers.map(fail, [1, 2]) == [1, 2]
    assert set(allowed()) == {2}
    with blas_threads(THREADED_ORDER):
        assert set(allowed()) == {2}


def test_workers_persist_between_calls_and_stop_at_the_end():
    before = threading.active_count()
    with Workers(2) as workers:
        seen = set()
        for _ in range(20):
            seen.update(workers.map(lambda task: threading.get_ident(), range(4)))
        assert len(seen) <= 2
    assert threading.active_count() == before
