"""A terminal driven by tests: what is typed, and what comes back."""

import errno
import os
import pty
import select
import signal
import subprocess
import sys
import time

CTRL_C = b"\x03"
# Keys become signals only for a process whose own terminal it is, and which does not inherit that
# they are ignored, as a job in the background does.
IN_A_TERMINAL = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.login_tty(os.dup(0))
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


class Terminal:
    """The command in a terminal of its own."""

    def __init__(self, *arguments, folder):
        self._master, slave = pty.openpty()
        self._process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-c", IN_A_TERMINAL, "-m", "ecselm", *map(str, arguments)],
            cwd=folder,
            stdin=slave,
            stdout=slave,
            stderr=slave,
        )
        os.close(slave)
        self.shown = b""

    def wait_for(self, text, seconds=60):
        """Read until the text is on the screen."""
        end = time.monotonic() + seconds
        while text.encode() not in self.shown:
            if not self._read(end - time.monotonic()):
                raise AssertionError(f"{text!r} is not on the screen:\n{self.text}")

    def type(self, keys):
        """Press keys."""
        os.write(self._master, keys)

    def end(self, seconds=60):
        """Read what is left, and return the exit code."""
        end = time.monotonic() + seconds
        while self._read(end - time.monotonic()):
            pass
        return self._process.wait(max(0.1, end - time.monotonic()))

    @property
    def text(self):
        """Return all that was on the screen."""
        return self.shown.decode(errors="replace")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
        os.close(self._master)

    def _read(self, seconds):
        ready, _, _ = select.select([self._master], [], [], max(0.0, seconds))
        if not ready:
            return False
        try:
            part = os.read(self._master, 65536)
        except OSError as error:
            if error.errno != errno.EIO:  # the other end is closed
                raise
            return False
        self.shown += part
        return bool(part)
