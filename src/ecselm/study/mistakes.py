"""Mistakes as a person writes them: ``malignant->benign``, or a class for any mistake on it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ecselm.study.wording import did_you_mean, quoted

_ARROW = re.compile(r"->|→")
_ABOVE = re.compile(r"(?<!-)>")
# A quote opens a name at its beginning only: Crohn's has none.
_QUOTED = re.compile(r"(?<![^\s>→])([\"'])(?:(?!\1).)*\1(?=\s*(?:->|→|>|=|$))")


@dataclass(frozen=True, slots=True)
class Mistake:
    """A confusion, or any mistake on a class; classes by position."""

    truth: int
    predicted: int | None = None

    def pairs(self, n_classes: int) -> list[tuple[int, int]]:
        """Return the confusions it stands for."""
        others = range(n_classes) if self.predicted is None else [self.predicted]
        return [(self.truth, other) for other in others if other != self.truth]


class MistakeReader:
    """Reads mistakes, with the classes at hand that tell arrows from parts of a name.

    Parameters
    ----------
    classes : list
        Labels of the data. A text means the label that is written so.

    Examples
    --------
    >>> reader = MistakeReader(["a->b", "c"])
    >>> reader.mistake("a->b->c", "--cost")
    Mistake(truth=0, predicted=1)
    >>> reader.chain("c > a->b->c", "--worse")
    [Mistake(truth=1, predicted=None), Mistake(truth=0, predicted=1)]
    """

    def __init__(self, classes: list[Any]) -> None:
        self._names = [_normal(str(label)) for label in classes]
        self._classes = classes

    def code(self, text: str, option: str) -> int:
        """Return the position of a class, or refuse a name that is none."""
        code = self._code(text)
        if code is None:
            name = _unquoted(text)
            raise ValueError(
                f"{option} must name classes of the data, {quoted(self._names, 10)}, got {name!r}"
                f"{did_you_mean(name, self._names)}"
            )
        return code

    def mistake(self, text: str, option: str) -> Mistake:
        """Return the one mistake that ``text`` means; ``option`` is at fault if there is none."""
        readings = self._readings(text)
        if not readings:
            arrow = next(_outside_quotes(_ARROW, text), None)
            for side in [text] if arrow is None else [text[: arrow.start()], text[arrow.end() :]]:
                self.code(side, option)
        return _the_one(readings, text, option)

    def chain(self, text: str, option: str) -> list[Mistake]:
        """Return mistakes from the dearest to the cheapest."""
        places = [found.start() for found in _outside_quotes(_ABOVE, text)]
        starts, ends = [0, *(place + 1 for place in places)], [*places, len(text)]
        parts = [text[start:end] for start, end in zip(starts, ends, strict=True)]
        chains = [chain for chain in self._chains(parts) if len(chain) > 1]
        if not chains:
            for part in parts:
                self.mistake(part, option)
            raise ValueError(
                f"{option} must put one mistake above another, as in 'a->b > b->a', got {text!r}"
            )
        return _the_one(chains, text, option)

    def _chains(self, parts: list[str]) -> Iterator[list[Mistake]]:
        """Yield every way to read parts, of which some may belong together."""
        if not parts:
            yield []
        for n in range(1, len(parts) + 1):
            for first in self._readings(">".join(parts[:n])):
                yield from ([first, *rest] for rest in self._chains(parts[n:]))

    def _readings(self, text: str) -> list[Mistake]:
        alone = self._code(text)
        found = [] if alone is None else [Mistake(alone)]
        for arrow in _outside_quotes(_ARROW, text):
            truth, predicted = self._code(text[: arrow.start()]), self._code(text[arrow.end() :])
            if truth is not None and predicted is not None:
                found.append(Mistake(truth, predicted))
        return found

    def _code(self, text: str) -> int | None:
        name = _normal(_unquoted(text))
        if name in self._names:
            return self._names.index(name)
        return next((i for i, label in enumerate(self._classes) if _same_number(name, label)), None)


def _outside_quotes(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    quoted = [found.span() for found in _QUOTED.finditer(text)]
    for found in pattern.finditer(text):
        if not any(start < found.start() < end for start, end in quoted):
            yield found


def _the_one(readings: list[Any], text: str, option: str) -> Any:
    if len(readings) > 1:
        raise ValueError(
            f"{option} must be read in one way, got {text!r}; put quotes around names of classes"
        )
    for mistake in readings[0] if isinstance(readings[0], list) else readings:
        if mistake.truth == mistake.predicted:
            raise ValueError(f"{option} must name mistakes, got {text!r}, which is right")
    return readings[0]


def _unquoted(text: str) -> str:
    name = text.strip()
    return name[1:-1] if _QUOTED.fullmatch(name) else name


def _normal(name: str) -> str:
    """Return a name in one of the ways that Unicode has for the same letters."""
    return unicodedata.normalize("NFC", name)


def _same_number(name: str, label: Any) -> bool:
    try:
        return not isinstance(label, str) and float(name) == float(label)
    except ValueError:
        return False
