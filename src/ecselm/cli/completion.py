"""``ecselm completion``: a script that completes commands and options in a shell."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ecselm.cli.main import build_parser

SHELLS = ("bash", "zsh", "fish")
DESCRIPTION = """\
Print a script that completes commands, options, choices and file names. Store it where the
shell looks for one:

  ecselm completion bash > ~/.local/share/bash-completion/completions/ecselm
  ecselm completion zsh > ~/.zfunc/_ecselm      (with fpath+=~/.zfunc before compinit)
  ecselm completion fish > ~/.config/fish/completions/ecselm.fish
"""


def add_parser(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "completion",
        help=summary,
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))
    parser.set_defaults(run=run, resumes=False)


def run(args: argparse.Namespace) -> None:
    """Print the script."""
    print(script(args.shell))


def script(shell: str) -> str:
    """Return the script for a shell, made from the parser of every command."""
    try:
        import shtab  # noqa: PLC0415  an extra that no other command needs
    except ImportError:
        raise ImportError(
            'completion needs the package shtab: install the extra "completion"'
        ) from None
    parser = build_parser()
    for action in all_actions(parser):
        if action.type is Path:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    return str(shtab.complete(parser, shell)).rstrip()


def subcommands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the parsers of the commands by name."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def all_actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Return the arguments of the parser and of its commands."""
    within = subcommands(parser).values()
    return [*parser._actions, *(action for one in within for action in one._actions)]
