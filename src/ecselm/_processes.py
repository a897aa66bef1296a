"""Worker processes that end with the process that started them."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
import time

ORPHANED = 3  # exit code of a process whose parent has ended
_WATCH = "ecselm-parent-watch"
_POOLED = "LokyProcess"  # how joblib names the workers of its pool


def end_with_parent() -> None:
    """End this process within a second of its parent, if it is a worker of one.

    Workers of a killed process would finish their work, which is lost, and then wait for more.
    """
    parent = multiprocessing.parent_process()
    if (
        parent is None
        or parent.pid is None
        or any(one.name == _WATCH for one in threading.enumerate())
    ):
        return
    threading.Thread(target=_watch, args=(parent.pid,), name=_WATCH, daemon=True).start()


def end_pooled_with_parent() -> None:
    """Do the same in a worker of joblib's process pool; elsewhere the process is the caller's."""
    if multiprocessing.current_process().name.startswith(_POOLED):
        end_with_parent()


def _watch(pid: int) -> None:
    if sys.platform == "win32":
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
    else:
        while os.getppid() == pid:
            time.sleep(0.5)
    os._exit(ORPHANED)
