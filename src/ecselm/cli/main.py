"""The entry point: find the command, run it, and report errors in one sentence."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import ecselm

# Modules of this package, imported when their command is run: help needs none of them.
COMMANDS = {
    "demo": "fit example data, in seconds",
    "fit": "fit a model to a table, with known or learned costs",
    "predict": "predict new rows with a model",
    "evaluate": "score a model on other rows with known target",
    "ask": "ask about costs, and decide by the answers",
    "report": "write the report of a model as HTML",
    "studio": "from a table to a model and its costs, in a browser",
    "export": "write a model as an ONNX graph",
    "methods": "list the available methods",
    "reproduce": "reproduce a table or figure of the paper",
    "bench": "compare ECSELM with baselines, all tuned in the same way",
    "audit": "check the sources of the gains in the paper",
}
DESCRIPTION = "Extreme learning machines for known or learned costs of mistakes."
PIPE_CLOSED = 141  # as the shell counts a death by SIGPIPE


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, default=None
        Arguments; None takes those of the shell.

    Returns
    -------
    int
        0, or 2 after an error, 130 after Ctrl-C, 141 after a broken pipe.

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
        resume = "; the same command resumes the run" if args.resumes else ""
        print(f"ecselm: interrupted{resume}", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # Python flushes stdout again at exit, which must not fail.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except (ValueError, OSError, ImportError, RuntimeError, MemoryError) as error:
        print(f"ecselm: {' '.join(str(error).split()) or 'memory is used up'}", file=sys.stderr)
        return 2
    return 0


def _parser(given: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser, with the options of the command among the arguments."""
    parser = argparse.ArgumentParser(prog="ecselm", description=DESCRIPTION)
    parser.add_argument("--version", action="version", version=f"ecselm {ecselm.__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    chosen = next((word for word in given if not word.startswith("-")), None)
    if chosen is not None:
        _check_command(chosen)
    for name, summary in COMMANDS.items():
        if name == chosen:
            import_module(f"ecselm.cli.{name}").add_parser(commands, summary)
        else:
            commands.add_parser(name, help=summary)
    return parser


def _show_warning(message: Warning | str, *_: Any) -> None:
    """Print a warning like an error, without its place in the code."""
    print(f"ecselm: warning: {' '.join(str(message).split())}", file=sys.stderr)


def _check_command(name: str) -> None:
    if name not in COMMANDS:
        from ecselm._wording import did_you_mean  # noqa: PLC0415  takes a second, for errors only

        raise ValueError(
            f"COMMAND must be one of {', '.join(COMMANDS)}, got {name!r}"
            f"{did_you_mean(name, COMMANDS)}"
        )
