"""A bar that shows how far a long computation is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar(
    title: str, total: int, *, shown: bool = True, n_done: int = 0
) -> Iterator[Callable[[str], None]]:
    """Show a bar on the error stream, and yield the function that advances it by one step.

    Parameters
    ----------
    title : str
    total : int
        Number of steps.
    shown : bool, default=True
    n_done : int, default=0
        Steps that were done before.

    Examples
    --------
    >>> with progress_bar("search", 2, shown=False) as advance:
    ...     for score in (0.5, 0.75):
    ...         advance(f"best {score}")
    """
    if not shown:
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415  most computations show nothing
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    console = Console(stderr=True)  # of its own: one that is shared takes a single bar at a time
    with Progress(*columns, console=console, transient=console.is_terminal) as bars:
        task = bars.add_task(title, total=total, completed=n_done, note="")
        yield lambda note: bars.update(task, advance=1, note=note)
