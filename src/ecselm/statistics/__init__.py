"""What a table of results allows to say: tests, ranks, intervals."""

from ecselm.statistics.comparison import compare_methods
from ecselm.statistics.finding import Finding
from ecselm.statistics.holm import holm
from ecselm.statistics.intervals import Interval, bootstrap_interval
from ecselm.statistics.paired import corrected_t_test, paired_t_test, wilcoxon_test
from ecselm.statistics.ranks import (
    critical_difference,
    friedman_test,
    kruskal_test,
    mean_ranks,
    nemenyi_test,
)

__all__ = [
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
