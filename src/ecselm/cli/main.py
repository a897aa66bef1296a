"""The entry point: find the command, run it, and report errors in one sentence."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import warnings
from collections.abc import Collection, Sequence
from importlib import import_module
from pathlib import Path
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
    "completion": "print a script that completes commands in a shell",
    "man": "print the manual page",
}
DESCRIPTION = "Extreme learning machines for known or learned costs of mistakes."
PIPE_CLOSED = 141  # as the shell counts a death by SIGPIPE
POSITIONALS = {"model": "MODEL", "data": "FILE", "onnx": "ONNX"}  # how usage names arguments


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
    args = argparse.Namespace(arguments=given, resumes=False, left="")
    try:
        parser = _parser(given)
        parser.parse_args(given, args)
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning  # type: ignore[assignment]
            getattr(args, "run", lambda _: parser.print_help())(args)
        sys.stdout.flush()
    except KeyboardInterrupt:
        left = args.left or ("; the same command resumes the run" if args.resumes else "")
        print(f"ecselm: interrupted{left}", file=sys.stderr)
        return 130
    except BrokenPipeError:
        _drop_output()
        return PIPE_CLOSED
    except (ValueError, OSError, ImportError, RuntimeError, MemoryError) as error:
        sentence = _sentence(error, args)
        if not _can_write_output() and isinstance(error, OSError):
            sentence = f"standard output must take what is printed: {error.strerror}"
        from ecselm._wording import printable  # noqa: PLC0415  for errors only

        print(f"ecselm: {printable(sentence)}", file=sys.stderr)
        return 2
    return 0


def _sentence(error: Exception, args: argparse.Namespace) -> str:
    """Return an error in one line, which names the option of a file that the error is about."""
    reason = getattr(error, "reason", None)  # of a FileWriteError, which is not imported for help
    if isinstance(error, OSError) and error.strerror:
        if error.filename is None:
            return f"standard output or a file cannot be used: {error.strerror}"
        option = _option_of(error.filename, args) or "a file"
        return f"{option} must be possible to use, got {error.filename!r}: {error.strerror}"
    if reason is not None and isinstance(getattr(error, "path", None), Path):
        error.name = _option_of(error.path, args) or error.name  # type: ignore[attr-defined]
    return " ".join(str(error).split()) or "memory is used up"


def _option_of(path: Any, args: argparse.Namespace) -> str | None:
    """Return the option that names a file, or else the folder it is in; None if there is none."""
    given = {name: value for name, value in vars(args).items() if isinstance(value, str | Path)}
    try:
        place = Path(os.fsdecode(path)).resolve()
        for wanted in (place, *place.parents):
            for name, value in given.items():
                if str(value) and Path(value).resolve() == wanted:
                    return POSITIONALS.get(name, f"--{name.replace('_', '-')}")
    except (ValueError, OSError, TypeError):  # no name of a file
        return None
    return None


def _can_write_output() -> bool:
    """Return whether standard output takes the rest; drop it where the disk of a file is full."""
    try:
        sys.stdout.flush()
    except OSError:
        _drop_output()
        return False
    return True


def _drop_output() -> None:
    """Let nothing more be written: Python flushes stdout again at exit, which must not fail."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser(given: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser, with the options of the command among the arguments."""
    chosen = next((word for word in given if not word.startswith("-")), None)
    if chosen is not None:
        _check_command(chosen)
    return build_parser([] if chosen is None else [chosen])


def build_parser(whole: Collection[str] = tuple(COMMANDS)) -> argparse.ArgumentParser:
    """Return the parser, with the options of the commands in ``whole``."""
    parser = argparse.ArgumentParser(prog="ecselm", description=DESCRIPTION)
    parser.add_argument("--version", action="version", version=f"ecselm {ecselm.__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name, summary in COMMANDS.items():
        if name in whole:
            import_module(f"ecselm.cli.{name}").add_parser(commands, summary)
        else:
            commands.add_parser(name, help=summary)
    return parser


def _show_warning(message: Warning | str, *_: Any) -> None:
    """Print a warning like an error, without its place in the code."""
    from ecselm._wording import printable  # noqa: PLC0415  for warnings only

    print(f"ecselm: warning: {printable(' '.join(str(message).split()))}", file=sys.stderr)


def _check_command(name: str) -> None:
    if name not in COMMANDS:
        from ecselm._wording import did_you_mean  # noqa: PLC0415  takes a second, for errors only

        raise ValueError(
            f"COMMAND must be one of {', '.join(COMMANDS)}, got {name!r}"
            f"{did_you_mean(name, COMMANDS)}"
        )
