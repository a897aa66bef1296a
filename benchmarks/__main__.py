"""Run all benchmarks: ``python -m benchmarks [--quick] [--output DIR] [--table FILE]``.

``--only PART`` runs one part of those about searches and prints it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks import accuracy, fit, search
from benchmarks.conditions import present_conditions
from benchmarks.report import Results
from benchmarks.speed import PARTS, measure_speed
from benchmarks.speed_report import as_markdown

HERE = Path(__file__).resolve().parent


def measure(quick: bool) -> Results:
    """Run everything, on tiny data if ``quick``."""
    size = fit.QUICK if quick else fit.FULL
    trial = accuracy.QUICK if quick else accuracy.FULL
    race = search.QUICK if quick else search.FULL
    return Results(
        conditions=present_conditions(quick),
        sizes={
            "rows": size.n_rows,
            "features": size.n_features,
            "classes": size.n_classes,
            "hidden": size.n_hidden,
            "repeats": size.repeats,
            "accuracy_rows": trial.n_rows,
            "accuracy_hidden": trial.n_hidden,
            "seeds": trial.seeds,
            "digits_seeds": trial.digits_seeds,
            "first_seed": accuracy.FIRST_SEED,
            "population": race.population,
            "our_generations": race.ours,
            "their_generations": race.theirs,
            "search_repeats": race.repeats,
        },
        times=fit.compare_fits(size),
        searches=search.compare_searches(race),
        accuracies=accuracy.compare_accuracy(trial),
        speed=measure_speed(quick),
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run as the options say, and write the results and the table."""
    options = _parser().parse_args(arguments)
    if options.only:
        print(as_markdown(measure_speed(options.quick, options.only)))
        return
    results = measure(options.quick)
    for path, text in (
        (options.output / "results.json", results.as_json()),
        (options.table, results.as_markdown()),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Run all benchmarks.")
    parser.add_argument("--quick", action="store_true", help="tiny data, for continuous tests")
    parser.add_argument(
        "--only", choices=PARTS, help="print one part about searches, and write nothing"
    )
    parser.add_argument(
        "--output", type=Path, default=HERE, metavar="DIR", help="folder of results.json"
    )
    parser.add_argument(
        "--table",
        type=Path,
        default=HERE.parent / "docs" / "benchmarks.md",
        metavar="FILE",
        help="the Markdown page",
    )
    return parser


if __name__ == "__main__":
    main()
