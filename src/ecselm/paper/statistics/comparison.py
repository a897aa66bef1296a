"""Methods against one of them, in one frame."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ecselm._typing import FloatArray
from ecselm.metrics.intervals import bootstrap_interval
from ecselm.paper.statistics.ranks import by_mean_rank, friedman, kruskal, nemenyi
from ecselm.paper.statistics.tests import (
    Finding,
    column_of,
    corrected_t_test,
    differences,
    holm,
    paired_t_test,
    read_table,
    wilcoxon_test,
)

Pairwise = Callable[[FloatArray, int, int], Finding]


def _columns(V: FloatArray, i: int, j: int, test: Callable[..., Finding]) -> Finding:
    return test(V[:, i], V[:, j])


def _two_alone(V: FloatArray, i: int, j: int) -> Finding:
    return kruskal(V[:, [i, j]])


PAIRWISE: dict[str, Pairwise] = {
    "ttest_rel": partial(_columns, test=paired_t_test),
    "wilcoxon": partial(_columns, test=wilcoxon_test),
    "friedman": by_mean_rank,
    "nemenyi": nemenyi,
    "kruskal": _two_alone,
}
OVERALL: dict[str, Callable[[FloatArray], Finding]] = {"friedman": friedman, "kruskal": kruskal}
TESTS = (*PAIRWISE, "corrected_ttest")
CORRECTED = "nemenyi"  # its p values allow for all pairs already


@dataclass(frozen=True, slots=True)
class Differences:
    """How each method differs from the baseline, column by column."""

    effect: FloatArray  # (k,), mean of method - baseline
    low: FloatArray
    high: FloatArray
    wins: FloatArray  # (k,), rows in which the method is the better
    ties: FloatArray
    losses: FloatArray


def compare_methods(
    table: Any,
    baseline: Any,
    *,
    tests: Sequence[str] = ("ttest_rel", "wilcoxon", "friedman", "kruskal"),
    greater_is_better: bool = True,
    test_train_ratio: float | None = None,
    confidence: float = 0.95,
    rng: Any = 0,
) -> Any:
    """Test every method against one of them, and return a tidy frame.

    Parameters
    ----------
    table : DataFrame of shape (n, k)
        Data sets, or splits of one data set, by methods: complete, at least 2 by 2.
    baseline : label
        The column that the others are compared with.
    tests : sequence of str
        - "ttest_rel": paired t-test, as in table XIII;
        - "corrected_ttest": that of Nadeau and Bengio, for splits of one data set;
        - "wilcoxon": signed ranks;
        - "friedman": over all methods, then each against the baseline by mean ranks;
        - "nemenyi": each against the baseline by mean ranks, all pairs allowed for;
        - "kruskal": over all methods, then each against the baseline, rows unrelated.
    greater_is_better : bool, default=True
        What winning means; statistics and effects are of ``method - baseline`` either way.
    test_train_ratio : float, default=None
        ``n_test / n_train`` of each split, for "corrected_ttest".
    confidence : float, default=0.95
        Of the interval of the effect, by the BCa bootstrap over rows.
    rng : int or numpy.random.Generator, default=0
        Of the bootstrap.

    Returns
    -------
    comparisons : DataFrame
        A row per test and method: ``test, method, baseline, statistic, p, p_holm, effect,
        low, high, wins, ties, losses``. All p are two-sided. ``p_holm`` corrects each test
        for the number of methods; where one test is made ("friedman" and "kruskal" over
        all methods, rows whose method and baseline are missing) or all pairs are allowed
        for ("nemenyi") it equals ``p``. Methods equal in all rows have p = 1.

    Examples
    --------
    >>> import pandas as pd
    >>> results = pd.DataFrame({"ELM": [33.45, 37.05, 81.9], "ours": [50.45, 55.45, 92.7]})
    >>> found = compare_methods(results, "ours", tests=["ttest_rel"])
    >>> found[["method", "p", "effect", "losses"]].round(3).to_dict("records")
    [{'method': 'ELM', 'p': 0.022, 'effect': -15.4, 'losses': 3}]
    """
    import pandas as pd  # noqa: PLC0415  half a second that other imports need not wait

    chosen = _chosen(tests, test_train_ratio)
    frame = read_table(table)
    names, b = list(frame.columns), column_of(frame, baseline)
    V = frame.to_numpy()
    described = _described(V, b, greater_is_better, confidence, rng)
    records: list[dict[str, Any]] = []
    for name, test in chosen.items():
        if name in OVERALL:
            records.append({"test": name, **_measured(OVERALL[name](V))})
        records += _against(V, b, names, name, test, described)
    return pd.DataFrame(records, columns=list(_DTYPES)).astype(_DTYPES)


_DTYPES = {
    **dict.fromkeys(("test", "method", "baseline"), "object"),
    **dict.fromkeys(("statistic", "p", "p_holm", "effect", "low", "high"), "float64"),
    **dict.fromkeys(("wins", "ties", "losses"), "Int64"),
}


def _chosen(tests: Sequence[str], ratio: float | None) -> dict[str, Pairwise]:
    known = dict(PAIRWISE)
    if ratio is not None:
        corrected = partial(corrected_t_test, test_train_ratio=ratio)
        known["corrected_ttest"] = partial(_columns, test=corrected)
    names = [tests] if isinstance(tests, str) else list(tests)
    unknown = [name for name in names if name not in TESTS]
    if unknown or not names:
        raise ValueError(f"tests must be some of {TESTS}, got {names}")
    if "corrected_ttest" in names and ratio is None:
        raise ValueError("test_train_ratio must be given for 'corrected_ttest', got None")
    return {name: known[name] for name in names}


def _against(
    V: FloatArray, b: int, names: list[Any], name: str, test: Pairwise, found: Differences
) -> list[dict[str, Any]]:
    others = [j for j in range(len(names)) if j != b]
    findings = [test(V, j, b) for j in others]
    p = np.array([finding.p for finding in findings])
    corrected = p if name == CORRECTED else holm(p)
    return [
        {
            "test": name,
            "method": names[j],
            "baseline": names[b],
            **_measured(finding),
            "p_holm": p_holm,
            **{field: getattr(found, field)[j] for field in Differences.__slots__},
        }
        for j, finding, p_holm in zip(others, findings, corrected, strict=True)
    ]


def _measured(finding: Finding) -> dict[str, float]:
    return {"statistic": finding.statistic, "p": finding.p, "p_holm": finding.p}


def _described(
    V: FloatArray, b: int, greater_is_better: bool, confidence: float, rng: Any
) -> Differences:
    D = np.column_stack([differences(column, V[:, b]) for column in V.T])
    interval = bootstrap_interval(D, confidence=confidence, rng=rng)
    better = D > 0 if greater_is_better else D < 0
    return Differences(
        effect=D.mean(axis=0),
        low=interval.low,
        high=interval.high,
        wins=better.sum(axis=0),
        ties=(D == 0).sum(axis=0),
        losses=(~better & (D != 0)).sum(axis=0),
    )
