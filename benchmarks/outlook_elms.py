"""ELMs that the paper names beside those it compares: ``python -m benchmarks.outlook_elms``.

The seven systems of ``ecselm.paper.elms`` and three textbook relatives, tuned alike: twelve
candidates at most, in the inner folds of ``ecselm bench``, for the G-mean on sets of KEEL and for
the accuracy on sets of UCI. Two splits of every set, of the development halves. Results by split
go to ``benchmarks/results/outlook_elms.json``, and as a table into ``docs/methods.md``;
``--show`` fills the page from the stored results. Needs ``ECSELM_DATA``.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.results_page import END, HERE, KEPT
from benchmarks.tables import table
from ecselm.paper.bench.cases import BenchCase, keel_cases, select_cases, uci_cases
from ecselm.paper.bench.methods import BenchMethod, bands, cross_product
from ecselm.paper.bench.plan import BenchJob, Effort, plan_bench, plan_cases

PAGE = HERE.parent / "docs" / "methods.md"
FILE = KEPT / "outlook_elms.json"
BEGIN = "<!-- outlook -->\n"
KEEL = ("glass1", "glass2", "glass6", "hayes-roth", "yeast-1_vs_7", "yeast-2_vs_4")
UCI = (
    *("blood", "breast-cancer-wisc-diag", "breast-tissue", "credit-approval"),
    *("energy-y1", "molec-biol-promoter"),
)
SPLITS = 2
PENALTIES = [2.0**p for p in (-6, -2, 2, 6, 10, 14)]


def _grid(**other: Any) -> Any:
    return lambda shape: cross_product(C=PENALTIES, **other)  # noqa: ARG005  grids are called alike


def _kernels(shape: Any) -> Any:
    return cross_product(C=PENALTIES, gamma=bands(shape)[2::2])


METHODS = (
    BenchMethod("ELM", _grid(n_hidden=[100, 400])),
    BenchMethod("W1ELM", _grid(n_hidden=[100, 400])),
    BenchMethod("KELM", _kernels),
    BenchMethod("Boosting WELM", _grid(n_hidden=[100, 400])),
    BenchMethod("Kernel OS-ELM", _kernels, params={"novelty": 0.01}),
    BenchMethod("Parsimonious ELM", _grid(tol=[1e-2, 1e-3]), params={"n_hidden": 200}),
    BenchMethod("Sparse Bayesian ELM", lambda _: cross_product(n_hidden=[50, 100, 200])),
    BenchMethod("Twin ELM", _grid(tau=[0.05, 0.25])),
    BenchMethod("ML-ELM", _grid(encoder_units=[(50,), (200,)])),
    BenchMethod("H-ELM", _grid(encoder_units=[(50,), (200,)])),
)


def cases() -> tuple[BenchCase, ...]:
    """Return the sets, each with the metric that methods are tuned for."""
    keel, uci = select_cases(keel_cases(), KEEL, "all"), select_cases(uci_cases(), UCI, "all")
    return (
        *(replace(one, targets=("gmean",)) for one in keel),
        *(replace(one, targets=("accuracy",)) for one in uci),
    )


def jobs(methods: Sequence[BenchMethod] = METHODS, seed: int = 0) -> list[BenchJob]:
    """Return one job per method, set and split."""
    planned = plan_cases(cases(), seed, all_needed=True)
    return plan_bench(planned, methods, seed, Effort(most_splits=SPLITS))


def measured(job: BenchJob) -> list[dict[str, Any]]:
    """Run a job and return its scores with the seconds of the last fit."""
    done = job.run()
    seconds = next(row.value for row in done.seconds if row.at == "learn")
    return [
        {
            "data": job.info.label,
            "method": job.method.name,
            "split": job.split,
            "metric": row.metric,
            "value": round(row.value, 6),
            "seconds": round(seconds, 4),
        }
        for row in done.rows
        if row.metric in job.case.targets
    ]


def summary(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Return means, mean ranks and counts of sets above and below ELM, by method."""
    frame = pd.DataFrame(rows)
    means = frame.groupby(["metric", "data", "method"])["value"].mean().unstack()
    means = means[[method.name for method in METHODS]]
    ranks = means.rank(axis=1, ascending=False)
    over = means.sub(means["ELM"], axis=0)
    found = {
        "gmean": means.xs("gmean").mean(),
        "accuracy": means.xs("accuracy").mean(),
        "rank": ranks.mean(),
        "better": (over > 0.005).sum(),
        "worse": (over < -0.005).sum(),
        "largest_loss": -over.min().clip(upper=0),
        "largest_loss_on": over.idxmin().map(lambda at: at[1]),
        "seconds": frame.groupby("method")["seconds"].median(),
    }
    return pd.DataFrame(found).loc[means.columns]


def as_markdown(rows: list[dict[str, Any]]) -> str:
    """Return the table of the page."""
    header = [
        "method",
        "G-mean, KEEL",
        "accuracy, UCI",
        "mean rank",
        "sets better / worse than ELM",
    ]
    header += ["largest loss to ELM", "median fit, s"]
    lines = []
    for name, row in summary(rows).iterrows():
        loss = f"{row.largest_loss:.3f}, {row.largest_loss_on}" if row.largest_loss > 0 else ""
        lines.append(
            [
                str(name),
                f"{row.gmean:.3f}",
                f"{row.accuracy:.3f}",
                f"{row['rank']:.1f}",
                "" if name == "ELM" else f"{row.better} / {row.worse}",
                loss,
                f"{row.seconds:.3f}",
            ]
        )
    return table(header, lines)


def filled(page: str, rows: list[dict[str, Any]]) -> str:
    """Return the page with the table of these results."""
    before, rest = page.split(BEGIN, 1)
    return f"{before}{BEGIN}{as_markdown(rows)}\n{rest[rest.index(END) :]}"


def stored(path: Path = FILE) -> list[dict[str, Any]]:
    """Return the kept results."""
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is missing, keep it and fill the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", action="store_true", help="run nothing, fill the page")
    if not parser.parse_args(arguments).show:
        known = stored() if FILE.is_file() else []
        done = {(row["data"], row["method"], row["split"], row["metric"]) for row in known}
        for job in jobs():
            metric = job.case.targets[0]
            if (job.info.label, job.method.name, job.split, metric) not in done:
                known += measured(job)
                FILE.write_text(json.dumps(known, indent=0) + "\n", encoding="utf-8")
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), stored()), encoding="utf-8")
    print(summary(stored()).round(3).to_string())


if __name__ == "__main__":
    main()
