"""The front of recalls that a model can reach: a plot, and in notebooks a table with a slider."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ecselm._typing import FloatArray, IntArray
from ecselm._wording import brief
from ecselm.displays._drawing import COLOURS, MOST_NAMED, SHORT_NAME, WIDE, axes_or_new, draw_legend

CASES = 1000  # by which counts are stated
MOST_CELLS = 6000  # of a table in a notebook
LONGEST = 40  # characters of the name of a class
NOT_KNOWN = "not known"

# Colours are those of the notebook, light or dark. A fragment may be shown more than once.
STYLE = """
.KEY { color: inherit; max-width: 100%; }
.KEY .walk { display: block; margin: 0.5em 0; }
.KEY .walk[hidden] { display: none; }
.KEY input { display: block; width: min(30em, 100%); accent-color: currentColor; }
.KEY .rows { overflow-x: auto; }
.KEY table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
.KEY caption { text-align: left; }
.KEY th, .KEY td { padding: 0.15em 0.6em; text-align: right; color: inherit; }
.KEY thead th { border-bottom: 1px solid currentColor; vertical-align: bottom; }
.KEY tr.shown > * { font-weight: bold; box-shadow: inset 0 1px, inset 0 -1px; }
"""
# The slider selects a row of the table, which it folds; without a script the table is open.
SCRIPT = """
for (const box of document.querySelectorAll(".KEY:not([data-bound])")) {
  box.dataset.bound = "yes";
  const all = box.querySelector("details"), walk = box.querySelector(".walk");
  const slider = walk.querySelector("input"), said = walk.querySelector("output");
  const rows = [...all.querySelectorAll("tbody tr")];
  const heads = [...all.querySelectorAll("thead th")].map(one => one.textContent);
  const show = () => {
    const row = rows[slider.value];
    rows.forEach(one => one.classList.toggle("shown", one === row));
    const cells = [...row.children].map(one => one.textContent);
    said.textContent = cells.map((text, i) => heads[i] + ": " + text).join("; ");
    slider.setAttribute("aria-valuetext", said.textContent);
  };
  slider.addEventListener("input", show);
  walk.hidden = rows.length < 2;
  all.open = walk.hidden;
  show();
}
"""


class FrontDisplay:
    """Points between the mistakes on one class and those on others, of one fitted model.

    In notebooks it shows as a table with a slider, in counts per 1000 cases; :meth:`plot` draws
    it. Points are those of ``front_``: they were chosen on one half of the validation rows, and
    their figures and standard errors are those of the other half.

    Parameters
    ----------
    front : DataFrame
        A row per point, with the columns of ``front_``.
    classes : sequence of length k
    shares : array of shape (k,)
        Of the classes among the cases that are counted.
    pos_label : label or None, default=None
        For two classes, the one that is caught or missed; None is the second, whose rate of
        false alarms ``at(alarms=...)`` limits.

    Attributes
    ----------
    recalls, std_errors : array of shape (q, k)
    best : int
        The point of least mean cost; without stated costs that of the highest mean recall.
    lines_ : list of matplotlib Line2D
        One for two classes, else one per point.
    bars_ : matplotlib ErrorbarContainer
        Of all points for two classes, else of the best one.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from ecselm import CostDecisionClassifier
    >>> from ecselm.displays import FrontDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = CostDecisionClassifier(LogisticRegression(), cost={(0, 1): 5}, cv=5)
    >>> model = model.set_params(calibration="cross").fit(X[:, :2], y)
    >>> display = FrontDisplay.from_estimator(model, pos_label=0)
    >>> len(display.front) == len(display.counts())
    True
    """

    lines_: list[Any]
    bars_: Any
    ax_: Any
    figure_: Any

    def __init__(
        self, front: Any, classes: Sequence[Any], shares: Any, *, pos_label: Any = None
    ) -> None:
        labels = np.asarray(classes).tolist()
        k = len(labels)
        missing = [
            name
            for label in labels
            for name in (f"recall of {label}", f"std error of {label}")
            if name not in front.columns
        ]
        if missing or not len(front):
            raise ValueError(
                "front must have points with a recall and a std error of every class, got "
                + (f"no column {brief(missing[0])!r}" if missing else "no points")
            )
        pi = np.asarray(shares, dtype=np.float64)
        if pi.shape != (k,) or not np.isfinite(pi).all() or (pi < 0).any() or not pi.any():
            raise ValueError(f"shares must be numbers >= 0 for {k} classes, got {shares!r}")
        if pos_label is not None and (k != 2 or pos_label not in labels):
            raise ValueError(f"pos_label must be one of two classes, got {pos_label!r}")
        self.front = front
        self.classes, self.shares = labels, pi / pi.sum()
        self.pos_label = labels[1] if k == 2 and pos_label is None else pos_label
        self.recalls = self._columns("recall of")
        self.std_errors = self._columns("std error of")
        self.best = self._best()

    def _columns(self, name: str) -> FloatArray:
        columns = [f"{name} {label}" for label in self.classes]
        values: FloatArray = self.front[columns].to_numpy(dtype=np.float64)
        return values

    def _best(self) -> int:
        if "mean cost" in self.front.columns:
            mean_cost = self.front["mean cost"].to_numpy(dtype=np.float64)
            if np.isfinite(mean_cost).any():
                return int(np.nanargmin(mean_cost))
        return int(np.nan_to_num(self.recalls).mean(axis=1).argmax())

    @classmethod
    def from_estimator(cls, estimator: Any, *, pos_label: Any = None) -> Self:
        """Return the front of a fitted model; unlike other displays, without drawing it.

        A notebook shows the returned display itself, without matplotlib.

        Parameters
        ----------
        estimator : classifier
            With ``front_``, such as ``ECSELMClassifier``, ``CostDecisionClassifier`` and
            ``CostSearchCV``, or a pipeline or search that ends with one.
        pos_label : label or None, default=None
            For two classes, the one that is caught or missed; None is the second.

        Returns
        -------
        display : FrontDisplay
        """
        model = _with_front(estimator)
        try:
            front = model.front_
        except AttributeError as error:  # it says why this model has none
            raise ValueError(f"estimator must have front_: {error}") from error
        return cls(front, model.classes_, model._class_shares_, pos_label=pos_label)

    def counts(self) -> Any:
        """Return what happens to 1000 cases at every point, with standard errors.

        Returns
        -------
        counts : DataFrame
            For two classes ``caught``, ``missed`` and ``false alarms``; else ``missed of
            <label>`` for every class. For each of them ``std error of <name>``. Then ``all
            mistakes``.
        """
        import pandas as pd  # noqa: PLC0415  half a second that only this method needs

        return pd.DataFrame(
            {
                **{name: values for name, values, _ in self._counted()},
                **{f"std error of {name}": error for name, _, error in self._counted()},
                "all mistakes": self._all_mistakes(),
            },
            index=self.front.index,
        )

    def _counted(self) -> list[tuple[str, FloatArray, FloatArray]]:
        """Return what is counted, with numbers and standard errors (q,) of each."""
        per = CASES * self.shares
        missed, errors = per * (1.0 - self.recalls), per * self.std_errors
        if self.pos_label is None:
            names = [f"missed of {label}" for label in self.classes]
            return [(name, missed[:, i], errors[:, i]) for i, name in enumerate(names)]
        i = self.classes.index(self.pos_label)
        return [
            ("caught", per[i] * self.recalls[:, i], errors[:, i]),
            ("missed", missed[:, i], errors[:, i]),
            ("false alarms", missed[:, 1 - i], errors[:, 1 - i]),
        ]

    def _all_mistakes(self) -> FloatArray:
        # A class that no row was reported of may still have no share in the cases.
        missed = np.where(self.shares > 0, 1.0 - self.recalls, 0.0)
        found: FloatArray = CASES * missed @ self.shares
        return found

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw misses against false alarms, or the recalls of more than two classes.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a new figure.
        **kwargs
            Passed to ``Axes.errorbar`` for two classes, else to ``Axes.plot`` for the points.

        Returns
        -------
        self
        """
        self.ax_ = axes_or_new(ax, None if self.pos_label is not None else WIDE)
        self.figure_ = self.ax_.figure
        if self.pos_label is None:
            self._draw_recalls(kwargs)
        else:
            self._draw_misses(kwargs)
        self.ax_.grid(alpha=0.3)
        draw_legend(self.ax_, beside=ax is None and self.pos_label is None)
        return self

    def _draw_misses(self, style: dict[str, Any]) -> None:
        i = self.classes.index(self.pos_label)
        x, y = 1.0 - self.recalls[:, 1 - i], 1.0 - self.recalls[:, i]
        look = {"color": COLOURS[0], "marker": "o", "markersize": 4, "linewidth": 1.0}
        look |= {"elinewidth": 0.6, "label": "points, with standard errors"}
        self.bars_ = self.ax_.errorbar(
            x, y, yerr=self.std_errors[:, i], xerr=self.std_errors[:, 1 - i], **{**look, **style}
        )
        self.lines_ = [self.bars_.lines[0]]
        self.ax_.plot(
            *(x[[self.best]], y[[self.best]]), color=COLOURS[1], marker="D", markersize=7,
            linestyle="none", label=self._name_of_best(), zorder=3,
        )  # fmt: skip
        other, caught = (brief(str(self.classes[j]), LONGEST) for j in (1 - i, i))
        self.ax_.set_xlabel(f"false alarms, share of {other}", parse_math=False)
        self.ax_.set_ylabel(f"misses, share of {caught}", parse_math=False)

    def _draw_recalls(self, style: dict[str, Any]) -> None:
        k, places = len(self.classes), np.arange(len(self.classes))
        look = {"color": COLOURS[0], "linewidth": 0.8, "alpha": 0.25, **style}
        self.lines_ = self.ax_.plot(places, self.recalls.T, **look)
        self.lines_[0].set_label(f"{len(self.recalls)} points")
        self.bars_ = self.ax_.errorbar(
            places, self.recalls[self.best], yerr=self.std_errors[self.best], color=COLOURS[1],
            marker="D", markersize=5, linewidth=1.6, label=self._name_of_best(), zorder=3,
        )  # fmt: skip
        if k <= MOST_NAMED:
            names = [brief(str(label), LONGEST) for label in self.classes]
            turned = {"rotation": 30, "ha": "right"} if max(map(len, names)) > SHORT_NAME else {}
            self.ax_.set_xticks(places, names, parse_math=False, **turned)
        self.ax_.set_xlabel("class")
        self.ax_.set_ylabel("recall")

    def _name_of_best(self) -> str:
        return "least mean cost" if "mean cost" in self.front.columns else "highest mean recall"

    def _repr_html_(self) -> str:
        """Return the points as a table, with a slider where scripts may run."""
        shown = _some(len(self.front), max(2, MOST_CELLS // (len(self._counted()) + 3)), self.best)
        head, cells = self._table(shown)
        caption = f"{len(shown)} points of the front" + (
            f", of {len(self.front)}" if len(shown) < len(self.front) else ""
        )
        caption += f": counts per {CASES} cases, with standard errors from validation rows"
        rows = [
            _element("tr", [_element("th", row[:1], scope="row"), *_elements("td", row[1:])])
            for row in cells
        ]
        table = _element(
            "table",
            [
                _element("caption", [escape(caption)]),
                _element("thead", [_element("tr", _elements("th", head, scope="col"))]),
                _element("tbody", rows),
            ],
        )
        # The name is that of the contents: the same in every run, and another for other points.
        key = f"ecselm-front-{hashlib.sha256(table.encode()).hexdigest()[:16]}"
        start = int(np.flatnonzero(shown == self.best)[0])
        slider = (
            '<div class="walk" hidden>'
            f"<label>Point of the front, counts per {CASES} cases "
            f'<input type="range" min="0" max="{len(shown) - 1}" value="{start}" step="1">'
            '</label><output aria-live="polite"></output></div>'
        )
        area = _element(
            "div", [table], class_="rows", role="region", tabindex="0", aria_label=caption
        )
        folded = f"<details open><summary>All points</summary>{area}</details>"
        style = f"<style>{STYLE.replace('KEY', key)}</style>"
        script = f"<script>{SCRIPT.replace('KEY', key)}</script>"
        return _element("div", [style, slider, folded, script], class_=key)

    def _table(self, shown: IntArray) -> tuple[list[str], list[list[str]]]:
        """Return the names of the columns and the cells of some points, escaped."""
        head, points = ["point"], [str(i + 1) for i in shown.tolist()]
        if "threshold" in self.front.columns:
            head = [f"threshold of {brief(str(self.classes[1]), LONGEST)}"]
            points = [f"{one:.3g}" for one in self.front["threshold"].to_numpy()[shown]]
        counted = self._counted()
        head += [brief(name, LONGEST + 20) for name, _, _ in counted]
        if self.pos_label is not None:  # false alarms are of the other class
            caught = brief(str(self.pos_label), LONGEST)
            head[1:3] = [f"{caught} {name}" for name in head[1:3]]
        columns = [points]
        columns += [_with_errors(values[shown], errors[shown]) for _, values, errors in counted]
        head.append("all mistakes")
        columns.append([_count(one) for one in self._all_mistakes()[shown]])
        if "mean cost" in self.front.columns:
            head.append(f"cost of {CASES} cases")
            values = CASES * self.front["mean cost"].to_numpy(dtype=np.float64)[shown]
            columns.append([_count(one) for one in values])
        cells = [[escape(one) for one in row] for row in zip(*columns, strict=True)]
        return [escape(one) for one in head], cells


def _with_front(estimator: Any) -> Any:
    """Return the estimator whose type has ``front_``: this one, or the last within it."""
    check_is_fitted(estimator)
    inner = estimator
    while not hasattr(type(inner), "front_"):
        steps = getattr(inner, "steps", None)
        inner = getattr(inner, "best_estimator_", steps[-1][1] if steps else None)
        if inner is None:
            raise ValueError(
                f"estimator must have front_, got {type(estimator).__name__}, which has none"
            )
    return inner


def _some(n: int, most: int, kept: int) -> IntArray:
    """Return at most so many positions at equal distances, one of them in any case."""
    if n <= most:
        return np.arange(n)
    places = np.linspace(0, n - 1, most).astype(np.intp)
    places[np.abs(places - kept).argmin()] = kept
    return np.unique(places)


def _count(value: float) -> str:
    """Return a number of cases, with a digit after the point where it is small."""
    if not np.isfinite(value):
        return NOT_KNOWN
    return f"{value:,.0f}" if value >= 9.95 else f"{value:.1f}"


def _with_errors(values: FloatArray, errors: FloatArray) -> list[str]:
    pairs = zip(values.tolist(), errors.tolist(), strict=True)
    return [
        f"{_count(value)} ± {_count(error)}" if np.isfinite([value, error]).all() else NOT_KNOWN
        for value, error in pairs
    ]


def _element(tag: str, children: Iterable[str], **attributes: str) -> str:
    """Return an element; children are HTML already, attributes are escaped."""
    listed = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for name, value in attributes.items()
    )
    return f"<{tag}{listed}>{''.join(children)}</{tag}>"


def _elements(tag: str, children: Iterable[str], **attributes: str) -> list[str]:
    return [_element(tag, [one], **attributes) for one in children]
