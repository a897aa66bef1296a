"""Work on the cluster: partition by partition, in sums whose order never changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import dask
from distributed import Client, default_client

FAN_IN = 8  # sums that are added up at a time


def client_or_default(client: Client | None) -> Client:
    """Return the client given, or the one that this process talks to.

    Examples
    --------
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     client_or_default(None) is client
    True
    """
    if client is not None:
        return client
    try:
        return default_client()
    except ValueError as error:
        raise ValueError(
            "client must be a distributed.Client where none has been made before, got None"
        ) from error


def computed(client: Client, tasks: Sequence[Any]) -> list[Any]:
    """Return the results of delayed tasks; if anything stops that, nothing goes on running.

    Cut by a dead worker, tasks are run again by others: they depend on their partition alone.
    """
    # The parts of all rows travel within the tasks, where a dead worker cannot lose them.
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"}):
        futures = client.compute(list(tasks))
    try:
        return list(client.gather(futures))
    except BaseException:
        client.cancel(futures, force=True)
        raise


def tree_sum(parts: Sequence[Any], add: Callable[[Any, Any], Any]) -> Any:
    """Return the delayed sum of delayed parts, in an order that their places alone decide.

    Examples
    --------
    >>> parts = [dask.delayed(str)(i) for i in range(10)]
    >>> tree_sum(parts, lambda a, b: a + b).compute(scheduler="synchronous")
    '0123456789'
    """
    level = list(parts)
    while len(level) > 1:
        level = [
            dask.delayed(_added, pure=False)(level[i : i + FAN_IN], add)
            for i in range(0, len(level), FAN_IN)
        ]
    return level[0]


def _added(parts: list[Any], add: Callable[[Any, Any], Any]) -> Any:
    total = parts[0]
    for part in parts[1:]:
        total = add(total, part)
    return total
