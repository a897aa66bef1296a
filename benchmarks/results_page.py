"""Keep a full run and write ``docs/results.md``: ``python -m benchmarks.results_page [FOLDER]``.

FOLDER is what ``ecselm reproduce all --output FOLDER`` has left: its results, split by split, are
copied to ``benchmarks/results``, of which the page is made. Synthetic stand-ins are ignored.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.pages import fill_page
from benchmarks.tables import table
from ecselm.paper.jobs import read_rows
from ecselm.paper.protocols import ITEMS
from ecselm.paper.protocols.items import find_item
from ecselm.paper.protocols.layout import layout_table
from ecselm.paper.statistics import compare_methods, corrected_t_test

HERE = Path(__file__).resolve().parent
KEPT = HERE / "results"
PAGE = HERE.parent / "docs" / "results.md"
END = "<!-- end -->"
OURS = "ECSELM"
FILES = ("results.parquet", "seconds.parquet", "run.json")
# Test rows by training rows, which the corrected test needs to know.
RATIOS = {
    "table-1": 220 / 400,
    "table-2": 220 / 400,
    "table-3": 220 / 400,
    "table-4": 1.0,
    "table-5": 1.0,
    "table-6": 1.0,
    "table-7": 1.0,
    "table-8": 1 / 9,
    "table-10": 1 / 2,
    "table-11": 1 / 2,
    "credit": 1 / 2,
}
METRICS = {"table-10": "arr", "table-11": "arr", "credit": "mean_cost", "keel": "gmean"}
LOWER_IS_BETTER = frozenset({"mae", "mean_cost", "seconds"})
PER_CENT = frozenset({"accuracy", "arr", "gmean"})


def keep(folder: Path) -> None:
    """Copy the results of a run to where the page is made of them."""
    for name in ITEMS:
        if not (folder / name / "results.parquet").exists():
            continue
        (KEPT / name).mkdir(parents=True, exist_ok=True)
        for file in FILES:
            shutil.copyfile(folder / name / file, KEPT / name / file)


def filled(page: str) -> str:
    """Return the page with all tables as the kept results have them."""
    parts = {name: _item(name) for name in (*RATIOS, "keel", "table-12", "table-14")}
    parts |= {"run": _run(), "summary": _summary(), "tests": _tests(), "unequal": _unequal()}
    for name, text in parts.items():
        before, rest = page.split(f"<!-- {name} -->\n", 1)
        page = f"{before}<!-- {name} -->\n{text}\n{rest[rest.index(END) :]}"
    return page


def _record(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((KEPT / name / "run.json").read_text(encoding="utf-8"))
    return found


def _real(name: str, kind: str = "results") -> pd.DataFrame:
    """Return the kept rows of data that are no stand-ins."""
    made_up = {one["label"] for one in _record(name)["data"] if one["origin"] == "synthetic"}
    frame = read_rows(KEPT / name / f"{kind}.parquet")
    return frame[~frame["data"].isin(made_up)]


def _run() -> str:
    records = [_record(name) for name in RATIOS]
    seeds, versions = ({record[key] for record in records} for key in ("seed", "version"))
    sources = {one["label"]: one["source"] for r in records for one in r["data"]}
    real = {label for r in records for label in _real(r["item"])["data"].unique()}
    labels: dict[str, list[str]] = {}
    for label, source in sources.items():
        if label in real:
            labels.setdefault(source, []).append(label)
    rows = [["; ".join(names), source] for source, names in labels.items()]
    head = f"Seed {', '.join(map(str, seeds))}, version {', '.join(versions)}.\n\n"
    return head + table(["data", "source"], rows)


def _item(name: str) -> str:
    """Return the table of an item, a line per method."""
    item = find_item(name)
    if item.kind == "seconds":
        return _times(name)
    made = layout_table(item, _real(name))
    header, rows = list(made.header), [list(row) for row in made.rows]
    if item.rows != "method":
        header, *rows = (list(column) for column in zip(header, *rows, strict=True))
        header[0] = "method"
    if made.numbers["data"].nunique() == 1:  # the heading of the section says which
        header = [cell.removeprefix(f"{made.numbers['data'].iloc[0]}, ") for cell in header]
    if name == "keel":  # 71 columns would be no table
        header, rows = header[:3], [row[:3] for row in rows]
    return table(header, rows)


def _times(name: str) -> str:
    """Return the seconds of methods as multiples of those of plain ELM."""
    numbers = layout_table(find_item(name), _real(name, "seconds")).numbers.set_index("method")
    times = numbers["mean"] / numbers["mean"]["ELM"]
    rows = [[str(method), f"{value:.1f}"] for method, value in times.items()]
    return table(["method", "time, that of ELM being 1"], rows)


def _split_by_method(name: str, data: str) -> pd.DataFrame:
    """Return one metric, splits by methods."""
    frame = _real(name)
    metric = METRICS.get(name, find_item(name).parts[0].metrics[0])
    mine = frame[(frame["metric"] == metric) & (frame["data"] == data)]
    return mine.pivot_table(index="split", columns="method", values="value", sort=False)


def _summary() -> str:
    """Return where ECSELM stands on every data set of every table that has it."""
    rows = []
    for name, ratio in RATIOS.items():
        for data in _real(name)["data"].unique():
            found = _split_by_method(name, data)
            if OURS in found:
                rows.append([name, str(data), *_standing(name, found, ratio)])
    header = ["item", "data", OURS, "rank", "best", "", "difference", "p"]
    return table(header, rows)


def _standing(name: str, found: pd.DataFrame, ratio: float) -> list[str]:
    metric = METRICS.get(name, find_item(name).parts[0].metrics[0])
    lower = metric in LOWER_IS_BETTER
    scale, digits = (100.0, 2) if metric in PER_CENT else (1.0, 3)
    means = scale * found.mean()
    order = means.rank(ascending=lower, method="min")
    others = means.drop(OURS)
    best = others.idxmin() if lower else others.idxmax()
    p = corrected_t_test(found[OURS], found[best], test_train_ratio=ratio).p
    return [
        f"{means[OURS]:.{digits}f}",
        f"{order[OURS]:.0f} of {len(means)}",
        str(best),
        f"{means[best]:.{digits}f}",
        f"{means[OURS] - means[best]:+.{digits}f}",
        _p(p),
    ]


def _p(p: float) -> str:
    return f"{p:.3f}" if p >= 0.0005 else "< 0.001"


def _over_data(means: pd.DataFrame) -> str:
    found = compare_methods(means, OURS, tests=("wilcoxon", "friedman"))
    pairs = found[found["method"].notna()]
    signed = pairs[pairs["test"] == "wilcoxon"].set_index("method")
    ranks = pairs[pairs["test"] == "friedman"].set_index("method")
    rows = [
        [
            str(method),
            f"{-one['effect']:+.2f}",
            f"{one['losses']:.0f} / {one['ties']:.0f} / {one['wins']:.0f}",
            _p(one["p"]),
            _p(one["p_holm"]),
            _p(ranks.loc[method, "p_holm"]),
        ]
        for method, one in signed.iterrows()
    ]
    header = ["against", f"{OURS} is better by", "won / tied / lost", "Wilcoxon p", "after Holm"]
    return table([*header, "mean ranks, after Holm"], rows)


def _tests() -> str:
    numbers = layout_table(find_item("table-12"), _real("table-12")).numbers
    means = numbers.pivot_table(index="data", columns="method", values="mean", sort=False)
    return _over_data(100.0 * means)


def _unequal() -> str:
    frame = _real("keel")
    mine = frame[frame["metric"] == "gmean"]
    means = mine.pivot_table(index="data", columns="method", values="value", sort=False)
    return _over_data(100.0 * means)


def main(arguments: Sequence[str] | None = None) -> None:
    """Keep a run if one is named, and fill the page."""
    fill_page(PAGE, keep, filled, "ecselm reproduce all", arguments)


if __name__ == "__main__":
    main()
