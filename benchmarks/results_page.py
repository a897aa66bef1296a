"""Keep a full run and write ``docs/results.md``: ``python -m benchmarks.results_page [FOLDER]``.

FOLDER is what ``ecselm reproduce all --output FOLDER`` has left: its results, split by split, are
copied to ``benchmarks/results``, of which the page is made. Synthetic stand-ins are ignored. All
results of a page come from one run: a folder whose results are not all in its journal is refused,
what another run has left is removed when results are kept, and a page is not made of results that
differ from the record of the run.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks import conclusions
from benchmarks.pages import fill_page
from benchmarks.tables import table
from ecselm.paper.jobs import read_rows
from ecselm.paper.protocols import ITEMS
from ecselm.paper.protocols.items import FORMS, find_item
from ecselm.paper.protocols.layout import baseline, column_notes, layout_table
from ecselm.paper.statistics import compare_methods, corrected_t_test

HERE = Path(__file__).resolve().parent
KEPT = HERE / "results"
PAGE = HERE.parent / "docs" / "results.md"
END = "<!-- end -->"
RECORD = "reproduce.json"  # of the run that all kept results come from
SHOWN = tuple(name for name in ITEMS if name != "access")  # items of this page
MISSING = "Not part of this run."
OLD = (  # of results that were kept without a record
    "**Recorded before the default became an [ensemble of kernel machines](ensembles.md)**, and "
    "not rerun since: there is one form of ECSELM, an earlier default. In tables VII, X and XI it "
    "is an ensemble of layers chosen in folds, in the others one layer with C from a grid.\n\n"
)
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
    "table-9": 1 / 9,
    "table-10": 1 / 2,
    "table-11": 1 / 2,
    "credit": 1 / 2,
}
METRICS = {"table-10": "arr", "table-11": "arr", "credit": "mean_cost", "keel": "gmean"}
CURVES = ("figure-11", "figure-12")  # shown as tables, a column per value of C or L
EVOLVED = ("table-1", "table-4", "table-5", "table-6", "table-8", "table-10")  # with E-ELM and ELM
LOWER_IS_BETTER = frozenset({"mae", "mean_cost", "seconds"})
PER_CENT = frozenset({"accuracy", "arr", "gmean"})


def keep(folder: Path) -> None:
    """Copy the results of a run to where pages are made of them, and its record.

    Results of items that the run does not have are removed: they are of another run. Access
    control has a page of its own, and may be of a run of its own, which leaves all others.
    """
    run, jobs = read_journal(folder)
    found = [name for name in ITEMS if (folder / name / "results.parquet").exists()]
    if not found:
        raise ValueError(f"folder must hold results of ecselm reproduce, got {folder}")
    for name in found:
        _check_of_run(folder, name, run, jobs)
    shown = [name for name in found if name in SHOWN]
    for name in (*SHOWN, *found) if shown else found:
        shutil.rmtree(KEPT / name, ignore_errors=True)
    for name in found:
        (KEPT / name).mkdir(parents=True)
        for file in FILES:
            shutil.copyfile(folder / name / file, KEPT / name / file)
    if shown:
        record = {
            **run,
            "items": {name: _digest(KEPT / name / "results.parquet") for name in shown},
            "jobs": len(jobs),
            "hours": round(spent_seconds(jobs) / 3600.0, 3),
        }
        text = json.dumps(record, indent=1, sort_keys=True)
        (KEPT / RECORD).write_text(f"{text}\n", encoding="utf-8")


def read_journal(folder: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return seed, budget, version and digest of the code of a run, and its jobs, each once.

    A journal with the heads of two runs is refused.
    """
    heads: list[dict[str, Any]] = []
    jobs: dict[str, dict[str, Any]] = {}
    with (folder / "journal.jsonl").open(encoding="utf-8") as file:
        for line in file:
            if not line.endswith("\n"):  # the run was killed there, and its job has no result
                continue
            one = json.loads(line)
            if "run" in one:
                heads.append(one["run"])
            else:
                jobs[one["key"]] = one
    for head in heads[1:]:
        for key in sorted(set(head) | set(heads[0])):
            if head.get(key) != heads[0].get(key):
                raise ValueError(
                    f"folder must hold one run, got {key} {heads[0].get(key)} and "
                    f"{head.get(key)} in its journal"
                )
    return heads[0], list(jobs.values())


def spent_seconds(jobs: Sequence[Mapping[str, Any]]) -> float:
    """Return the time of all jobs, figures 11 and 12 included.

    Rows that are prepared for all methods of a split count once: every job of the split has
    their time.
    """
    total, prepared = 0.0, {}
    for job in jobs:
        protocol, data, checksums, *_, split = job["key"].split("|")
        for _, value, at in job["seconds"]:
            if at == "prepare":
                place = (protocol, data, checksums, split)
                prepared[place] = max(value, prepared.get(place, 0.0))
            else:
                total += value
    return total + sum(prepared.values())


def _check_of_run(
    folder: Path, name: str, run: Mapping[str, Any], jobs: Sequence[Mapping[str, Any]]
) -> None:
    """Raise ValueError for results of an item that are not those of the journal.

    Items do not record the digest of the code, but their numbers do not agree to the last bit
    with those of other code, or else it makes no difference.
    """
    record = json.loads((folder / name / "run.json").read_text(encoding="utf-8"))
    for key in ("budget", "seed", "version"):
        if record[key] != run[key]:
            raise ValueError(
                f"folder must hold one run: {name} must have {key} {run[key]}, got {record[key]}"
            )
    known = {
        (data, int(split), metric, value)
        for job in jobs
        for data, split in [_place(job["key"])]
        for metric, value, _ in job["rows"]
    }
    frame = read_rows(folder / name / "results.parquet")
    columns = (frame[column].tolist() for column in ("data", "split", "metric", "value"))
    for place in zip(*columns, strict=True):
        if place not in known:
            data, split, metric, value = place
            raise ValueError(
                f"folder must hold one run: {name} must have the results of the journal, got "
                f"{metric} {value} on {data}, split {split}, of another"
            )


def _place(key: str) -> tuple[str, str]:
    """Return data and split of a job."""
    parts = key.split("|")
    return parts[1], parts[-1]


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def filled(page: str) -> str:
    """Return the page with all tables as the kept results have them."""
    check_one_run()
    parts = {name: _item(name) for name in (*RATIOS, "keel", "table-12", "table-14")}
    parts |= {name: _curve(name) for name in CURVES}
    parts |= {"run": _run(), "summary": _summary(), "tests": _tests(), "unequal": _unequal()}
    parts["conclusions"] = "\n".join(_conclusions())
    for name, text in parts.items():
        before, rest = page.split(f"<!-- {name} -->\n", 1)
        page = f"{before}<!-- {name} -->\n{text}\n{rest[rest.index(END) :]}"
    return page


def check_one_run() -> None:
    """Raise ValueError where kept results differ in what a run has only one of."""
    run = run_record()
    kept = [name for name in SHOWN if _is_kept(name)]
    for key in ("budget", "seed", "version"):
        found = {name: _record(name)[key] for name in kept}
        expected = run[key] if run is not None else found[kept[0]]
        for name, value in found.items():
            if value != expected:
                raise ValueError(
                    f"kept results must be of one run: {name} must have {key} {expected}, got "
                    f"{value}; keep a whole run again"
                )
    if run is None:
        return
    if set(kept) != set(run["items"]):
        other = sorted(set(kept) ^ set(run["items"]))
        raise ValueError(
            f"kept results must be those of the record, {RECORD}, got others of {', '.join(other)}"
        )
    for name, digest in run["items"].items():
        if _digest(KEPT / name / "results.parquet") != digest:
            raise ValueError(
                f"kept results must be of one run: those of {name} must be as the record, "
                f"{RECORD}, has them; keep a whole run again"
            )


def run_record() -> dict[str, Any] | None:
    """Return the record of the run that was kept, None for results kept without one."""
    path = KEPT / RECORD
    if not path.exists():
        return None
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _is_kept(name: str) -> bool:
    return (KEPT / name / "run.json").exists()


def _record(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((KEPT / name / "run.json").read_text(encoding="utf-8"))
    return found


def _real(name: str, kind: str = "results") -> pd.DataFrame:
    """Return the kept rows of data that are no stand-ins."""
    made_up = {one["label"] for one in _record(name)["data"] if one["origin"] == "synthetic"}
    frame = read_rows(KEPT / name / f"{kind}.parquet")
    return frame[~frame["data"].isin(made_up)]


def _has_data(name: str) -> bool:
    """Tell whether an item was kept and has data that are no stand-ins."""
    return _is_kept(name) and not _real(name).empty


def _run() -> str:
    records = [_record(name) for name in RATIOS if _is_kept(name)]
    seeds, versions = ({record[key] for record in records} for key in ("seed", "version"))
    sources = {one["label"]: one["source"] for r in records for one in r["data"]}
    real = {label for r in records for label in _real(r["item"])["data"].unique()}
    labels: dict[str, list[str]] = {}
    for label, source in sources.items():
        if label in real:
            labels.setdefault(source, []).append(label)
    rows = [["; ".join(names), source] for source, names in labels.items()]
    head = f"Seed {', '.join(map(str, seeds))}, version {', '.join(versions)}, {_code()}\n\n"
    before = OLD if run_record() is None else ""
    return f"{before}{head}{_hours()}\n\n" + table(["data", "source"], rows)


def _code() -> str:
    """Return which state of the version the results are of, or that this is unknown."""
    run = run_record()
    if run is None:
        return (
            "**of states of the code that were not recorded**: tables of this page may be of "
            "different ones."
        )
    return f"code `{run['code']}`: all tables are of one run of one state of the code."


def _hours() -> str:
    """Return the time of all fits, each counted once, though several tables may show it."""
    run = run_record()
    if run is not None:
        return (
            f"The run took {run['hours']:.1f} hours of one core for {run['jobs']} fits, with "
            "tuning, prediction and all figures."
        )
    frames = [_seconds_of(name) for name in SHOWN if _is_kept(name)]
    once = pd.concat(frames).drop_duplicates(["data", "method", "split", "at"])
    hours = float(once["value"].sum()) / 3600.0
    return (
        f"All fits together, tuning and prediction included, took {hours:.1f} hours of one core, "
        "without those of figures 11 and 12."
    )


def _seconds_of(name: str) -> pd.DataFrame:
    return read_rows(KEPT / name / "seconds.parquet")


def _item(name: str) -> str:
    """Return the table of an item, a line per method, and what its columns have in common."""
    item = find_item(name)
    if not _has_data(name):
        return MISSING
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
    notes = column_notes(item) if run_record() is not None else ()
    return "\n\n".join([table(header, rows), *notes])


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


def _by_data(name: str) -> dict[str, pd.DataFrame]:
    """Return splits by methods for every data set of an item."""
    labels = _real(name)["data"].unique() if _is_kept(name) else ()
    return {str(label): _split_by_method(name, label) for label in labels}


def _curve(name: str) -> str:
    """Return the accuracy of methods, a line per method and data set, a column per C or L."""
    if not _has_data(name):
        return MISSING
    frame = _real(name)
    mine = frame[frame["metric"] == "accuracy"]
    means = mine.pivot_table(
        index=["data", "method"], columns="at", values="value", sort=False, observed=True
    )
    places = sorted(means.columns, key=lambda at: float(str(at).rpartition("=")[2]))
    rows = [
        [
            str(data),
            str(method),
            *(f"{100 * one[at]:.1f}" if one[at] == one[at] else "" for at in places),
        ]
        for (data, method), one in means.iterrows()
    ]
    return table(["data", "method", *map(str, places)], rows)


def _conclusions() -> list[str]:
    """Return the sentences that the kept results allow."""
    found: list[str] = []
    if _has_data("table-1"):
        found += conclusions.gains(_by_data)
    rows = []
    for name, ratio in RATIOS.items():
        for one in _by_data(name).values():
            for ours in conclusions.forms_in(one.columns):
                _, rank, _, _, gain, p = _standing(name, one, ratio, ours)
                lower = METRICS.get(name, find_item(name).parts[0].metrics[0]) in LOWER_IS_BETTER
                signed = -float(gain) if lower else float(gain)
                rows.append((ours, int(rank.split()[0]), signed, float(p.removeprefix("< "))))
    found += conclusions.standings(rows) if rows else []
    found += conclusions.kernels(_by_data)
    if _has_data("keel"):
        found.append(conclusions.unequal(_keel_means()))
    if _has_data("credit"):
        (costs,) = _by_data("credit").values()
        found.append(conclusions.credit(costs))
    return [*found, *conclusions.evolved(_by_data, EVOLVED)]


def _summary() -> str:
    """Return where every form of ECSELM stands on every data set of every table that has it."""
    rows = []
    for name, ratio in RATIOS.items():
        for data, found in _by_data(name).items():
            rows += [
                [name, data, ours, *_standing(name, found, ratio, ours)]
                for ours in conclusions.forms_in(found.columns)
            ]
    if all(row[2] == "ECSELM" for row in rows):  # results of before there were forms
        header = ["item", "data", "ECSELM", "rank", "best", "", "difference", "p"]
        return table(header, [[*row[:2], *row[3:]] for row in rows])
    header = ["item", "data", "form", "", "rank", "best other", "", "difference", "p"]
    return table(header, rows)


def _standing(name: str, found: pd.DataFrame, ratio: float, ours: str = "ECSELM") -> list[str]:
    """Return the place of a form of ECSELM, and the best method that is none of its forms."""
    metric = METRICS.get(name, find_item(name).parts[0].metrics[0])
    lower = metric in LOWER_IS_BETTER
    scale, digits = (100.0, 2) if metric in PER_CENT else (1.0, 3)
    means = scale * found.mean()
    order = means.rank(ascending=lower, method="min")
    others = means.drop([one for one in (*FORMS, "ECSELM") if one in means])
    best = others.idxmin() if lower else others.idxmax()
    p = corrected_t_test(found[ours], found[best], test_train_ratio=ratio).p
    return [
        f"{means[ours]:.{digits}f}",
        f"{order[ours]:.0f} of {len(means)}",
        str(best),
        f"{means[best]:.{digits}f}",
        f"{means[ours] - means[best]:+.{digits}f}",
        _p(p),
    ]


def _p(p: float) -> str:
    return f"{p:.3f}" if p >= 0.0005 else "< 0.001"


def _over_data(means: pd.DataFrame) -> str:
    ours = baseline(means.columns)
    found = compare_methods(means, ours, tests=("wilcoxon", "friedman"))
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
    header = ["against", f"{ours} is better by", "won / tied / lost", "Wilcoxon p", "after Holm"]
    return table([*header, "mean ranks, after Holm"], rows)


def _tests() -> str:
    if not _has_data("table-12"):
        return MISSING
    numbers = layout_table(find_item("table-12"), _real("table-12")).numbers
    means = numbers.pivot_table(index="data", columns="method", values="mean", sort=False)
    return _over_data(100.0 * means)


def _unequal() -> str:
    if not _has_data("keel"):
        return MISSING
    return _over_data(100.0 * _keel_means())


def _keel_means() -> pd.DataFrame:
    """Return means over folds, data sets by methods."""
    frame = _real("keel")
    mine = frame[frame["metric"] == "gmean"]
    return mine.pivot_table(index="data", columns="method", values="value", sort=False)


def main(arguments: Sequence[str] | None = None) -> None:
    """Keep a run if one is named, and fill the page."""
    fill_page(PAGE, keep, filled, "ecselm reproduce all", arguments)


if __name__ == "__main__":
    main()
