"""``ecselm fit``: from a table to a model, and to what is known of it."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import Any

from ecselm.cli._files import check_apart, check_writable, keep_model
from ecselm.cli._output import print_lines, print_study, search_bar, stream_bar
from ecselm.report import write_report
from ecselm.streaming import BLOCK_ROWS, SAMPLE_ROWS, study_stream
from ecselm.study import Answer, Question, study_table
from ecselm.tables.read import read_table


def add_parser(verbs: Any, summary: str) -> None:
    """Add the verb to those of the command."""
    parser = verbs.add_parser(
        "fit",
        help=summary,
        description="Learn from a CSV, Parquet, Arrow, ARFF or libsvm file. A part of the rows is "
        "held out, and results are told of that part alone. Say what you know of costs: numbers, "
        "intervals, which mistake is worse, or nothing; what that leaves open is learned. Where a "
        "number is stated, mistakes that you do not mention cost 1.",
    )
    parser.add_argument("data", type=Path, metavar="FILE", help="the table")
    parser.add_argument(
        "--target", required=True, metavar="COLUMN",
        help="what is to be predicted; in a libsvm file it is called target",
    )  # fmt: skip
    _add_costs(parser)
    _add_search(parser)
    _add_stream(parser)
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("model.skops"), metavar="MODEL",
        help="file of the model (model.skops)",
    )  # fmt: skip
    parser.add_argument("--report", type=Path, metavar="HTML", help="also write the report here")
    parser.add_argument("--json", action="store_true", help="print all that is known as JSON")
    parser.add_argument("--pickle", action="store_true", help="save as a pickle, which can execute")
    parser.set_defaults(run=run, resumes=False)


def _add_costs(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what is to be good, and what you know of costs")
    group.add_argument(
        "--metric",
        help="gmean, f1_macro, mean_cost, or any scorer of scikit-learn's (balanced_accuracy; "
        "mean_cost where all costs are stated)",
    )
    group.add_argument(
        "--cost",
        action="append",
        default=[],
        metavar="'TRUE->PREDICTED=NUMBER' or FILE",
        help="the cost of a mistake, as often as there are mistakes; or a square table of them",
    )
    group.add_argument(
        "--worse",
        action="append",
        default=[],
        metavar="'A->B > B->A'",
        help="a mistake that is worse than another",
    )
    group.add_argument(
        "--cost-between",
        action="append",
        default=[],
        metavar="'A->B=LOW..HIGH'",
        help="a cost that lies between two numbers",
    )


def _add_search(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("how it is learned")
    group.add_argument("--task", choices=("classes", "numbers"), help="as the target looks")
    group.add_argument("--groups", metavar="COLUMN", help="rows that belong together, as persons")
    group.add_argument(
        "--held-out", type=float, default=0.25, metavar="SHARE", help="of the rows (0.25)"
    )
    group.add_argument("--hidden", type=int, default=100, metavar="N", help="hidden units (100)")
    group.add_argument("--epochs", type=int, metavar="N", help="generations of the search")
    group.add_argument("--population", type=int, metavar="N", help="candidates in a generation")
    group.add_argument("--max-time", type=float, metavar="SECONDS", help="end the search then")
    group.add_argument(
        "--checkpoint",
        type=Path,
        metavar="FILE",
        help="keep the search here as it goes; the same command goes on from it",
    )
    group.add_argument("--jobs", type=int, default=1, metavar="N", help="threads (1)")
    group.add_argument("--seed", type=int, default=0, metavar="N", help="of what is drawn (0)")


def _add_stream(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("a file that does not fit in memory")
    group.add_argument(
        "--stream",
        action="store_true",
        help="read the file (CSV, Parquet or Arrow) in blocks, in a few passes",
    )
    group.add_argument("--block-rows", type=int, metavar="N", help=f"of a block ({BLOCK_ROWS})")
    group.add_argument(
        "--sample",
        type=int,
        metavar="N",
        help=f"the most rows by which the search chooses, and that are judged ({SAMPLE_ROWS})",
    )


def run(args: argparse.Namespace) -> None:
    """Learn, save the model, and tell how it does on rows held out."""
    _check_files(args)
    done = _studied(args)
    keep_model(done.model, args.output, done.card, pickle=args.pickle)
    if args.report is not None:
        write_report(done.card, args.report)
    print_study(done.card, as_json=args.json)
    if not args.json:
        files = [f"model: {args.output}"]
        files += [] if args.report is None else [f"report: {args.report}"]
        print_lines(files)


def _check_files(args: argparse.Namespace) -> None:
    """Refuse files that cannot be written, or would be written over what is read."""
    written = {
        "--output": args.output,
        "--report": args.report,
        "--checkpoint": args.checkpoint,
    }
    for option, path in written.items():
        if path is not None:
            check_writable(path, option)
    tables = {f"--cost {said}": Path(said) for said in args.cost if "=" not in said}
    check_apart({"FILE": args.data, **tables, **written})


def _studied(args: argparse.Namespace) -> Answer:
    """Learn from the table as a whole, or in blocks."""
    command = shlex.join(["ecselm", *args.arguments])
    sizes = {"block_rows": args.block_rows, "sample": args.sample}
    given = {name: value for name, value in sizes.items() if value is not None}
    if args.stream:
        with stream_bar(shown=not args.json) as bars:
            return study_stream(
                args.data,
                _question(args),
                callbacks=[bars.search],
                progress=bars,
                command=command,
                **given,
            )
    for name in given:
        raise ValueError(f"--{name.replace('_', '-')} must go with --stream")
    table = read_table(args.data)
    with search_bar(shown=not args.json) as bar:
        return study_table(
            table, _question(args), file=args.data.name, callbacks=[bar], command=command
        )


def _question(args: argparse.Namespace) -> Question:
    return Question(
        target=args.target,
        metric=args.metric,
        cost=tuple(args.cost),
        worse=tuple(args.worse),
        between=tuple(args.cost_between),
        task=args.task,
        groups=args.groups,
        held_out=args.held_out,
        n_hidden=args.hidden,
        max_epochs=args.epochs,
        population_size=args.population,
        max_time=args.max_time,
        checkpoint=args.checkpoint,
        n_jobs=args.jobs,
        seed=args.seed,
    )
