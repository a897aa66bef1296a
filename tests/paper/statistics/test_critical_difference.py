import matplotlib.pyplot as plt
import pandas as pd
import polars as pl
import pytest

from ecselm.paper.statistics import (
    CriticalDifferenceDisplay,
    critical_difference,
    mean_ranks,
)
from ecselm.paper.statistics.ranks import cliques

SCORES = pd.DataFrame(
    {"ELM": [70, 81, 60, 50], "ECSELM": [78, 90, 70, 65], "a long name": [75, 80, 65, 55]},
    index=["a", "b", "c", "d"],
)


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


@pytest.mark.parametrize("table", [SCORES, pl.DataFrame(SCORES), SCORES.to_dict("list")])
def test_every_method_is_drawn_from_its_mean_rank_best_first(table, ax):
    display = CriticalDifferenceDisplay.from_scores(table, ax=ax)
    ranks = mean_ranks(SCORES)
    assert list(display.text_) == ["ECSELM", "a long name", "ELM"]
    for method, line in display.name_lines_.items():
        assert line.get_xdata()[0] == ranks[method]
        assert display.text_[method].get_text().strip() == f"{method} ({ranks[method]:.2f})"
    assert display.ax_ is ax
    assert display.figure_ is ax.figure


def test_the_difference_is_nemenyis_and_bars_span_their_methods():
    ranks = {"a": 1.2, "b": 1.9, "c": 3.4, "d": 3.5}
    display = CriticalDifferenceDisplay.from_ranks(ranks, 30, alpha=0.1)
    difference = critical_difference(4, 30, alpha=0.1)
    assert display.difference == difference
    first, last = display.difference_line_.get_xdata()
    assert last - first == pytest.approx(difference, abs=1e-12)
    assert [bar.get_xdata().tolist() for bar in display.bars_] == [
        pytest.approx([1.15, 1.95]),
        pytest.approx([3.35, 3.55]),
    ]


def test_smaller_may_be_better():
    display = CriticalDifferenceDisplay.from_scores(SCORES, greater_is_better=False)
    assert next(iter(display.text_)) == "ELM"
    assert display.ranks["ECSELM"] == 3.0


def test_no_name_stands_over_another_or_outside_a_new_figure():
    ranks = {f"method number {i}": 1 + i for i in range(11)}
    display = CriticalDifferenceDisplay.from_ranks(ranks, 40)
    display.figure_.canvas.draw()
    boxes = [text.get_window_extent() for text in display.text_.values()]
    frame = display.figure_.bbox
    assert all(frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 for box in boxes)
    assert not any(one.overlaps(two) for i, one in enumerate(boxes) for two in boxes[:i])


def test_what_is_no_table_leaves_no_figure():
    with pytest.raises(ValueError, match="table must be complete"):
        CriticalDifferenceDisplay.from_scores(SCORES.replace(70, float("nan")))
    with pytest.raises(ValueError, match="alpha must lie between 0 and 1, got 2"):
        CriticalDifferenceDisplay.from_scores(SCORES, alpha=2)
    assert not plt.get_fignums()
