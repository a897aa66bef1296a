"""A bar that shows how far a long computation is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any


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


class PhaseBar:
    """A bar over phases whose steps take different times, with the time left of all of them.

    The bar moves by work, such as a number of operations, which the time left is estimated from;
    beside it stands how many steps of the phase are done.

    Parameters
    ----------
    shown : bool, default=True

    Examples
    --------
    >>> bar = PhaseBar(shown=False)
    >>> bar.plan({"layers": 80.0, "search": 20.0})
    >>> bar.begin("layers", 2, "solving layers")
    >>> bar.advance()
    >>> bar.done
    40.0
    >>> bar.begin("search", 10)
    >>> bar.done
    80.0
    >>> bar.close()
    """

    def __init__(self, *, shown: bool = True) -> None:
        self.done = 0.0  # work
        self._shown, self._work = shown, dict[str, float]()
        self._step = 0.0
        self._count = (0, 0)
        self._has_title = False
        self._bars: Any = None
        self._task: Any = None

    def plan(self, work: Mapping[str, float]) -> None:
        """State the work of phases; their order is that of their first mention."""
        self._work |= work

    def begin(self, phase: str, n_steps: int, title: str | None = None) -> None:
        """Begin a phase; those before it are done. Without a title the text stays as it is."""
        work = self._work.setdefault(phase, float(n_steps))
        names = list(self._work)
        self.done = sum(self._work[name] for name in names[: names.index(phase)])
        self._step = work / max(n_steps, 1)
        self._has_title = title is not None
        if title is not None:
            self._count = (0, n_steps)
        self._show("" if title is not None else None, title)

    def advance(self, note: str | None = None) -> None:
        """Move on by a step of the phase."""
        self.done += self._step
        if self._has_title:
            self._count = (self._count[0] + 1, self._count[1])
        self._show(note)

    def close(self, *, whole: bool = True) -> None:
        """Take the bar away, or leave it where output is no terminal; it ends full if ``whole``."""
        if self._bars is not None:
            if whole:
                self.done = sum(self._work.values())
                self._show(None)
            self._bars.stop()
            self._bars = None

    def _show(self, note: str | None, title: str | None = None) -> None:
        if not self._shown:
            return
        if self._bars is None:
            self._open()
        changed = {} if note is None else {"note": note}
        if title is not None:
            changed["description"] = title
        self._bars.update(
            self._task,
            completed=self.done,
            total=sum(self._work.values()),
            steps="{}/{}".format(*self._count),
            **changed,
        )

    def _open(self) -> None:
        from rich.console import Console  # noqa: PLC0415  most computations show nothing
        from rich.progress import (  # noqa: PLC0415
            BarColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        console = Console(stderr=True)
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[steps]}"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}"),
            console=console,
            transient=console.is_terminal,
        )
        self._bars.start()
        self._task = self._bars.add_task("", total=None, note="", steps="")
