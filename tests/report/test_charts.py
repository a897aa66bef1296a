"""Charts stand where the numbers are."""

import re

import pytest
from numpy.testing import assert_allclose

from ecselm.report import report_html
from ecselm.report.charts import (
    BOTTOM,
    HEIGHT,
    LEFT,
    N_COLOURS,
    RIGHT,
    TOP,
    WIDTH,
    Axis,
    Line,
    bar,
    chart,
    levels,
    path_of,
    whisker,
)
from ecselm.report.html import Markup, element, shortened
from ecselm.report.results import hardest
from ecselm.study import Curve
from tests.report.pages import Page


def points_of(path, x_axis, y_axis):
    """Return the numbers that a path was drawn from."""
    spots = [tuple(map(float, spot.split())) for spot in re.split("[ML]", path)[1:]]
    wide, high = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    for across, down in spots:
        x = x_axis.low + (across - LEFT) / wide * (x_axis.high - x_axis.low)
        y = y_axis.low + (HEIGHT - BOTTOM - down) / high * (y_axis.high - y_axis.low)
        yield x, y


def test_lines_go_through_their_points():
    x, y = (0.0, 3.0, 4.0, 10.0), (-5.0, 2.0, 1.0, 8.0)
    x_axis, y_axis = Axis.around("x", x), Axis.around("y", y)
    path = path_of(Line(Markup("a"), x, y, "line-1"), x_axis, y_axis)
    found = [*points_of(path, x_axis, y_axis)]
    assert_allclose(found, [*zip(x, y, strict=True)], atol=0.05 * 13 / 200)


def test_a_line_that_comes_back_is_drawn_back():
    axis = Axis.of_shares("")
    path = path_of(Line(Markup("a"), (0, 1, 0), (0, 1, 0), "line-1"), axis, axis)
    assert path.count("L") == 2


def test_curves_on_the_page_are_those_of_the_card(made):
    curve = made["tumours"].test.roc[0]
    drawn = Page(report_html(made["tumours"])).all("path")
    paths = [attrs["d"] for attrs, _ in drawn]
    axis = Axis.of_shares("")
    expected = path_of(Line(Markup(""), curve.x, curve.y, "line-1"), axis, axis)
    assert expected in paths
    found = [*points_of(expected, axis, axis)]
    assert found[0] == pytest.approx((0.0, 0.0), abs=1e-3)
    assert found[-1] == pytest.approx((1.0, 1.0), abs=1e-3)


def test_a_single_point_is_a_dot():
    axis = Axis.of_shares("")
    text = chart("one", axis, axis, (Line(Markup("a"), (0.5,), (0.25,), "line-1"),))
    ((attrs, _),) = Page(text).all("circle")
    assert (attrs["data-x"], attrs["data-y"]) == ("0.5", "0.25")
    assert (attrs["cx"], attrs["cy"]) == ("200.0", "171.0")


@pytest.mark.parametrize("ends", [(0.0, 1.0), (-3e-7, 2e-7), (0.951, 0.9511), (-1e9, 5e12), (7, 7)])
def test_ticks_are_round_few_and_inside(ends):
    axis = Axis.around("", ends)
    assert 2 <= len(axis.ticks) <= 6
    assert all(axis.low <= tick <= axis.high + 1e-9 * abs(axis.high) for tick in axis.ticks)
    written = [axis.written(tick) for tick in axis.ticks]
    assert len(set(written)) == len(written)


def test_whole_numbers_have_whole_ticks():
    assert Axis.around("", (0, 2), whole=True).ticks == (0.0, 1.0, 2.0)
    assert Axis.around("", (0, 0), whole=True).ticks == (0.0, 1.0)


def test_bars_and_whiskers_are_shares_of_the_width():
    ((rect, _),) = Page(bar("b", ((0.25, 0.75, "own"),))).all("rect")
    assert (rect["x"], rect["width"]) == ("25%", "50%")
    ((rect, _),) = Page(bar("b", ((0.75, 0.25, "own"),))).all("rect")
    assert (rect["x"], rect["width"]) == ("25%", "50%")
    page = Page(whisker("w", 0.5, 0.4, 0.7))
    interval = next(attrs for attrs, _ in page.all("line") if attrs["class"] == "interval")
    assert (interval["x1"], interval["x2"]) == ("40%", "70%")
    assert page.all("circle")[0][0]["cx"] == "50%"


def test_of_many_curves_the_hardest_are_drawn():
    curves = [Curve(str(i), (0.0, 1.0), (0.0, 1.0), 1 - i / 100) for i in range(20)]
    assert hardest(curves) == [*range(20 - N_COLOURS, 20)]
    assert hardest([*curves[:3], Curve("none", (), ())]) == [0, 1, 2]


def test_levels_of_costs():
    assert levels([[0.0, 2.0], [2.0, 0.0]]) == [[0.0, 0.5], [0.5, 0.0]]
    assert levels([[0.0, -1.0], [1.0, 0.0]]) == [[0.0, 0.0], [1.0, 0.0]]
    assert levels([[0.0]]) == [[0.0]]


def test_attributes_that_are_false_are_left_out():
    assert (
        element("details", "a", open=True, title=None, hidden=False) == "<details open>a</details>"
    )


@pytest.mark.parametrize("longest", [5, 6, 20])
def test_shortened_names_keep_both_ends(longest):
    name = "start of a very long name 17"
    short = shortened(name, longest)
    assert len(short) == longest
    head, tail = short.split("…")
    assert name.startswith(head)
    assert name.endswith(tail)
    assert shortened("  ", 5) == "(empty)"
