"""Names and values in messages: quoted, shortened, listed, and suggested."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches


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
