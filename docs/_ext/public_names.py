"""Public names in the reference: which members are shown, and where bare names lead."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.util.nodes import make_refnode


def skips(*event: Any) -> bool | None:
    """Skip what is inherited from scikit-learn or Python, whose own pages explain it."""
    member = event[3]  # after the application, its kind and its name
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
