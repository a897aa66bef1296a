"""All of the audit at once, and its report in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from ecselm._random import as_generator
from ecselm.paper.audit.searches import Arm, Effort, compared
from ecselm.paper.audit.tables import (
    GasTables,
    Significance,
    SplitSpread,
    recomputed_gases,
    split_spreads,
    summary_tests,
)
from ecselm.paper.datasets import Dataset, make_m2b_like

N_CLASSES = 5
CONFIDENCE = 0.99  # of the interval of chance, in which several methods must lie


@dataclass(frozen=True, slots=True)
class NoiseRun:
    """The same searches on labels that have nothing to do with the features."""

    chance: float
    low: float  # of the binomial interval about it
    high: float
    arms: tuple[Arm, ...]

    @property
    def is_clean(self) -> bool:
        """Tell whether all stay at chance, but for the oracle, which need not."""
        return all(self.low <= arm.mean <= self.high for arm in self.arms if not arm.is_oracle)


@dataclass(frozen=True, slots=True)
class AuditReport:
    """What the audit has found."""

    task: str
    effort: Effort
    noise_effort: Effort
    arms: tuple[Arm, ...]
    noise: NoiseRun
    gases: GasTables
    as_printed: Significance
    corrected: Significance
    splits: tuple[SplitSpread, ...]


def audit(
    quick: bool = False,
    random_state: Any = 0,
    n_jobs: int | None = 1,
    *,
    data: Dataset | None = None,
    progress: bool = False,
) -> AuditReport:
    """Check what the paper claims, with numbers that can be checked in turn.

    Parameters
    ----------
    quick : bool, default=False
        Three repeats of short searches instead of ten of the paper's length.
    random_state : int, Generator or None, default=0
    n_jobs : int, default=1
        Processes for the searches; the report does not depend on it.
    data : Dataset, default=None
        At least 620 rows in classes. None: a synthetic stand-in for the eastern faces of
        table I, drawn with ``random_state``.
    progress : bool, default=False
        Show bars with the time left.

    Returns
    -------
    report : AuditReport
        To be read by :func:`render`.

    Examples
    --------
    >>> from ecselm.paper.audit import audit, render
    >>> report = audit(quick=True)  # doctest: +SKIP
    >>> print(render(report))  # doctest: +SKIP
    """
    drawn, split, noise, simulated = as_generator(random_state).spawn(4)
    if data is None:
        data = make_m2b_like("facial_appearance", "E", random_state=drawn)
    effort = Effort(3, 30, 30) if quick else Effort()
    noise_effort = Effort(3, 30, 10) if quick else Effort(max_epochs=25)
    return AuditReport(
        data.summary(),
        effort,
        noise_effort,
        compared(data.X, data.y, effort, split, n_jobs=n_jobs, progress=_bar(progress, "(a)")),
        noise_run(data, noise_effort, noise, n_jobs, progress=_bar(progress, "(d)")),
        recomputed_gases(),
        summary_tests(corrected=False),
        summary_tests(corrected=True),
        tuple(split_spreads(simulated, 10_000 if quick else 100_000)),
    )


def split_table(report: AuditReport) -> Any:
    """Return what came of every search on every split, as a tidy frame.

    Parameters
    ----------
    report : AuditReport

    Returns
    -------
    table : DataFrame
        Columns ``labels, judged_by, low, high, split, fitness, accuracy``.
    """
    import pandas as pd  # noqa: PLC0415  half a second that nobody else should wait

    rows = [
        (labels, arm.judged_by, *(arm.bounds or (None, None)), split, fitness, accuracy)
        for labels, arms in (("given", report.arms), ("random", report.noise.arms))
        for arm in arms
        for split, (fitness, accuracy) in enumerate(zip(arm.fitness, arm.accuracy, strict=True))
    ]
    columns = ["labels", "judged_by", "low", "high", "split", "fitness", "accuracy"]
    return pd.DataFrame(rows, columns=columns)


def _bar(progress: bool, part: str) -> str | None:
    return f"audit {part}" if progress else None


def noise_run(
    data: Dataset,
    effort: Effort,
    rng: np.random.Generator,
    n_jobs: int | None = 1,
    progress: str | None = None,
) -> NoiseRun:
    """Run the searches on labels drawn at random, anew in every repeat.

    Then each test row is right with a chance of 1/5 whatever was learned, rows and repeats
    independent of each other, and the number of right answers is binomial.
    """
    arms = compared(
        data.X, None, effort, rng, n_classes=N_CLASSES, n_jobs=n_jobs, progress=progress
    )
    n = 220 * effort.n_repeats
    low, high = stats.binom.interval(CONFIDENCE, n, 1.0 / N_CLASSES)
    return NoiseRun(1.0 / N_CLASSES, float(low / n), float(high / n), arms)
