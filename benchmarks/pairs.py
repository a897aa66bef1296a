"""Times of the slowest metric learners, beside those of their main operations."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.linalg.blas import dsymv, dsyr
from sklearn.exceptions import ConvergenceWarning

from benchmarks.faces import FILE, Faces
from benchmarks.tables import ratio_cell, table
from benchmarks.timing import Ratio, Task, blas_threads, duration, seconds_by_round
from ecselm.paper.pairs import ITML, DMLEig, SubSML
from ecselm.paper.pairs._base import PairLearner
from ecselm.paper.pairs.itml import Bounds, project_cyclically

SECTION = """## Time of learning from pairs

Each number is the median, over the rounds, of our time divided by the baseline's, with the
quartiles in brackets. The pairs are faces of LFW view 2 where `ECSELM_DATA` holds them, else
generated. The seconds are those of one fit with default settings in this run.

- **ITML** stands, for a few sweeps, beside the projections of one pair after the other, as
  printed, by BLAS's `dsymv` and `dsyr` on half of M; both on one BLAS thread.
- **SubSML** and **DML-eig** stand beside as many products of P x d by d x d as they take
  steps, by NumPy on all cores. A step of SubSML is two such products and two halves of
  one for symmetric sums, that of DML-eig a quarter of one and an eigenvector.

{table}
"""


@dataclass(frozen=True, slots=True)
class Size:
    """How many pairs of how many features, how many sweeps and rounds."""

    n_pairs: int = 5400
    n_features: int = 300
    sweeps: int = 3
    rounds: int = 3


FULL = Size()
QUICK = Size(n_pairs=60, n_features=5, sweeps=2, rounds=2)


@dataclass(frozen=True, slots=True)
class PairTime:
    """Our time over a baseline's, and the seconds of a whole fit in this run."""

    learner: str
    baseline: str
    ratio: Ratio
    seconds: float
    n_iter: int
    source: str


def compare_pairs(size: Size) -> list[PairTime]:
    """Time ITML, SubSML and DML-eig."""
    pairs, same, source = training_pairs(size)
    rows = []
    for learner in (ITML(), SubSML(), DMLEig()):
        seconds, n_iter = _fitted(learner, pairs, same)
        if isinstance(learner, ITML):
            baseline, timers = "one pair at a time", _sweeps(pairs, same, size.sweeps)
        else:
            baseline = f"{n_iter} products"
            timers = (
                lambda learner=learner: _fitted(learner, pairs, same)[0],
                lambda n=n_iter: _products(pairs, n),
            )
        found = seconds_by_round(timers, size.rounds)
        ratio = Ratio.of(found[:, 0] / found[:, 1])
        name = type(learner).__name__
        rows.append(PairTime(name, baseline, ratio, seconds, n_iter, source))
    return rows


def as_table(rows: list[PairTime]) -> str:
    """Return one line for every learner."""
    lines = [
        [
            row.learner,
            row.source,
            row.baseline,
            ratio_cell(row.ratio),
            f"{row.seconds:.1f}",
            str(row.n_iter),
        ]
        for row in rows
    ]
    return table(["Learner", "Pairs", "Baseline", "Ratio", "Seconds of a fit", "Steps"], lines)


def training_pairs(size: Size) -> tuple[np.ndarray, np.ndarray, str]:
    """Return faces of nine folds where they are available and wanted, else generated pairs."""
    folder = Path(os.environ.get("ECSELM_DATA", "."))
    if size == FULL and (folder / FILE).is_file():
        pairs, same = Faces.from_folder(folder).rows(list(range(1, 10)), size.n_features)
        return pairs, same, f"{len(pairs)} faces x {size.n_features}"
    rng = np.random.default_rng(0)
    same = np.arange(size.n_pairs) % 2
    x, other, error = rng.standard_normal((3, size.n_pairs, size.n_features))
    z = np.where(same[:, np.newaxis], x, other) + error
    pairs = np.stack([x, z], axis=1)
    pairs /= np.linalg.norm(pairs, axis=2, keepdims=True)
    return pairs, same, f"{size.n_pairs} generated x {size.n_features}"


def one_pair_at_a_time(M: np.ndarray, bounds: Bounds, slack: float, n_sweeps: int) -> np.ndarray:
    """Return M after some sweeps of the projections as they are printed."""
    side, xi, lam = bounds.sides(), bounds.values(), np.zeros(len(bounds.D))
    M = np.array(M, order="F")
    for _ in range(n_sweeps):
        for t, D in enumerate(bounds.D):
            MD = dsymv(1.0, M, D)
            p, delta = D @ MD, side[t]
            alpha = min(lam[t], delta * slack / (slack + 1.0) * (1.0 / p - 1.0 / xi[t]))
            M = dsyr(delta * alpha / (1.0 - delta * alpha * p), MD, a=M, overwrite_a=1)
            xi[t] /= 1.0 + delta * alpha * xi[t] / slack
            lam[t] -= alpha
    return np.triu(M) + np.triu(M, 1).T


def _fitted(learner: PairLearner, pairs: np.ndarray, same: np.ndarray) -> tuple[float, int]:
    """Return the seconds of a fit and how many steps it took, enough or not."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        learner.fit(pairs, same)
    return time.perf_counter() - start, learner.solution_.n_iter


def _sweeps(
    pairs: np.ndarray, same: np.ndarray, n: int
) -> tuple[Callable[[], float], Callable[[], float]]:
    D = pairs[:, 0] - pairs[:, 1]
    bounds = Bounds(D, same == 1, *np.percentile(np.sum(D**2, axis=1), [5, 95]))
    M_0 = np.eye(D.shape[1])
    ours = project_cyclically(M_0, bounds, 1.0, 1e-300, n).matrix
    np.testing.assert_allclose(ours, one_pair_at_a_time(M_0, bounds, 1.0, n), rtol=1e-6, atol=1e-8)
    return (
        lambda: duration(lambda: project_cyclically(M_0, bounds, 1.0, 1e-300, n)),
        lambda: _on_one_thread(lambda: one_pair_at_a_time(M_0, bounds, 1.0, n)),
    )


def _on_one_thread(task: Task) -> float:
    """Return the seconds of a task whose products are too short for threads."""
    with blas_threads(1):
        return duration(task)


def _products(pairs: np.ndarray, n: int) -> float:
    """Return the seconds of ``n`` products of P x d by d x d, from a few of them."""
    D, M = np.ascontiguousarray(pairs[:, 0]), np.eye(pairs.shape[2])
    few = min(n, 20)
    return duration(lambda: [D @ M for _ in range(few)]) * n / few
