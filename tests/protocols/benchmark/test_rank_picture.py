import pandas as pd
import pytest

from ecselm.protocols.benchmark.rank_picture import cliques, draw_ranks

pytest.importorskip("matplotlib")
RANKS = pd.Series({"ECSELM": 1.6, "a method with a long name": 3.4, "ELM": 2.0, "KELM": 3.0})


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [
        ([1.0, 3.0, 5.0], []),
        ([1.0, 1.5, 1.9], [(0, 2)]),
        ([1.0, 1.5, 2.2, 2.3], [(0, 1), (1, 3)]),
        ([1.0, 1.0], [(0, 1)]),
    ],
)
def test_bars_join_what_is_within_the_difference(ranks, expected):
    assert cliques(ranks, 1.0) == expected


def test_the_same_ranks_give_the_same_bytes(tmp_path):
    first, second = (draw_ranks(RANKS, 20, "Ranks", tmp_path / name) for name in "ab")
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()
    svg = first[1].read_text()
    assert all(name in svg for name in RANKS.index)
