"""Public names in the reference: documented members, values of constants, short references."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util.nodes import make_refnode


def public_packages(reference: Path) -> list[str]:
    """Return the packages that the API reference lists."""
    lines = (line.strip() for line in reference.read_text().splitlines())
    return [line for line in lines if line.split(".")[0] == "ecselm"]


def constants(packages: list[str]) -> dict[str, dict[str, str]]:
    """Return a description of every public constant, by package and name."""
    found = {}
    for path in packages:
        module = importlib.import_module(path)
        values = {name: getattr(module, name) for name in module.__all__}
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
    """Skip members of scikit-learn or Python, which have their own documentation."""
    member = event[3]  # after the application, the kind and the name
    written = getattr(member, "fget", None) or getattr(member, "__func__", member)
    module = getattr(written, "__module__", None) or ""
    return None if module.startswith("ecselm") else True


def find_bare_name(
    app: Any, env: Any, node: nodes.Element, contnode: nodes.Element
) -> nodes.Element | None:
    """Resolve a name without its package, as written in docstrings, to its public entry."""
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
    """Register the handlers with Sphinx."""
    app.connect("autodoc-skip-member", skips)
    app.connect("missing-reference", find_bare_name)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
