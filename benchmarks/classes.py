"""Defaults by the number of classes and of sparse inputs: ``python -m benchmarks.classes``.

Rows lie around the centres of their classes, 20 for each class up to 20,000 rows; sparse rows have
20,000 inputs of which 40 are not 0. Every fit runs on one core in a process of its own, with a
``memory_limit``, and its figures stay in ``benchmarks/results/classes``; ``--page`` fills the table
of ``docs/growing.md`` from them.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.points import ROOT, cpu_seconds, filled, kept_points, peak_megabytes
from benchmarks.tables import table
from ecselm import ECSELMClassifier
from ecselm.estimators._base import least_bytes

FOLDER = ROOT / "benchmarks" / "results" / "classes"
PAGE = ROOT / "docs" / "growing.md"
DENSE, SPARSE = "dense", "sparse"
POINTS = (
    (DENSE, "10", "1 GiB"),
    (DENSE, "100", "1 GiB"),
    (DENSE, "1000", "1 GiB"),
    (DENSE, "10000", "12 GiB"),
    (SPARSE, "10", "1 GiB"),
    (SPARSE, "1000", "1 GiB"),
)
MOST_ROWS, ROWS_PER_CLASS, N_FEATURES, N_SPARSE, N_STORED = 20_000, 20, 20, 20_000, 40


def rows(kind: str, k: int) -> tuple[Any, np.ndarray]:
    """Return inputs and classes; every class has two rows at least."""
    rng = np.random.default_rng(0)
    n = min(MOST_ROWS, max(2 * k, ROWS_PER_CLASS * k, 2000))
    y = rng.permutation(np.arange(n) % k)
    if kind == DENSE:
        centres = 2.0 * rng.standard_normal((k, N_FEATURES))
        return centres[y] + rng.standard_normal((n, N_FEATURES)), y
    words = rng.integers(0, N_SPARSE, (k, 3 * N_STORED))  # of each class
    own = rng.integers(0, 3 * N_STORED, (n, N_STORED // 2))
    columns = np.hstack([words[y[:, np.newaxis], own], rng.integers(0, N_SPARSE, own.shape)])
    places = np.repeat(np.arange(n), N_STORED), columns.ravel()
    return sparse.csr_array((np.ones(columns.size), places), shape=(n, N_SPARSE)), y


def fit_point(kind: str, k: int, limit: str) -> dict[str, Any]:
    """Fit the default here, and return its time, memory and accuracy on a quarter of the rows."""
    X, y = rows(kind, k)
    small = np.arange(400)
    ECSELMClassifier(random_state=0, n_jobs=1).fit(X[small], y[small] % 2)
    train, test = np.arange(len(y)) % 4 != 0, np.arange(len(y)) % 4 == 0
    train |= np.bincount(y[train], minlength=k)[y] == 0  # every class is known
    X_train, y_train = X[np.flatnonzero(train)], y[train]
    before, start = peak_megabytes(), cpu_seconds()
    model = ECSELMClassifier(random_state=0, n_jobs=1, memory_limit=limit).fit(X_train, y_train)
    seconds, peak = cpu_seconds() - start, peak_megabytes()
    some = np.flatnonzero(test)[:1000]
    return {
        "kind": kind,
        "n_classes": k,
        "n_rows": len(y_train),
        "n_units": len(model.beta_),
        "memory_limit": limit,
        "least_megabytes": least_bytes(len(y_train), k, is_ensemble=True) / 2**20,
        "cpu_seconds": seconds,
        "megabytes": peak - before,
        "accuracy": float((model.predict(X[some]) == y[some]).mean()),
    }


def as_table(points: Sequence[dict[str, Any]]) -> str:
    """Return a table of the points."""
    lines = []
    for one in points:
        if "missing" in one:
            kind, k, limit = one["point"]
            lines.append([kind, k, "", limit, "", "", "", one["missing"]])
            continue
        figures = [f"{one['least_megabytes']:.0f}", f"{one['megabytes']:.0f}"]
        figures += [f"{one['cpu_seconds']:.1f}", f"{one['accuracy']:.3f}"]
        own = [one["kind"], str(one["n_classes"]), str(one["n_rows"]), one["memory_limit"]]
        lines.append([*own, *figures])
    header = ["inputs", "classes", "rows", "`memory_limit`", "MB at least, by formula"]
    return table([*header, "MB beside the data", "CPU s", "accuracy"], lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what is missing, print the table, and fill the page if asked to."""
    parser = argparse.ArgumentParser(description="Fit the default to many classes and inputs.")
    parser.add_argument("--point", nargs=3, metavar=("KIND", "CLASSES", "LIMIT"))
    parser.add_argument("--most-classes", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=1200.0, help="limit of a fit")
    parser.add_argument("--gibibytes", type=float, default=14.0, help="limit of its memory")
    parser.add_argument("--again", action="store_true", help="measure points that have a file")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--page", action="store_true", help=f"fill the table of {PAGE.name}")
    options = parser.parse_args(arguments)
    if options.point:
        kind, k, limit = options.point
        warnings.simplefilter("ignore")  # standard output is for the figures alone
        print(json.dumps(fit_point(kind, int(k), limit)))
        return
    points = kept_points(
        "benchmarks.classes",
        options.folder,
        [point for point in POINTS if int(point[1]) <= options.most_classes],
        seconds=options.seconds,
        gibibytes=options.gibibytes,
        again=options.again,
    )
    text = as_table(points)
    print(text)
    if options.page:
        PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), "classes", text), encoding="utf-8")


if __name__ == "__main__":
    main()
