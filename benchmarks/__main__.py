"""Run all benchmarks: ``python -m benchmarks [--quick] [--output DIR] [--page FILE]``.

``--only PART`` runs one part about speed and prints it; ``--report-only`` writes the page
from the stored results without measuring.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks.report import page_of, speed_sections
from benchmarks.results import PARTS, Results, measure, measure_speed

HERE = Path(__file__).resolve().parent


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmarks, and write the results and the page."""
    options = _parser().parse_args(arguments)
    if options.only:
        print(speed_sections(measure_speed(options.quick, options.only)))
        return
    stored = options.output / "results.json"
    if options.report_only:
        results = Results.from_json(stored.read_text(encoding="utf-8"))
    else:
        results = measure(options.quick)
        _write(stored, results.as_json())
    _write(options.page, page_of(results))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    print(f"wrote {path}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Run all benchmarks.")
    parser.add_argument("--quick", action="store_true", help="tiny data, for continuous tests")
    parser.add_argument(
        "--only", choices=PARTS, help="run one part about speed, print it and write nothing"
    )
    parser.add_argument(
        "--report-only", action="store_true", help="write the page from the stored results"
    )
    parser.add_argument(
        "--output", type=Path, default=HERE, metavar="DIR", help="folder of results.json"
    )
    parser.add_argument(
        "--page",
        type=Path,
        default=HERE.parent / "docs" / "benchmarks.md",
        metavar="FILE",
        help="the Markdown page",
    )
    return parser


if __name__ == "__main__":
    main()
