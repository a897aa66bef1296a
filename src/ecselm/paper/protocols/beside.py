"""The paper's numbers for the tables of a run: of the paper's data, and beside any others."""

from __future__ import annotations

import math
from typing import Any

from ecselm.paper.protocols.items import Item
from ecselm.paper.protocols.layout import Table, format_cell
from ecselm.paper.protocols.protocol import CaseInfo
from ecselm.paper.protocols.published import PUBLISHED, PublishedTable, registered_name

GAS_TABLES = frozenset({"table-10", "table-11"})
PAPER_T_TEST = "ttest_rel"


def published_table(item: Item, cases: tuple[CaseInfo, ...]) -> Table | None:
    """Return the published rows about those data that are the paper's."""
    if item.name not in PUBLISHED:
        return None
    table = PUBLISHED[item.name]
    rows = [row for row in table.rows if _is_about(item.name, row, cases)]
    if not rows:
        return None
    import pandas as pd  # noqa: PLC0415  half a second that other imports need not wait

    columns = ["data", "method", "mean", "std"]
    frame = pd.DataFrame([cell for cell in table.cells() if cell[0] in rows], columns=columns)
    scale = 100.0 if table.metric == "accuracy" else 1.0  # ours are shares
    names = [registered_name(item.name, name) for name in frame["method"]]
    numbers = frame.assign(
        method=names, printed=frame["method"], mean=frame["mean"] / scale, std=frame["std"] / scale
    )
    cells = {
        (row, name): format_published(table, mean, std) for row, name, mean, std in frame.to_numpy()
    }
    body = tuple((row, *(cells[row, name] for name in table.columns)) for row in rows)
    return Table(f"{item.title}, as published", ("data", *table.columns), body, numbers)


def _is_about(item: str, row: str, cases: tuple[CaseInfo, ...]) -> bool:
    """Tell whether a published row is about data that are the paper's own in this run."""
    own = {case.label for case in cases if case.origin == "paper"}
    if item == "table-13":  # p values over all data
        return len(own) == len(cases)
    if item == "table-14":  # of LFW; the descriptor is not given
        return any(label.startswith("LFW") for label in own)
    return ("E-NOSE" if item in {"table-10", "table-11"} else row) in own


def format_published(table: PublishedTable, mean: float, std: float) -> str:
    """Return a printed number with its standard deviation, or the dash of the paper."""
    if math.isnan(mean):
        return "-"
    digits = 4 if table.metric == "p" else 2
    return f"{mean:.{digits}f}" + ("" if math.isnan(std) else f" ± {std:.2f}")


def beside_table(item: Item, table: Table) -> Table | None:
    """Return our numbers of a table with the paper's, a line for each of ours.

    The paper's ECSELM stands beside ours as printed; a dash is a number that the paper does
    not have, such as a gas or a form of ECSELM.

    Parameters
    ----------
    item : Item
    table : Table
        Of a run on any data.

    Returns
    -------
    Table or None
        None where the paper prints no numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> from ecselm.paper.protocols.items import find_item
    >>> from ecselm.paper.protocols.layout import layout_table
    >>> item = find_item("table-6")
    >>> rows = [("AR: Olivetti faces", "ELM", 0, "accuracy", "", 0.95)]
    >>> columns = ["data", "method", "split", "metric", "at", "value"]
    >>> ours = layout_table(item, pd.DataFrame(rows, columns=columns))
    >>> print(beside_table(item, ours).text())
    Faces, machines and subspaces: ours, and the paper's on its own data
    data                measure   method  ours   paper
    AR: Olivetti faces  accuracy  ELM     95.00  81.90
    """
    if item.name not in PUBLISHED:
        return None
    import pandas as pd  # noqa: PLC0415  half a second that other imports need not wait

    printed = _printed_cells(item.name)
    rows, numbers = [], []
    for one in _records(item, table.numbers):
        mean, std = printed.get((_row(item.name, one), one["method"]), (math.nan, math.nan))
        what = " ".join(part for part in (one["metric"], one["at"]) if part)
        kind = PUBLISHED[item.name]
        ours = f"{one['mean']:.4f}" if kind.metric == "p" else format_cell(one)
        rows.append((one["data"], what, one["method"], ours, format_published(kind, mean, std)))
        scale = 100.0 if kind.metric == "accuracy" else 1.0
        numbers.append((*rows[-1][:3], one["mean"], mean / scale))
    columns = ("data", "measure", "method", "ours", "paper")
    title = f"{item.title}: ours, and the paper's on its own data"
    return Table(title, columns, tuple(rows), pd.DataFrame(numbers, columns=list(columns)))


def _records(item: Item, numbers: Any) -> list[dict[str, Any]]:
    """Return our numbers as records of data, method, metric, at, mean, std and count."""
    if item.kind == "tests":
        tests = numbers[(numbers["test"] == PAPER_T_TEST) & numbers["method"].notna()]
        kept = tests[["method", "p"]].rename(columns={"p": "mean"})
        numbers = kept.assign(data="all data", metric="p", at="", std=math.nan, count=1)
    records: list[dict[str, Any]] = numbers.to_dict("records")
    return records


def _printed_cells(name: str) -> dict[tuple[str, str], tuple[float, float]]:
    """Return mean and std of the paper's cells, by row and by our name of the method."""
    cells = {
        (row, registered_name(name, method)): (mean, std)
        for row, method, mean, std in PUBLISHED[name].cells()
    }
    if name == "table-12":  # SIFT there; LBP of the same methods is in table VIII
        cells = _printed_cells("table-8") | cells
    return cells


def _row(name: str, one: dict[str, Any]) -> str:
    """Return the row of the published table that a number of ours belongs to."""
    if name in GAS_TABLES:
        return str(one["at"]) if one["metric"] == "recall" else str(one["metric"]).upper()
    fixed = {"table-13": "p", "table-14": "LFW"}
    return fixed.get(name) or str(one["data"]).partition(":")[0]
