"""JSON from files of unknown origin: size, depth and numbers are checked before it is used."""

from __future__ import annotations

import json
import re
from typing import Any

from ecselm._files import parsed_size

FIXED = 200_000_000  # bytes of memory that any text may take
PER_BYTE = 20  # of the text
DEPTH = 100  # of nested lists and objects; ours have about 10
DIGITS = 300  # of an integer; a float holds up to 308
_LONG = re.compile(rf"\d{{{DIGITS + 1},}}")
_LONG_BYTES = re.compile(_LONG.pattern.encode())


def parsed_json(text: str | bytes, *, most_bytes: int | None = None) -> Any:
    """Return the values of a JSON text, or raise ValueError.

    Parsing n bytes takes at most 20 n + 200 MB of memory.

    Parameters
    ----------
    text : str or bytes
        Bytes are UTF-8.
    most_bytes : int or None, default=None
        The longest text; None is any.

    Examples
    --------
    >>> parsed_json('{"a": [1, 2.5]}')
    {'a': [1, 2.5]}
    >>> parsed_json("[" * 101 + "]" * 101)
    Traceback (most recent call last):
        ...
    ValueError: its lists and objects must be nested at most 100 levels deep, got more
    >>> parsed_json("1" * 400)
    Traceback (most recent call last):
        ...
    ValueError: its integers must have at most 300 digits, got one of 400
    """
    n_bytes = len(text)
    if most_bytes is not None and n_bytes > most_bytes:
        raise ValueError(f"it must have at most {most_bytes} bytes, got {n_bytes}")
    encoded = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    needed, allowed = parsed_size(encoded), FIXED + PER_BYTE * len(encoded)
    del encoded
    if needed > allowed:
        raise ValueError(
            f"{n_bytes} bytes must need at most {allowed / 1e6:.0f} MB of memory, "
            f"got a text of {needed / 1e6:.0f} MB"
        )
    # Digits may also be part of a string: only the parser knows.
    long = _LONG_BYTES.search(text) if isinstance(text, bytes) else _LONG.search(text)
    try:
        parsed = json.loads(text, parse_int=_short_int if long else None)
    except RecursionError as error:
        raise ValueError(_too_deep()) from error
    _check_depth(parsed)
    return parsed


def _short_int(digits: str) -> int:
    n_digits = len(digits.lstrip("-"))
    if n_digits > DIGITS:
        raise ValueError(f"its integers must have at most {DIGITS} digits, got one of {n_digits}")
    return int(digits)


def _check_depth(parsed: Any) -> None:
    level, depth = [parsed] if isinstance(parsed, dict | list) else [], 0
    while level:
        depth += 1
        if depth > DEPTH:
            raise ValueError(_too_deep())
        level = [
            part
            for one in level
            for part in (one.values() if isinstance(one, dict) else one)
            if isinstance(part, dict | list)
        ]


def _too_deep() -> str:
    return f"its lists and objects must be nested at most {DEPTH} levels deep, got more"
