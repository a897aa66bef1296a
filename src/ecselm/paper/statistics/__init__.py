"""Statistics of a table of results: tests, ranks, intervals."""

from ecselm.metrics.intervals import Interval, bootstrap_interval
from ecselm.paper.statistics.comparison import compare_methods
from ecselm.paper.statistics.ranks import (
    CriticalDifferenceDisplay,
    critical_difference,
    friedman_test,
    kruskal_test,
    mean_ranks,
    nemenyi_test,
)
from ecselm.paper.statistics.tests import (
    Finding,
    corrected_t_test,
    holm,
    paired_t_test,
    wilcoxon_test,
)

__all__ = [
    "CriticalDifferenceDisplay",
    "Finding",
    "Interval",
    "bootstrap_interval",
    "compare_methods",
    "corrected_t_test",
    "critical_difference",
    "friedman_test",
    "holm",
    "kruskal_test",
    "mean_ranks",
    "nemenyi_test",
    "paired_t_test",
    "wilcoxon_test",
]
