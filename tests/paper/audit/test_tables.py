"""Tables of the paper computed again."""

from __future__ import annotations

import numpy as np
import pytest

from ecselm.paper.audit.tables import (
    recompute_gas_tables,
    simulate_split_stds,
    summary_table,
    summary_tests,
)
from ecselm.paper.protocols.published import PUBLISHED


def test_gases_deviate_in_one_misprint_and_in_last_digits():
    found = recompute_gas_tables()
    off = {(d.item, d.method, d.row): abs(d.printed - d.recomputed) for d in found.deviations}
    assert (found.n_methods, found.n_numbers, len(off)) == (24, 192, 7)
    assert off.pop(("table-10", "ELM", "C6H6")) == pytest.approx(0.11, abs=0.005)
    assert max(off.values()) < 0.02


def test_the_t_test_as_printed_is_that_of_table_xiii():
    for pair in summary_tests(corrected=False).pairs:
        assert pair.t_test == pytest.approx(pair.published, abs=5e-5)


def test_the_row_of_ar_turns_three_decisions_at_one_per_cent():
    pairs = summary_tests(corrected=True).pairs
    turned = {p.method: p.t_test for p in pairs if (p.t_test < 0.01) != (p.published < 0.01)}
    expected = {"CSLDA": 0.0048, "CSLPP": 0.0334, "CSMFA": 0.0058}
    assert turned == pytest.approx(expected, abs=5e-5)


def test_six_rows_and_eight_tests_leave_nothing_to_wilcoxon():
    for corrected in (False, True):
        pairs = summary_tests(corrected=corrected).pairs
        assert {p.wilcoxon for p in pairs} == {2 / 2**6}
        assert min(p.wilcoxon_holm for p in pairs) == 8 * 2 / 2**6


def test_kruskal_wallis_finds_nothing_and_friedman_something():
    for corrected in (False, True):
        found = summary_tests(corrected=corrected)
        assert min(p.kruskal for p in found.pairs) > 0.05
        assert found.kruskal.p > 0.5
        assert found.friedman.p < 0.01


def test_correcting_moves_three_values_and_leaves_the_published_table_alone():
    printed, corrected = summary_table(corrected=False), summary_table(corrected=True)
    moved = {name for name in printed if (printed[name] != corrected[name]).any()}
    assert moved == {"CSLDA", "CSLPP", "CSMFA"}
    assert PUBLISHED["table-12"].column("CSLDA")[3] == 45.5


def test_splits_alone_vary_as_the_hypergeometric_distribution_says(rng):
    for split in simulate_split_stds(rng, 20_000):
        p = split.mean / 100.0
        exact = 100.0 * np.sqrt(p * (1 - p) / 220 * 400 / 619)
        assert split.expected == pytest.approx(exact, rel=0.01)
        assert split.printed < split.expected
        assert split.share_below < 0.06
