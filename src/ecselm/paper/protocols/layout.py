"""Lay out tidy results as tables: means and standard deviations in the paper's order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ecselm.paper.methods import find_method
from ecselm.paper.protocols.items import FORMS, Item, Part
from ecselm.paper.statistics import compare_methods

ERROR_RATES = frozenset({"let_in", "rejected", "confused"})
SHARES = (
    frozenset({"accuracy", "arr", "trr", "recall", "gmean", "savings", "cum_score", "tpr"})
    | ERROR_RATES
)
NAMES = {
    "arr": "ARR",
    "trr": "TRR",
    "auc": "AUC",
    "tpr": "TPR",
    "cum_score": "score within",
    "mean_cost": "mean cost",
    "let_in": "let in",
}
MAX_ROWS = 60  # in the terminal; files have them all
SHOWN_RATES = frozenset({"0.01", "0.05", "0.10", "0.20", "0.50"})  # of a ROC curve
SHOWN_TOLERANCES = frozenset(map(str, range(6)))  # of cumulative scores
FEW_DATA = 12  # rows up to which a table needs no summary


@dataclass(frozen=True, slots=True)
class Table:
    """Cells of text under a header, and the numbers that they were made of.

    Parameters
    ----------
    title : str
    header : tuple of str
    rows : tuple of tuples of str
    numbers : DataFrame
        In tidy form.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: Any

    def text(self, most: int | None = MAX_ROWS) -> str:
        """Return the table for a terminal, with at most so many rows; None is all."""
        shown = self.rows[:most]
        columns = zip(self.header, *shown, strict=True)
        widths = [max(map(len, column)) for column in columns]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in (self.header, *shown)
        ]
        if len(self.rows) > len(shown):
            lines.append(f"... and {len(self.rows) - len(shown)} rows more in the files")
        return "\n".join([self.title, *lines])

    def latex(self) -> str:
        """Return the table as LaTeX that needs no package."""
        body = [" & ".join(map(_escaped, row)) + r" \\" for row in (self.header, *self.rows)]
        begin = rf"\begin{{tabular}}{{{'l' * len(self.header)}}}"
        parts = [f"% {self.title}", begin, body[0], r"\hline", *body[1:], r"\end{tabular}"]
        return "\n".join(parts) + "\n"

    def csv(self) -> str:
        """Return the numbers as CSV, a line per cell."""
        return str(self.numbers.to_csv(index=False, lineterminator="\n"))


def layout_table(item: Item, frame: Any) -> Table:
    """Return the table of an item from tidy results.

    Shares are in per cent; after ± stands the standard deviation over splits (``ddof=1``).

    Parameters
    ----------
    item : Item
    frame : DataFrame
        With the columns data, method, split, metric, at, value.

    Returns
    -------
    Table

    Examples
    --------
    >>> import pandas as pd
    >>> from ecselm.paper.protocols.items import find_item
    >>> rows = [("AR", "NN", split, "accuracy", "", 0.5 + split / 10) for split in (0, 1)]
    >>> columns = ["data", "method", "split", "metric", "at", "value"]
    >>> print(layout_table(find_item("table-7"), pd.DataFrame(rows, columns=columns)).text())
    Faces, other classifiers
    data  NN
    AR    55.00 ± 7.07
    """
    shown = _shown(item, frame)
    keys = ["data", "method", "metric", "at"]
    numbers = shown.groupby(keys, sort=False)["value"].agg(["mean", "std", "count"]).reset_index()
    by_row, by_column = _places(item, numbers)
    cells = {
        (row, column): format_cell(one)
        for row, column, one in zip(by_row, by_column, numbers.to_dict("records"), strict=True)
    }
    columns = list(dict.fromkeys(by_column))
    header = (item.rows, *columns)
    rows = (
        (row, *(cells.get((row, column), "-") for column in columns))
        for row in dict.fromkeys(by_row)
    )
    return Table(item.title, header, (*_summary(item, numbers), *rows), numbers)


def _summary(item: Item, numbers: Any) -> list[tuple[str, ...]]:
    """Return mean and mean rank of every method where there are many data sets."""
    if item.rows != "data" or numbers["data"].nunique() <= FEW_DATA:
        return []
    means = numbers.pivot_table(index="data", columns="method", values="mean", sort=False)
    ranks = means.rank(axis=1, ascending=False).mean()
    scale = 100.0 if numbers["metric"].iloc[0] in SHARES else 1.0
    return [
        (f"mean of {len(means)}", *(f"{scale * value:.2f}" for value in means.mean())),
        ("mean rank", *(f"{value:.2f}" for value in ranks)),
    ]


def _shown(item: Item, frame: Any) -> Any:
    """Return the rows that the table shows: of each part its own metrics."""
    if item.kind == "seconds":
        return _spent(frame)
    orders = {label: _metrics(item, label) for label in frame["data"].unique()}
    places = [
        order.index(metric) if metric in (order := orders[label]) else -1
        for label, metric in zip(frame["data"], frame["metric"], strict=True)
    ]
    placed = frame.assign(place=places)
    placed = placed[(placed["metric"] != "tpr") | placed["at"].isin(SHOWN_RATES)]
    placed = placed[(placed["metric"] != "cum_score") | placed["at"].isin(SHOWN_TOLERANCES)]
    # Methods that know the true costs make other errors by every cost: those are in the files.
    placed = placed[
        ~placed["metric"].isin(ERROR_RATES) | ~placed["at"].str.contains("known costs ")
    ]
    return placed[placed["place"] >= 0].sort_values("place", kind="stable").drop(columns="place")


def _metrics(item: Item, label: str) -> tuple[str, ...]:
    """Return the metrics of the first part that has these data."""
    name = label.partition(":")[0]
    return next(part.metrics for part in item.parts if part.cases is None or name in part.cases)


def _spent(frame: Any) -> Any:
    """Return seconds to fit and to predict together, without tuning and preparation."""
    kept = frame[frame["at"].isin(["learn", "answer"])]
    keys = ["data", "method", "split", "metric"]
    return kept.groupby(keys, sort=False)["value"].sum().reset_index().assign(at="")


def _places(item: Item, numbers: Any) -> tuple[list[str], list[str]]:
    """Return the row and the column of every number."""
    data, methods = numbers["data"].tolist(), numbers["method"].tolist()
    if item.rows == "data":
        return data, methods
    if item.rows == "method":
        return methods, data
    names = [
        " ".join(part for part in (NAMES.get(metric, metric), at) if part)
        for metric, at in zip(numbers["metric"], numbers["at"], strict=True)
    ]
    return [f"{one}, {name}" for one, name in zip(data, names, strict=True)], methods


def format_cell(one: dict[str, Any]) -> str:
    """Return mean and standard deviation of a record of numbers, shares in per cent."""
    scale = 100.0 if one["metric"] in SHARES else 1.0
    digits = 3 if one["metric"] == "mean_cost" else 2
    mean = f"{scale * one['mean']:.{digits}f}"
    return mean if one["count"] < 2 else f"{mean} ± {scale * one['std']:.{digits}f}"


def _escaped(text: str) -> str:
    for plain, escaped in (("&", r"\&"), ("%", r"\%"), ("_", r"\_"), ("^", r"\^{}")):
        text = text.replace(plain, escaped)
    return text.replace(" ± ", r" $\pm$ ").replace("->", r"$\to$")


def aligned(title: str, frame: Any, digits: int = 4) -> Table:
    """Return any frame as a table, its real numbers to so many decimals."""
    rows: Sequence[Sequence[Any]] = frame.to_numpy().tolist()
    texts = tuple(
        tuple(f"{value:.{digits}f}" if isinstance(value, float) else str(value) for value in row)
        for row in rows
    )
    return Table(title, tuple(map(str, frame.columns)), texts, frame)


TESTS = ("ttest_rel", "wilcoxon", "friedman", "kruskal")


def baseline(methods: Iterable[str]) -> str:
    """Return the first form of ECSELM among the methods, that of the paper before ours.

    Examples
    --------
    >>> baseline(["ELM", "ECSELM, ensemble", "ECSELM as printed"])
    'ECSELM as printed'
    """
    there = set(methods)
    return next((name for name in FORMS if name in there), "ECSELM")


def column_notes(item: Item) -> tuple[str, ...]:
    """Return the columns that are another column on some data, for lack of costs or attributes.

    Examples
    --------
    >>> from ecselm.paper.protocols.items import find_item
    >>> column_notes(find_item("table-10"))[0]
    'CSPCA-NN: the same as PCA-NN (equal costs) on E-NOSE'
    """
    places: dict[str, list[str]] = {}
    for part in item.parts:
        for setting in part.settings:
            method = find_method(setting.method, part.protocol.task)
            if method.twin and _lacks(part, method.twin_if):
                places.setdefault(method.footnote, []).extend(_case_names(part))
    return tuple(f"{note} on {'; '.join(names)}" for note, names in places.items())


def _lacks(part: Part, condition: str) -> bool:
    """Tell whether a part has nothing that would make a method differ from its twin."""
    if condition == "equal costs":
        return part.protocol.cost is None and part.protocol.scoring != "mean_cost"
    return condition == "no attributes"  # no loader has any


def _case_names(part: Part) -> tuple[str, ...]:
    return part.cases or tuple(case.name for case in part.protocol.cases())


def significance_table(item: Item, frame: Any) -> Table:
    """Return tests of every method against ECSELM as printed, over the data of table XII.

    The paired t-test is the paper's; its ``H`` are decisions at 1 % and 5 %. The others suit
    few data sets better, with Holm's correction for all comparisons.

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
    numbers = layout_table(item, frame).numbers
    means = numbers.pivot_table(index="data", columns="method", values="mean", sort=False)
    found = compare_methods(100.0 * means, baseline(means.columns), tests=TESTS)
    pairs = found[found["method"].notna()]
    p = pairs.pivot_table(index="method", columns="test", values="p", sort=False)
    holm = pairs[pairs["test"] == "ttest_rel"].set_index("method")["p_holm"]
    shown = p[list(TESTS)].assign(holm=holm)
    for level in (0.01, 0.05):
        shown[f"H ({level:g})"] = (p["ttest_rel"] < level).astype(int)
    table = aligned(item.title, shown.reset_index())
    return Table(table.title, table.header, table.rows, found)
