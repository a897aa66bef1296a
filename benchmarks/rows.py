"""Defaults by the number of rows, to ten million: ``python -m benchmarks.rows``.

Rows have 20 normal inputs; their log odds are products of pairs and two curves. Every fit runs on
one core in a process of its own, with a limit of memory and of time, and its figures stay in
``benchmarks/results/rows``. ``--page`` fills the table of ``docs/growing.md`` from them. Needs the
extra ``compare``.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from benchmarks.points import ROOT, cpu_seconds, filled, kept_points, peak_megabytes
from benchmarks.tables import table
from ecselm import ECSELMClassifier
from ecselm.paper.bench.probabilities import log_loss

FOLDER = ROOT / "benchmarks" / "results" / "rows"
PAGE = ROOT / "docs" / "growing.md"
OURS, BASELINE = "ECSELM", "LightGBM"
MODELS = (OURS, BASELINE, "HistGradientBoosting")
SIZES = (1000, 10_000, 100_000, 1_000_000)
N_TEST, N_FEATURES, BLOCK = 20_000, 20, 250_000


def rows(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return inputs (n, 20) in float32 and classes, made in blocks: nothing else is as large."""
    rng = np.random.default_rng(seed)
    X, y = np.empty((n, N_FEATURES), np.float32), np.empty(n, np.int8)
    for start in range(0, n, BLOCK):
        own = slice(start, min(start + BLOCK, n))
        A = rng.standard_normal((own.stop - own.start, N_FEATURES))
        log_odds = 2.0 * A[:, 0] * A[:, 1] + 1.5 * A[:, 2] * A[:, 3] - A[:, 4] * A[:, 5]
        log_odds += 1.5 * np.sin(2.0 * A[:, 6]) + A[:, 7] ** 2 - 1.0
        X[own], y[own] = A, rng.logistic(size=len(A)) < log_odds
    return X, y


def made(model: str) -> Any:
    """Return a model with its defaults, on one thread."""
    if model == OURS:
        return ECSELMClassifier(scoring="accuracy", n_jobs=1, random_state=0)
    if model == BASELINE:
        from lightgbm import LGBMClassifier

        return LGBMClassifier(n_jobs=1, verbosity=-1, random_state=0)
    return HistGradientBoostingClassifier(random_state=0)


def fit_point(model: str, n: int) -> dict[str, Any]:
    """Fit a model here, and return its time, memory and accuracy."""
    made(model).fit(*rows(300, 2))  # imports and first calls are not to be timed
    X, y = rows(n, 0)
    X_test, y_test = rows(N_TEST, 1)
    before, start = peak_megabytes(), cpu_seconds()
    fitted = made(model).fit(X, y)
    seconds, peak = cpu_seconds() - start, peak_megabytes()
    P = fitted.predict_proba(X_test)
    return {
        "model": model,
        "n_rows": n,
        "cpu_seconds": seconds,
        "data_megabytes": before,
        "peak_megabytes": peak,
        "accuracy": float((P.argmax(axis=1) == y_test).mean()),
        "log_loss": float(log_loss(P, y_test.astype(np.intp))),
    }


def as_table(points: Sequence[dict[str, Any]]) -> str:
    """Return a table of the points, times as ratios to the baseline's on the same rows."""
    base = {one["n_rows"]: one["cpu_seconds"] for one in points if one.get("model") == BASELINE}
    ours = {one["n_rows"]: one["cpu_seconds"] for one in points if one.get("model") == OURS}
    lines = []
    for one in points:
        if "missing" in one:
            model, n = one["point"]
            lines.append([n, model, "", "", "", "", one["missing"]])
            continue
        n, seconds = one["n_rows"], one["cpu_seconds"]
        ratio = f"{seconds / base[n]:.2f}" if n in base else ""
        fewer = max((m for m in ours if m < n), default=None)
        growth = ""
        if one["model"] == OURS and fewer is not None:
            growth = f"{np.log(seconds / ours[fewer]) / np.log(n / fewer):.2f}"
        extra = one["peak_megabytes"] - one["data_megabytes"]
        figures = [f"{extra:.0f}", f"{one['accuracy']:.4f}", f"{one['log_loss']:.4f}"]
        lines.append([str(n), one["model"], ratio, growth, *figures])
    header = ["rows", "method", f"time by {BASELINE}'s", "exponent of time"]
    return table([*header, "MB beside the data", "accuracy", "log loss"], lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what is missing, print the table, and fill the page if asked to."""
    parser = argparse.ArgumentParser(description="Fit defaults to growing numbers of rows.")
    parser.add_argument("--point", nargs=2, metavar=("MODEL", "ROWS"), help="one fit, here")
    parser.add_argument("--sizes", type=lambda s: [int(n) for n in s.split(",")], default=SIZES)
    parser.add_argument("--seconds", type=float, default=1200.0, help="limit of a fit")
    parser.add_argument("--gibibytes", type=float, default=10.0, help="limit of its memory")
    parser.add_argument("--again", action="store_true", help="measure points that have a file")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--page", action="store_true", help=f"fill the table of {PAGE.name}")
    options = parser.parse_args(arguments)
    if options.point:
        model, n = options.point
        warnings.simplefilter("ignore")  # standard output is for the figures alone
        print(json.dumps(fit_point(model, int(n))))
        return
    points = kept_points(
        "benchmarks.rows",
        options.folder,
        [(model, str(n)) for n in options.sizes for model in MODELS],
        seconds=options.seconds,
        gibibytes=options.gibibytes,
        again=options.again,
    )
    text = as_table(points)
    print(text)
    if options.page:
        PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), "rows", text), encoding="utf-8")


if __name__ == "__main__":
    main()
