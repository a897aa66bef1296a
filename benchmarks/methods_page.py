"""Fill the tables of ``docs/methods.md``: ``python -m benchmarks.methods_page``.

The lists come from the registry, the figures from what ``python -m benchmarks.methods``,
``python -m benchmarks.method_defaults`` and ``python -m benchmarks.lfw`` have left behind.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks import lfw, method_defaults, methods
from benchmarks.tables import table
from ecselm.paper.methods import methods_table

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "methods.md"
END = "<!-- end -->"


def filled(page: str) -> str:
    """Return the page with all tables as they are now."""
    parts = {task: _listed(task) for task in ("classification", "regression", "pairs")}
    parts |= {"results": _results(), "faces": _faces(), "defaults": _defaults()}
    for name, text in parts.items():
        before, rest = page.split(f"<!-- {name} -->\n", 1)
        page = f"{before}<!-- {name} -->\n{text}\n{rest[rest.index(END) :]}"
    return page


def _listed(task: str) -> str:
    rows = [
        [row.name, row.tables, row.status, "; extra ".join(filter(None, (row.source, row.extra)))]
        for row in methods_table(task).itertuples()
    ]
    return table(["name", "tables", "status", "source"], rows)


def _results() -> str:
    return methods.as_markdown(methods.stored(HERE / "methods.json"))


def _defaults() -> str:
    return method_defaults.as_markdown(method_defaults.stored())


def _faces() -> str:
    return lfw.as_table(lfw.stored(HERE / "lfw.json"))


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
