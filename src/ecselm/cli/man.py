"""``ecselm man``: the manual page, made from the parser."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from typing import Any

import ecselm
from ecselm.cli.completion import subcommands
from ecselm.cli.main import COMMANDS, DESCRIPTION, build_parser

ENVIRONMENT = {
    "ECSELM_COMPILED": "0 switches the compiled library off; everything is solved through LAPACK.",
    "ECSELM_DATA": "Folder of the data sets that reproduce, bench and audit read.",
    "NO_COLOR": "Print without colours.",
}
EXIT_STATUS = {
    "0": "Success.",
    "2": "Wrong arguments or files, said in one sentence on standard error.",
    "130": "Interrupted by Ctrl-C.",
    "141": "The pipe that output went to was closed.",
}


def add_parser(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "man",
        help=summary,
        description="Print the manual page in the format of man(1). "
        "Read it with: ecselm man | man -l -",
    )
    parser.set_defaults(run=run, resumes=False)


def run(_: argparse.Namespace) -> None:
    """Print the page."""
    print("\n".join(page()))


def page() -> Iterator[str]:
    """Yield the lines of the page, in the macros of man(7).

    Examples
    --------
    >>> next(page()).startswith('.TH ECSELM 1 "" "ecselm ')
    True
    """
    parser = build_parser()
    yield f'.TH ECSELM 1 "" "ecselm {ecselm.__version__}" "User Commands"'
    yield ".SH NAME"
    yield r"ecselm \- classification and regression by the costs of mistakes"
    yield ".SH SYNOPSIS"
    yield r".B ecselm"
    yield r".I COMMAND"
    yield r"[\fIOPTION\fR]..."
    yield ".SH DESCRIPTION"
    yield from _prose(DESCRIPTION)
    yield ".SH OPTIONS"
    yield from _arguments(_without_commands(parser))
    yield ".SH COMMANDS"
    for name, command in subcommands(parser).items():
        yield f'.SS "ecselm {name}"'
        yield from _prose(command.description or COMMANDS[name])
        yield ".PP"
        yield from _prose(_usage(command))
        for group in command._action_groups:
            if group._group_actions and not _is_standard(group):  # a title of our own
                yield ".PP"
                yield rf"\fI{_escaped(group.title or '')}\fR"
            yield from _arguments([one for one in group._group_actions if one.dest != "help"])
    yield ".SH EXIT STATUS"
    yield from _definitions(EXIT_STATUS)
    yield ".SH ENVIRONMENT"
    yield from _definitions(ENVIRONMENT)


def _without_commands(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return [one for one in parser._actions if not isinstance(one, argparse._SubParsersAction)]


def _is_standard(group: Any) -> bool:
    return group.title in {"positional arguments", "options"}


def _usage(parser: argparse.ArgumentParser) -> str:
    plain = re.sub(r"\x1b\[[\d;]*m", "", parser.format_usage())  # Python 3.14 colours terminals
    return " ".join(plain.removeprefix("usage: ").split())


def _arguments(actions: list[argparse.Action]) -> Iterator[str]:
    for action in actions:
        if action.help == argparse.SUPPRESS:
            continue
        yield ".TP"
        value = _value(action)
        if action.option_strings:
            names = ", ".join(rf"\fB{_escaped(name)}\fR" for name in action.option_strings)
            yield f"{names} {value}".rstrip()
        else:
            yield value or rf"\fI{_escaped(action.dest)}\fR"
        yield from _prose(_help(action))


def _value(action: argparse.Action) -> str:
    """Return how the value of an argument is written, "" for a switch."""
    if action.nargs == 0:
        return ""
    if action.metavar is not None:
        shown = action.metavar if isinstance(action.metavar, str) else " ".join(action.metavar)
    elif action.choices is not None:
        shown = "|".join(map(str, action.choices))
    else:
        shown = action.dest.upper() if action.option_strings else action.dest
    value = rf"\fI{_escaped(shown)}\fR"
    return f"[{value}]" if action.nargs == "?" else value


def _help(action: argparse.Action) -> str:
    if not action.help:
        return "-"
    return action.help % {**vars(action), "prog": "ecselm"}


def _definitions(table: dict[str, str]) -> Iterator[str]:
    for term, text in table.items():
        yield ".TP"
        yield rf"\fB{_escaped(term)}\fR"
        yield from _prose(text)


def _prose(text: str) -> Iterator[str]:
    """Yield text as paragraphs; lines that are indented stay as they are."""
    for paragraph in re.split(r"\n\s*\n", text.strip("\n")):
        lines = paragraph.splitlines()
        if all(line.startswith("  ") for line in lines):
            yield ".PP"
            yield ".nf"
            yield from map(_escaped, lines)
            yield ".fi"
        else:
            yield _escaped(" ".join(paragraph.split()))


def _escaped(text: str) -> str:
    """Return text that roff prints as it is: no escapes, no requests, real minus signs."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped
