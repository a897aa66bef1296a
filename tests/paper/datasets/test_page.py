"""The snippets of docs/datasets.md run, and give what stands behind them."""

import ast
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "datasets.md"
MARKED = re.compile(r"(<!-- folder -->\n)?```python\n(.*?)```", re.DOTALL)


def snippets(marked):
    if not PAGE.is_file():
        pytest.skip("needs the documentation, which lies beside the sources")
    return [code for mark, code in MARKED.findall(PAGE.read_text()) if bool(mark) == marked]


def run(code):
    """Run a snippet, and compare its expressions with what is said behind them."""
    names = {}
    lines = code.splitlines()
    for node in ast.parse(code).body:
        source = ast.get_source_segment(code, node)
        said = lines[node.end_lineno - 1][node.end_col_offset :].strip().removeprefix("# ")
        if isinstance(node, ast.Expr) and not source.startswith("print("):
            assert said in {"", repr(eval(source, names))}, source  # noqa: S307
        else:
            exec(source, names)  # noqa: S102


def test_snippets_run_without_a_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("ECSELM_DATA", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert len(snippets(marked=False)) == 4
    for code in snippets(marked=False):
        run(code)


def test_snippets_run_with_the_folder(data_folder):
    assert len(snippets(marked=True)) == 1
    for code in snippets(marked=True):
        run(code)
