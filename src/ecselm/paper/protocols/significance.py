"""Table XIII: what may be said of table XII."""

from __future__ import annotations

from typing import Any

from ecselm.paper.protocols.items import Item
from ecselm.paper.protocols.layout import Table, aligned, laid_out
from ecselm.paper.statistics import compare_methods

BASELINE = "ECSELM"
TESTS = ("ttest_rel", "wilcoxon", "friedman", "kruskal")


def significance_table(item: Item, frame: Any) -> Table:
    """Return tests of every method against ECSELM over the data sets of table XII.

    The paired t-test is the paper's; its ``H`` are decisions at 1 % and 5 %. The others are
    what fits few data sets better, and Holm's correction for eight comparisons.

    Parameters
    ----------
    item : Item
    frame : DataFrame
        Tidy results.

    Returns
    -------
    Table
        Its ``numbers`` have all that :func:`ecselm.paper.statistics.compare_methods` finds.
    """
    numbers = laid_out(item, frame).numbers
    means = numbers.pivot_table(index="data", columns="method", values="mean", sort=False)
    found = compare_methods(100.0 * means, BASELINE, tests=TESTS)
    pairs = found[found["method"].notna()]
    p = pairs.pivot_table(index="method", columns="test", values="p", sort=False)
    holm = pairs[pairs["test"] == "ttest_rel"].set_index("method")["p_holm"]
    shown = p[list(TESTS)].assign(holm=holm)
    for level in (0.01, 0.05):
        shown[f"H ({level:g})"] = (p["ttest_rel"] < level).astype(int)
    table = aligned(item.title, shown.reset_index())
    return Table(table.title, table.header, table.rows, found)
