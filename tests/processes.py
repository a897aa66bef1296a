"""Work in forked processes, one at a time, that are interrupted and killed at random moments."""

import os
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
KEPT, LOST = 10, 11  # exit codes of work that is interrupted; 0 if nothing is missing


def fork_each(live):
    """Let ``live(name)`` return the exit code of a process of its own, for every name read.

    An empty line waits for its end: until then its number is not given to another process.
    """
    process = 0
    for line in sys.stdin:
        name = line.rstrip("\n")
        if name:
            process = os.fork()
            if process == 0:
                try:
                    os._exit(live(name))
                except BaseException:
                    traceback.print_exc()
                    os._exit(1)
            answer = process
        else:
            _, status = os.waitpid(process, 0)
            answer = os.waitstatus_to_exitcode(status)
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()


def mark_start(folder, name):
    """Take Ctrl-C as an interactive Python does, and say that the work begins."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    Path(folder, f"{name}.started").touch()


class Forked:
    """A program around :func:`fork_each`, and the processes that it makes.

    Parameters
    ----------
    *command : str
        File and arguments of the program, whose last argument is a folder of its own.
    """

    def __init__(self, *command):
        self._folder = Path(command[-1])
        self._parent = subprocess.Popen(  # noqa: S603
            [sys.executable, *map(str, command)],
            env={**os.environ, **ONE_THREAD},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._parent.communicate(timeout=60)

    def _ask(self, line):
        self._parent.stdin.write(f"{line}\n")
        self._parent.stdin.flush()
        return int(self._parent.stdout.readline())

    def begin(self, name):
        """Let a process begin."""
        self._process = self._ask(name)

    def end(self):
        """Wait for the end of the process and return its exit code."""
        return self._ask("")

    def send(self, number):
        """Send the process a signal; it has not been waited for, so that it is still there."""
        os.kill(self._process, number)

    def kill(self):
        """Kill the process, unless it has ended; return whether that was needed."""
        self.send(signal.SIGKILL)
        return self.end() == -signal.SIGKILL

    def run(self, name, number=0, delay=0.0):
        """Return exit code and seconds of a process that gets a signal after a delay."""
        self.begin(name)
        started, start = self._folder / f"{name}.started", time.monotonic()
        while not started.exists() and time.monotonic() - start < 60:
            time.sleep(1e-3)
        start = time.monotonic()
        if number:
            time.sleep(delay)
            self.send(number)
        return self.end(), time.monotonic() - start


def cut_often(forked, rng, n_moments, check):
    """Interrupt and kill work at random moments, and resume it each time; count the ends.

    Half of the moments get SIGINT, half SIGKILL. Names are "whole", "timed", and "I cut" and
    "I resumed" for the moment I.

    Parameters
    ----------
    forked : Forked
    rng : numpy.random.Generator
    n_moments : int
    check : callable
        Called with the name and the kind of end of every process: "kept", "lost", "killed",
        "whole".
    """
    ends = Counter()
    for name in ("whole", "timed"):
        code, seconds = forked.run(name)
        assert code == 0
        check(name, "whole")
    for i in range(n_moments):
        number = (signal.SIGINT, signal.SIGKILL)[i % 2]
        code, _ = forked.run(f"{i} cut", number, rng.uniform(0.0, seconds))
        end = {0: "whole", KEPT: "kept", LOST: "lost", -signal.SIGKILL: "killed"}[code]
        assert (end in {"kept", "lost"}) <= (number == signal.SIGINT)
        check(f"{i} cut", end)
        ends[end] += 1
        code, _ = forked.run(f"{i} resumed")
        assert code == 0
        check(f"{i} resumed", "whole")
        ends["resumed"] += 1
    return ends
