"""``ecselm fit``: fit a model to a table, and evaluate it."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import Any

from ecselm.cli._costs import add_cost_options, cost_options
from ecselm.cli._files import as_options, check_distinct, check_writable, store_model
from ecselm.cli._output import print_card, print_lines, search_bar, stream_bar
from ecselm.report import write_report
from ecselm.search.interrupts import keeping_best
from ecselm.streaming import BLOCK_ROWS, SAMPLE_ROWS, study_stream
from ecselm.study import FitRequest, FitResult, study_table
from ecselm.tables.read import read_table
from ecselm.tables.schema import ColumnOptions


def add_parser(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "fit",
        help=summary,
        description="Fit a model to a CSV, Excel, Parquet, Arrow, ARFF or libsvm file and evaluate "
        "it on test rows; the model that is saved is then fitted again on all rows. Costs of "
        "mistakes may be given as numbers, intervals, order or ratios, or by row; mistakes that "
        "are not mentioned cost 1. Decisions are then made for all costs that are possible. "
        "Without any of them, costs are learned for the metric.",
    )
    parser.add_argument("data", type=Path, metavar="FILE", help="table of training data")
    parser.add_argument(
        "--target", required=True, metavar="COLUMN",
        help="column to predict; in a libsvm file it is named target",
    )  # fmt: skip
    _add_columns(parser)
    _add_costs(parser)
    _add_search(parser)
    _add_stream(parser)
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("model.skops"), metavar="MODEL",
        help="output file of the model (default: model.skops)",
    )  # fmt: skip
    parser.add_argument(
        "--report", type=Path, metavar="HTML", help="also write the report to this file"
    )
    parser.add_argument("--json", action="store_true", help="print the card as JSON")
    parser.add_argument(
        "--pickle", action="store_true", help="save as a pickle, which can execute code when loaded"
    )
    parser.set_defaults(run=run, resumes=False)


def _add_columns(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("columns and labels")
    group.add_argument(
        "--drop",
        nargs="+",
        action="extend",
        default=[],
        metavar="COLUMN",
        help="columns that are not inputs",
    )
    group.add_argument(
        "--keep",
        nargs="+",
        action="extend",
        default=[],
        metavar="COLUMN",
        help="columns that are not inputs, such as identifiers, and that 'ecselm predict' writes "
        "beside its predictions",
    )
    group.add_argument(
        "--positive",
        metavar="LABEL",
        help="class of interest, of which operating points and curves are stated (default: the one "
        "whose mistakes cost most)",
    )
    group.add_argument(
        "--missing",
        action="append",
        default=[],
        metavar="WORD",
        help="word that stands for a missing value in any column, may be repeated; rows whose "
        "target is missing are left out",
    )
    group.add_argument(
        "--label-case",
        choices=("merge", "keep"),
        help="whether labels of the target that differ by case only are one class, or several "
        "(default: they are refused)",
    )
    group.add_argument(
        "--day-first",
        action="store_true",
        help="read 05/03/2024 as the fifth of March, in columns whose dates do not show it",
    )


def _add_costs(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("metric and costs")
    group.add_argument(
        "--metric",
        help="metric to optimise: gmean, f1_macro, mean_cost, or any scorer of scikit-learn "
        "(default: balanced_accuracy, or mean_cost if anything is stated about costs)",
    )
    add_cost_options(group)
    group.add_argument(
        "--promise",
        action="append",
        default=[],
        metavar="'CLASS=RECALL' or 'TRUE->PREDICTED<=RATE'",
        help="recall that new rows of a class have at least, or rate of rows of one class that are "
        "taken for another at most; tested on rows that choose nothing else; may be repeated",
    )
    group.add_argument(
        "--confidence",
        type=float,
        metavar="SHARE",
        help="confidence of all promises together (default: 0.9)",
    )


def _add_search(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("training")
    group.add_argument(
        "--model",
        default="ecselm",
        metavar="NAME",
        help="ecselm (default), boosting, logistic (of classes), ridge (of numbers), elm, w1-elm, "
        "or auto, the best of the first ones on validation rows",
    )
    group.add_argument(
        "--task",
        choices=("classes", "numbers"),
        help="classification or regression (default: inferred from the target)",
    )
    group.add_argument(
        "--groups", metavar="COLUMN", help="column of groups, such as patients, that are not split"
    )
    group.add_argument(
        "--by", metavar="COLUMN", help="column by whose values results are also stated"
    )
    group.add_argument(
        "--held-out",
        type=float,
        default=0.25,
        metavar="SHARE",
        help="share of test rows (default: 0.25)",
    )
    group.add_argument(
        "--no-refit",
        action="store_true",
        help="save the model that was evaluated, and do not fit it again on all rows",
    )
    group.add_argument(
        "--hidden",
        type=_hidden_units,
        default="auto",
        metavar="N",
        help="number of hidden units of every layer, or auto, by the number of rows (default)",
    )
    group.add_argument(
        "--epochs", type=int, metavar="N", help="number of generations of the search"
    )
    group.add_argument(
        "--population", type=int, metavar="N", help="number of candidates per generation"
    )
    group.add_argument("--max-time", type=float, metavar="SECONDS", help="time limit of the search")
    group.add_argument(
        "--checkpoint",
        type=Path,
        metavar="FILE",
        help="file from which the same command resumes an interrupted search",
    )
    group.add_argument(
        "--jobs", type=int, default=1, metavar="N", help="number of threads (default: 1)"
    )
    group.add_argument("--seed", type=int, default=0, metavar="N", help="random seed (default: 0)")


def _hidden_units(text: str) -> int | str:
    if text == "auto":
        return text
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number or auto, got {text!r}") from None


def _add_stream(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("files larger than memory")
    group.add_argument(
        "--stream",
        action="store_true",
        help="read the file (CSV, Parquet or Arrow) in blocks, in a few passes",
    )
    group.add_argument(
        "--block-rows", type=int, metavar="N", help=f"rows of a block (default: {BLOCK_ROWS})"
    )
    group.add_argument(
        "--sample",
        type=int,
        metavar="N",
        help=f"maximum number of rows of the search, and of test rows (default: {SAMPLE_ROWS})",
    )


def run(args: argparse.Namespace) -> None:
    """Fit, save the model, and print the results on test rows.

    Once anything is scored, Ctrl-C leads to a model; pressed again, it ends the command.
    """
    _check_files(args)
    before = _stamp(args.output)
    try:
        with keeping_best():  # also while files are written
            _run(args)
    except KeyboardInterrupt:
        args.left = "; no model was written"
        if _stamp(args.output) != before:
            args.left = f"; the model is in {args.output}"
        elif args.checkpoint is not None and args.checkpoint.exists():
            args.left += f", the same command resumes from {args.checkpoint}"
        raise


def _stamp(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from the one that takes its place, None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def _run(args: argparse.Namespace) -> None:
    done = _fitted(args)
    store_model(done.model, args.output, done.card, pickle=args.pickle)
    if args.report is not None:
        try:
            write_report(done.card, args.report)
        except ValueError as error:
            raise ValueError(as_options(error, "--report")) from error
    print_card(done.card, as_json=args.json)
    if not args.json:
        files = [f"model: {args.output}"]
        files += [] if args.report is None else [f"report: {args.report}"]
        print_lines(files)


def _check_files(args: argparse.Namespace) -> None:
    """Raise ValueError for output files that cannot be written or are inputs."""
    written = {
        "--output": args.output,
        "--report": args.report,
        "--checkpoint": args.checkpoint,
    }
    for option, path in written.items():
        if path is not None:
            check_writable(path, option)
    tables = {f"--cost {one}": Path(one) for one in args.cost if Path(one).exists()}
    check_distinct({"FILE": args.data, **tables, **written})


def _fitted(args: argparse.Namespace) -> FitResult:
    """Fit the table as a whole, or in blocks."""
    if args.stream and args.promise:
        raise ValueError(
            "--promise must be left out with --stream, which sums over rows before they are decided"
        )
    if args.confidence is not None and not args.promise:
        raise ValueError("--confidence must go with --promise")
    command = shlex.join(["ecselm", *args.arguments])
    sizes = {"block_rows": args.block_rows, "sample": args.sample}
    given = {name: value for name, value in sizes.items() if value is not None}
    if args.stream:
        with stream_bar(shown=not args.json) as bars:
            return study_stream(
                args.data,
                _request(args),
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
            table, _request(args), file=args.data.name, callbacks=[bar], command=command
        )


def _request(args: argparse.Namespace) -> FitRequest:
    return FitRequest(
        target=args.target,
        metric=args.metric,
        costs=cost_options(args),
        task=args.task,
        groups=args.groups,
        by=args.by,
        test_share=args.held_out,
        n_hidden=args.hidden,
        max_epochs=args.epochs,
        population_size=args.population,
        max_time=args.max_time,
        checkpoint=args.checkpoint,
        n_jobs=args.jobs,
        seed=args.seed,
        model_name=args.model,
        promise=tuple(args.promise),
        columns=ColumnOptions(
            tuple(args.drop), tuple(args.keep), tuple(args.missing), args.day_first
        ),
        label_case=args.label_case,
        positive=args.positive,
        refit=not args.no_refit,
        **({} if args.confidence is None else {"confidence": args.confidence}),
    )
