"""The jobs of a bench: method by method, the cheap ones first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ecselm.paper.bench.cases import BenchCase
from ecselm.paper.bench.contestants import Contestant
from ecselm.paper.bench.job import BenchJob
from ecselm.paper.protocols.protocol import Known, described

VERSION = 1  # of what a job does; raised when results of the same job would differ
QUICK_SPLITS, QUICK_CANDIDATES = 2, 6
NO_DATA = (
    "there are no data for the bench: ECSELM_DATA must name a folder with the files that "
    "docs/datasets.md lists"
)


@dataclass(frozen=True, slots=True)
class Effort:
    """How much a bench may cost.

    Parameters
    ----------
    most_splits : int or None, default=None
        The first so many splits of a data set; None is all.
    most_candidates : int or None, default=None
        So many candidates of a method, evenly chosen; None is all.
    """

    most_splits: int | None = None
    most_candidates: int | None = None


FULL_EFFORT = Effort()
QUICK_EFFORT = Effort(QUICK_SPLITS, QUICK_CANDIDATES)


@dataclass(frozen=True, slots=True)
class KnownCase:
    """A case whose data have been seen once."""

    case: BenchCase
    known: Known
    n_classes: int
    n_smallest: int  # rows of the smallest class


def known_case(case: BenchCase, seed: int) -> KnownCase:
    """Return a case with the checksums of its data and splits."""
    data = case.case.load()
    known = described(case.case, data, case.splits(data, seed))
    counts = data.counts
    return KnownCase(case, replace(known, label=case.name), len(counts), int(counts.min()))


def known_cases(
    cases: Sequence[BenchCase], seed: int, *, all_needed: bool = False
) -> list[KnownCase]:
    """Return those cases whose data are there, or all of them if none may be missing."""
    found = []
    for case in cases:
        try:
            found.append(known_case(case, seed))
        except FileNotFoundError:
            if all_needed:
                raise
    if not found:
        raise FileNotFoundError(NO_DATA)
    return found


def can_enter(contestant: Contestant, known: KnownCase) -> bool:
    """Tell whether a method can do a case and has something to say there."""
    if contestant.binary and known.n_classes > 2:
        return False
    return not contestant.costs_only or "mean_cost" in known.case.targets


def plan_bench(
    cases: Sequence[KnownCase],
    contestants: Sequence[Contestant],
    seed: int,
    effort: Effort = FULL_EFFORT,
) -> list[BenchJob]:
    """Return the jobs, so that a run that is stopped has whole methods.

    Parameters
    ----------
    cases : sequence of KnownCase
    contestants : sequence of Contestant
    seed : int
        Of splits, of folds in which methods are tuned, and of what methods draw.
    effort : Effort
    """
    return [
        BenchJob(one.case, one.known, contestant, split, seed, effort.most_candidates)
        for contestant in contestants
        for one in cases
        if can_enter(contestant, one)
        for split in range(min(one.known.n_splits, effort.most_splits or one.known.n_splits))
    ]
