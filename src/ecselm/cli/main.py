"""The entry point: find the verb, run it, and say in one sentence what went wrong."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import ecselm
from ecselm.cli import audit, bench, reproduce

VERBS = (reproduce, bench, audit)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, default=None
        What follows the name of the command; None takes what the shell gave.

    Returns
    -------
    int
        0, or 2 after an error, or 130 after Ctrl-C.

    Examples
    --------
    >>> main([])  # doctest: +ELLIPSIS
    usage: ecselm ...
    0
    """
    parser = _parser()
    args = parser.parse_args(arguments)
    if not hasattr(args, "run"):
        parser.print_help()
        return 0
    try:
        args.run(args)
    except KeyboardInterrupt:
        goes_on = "; the same command goes on from here" if args.resumes else ""
        print(f"ecselm: interrupted{goes_on}", file=sys.stderr)
        return 130
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
