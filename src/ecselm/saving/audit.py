"""What a file asks for, found out before anything in it is made."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ecselm.saving.trusted import BIT_GENERATORS, TRUSTED, is_trusted

PROTOCOL = 2  # of skops; an older one would bring back loaders that check less


def refused_types(schema: Any) -> list[str]:
    """Return the names of what a schema asks for and must not have.

    Every object of the schema counts, wherever it stands, so that it does not matter which
    of them skops comes to read.

    Examples
    --------
    >>> asks = {"__loader__": "FunctionNode", "__module__": "os", "__class__": "system"}
    >>> refused_types({"__loader__": "ListNode", "__module__": "builtins",
    ...                "__class__": "list", "content": [asks], "protocol": 2})
    ['os.system']
    """
    if not isinstance(schema, dict) or "__loader__" not in schema:
        raise ValueError("the schema describes no object")
    protocol = schema.get("protocol")
    if type(protocol) is not int or protocol < PROTOCOL:
        raise ValueError(f"the protocol of skops must be at least {PROTOCOL}, got {protocol!r}")
    return sorted(set(_refused(schema)))


def refused_by_skops(archive: bytes) -> list[str]:
    """Return the names of what skops does not trust and the fixed list does not hold, either."""
    return sorted(set(_untrusted(archive)) - _all_trusted())


def made(archive: bytes) -> Any:
    """Return the object in an archive that was found to ask for nothing else."""
    import skops.io  # noqa: PLC0415  seconds that nobody else should wait

    return skops.io.loads(archive, trusted=sorted(set(_untrusted(archive)) & _all_trusted()))


def _all_trusted() -> set[str]:
    return set().union(*TRUSTED.values())


def _untrusted(archive: bytes) -> list[str]:
    import skops.io  # noqa: PLC0415  as above

    return list(skops.io.get_untrusted_types(data=archive))


def _refused(schema: Any) -> Iterator[str]:
    for node in _nodes(schema):
        loader, module, name = (node.get(f"__{key}__") for key in ("loader", "module", "class"))
        full = f"{module}.{name}"
        if not isinstance(loader, str) or not is_trusted(loader, full):
            yield full
        elif loader == "RandomGeneratorNode" and not _has_known_bits(node):
            yield f"{full} of an unknown kind"


def _nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Give every object that may become something, without recursion: depth is theirs."""
    waiting = [schema]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            if not one.keys().isdisjoint({"__loader__", "__class__", "__module__"}):
                yield one
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)


def _has_known_bits(node: dict[str, Any]) -> bool:
    """Tell whether a random generator names one of NumPy's: skops looks it up and calls it."""
    try:
        name = node["content"]["bit_generator"]["content"]["bit_generator"]["content"]
        return json.loads(name) in BIT_GENERATORS
    except (KeyError, TypeError, ValueError):
        return False
