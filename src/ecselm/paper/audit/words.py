"""The report of the audit as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ecselm.paper.audit.report import AuditReport, NoiseRun
from ecselm.paper.audit.searches import Arm, Effort, difference_test
from ecselm.paper.audit.tables import GasTables, Significance, SplitSpread


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
        *_noise(report.noise, report.noise_effort),
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
                arm.judged_by,
                "{:g} to {:g}".format(*arm.bounds) if arm.bounds is not None else "-",
                f"{100 * sum(arm.fitness) / len(arm.fitness):.1f}" if searched else "-",
                f"{100 * arm.mean:.1f}",
                f"{100 * arm.spread:.1f}",
                _p(difference_test(arm, arms[0]).p) if searched else "-",
            )
        )
    return _grid(("fitness on", "costs", "fitness", "test", "spread", "p vs plain"), rows)


def _length(effort: Effort) -> str:
    return (
        f"{effort.n_repeats} splits 400/220, {effort.population_size} candidates over "
        f"{effort.max_epochs} generations"
    )


def _searches(report: AuditReport) -> list[str]:
    return [
        "(a) The search of section III by the rows that judge it (accuracy, per cent)",
        report.task,
        _length(report.effort),
        "The oracle looks at the rows it is tested on. No estimator offers it.",
        *_arms(report.arms),
        "",
    ]


def _noise(noise: NoiseRun, effort: Effort) -> list[str]:
    verdict = "All but the oracle stay" if noise.is_clean else "NOT all but the oracle stay"
    chance = (
        f"Chance is {100 * noise.chance:.1f}, by the binomial distribution from "
        f"{100 * noise.low:.1f} to {100 * noise.high:.1f} in 99 of 100 runs. {verdict} there."
    )
    return [
        "(d) The same on labels drawn at random (accuracy, per cent)",
        _length(effort),
        *_arms(noise.arms),
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


def _splits(splits: Iterable[SplitSpread]) -> list[str]:
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
    head = ("ECSELM in table I", "mean", "spread", "by splits alone", "share as small")
    return [
        "(c) Spread over ten random splits 400/220 of a fixed set of right answers (points)",
        *_grid(head, rows),
        "",
    ]
