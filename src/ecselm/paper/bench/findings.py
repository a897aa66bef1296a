"""What the results of a bench say: means, ranks, and every method against ECSELM.

The value of a data set is the mean over its splits. Values that differ by less than 1e-9 are
equal, in ranks and in ties.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ecselm.paper.bench.cases import COUNTED_TARGETS
from ecselm.paper.statistics import holm, wilcoxon_test

BASELINE = "ECSELM"
ALL, TWO = "all", "two classes"
DIGITS = 9
SUMMARY = ("target", "part", "classes", "method", "n", "mean", "mean_rank")
COMPARISON = (
    "target",
    "part",
    "classes",
    "method",
    "n",
    "wins",
    "ties",
    "losses",
    "difference",
    "p",
    "p_holm",
    "worst",
    "worst_data",
)


@dataclass(frozen=True, slots=True)
class SetOf:
    """What has to be known of a data set to say something over several."""

    name: str
    half: str
    n_classes: int
    n_splits: int
    n_smallest: int  # rows of the smallest class


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Values of complete methods on the same data sets, or on the splits of one.

    Parameters
    ----------
    target : str
    name : str
        A half of the data, ``"all"``, or the one data set whose splits are compared.
    values : DataFrame
        Data sets or splits by methods; NaN where a method knows two classes only.
    two : sequence of bool
        Which rows are of two classes.
    """

    target: str
    name: str
    values: Any
    two: Sequence[bool]

    @property
    def sign(self) -> float:
        """Return 1 where more is better and -1 where less is."""
        return -1.0 if self.target == "mean_cost" else 1.0

    def tables(self) -> Iterator[tuple[str, Any]]:
        """Yield complete tables: of all rows, and of two classes if that adds methods."""
        everywhere = self.values.dropna(axis=1)
        yield ALL, everywhere
        if everywhere.shape[1] < self.values.shape[1] and any(self.two):
            yield TWO, self.values[np.asarray(self.two)].dropna(axis=1)


def parts_of(results: Any, sets: Sequence[SetOf]) -> list[Part]:
    """Return what can be compared: targets by halves, and costs data set by data set.

    Parameters
    ----------
    results : DataFrame
        Tidy results.
    sets : sequence of SetOf
    """
    found = []
    for target in COUNTED_TARGETS:
        values = _set_values(results, target, sets)
        known = [one for one in sets if one.name in values.index]
        halves = {one.half for one in known}
        for name in (ALL, "development", "confirmation"):
            own = [one for one in known if name in (ALL, one.half)]
            if own and (name == ALL or len(halves) > 1):
                found.append(_part(target, name, values, own))
    costs = results[results["metric"] == "mean_cost"]
    for one in sets:
        values = _split_values(costs[costs["data"] == one.name], one)
        if values.size:
            found.append(Part("mean_cost", one.name, values, [one.n_classes == 2] * len(values)))
    return found


def summary_of(parts: Sequence[Part]) -> Any:
    """Return mean and mean rank of every method, 1 being the best, as a frame."""
    import pandas as pd  # noqa: PLC0415  half a second that nobody else should wait

    rows = [
        (part.target, part.name, classes, method, len(table), table[method].mean(), rank)
        for part in parts
        for classes, table in part.tables()
        for method, rank in (part.sign * table).rank(axis=1, ascending=False).mean().items()
    ]
    return pd.DataFrame(rows, columns=list(SUMMARY))


def comparisons_of(parts: Sequence[Part]) -> Any:
    """Return ECSELM against every other method as a frame.

    Wins, ties, losses and the mean difference are ECSELM's; ``worst`` is what it loses most
    by, and where. Methods for two classes only are compared on data sets of two classes.
    Wilcoxon's test is over data sets, corrected after Holm for the number of opponents.
    Splits of one data set are not independent and are not tested.
    """
    import pandas as pd  # noqa: PLC0415

    rows = [
        (part.target, part.name, classes, *row)
        for part in parts
        for classes, table in part.tables()
        if BASELINE in table
        for row in _compared(part.sign * table, tested=part.target != "mean_cost")
    ]
    return pd.DataFrame(rows, columns=list(COMPARISON))


def _compared(table: Any, *, tested: bool) -> list[tuple[Any, ...]]:
    """Return the baseline against every other column; greater values are better."""
    opponents = [name for name in table if name != BASELINE]
    p = np.full(len(opponents), np.nan)
    if tested:
        p = np.array([_p(table[[BASELINE, name]]) for name in opponents])
    corrected = holm(p) if tested else p
    rows = []
    for name, one, holmed in zip(opponents, p, corrected, strict=True):
        gain = (table[BASELINE] - table[name]).round(DIGITS)
        counts = (int(part.sum()) for part in (gain > 0, gain == 0, gain < 0))
        worst = (-float(gain.min()), str(gain.idxmin())) if gain.min() < 0 else (0.0, "")
        rows.append((name, len(gain), *counts, float(gain.mean()), one, holmed, *worst))
    return rows


def _p(pair: Any) -> float:
    """Return Wilcoxon's p value; of one data set nothing can be said."""
    return wilcoxon_test(*pair.to_numpy().T).p if len(pair) > 1 else 1.0


def _set_values(results: Any, target: str, sets: Sequence[SetOf]) -> Any:
    """Return the values of data sets by methods, NaN where splits are missing."""
    own = results[results["metric"] == target]
    grouped = own.groupby(["data", "method"], sort=False)["value"].agg(["mean", "count"])
    needed = {one.name: one.n_splits for one in sets}
    n_splits = np.array([needed.get(data, 0) for data, _ in grouped.index], dtype=float)
    whole = grouped["mean"][grouped["count"].to_numpy() == n_splits]
    return whole.round(DIGITS).unstack("method")


def _part(target: str, name: str, values: Any, sets: Sequence[SetOf]) -> Part:
    """Return the methods that have every data set, or at least every one of two classes."""
    own = values.loc[[one.name for one in sets]]
    two = np.array([one.n_classes == 2 for one in sets])
    needed = own[two] if two.any() else own
    finished = [method for method in own if needed[method].notna().all()]
    return Part(target, name, own[finished], two.tolist())


def _split_values(costs: Any, one: SetOf) -> Any:
    """Return the costs of splits by methods that have all of them."""
    values = costs.pivot_table(index="split", columns="method", values="value", sort=False)
    return values.round(DIGITS).dropna(axis=1) if len(values) == one.n_splits else values.iloc[:0]
