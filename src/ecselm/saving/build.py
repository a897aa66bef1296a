"""Build the object of a checked schema, without skops where only well known types are named.

Importing skops imports all of scikit-learn, which takes longer than a prediction. The default
model of a table is made of estimators of this package and of a few that prepare columns: these
are built here, as skops builds them, and any other file by skops.
"""

from __future__ import annotations

import builtins
import io
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from ecselm.saving.trusted import TRUSTED

LOADERS = frozenset(
    {
        *("ObjectNode", "DictNode", "ListNode", "TupleNode", "SliceNode", "JsonNode"),
        *("TypeNode", "NdArrayNode", "DTypeNode"),
    }
)
SLICE = ("start", "stop", "step")
OBJECTS = frozenset(name for name in TRUSTED["ObjectNode"] if name.startswith("ecselm.")) | {
    "sklearn.compose._column_transformer.ColumnTransformer",
    "sklearn.impute._base.MissingIndicator",
    "sklearn.impute._base.SimpleImputer",
    "sklearn.pipeline.Pipeline",
    "sklearn.preprocessing._data.StandardScaler",
    "sklearn.preprocessing._encoders.OneHotEncoder",
}


def is_known(nodes: Iterable[dict[str, Any]]) -> bool:
    """Return whether all typed objects of a schema can be built here."""
    for node in nodes:
        loader, name = node["__loader__"], f"{node['__module__']}.{node['__class__']}"
        if loader not in LOADERS:
            return False
        if name not in (OBJECTS if loader == "ObjectNode" else TRUSTED[loader]):
            return False
    return True


@dataclass(slots=True)
class Builder:
    """Objects of a schema whose types :func:`is_known` knows, each built once.

    Examples
    --------
    >>> Builder({}).build({"__loader__": "JsonNode", "content": "[1, 2]"})
    [1, 2]
    """

    entries: dict[str, bytes]
    built: dict[Any, Any] = field(default_factory=dict)  # by their ids

    def build(self, node: dict[str, Any]) -> Any:
        """Return the object of a node."""
        key = node.get("__id__")
        if key in self.built:
            if self.built[key] is self:
                raise ValueError("an object must not be a part of itself")
            return self.built[key]
        if key:
            self.built[key] = self  # until it is there
        made = self._made(node)
        if key:
            self.built[key] = made
        return made

    def _made(self, node: dict[str, Any]) -> Any:
        loader, content = node["__loader__"], node.get("content")
        if loader in {"ListNode", "TupleNode"}:
            parts = [self.build(one) for one in node["content"]]
            return parts if loader == "ListNode" else tuple(parts)
        makers: dict[str, Callable[[], Any]] = {
            "JsonNode": lambda: json.loads(node["content"]),
            "SliceNode": lambda: slice(*(node["content"][end] for end in SLICE)),
            "DictNode": lambda: self._dict(node),
            "TypeNode": lambda: _type(node),
            "DTypeNode": lambda: self.build(node["content"]).dtype,
            "NdArrayNode": lambda: self._array(node),
            "ObjectNode": lambda: self._object(node, content),
        }
        return makers[loader]()

    def _dict(self, node: dict[str, Any]) -> dict[Any, Any]:
        types, content = self.build(node["key_types"]), node["content"]
        if not all(isinstance(one, type) for one in types):
            raise TypeError("types of keys must be types")
        return {
            kind(key): self.build(one)
            for kind, (key, one) in zip(types, content.items(), strict=False)
        }

    def _array(self, node: dict[str, Any]) -> Any:
        if node["type"] == "numpy":
            array = np.load(io.BytesIO(self.entries[node["file"]]), allow_pickle=False)
            return array if node["__class__"] == "ndarray" else _type(node)(array)
        if node["type"] != "json":
            raise ValueError(f"an array must be of the type numpy or json, got {node['type']!r}")
        items, shape = [self.build(one) for one in node["content"]], self.build(node["shape"])
        if len(shape) != 1:
            return np.array(items, dtype=object)
        array = np.empty(len(items), dtype=object)
        for place, item in enumerate(items):  # which may be arrays themselves
            array[place] = item
        return array

    def _object(self, node: dict[str, Any], content: Any) -> Any:
        """Fill an instance that no constructor has seen."""
        kind = getattr(import_module(node["__module__"]), node["__class__"])
        made = kind.__new__(kind)
        state = None if content is None else self.build(content)
        if state is not None:
            if hasattr(made, "__setstate__"):
                made.__setstate__(state)
            else:
                made.__dict__.update(state)
        return made


def _type(node: dict[str, Any]) -> Any:
    return getattr(builtins if node["__module__"] == "builtins" else np, node["__class__"])
