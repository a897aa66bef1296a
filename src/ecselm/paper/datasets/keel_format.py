"""The text format of KEEL: a header of attributes, then rows with the class last."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ecselm._wording import brief
from ecselm.paper.datasets.text import Column, Row, split_rows

_ATTRIBUTE = re.compile(r"@attribute\s+'?([^\s{\['\"]+)'?\s*(\{[^}]*\}|[a-z]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class KeelTable:
    """Columns, the last of which is the class, and rows of text with the file they are in."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    file: str


def parse_keel(text: str, file: str) -> KeelTable:
    r"""Read a ``.dat`` file of KEEL.

    Examples
    --------
    >>> table = parse_keel("@attribute a real\n@attribute c {x, y}\n@data\n1.0, y", "toy.dat")
    >>> table.columns[1].categories, table.rows[0].fields
    (('x', 'y'), ['1.0', 'y'])
    """
    lines = text.splitlines()
    starts = [i for i, line in enumerate(lines) if line.strip().lower() == "@data"]
    if not starts:
        raise ValueError(f"{file} must have a line '@data'")
    head, body = lines[: starts[0]], lines[starts[0] + 1 :]
    columns = tuple(
        _column(line.strip(), f"{file}, line {i}")
        for i, line in enumerate(head, 1)
        if line.strip().lower().startswith("@attribute")
    )
    if len(columns) < 2 or not columns[-1].categories:
        raise ValueError(f"{file} must declare attributes, the last with the names of the classes")
    rows = split_rows("\n".join(body), file, len(columns), first_line=starts[0] + 2)
    return KeelTable(columns, tuple(rows), file)


def _column(line: str, place: str) -> Column:
    match = _ATTRIBUTE.match(line)
    if match is None:
        raise ValueError(f"{place}: must read '@attribute <name> <type>', got {brief(repr(line))}")
    name, kind = match.groups()
    if kind.startswith("{"):
        return Column(name, tuple(value.strip() for value in kind[1:-1].split(",")))
    if kind.lower() not in {"real", "integer"}:
        raise ValueError(
            f"{place}: {brief(name)} must be real, integer or {{names}}, got {brief(repr(kind))}"
        )
    return Column(name)
