"""Figures from made frames."""

from __future__ import annotations

import builtins
import subprocess
import sys
from itertools import product

import numpy as np
import pandas as pd
import pytest

from ecselm.paper.protocols import ITEMS, draw, figures
from ecselm.paper.protocols.figures import COLUMNS, FIGURES, confusion

pytest.importorskip("matplotlib")

METHODS = ("ELM", "KELM", "ECSELM")
POINTS = {
    "cum_score": range(5),
    "tpr": np.linspace(0, 1, 11),
    "confusion": [f"{i},{j}" for i, j in product(range(3), repeat=2)],
}


def made(item, data=("first", "second"), methods=METHODS):
    """Return results of two splits as a run would leave them, ``at`` being text."""
    metric = FIGURES[item].metric
    points = POINTS.get(metric, [2.0**p for p in (0, 5, 10, 20, 30)])
    if item == "figure-12":
        points = [100, 200, 300]
    rows = [
        (name, method, split, metric, str(at), (1 + i + split) / (len(points) + 3))
        for name, method, split in product(data, methods, (0, 1))
        for i, at in enumerate(points)
    ]
    if item == "figure-8":
        rows += [(name, method, 0, "auc", "", 0.875) for name in data for method in methods]
    return pd.DataFrame(rows, columns=COLUMNS)


@pytest.mark.slow
@pytest.mark.parametrize("item", FIGURES)
def test_every_figure_is_written_twice_and_the_same_again(item, tmp_path):
    frame = made(item)
    first, second = draw(item, frame, tmp_path / "a"), draw(item, frame, tmp_path / "b")
    assert [file.suffix for file in first] == [".png", ".svg"]
    assert [file.read_bytes() for file in first] == [file.read_bytes() for file in second]
    assert first[0].read_bytes().startswith(b"\x89PNG")
    text = first[1].read_text(encoding="utf-8")
    assert all(method in text for method in METHODS)
    assert "first" in text
    assert "second" in text


@pytest.mark.slow
@pytest.mark.parametrize("n_data", [1, 3])
@pytest.mark.parametrize("item", FIGURES)
def test_all_texts_lie_inside_the_figure(item, n_data):
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.style import context

    methods = dict.fromkeys(one.name for part in ITEMS[item].parts for one in part.settings)
    data = ("AR: Olivetti faces", "LFW, LBP", "E-NOSE: gas batch 1")[:n_data]
    with context(["default", figures.STYLE]):
        figure = figures._make_figure(FIGURES[item], made(item, data, tuple(methods)))
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        box = figure.get_tightbbox(canvas.get_renderer())  # inches
    width, height = figure.get_size_inches()
    assert min(box.x0, box.y0) >= 0.0
    assert box.x1 <= width
    assert box.y1 <= height


def test_an_ending_chooses_the_format(tmp_path):
    assert draw("figure-3", made("figure-3"), tmp_path / "a.svg") == (tmp_path / "a.svg",)
    assert [file.name for file in tmp_path.iterdir()] == ["a.svg"]


def test_the_area_under_the_curve_stands_in_the_legend(tmp_path):
    (file,) = draw("figure-8", made("figure-8"), tmp_path / "roc.svg")
    assert "ECSELM, AUC 0.875" in file.read_text(encoding="utf-8")


def test_a_roc_curve_without_areas_is_drawn_all_the_same(tmp_path):
    frame = made("figure-8")
    (file,) = draw("figure-8", frame[frame["metric"] == "tpr"], tmp_path / "roc.svg")
    assert "AUC" not in file.read_text(encoding="utf-8")


def test_curves_are_means_over_splits_whatever_their_order(tmp_path):
    frame = made("figure-3")
    averaged = frame.groupby(["data", "method", "metric", "at"], sort=False, as_index=False)
    mean = averaged["value"].mean().assign(split=0)
    one, other = (
        draw("figure-3", table, tmp_path / name)[0].read_bytes()
        for table, name in ((frame, "a.png"), (mean, "b.png"))
    )
    assert one == other


def test_other_metrics_are_passed_over(tmp_path):
    frame = made("figure-3")
    more = pd.concat([frame, frame.assign(metric="accuracy", at="x", value=np.nan)])
    pictures = [
        draw("figure-3", table, tmp_path / "a.png")[0].read_bytes() for table in (frame, more)
    ]
    assert pictures[0] == pictures[1]


def test_areas_do_not_disturb_a_confusion_matrix(tmp_path):
    frame = made("figure-9")
    more = pd.concat([frame, frame.assign(metric="auc", at="")])
    (file,) = draw("figure-9", more, tmp_path / "a.png")
    assert file.exists()


def test_a_confusion_matrix_has_rows_of_shares_and_classes_in_order():
    rows = [("10,10", 4), ("10,2", 4), ("2,2", 1), ("2,10", 0), ("2,2", 3)]
    names, M = confusion(pd.DataFrame(rows, columns=["at", "value"]))
    assert names == ["2", "10"]
    np.testing.assert_array_equal(M, [[1.0, 0.0], [0.5, 0.5]])


def test_classes_with_names_keep_their_order():
    names, M = confusion(pd.DataFrame([("CO,NO2", 1), ("CO,CO", 3)], columns=["at", "value"]))
    assert names == ["CO", "NO2"]
    np.testing.assert_array_equal(M, [[0.75, 0.25], [0.0, 0.0]])


def test_a_hundred_classes_are_drawn_without_numbers(tmp_path):
    rows = [("AR", "ELM", 0, "confusion", f"{i},{i}", 1.0) for i in range(100)]
    (file,) = draw("figure-9", pd.DataFrame(rows, columns=COLUMNS), tmp_path / "a.svg")
    assert "1.00" not in file.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("item", "change", "path", "message"),
    [
        ("figure-7", lambda f: f, "a", "item must be one of figure-3, .*got 'figure-7'"),
        ("figure-3", lambda f: f, "a.gif", r"path must end in .png, .svg or nothing, got 'a.gif'"),
        ("figure-3", lambda f: f.drop(columns="at"), "a", "columns data, .*got no 'at'"),
        ("figure-3", lambda f: f.assign(metric="mae"), "a", "metric 'cum_score' for figure-3"),
        ("figure-3", lambda f: f.assign(value=np.nan), "a", "a value in every row, got NaN"),
        ("figure-9", lambda f: f.assign(metric="confusion"), "a", "at must be 'i,j'.*got '0'"),
    ],
)
def test_what_cannot_be_drawn_is_refused_and_leaves_no_file(item, change, path, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        draw(item, change(made("figure-3")), tmp_path / path)
    assert not list(tmp_path.iterdir())


def test_without_matplotlib_the_extra_is_named(monkeypatch, tmp_path):
    real = builtins.__import__

    def refusing(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refusing)
    with pytest.raises(ImportError, match='install the extra "plot"'):
        draw("figure-3", made("figure-3"), tmp_path / "a")


def test_matplotlib_is_not_loaded_before_something_is_drawn():
    code = "import sys, ecselm.paper.protocols.figures; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # noqa: S603


BEAUTY = ("Facial (A), E", "Facial (A), W", "Facial (A), E+W")


def axes_of(item, frame):
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = figures._make_figure(FIGURES[item], frame)
    FigureCanvasAgg(figure).draw()
    return figure.axes


@pytest.mark.parametrize("item", ["figure-3", "figure-4", "figure-5"])
def test_attractiveness_has_six_panels_elms_above_and_subspaces_below(item):
    methods = [one.name for one in ITEMS[item].parts[0].settings]
    panels = axes_of(item, made(item, BEAUTY, methods))
    titles = [" ".join(ax.get_title().split()) for ax in panels]
    families = ["ELMs"] * 3 + ["subspaces"] * 3
    assert titles == [
        f"({letter}) {data}, {family}"
        for letter, data, family in zip("abcdef", BEAUTY * 2, families, strict=True)
    ]
    ours = {name for name in methods if name.startswith("ECSELM")}
    subspaces = {name for name in methods if name.endswith("-NN")}
    for i, ax in enumerate(panels):
        drawn = {text.get_text() for text in ax.get_legend().get_texts()}
        assert drawn == ours | (subspaces if i >= 3 else set(methods) - subspaces - ours)


def test_a_method_looks_alike_in_all_panels():
    methods = [one.name for one in ITEMS["figure-3"].parts[0].settings]
    looks = {}
    for ax in axes_of("figure-3", made("figure-3", BEAUTY, methods)):
        for line in ax.get_lines():
            style = line.get_color(), line.get_linestyle(), line.get_marker()
            looks.setdefault(line.get_label(), set()).add(style)
    assert set(looks) == set(methods)
    assert all(len(found) == 1 for found in looks.values())
    assert len(set.union(*looks.values())) == len(methods)


def test_a_family_without_methods_has_no_panels():
    assert len(axes_of("figure-3", made("figure-3", BEAUTY, METHODS))) == 3


def test_the_legend_of_the_roc_curves_stands_inside_the_axes():
    methods = tuple(one.name for one in ITEMS["figure-8"].parts[0].settings)
    (ax,) = axes_of("figure-8", made("figure-8", ("LFW, LBP: own data",), methods))
    legend, box = ax.get_legend().get_window_extent(), ax.get_window_extent()
    assert box.x0 <= legend.x0 < legend.x1 <= box.x1
    assert box.y0 <= legend.y0 < legend.y1 <= box.y1
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("false positive rate", "true positive rate")


@pytest.mark.parametrize("n_persons", [12, 40, 100])
def test_scores_of_faces_go_to_the_number_of_persons(n_persons):
    rows = [("AR", "ELM", 0, "cum_score", str(at), 1.0) for at in range(n_persons)]
    (ax,) = axes_of("figure-6", pd.DataFrame(rows, columns=COLUMNS))
    assert ax.get_xlim() == (0, n_persons - 1)
    assert all(float(tick).is_integer() for tick in ax.get_xticks())
