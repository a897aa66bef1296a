"""Defaults of four methods by the number of training rows: ``python -m benchmarks.sizes``.

Each fit runs on one core in a process of its own, so that its peak memory is its own. Figures go
to ``benchmarks/results/sizes.json`` and into a table of ``docs/bench_uci.md``; ``--show`` fills
the table from the stored figures. Needs ``ECSELM_DATA`` and the extra ``compare``.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.results_page import END, HERE, KEPT
from benchmarks.tables import table
from ecselm import ECSELMClassifier
from ecselm.paper.bench.probabilities import log_loss
from ecselm.paper.datasets import load_bank_marketing

PAGE = HERE.parent / "docs" / "bench_uci.md"
FILE = KEPT / "sizes.json"
BEGIN = "<!-- sizes -->\n"
BASELINE = "LightGBM"
OURS = "ECSELM, ensemble"
SIZES = (1000, 5000, 10_000, 20_000, 100_000, 200_000)
FEW_ROWS = 5000  # up to which a fit is repeated, since a short one is not timed well
N_TIMES = 3
LIMIT = 900.0  # seconds of a process
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
Rows = tuple[np.ndarray, np.ndarray]


def bank(rng: np.random.Generator) -> tuple[Rows, Rows]:
    """Return bank marketing in a random order, 10 000 rows for test."""
    data = load_bank_marketing()
    order = rng.permutation(len(data.y))
    X, y = data.X[order], np.searchsorted(data.classes, data.y[order])
    return (X[10_000:], y[10_000:]), (X[:10_000], y[:10_000])


def interactions(rng: np.random.Generator) -> tuple[Rows, Rows]:
    """Return 20 normal inputs; the log odds are products of three pairs and two curves."""
    X = rng.standard_normal((220_000, 20))
    log_odds = 2.0 * X[:, 0] * X[:, 1] + 1.5 * X[:, 2] * X[:, 3] - X[:, 4] * X[:, 5]
    log_odds += 1.5 * np.sin(2.0 * X[:, 6]) + X[:, 7] ** 2 - 1.0
    y = (rng.logistic(size=len(X)) < log_odds).astype(np.intp)
    return (X[20_000:], y[20_000:]), (X[:20_000], y[:20_000])


def friedman(rng: np.random.Generator) -> tuple[Rows, Rows]:
    """Return 10 uniform inputs; classes are thirds of Friedman's first function with noise."""
    X = rng.random((220_000, 10))
    value = 10.0 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20.0 * (X[:, 2] - 0.5) ** 2
    value += 10.0 * X[:, 3] + 5.0 * X[:, 4] + 2.0 * rng.standard_normal(len(X))
    y = np.searchsorted(np.quantile(value, [1 / 3, 2 / 3]), value)
    return (X[20_000:], y[20_000:]), (X[:20_000], y[:20_000])


TABLES: dict[str, Callable[[np.random.Generator], tuple[Rows, Rows]]] = {
    "bank marketing": bank,
    "interactions": interactions,
    "Friedman": friedman,
}


def lightgbm() -> Any:
    """Return LightGBM's defaults on one thread."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=1, verbosity=-1, random_state=0)


MODELS: dict[str, Callable[[], Any]] = {
    BASELINE: lightgbm,
    OURS: lambda: make_pipeline(
        StandardScaler(), ECSELMClassifier(scoring="accuracy", n_jobs=1, random_state=0)
    ),
    "HistGradientBoosting": lambda: HistGradientBoostingClassifier(random_state=0),
    "logistic regression": lambda: make_pipeline(
        StandardScaler(), LogisticRegression(max_iter=1000)
    ),
}


@dataclass(frozen=True, slots=True)
class Fit:
    """Figures of one model on one number of rows of a table, or why there are none."""

    data: str
    n_rows: int
    model: str
    accuracy: float | None = None
    log_loss: float | None = None
    seconds: float | None = None
    peak_megabytes: float | None = None
    missing: str = ""


def fit(data: str, n_rows: int, model: str) -> Fit:
    """Fit a model in this process, whose peak memory is recorded."""
    (X, y), (X_test, y_test) = TABLES[data](np.random.default_rng(0))
    if len(y) < n_rows:
        raise ValueError(f"n_rows must be at most {len(y)} for {data}, got {n_rows}")
    X, y = X[:n_rows].copy(), y[:n_rows].copy()
    MODELS[model]().fit(X[:200], y[:200])  # imports and first calls are not to be timed
    times = []
    for _ in range(N_TIMES if n_rows <= FEW_ROWS else 1):
        start = time.perf_counter()
        fitted = MODELS[model]().fit(X, y)
        times.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    proba = fitted.predict_proba(X_test)
    accuracy = accuracy_score(y_test, fitted.predict(X_test))
    return Fit(
        data, n_rows, model, accuracy, log_loss(proba, y_test), float(np.median(times)), peak
    )


def fit_apart(data: str, n_rows: int, model: str, limit: float) -> Fit:
    """Fit a model in a process of its own, on one thread, for ``limit`` seconds at most."""
    command = [sys.executable, "-m", "benchmarks.sizes", "--fit", data, str(n_rows), model]
    try:
        done = subprocess.run(  # noqa: S603  this module, with names of its own tables
            command,
            env={**os.environ, **ONE_THREAD},
            cwd=HERE.parent,
            capture_output=True,
            text=True,
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Fit(data, n_rows, model, missing=f"longer than {limit:g} s")
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        return Fit(data, n_rows, model, missing=f"failed: {lines[-1][:80]}")
    return Fit(**json.loads(done.stdout.splitlines()[-1]))


def as_table(fits: Sequence[Fit]) -> str:
    """Return a table of all fits, times as ratios to the baseline's on the same rows."""
    seconds = {(one.data, one.n_rows): one.seconds for one in fits if one.model == BASELINE}
    rows = []
    for one in fits:
        own = [one.data, str(one.n_rows), one.model]
        if one.missing or one.seconds is None:
            rows.append([*own, one.missing, "", "", ""])
            continue
        base = seconds.get((one.data, one.n_rows))
        ratio = f"{one.seconds / base:.2f}" if base else ""
        figures = [f"{one.accuracy:.4f}", f"{one.log_loss:.4f}", ratio, f"{one.peak_megabytes:.0f}"]
        rows.append([*own, *figures])
    header = ["data", "rows", "method", "accuracy", "log loss", f"time by {BASELINE}'s", "MB"]
    return table(header, rows)


def filled(page: str) -> str:
    """Return the page with the table of the stored figures."""
    text = as_table(stored(FILE)) if FILE.is_file() else "Not run yet."
    before, rest = page.split(BEGIN, 1)
    return f"{before}{BEGIN}{text}\n{rest[rest.index(END) :]}"


def stored(path: Path) -> list[Fit]:
    """Return the fits of a file."""
    return [Fit(**one) for one in json.loads(path.read_text(encoding="utf-8"))]


def available(data: str, sizes: Sequence[int]) -> list[int]:
    """Return the sizes that a table has rows for; bank marketing has fewer than others."""
    return [n for n in sizes if data != "bank marketing" or n <= 20_000]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run every fit, store the figures after each, and fill the page."""
    parser = argparse.ArgumentParser(description="Fit defaults to growing numbers of rows.")
    parser.add_argument("--fit", nargs=3, metavar=("DATA", "ROWS", "MODEL"), help="one fit, here")
    parser.add_argument("--sizes", type=lambda s: [int(n) for n in s.split(",")], default=SIZES)
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds of a fit")
    parser.add_argument("--show", action="store_true", help="fill the page from stored figures")
    options = parser.parse_args(arguments)
    if options.fit:
        data, n_rows, model = options.fit
        warnings.simplefilter("ignore")  # standard output is for the figures alone
        print(json.dumps(asdict(fit(data, int(n_rows), model))))
        return
    fits: list[Fit] = []
    for data in () if options.show else TABLES:
        for n_rows in available(data, options.sizes):
            for model in MODELS:
                fits.append(fit_apart(data, n_rows, model, options.limit))
                print(fits[-1], flush=True)
                FILE.parent.mkdir(parents=True, exist_ok=True)
                FILE.write_text(json.dumps([asdict(one) for one in fits], indent=1) + "\n")
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
