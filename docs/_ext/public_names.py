"""Public names in the reference: members shown, constants in words, where bare names lead."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from docutils import nodes
from sphinx.util.nodes import make_refnode


def constants(package: ModuleType) -> dict[str, dict[str, str]]:
    """Return the public constants of the subpackages, in words: package, name, what it holds."""
    found = {}
    for _, path, is_package in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        if is_package:
            module = importlib.import_module(path)
            values = {name: getattr(module, name) for name in getattr(module, "__all__", ())}
            found[path] = {
                name: _in_words(value)
                for name, value in values.items()
                if not (inspect.isclass(value) or inspect.isroutine(value))
            }
    return found


def _in_words(value: Any) -> str:
    if isinstance(value, Mapping | tuple | list):
        kind = "mapping from" if isinstance(value, Mapping) else type(value).__name__ + " of"
        return f"A {kind} " + ", ".join(f"``{str(key)!r}``" for key in value) + "."
    return f"``{value!r}``"


def skips(*event: Any) -> bool | None:
    """Skip what comes from scikit-learn or Python, whose own pages explain it."""
    member = event[3]  # after the application, a kind and a name
    written = getattr(member, "fget", None) or getattr(member, "__func__", member)
    module = getattr(written, "__module__", None) or ""
    return None if module.startswith("ecselm") else True


def find_bare_name(
    app: Any, env: Any, node: nodes.Element, contnode: nodes.Element
) -> nodes.Element | None:
    """Lead a name without its package, as docstrings write it, to where it is public."""
    if node.get("refdomain") != "py":
        return None
    sought = node["reftarget"].removeprefix("ecselm.").rpartition(".")[2]
    objects = env.domains["py"].objects
    found = [name for name in objects if name.rpartition(".")[2] == sought]
    if not found:
        return None
    entry = objects[min(found, key=lambda name: (name.count("."), name))]
    here = node.get("refdoc", env.docname)
    return make_refnode(app.builder, here, entry.docname, entry.node_id, contnode, sought)


def setup(app: Any) -> dict[str, bool]:
    """Connect both to Sphinx."""
    app.connect("autodoc-skip-member", skips)
    app.connect("missing-reference", find_bare_name)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
