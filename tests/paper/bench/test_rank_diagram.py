import pandas as pd
import pytest

from ecselm.paper.bench.report import draw_ranks

pytest.importorskip("matplotlib")
RANKS = pd.Series({"ECSELM": 1.6, "a method with a long name": 3.4, "ELM": 2.0, "KELM": 3.0})


def test_the_same_ranks_give_the_same_bytes(tmp_path):
    first, second = (draw_ranks(RANKS, 20, "Ranks", tmp_path / name) for name in "ab")
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()
    svg = first[1].read_text()
    assert all(name in svg for name in RANKS.index)
