"""Tables X, XI and XIII of the paper recomputed, and the variance of table I by splits alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ecselm._typing import FloatArray
from ecselm.paper.protocols.published import GAS_TEST_ROWS, GASES, PUBLISHED
from ecselm.paper.statistics import (
    Finding,
    friedman_test,
    holm,
    kruskal_test,
    paired_t_test,
    wilcoxon_test,
)

ROUNDING = 0.005 + 1e-9  # two decimals are printed
PERMUTED = ("CSLDA", "CSLPP", "CSMFA")  # headings that table XII mixes up in the row of AR
OURS = "ECSELM"
OTHER_ELMS = ("ELM", "KELM", "W1ELM", "W2ELM", "E-ELM")  # of table I


@dataclass(frozen=True, slots=True)
class Deviation:
    """A printed number that does not follow from counts."""

    item: str
    method: str
    row: str
    printed: float
    recomputed: float


@dataclass(frozen=True, slots=True)
class GasTables:
    """Tables X and XI from counts of test rows."""

    n_methods: int
    n_numbers: int
    deviations: tuple[Deviation, ...]


@dataclass(frozen=True, slots=True)
class PairTests:
    """A method against ECSELM on the six rows of table XII; all p are two-sided."""

    method: str
    published: float
    t_test: float
    t_test_holm: float
    wilcoxon: float
    wilcoxon_holm: float
    kruskal: float


@dataclass(frozen=True, slots=True)
class Significance:
    """The tests of table XIII, and those over all nine methods."""

    pairs: tuple[PairTests, ...]
    friedman: Finding
    kruskal: Finding


@dataclass(frozen=True, slots=True)
class SplitStd:
    """Standard deviation of an accuracy over random splits of fixed predictions."""

    row: str  # of table I, column ECSELM
    mean: float  # as printed, in per cent
    printed: float  # std over ten splits
    expected: float  # by splits alone: root mean square
    share_below: float  # of simulations of ten splits whose std is at most the printed one


@dataclass(frozen=True, slots=True)
class PrintedGain:
    """Accuracies of one line of table I, and the gains of the paper's ECSELM, in points."""

    row: str
    plain: float  # ELM
    best: float  # the best of the other ELMs
    ours: float

    @property
    def points(self) -> float:
        """Return the gain over plain ELM."""
        return self.ours - self.plain

    @property
    def points_over_best(self) -> float:
        """Return the gain over the best of the other ELMs."""
        return self.ours - self.best


def printed_gains() -> tuple[PrintedGain, ...]:
    """Return what table I prints of ECSELM, of plain ELM and of the best of the other ELMs.

    A search of costs that starts from plain ELM has to be compared with the gain over plain
    ELM; the text of the paper speaks of the others.

    Examples
    --------
    >>> [round(gain.points, 2) for gain in printed_gains()][:3]
    [15.6, 15.86, 17.0]
    """
    table = PUBLISHED["table-1"]
    others = zip(*(table.column(name) for name in OTHER_ELMS), strict=True)
    columns = (table.rows, table.column("ELM"), map(max, others), table.column(OURS))
    return tuple(PrintedGain(*line) for line in zip(*columns, strict=True))


def recompute_gas_tables() -> GasTables:
    """Compute tables X and XI from counts 63, 24, 22, 20, 20 and 13 of the test rows.

    Every rate must be a whole number of rows, ARR their mean and TRR the share of all.

    Examples
    --------
    >>> found = recompute_gas_tables()
    >>> found.n_methods, max(found.deviations, key=lambda d: abs(d.printed - d.recomputed)).row
    (24, 'C6H6')
    """
    sizes, found, n_methods = np.array(GAS_TEST_ROWS), [], 0
    for item in ("table-10", "table-11"):
        for method, column in PUBLISHED[item].by_method().items():
            right = np.rint(np.array(column[:6]) / 100.0 * sizes)
            rates = right / sizes
            again = 100.0 * np.append(rates, [rates.mean(), right.sum() / sizes.sum()])
            found += [
                Deviation(item, method, row, printed, float(value))
                for row, printed, value in zip((*GASES, "ARR", "TRR"), column, again, strict=True)
                if abs(printed - value) > ROUNDING
            ]
            n_methods += 1
    return GasTables(n_methods, 8 * n_methods, tuple(found))


def summary_table(*, corrected: bool) -> dict[str, FloatArray]:
    """Return table XII as printed, or with the row of AR as table VI has it.

    Examples
    --------
    >>> float(summary_table(corrected=True)["CSLDA"][3])
    86.4
    """
    table = {name: np.array(column) for name, column in PUBLISHED["table-12"].by_method().items()}
    if corrected:
        row = PUBLISHED["table-12"].rows.index("AR")
        for method in PERMUTED:
            table[method][row] = PUBLISHED["table-6"].column(method)[0]
    return table


def summary_tests(*, corrected: bool) -> Significance:
    """Test ECSELM against the eight others on table XII, by more than table XIII does.

    Examples
    --------
    >>> round(summary_tests(corrected=False).kruskal.p, 2)
    0.73
    """
    table = summary_table(corrected=corrected)
    ours = table[OURS]
    others = {name: column for name, column in table.items() if name != OURS}
    t = [paired_t_test(column, ours).p for column in others.values()]
    w = [wilcoxon_test(column, ours).p for column in others.values()]
    kruskal = [kruskal_test({"a": column, "b": ours}).p for column in others.values()]
    published = [PUBLISHED["table-13"].column(name)[0] for name in others]
    numbers = zip(others, published, t, holm(t), w, holm(w), kruskal, strict=True)
    return Significance(
        tuple(PairTests(name, *map(float, values)) for name, *values in numbers),
        friedman_test(table),
        kruskal_test(table),
    )


def simulate_split_stds(rng: np.random.Generator, n_simulations: int = 100_000) -> list[SplitStd]:
    """Split 620 persons into 400 and 220 ten times, with fixed predictions.

    A model that is right about the same persons whatever its training rows varies least. The
    number of these among 220 drawn persons is hypergeometric.

    Parameters
    ----------
    rng : numpy.random.Generator
    n_simulations : int, default=100000

    Examples
    --------
    >>> import numpy as np
    >>> round(simulate_split_stds(np.random.default_rng(0), 1000)[0].expected, 1)
    2.7
    """
    table = PUBLISHED["table-1"]
    place, found = table.columns.index(OURS), []
    for row, means, stds in zip(table.rows, table.means, table.stds, strict=True):
        mean, printed = means[place], stds[place]
        right = round(620 * mean / 100.0)
        rates = rng.hypergeometric(right, 620 - right, 220, (n_simulations, 10)) / 2.2
        std = rates.std(axis=1, ddof=1)
        expected = float(np.sqrt(np.mean(std**2)))
        below = float(np.mean(std <= printed + ROUNDING))
        found.append(SplitStd(row, mean, printed, expected, below))
    return found
