"""Words of files in sentences of ours."""

from __future__ import annotations


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
