"""The entry point: find the verb, run it, and say in one sentence what went wrong."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

import ecselm
from ecselm.cli import (
    audit,
    bench,
    demo,
    evaluate,
    export,
    fit,
    methods,
    predict,
    report,
    reproduce,
)

VERBS = (demo, fit, predict, evaluate, report, export, methods, reproduce, bench, audit)
PIPE_CLOSED = 141  # as the shell counts a death by SIGPIPE


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, default=None
        What follows the name of the command; None takes what the shell gave.

    Returns
    -------
    int
        0, or 2 after an error, 130 after Ctrl-C, 141 where nobody reads on.

    Examples
    --------
    >>> main([])  # doctest: +ELLIPSIS
    usage: ecselm ...
    0
    """
    parser = _parser()
    args = parser.parse_args(arguments)
    args.arguments = sys.argv[1:] if arguments is None else list(arguments)
    if not hasattr(args, "run"):
        parser.print_help()
        return 0
    try:
        args.run(args)
        sys.stdout.flush()
    except KeyboardInterrupt:
        goes_on = "; the same command goes on from here" if args.resumes else ""
        print(f"ecselm: interrupted{goes_on}", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # What is still to be written at the end of the process has nobody to go to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except (ValueError, OSError, ImportError, RuntimeError) as error:
        print(f"ecselm: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="ecselm", description=ecselm.__doc__)
    parser.add_argument("--version", action="version", version=f"ecselm {ecselm.__version__}")
    verbs = parser.add_subparsers(title="verbs", metavar="VERB")
    for verb in VERBS:
        verb.add_parser(verbs)
    return parser
