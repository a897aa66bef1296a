"""Fill the part of ``docs/bench.md`` on variants: ``python -m benchmarks.helps_page``.

``--keel FOLDER`` and ``--uci FOLDER`` name what ``ecselm bench keel --variants --output FOLDER``
and the same of ``uci`` have left.
"""

from __future__ import annotations

import argparse
import math
import shutil
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from benchmarks.results_page import END, HERE, KEPT
from benchmarks.tables import table
from ecselm.paper.bench.cases import COUNTED_TARGETS, UCI_TARGETS
from ecselm.paper.bench.methods import VARIANTS
from ecselm.paper.bench.report import LABELS, NAMES, DataFacts, Part, parts_of
from ecselm.paper.jobs import read_rows
from ecselm.paper.statistics import wilcoxon_test

PAGE = HERE.parent / "docs" / "bench.md"
FOLDER = KEPT / "helps"
BEGIN = "<!-- helps -->\n"
FILES = ("results.parquet", "sets.csv")
SUITES = {"keel": COUNTED_TARGETS, "uci": UCI_TARGETS}
HALVES = ("confirmation", "development")
DEFAULT, PRINTED = "ECSELM", "ECSELM as printed"
# What is added, the variant with it, and the variant without it.
PARTS = (
    ("implied costs, one layer", "one layer, implied costs", "one layer, equal costs"),
    (
        "learned for implied costs, one layer",
        "one layer, learned costs",
        "one layer, implied costs",
    ),
    ("tested learned costs, one layer", "one layer, tested costs", "one layer, implied costs"),
    ("the test alone, one layer", "one layer, tested costs", "one layer, learned costs"),
    ("a threshold, one layer", "one layer, threshold", "one layer, equal costs"),
    ("tested costs for a threshold", "one layer, tested costs", "one layer, threshold"),
    ("the ensemble, equal costs", "ensemble, equal costs", "one layer, equal costs"),
    ("the ensemble, implied costs", "ensemble, implied costs", "one layer, implied costs"),
    ("the ensemble, learned costs", "ensemble, learned costs", "one layer, learned costs"),
    ("the ensemble, tested costs", DEFAULT, "one layer, tested costs"),
    ("implied costs, ensemble", "ensemble, implied costs", "ensemble, equal costs"),
    ("learned for implied costs, ensemble", "ensemble, learned costs", "ensemble, implied costs"),
    ("tested learned costs, ensemble", DEFAULT, "ensemble, implied costs"),
    ("the test alone, ensemble", DEFAULT, "ensemble, learned costs"),
    ("all together", DEFAULT, "one layer, equal costs"),
    ("costs by row, as printed", PRINTED, "one layer, equal costs"),
    ("the default for the printed form", DEFAULT, PRINTED),
)


def keep(suite: str, folder: Path) -> None:
    """Copy the results of a run to where the page is made of them."""
    (FOLDER / suite).mkdir(parents=True, exist_ok=True)
    for name in FILES:
        shutil.copyfile(folder / name, FOLDER / suite / name)


def filled(page: str) -> str:
    """Return the page with the tables as the kept results have them."""
    before, rest = page.split(BEGIN, 1)
    kept = [suite for suite in SUITES if (FOLDER / suite / FILES[0]).is_file()]
    text = "\n\n".join(made for suite in kept for made in _made(suite)) or "Not run yet."
    return f"{before}{BEGIN}{text}\n{rest[rest.index(END) :]}"


def _made(suite: str) -> list[str]:
    """Return tables of means and of differences for every half of a suite that was run."""
    results = read_rows(FOLDER / suite / FILES[0])
    sets = _sets(suite)
    made = []
    for half in HALVES:
        own = [one for one in sets if one.half == half]
        if not own:
            continue
        found = parts_of(results[results["data"].isin([one.name for one in own])], own)
        parts = {part.target: part for part in found if part.target in SUITES[suite]}
        title = f"{suite.upper()}, {half} half, {len(own)} data sets"
        made += [
            f"### {title}: means\n\n{_means(parts)}",
            f"### {title}: gain of each part\n\n{_gains(parts)}",
        ]
    return made


def _sets(suite: str) -> list[DataFacts]:
    frame = pd.read_csv(FOLDER / suite / "sets.csv")
    return [
        DataFacts(**dict(zip(frame.columns, row, strict=True))) for row in frame.values.tolist()
    ]


def _means(parts: dict[str, Part]) -> str:
    """Return means over data sets, variants by metrics."""
    rows = [
        [LABELS.get(one.name, one.name), *(_mean(part, one.name) for part in parts.values())]
        for one in VARIANTS
    ]
    return table(["variant", *(NAMES[target] for target in parts)], rows)


def _mean(part: Part, name: str) -> str:
    return f"{part.values[name].mean():.4f}" if name in part.values else ""


def _gains(parts: dict[str, Part]) -> str:
    """Return the gain of every part, with its standard error over data sets and p."""
    rows = [
        [
            what,
            LABELS.get(variant, variant),
            LABELS.get(without, without),
            *(gain_of(part, variant, without) for part in parts.values()),
        ]
        for what, variant, without in PARTS
    ]
    return table(["part", "with it", "without it", *(NAMES[target] for target in parts)], rows)


def gain_of(part: Part, variant: str, without: str) -> str:
    """Return mean difference, standard error over data sets and Wilcoxon's p; more is better."""
    if not {variant, without} <= set(part.values):
        return ""
    pair = (part.sign * part.values[[variant, without]]).to_numpy().T
    gain = pair[0] - pair[1]
    if len(gain) < 2:
        return f"{gain.mean():+.4f}"
    error = gain.std(ddof=1) / math.sqrt(len(gain))
    return f"{gain.mean():+.4f} ({error:.4f}), p {wilcoxon_test(*pair).p:.2g}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Keep the runs that are named, and fill the page."""
    parser = argparse.ArgumentParser(description="Fill a part of bench.md from kept results.")
    for suite in SUITES:
        parser.add_argument(f"--{suite}", type=Path, help=f"folder of ecselm bench {suite}")
    options = parser.parse_args(arguments)
    for suite in SUITES:
        if getattr(options, suite) is not None:
            keep(suite, getattr(options, suite))
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
