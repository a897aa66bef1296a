"""Names and values in sentences: quoted, shortened, listed, suggested, and classes in words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

_VOWEL = re.compile("(?!eu|us[eu]|unit|one)[aeiou]", re.IGNORECASE)  # as it is spoken


def brief(words: str, longest: int = 80) -> str:
    r"""Return words of a file or of a library's error on one line, cut if they are many.

    Examples
    --------
    >>> brief("bad magic\n  number\x00")
    'bad magic number'
    >>> brief("1" * 100, 10)
    '1111111...'
    """
    shown = words[: 2 * longest]
    line = " ".join("".join(c if c.isprintable() else " " for c in shown).split())
    return line if len(line) <= longest else f"{line[: longest - 3]}..."


def printable(text: str) -> str:
    r"""Return text of a file as a terminal may show it: control characters as escapes.

    They would move the cursor, hide text or turn its direction. Ends of lines and tabs stay.

    Examples
    --------
    >>> printable("1.0\x1b[2J and\n\u202egone")
    '1.0\\x1b[2J and\n\\u202egone'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(one if _is_shown(one) else ascii(one)[1:-1] for one in text)


def _is_shown(character: str) -> bool:
    joins = "\n\t\u200c\u200d"  # the last two shape letters of some scripts
    return character.isprintable() or character in joins or unicodedata.category(character) == "Zs"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the end of a sentence that suggests the nearest of the ``known`` names, if any is.

    Examples
    --------
    >>> did_you_mean("Diagnose", ["age", "diagnosis"])
    "; did you mean 'diagnosis'?"
    >>> did_you_mean("zzz", ["age"])
    ''
    """
    by_case: dict[str, str] = {}
    for one in known:
        by_case.setdefault(one.casefold(), one)
    close = get_close_matches(name.casefold(), list(by_case), n=1)
    return f"; did you mean {by_case[close[0]]!r}?" if close else ""


def quoted(names: Sequence[str], most: int = 4) -> str:
    """Return names in quotes, at most so many.

    Examples
    --------
    >>> quoted(["age", "sex", "size"], 2)
    "'age', 'sex' and 1 more"
    """
    shown = ", ".join(repr(brief(name)) for name in names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def listed(names: Sequence[str], most: int = 4) -> str:
    """Return names as a sentence holds them.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"]), listed(list("abcdef"), 2)
    ('a', 'a, b and c', 'a, b and 4 more')
    """
    shown = list(names[:most])
    if len(names) > most:
        return f"{', '.join(shown)} and {len(names) - most} more"
    return " and ".join([*([", ".join(shown[:-1])] if shown[:-1] else []), *shown[-1:]])


def all_digits(value: float) -> str:
    """Return a number that a user has stated, with all its digits.

    Examples
    --------
    >>> all_digits(10.0), all_digits(0.125), all_digits(1234567.5)
    ('10', '0.125', '1234567.5')
    """
    return repr(float(value)).removesuffix(".0")


def case_of(label: object) -> str:
    """Return a row of a class, as a sentence about mistakes calls it.

    Examples
    --------
    >>> case_of("ill"), case_of("usual"), case_of(1)
    ('an ill case', 'a usual case', 'a case of class 1')
    """
    name = str(label)
    if not name[:1].isalpha():
        return f"a case of class {name}"
    return f"{'an' if _VOWEL.match(name) else 'a'} {name} case"


def confusion_of(truth: object, predicted: object) -> str:
    """Return the mistake of predicting one class for another, as a sentence calls it.

    Examples
    --------
    >>> confusion_of("ill", "well"), confusion_of(1, 0)
    ('an ill case taken for well', 'a case of class 1 taken for class 0')
    """
    name = str(predicted)
    return f"{case_of(truth)} taken for {name if name[:1].isalpha() else f'class {name}'}"
