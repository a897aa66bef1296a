"""Run the audit and render its report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

import ecselm
from ecselm._random import as_generator
from ecselm.paper.audit.searches import (
    METRICS,
    Arm,
    Effort,
    compare_searches,
    difference_test,
)
from ecselm.paper.audit.tables import (
    GasTables,
    PrintedGain,
    Significance,
    SplitStd,
    printed_gains,
    recompute_gas_tables,
    simulate_split_stds,
    summary_tests,
)
from ecselm.paper.datasets import Dataset, make_m2b_like
from ecselm.paper.jobs import Journal
from ecselm.paper.protocols.protocol import checksum

N_CLASSES = 5
AUDITED = "Facial (A), E"  # the line of table I whose shape the searches have
CONFIDENCE = 0.99  # of the interval of chance, in which several methods must lie


@dataclass(frozen=True, slots=True)
class RandomLabelRun:
    """The same searches on random labels."""

    chance: float
    low: float  # of its binomial interval
    high: float
    arms: tuple[Arm, ...]

    @property
    def is_clean(self) -> bool:
        """Tell whether all but the oracle stay at chance."""
        return all(self.low <= arm.mean <= self.high for arm in self.arms if not arm.is_oracle)


@dataclass(frozen=True, slots=True)
class AuditReport:
    """The results of the audit."""

    task: str
    effort: Effort
    random_effort: Effort
    arms: tuple[Arm, ...]
    random_labels: RandomLabelRun
    gases: GasTables
    as_printed: Significance
    corrected: Significance
    splits: tuple[SplitStd, ...]


def audit(
    quick: bool = False,
    random_state: Any = 0,
    n_jobs: int = 1,
    *,
    data: Dataset | None = None,
    output: str | Path | None = None,
    progress: bool = False,
) -> AuditReport:
    """Check the claims of the paper.

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
    output : path or None, default=None
        Folder for the journal of the run: one that was stopped goes on where it was. Needs an
        integer ``random_state``; a folder with results of another run is refused.
    progress : bool, default=False
        Show progress bars.

    Returns
    -------
    report : AuditReport
        See :func:`render`.

    Examples
    --------
    >>> from ecselm.paper.audit import audit, render
    >>> report = audit(quick=True)  # doctest: +SKIP
    >>> print(render(report))  # doctest: +SKIP
    """
    if output is not None and not isinstance(random_state, Integral):
        raise ValueError(f"random_state must be an integer with output, got {random_state!r}")
    data_rng, split_rng, label_rng, simulation_rng = as_generator(random_state).spawn(4)
    if data is None:
        data = make_m2b_like("facial_appearance", "E", random_state=data_rng)
    effort = Effort(3, 30, 30) if quick else Effort()
    random_effort = Effort(3, 30, 10) if quick else Effort(max_epochs=25)
    journal = None
    if output is not None:
        fingerprint = {
            "metrics": list(METRICS),
            "audit": [asdict(effort), asdict(random_effort)],
            "data": checksum([data.X, data.y]),
            "seed": int(random_state),
            "version": ecselm.__version__,
        }
        journal = Journal(Path(output), fingerprint)
    options: dict[str, Any] = {"n_jobs": n_jobs, "journal": journal}
    return AuditReport(
        data.summary(),
        effort,
        random_effort,
        compare_searches(
            data.X, data.y, effort, split_rng, progress=_bar(progress, "(a)"), **options
        ),
        random_label_run(data, random_effort, label_rng, progress=_bar(progress, "(d)"), **options),
        recompute_gas_tables(),
        summary_tests(corrected=False),
        summary_tests(corrected=True),
        tuple(simulate_split_stds(simulation_rng, 10_000 if quick else 100_000)),
    )


def split_table(report: AuditReport) -> Any:
    """Return the results of every search on every split, as a tidy frame.

    Parameters
    ----------
    report : AuditReport

    Returns
    -------
    table : DataFrame
        Columns ``labels, fitness_on, low, high, split, fitness, accuracy, equal``, the last of
        which is the fitness of equal costs on the same rows.
    """
    import pandas as pd  # noqa: PLC0415  half a second that other imports need not wait

    rows = [
        (labels, arm.fitness_on, *(arm.bounds or (None, None)), split, *values)
        for labels, arms in (("given", report.arms), ("random", report.random_labels.arms))
        for arm in arms
        for split, values in enumerate(zip(arm.fitness, arm.accuracy, arm.equal, strict=True))
    ]
    columns = ["labels", "fitness_on", "low", "high", "split", "fitness", "accuracy", "equal"]
    return pd.DataFrame(rows, columns=columns)


def _bar(progress: bool, part: str) -> str | None:
    return f"audit {part}" if progress else None


def random_label_run(
    data: Dataset,
    effort: Effort,
    rng: np.random.Generator,
    **options: Any,
) -> RandomLabelRun:
    """Run the searches on random labels, other ones in every repeat.

    Each prediction of a test row is right with a probability of 1/5 whatever was learned, rows
    and repeats are independent, and the number of right predictions is binomial. ``options``
    are those of :func:`compare_searches`.
    """
    arms = compare_searches(data.X, None, effort, rng, n_classes=N_CLASSES, **options)
    n = 220 * effort.n_repeats
    low, high = stats.binom.interval(CONFIDENCE, n, 1.0 / N_CLASSES)
    return RandomLabelRun(1.0 / N_CLASSES, float(low / n), float(high / n), arms)


def render(report: AuditReport) -> str:
    """Return the report as text for a terminal.

    Parameters
    ----------
    report : AuditReport

    Returns
    -------
    text : str
    """
    parts = [
        *_searches(report),
        *_gases(report.gases),
        *_tests("(c) Table XIII as printed", report.as_printed),
        *_tests("(c) Table XIII with the row of AR under its own headings", report.corrected),
        *_splits(report.splits),
        *_random_labels(report.random_labels, report.random_effort),
    ]
    return "\n".join(parts)


def _grid(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return lines with the first column to the left and the others to the right."""
    cells = [head, *rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    return [
        "  ".join(
            cell.rjust(width) if i else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]


def _p(p: float) -> str:
    return f"{p:.4f}" if p >= 5e-5 else "< 0.0001"


def _arms(arms: Sequence[Arm]) -> list[str]:
    """Return a line per arm, with the p value of its difference from the first."""
    rows = []
    for arm in arms:
        searched = arm.bounds is not None
        rows.append(
            (
                arm.fitness_on,
                "{:g} to {:g}".format(*arm.bounds) if arm.bounds is not None else "-",
                f"{100 * sum(arm.fitness) / len(arm.fitness):.1f}" if searched else "-",
                f"{100 * sum(arm.equal) / len(arm.equal):.1f}" if searched else "-",
                f"{100 * arm.mean:.1f}",
                f"{100 * arm.std:.1f}",
                f"{100 * (arm.mean - arms[0].mean):+.1f}" if searched else "-",
                _p(difference_test(arm, arms[0]).p) if searched else "-",
            )
        )
    head = ("fitness on", "costs", "fitness", "equal costs", "test", "std", "gain", "p vs plain")
    return _grid(head, rows)


def _printed(gains: Sequence[PrintedGain]) -> list[str]:
    """Return the gains of table I that those of the test rows compare with."""
    line = next(one for one in gains if one.row == AUDITED)
    points = sorted(one.points for one in gains)
    over_best = sorted(one.points_over_best for one in gains)
    same_contrast = (
        f"The same of table I, ECSELM over ELM, ten splits 400/220: {line.points:+.1f} in the "
        f"line {AUDITED}, {points[0]:+.1f} to {points[-1]:+.1f} in all {len(points)}."
    )
    other_contrast = (
        f"Over the best of its other ELMs, another contrast: {line.points_over_best:+.1f} in that "
        f"line, {over_best[0]:+.1f} to {over_best[-1]:+.1f} in all."
    )
    return [
        "fitness: accuracy on the rows of the search; equal costs: theirs on the same rows;",
        "gain: points over plain ELM on the test rows.",
        same_contrast,
        other_contrast,
    ]


def _length(effort: Effort) -> str:
    return (
        f"{effort.n_repeats} splits 400/220, {effort.population_size} candidates over "
        f"{effort.max_epochs} generations"
    )


def _searches(report: AuditReport) -> list[str]:
    return [
        "(a) The search of section III by the rows of its fitness (accuracy, per cent)",
        report.task,
        _length(report.effort),
        "The oracle searches on the test rows. No estimator offers it.",
        *_arms(report.arms),
        *_printed(printed_gains()),
        "",
    ]


def _random_labels(run: RandomLabelRun, effort: Effort) -> list[str]:
    finding = "All but the oracle stay" if run.is_clean else "NOT all but the oracle stay"
    chance = (
        f"Chance is {100 * run.chance:.1f}, by the binomial distribution from "
        f"{100 * run.low:.1f} to {100 * run.high:.1f} in 99 of 100 runs. {finding} there."
    )
    return [
        "(d) The same on random labels (accuracy, per cent)",
        _length(effort),
        *_arms(run.arms),
        chance,
    ]


def _gases(gases: GasTables) -> list[str]:
    rows = [
        (
            f"{found.item}, {found.method}, {found.row}",
            f"{found.printed:.2f}",
            f"{found.recomputed:.2f}",
        )
        for found in gases.deviations
    ]
    counted = (
        f"{gases.n_numbers - len(gases.deviations)} of {gases.n_numbers} numbers of "
        f"{gases.n_methods} columns come out as printed. The others:"
    )
    return [
        "(b) Tables X and XI from counts 63, 24, 22, 20, 20 and 13",
        counted,
        *_grid(("", "printed", "from counts"), rows),
        "",
    ]


def _tests(title: str, found: Significance) -> list[str]:
    rows = [
        (
            pair.method,
            *(
                f"{p:.4f}"
                for p in (
                    pair.published,
                    pair.t_test,
                    pair.t_test_holm,
                    pair.wilcoxon,
                    pair.wilcoxon_holm,
                    pair.kruskal,
                )
            ),
        )
        for pair in found.pairs
    ]
    over_all = (
        f"Nine methods: Friedman {found.friedman.statistic:.2f}, p = {found.friedman.p:.4f}; "
        f"Kruskal-Wallis {found.kruskal.statistic:.2f}, p = {found.kruskal.p:.4f}."
    )
    head = ("p against ECSELM", "printed", "paired t", "Holm", "Wilcoxon", "Holm", "Kruskal")
    return [
        title,
        *_grid(head, rows),
        over_all,
        "",
    ]


def _splits(splits: Iterable[SplitStd]) -> list[str]:
    rows = [
        (
            split.row,
            f"{split.mean:.2f}",
            f"{split.printed:.2f}",
            f"{split.expected:.2f}",
            f"{split.share_below:.5f}",
        )
        for split in splits
    ]
    head = ("ECSELM in table I", "mean", "std", "by splits alone", "share as small")
    return [
        "(c) Std over ten random splits 400/220 of fixed predictions (points)",
        *_grid(head, rows),
        "",
    ]
