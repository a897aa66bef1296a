"""Start, watch and cancel the one process that trains."""

from __future__ import annotations

import contextlib
import secrets
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, replace

from ecselm._files import FileWriteError
from ecselm._processes import ORPHANED
from ecselm.studio.project import Project, Workspace
from ecselm.studio.runs import FAILED, LOG, Progress, Run

# The process ends when its input does, that is when the server is gone, and watches for that before
# it imports anything else, which may take long on a busy computer.
START = f"""
import os, sys, threading
def watch():
    sys.stdin.buffer.read()
    os._exit({ORPHANED})
threading.Thread(target=watch, daemon=True).start()
from ecselm.studio.worker import main
main(sys.argv[1])
"""
PATIENCE = 3.0  # seconds that a process has to end before it is killed


@dataclass(slots=True)
class _Child:
    """A training process and the run it works on."""

    project_id: str
    name: str
    process: subprocess.Popen[bytes]


class Trainer:
    """The trainings of a workspace: at most one runs at a time.

    Parameters
    ----------
    workspace : Workspace
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._child: _Child | None = None
        self._lock = threading.RLock()

    def start(self, project: Project) -> Run:
        """Start to train; raise ValueError while another training runs."""
        project.settings.request()
        with self._lock:
            self._await_end()
            if self._is_alive():
                raise ValueError(
                    "one training runs at a time: wait for the other one, or cancel it"
                )
            self.close()  # the pipe of a process that has ended
            name = f"run-{int(time.time())}-{secrets.token_hex(2)}"
            place = self._workspace.place(project.id)
            run = Run.create(place / name, project)
            kept = [one for one in (self._result(project),) if one is not None]
            try:
                with (run.folder / LOG).open("wb") as log:
                    self._workspace.change(
                        project.id, runs=(*(one.folder.name for one in kept), name)
                    )
                    process = subprocess.Popen(  # noqa: S603
                        [sys.executable, "-c", START, str(run.folder)],
                        stdin=subprocess.PIPE,
                        stdout=log,
                        stderr=log,
                        start_new_session=True,  # Ctrl-C in the terminal is for the server
                    )
            except BaseException:
                shutil.rmtree(run.folder, ignore_errors=True)
                raise
            self._child = _Child(project.id, name, process)
            for old in set(project.runs) - {one.folder.name for one in kept}:
                shutil.rmtree(place / old, ignore_errors=True)
        return run

    def cancel(self, project: Project) -> None:
        """End the training of a project, if one runs."""
        with self._lock:
            child = self._child
            if child is None or child.project_id != project.id or not self._is_alive():
                return
            run = Run(self._workspace.place(project.id) / child.name)
            self._end(child)
            if run.progress().state == "running":
                with contextlib.suppress(FileWriteError):  # it is then shown as interrupted
                    run.report(replace(run.progress(), state="cancelled", stage="cancelled"))

    def close(self) -> None:
        """End the training that runs; it can be started again."""
        with self._lock:
            if self._child is not None:
                self._end(self._child)

    def current(self, project: Project) -> tuple[Run, Progress] | None:
        """Return the latest run of a project, and how far it is."""
        with self._lock:
            if not project.runs:
                return None
            run = Run(self._workspace.place(project.id) / project.runs[-1])
            alive = self._is_alive(project.id, run.folder.name)  # before the progress is read
            try:
                progress = run.progress()
            except (OSError, ValueError):  # the folder was deleted by hand
                return None
            if progress.state != "running" or alive:
                return run, progress
            child = self._child
            if child is not None and child.name == run.folder.name and child.process.returncode:
                reason = _logged(run)
                if not reason:
                    ended = f"the training process ended with code {child.process.returncode}"
                    reason = f"{ended}, see {run.folder}"
                progress = replace(progress, state="failed", message=reason)
                with contextlib.suppress(FileWriteError):  # it is found again by the same way
                    run.report(progress)
                return run, progress
            return run, replace(progress, state="interrupted")

    def result(self, project: Project) -> Run | None:
        """Return the latest run that has finished."""
        with self._lock:
            return self._result(project)

    def _result(self, project: Project) -> Run | None:
        for name in reversed(project.runs):
            run = Run(self._workspace.place(project.id) / name)
            with contextlib.suppress(OSError, ValueError):
                if run.progress().state == "done":
                    return run
        return None

    def _is_alive(self, project_id: str | None = None, name: str | None = None) -> bool:
        child = self._child
        if child is None or child.process.poll() is not None:
            return False
        return project_id is None or (child.project_id, child.name) == (project_id, name)

    def _await_end(self) -> None:
        """Wait for a process that has done its work and is about to end."""
        child = self._child
        if child is None or not self._is_alive():
            return
        with contextlib.suppress(KeyError, OSError, ValueError, subprocess.TimeoutExpired):
            run = Run(self._workspace.place(child.project_id) / child.name)
            if run.progress().state != "running":
                child.process.wait(PATIENCE)

    def _end(self, child: _Child) -> None:
        if child.process.stdin is not None:
            with contextlib.suppress(OSError):
                child.process.stdin.close()
        if child.process.poll() is None:
            child.process.terminate()
            try:
                child.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                child.process.kill()
                child.process.wait()


def _logged(run: Run) -> str:
    """Return why a training failed from its log, empty if that does not say."""
    try:
        lines = (run.folder / LOG).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return next((one.removeprefix(FAILED) for one in lines if one.startswith(FAILED)), "")
