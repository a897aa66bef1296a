"""The entry point: find the verb, run it, and say in one sentence what went wrong."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import ecselm

# Modules of this package by name, loaded when one is asked for: help needs none of them.
VERBS = {
    "demo": "learn from the tumour data, in seconds",
    "fit": "learn from a table, with costs as you know them",
    "predict": "answers of a model to new rows",
    "evaluate": "how a model does on other rows whose truth is known",
    "report": "one page about a model, to show",
    "export": "a model as an ONNX graph, for machines without Python",
    "methods": "every method there is, and where it comes from",
    "reproduce": "run a table or figure of the paper again",
    "bench": "compare ECSELM with what people use today, all tuned alike",
    "audit": "show what the paper's gains rest on",
}
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
    given = sys.argv[1:] if arguments is None else list(arguments)
    args = argparse.Namespace(arguments=given, resumes=False)
    try:
        parser = _parser(given)
        parser.parse_args(given, args)
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning  # type: ignore[assignment]
            getattr(args, "run", lambda _: parser.print_help())(args)
        sys.stdout.flush()
    except KeyboardInterrupt:
        goes_on = "; the same command goes on from here" if args.resumes else ""
        print(f"ecselm: interrupted{goes_on}", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # What is still to be written at the end of the process has nobody to go to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except (ValueError, OSError, ImportError, RuntimeError, MemoryError) as error:
        print(f"ecselm: {' '.join(str(error).split()) or 'memory is used up'}", file=sys.stderr)
        return 2
    return 0


def _parser(given: Sequence[str]) -> argparse.ArgumentParser:
    """Return what reads the arguments, with all options of the verb among those given."""
    parser = argparse.ArgumentParser(prog="ecselm", description=ecselm.__doc__)
    parser.add_argument("--version", action="version", version=f"ecselm {ecselm.__version__}")
    verbs = parser.add_subparsers(title="verbs", metavar="VERB")
    asked = next((word for word in given if not word.startswith("-")), None)
    if asked is not None:
        _check_verb(asked)
    for verb, summary in VERBS.items():
        if verb == asked:
            import_module(f"ecselm.cli.{verb}").add_parser(verbs, summary)
        else:
            verbs.add_parser(verb, help=summary)
    return parser


def _show_warning(message: Warning | str, *_: Any) -> None:
    """Say a warning as errors are said; where in the code it comes from helps nobody here."""
    print(f"ecselm: warning: {' '.join(str(message).split())}", file=sys.stderr)


def _check_verb(verb: str) -> None:
    if verb not in VERBS:
        from ecselm._wording import did_you_mean  # noqa: PLC0415  a second for errors alone

        raise ValueError(
            f"VERB must be one of {', '.join(VERBS)}, got {verb!r}{did_you_mean(verb, VERBS)}"
        )
