"""Jobs for runs that are killed or raced, in a module that is quick to import."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

from ecselm.paper.jobs import JobResult, Measurement


@dataclass(frozen=True)
class Sleeping:
    """A job that writes which process runs it, and then waits."""

    key: str
    folder: Path
    seconds: float = 600.0

    @property
    def title(self):
        return self.key

    def run(self):
        (self.folder / f"worker-{os.getpid()}").touch()
        time.sleep(self.seconds)
        return JobResult(self.key, (Measurement("value", 1.0),))


@dataclass(frozen=True)
class Quick:
    """A job that is done at once."""

    key: str
    title = "quick"

    def run(self):
        return JobResult(self.key, (Measurement("value", 1.0),))
