"""Fit, predict, save, load and ask the studio for a given time, under a limit of memory.

``python -m benchmarks.soak --minutes 120``: prints every round's memory, errors by kind, and the
growth of memory in the second half. The studio is a process of its own on the loopback address.
"""

from __future__ import annotations

import argparse
import gc
import http.client
import re
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ecselm import (
    CostDecisionClassifier,
    CSELMClassifier,
    ECSELMClassifier,
    ELMRegressor,
    KELMClassifier,
)
from ecselm.saving import load_model, save_model
from ecselm.tables.read import read_table

ALLOWED_GROWTH = 0.05  # of the memory after the first half
WARM_UP = 0.5  # of the time: caches of the allocator and of imports fill first


@dataclass
class Soak:
    """What happened so far."""

    memory: list[tuple[float, int, int]] = field(default_factory=list)  # seconds, own, studio's
    errors: Counter[str] = field(default_factory=Counter)
    done: Counter[str] = field(default_factory=Counter)

    def attempt(self, name, work, *arguments):
        """Count what was done, or its error."""
        try:
            found = work(*arguments)
        except Exception as error:
            self.errors[f"{name}: {type(error).__name__}: {str(error)[:100]}"] += 1
            return None
        self.done[name] += 1
        return found

    def growth(self, column):
        """Return the relative growth of memory from the middle to the end."""
        sizes = [row[column] for row in self.memory[int(WARM_UP * len(self.memory)) :]]
        third = max(1, len(sizes) // 3)
        return float(np.median(sizes[-third:]) / np.median(sizes[:third]) - 1.0)


def resident(pid="self"):
    """Return the bytes of memory that a process holds."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def models(rng):
    """Return estimators of every kind, small enough for many rounds."""
    seed = int(rng.integers(1 << 30))
    search = {"population_size": 5, "max_epochs": 2, "random_state": seed}
    return [
        ECSELMClassifier(20, ensemble=None, **search),
        CSELMClassifier(20, cost={(1, 0): 5}, random_state=seed),
        KELMClassifier(),
        CostDecisionClassifier(CSELMClassifier(10, random_state=seed), cv=2),
        ELMRegressor(20, random_state=seed),
    ]


def one_round(soak, rng, folder):
    """Fit, predict, save and load every model, and read a table."""
    X = rng.standard_normal((int(rng.integers(60, 400)), 5))
    y = (X[:, 0] + 0.5 * rng.standard_normal(len(X)) > 0.3).astype(int)
    for model in models(rng):
        if soak.attempt("fit", model.fit, X, y) is None:
            continue
        before = soak.attempt("predict", model.predict, X)
        file = folder / "model.skops"
        soak.attempt("save", save_model, model, file)
        loaded = soak.attempt("load", load_model, file)
        if loaded is not None and not np.array_equal(loaded.model.predict(X), before):
            soak.errors["load: other predictions"] += 1
    table = folder / "rows.csv"
    np.savetxt(table, X, delimiter=",", header="a,b,c,d,e", comments="")
    soak.attempt("table", read_table, table)


class Studio:
    """The studio in a process of its own, and what its pages say."""

    def __init__(self, folder):
        table = folder / "patients.csv"
        rng = np.random.default_rng(0)
        rows = [
            f"{a:.3f},{b:.3f},{'ill' if a > 0 else 'well'}" for a, b in rng.normal(size=(80, 2))
        ]
        table.write_text("a,b,state\n" + "\n".join(rows) + "\n")
        options = ["--folder", str(folder / "studio"), "--no-browser", str(table)]
        self.process = subprocess.Popen(  # noqa: S603  our own interpreter
            [sys.executable, "-m", "ecselm", "studio", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        address = None
        while address is None:
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError("the studio did not start")
            address = re.search(r"http://([\d.]+):(\d+)(/p/[^/]+)/\S*token=(\S+)", line)
        self.host, self.port = address[1], int(address[2])
        self.project, self.token = address[3], address[4]
        self.cookie = f"ecselm_studio_{self.port}={self.token}"

    def get(self, path):
        """Return the status of a page."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=120)
        connection.request("GET", path, headers={"Cookie": self.cookie})
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer.status

    def visit(self):
        """Ask for pages that exist, and for some that do not."""
        for path, allowed in (
            (f"{self.project}/data", {200}),
            ("/", {200}),
            ("/p/none/data", {404}),
            (f"{self.project}/../../etc", {404, 400}),
        ):
            status = self.get(path)
            if status not in allowed:
                raise ValueError(f"{path} has status {status}")

    def stop(self):
        """End the process."""
        self.process.terminate()
        self.process.wait(timeout=20)


def main(given=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=120.0)
    parser.add_argument(
        "--memory", type=float, default=4.0, metavar="GB", help="limit (default: 4)"
    )
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(given)
    limit = int(args.memory * 1e9)
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
    rng, soak, start = np.random.default_rng(args.seed), Soak(), time.monotonic()
    with tempfile.TemporaryDirectory() as made, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = Path(made)
        studio = Studio(folder)
        try:
            while time.monotonic() - start < 60 * args.minutes:
                one_round(soak, rng, folder)
                soak.attempt("studio", studio.visit)
                gc.collect()
                own, other = resident(), resident(studio.process.pid)
                soak.memory.append((time.monotonic() - start, own, other))
        finally:
            studio.stop()
    seconds, own, other = soak.memory[-1]
    print(f"{seconds / 60:.1f} minutes, {len(soak.memory)} rounds, {dict(soak.done)}")
    print(f"memory at the end: {own / 1e6:.0f} MB, of the studio {other / 1e6:.0f} MB")
    growths = soak.growth(1), soak.growth(2)
    print(f"growth in the second half: {growths[0]:+.1%}, of the studio {growths[1]:+.1%}")
    print(f"errors: {dict(soak.errors) or 'none'}")
    return 1 if soak.errors or max(growths) > ALLOWED_GROWTH else 0


if __name__ == "__main__":
    sys.exit(main())
