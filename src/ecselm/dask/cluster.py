"""Passes over the partitions of a table on a cluster, in sums whose order never changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import add as plus
from typing import Any

import dask
import numpy as np
from distributed import Client, default_client

from ecselm._typing import AnyArray, IntArray
from ecselm.dask.table import Form, Table, read_block
from ecselm.outofcore import RowBlock

FAN_IN = 8  # sums that are added up at a time


def client_or_default(client: Client | None) -> Client:
    """Return the client given, or the default client of this process.

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
    """Return the results of delayed tasks; if an error or Ctrl-C stops that, cancel all tasks.

    Tasks of a dead worker are run again by others: they depend on their partition alone.
    """
    # Data travel within the tasks, where a dead worker cannot lose them.
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"}):
        futures = client.compute(list(tasks))
    try:
        return list(client.gather(futures))
    except BaseException:
        client.cancel(futures, force=True)
        raise


def tree_sum(parts: Sequence[Any], add: Callable[[Any, Any], Any]) -> Any:
    """Return the delayed sum of delayed parts, in an order that their positions alone decide.

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


@dataclass(frozen=True, slots=True)
class Partial:
    """What a pass has found in some partitions."""

    sizes: tuple[int, ...]  # rows of every partition
    value: Any
    error: str | None = None  # in the first partition that has one

    def added(self, other: Partial, add: Callable[[Any, Any], Any]) -> Partial:
        """Return what was found in both."""
        error = self.error or other.error
        value = add(self.value, other.value) if error is None else None
        return Partial((*self.sizes, *other.sizes), value, error)


class DaskBlocks:
    """The partitions of a table as blocks of rows.

    Parameters
    ----------
    client : distributed.Client
    table : Table
    has_labels : bool
        Whether ``y`` holds labels of classes, not real targets.
    """

    reads_targets_alone = True

    def __init__(self, client: Client, table: Table, *, has_labels: bool) -> None:
        self.has_labels = has_labels
        self._client, self._table, self._sizes = client, table, table.sizes

    @property
    def names(self) -> AnyArray | None:
        """Return the names of the columns, if they have any."""
        return self._table.form.names

    @property
    def sizes(self) -> IntArray:
        """Return the number of rows of every partition, counted where it is not known."""
        if self._sizes is None:
            self.reduce(len, plus, "counting the rows", targets_alone=True)
        return np.asarray(self._sizes, dtype=np.intp)

    def reduce(
        self,
        function: Callable[[RowBlock], Any],
        add: Callable[[Any, Any], Any],
        purpose: str,  # a cluster has a dashboard
        *,
        targets_alone: bool = False,
        placed: bool = False,
    ) -> Any:
        """Return the sum of what a function returns of every partition, in a fixed order."""
        n = len(self._table)
        starts: list[int | None] = [None] * n
        if placed:
            starts = (np.cumsum(self.sizes) - self.sizes).tolist()
        task = dask.delayed(_on_partition, pure=False)
        # One copy of the function, which may hold layers, serves all tasks of a worker.
        given = dask.delayed(
            (function, self._table.form, self.has_labels), pure=False, traverse=False
        )
        tasks = [
            task(number, _without_inputs(part) if targets_alone else part, given, start)
            for number, (part, start) in enumerate(zip(self._table.parts, starts, strict=True))
        ]
        (found,) = computed(self._client, [tree_sum(tasks, partial(Partial.added, add=add))])
        if found.error is not None:
            raise ValueError(found.error)
        self._sizes = np.array(found.sizes, dtype=np.intp)
        if not self._sizes.any():
            raise ValueError("X must have at least one row, got none in any partition")
        return found.value


def _without_inputs(part: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in part.items() if name != "X"}


def _on_partition(
    number: int,
    part: dict[str, Any],
    given: tuple[Callable[[RowBlock], Any], Form, bool],
    start: int | None,
) -> Partial:
    """Return what a function returns of a partition, or the error it raises.

    Errors are returned, not raised: which of several bad partitions is refused must not
    depend on which worker was faster.
    """
    function, form, has_labels = given
    try:
        block = read_block(part, form, has_labels=has_labels)
        if start is not None:
            block = replace(block, places=np.arange(start, start + len(block)))
        return Partial((len(block),), function(block))
    except (TypeError, ValueError) as error:
        return Partial((), None, f"{error}, in partition {number}")
